#include "bench/peers/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <thread>

#include "engine/kernels/threads.h"

namespace lookback::peers {
namespace {

using Clock = std::chrono::steady_clock;

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace

double seconds_of(const std::function<void()>& run, int64_t repeats) {
  const Clock::time_point start = Clock::now();
  for (int64_t i = 0; i < repeats; ++i) run();
  return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(repeats);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

int64_t repeats_for(const std::function<void()>& run) {
  int64_t repeats = 1;
  while (seconds_of(run, repeats) * static_cast<double>(repeats) < 4e-3) repeats *= 2;
  return repeats;
}

Timing measure(const std::function<void()>& ours, const std::function<void()>& theirs,
               double budget) {
  // A library's threads spin for a while after its call; they must be asleep when the other is
  // timed. What runs before the clock starts wakes its own, and lets them find a core each.
  const bool threaded = num_threads() > 1;
  const auto sample = [threaded](const std::function<void()>& run, int64_t repeats) {
    if (threaded) {
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
      const Clock::time_point woken = Clock::now();
      while (Clock::now() - woken < std::chrono::milliseconds(50)) run();
    }
    return seconds_of(run, repeats);
  };
  const int64_t our_repeats = repeats_for(ours);
  const int64_t their_repeats = repeats_for(theirs);
  std::vector<double> our_samples;
  std::vector<double> their_samples;
  const Clock::time_point start = Clock::now();
  while (our_samples.size() < 7 ||
         std::chrono::duration<double>(Clock::now() - start).count() < budget) {
    our_samples.push_back(sample(ours, our_repeats));
    their_samples.push_back(sample(theirs, their_repeats));
  }
  return {median(our_samples), median(their_samples)};
}

double difference(const Numbers& a, const Numbers& b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max<double>(largest, std::abs(b[i]));
    const double d = std::abs(double{a[i]} - double{b[i]});
    if (!(d <= worst)) worst = d;
  }
  return largest > 0 ? worst / largest : worst;
}

std::string time_text(double seconds) {
  char text[32];
  if (seconds < 1e-6) {
    std::snprintf(text, sizeof text, "%.0f ns", seconds * 1e9);
  } else if (seconds < 1e-3) {
    std::snprintf(text, sizeof text, "%.2f us", seconds * 1e6);
  } else {
    std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  }
  return text;
}

void print_row(const Row& row) {
  const bool met =
      std::strcmp(row.sense, ">=") == 0 ? row.ratio >= row.goal : row.ratio <= row.goal;
  char ceiling[32] = "";
  if (row.ceiling > 0) std::snprintf(ceiling, sizeof ceiling, "%.2f", row.ceiling);
  std::printf("| %s | %s | %s | %s | %.2f | %s %.2f | %s | %s |\n", row.work.c_str(),
              row.peer.c_str(), row.ours.c_str(), row.theirs.c_str(), row.ratio, row.sense,
              row.goal, ceiling, met ? "yes" : "**no**");
  std::fflush(stdout);
}

double exponent(const std::vector<double>& x, const std::vector<double>& y) {
  double mean_x = 0;
  double mean_y = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mean_x += std::log(x[i]) / static_cast<double>(x.size());
    mean_y += std::log(y[i]) / static_cast<double>(x.size());
  }
  double above = 0;
  double below = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    above += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
    below += (std::log(x[i]) - mean_x) * (std::log(x[i]) - mean_x);
  }
  return above / below;
}

void print_header() {
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::localtime(&now));
  std::printf(
      "Made by `bash bench/compare.sh` on %s, %s. One thread unless said otherwise; medians "
      "of interleaved runs in one process; results compared before timing. Ceiling: the ratio that "
      "would take every multiply-add that the processor can do, %.0f GFLOP/s per core (measured, "
      "fused multiply-adds on registers).\n\n",
      date, processor().c_str(), fma_peak() * 1e-9);
  std::printf(
      "| work | peer | lookback | peer | ratio | goal | ceiling | met |\n"
      "|---|---|---|---|---|---|---|---|\n");
}

}  // namespace lookback::peers
