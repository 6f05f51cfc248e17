"""`Block` and `block`: a user's equations with states, algebraic unknowns and inputs, coupled to a mechanism.
`Actuator`: a torque or force along a coordinate by them. `Sampled`: a controller that runs at fixed times and holds its
outputs in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeAlias, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import Vec, is_varied
from rbdae._frozen import fill, twin
from rbdae.body import Body
from rbdae.forces.base import AbstractForce
from rbdae.forces.element import AnyElement
from rbdae.forces.joint_forces import coordinate_of
from rbdae.inputs import Input, check_number_names, named_numbers
from rbdae.joints.base import AbstractJoint
from rbdae.quantities.coordinate import Coordinate, distance
from rbdae.quantities.quantity import Quantity, of_coordinates

Source: TypeAlias = "float | Callable[[float], Any] | Input | Quantity | str"
"""Source of a block's input: a number, a function of time, an input of the system, or a quantity of a joint or of
another block. A label such as "motor.current" may stand for the quantity of a part that is added later."""


@attrs.frozen(eq=False, slots=False, init=False, repr=False)
class Block(AbstractForce):
    """Equations without a force: sdot = f(t, s, z, u, p) and 0 = g(t, s, z, u, p), defined by subclasses::

        class Room(rbdae.Block):
            states = {"temperature": 293.0}
            inputs = ("heating",)
            parameters = {"capacity": 4e4, "loss": 20.0}

            def law(self, t, s, z, u, p):
                return [(u.heating - p.loss * (s.temperature - 283.0)) / p.capacity]

        system.add_block(Room(heating=motor.quantity("loss"), name="room"))

    A law is plain Python on numbers; s, z, u and p have their numbers by name and in order. It returns sdot, or
    (sdot, g) if there are algebraic unknowns. It must be pure: it is recorded once, with exact derivatives.

    Attributes of a class
    ---------------------
    states, algebraic : mappings from name to initial value; for algebraic unknowns the guess of Newton's method.
        dg/dz is regular (index 1)
    inputs : names, which are keywords of the constructor; each needs a `Source`
    outputs : names of the results of `observe`, in its order
    parameters : mapping from name to value; also keywords of the constructor
    units : units of states, unknowns, inputs and outputs by name, for labels; "=measured" stands for the unit of the
        source of the input ``measured``, the default for inputs

    Parameters
    ----------
    name : str, optional
    start : mapping, optional
        Initial values that differ from the class, by the names of states and algebraic unknowns.
    **values
        The source of each input, and parameters that differ from the class.
    """

    states: ClassVar[Mapping[str, float]] = MappingProxyType({})
    algebraic: ClassVar[Mapping[str, float]] = MappingProxyType({})
    inputs: ClassVar[Sequence[str]] = ()
    outputs: ClassVar[Sequence[str]] = ()
    parameters: ClassVar[Mapping[str, float]] = MappingProxyType({})
    units: ClassVar[Mapping[str, str]] = MappingProxyType({})

    start: Mapping[str, float]
    sources: Mapping[str, Any]
    values: Mapping[str, float]

    def __init__(self, *, name: str | None = None, start: Mapping[str, float] | None = None, **values: Any) -> None:
        owner = self._owner_of(name)
        if name is not None:
            _check.name("force", name, ())
        own = self.own_names()
        check_number_names(owner, (*own, *self.parameters))
        for key in own:
            if own.count(key) > 1 or (key in self.inputs and key in self.parameters):
                raise ValueError(f"{owner}: two of its quantities and parameters are called {key!r}; rename one")
        keywords = {*self.inputs, *self.parameters}
        for key in values:
            if key not in keywords:
                raise _check.unknown(f"keyword of {owner}", key, [*self.inputs, *self.parameters, "name", "start"])
        missing = [key for key in self.inputs if key not in values]
        if missing:
            raise ValueError(
                f"{owner}: input {missing[0]!r} has no source; pass {missing[0]}= a number, a function of time, an "
                "Input or a quantity such as pin.angle"
            )
        first = {**self.states, **self.algebraic}
        start = given_mapping(owner, "start", start)
        for key in start:
            if key not in first:
                raise _check.unknown(f"state of {owner}", key, first)
        Block.__attrs_init__(
            self,
            name=name,
            start=MappingProxyType({k: _check.number(owner, k, start.get(k, v)) for k, v in first.items()}),
            sources=MappingProxyType({k: _source(owner, k, values[k]) for k in self.inputs}),
            values=MappingProxyType({k: _check.number(owner, k, values.get(k, v)) for k, v in self.parameters.items()}),
        )

    def _set(self, **fields: Any) -> None:
        """Set attributes of this block, also over class attributes; in constructors only."""
        vars(self).update(fields)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(filter(None, [repr(self.name), contents(self)]))})"

    def __getstate__(self) -> dict[str, Any]:
        state = {"name": self.name, **vars(self)}
        return {key: dict(value) if isinstance(value, MappingProxyType) else value for key, value in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        fill(
            self, **{key: MappingProxyType(value) if isinstance(value, dict) else value for key, value in state.items()}
        )

    def __getattr__(self, name: str) -> Quantity:
        if name.startswith("_") or name not in self.own_names():
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return self.quantity(name)

    def law(self, *_: Any, **__: Any) -> Any:
        """sdot, or (sdot, g), of a block along a coordinate its effort before them: see the class."""
        arguments = "t, s, z, u, p" if self.coordinate is None else "t, q, qd, s, z, u, p"
        raise NotImplementedError(f"{type(self).__name__}: write its law(self, {arguments})")

    def observe(self, *_: Any, **__: Any) -> Any:
        """The outputs, in their order, from the arguments of the law."""
        raise NotImplementedError(f"{type(self).__name__}: write observe(...) for its outputs {tuple(self.outputs)}")

    # ------------------------------------------------------------ facts

    def _owner_of(self, name: str | None) -> str:
        kind = type(self).__name__
        return f"{kind} {name!r}" if isinstance(name, str) and name else kind

    @property
    def bodies(self) -> tuple[Body, ...]:
        return ()

    @property
    def coordinate(self) -> Coordinate | None:
        """None: a block has no force."""
        return None

    @property
    def unknown_names(self) -> tuple[str, ...]:
        """Names of its states, then of its algebraic unknowns."""
        return (*self.states, *self.algebraic)

    def own_names(self) -> tuple[str, ...]:
        """Names of its quantities that belong to no coordinate."""
        return (*self.states, *self.algebraic, *self.outputs, *self.inputs)

    @property
    def quantities(self) -> dict[str, Quantity]:
        return {name: Quantity(self, name, self._unit(name)) for name in self.own_names()}

    def _unit(self, name: str) -> str:
        unit = self.units.get(name, f"={name}" if name in self.inputs else "")
        if not unit.startswith("="):
            return unit
        source = self.sources.get(unit[1:])
        return source.unit if isinstance(source, Quantity) else ""

    def quantity(self, name: str) -> Quantity:
        """One of its quantities. Raises ValueError for an unknown name."""
        quantities = self.quantities
        if name not in quantities:
            raise _check.unknown(f"quantity of {self._owner_of(self.name)}", name, quantities)
        return quantities[name]

    @property
    def constants(self) -> dict[str, Any]:
        """Its numbers by name: parameters, then inputs with a number as source."""
        numbers = {name: source for name, source in self.sources.items() if is_number(source)}
        return {**self.values, **numbers}

    def elements(self) -> tuple[AnyElement, ...]:
        """Empty: `rbdae.actuators.network` makes one element of all connected blocks."""
        return ()

    # ------------------------------------------------------------ laws on numbers of any kind

    def arguments(
        self,
        t: Any,
        motion: tuple[Any, Any] | None,
        unknowns: Sequence[Any],
        inputs: Sequence[Any],
        constants: Sequence[Any],
    ) -> Any:
        """The arguments of `law` and `observe`; `motion` is (q, qd) if there is a coordinate, `constants` are the
        values of its parameters."""
        k = len(self.states)
        s, z = self._values(self.states, unknowns[:k]), self._values(self.algebraic, unknowns[k:])
        u, p = self._values(self.inputs, inputs), self._values(self.values, constants)
        return (t, s, z, u, p) if motion is None else (t, *motion, s, z, u, p)

    def results(self, found: Any) -> tuple[Any, list[Any], list[Any]]:
        """Effort, sdot and g from the result of `law`."""
        n, m = len(self.states), len(self.algebraic)
        owner = self._owner_of(self.name)
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

    def observed(self, arguments: Any, observe: Callable[..., Any] | None = None) -> dict[str, Any]:
        """The outputs by name; `observe` replaces its own."""
        if not self.outputs:
            return {}
        values = (observe or self.observe)(*arguments)
        values = _sequence(self._owner_of(self.name), "observe", values, len(self.outputs))
        return dict(zip(self.outputs, values, strict=True))

    @staticmethod
    def _values(names: Iterable[str], values: Iterable[Any]) -> Any:
        return named_numbers(tuple(names))(*values)


def given_mapping(owner: str, what: str, value: Any) -> dict[str, Any]:
    """A mapping by name, empty for None. Raises TypeError for anything else."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(
            f'{owner}: {what} must be a mapping by name, got {_check.show(value)}; pass e.g. {{"name": 1.0}}'
        )
    return dict(value)


def contents(block: Any) -> str:
    """The states, algebraic unknowns, inputs and outputs of a block by name."""
    what = {name: getattr(block, name) for name in ("states", "algebraic", "inputs", "outputs")}
    return "; ".join(f"{name} {', '.join(each)}" for name, each in what.items() if each)


def sort_of(force: AbstractForce) -> tuple[str, str]:
    """The kind ("force", "actuator" or "block"), and a text with its bodies and named contents, for tables."""
    bodies = " and ".join(body.name for body in force.bodies)
    if not isinstance(force, Block):
        return "force", bodies
    return ("block", contents(force)) if force.coordinate is None else ("actuator", f"{bodies}; {contents(force)}")


def readable(owner: str, what: str, source: Quantity) -> Quantity:
    """A quantity that a block may read. Raises ValueError if it follows from the accelerations or belongs to no
    coordinate."""
    if source.aspect not in ("value", "rate", "own"):
        raise ValueError(
            f"{owner}: {what} cannot be {source!r}: it belongs to no coordinate, or it follows from the accelerations, "
            "which depend on the forces; give a position, a rate, a state or an output"
        )
    return source


def _sequence(owner: str, what: str, value: Any, n: int) -> list[Any]:
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
    if isinstance(value, Quantity):
        return readable(owner, what, value)
    if isinstance(value, Input) or (isinstance(value, str) and "." in value):
        return value
    if callable(value):
        _check.takes(owner, what, value, "t")
        return value
    return _check.number(owner, what, value)


def is_number(source: Any) -> bool:
    """Whether a source is a number; a varied one is complex, or a symbol."""
    return isinstance(source, (float, complex, np.ndarray)) or is_varied(source)


# ---------------------------------------------------------------- by a function


@final
@attrs.frozen(eq=False, slots=False, init=False, repr=False)
class FunctionBlock(Block):
    """Equations without a force: sdot = f(t, s, z, u, p) and 0 = g(t, s, z, u, p), in one DAE with the mechanism::

        room = system.add_block(
            rbdae.block(
                lambda t, s, z, u, p: [(u.loss - 20.0 * (s.temperature - 283.0)) / 4e4],
                states={"temperature": 293.0},
                inputs={"loss": motor.loss},
                name="room",
            )
        )

    Parameters
    ----------
    law : function (t, s, z, u, p)
        Returns sdot, or (sdot, g) if there are algebraic unknowns, or only g if there is no state. Plain Python, pure;
        s, z, u and p have their numbers by name and in order.
    states, algebraic : mappings
        Names and initial values; for algebraic unknowns the guess of Newton's method. dg/dz is regular.
    inputs : mapping
        Names, and numbers, functions of time, inputs of the system or quantities.
    outputs, observe : names, and a function (t, s, z, u, p) that returns their values
    parameters : mapping of numbers
    name : str, optional
    """

    default_name: ClassVar = "block"

    def __init__(
        self,
        law: Callable[..., Any],
        *,
        states: Mapping[str, float] | None = None,
        algebraic: Mapping[str, float] | None = None,
        inputs: Mapping[str, Any] | None = None,
        outputs: Sequence[str] = (),
        observe: Callable[..., Any] | None = None,
        parameters: Mapping[str, float] | None = None,
        name: str | None = None,
    ) -> None:
        owner = self._owner_of(name)
        _check.takes(owner, "law", law, "t", "s", "z", "u", "p")
        names = tuple(_check.names(f"{owner}: outputs", outputs))
        if (observe is None) != (not names):
            raise ValueError(
                f"{owner}: outputs and observe go together, got outputs={_check.show(outputs)} and "
                f"observe={_check.show(observe)}; give the names and the function that returns their values"
            )
        if observe is not None:
            _check.takes(owner, "observe", observe, "t", "s", "z", "u", "p")
        read = given_mapping(owner, "inputs", inputs)
        self._set(
            states=given_mapping(owner, "states", states),
            algebraic=given_mapping(owner, "algebraic", algebraic),
            inputs=tuple(read),
            outputs=names,
            parameters=given_mapping(owner, "parameters", parameters),
            law=law,
            observe=observe,
        )
        super().__init__(name=name, **read)


block = FunctionBlock
"""The public name of the class: `rbdae.block`."""


# ---------------------------------------------------------------- actuators


def _another_body(b: Body, points: Any = None, field: Any = None) -> Body:
    for side, body in (("a", points.a), ("b", b)):
        if not isinstance(body, Body):
            raise TypeError(f"Points: {side} must be a body, got {_check.show(body)}")
    if points.a is b:
        raise ValueError(f"Points: both are on body {b.name!r}; take two different bodies")
    return b


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class Points:
    """Two points on two bodies; an actuator acts along their distance.

    Parameters
    ----------
    a, b : Body
    at_a, at_b : (3,) array_like
        The points in the body frames.
    """

    a: Body
    b: Body = attrs.field(converter=_another_body)
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)

    _owner: ClassVar = "Points"

    @property
    def bodies(self) -> tuple[Body, Body]:
        """The two bodies."""
        return self.a, self.b

    def coordinates(self) -> tuple[Coordinate]:
        """The distance."""
        return (distance("length", self.at_a, self.at_b),)


@attrs.frozen(eq=False, slots=False, init=False, repr=False)
class Actuator(Block):
    """A torque or force along a coordinate, by a law with states s and algebraic unknowns z::

        class DCMotor(rbdae.Actuator):
            states = {"current": 0.0}
            inputs = ("voltage",)
            parameters = {"resistance": 1.0, "inductance": 1e-3, "constant": 0.05}

            def law(self, t, q, qd, s, z, u, p):
                rate = (u.voltage - p.resistance * s.current - p.constant * qd) / p.inductance
                return p.constant * s.current, [rate]

        motor = system.add_force(DCMotor(pin, voltage=24.0, name="motor"))

    The law returns the torque or force on the joint's `b` along the coordinate (the opposite acts on `a`; a positive
    force between two points drives them apart), then sdot and g if there are states and algebraic unknowns. Angles
    count full turns; if the law depends on the angle, the turns are an additional state, ``"pin.turn"``.

    Parameters
    ----------
    along : joint, `Points`, or the quantity of a coordinate of a joint
        For a joint with several coordinates pass one of them: ``slider.displacement``.
    name, start, **values
        As for `Block`.
    """

    along: Any = attrs.field(init=False)
    coordinate_name: str = attrs.field(init=False)

    def __init__(
        self, along: Any, *, name: str | None = None, start: Mapping[str, float] | None = None, **values: Any
    ) -> None:
        super().__init__(name=name, start=start, **values)
        owner, chosen = self._owner_of(name), ""
        if isinstance(along, Quantity):
            if along.aspect != "value" or not isinstance(along.owner, AbstractJoint):
                raise ValueError(f"{owner}: {along!r} is no coordinate of a joint; pass e.g. pin.angle")
            along, chosen = along.owner, along.coordinate
        if not isinstance(along, (AbstractJoint, Points)):
            raise TypeError(
                f"{owner}: it acts along a joint, Points(a, b, at_a, at_b) or a coordinate such as pin.angle, got "
                f"{_check.show(along)}"
            )
        self._set(along=along, coordinate_name=coordinate_of(owner, along, chosen or None).name)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of the joint, or of the points."""
        out: tuple[Body, ...] = self.along.bodies
        return out

    @property
    def coordinate(self) -> Coordinate:
        """The coordinate along which it acts."""
        found: Coordinate = next(each for each in self.along.coordinates() if each.name == self.coordinate_name)
        return found

    @property
    def quantities(self) -> dict[str, Quantity]:
        """Its own quantities, and the coordinate, its rate, the torque or force, and the power."""
        derived = of_coordinates(self, (self.coordinate,))
        return {**{name: each for name, each in derived.items() if each.aspect != "acceleration"}, **super().quantities}


@final
@attrs.frozen(eq=False, slots=False, init=False, repr=False)
class Sampled(Block):
    """A controller with period T: at t = k T it reads its inputs and sets its outputs, held until the next sample::

        control = system.add_block(
            rbdae.Sampled(
                1e-3,
                lambda t, u, m: (-40.0 * u.angle - 2.0 * u.rate,),
                inputs={"angle": pin.angle, "rate": pin.rate},
                outputs=("torque",),
                name="control",
            )
        )
        system.add_force(rbdae.actuators.Source(pin, effort=control.torque))

    The solver stops at each k T, k = 0, 1, ..., in the run, and starts again with the new outputs: no step crosses a
    jump. The law is plain Python, called once per sample; it may call anything.

    Parameters
    ----------
    period : float
        T, s.
    law : function (t, u, m)
        Returns the outputs as a sequence in order, or (outputs, memory), where memory is a mapping with names of
        `memory` that the next call gets as m. u and m have their numbers by name and in order.
    outputs : names
        Quantities of this block, for other blocks and actuators.
    inputs : mapping
        Names, and numbers, functions of time, inputs of the system or quantities.
    memory : mapping
        Names and values before the first sample. Each run begins with these values.
    start : mapping
        The outputs before the first sample, by default 0.
    name : str, optional
    """

    default_name: ClassVar = "sampled"

    period: float = attrs.field(init=False)
    memory: Mapping[str, float] = attrs.field(init=False)
    function: Callable[..., Any] = attrs.field(init=False)
    first: Mapping[str, float] = attrs.field(init=False)
    held: Mapping[str, Input] = attrs.field(init=False)

    def __init__(
        self,
        period: float,
        law: Callable[..., Any],
        outputs: Sequence[str],
        *,
        inputs: Mapping[str, Any] | None = None,
        memory: Mapping[str, float] | None = None,
        start: Mapping[str, float] | None = None,
        name: str | None = None,
    ) -> None:
        owner = self._owner_of(name)
        _check.takes(owner, "law", law, "t", "u", "m")
        names = tuple(_check.names(f"{owner}: outputs", [outputs] if isinstance(outputs, str) else outputs))
        if not all(names) or not names:
            raise ValueError(
                f"{owner}: it has no outputs, got {_check.show(outputs)}; name one, e.g. outputs=('torque',)"
            )
        read, start = given_mapping(owner, "inputs", inputs), given_mapping(owner, "start", start)
        for key in start:
            if key not in names:
                raise _check.unknown(f"output of {owner}", key, names)
        self._set(
            period=_check.positive(owner, "period", period, "give e.g. 1e-3 s"),
            inputs=tuple(read),
            outputs=names,
            memory=MappingProxyType(
                {k: _check.number(owner, k, v) for k, v in given_mapping(owner, "memory", memory).items()}
            ),
            function=law,
            first=MappingProxyType({k: _check.number(owner, k, start.get(k, 0.0)) for k in names}),
            held=MappingProxyType({}),
        )
        super().__init__(name=name, **read)

    def law(self, *_: Any) -> Any:
        return []

    def bound(self, name: str, ground: Body) -> Self:
        """The same block with a name, and with inputs of the system for its outputs."""
        held = {key: Input(f"{name}.{key}", value) for key, value in self.first.items()}
        return twin(self, name=name, held=MappingProxyType(held))

    def sampled(self, t: float, inputs: Sequence[float], memory: Any) -> tuple[list[float], Any]:
        """Outputs and memory after a sample at t. Raises ValueError and TypeError, by name and time, for results that
        are not finite numbers."""
        owner = f"{self._owner_of(self.name)} at t = {t:g}"
        u = self._values(self.inputs, inputs)
        outputs = self.function(t, u, memory)
        new = memory
        if self.memory and isinstance(outputs, tuple) and len(outputs) == 2 and isinstance(outputs[1], Mapping):
            outputs, new_memory = outputs
            for key in new_memory:
                if key not in self.memory:
                    raise _check.unknown(f"memory of {owner}", key, self.memory)
            new = memory._replace(**{k: _check.number(owner, k, v) for k, v in new_memory.items()})
        values = list(outputs.values()) if isinstance(outputs, Mapping) else outputs
        numbers = values if isinstance(values, (list, tuple)) or hasattr(values, "__len__") else [values]
        if len(numbers) != len(self.outputs):
            raise ValueError(
                f"{owner}: its law returns {len(numbers)} outputs, and it has {len(self.outputs)}: "
                f"{', '.join(self.outputs)}; return one number for each"
            )
        return [_check.number(owner, k, v) for k, v in zip(self.outputs, numbers, strict=True)], new

    def first_memory(self) -> Any:
        """The memory before the first sample."""
        return self._values(tuple(self.memory), list(self.memory.values()))
