"""A system with other fields of some of its bodies, joints and forces."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias, cast

from rbdae._frozen import field_names, twin
from rbdae.actuators.actuator import Points
from rbdae.body import Body
from rbdae.joints.base import AbstractJoint
from rbdae.system import System

Part: TypeAlias = Any
"""A body, a joint or a force."""

_NOTHING: Mapping[int, Part] = MappingProxyType({})


def fields_of(part: Part) -> list[str]:
    """The names of its fields."""
    return [*field_names(type(part))]


def with_fields(system: System, fields: Mapping[int, dict[str, Any]], new: Mapping[int, Part] = _NOTHING) -> System:
    """The system with other fields of some parts, of which `new` has those that are there; what refers to one refers to
    its twin. Nothing is checked again."""
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
    out = {name: twins[id(getattr(part, name))] for name in fields_of(part) if id(getattr(part, name)) in twins}
    ends = getattr(part, "along", None)
    if isinstance(ends, Points) and (of_ends := _linked(ends, twins)):
        out["along"] = twin(ends, **of_ends)
    return out
