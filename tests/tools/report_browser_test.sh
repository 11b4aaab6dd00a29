#!/usr/bin/env bash
# The lab's report in a real browser: no console error, no outside request, every picture visible,
# nothing wider than the window at phone and desktop width.
#   report_browser_test.sh <lookback program>
# Skipped (exit code 77) where Chromium is not installed.
set -euo pipefail

lookback=$1
browser=$(command -v chromium || command -v chromium-browser || true)
if [[ -z $browser ]]; then
  echo "skipped: chromium is not installed (Debian package: chromium)"
  exit 77
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$lookback" lab --out "$folder/lab" 2>"$folder/progress"
page=$folder/lab/index.html

if grep -qE '(src|href)="(https?:)?//' "$page"; then
  echo "the page asks for something outside"
  exit 1
fi

# A copy that reports on itself in its title.
sed 's#</body>#<script>addEventListener("load", () => { const all = [...document.images];\
  document.title = `seen ${all.filter(i => i.complete \&\& i.naturalWidth > 0 \&\& i.clientWidth > 0)\
  .length} of ${all.length}, overflow ${document.documentElement.scrollWidth > innerWidth}`; });\
  </script></body>#' "$page" >"$folder/checked.html"
pictures=$(grep -o '<img ' "$page" | wc -l)

for width in 390 1280; do
  "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync \
    --disable-background-networking --disable-component-update --enable-logging=stderr \
    --user-data-dir="$folder/profile$width" --window-size="$width,2000" \
    --virtual-time-budget=20000 --dump-dom "file://$folder/checked.html" \
    >"$folder/dom" 2>"$folder/log"
  if grep -q 'CONSOLE' "$folder/log"; then
    grep 'CONSOLE' "$folder/log"
    exit 1
  fi
  title=$(grep -o '<title>[^<]*' "$folder/dom" | head -n 1)
  echo "$width px: ${title#<title>}"
  [[ $title == "<title>seen $pictures of $pictures, overflow false" ]]
done
