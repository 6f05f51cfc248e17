"""Help for frozen dataclasses whose constructor takes array-likes and keeps checked arrays."""

from __future__ import annotations

import dataclasses
from typing import TypeVar

T = TypeVar("T")


def fill(value: object, **fields: object) -> None:
    """Set the fields of a frozen value; only for its own ``__init__``."""
    for field, content in fields.items():
        object.__setattr__(value, field, content)


def twin(value: T, **changes: object) -> T:
    """A shallow copy with some fields changed; what was checked is not checked again."""
    names = [field.name for field in dataclasses.fields(value)]  # type: ignore[arg-type]
    out = object.__new__(type(value))
    fill(out, **({name: getattr(value, name) for name in names} | changes))
    return out


__all__ = ["fill", "twin"]
