"""Short HTML for notebooks. Colours are those of the page, so that it is read on light and dark ones."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Final

_CELL: Final = "padding: 1px 10px; text-align: left; vertical-align: top; background: none"
_NUMBER: Final = "padding: 1px 10px; text-align: right; vertical-align: top; background: none"
MOST_ROWS: Final = 30


def block(heading: str, *inside: str) -> str:
    """A heading with what is below it; `inside` is HTML."""
    head = f'<p style="margin: 2px 0"><b>{text(heading)}</b></p>'
    return f'<div style="overflow-x: auto; max-width: 100%">{head}{"".join(inside)}</div>'


def text(value: object) -> str:
    """Text as HTML. Dollars and backslashes would begin mathematics in a notebook."""
    return re.sub(r"[$\\]", r"<span>\g<0></span>", html.escape(str(value)))


def table(head: Sequence[str], rows: Iterable[Sequence[object]], most: int = MOST_ROWS) -> str:
    """A table with the first `most` rows; floats have six digits."""
    every = [list(row) for row in rows]
    numeric = [bool(every) and all(isinstance(row[k], (int, float)) for row in every) for k in range(len(head))]
    style = [_NUMBER if each else _CELL for each in numeric]
    out = ["<table>"]
    if any(head):
        cells = "".join(f'<th style="{s}">{text(name)}</th>' for s, name in zip(style, head, strict=True))
        out.append(f"<thead><tr>{cells}</tr></thead>")
    for row in every[:most]:
        cells = "".join(f'<td style="{s}">{text(_shown(value))}</td>' for s, value in zip(style, row, strict=True))
        out.append(f"<tr>{cells}</tr>")
    out.append("</table>")
    more = len(every) - most
    return "".join(out) + (f"<p>and {more} more</p>" if more > 0 else "")


def counted(n: int, one: str) -> str:
    """A number of things: "1 force", "2 bodies"."""
    many = one.removesuffix("y") + "ies" if one.endswith("y") else f"{one}s"
    return f"{n} {one if n == 1 else many}"


def mathematics(equations: Sequence[str]) -> str:
    """Equations below each other, for MathJax; none for no equations."""
    if not equations:
        return ""
    body = r" \\ ".join(f"& {html.escape(line, quote=False)}" for line in equations)
    return rf"$$\begin{{aligned}} {body} \end{{aligned}}$$"


def _shown(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value
