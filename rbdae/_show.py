"""Values as texts: short ones of arrays, HTML for notebooks in the colours of the page, and dictionaries by name whose
error for an unknown name is of use."""

from __future__ import annotations

import dataclasses
import html
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NoReturn, TypeVar, final

import numpy as np

from rbdae import _check

T = TypeVar("T")

_FEW = 4


def brief(value: Any) -> str:
    """``(1, 0, -2.5)`` for a few numbers, ``(200, 3) from -1 to 4.2`` for more, ``200 rotations`` for rotations."""
    if hasattr(value, "as_quat"):
        q = np.roll(np.asarray(value.as_quat()), 1, axis=-1)  # scalar first, as everywhere here
        return f"quaternion {brief(q)}" if q.ndim == 1 else f"{len(q)} rotations"
    if not isinstance(value, np.ndarray) and hasattr(value, "nnz"):
        return f"{value.shape} sparse, {value.nnz} entries"
    if value is None or isinstance(value, (bool, str)):
        return repr(value)
    numbers = np.asarray(value)
    if numbers.ndim == 0:
        return f"{numbers.item():.6g}"
    if numbers.dtype == bool or (numbers.ndim == 1 and len(numbers) <= _FEW):
        return f"({', '.join(str(x) if numbers.dtype == bool else f'{x:.6g}' for x in numbers.ravel().tolist())})"
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return f"{numbers.shape}"
    low, high = finite.min(), finite.max()
    same = f"all {low:.6g}" if low == high else f"from {low:.6g} to {high:.6g}"
    return f"{numbers.shape} {same}" + ("" if finite.size == numbers.size else ", not all finite")


def brief_repr(value: Any) -> str:
    """The `__repr__` of a dataclass: its name, and `brief` of its fields."""
    shown = ", ".join(f"{field.name}={brief(getattr(value, field.name))}" for field in dataclasses.fields(value))
    return f"{type(value).__name__}({shown})"


@final
class UnknownName(KeyError):
    """A name that is not there; its text is a sentence, where that of `KeyError` is the name in quotation marks."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


@final
class ByName(dict[str, T]):
    """A dictionary by the names of bodies, joints or forces.

    Parameters
    ----------
    what : "body", "joint" or the like, for messages
    items : as those of `dict`
    """

    __slots__ = ("what",)

    def __init__(self, what: str, items: Iterable[tuple[str, T]] = ()) -> None:
        super().__init__(items)
        self.what = what

    def __missing__(self, name: object) -> NoReturn:
        raise unknown_name(self.what, name, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return ByName, (self.what, list(self.items()))


def unknown_name(what: str, name: object, known: Iterable[str]) -> UnknownName:
    """The error for a name, with the nearest ones and all of them."""
    return UnknownName(str(_check.unknown(what, name, known)))


# ------------------------------------------------------------ HTML for notebooks

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
