// The style and the script of the report (page.cpp puts them into it).
#pragma once

namespace lookback::tools {

// A picture is shown at its natural size, and shrunk to its frame only as far as its letters stay
// readable (--least); beyond that the frame scrolls, and says so.
inline constexpr const char* kPageStyle = R"css(
:root { color-scheme: light dark; --ink: #1d2733; --muted: #5b6878; --paper: #fdfdfc;
  --line: #d9dde2; --code: #eef1f4; --accent: #08519c; --bad: #b3261e; --edge: rgb(0 0 0 / .25);
  --least: .7; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --muted: #9aa7b6;
  --paper: #14181d; --line: #333c47; --code: #212831; --accent: #8ab8e6; --bad: #ff8a80;
  --edge: rgb(255 255 255 / .3); } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 6rem; max-width: 78rem; background: var(--paper);
  color: var(--ink); font: 1.0625rem/1.6 system-ui, "Segoe UI", "DejaVu Sans", sans-serif;
  overflow-wrap: break-word; }
h1 { font-size: clamp(1.7rem, 4vw, 2.4rem); line-height: 1.15; margin: 0 0 .6rem; }
h2 { font-size: clamp(1.25rem, 3vw, 1.55rem); line-height: 1.25; margin: 0 0 .5rem; }
header p, .claim { max-width: 44rem; }
nav { border-block: 1px solid var(--line); margin: 1.5rem 0; padding: .75rem 0; }
nav ol { columns: 18rem; margin: 0; padding-left: 1.6rem; }
a { color: var(--accent); }
section { padding-top: 2.5rem; }
figure { margin: 1.25rem 0; }
figcaption { color: var(--muted); font-size: .95rem; margin: .4rem 0; max-width: 44rem; }
.files { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .85em; }
.facts { max-width: 44rem; padding-left: 1.2rem; }
.facts .files { list-style: none; color: var(--muted); }
.frame { position: relative; display: inline-block; max-width: 100%; vertical-align: top; }
.frame.wide::before { content: "scroll sideways \2192"; display: block; text-align: right;
  color: var(--muted); font-size: .8rem; }
.frame.more::after { content: ""; position: absolute; inset: 1.4rem 0 0 auto; width: 1.5rem;
  pointer-events: none; background: linear-gradient(to left, var(--edge), transparent); }
.frame:has(.picture) { --edge: rgb(0 0 0 / .25); }
.scroll { overflow-x: auto; }
.picture { background: #fff; border: 1px solid var(--line); border-radius: .4rem; }
.picture img { display: block; width: 100%; height: auto; max-width: var(--natural, 46rem);
  min-width: calc(var(--natural, 46rem) * var(--least)); }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 600; }
.group th { font-weight: normal; padding-top: 1rem; max-width: 48rem; }
small { color: var(--muted); font-size: .92em; }
.keep { white-space: nowrap; }
.words { min-width: 15rem; max-width: 30rem; }
.read { margin: .2rem 0; font-size: .92rem; color: var(--muted); }
code { background: var(--code); padding: .1em .35em; border-radius: .25em; overflow-wrap: anywhere;
  font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .9em; }
pre { overflow: auto; max-height: 30rem; padding: .75rem; background: var(--code);
  border-radius: .4rem; font: .85rem/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
.bad { color: var(--bad); }
#tip { position: fixed; z-index: 2; pointer-events: none; background: #10161d; color: #fff;
  padding: .35rem .6rem; border-radius: .3rem; font-size: .85rem; max-width: 18rem; }
#tip[hidden] { display: none; }
@media (max-width: 45rem) { :root { --least: .5; }
  body { padding-inline: 1rem; font-size: 1rem; }
  table { font-size: .85rem; } th, td { padding-right: .6rem; }
  .grouped .words { min-width: 0; } }
)css";

// Shows query, key and value of the matrix cell under the pointer, and which frames scroll.
inline constexpr const char* kPageScript = R"js(
const tip = document.getElementById("tip");
const place = (event) => {  // a finger hides what is below it
  const touch = event.pointerType === "touch";
  const left = event.clientX + (touch ? -tip.offsetWidth / 2 : 14);
  const top = event.clientY + (touch ? -tip.offsetHeight - 28 : 16);
  tip.style.left = `${Math.max(8, Math.min(left, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(8, Math.min(top, innerHeight - tip.offsetHeight - 8))}px`;
};
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
      place(event);
      return;
    }
    tip.hidden = true;
  };
  image.addEventListener("pointermove", show);
  image.addEventListener("pointerdown", show);
  image.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch") tip.hidden = true;
  });
}
addEventListener("pointerdown", (event) => {  // a tap elsewhere
  if (!event.target.closest(".picture")) tip.hidden = true;
});
addEventListener("scroll", () => { tip.hidden = true; }, { capture: true, passive: true });
for (const frame of document.querySelectorAll(".frame")) {
  const scroll = frame.querySelector(".scroll");
  const mark = () => {
    const hidden = scroll.scrollWidth - scroll.clientWidth;
    frame.classList.toggle("wide", hidden > 1);
    frame.classList.toggle("more", hidden - scroll.scrollLeft > 1);
  };
  scroll.addEventListener("scroll", mark, { passive: true });
  const observer = new ResizeObserver(mark);  // either may change without the other
  observer.observe(scroll);
  observer.observe(scroll.firstElementChild);
  addEventListener("load", mark);
}
)js";

}  // namespace lookback::tools
