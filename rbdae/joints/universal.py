"""The universal joint: a cross between two shafts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from rbdae import _check
from rbdae._arrays import ArrayLike, cross
from rbdae._frozen import fill
from rbdae.body import Body
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import FreeMotion, place
from rbdae.joints.frames import frames
from rbdae.joints.primitives import Coincidence, Dot1
from rbdae.quantities.coordinate import Coordinate, angle, turned
from rbdae.quantities.quantity import Named


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Universal(AbstractAxialJoint):
    """Cardan joint: a common point, and an axis of each body at right angles to the other's; four equations.

    Parameters
    ----------
    a, b : Body
        Two different bodies of one system; one may be its ground.
    at_a, at_b : (3,) array_like
        The centre of the cross in each body's frame.
    axis_a, axis_b : (3,) array_like
        The arms of the cross, at right angles to each other; in each body's frame, of any length. By default z of `a`
        and x of `b`: no other direction of `b` follows from axis_a.
    name : str, optional
        Unique among the joints of the system; without it the system chooses "universal-1" and so on.
    normal_a, normal_b : (3,) array_like, optional
        Perpendicular to the axes of their bodies; by default both along the normal of the cross at the start.
    """

    free_motions: ClassVar[frozenset[FreeMotion]] = frozenset({"ball"})
    angle_a = Named("Turn of the cross about axis_a, rad; 0 at the start unless normals are given.")
    angle_b = Named("Turn of b about axis_b, rad; 0 at the start unless normals are given.")
    angle_a_rate = Named("Its rate, rad/s.")
    angle_a_acceleration = Named("Its second derivative, rad/s^2.")
    angle_a_torque = Named("The torque about it on b, N m.")
    angle_a_power = Named("Power of the torque, W.")
    angle_b_rate = Named("Its rate, rad/s.")
    angle_b_acceleration = Named("Its second derivative, rad/s^2.")
    angle_b_torque = Named("The torque about it on b, N m.")
    angle_b_power = Named("Power of the torque, W.")

    def __init__(
        self,
        a: Body,
        b: Body,
        at_a: ArrayLike = (0.0, 0.0, 0.0),
        at_b: ArrayLike = (0.0, 0.0, 0.0),
        axis_a: ArrayLike = (0.0, 0.0, 1.0),
        axis_b: ArrayLike = (1.0, 0.0, 0.0),
        name: str | None = None,
        *,
        normal_a: ArrayLike | None = None,
        normal_b: ArrayLike | None = None,
    ) -> None:
        owner = place(self, a, b, at_a, at_b, name)
        _check.axis(owner, "axis_b", axis_b)
        fill(self, **frames(owner, a, b, axis_a, axis_b, normal_a, normal_b, crossed=True))

    def coordinates(self) -> tuple[Coordinate, Coordinate]:
        """The turn of the cross about axis_a, from normal_a x axis_a to axis_b, and that of `b` about axis_b, from
        axis_a to axis_b x normal_b: both begin at 0 with the normals of the default."""
        return (
            angle("angle_a", self.axis_a, cross(self.normal_a, self.axis_a), self.axis_b),
            turned("angle_b", self.axis_a, self.axis_b, cross(self.axis_b, self.normal_b)),
        )

    def velocity_rows(self) -> tuple[None, None]:
        """None: the normal of the cross turns in either body."""
        return None, None

    def primitives(self) -> tuple[Coincidence, Dot1]:
        """One coincidence, and one right angle."""
        return Coincidence(self.at_a, self.at_b), Dot1(self.axis_a, self.axis_b)


__all__ = ["Universal"]
