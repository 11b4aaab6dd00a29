// Compiled against the installed headers and libraries alone; exits 0 when they work: a head's
// output at the first position must not depend on a later one.
#include <attention/attention.h>
#include <engine/engine.h>
#include <nn/nn.h>

int main() {
  using namespace lookback;
  Generator generator(1);
  attention::Head head(8, 4, 6, generator);
  Tensor x = randn({2, 6, 8}, generator);
  x.set_requires_grad(true);
  sum(narrow(head.forward(x), 1, 0, 1)).backward();
  const bool causal = sum(abs(narrow(x.grad(), 1, 1, 5))).item<float>() == 0.0f;
  const bool alive = sum(abs(narrow(x.grad(), 1, 0, 1))).item<float>() > 0.0f;
  return causal && alive ? 0 : 1;
}
