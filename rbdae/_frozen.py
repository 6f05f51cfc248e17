"""Helpers for values: fields and unchecked copies of frozen attrs classes and dataclasses, refusal of copies,
dictionaries by name, short texts, and HTML for notebooks."""

from __future__ import annotations

import dataclasses
import html
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Final, NoReturn, TypeVar, final

import numpy as np

from rbdae import _check

T = TypeVar("T")


def _field_names(kind: Any) -> tuple[str, ...]:
    names = [field.name for field in getattr(kind, "__attrs_attrs__", ())]
    if dataclasses.is_dataclass(kind):
        names += [field.name for field in dataclasses.fields(kind) if field.name not in names]
    return tuple(names)


field_names: Callable[[Any], tuple[str, ...]] = cache(_field_names)
"""Names of the fields of a class in order, attrs fields before dataclass fields."""


def fill(value: object, /, **fields: object) -> None:
    """Set the fields of a frozen value, in its own ``__init__`` only."""
    for field, content in fields.items():
        object.__setattr__(value, field, content)


def twin(value: T, **changes: object) -> T:
    """A shallow copy with some fields changed, without the checks and conversions of `attrs.evolve`."""
    kind: Any = type(value)
    out: T = object.__new__(kind)
    fill(out, **(getattr(value, "__dict__", {}) | {name: getattr(value, name) for name in field_names(kind)} | changes))
    return out


def made(kind: type[T], fields: dict[str, object]) -> T:
    """A frozen value from all its fields, for classes without slots; much quicker than the constructor."""
    out = object.__new__(kind)
    out.__dict__.update(fields)
    return out


def changed(value: T, **changes: object) -> T:
    """`dataclasses.replace`, as quick as `made`; for classes that keep only their fields."""
    return made(type(value), {**value.__dict__, **changes})


def by_fields(value: Any) -> tuple[Any, tuple[Any, ...]]:
    """A `__reduce__` that rebuilds a dataclass from its fields only; computed attributes are computed again."""
    return type(value), tuple(getattr(value, name) for name in field_names(type(value)))


def refuse_copies(of: object = None) -> NoReturn:
    """A `__reduce__` that raises, for objects that work in the memory of one problem."""
    raise TypeError(
        "callbacks cannot be copied or pickled: they work in the memory of one problem; copy or pickle the problem, "
        "and take the callbacks of that"
    )


# ------------------------------------------------------------ by name, and short texts

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
    """An unknown name. Its text is a sentence; `KeyError` would quote it."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


@final
class ByName(dict[str, T]):
    """A dictionary by the names of bodies, joints or forces, which messages call `what`: "body", "joint"."""

    __slots__ = ("what",)

    def __init__(self, what: str, items: Iterable[tuple[str, T]] = ()) -> None:
        super().__init__(items)
        self.what = what

    def __missing__(self, name: object) -> NoReturn:
        raise UnknownName(str(_check.unknown(self.what, name, self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return ByName, (self.what, list(self.items()))


# ------------------------------------------------------------ tables as text, and HTML for notebooks


_CELL: Final = "padding: 1px 10px; text-align: left; vertical-align: top; background: none"
_MOST_ROWS: Final = 30


def notebook(heading: str, rows: Sequence[Sequence[str]], most: int = _MOST_ROWS) -> str:
    """A heading and a table of at most so many rows."""
    lines = ["".join(f'<td style="{_CELL}">{_escaped(cell)}</td>' for cell in row) for row in rows[:most]]
    more = f"<p>and {len(rows) - most} more</p>" if len(rows) > most else ""
    return (
        f'<div style="overflow-x: auto; max-width: 100%"><p style="margin: 2px 0"><b>{_escaped(heading)}</b></p>'
        f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>{more}</div>"
    )


def _escaped(text: str) -> str:
    """Text as HTML. Dollars and backslashes are escaped: they would begin mathematics in a notebook."""
    return re.sub(r"[$\\]", r"<span>\g<0></span>", html.escape(text))


class Table(list[T], ABC):
    """A list that prints as a table, in a notebook too."""

    @abstractmethod
    def rows(self) -> list[Sequence[str]]:
        """The cells, of the head first."""

    def notes(self) -> list[str]:
        """Lines below."""
        return []

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.rows(), strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in self.rows()]
        return "\n".join([*lines, *self.notes()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return notebook("; ".join([f"{len(self)} in all", *self.notes()]), self.rows(), len(self) + 1)
