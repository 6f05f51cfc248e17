"""Forces, actuators and blocks by the words of tables."""

from __future__ import annotations

from rbdae.actuators.block import Block, contents
from rbdae.forces.base import AbstractForce


def sort_of(force: AbstractForce) -> tuple[str, str]:
    """ "force", "actuator" or "block", and the bodies that it acts on, with what it has by name."""
    bodies = " and ".join(body.name for body in force.bodies)
    if not isinstance(force, Block):
        return "force", bodies
    return ("block", contents(force)) if force.coordinate is None else ("actuator", f"{bodies}; {contents(force)}")
