"""Given forces and torques on a body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, final

import attrs

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec
from rbdae.forces.base import AbstractBodyForce, Symbol
from rbdae.forces.element import AnyElement, Element, Load, time_function
from rbdae.quantities.coordinate import axes, point

Frame: TypeAlias = Literal["space", "body"]


def _vector(value: ArrayLike | Callable[[float], Any], force: Any = None, field: Any = None) -> Load:
    """Three components as a constant, as inputs or as a function of the time."""
    return time_function(force._owner, field.name, value, 3)


def _frame(value: Frame, force: Any = None, field: Any = None) -> Frame:
    if not isinstance(value, str) or value not in ("space", "body"):
        raise ValueError(f"{force._owner}: frame must be 'space' or 'body', got {_check.show(value)}")
    return value


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

    force: Load = attrs.field(converter=_vector)
    at: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)
    frame: Frame = attrs.field(default="space", converter=_frame)

    @property
    def symbol(self) -> Symbol:
        return Symbol("force", ((self.body, self.at),), law=self.force, turning=self.frame == "body")

    def elements(self) -> tuple[AnyElement, ...]:
        """One, along the axes of the ground or of the body."""
        P, turning = point(self.at, 1.0, 0), self.frame == "body"
        forms = tuple(((P, axis),) for axis in axes(0 if turning else 1))
        return (Element(forms, self.force, holonomic=not turning),)


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

    torque: Load = attrs.field(converter=_vector)
    frame: Frame = attrs.field(default="space", converter=_frame)

    @property
    def symbol(self) -> Symbol:
        return Symbol("torque", ((self.body, self.body.center_of_mass),), law=self.torque, turning=self.frame == "body")

    def elements(self) -> tuple[AnyElement, ...]:
        """One: half the sum of the arms d_i with forces torque x d_i."""
        if self.frame == "space":  # of the ground relative to the body
            return (Element((), self.torque, sign=-1.0, shape="turn", holonomic=False),)
        d = axes(0)
        forms = tuple(((0.5 * d[i], d[j]), (-0.5 * d[j], d[i])) for i, j in ((1, 2), (2, 0), (0, 1)))
        return (Element(forms, self.torque, holonomic=False),)
