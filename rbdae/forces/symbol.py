"""How pictures show a force: where it acts and along what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

from rbdae._arrays import Vec
from rbdae.body import Body
from rbdae.forces.motion_law import TimeFunction

Look: TypeAlias = Literal["spring", "coil", "arrow", "turn", "force", "torque", "stops", "surface"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A force as pictures show it.

    Attributes
    ----------
    look : "spring" (a zigzag between two points), "arrow" (between two points), "coil" or "turn" (about an axis at the
        first point), "force" or "torque" (at the first point, by the `law`), "stops" (bars at all points, across the
        axis), "surface" (a piece of a plane at the first point, whose normal is the axis, or a sphere of the `radius`
        about it)
    points : a body and a point in its frame, (3,), for each end
    axis : (3,) in the frame of the first point's body, for "coil", "turn" and "stops", and of a plane
    law : components of a "force" or "torque" over time, with `turning` in the frame of its body, else in space
    """

    look: Look
    points: tuple[tuple[Body, Vec], ...]
    axis: Vec | None = None
    law: TimeFunction | None = None
    turning: bool = False
    radius: float = 0.0
