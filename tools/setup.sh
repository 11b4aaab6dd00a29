# shellcheck shell=bash
# Sourced by lab.sh, test.sh and others: functions that install what is missing, build, and test.
#
# Silent when nothing has to be done; what apt-get, cmake and the compiler say goes to a log, which
# is shown only when a step fails.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/release
log=$root/build/setup.log
compiler=${CXX:-c++}
mkdir -p "$build"

# What the program needs, as header=Debian package; tests and benchmarks add theirs. Without its
# face the program falls back to coarser letters, so that one is only asked for where it is known.
program_packages=(hwy/highway.h=libhwy-dev CLI/CLI.hpp=libcli11-dev stb/stb_truetype.h=libstb-dev
                  nlohmann/json.hpp=nlohmann-json3-dev utf8.h=libutfcpp-dev)
if command -v apt-get >/dev/null; then
  program_packages+=(/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf=fonts-dejavu-core)
fi

say() { printf '%s\n' "lookback: $*" >&2; }

# quietly <what> <command...>: runs the command into the log; on failure shows it and gives up.
quietly() {
  local what=$1
  shift
  say "$what"
  "$@" </dev/null >"$log" 2>&1 && return
  tail -n 60 "$log" >&2
  say "failed: $what (the whole output: $log)"
  exit 1
}

# missing_packages <header=package...>: prints the Debian packages whose program or header is not
# there. The preprocessor itself answers for the headers.
missing_packages() {
  command -v cmake >/dev/null || echo cmake
  command -v ninja >/dev/null || command -v make >/dev/null || echo ninja-build
  if ! command -v "$compiler" >/dev/null; then
    echo g++
    printf '%s\n' "${@#*=}"
    return
  fi
  local pair
  for pair in "$@"; do
    printf '#if !__has_include(<%s>)\n%s\n#endif\n' "${pair%%=*}" "${pair#*=}"
  done | "$compiler" -E -P -x c++ - | sed '/^$/d'
}

apt() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@"; }

install_packages() {
  apt install -y --no-install-recommends "$@" && return
  apt update
  apt install -y --no-install-recommends "$@"
}

# setup_packages <header=package...>
setup_packages() {
  local missing sudo=''
  missing=$(missing_packages "$@")
  [[ -z $missing ]] && return
  missing=$(sort -u <<<"$missing" | tr '\n' ' ')
  if ((EUID != 0)); then sudo=sudo; fi
  if ! command -v apt-get >/dev/null || ! command -v ${sudo:-env} >/dev/null; then
    say "cannot install packages here; please install by hand (Debian names): $missing"
    exit 1
  fi
  # shellcheck disable=SC2086  # a list of words
  quietly "installing $missing" install_packages $missing
}

# setup_build <target> <cmake options>: builds one target in build/release. What the directory was
# once configured for stays; only a new one starts without the benchmarks, which need more packages.
setup_build() {
  local target=$1 options=("${@:2}") cache=$build/CMakeCache.txt
  if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_SLOPPINESS=pch_defines,time_macros
    [[ -w ${HOME:-/} ]] || export CCACHE_DIR=${CCACHE_DIR:-$root/build/ccache}
  fi
  if ! grep -qsx "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    options=(--fresh --preset release -DLOOKBACK_BUILD_TESTS=OFF -DLOOKBACK_BUILD_BENCH=OFF
             "${options[@]}")
    command -v ninja >/dev/null || options+=(-G 'Unix Makefiles')
  fi
  quietly "configuring" cmake -S "$root" -B "$build" "${options[@]}"
  quietly "building" cmake --build "$build" --target "$target" --parallel "$(nproc)"
}

# run_tests <build directory> <ctest options>: shows the tests that fail, then ctest's summary.
run_tests() {
  say "testing"
  ctest --test-dir "$1" --parallel "$(nproc)" --output-on-failure --no-tests=error \
    --no-label-summary "${@:2}" |
    awk '/tests passed, .* tests failed out of/ { summary = $0; next }
         / Start +[0-9]+: |\. +Passed |^Internal ctest changing|^Test project|^$/ { next }
         { print }
         END { if (summary != "") print summary }'
}
