"""What a browser can see of a page that is wrong: texts that are cut or collide, legends over axes, weak colours."""

from __future__ import annotations

LAYOUT = """() => {
  const out = [], W = document.documentElement.clientWidth;
  const rect = (e) => e.getBoundingClientRect();
  const over = (a, b) => Math.min(Math.min(a.right, b.right) - Math.max(a.left, b.left),
                                  Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  if (document.documentElement.scrollWidth > W) out.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  for (const e of document.querySelectorAll("pre, dl, nav, .controls, p, h1, h2, figcaption"))
    if (e.scrollWidth > e.clientWidth + 1) out.push(`${e.tagName} has to be scrolled: ${e.textContent.slice(0, 40)}`);
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  for (const id of new Set(ids.filter((each) => each.startsWith("figure-"))))
    if (ids.filter((each) => each === id).length > 1) out.push(`two figures are called ${id}`);
  for (const plot of document.querySelectorAll(".plot")) {
    const p = rect(plot), legend = plot.querySelector(".legend"), bar = plot.querySelector(".modebar");
    const texts = [...plot.querySelectorAll("text")].filter((t) => t.textContent.trim() && rect(t).width > 0);
    texts.forEach((t, i) => {
      const a = rect(t), said = t.textContent;
      if (a.left < p.left - 1 || a.right > p.right + 1 || a.top < p.top - 1 || a.bottom > p.bottom + 1)
        out.push(`${plot.id}: "${said}" is cut`);
      for (const other of texts.slice(0, i))
        if (over(a, rect(other)) > 2) out.push(`${plot.id}: "${said}" is over "${other.textContent}"`);
    });
    for (const axes of plot.querySelectorAll(".nsewdrag"))
      if (legend && over(rect(axes), rect(legend)) > 1) out.push(`${plot.id}: the legend is over the axes`);
    const scroll = plot.querySelector(".legend .scrollbar");
    if (scroll && rect(scroll).height > 1) out.push(`${plot.id}: the legend has to be scrolled`);
    if (legend && bar && over(rect(legend), rect(bar)) > 1) out.push(`${plot.id}: the legend is under the buttons`);
  }
  return out;
}"""
"""Sentences on what is wrong in a page; none is right."""

COLOURS = """() => {
  const found = new Map();
  for (const plot of document.querySelectorAll(".plot")) {
    for (const trace of plot.data ?? []) found.set(trace.line?.color, `${plot.id}: ${trace.name}`);
    found.set(plot.layout?.font?.color, `${plot.id}: its texts`);
  }
  const grounds = [...document.querySelectorAll(".plot")].map((plot) => plot.layout?.plot_bgcolor);
  return [[...found].filter(([colour]) => colour), grounds.find((colour) => colour)];
}"""
"""The colours of curves and texts with what has them, and the ground of the axes."""


def contrast(one: str, other: str) -> float:
    """The contrast of two colours "#rrggbb", from 1 to 21 (WCAG 2)."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
