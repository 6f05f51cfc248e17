"""End stops of a joint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.forces.base import near
from rbdae.forces.dry import checked_pressing, pressing
from rbdae.forces.element import AnyElement, along
from rbdae.forces.joint_force import AbstractJointForce, coordinate_of, describe_force
from rbdae.forces.motion_law import MotionLaw
from rbdae.forces.symbol import Symbol
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import AbstractJoint
from rbdae.laws.law import Filling
from rbdae.quantities.coordinate import Coordinate


@final
@attrs.frozen(eq=False, init=False, kw_only=True)
class Limit(AbstractJointForce):
    """End stops on a coordinate of a joint: a force, or torque, that pushes back where it is below `low`, above `high`.

    With the depth d behind the stop it is k d^n (1 + a ddot) on `b`, and the opposite one on `a`, by Hunt and Crossley
    [HC75], and zero where that would pull. With n = 1 and no damping the stop is a linear spring; with n > 1 the law
    has a continuous derivative at the stop, too, which implicit solvers with large steps like better. Its work is
    counted in ``solution.energy.work``; it has no part in the potential.

    Parameters
    ----------
    joint : AbstractJoint
        With coordinates: revolute (`angle`), prismatic (`displacement`), cylindrical, planar, universal.
    low, high : float, optional
        rad or m; one of them or both. The angle counts full turns, by the internal state "limit-1.phi".
    stiffness : float
        k, N m/rad^n or N/m^n.
    exponent : float
        n, at least 1.
    damping : float, optional
        a, s/rad or s/m; 0 by default.
    restitution, impact_velocity : float, optional
        In place of the damping: which fraction, in (0, 1], of this velocity (rad/s or m/s) a stop returns.
    coordinate : str, optional
        The name of the coordinate, if the joint has several: "angle", "displacement", "x", ...
    name : str, optional
        Unique among the forces of the system; without it the system chooses "limit-1" and so on.
    """

    low: float | None
    high: float | None
    stiffness: float
    exponent: float
    damping: float
    coordinate: str

    def __init__(
        self,
        joint: AbstractJoint,
        low: float | None = None,
        high: float | None = None,
        *,
        stiffness: float,
        exponent: float = 1.0,
        damping: float | None = None,
        restitution: float | None = None,
        impact_velocity: float | None = None,
        coordinate: str | None = None,
        name: str | None = None,
    ) -> None:
        owner = describe_force("Limit", joint, name)
        if low is None and high is None:
            raise ValueError(f"{owner}: it has no stop; give low= or high=, or both")
        low = None if low is None else _check.number(owner, "low", low)
        high = None if high is None else _check.number(owner, "high", high)
        if low is not None and high is not None and not low < high:
            raise ValueError(f"{owner}: low must be below high, got {low:g} and {high:g}; exchange them")
        values = checked_pressing(owner, stiffness, exponent, damping, restitution, impact_velocity)
        of = coordinate_of(owner, joint, coordinate)
        self.__attrs_init__(joint=joint, coordinate=of.name, name=name, low=low, high=high, **values)

    @property
    def symbol(self) -> Symbol | None:
        """Bars at the stops of a displacement along an axis."""
        joint, stops = self.joint, [end for end in (self.low, self.high) if end is not None]
        if self.coordinate != "displacement" or not isinstance(joint, AbstractAxialJoint):
            return None
        return Symbol("stops", tuple((joint.a, joint.at_a + end * joint.axis_a) for end in stops), axis=joint.axis_a)

    def acts_along(self) -> tuple[Coordinate]:
        """The coordinate that it limits."""
        known = {each.name: each for each in self.joint.coordinates()}
        return (known[self.coordinate],)

    def elements(self) -> tuple[AnyElement, ...]:
        """One element."""
        (of,) = self.acts_along()
        ends = [end for end in (self.low, self.high) if end is not None]
        p = np.array([self.stiffness, self.exponent, self.damping, *ends])
        maker = _MAKERS[self.low is not None, self.high is not None]
        return (along(of, u=MotionLaw("the force of its stops", (), maker, near(of, self.joint.bodies), p)),)


def _stops(below: bool, above: bool, users: Sequence[Callable[..., Any]]) -> Filling:
    """The law of stops below and above."""

    def law(t: float, x: Vec, out: Vec) -> None:
        s, rate, *numbers = x[0], x[1], x[2], x[3], x[4]
        total: Any = 0.0
        if below:
            total = pressing(x[5] - s, -rate, *numbers)
        if above:
            total = total - pressing(s - x[5 + below], rate, *numbers)
        out[0] = total

    return law


_MAKERS = {sides: partial(_stops, *sides) for sides in ((True, False), (False, True), (True, True))}
"""By whether there are stops below and above."""
