#!/usr/bin/env bash
# Runs the whole test suite: installs what is missing, builds, runs ctest. Prints failing tests and
# the summary. Options go to ctest, for example `tools/test.sh -R Softmax`.
# shellcheck source=tools/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

setup_packages "${program_packages[@]}" \
  gtest/gtest.h=libgtest-dev gmock/gmock.h=libgmock-dev
setup_build all -DLOOKBACK_BUILD_TESTS=ON

run_tests "$build" "$@"
