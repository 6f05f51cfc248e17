"""Given forces and torques on a body."""

from __future__ import annotations

from typing import Literal, final

import attrs

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.forces.base import AbstractBodyForce, Symbol
from rbdae.forces.element import AnyElement, frame_of, point_force, vector_law
from rbdae.forces.element import torque as torque_element
from rbdae.forces.motion_law import TimeFunction


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class Force(AbstractBodyForce):
    """A given force at a point that is fixed in a body.

    With R = [d1 d2 d3] and r the point in the body frame, the natural forces are f on x and r_k f on d_k. A constant
    force in space has the potential -f . (x + R r); one that turns with the body has none.

    Parameters
    ----------
    body : Body
    force : (3,) array_like, or callable
        N; a function f(t) -> (3,) of the time, plain Python or compiled by numba.
    at : (3,) array_like
        The point in the body frame.
    frame : "space" or "body"
        Where the components are: in space, or in the frame of the body (a thrust that turns with it).
    """

    force: TimeFunction = attrs.field(converter=vector_law)
    at: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)
    frame: Literal["space", "body"] = attrs.field(default="space", converter=frame_of)

    @property
    def symbol(self) -> Symbol:
        return Symbol("force", ((self.body, self.at),), law=self.force, turning=self.frame == "body")

    def elements(self) -> tuple[AnyElement, ...]:
        return (point_force(self.at, self.force, self.frame == "body"),)


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class Torque(AbstractBodyForce):
    """A given torque on a body.

    The natural forces are tau x d_k / 2 on d_k, since sum d_k x (tau x d_k) = 2 tau for orthonormal directors. If
    these have drifted by a relative delta, the torque has the relative error delta. A torque has no potential.

    Parameters
    ----------
    body : Body
    torque : (3,) array_like, or callable
        N m; a function tau(t) -> (3,) of the time, plain Python or compiled by numba.
    frame : "space" or "body"
        Where the components are.
    """

    torque: TimeFunction = attrs.field(converter=vector_law)
    frame: Literal["space", "body"] = attrs.field(default="space", converter=frame_of)

    @property
    def symbol(self) -> Symbol:
        return Symbol("torque", ((self.body, self.body.center_of_mass),), law=self.torque, turning=self.frame == "body")

    def elements(self) -> tuple[AnyElement, ...]:
        return (torque_element(self.torque, self.frame == "body"),)
