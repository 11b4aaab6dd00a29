// One process-wide note of the signal that waits.
#include "tools/text/hold_signals.h"

namespace lookback::text {
namespace {

// A handler, not a mask: a mask would hold for this thread alone, and OpenMP has others.
volatile std::sig_atomic_t waiting = 0;

void remember(int signal) { waiting = signal; }

}  // namespace

HoldSignals::HoldSignals() {
  struct sigaction hold {};
  hold.sa_handler = remember;
  hold.sa_flags = SA_RESTART;
  sigemptyset(&hold.sa_mask);
  for (size_t i = 0; i < kHeld.size(); ++i) {
    sigaction(kHeld[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kHeld[i], &hold, nullptr);
  }
}

HoldSignals::~HoldSignals() {
  for (size_t i = 0; i < kHeld.size(); ++i) sigaction(kHeld[i], &before_[i], nullptr);
  const int signal = waiting;
  waiting = 0;
  if (signal != 0) std::raise(signal);
}

bool HoldSignals::pending() { return waiting != 0; }

}  // namespace lookback::text
