// The work on OpenBLAS, and the number of threads of all peers.
#include <cblas-openblas.h>
#include <torch/torch.h>

#include "bench/peers/workload.h"

namespace lookback::peers {

void set_peer_threads(int count) {
  openblas_set_num_threads(count);
  torch::set_num_threads(count);
}

Side openblas_matmul(int64_t n, const Numbers& a, const Numbers& b) {
  const auto c = std::make_shared<Numbers>(a.size());
  const auto run = [=] {
    const auto size = static_cast<int>(n);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1.0F, a.data(), size,
                b.data(), size, 0.0F, c->data(), size);
  };
  return {run, [=] {
            run();
            return *c;
          }};
}

}  // namespace lookback::peers
