// The style and the script of the report (page.cpp puts them into it).
#pragma once

namespace lookback::tools {

inline constexpr const char* kPageStyle = R"css(
:root { color-scheme: light dark; --ink: #1d2733; --muted: #5b6878; --paper: #fdfdfc;
  --line: #d9dde2; --code: #eef1f4; --accent: #08519c; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --muted: #9aa7b6;
  --paper: #14181d; --line: #333c47; --code: #212831; --accent: #8ab8e6; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 6rem; max-width: 68rem; background: var(--paper);
  color: var(--ink); font: 1.0625rem/1.6 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: clamp(1.7rem, 4vw, 2.4rem); line-height: 1.15; margin: 0 0 .6rem; }
h2 { font-size: clamp(1.25rem, 3vw, 1.55rem); line-height: 1.25; margin: 0 0 .5rem; }
header p, .claim { max-width: 44rem; }
nav { border-block: 1px solid var(--line); margin: 1.5rem 0; padding: .75rem 0; }
nav ol { columns: 18rem; margin: 0; padding-left: 1.6rem; }
a { color: var(--accent); }
section { padding-top: 2.5rem; }
figure { margin: 1.25rem 0; }
.picture { position: relative; display: inline-block; max-width: 100%; background: #fff;
  border: 1px solid var(--line); border-radius: .4rem; overflow-x: auto; }
.picture img { display: block; width: 100%; max-width: var(--natural, 46rem); height: auto;
  min-width: min(var(--natural, 40rem), 58rem); }
figcaption { color: var(--muted); font-size: .95rem; margin-top: .4rem; max-width: 44rem; }
.files { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .85em; }
.facts { max-width: 44rem; padding-left: 1.2rem; }
.facts .files { list-style: none; color: var(--muted); }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--muted); padding-bottom: .3rem; }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 600; }
.keep { white-space: nowrap; }
.read { margin: .2rem 0; font-size: .92rem; color: var(--muted); }
code { background: var(--code); padding: .1em .35em; border-radius: .25em; overflow-wrap: anywhere;
  font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9em; }
pre { overflow: auto; max-height: 30rem; padding: .75rem; background: var(--code);
  border-radius: .4rem; font: .85rem/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
.bad { color: var(--bad); }
#tip { position: fixed; z-index: 2; pointer-events: none; background: #10161d; color: #fff;
  padding: .35rem .6rem; border-radius: .3rem; font-size: .85rem; max-width: 18rem; }
#tip[hidden] { display: none; }
)css";

// Shows query, key and value of the matrix cell under the pointer.
inline constexpr const char* kPageScript = R"js(
const tip = document.getElementById("tip");
for (const picture of document.querySelectorAll(".picture")) {
  const data = picture.querySelector("script");
  if (!data) continue;
  const image = picture.querySelector("img");
  let matrices = null;
  const show = (event) => {
    matrices ??= JSON.parse(data.textContent);
    const box = image.getBoundingClientRect();
    const x = (event.clientX - box.left) * image.naturalWidth / box.width;
    const y = (event.clientY - box.top) * image.naturalHeight / box.height;
    for (const m of matrices) {
      const column = Math.floor((x - m.x) / m.w);
      const row = Math.floor((y - m.y) / m.h);
      if (column < 0 || row < 0 || column >= m.columns || row >= m.rows) continue;
      const name = (title, labels, i, first) =>
        `${title} ${i + first}` + (labels[i] === undefined ? "" : ` “${labels[i]}”`);
      tip.textContent = `${name(m.row, m.rowLabels, row, m.first)}, ` +
        `${name(m.column, m.columnLabels, column, 0)}: ${m.values[row * m.columns + column]}`;
      tip.hidden = false;
      tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
      tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
      return;
    }
    tip.hidden = true;
  };
  image.addEventListener("pointermove", show);
  image.addEventListener("pointerdown", show);
  image.addEventListener("pointerleave", () => { tip.hidden = true; });
}
)js";

}  // namespace lookback::tools
