#!/usr/bin/env bash
# The program among other programs: full devices, pipes that close early, Ctrl-C.
#   program_streams_test.sh <lookback program>
set -euo pipefail

lookback=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
  echo "$*"
  exit 1
}

# A reader that has seen enough is no error, even where the signal was ignored: not a word.
(trap '' PIPE && "$lookback" prove 2>err | head -n 1 >/dev/null) || true
[[ ! -s err ]] || fail "after a closed pipe: $(<err)"

if [[ -c /dev/full ]]; then
  for command in --help prove graph shapes; do
    code=0
    "$lookback" $command >/dev/full 2>err || code=$?
    [[ $code == 1 && $(wc -l <err) == 1 && $(<err) == *": No space left on device" ]] ||
      fail "$command to a full device: $code, $(<err)"
  done
fi

"$lookback" heatmap --text <(printf 'to be or not') --csv a.csv --out a.png
[[ $(wc -l <a.csv) == 12 ]] || fail "a pipe as text: $(wc -l <a.csv) rows"

# A shell ignores Ctrl-C for what it starts in the background: `env` undoes it.
mkdir lab
echo mine >lab/notes.txt
env --default-signal=INT "$lookback" lab --out lab 2>err &
program=$!
until [[ $(<err) == *"2/13"* ]]; do sleep 0.05; done
kill -INT "$program"
code=0
wait "$program" || code=$?
[[ $code == 130 ]] || fail "after Ctrl-C the exit code is $code"
[[ $(ls -A lab) == notes.txt ]] || fail "after Ctrl-C the folder holds $(ls -A lab)"
