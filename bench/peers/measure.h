// Timing of two sides, and the rows of the table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/peers/workload.h"

namespace lookback::peers {

// Mean seconds of one run, of `repeats` in a row.
double seconds_of(const std::function<void()>& run, int64_t repeats);

// Enough runs for one sample to last a few milliseconds.
int64_t repeats_for(const std::function<void()>& run);

double median(std::vector<double> values);

struct Timing {
  double ours;
  double theirs;
};

// Medians of interleaved samples, in seconds: what disturbs the machine disturbs both.
Timing measure(const std::function<void()>& ours, const std::function<void()>& theirs,
               double budget = 1.2);

// The largest difference, relative to the largest number. NaN if any is; infinity if the sizes
// differ.
double difference(const Numbers& a, const Numbers& b);

// The slope of log(y) over log(x), by least squares.
double exponent(const std::vector<double>& x, const std::vector<double>& y);

// FLOP/s of fused multiply-adds in float32 on one core, at best (fma_peak.cpp).
double fma_peak();

std::string time_text(double seconds);

void print_header();

struct Row {
  std::string work;
  std::string peer;
  std::string ours;
  std::string theirs;
  double ratio;
  double goal;
  const char* sense = ">=";  // or "<=": what the ratio must be to the goal
  double ceiling = 0;        // the ratio at which we would run at fma_peak(); 0: not told
};

void print_row(const Row& row);

}  // namespace lookback::peers
