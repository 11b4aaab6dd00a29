// Signals that wait: what must not be done by half is done under a HoldSignals.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>

namespace lookback::text {

// While it lives, SIGINT (Ctrl-C), SIGTERM and SIGHUP wait; what came then takes effect when it
// goes. Nests. Signals that the caller ignores stay ignored.
class HoldSignals {
 public:
  HoldSignals();
  ~HoldSignals();
  HoldSignals(const HoldSignals&) = delete;
  HoldSignals& operator=(const HoldSignals&) = delete;

  static bool pending();  // whether one waits

 private:
  static constexpr std::array<int, 3> kHeld = {SIGINT, SIGTERM, SIGHUP};

  std::array<struct sigaction, kHeld.size()> before_{};
};

}  // namespace lookback::text
