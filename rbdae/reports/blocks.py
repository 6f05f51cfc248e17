"""The contents of a page: headings with blocks below them, which `page.html` of the folder ``page`` draws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias, final

Tone: TypeAlias = Literal["plain", "heading", "good", "warning", "failure"]
Value: TypeAlias = str | int | float | None

NOT_REPORTED = "\N{EN DASH}"
"""Stands for None: a count that a package does not report, a number that a failed run does not have."""

FAR = "1.7e308"
"""The order of what is no number: it comes last."""

_INFINITE = "1.6e308"  # DataTables sorts finite numbers only


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """The text that a table shows, and the number or text that it is sorted by."""

    text: str
    order: str


@final
@dataclass(frozen=True, slots=True)
class Facts:
    """Names and what belongs to them."""

    kind: ClassVar[str] = "facts"
    pairs: tuple[tuple[str, str], ...]


@final
@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph; `tone` marks warnings and failures."""

    kind: ClassVar[str] = "text"
    text: str
    tone: Tone = "plain"


@final
@dataclass(frozen=True, slots=True)
class Items:
    """A list of sentences."""

    kind: ClassVar[str] = "items"
    items: tuple[str, ...]
    tone: Tone = "plain"


@final
@dataclass(frozen=True, slots=True)
class Code:
    """A text that was typed."""

    kind: ClassVar[str] = "code"
    text: str


@final
@dataclass(frozen=True, slots=True)
class Table:
    """A table that can be sorted and filtered.

    Attributes
    ----------
    name : its id in the page
    head : of the columns: their names, and what they mean (a tooltip)
    numeric : of the columns: whether they have numbers
    rows : cells
    curves : of the rows: the number (`meta`) of the curve that shows it in the figures, or -1
    figure : names of figures, separated by blanks, that show only curves with a row that is not filtered away
    """

    kind: ClassVar[str] = "table"
    name: str
    head: tuple[tuple[str, str], ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[Cell, ...], ...]
    curves: tuple[int, ...] = ()
    figure: str = ""


@final
@dataclass(frozen=True, slots=True)
class Figure:
    """An interactive figure: `spec` is plotly's JSON."""

    kind: ClassVar[str] = "figure"
    name: str
    spec: str
    height: int
    caption: str = ""


@final
@dataclass(frozen=True, slots=True)
class Animation:
    """A mechanism in motion: `spec` is plotly's JSON of its first moment, `motion` what `page.js` plays."""

    kind: ClassVar[str] = "animation"
    name: str
    spec: str
    motion: Mapping[str, Any]
    height: int
    caption: str = ""


Block: TypeAlias = Facts | Text | Items | Code | Table | Figure | Animation


@final
@dataclass(frozen=True, slots=True)
class Section:
    """A heading, its place in the table of contents, and what is below it."""

    heading: str
    blocks: tuple[Block, ...]

    @property
    def anchor(self) -> str:
        """The name that a link to it says."""
        return "-".join(self.heading.lower().split())


@final
@dataclass(frozen=True, slots=True)
class Page:
    """A whole page."""

    heading: str
    under: str
    verdict: str
    tone: Tone
    sections: tuple[Section, ...]


def number(value: float | int | None, digits: int = 6) -> str:
    """A number as it is read: ``nan`` and infinities by name, None as a dash."""
    if value is None:
        return NOT_REPORTED
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return str(float(value))
    return f"{value + 0.0:.{digits}g}"  # without the sign of a zero


def cell(value: Value, digits: int = 6) -> Cell:
    """A cell of a table."""
    if isinstance(value, str):
        return Cell(value, value)
    if value is None or math.isnan(value):
        return Cell(number(value), FAR)
    if math.isinf(value):
        return Cell(number(value), _INFINITE if value > 0 else f"-{_INFINITE}")
    return Cell(number(value, digits), repr(float(value)))


def table(
    name: str, head: Mapping[str, str], rows: Iterable[Sequence[Value | Cell]], digits: int = 6, **more: Any
) -> Table:
    """A table of texts and numbers, or of cells; a column without a text has numbers."""
    given = [tuple(row) for row in rows]
    numeric = tuple(bool(given) and not any(isinstance(row[k], str) for row in given) for k in range(len(head)))
    cells = tuple(tuple(value if isinstance(value, Cell) else cell(value, digits) for value in row) for row in given)
    return Table(name, tuple(head.items()), numeric, cells, **more)


__all__ = [
    "FAR",
    "NOT_REPORTED",
    "Animation",
    "Block",
    "Cell",
    "Code",
    "Facts",
    "Figure",
    "Items",
    "Page",
    "Section",
    "Table",
    "Text",
    "Tone",
    "Value",
    "cell",
    "number",
    "table",
]
