"""Diagrams of the quantities that joints, forces, actuators and blocks have by names of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from rbdae.actuators.block import Block as Equations
from rbdae.problem.observables import Part, with_unit
from rbdae.quantities.quantity import Quantity
from rbdae.reports.blocks import Block, Figure, Text
from rbdae.reports.figures import Curve, Panel
from rbdae.reports.shown import MOST_JOINTS, Shown, figure, largest, panels_of

_MOTION = ("value", "rate", "acceleration")

Sort = tuple[str, str, str]
"""Name, unit and components of a quantity."""


def quantities(shown: Shown) -> Iterator[Block]:
    """Angles, displacements and lengths with their rates, torques, forces and powers: a figure for each sort, a curve
    for each joint or force that has it. What is zero at all times is left out, and so are accelerations, which tables
    have, and coordinates of a joint under the name of a force."""
    figures: list[Figure] = []
    for kind in ("joints", "forces"):
        taken: set[str] = set()
        for sort, owners in _sorts(shown, kind).items():
            name = sort[0].replace("_", "-")
            anchor = f"{kind}-{name}"
            if name in taken:  # the same name with another unit
                anchor += "-" + re.sub("[^a-z]+", "-", sort[1].lower()).strip("-")
            found = _figure(shown, sort, owners, anchor, 0.0 if kind == "forces" else shown.floors.get(sort[1], 0.0))
            if found is not None:
                taken.add(name)
                figures.append(found)
    figures += _of_blocks(shown)
    if figures:
        has_blocks = any(isinstance(each, Equations) for each in shown.run.problem.system.forces)
        what = "joint, force or actuator" if has_blocks else "joint or force"
        own = " Blocks have figures of their own." if has_blocks else ""
        yield Text(f"A curve for each {what} that has the quantity.{own} What is zero at all times is left out.")
    yield from figures


def _sorts(shown: Shown, kind: str) -> dict[Sort, dict[str, Any]]:
    """The owners of each sort of quantity by name."""
    owners = getattr(shown.run.problem.interpretation.owners, kind)
    parts = {each.name: each for each in shown.run.problem.system.forces} if kind == "forces" else {}
    out: dict[Sort, dict[str, Any]] = {}
    for name, each in getattr(shown.smooth, kind).items():
        for quantity in each:
            unit, components = each.units[quantity]
            if _is_block(parts.get(name)):
                continue
            twice = not shown.every and _of_a_joint(parts.get(name), owners[name].quantities[quantity])
            if not unit.endswith("/s^2") and not twice:
                out.setdefault((quantity, unit, components), {})[name] = each
    return out


def _is_block(force: Any) -> bool:
    """Whether it is equations without a force."""
    return isinstance(force, Equations) and force.coordinate is None


def _of_blocks(shown: Shown) -> Iterator[Figure]:
    """A figure for each block: a panel for each unit, a curve for each quantity."""
    blocks = [force for force in shown.run.problem.system.forces if _is_block(force)]
    for number, block in enumerate(blocks[:MOST_JOINTS], 1):
        each = shown.smooth.forces[block.name]
        panels: dict[str, list[Curve]] = {}
        for name, (unit, _) in each.units.items():
            values = np.asarray(getattr(each, name))
            if shown.every or largest(values) > 0.0:
                panels.setdefault(unit, []).append(Curve(name, shown.smooth.t, values, sum(map(len, panels.values()))))
        if panels:
            drawn = [Panel(with_unit(block.name, unit), curves) for unit, curves in panels.items()]
            yield figure(shown, f"block-{number}", drawn)


def _of_a_joint(force: Any, quantity: Quantity) -> bool:
    """Whether a quantity of a force is a coordinate of its joint, or the rate of one."""
    joint = getattr(force, "along" if isinstance(force, Equations) else "joint", None)
    return quantity.aspect in _MOTION and hasattr(joint, "primitives")


def _figure(shown: Shown, sort: Sort, owners: dict[str, Any], anchor: str, floor: float) -> Figure | None:
    part = Part(*sort)
    above = 0.0 if shown.every else floor
    moving = {name: each for name, each in owners.items() if largest(part.values(each)) > above}
    some = dict(list(moving.items())[:MOST_JOINTS])
    panels = panels_of(shown, part, some, floor=floor)[0]
    said = f"{len(some)} of {len(moving)}." if len(some) < len(moving) else ""
    return figure(shown, anchor, panels, said) if panels else None


__all__ = ["quantities"]
