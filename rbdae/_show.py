"""Values as texts: short ones of arrays, and dictionaries by name whose error for an unknown name is of use."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, NoReturn, TypeVar, final

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
