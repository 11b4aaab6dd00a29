// Compiled against the installed headers and libraries alone; exits 0 when they work.
#include <engine/kernels/threads.h>

int main() {
  lookback::set_num_threads(2);
  return lookback::num_threads() == 2 ? 0 : 1;
}
