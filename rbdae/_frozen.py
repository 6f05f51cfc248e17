"""Help for frozen values, of attrs or dataclasses: names of fields, unchecked copies, refusal of copies."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn, TypeVar, final

T = TypeVar("T")


def _field_names(kind: Any) -> tuple[str, ...]:
    known = [field.name for field in getattr(kind, "__attrs_attrs__", ())]
    if dataclasses.is_dataclass(kind):
        known += [field.name for field in dataclasses.fields(kind) if field.name not in known]
    return tuple(known)


field_names: Callable[[Any], tuple[str, ...]] = cache(_field_names)
"""The names of the fields of a class, in order: those of attrs, then those of a dataclass."""


def fill(value: object, /, **fields: object) -> None:
    """Set the fields of a frozen value; only for its own ``__init__``."""
    for field, content in fields.items():
        object.__setattr__(value, field, content)


def twin(value: T, **changes: object) -> T:
    """A shallow copy with some fields changed, which are not checked or converted (`attrs.evolve` would do so)."""
    kind: Any = type(value)
    out: T = object.__new__(kind)
    fill(out, **(getattr(value, "__dict__", {}) | {name: getattr(value, name) for name in field_names(kind)} | changes))
    return out


def made(kind: type[T], fields: dict[str, object]) -> T:
    """A frozen value of a class without slots, of all its fields: much quicker than its constructor."""
    out = object.__new__(kind)
    out.__dict__.update(fields)
    return out


def changed(value: T, **changes: object) -> T:
    """The same as `dataclasses.replace`, as quick as `made`; for classes that keep nothing beside their fields."""
    return made(type(value), {**value.__dict__, **changes})


def by_fields(value: Any) -> tuple[Any, tuple[Any, ...]]:
    """The result of `__reduce__` of a dataclass, so that copies and pickles are made of its fields alone: what has been
    computed from them is computed again."""
    return type(value), tuple(getattr(value, name) for name in field_names(type(value)))


@final
class KeptAlive:
    """Keeps an object alive for a kernel that has its address alone: a copy would have the address of its original."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __reduce__(self) -> NoReturn:
        refuse_copies()


def refuse_copies(of: object = None) -> NoReturn:
    """Raise for what works in the memory of one problem: its `__reduce__`."""
    raise TypeError(
        "callbacks cannot be copied or pickled: they work in the memory of one problem; copy or pickle the problem, "
        "and take the callbacks of that"
    )
