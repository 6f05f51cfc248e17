"""The numbers of a system by name: "a.mass", "a.inertia.xy", "spring-1.stiffness", "rod-1.length", "gravity.z",
"motor.resistance".

Of bodies there are the mass, the inertia and the centre of mass; of joints the points and the lengths; of forces all
numbers, but for directions and rotations; of actuators and blocks the parameters, and inputs that are numbers. Vectors
have .x, .y and .z, symmetric matrices .xx to .yz; one that is a multiple of the unit matrix also has the name of this
multiple.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, cast, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec, varied
from rbdae._frozen import field_names, twin
from rbdae.actuators.block import Block, Points
from rbdae.body import Body, check_inertia
from rbdae.forces.element import Load
from rbdae.joints.base import AbstractJoint
from rbdae.system import System

Part: TypeAlias = Any
"""A body, a joint or a force."""

_NOTHING: Mapping[int, Part] = MappingProxyType({})


def with_fields(system: System, fields: Mapping[int, dict[str, Any]], new: Mapping[int, Part] = _NOTHING) -> System:
    """The system with other fields of parts, or `new` ones; what refers to a part refers to its twin. Unchecked."""
    out = copy.copy(system)
    if id(system) in fields:
        out._gravity = fields[id(system)]["_gravity"]
    twins = dict(new)
    joints = {name: getattr(force, "joint", None) for name, force in out._forces.items()}
    loose = {name: joint for name, joint in joints.items() if isinstance(joint, AbstractJoint)}  # perhaps not in it
    for parts in cast(tuple[dict[str, Part], ...], (out._bodies, out._joints, loose, out._forces)):
        for key, old in parts.items():
            if id(old) not in twins:
                linked = {} if isinstance(old, Body) else _linked(old, twins)
                own = fields.get(id(old), {})
                if not (linked or own):
                    continue
                twins[id(old)] = twin(old, **linked, **own)
            parts[key] = twins[id(old)]
    return out


def _linked(part: Part, twins: Mapping[int, Part]) -> dict[str, Any]:
    """The fields of a part that refer to parts with twins, as they are with these."""
    out = {name: twins[id(getattr(part, name))] for name in field_names(type(part)) if id(getattr(part, name)) in twins}
    if isinstance(part, AbstractJoint):  # which would look for another attribute among its quantities
        return out
    ends = getattr(part, "along", None)
    if isinstance(ends, Points) and (of_ends := _linked(ends, twins)):
        out["along"] = twin(ends, **of_ends)
    return out


_AXES = "xyz"
_OF_BODIES = ("mass", "inertia", "center_of_mass")
_OF_JOINTS = ("at_a", "at_b", "length", "pitch")
_POSITIVE = frozenset({"mass", "radius", "velocity", "exponent", "floor"})
_NOT_NEGATIVE = frozenset(
    {"mu", "length", "stiffness", "damping", "rotational_stiffness", "rotational_damping", "coefficient"}
)
_NOT_OF_FORCES = frozenset({"rest", "axis_b", "restitution", "impact_velocity"})


@final
@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """One number.

    Parameters
    ----------
    value : the number
    part, field : where it is; gravity is a field of the system
    change : makes the field with another number in its place, of the field and the number
    """

    value: float
    part: Part
    field: str
    change: Callable[[Any, Any], Any]

    def put(self, x: Any, fields: dict[int, dict[str, Any]]) -> None:
        """Write another number among the new fields of parts, as `with_fields` takes them."""
        new = fields.setdefault(id(self.part), {})
        new[self.field] = self.change(new.get(self.field, getattr(self.part, self.field)), x)

    def varied(self, system: System, step: float) -> System:
        """The system with this number plus an imaginary step; it does for records alone."""
        return self.replaced(system, varied(np.array(complex(self.value, step))))

    def replaced(self, system: System, x: Any) -> System:
        """The system with another number in its place, everything else the same. Nothing is checked."""
        fields: dict[int, dict[str, Any]] = {}
        self.put(x, fields)
        return with_fields(system, fields)


class Changed(NamedTuple):
    """A system with other numbers: these by name, and what they were."""

    values: dict[str, float]
    parameters: list[Parameter]
    system: System


def parameters(system: System) -> dict[str, Parameter]:
    """All of a system, by name."""
    out = _of_gravity(system)
    for part in (*system.bodies, *system.joints, *system.forces):
        out |= _of_part(part)
    return out


def _named(system: System, name: str) -> Parameter:
    """The number of a name. Names of parts may have dots in them; of two parts with one name the last one counts, as in
    `parameters`.

    Raises
    ------
    ValueError
        for a name that there is not
    """
    if name.startswith("gravity.") and name in (known := _of_gravity(system)):
        return known[name]
    parts: list[Part] = [*system.forces, *system.joints, *system.bodies]
    for part in parts:
        if name.startswith(f"{part.name}.") and name in (known := _of_part(part, name[len(part.name) + 1 :])):
            return known[name]
    raise _check.unknown("parameter", name, parameters(system))


def _of_gravity(system: System) -> dict[str, Parameter]:
    gravity = system.gravity
    return {
        f"gravity.{name}": Parameter(float(gravity[k]), system, "_gravity", partial(_at, k))
        for k, name in enumerate(_AXES)
    }


def _of_part(part: Part, wanted: str = "") -> dict[str, Parameter]:
    """The numbers of a body, a joint or a force; those of one field, if one of its numbers is wanted."""
    if isinstance(part, Body):
        fields = [*_OF_BODIES]
    elif isinstance(part, AbstractJoint):
        fields = [field for field in _OF_JOINTS if hasattr(part, field)]
    else:
        fields = [field for field in field_names(type(part)) if field not in _NOT_OF_FORCES]
    out: dict[str, Parameter] = {}
    for field in fields:
        if not wanted or wanted.partition(".")[0] == field:
            out |= _of_field(part, field, getattr(part, field))
    return out | _of_block(part) if isinstance(part, Block) else out


def _of_field(part: Part, field: str, value: Any) -> dict[str, Parameter]:
    """The numbers of a field; none, if it has others."""
    if isinstance(value, Load):
        return {} if value.users or value.fill else _of_law(part, field, value)
    if isinstance(value, float):
        return {f"{part.name}.{field}": Parameter(value, part, field, lambda _, x: x)}
    if not isinstance(value, np.ndarray) or value.shape not in ((3,), (3, 3)):
        return {}
    out = {}
    for name, E in _directions(value).items():
        label = f"{part.name}.{field}.{name}" if name else f"{part.name}.{field}"
        one = float(value[tuple(np.argwhere(E)[0])])
        out[label] = Parameter(one, part, field, partial(_where, E == 1.0))
    return out


def _of_law(part: Part, field: str, law: Load) -> dict[str, Parameter]:
    n = len(law.constant)
    out = {}
    for k in range(n):
        label = f"{part.name}.{field}" if n == 1 else f"{part.name}.{field}.{_AXES[k]}"
        out[label] = Parameter(float(law.constant[k]), part, field, partial(_constant, k))
    return out


def _of_block(block: Block) -> dict[str, Parameter]:
    """The constants of a block: its parameters, and inputs whose source is a number."""
    return {
        f"{block.name}.{name}": Parameter(float(block.constants[name]), block, field, partial(_in_mapping, name))
        for field, names in (("values", block.values), ("sources", block.sources))
        for name in names
        if block.constants.get(name) is not None
    }


def _in_mapping(name: str, old: Mapping[str, Any], x: Any) -> Mapping[str, Any]:
    return MappingProxyType({**old, name: x})


def _where(places: Any, old: Any, x: Any) -> Any:
    return _check.frozen(varied(np.where(places, x, old)))


def _at(k: int, old: Any, x: Any) -> Any:
    return _check.frozen(np.where(np.arange(len(old)) == k, x, old))


def _constant(k: int, old: Load, x: Any) -> Load:
    return dataclasses.replace(old, constant=_at(k, old.constant, x))


def _directions(value: Vec) -> dict[str, Any]:
    """The change by each number of a vector or a symmetric matrix, by its name; "" for a multiple of I."""
    if value.ndim == 1:
        return {name: np.eye(3)[k] for k, name in enumerate(_AXES)}
    out: dict[str, Any] = {}
    for i in range(3):
        for j in range(i, 3):
            E = np.zeros((3, 3))
            E[i, j] = E[j, i] = 1.0
            out[_AXES[i] + _AXES[j]] = E
    if np.array_equal(value, value[0, 0] * np.eye(3)):
        out[""] = np.eye(3)
    return out


def changed(system: System, values: Mapping[str, float]) -> Changed:
    """Other numbers of a system by their names; what follows from several of them is checked at the end.

    Raises
    ------
    ValueError, TypeError
        for a name that there is not, and for a number that a part cannot have
    """
    if not isinstance(values, Mapping):
        raise TypeError(
            f"with_parameters: values must be a mapping from name to number, got {_check.show(values)}; give e.g. "
            '{"a.mass": 2.0}'
        )
    fields: dict[int, dict[str, Any]] = {}
    numbers, found = dict[str, float](), list[Parameter]()
    for name, value in values.items():
        if not isinstance(name, str):
            raise _check.unknown("parameter", name, parameters(system))
        parameter = _named(system, name)
        number = numbers[name] = _check.number("with_parameters", name, value)
        found.append(parameter)
        field = name.rpartition(".")[2]
        if field in _POSITIVE and not number > 0.0:
            raise ValueError(f"with_parameters: {name} must be positive, got {number:g}")
        if field in _NOT_NEGATIVE and number < 0.0:
            raise ValueError(f"with_parameters: {name} must not be negative, got {number:g}")
        parameter.put(number, fields)
    bodies = {id(b): twin(b, **fields[id(b)]) for b in system.bodies if id(b) in fields}
    for old in system.bodies:
        body = bodies.get(id(old), old)
        if body is old or (body.pivot is None and body.inertia is old.inertia):
            continue  # no mass has a say in what it may be
        owner, pivot = f"with_parameters: body {body.name!r}", body.pivot is not None
        check_inertia(owner, body.inertia, body.mass, body.center_of_mass, pivot, body.allow_unphysical)
    return Changed(numbers, found, with_fields(system, fields, bodies))
