#!/usr/bin/env bash
# The lab's report in a real browser, at phone and desktop width: no console error, no outside
# request, every picture visible and large enough, nothing wider than the window, frames that scroll
# say so, the ledger needs no scrolling, and the pointer tells what is in a cell.
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

# A copy that reports on itself, in a frame: a window of Chromium is 500 px wide at least.
cat "$page" - >"$folder/checked.html" <<'EOF'
<script>
addEventListener("load", () => setTimeout(() => {
  const pictures = [...document.images];
  const shown = pictures.filter(i => i.complete && i.naturalWidth > 0 && i.clientWidth > 0).length;
  const scales = pictures.filter(i => i.hasAttribute("width"))
                         .map(i => i.clientWidth / i.getAttribute("width"));
  const silent = [...document.querySelectorAll(".frame")].filter(frame => {
    const scroll = frame.querySelector(".scroll");
    return (scroll.scrollWidth > scroll.clientWidth + 1) !== frame.classList.contains("wide");
  }).length;
  const ledger = !document.querySelector("#prove .frame").classList.contains("wide");

  const image = document.querySelector("#heatmap .picture img");
  const m = JSON.parse(image.parentElement.querySelector("script").textContent)[0];
  const box = image.getBoundingClientRect();
  const at = (start, size, i, all, natural) => (start + size * (i + .5)) * all / natural;
  image.dispatchEvent(new PointerEvent("pointermove", {
    clientX: box.left + at(m.x, m.w, 3, box.width, image.naturalWidth),
    clientY: box.top + at(m.y, m.h, 5, box.height, image.naturalHeight)}));
  const told = document.getElementById("tip").textContent ===
    `query 5 “${m.rowLabels[5]}”, key 3 “${m.columnLabels[3]}”: ${m.values[5 * m.columns + 3]}`;

  parent.postMessage(`${innerWidth} px: ${shown} of ${pictures.length} pictures, ` +
    `overflow ${document.documentElement.scrollWidth > innerWidth}, ` +
    `silent frames ${silent}, ledger fits ${ledger}, cell told ${told}, ` +
    `large enough ${Math.min(...scales) >= (innerWidth < 720 ? .499 : .699)}`, "*");
}, 100));
</script>
EOF
pictures=$(grep -o '<img ' "$page" | wc -l)

for width in 390 1280; do
  cat >"$folder/window.html" <<EOF
<script>onmessage = (event) => { document.title = event.data; }</script>
<iframe style="width: ${width}px; height: 2000px; border: 0" src="checked.html"></iframe>
EOF
  "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync \
    --disable-background-networking --disable-component-update --enable-logging=stderr \
    --user-data-dir="$folder/profile$width" --window-size=1400,2000 \
    --virtual-time-budget=20000 --dump-dom "file://$folder/window.html" \
    >"$folder/dom" 2>"$folder/log"
  if grep -q 'CONSOLE' "$folder/log"; then
    grep 'CONSOLE' "$folder/log"
    exit 1
  fi
  title=$(grep -o '<title>[^<]*' "$folder/dom" | head -n 1)
  echo "${title#<title>}"
  expected="$width px: $pictures of $pictures pictures, overflow false, silent frames 0"
  [[ $title == "<title>$expected, ledger fits true, cell told true, large enough true" ]]
done
