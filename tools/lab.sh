#!/usr/bin/env bash
# Draws everything: installs what is missing, builds the program, runs `lookback lab` on the bundled
# text and says where the pictures are (./lab-out, or --out DIR). Options go to `lookback lab`.
# shellcheck source=tools/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

out='' previous='' help=no
for argument in "$@"; do
  [[ $argument == --help || $argument == -h ]] && help=yes
  [[ $argument == --out=* ]] && out=${argument#--out=}
  [[ $previous == --out ]] && out=$argument
  previous=$argument
done
if [[ -z $out ]]; then
  out=lab-out
  set -- "$@" --out "$out"
fi

setup_packages "${program_packages[@]}"
setup_build lookback

# Threads that spin while they wait would slow a busy machine down many times.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
"$build/tools/lookback" lab "$@"
[[ $help == no ]] || exit 0
say "the pictures are in $out; open $(realpath "$out")/index.html"
say "to run its commands yourself: export PATH=$(realpath "$build")/tools:\$PATH"
