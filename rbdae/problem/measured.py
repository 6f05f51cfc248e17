"""`Measured`: the quantities of one joint or force by name, each of them computed when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, final

from rbdae import _check

Units = Mapping[str, tuple[str, str]]
"""Unit and components, "" for a number, of each quantity by name."""


@final
class Measured:
    """Quantities of one joint or force, at one state or at m of them, by name: ``.angle``, ``.rate``, ``.torque``.

    Numbers have the shape (m,), vectors (m, 3), of one state () and (3,). What is not asked for is not computed; what
    was asked for belongs to the state that was given, whatever has become of that array. Pickles and copies have all of
    them.

    Attributes
    ----------
    units : unit and components of each by name
    """

    def __init__(self, units: Units, read: Callable[[str], Any]) -> None:
        self.__dict__.update(units=units, _read=read)

    def __getattr__(self, name: str) -> Any:
        units = self.__dict__.get("units", {})
        if name not in units:
            hint = _check.nearest(name, units)
            raise AttributeError(f"no quantity {name!r} here; {hint + ' There' if hint else 'there'} are {list(units)}")
        value = self.__dict__[name] = self.__dict__["_read"](name)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Measured cannot be changed, got a new {name}")

    def __iter__(self) -> Iterator[str]:
        """The names of the quantities."""
        return iter(self.units)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self.units} - {"_read"})

    def __repr__(self) -> str:
        return f"Measured({', '.join(f'{name} [{unit}]' if unit else name for name, (unit, _) in self.units.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (dict(self.units), {name: getattr(self, name) for name in self.units})


def _again(units: Units, values: dict[str, Any]) -> Measured:
    return Measured(units, values.__getitem__)
