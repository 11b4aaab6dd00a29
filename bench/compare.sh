#!/usr/bin/env bash
# Beside the peers: builds bench/peers (LibTorch, OpenBLAS), runs the comparison, prints its table and
# writes it to bench/RESULTS.md. Names of groups (matmul heads attention growth ops threads) run just
# those, and write nothing.
# shellcheck source=tools/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/../tools/setup.sh"

setup_packages hwy/highway.h=libhwy-dev benchmark/benchmark.h=libbenchmark-dev \
  torch/version.h=libtorch-dev cblas-openblas.h=libopenblas-dev
build=$root/build/peers
setup_build lookback_peers -DLOOKBACK_BENCH_PEERS=ON -DLOOKBACK_BUILD_BENCH=ON

# Debian's OpenBLAS obeys these two; the peer should choose for itself.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
if (($# > 0)); then
  exec "$build/bench/lookback_peers" "$@"
fi
"$build/bench/lookback_peers" | tee "$build/RESULTS.md"
mv "$build/RESULTS.md" "$root/bench/RESULTS.md"
say "written to bench/RESULTS.md"
