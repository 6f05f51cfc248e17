"""`Block`: equations of a user beside those of a mechanism, with states, algebraic unknowns and inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

import numpy as np

from rbdae import _check
from rbdae._frozen import fill
from rbdae.actuators.given import check_names, contents, given_mapping, readable
from rbdae.body import Body
from rbdae.forces.base import AbstractForce
from rbdae.forces.element import AnyElement
from rbdae.inputs import Input, named_numbers
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity

Source: TypeAlias = "float | Callable[[float], Any] | Input | Quantity | str"
"""From where a block has an input: a number, a function of the time, an input of the system, or a quantity of a joint
or of another block, which may be its label, such as "motor.current": that of a part which is added later, too."""


_FIELDS = frozenset(
    {"along", "coordinate_name", "first", "function", "given", "held", "memory", "name", "names", "period", "sources"}
    | {"start", "values"}
)
"""Attributes that are not there before the constructor has set them, as while a copy is made."""


def _no_law(self: Block, *_: Any) -> Any:
    """The law of a class that has none."""
    own = "t, s, z, u, p" if self.coordinate is None else "t, q, qd, s, z, u, p"
    raise NotImplementedError(f"{type(self).__name__}: write its law(self, {own})")


def _no_outputs(self: Block, *_: Any) -> Any:
    """The outputs of a class that has none."""
    raise NotImplementedError(f"{type(self).__name__}: write observe(...) for its outputs {tuple(self.outputs)}")


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Block(AbstractForce):
    """Equations without a force: sdot = f(t, s, z, u, p) and 0 = g(t, s, z, u, p). Subclasses say what these are.

        class Room(rbdae.Block):
            states = {"temperature": 293.0}
            inputs = ("heating",)
            parameters = {"capacity": 4e4, "loss": 20.0}

            def law(self, t, s, z, u, p):
                return [(u.heating - p.loss * (s.temperature - 283.0)) / p.capacity]

        system.add_block(Room(heating=motor.quantity("loss"), name="room"))

    A law is plain Python on numbers; s, z, u and p have their numbers by name and in order. It returns sdot, or
    (sdot, g) if there are algebraic unknowns. It is recorded once, with exact derivatives; it must be pure.

    Attributes of a class
    ---------------------
    states, algebraic : mappings from name to value at the start; of algebraic unknowns where Newton's method begins.
        dg/dz is regular (index 1)
    inputs : names, which are keywords of the constructor; each needs a `Source`
    outputs : names of what `observe` gives, in its order
    parameters : mapping from name to value; keywords of the constructor, too
    units : units of states, unknowns, inputs and outputs by name, for labels; "=measured" stands for the unit of the
        quantity that is the source of the input ``measured``, which inputs have by default

    Parameters
    ----------
    name : str, optional
    start : mapping, optional
        Other values at the start, by the names of states and algebraic unknowns.
    **values
        The source of each input, and parameters that are not as in the class.
    """

    states: ClassVar[Mapping[str, float]] = MappingProxyType({})
    algebraic: ClassVar[Mapping[str, float]] = MappingProxyType({})
    inputs: ClassVar[Sequence[str]] = ()
    outputs: ClassVar[Sequence[str]] = ()
    parameters: ClassVar[Mapping[str, float]] = MappingProxyType({})
    units: ClassVar[Mapping[str, str]] = MappingProxyType({})

    law: ClassVar[Any] = _no_law
    observe: ClassVar[Any] = _no_outputs

    name: str | None
    start: Mapping[str, float]
    sources: Mapping[str, Any]
    values: Mapping[str, float]

    def __init__(self, *, name: str | None = None, start: Mapping[str, float] | None = None, **values: Any) -> None:
        owner = self._owner(name)
        if name is not None:
            _check.name("force", name, ())
        check_names(owner, self.own_names(), self.inputs, self.parameters)
        known = {*self.inputs, *self.parameters}
        for key in values:
            if key not in known:
                raise _check.unknown(f"keyword of {owner}", key, [*self.inputs, *self.parameters, "name", "start"])
        missing = [key for key in self.inputs if key not in values]
        if missing:
            raise ValueError(
                f"{owner}: input {missing[0]!r} has no source; pass {missing[0]}= a number, a function of the time, an "
                "Input or a quantity such as pin.angle"
            )
        first = {**self.states, **self.algebraic}
        start = given_mapping(owner, "start", start)
        for key in start:
            if key not in first:
                raise _check.unknown(f"state of {owner}", key, first)
        fill(
            self,
            name=name,
            start=MappingProxyType({k: _check.number(owner, k, start.get(k, v)) for k, v in first.items()}),
            sources=MappingProxyType({k: _source(owner, k, values[k]) for k in self.inputs}),
            values=MappingProxyType({k: _check.number(owner, k, values.get(k, v)) for k, v in self.parameters.items()}),
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(filter(None, [repr(self.name), contents(self)]))})"

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        plain = {key: dict(value) if isinstance(value, Mapping) else value for key, value in fields.items()}
        return _again, (type(self), plain)

    def __getattr__(self, name: str) -> Quantity:
        """A quantity as an attribute, such as ``motor.current``."""
        if name.startswith("_") or name in _FIELDS or name not in self.own_names():
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return self.quantity(name)

    # ------------------------------------------------------------ facts

    def _owner(self, name: str | None) -> str:
        kind = type(self).__name__
        return f"{kind} {name!r}" if isinstance(name, str) and name else kind

    @property
    def bodies(self) -> tuple[Body, ...]:
        """None."""
        return ()

    @property
    def coordinate(self) -> Coordinate | None:
        """Along which it acts; None."""
        return None

    @property
    def n_states(self) -> int:
        """Number of differential states."""
        return len(self.states)

    @property
    def unknown_names(self) -> tuple[str, ...]:
        """The names of its states, then of its algebraic unknowns."""
        return (*self.states, *self.algebraic)

    def own_names(self) -> tuple[str, ...]:
        """The names of its quantities that belong to no coordinate."""
        return (*self.states, *self.algebraic, *self.outputs, *self.inputs)

    @property
    def quantities(self) -> dict[str, Quantity]:
        """Its quantities by name."""
        return {name: Quantity(self, name, self._unit(name)) for name in self.own_names()}

    def _unit(self, name: str) -> str:
        """The unit of a quantity; "" if nothing says it."""
        unit = self.units.get(name, f"={name}" if name in self.inputs else "")
        if not unit.startswith("="):
            return unit
        source = self.sources.get(unit[1:])
        return source.unit if isinstance(source, Quantity) else ""

    def quantity(self, name: str) -> Quantity:
        """One of its quantities. Raises ValueError for others."""
        known = self.quantities
        if name not in known:
            raise _check.unknown(f"quantity of {self._owner(self.name)}", name, known)
        return known[name]

    @property
    def constants(self) -> dict[str, Any]:
        """Its numbers by name: parameters, then inputs whose source is a number."""
        given = {name: source for name, source in self.sources.items() if is_number(source)}
        return {**self.values, **given}

    def elements(self) -> tuple[AnyElement, ...]:
        """None of its own: `rbdae.actuators.network` makes one of all that belong together."""
        return ()

    # ------------------------------------------------------------ laws on numbers of any kind

    def arguments(
        self,
        t: Any,
        motion: tuple[Any, Any] | None,
        unknowns: Sequence[Any],
        inputs: Sequence[Any],
        constants: Sequence[Any] | None = None,
    ) -> Any:
        """The arguments of `law` and `observe`; `motion` is (q, qd) of what has a coordinate, `constants` are those in
        place of its parameters."""
        k = self.n_states
        s, z = self._values(self.states, unknowns[:k]), self._values(self.algebraic, unknowns[k:])
        numbers = [float(np.real(value)) for value in self.values.values()] if constants is None else constants
        u, p = self._values(self.inputs, inputs), self._values(self.values, numbers)
        return (t, s, z, u, p) if motion is None else (t, *motion, s, z, u, p)

    def results(self, found: Any) -> tuple[Any, list[Any], list[Any]]:
        """Effort, sdot and g of what `law` has returned."""
        n, m = self.n_states, len(self.algebraic)
        owner = self._owner(self.name)
        if found is None:
            raise ValueError(f"{owner}: its law returns nothing; end it with return ...")
        if self.coordinate is None:
            effort = None
            parts = list(found) if m and isinstance(found, tuple) else [found]
        elif isinstance(found, tuple):
            effort, *parts = found
        else:
            effort, parts = found, []
        wanted = [(what, size) for what, size in (("sdot", n), ("g", m)) if size]
        if not wanted and self.coordinate is None:
            wanted = [("sdot", 0)]
        if len(parts) == len(wanted):
            lists = [_sequence(owner, what, part, size) for (what, size), part in zip(wanted, parts, strict=True)]
            return effort, lists[0] if n else [], lists[-1] if m else []
        front = "" if self.coordinate is None else "the torque or force, then "
        raise ValueError(
            f"{owner}: its law must return {front}{' and '.join(f'{what}, {size} numbers' for what, size in wanted)}; "
            f"got {_check.show(found)}"
        )

    @property
    def observed_names(self) -> tuple[str, ...]:
        """The names that `observed` gives."""
        return tuple(self.outputs)

    def observed(self, arguments: Any, observe: Callable[..., Any] | None = None) -> dict[str, Any]:
        """The outputs by name; `observe` is what takes the place of its own."""
        if not self.outputs:
            return {}
        values = _sequence(self._owner(self.name), "observe", (observe or self.observe)(*arguments), len(self.outputs))
        return dict(zip(self.outputs, values, strict=True))

    @staticmethod
    def _values(names: Iterable[str], values: Iterable[Any]) -> Any:
        """Numbers by name and in order."""
        return named_numbers(tuple(names))(*values)


def _again(kind: type[Block], fields: dict[str, Any]) -> Block:
    out = object.__new__(kind)
    fill(out, **{key: MappingProxyType(v) if isinstance(v, dict) else v for key, v in fields.items()})
    return out


def _sequence(owner: str, what: str, value: Any, n: int) -> list[Any]:
    """n numbers of any kind."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1):
        out = list(value)
    else:
        out = [value]
    if len(out) != n:
        raise ValueError(f"{owner}: {what} must be {n} number{'s' * (n != 1)}, got {len(out)}")
    return out


def _source(owner: str, what: str, value: Any) -> Any:
    """The source of an input, checked."""
    if isinstance(value, Quantity):
        return readable(owner, what, value)
    if isinstance(value, Input) or (isinstance(value, str) and "." in value):
        return value
    if callable(value):
        _check.takes(owner, what, value, "t")
        return value
    return _check.number(owner, what, value)


def is_number(source: Any) -> bool:
    """Whether a source is a number; one that varies is complex."""
    return isinstance(source, (float, complex, np.ndarray))


__all__ = ["Block", "Source", "is_number"]
