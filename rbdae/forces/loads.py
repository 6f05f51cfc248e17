"""Given forces and torques on a body; a force by the user's own functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, TypeAlias, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec
from rbdae.body import Body, describe
from rbdae.forces.base import AbstractBodyForce, AbstractForce, Symbol
from rbdae.forces.element import AnyElement, Composed, Element, Load, StateElement, time_function
from rbdae.laws.law import Filling, Users
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


Function: TypeAlias = Callable[[float, Vec, Vec], None]


def _by_rows(users: Users) -> Filling:
    """dF/d(Z, Zdot) by rows, from dF/dZ and dF/dZdot one after the other."""

    def jacobian(t: float, x: Vec, out: Vec) -> Any:
        both = np.array(out, subok=not hasattr(users[0], "py_func")).reshape(24, 2, 24).swapaxes(0, 1).ravel()
        returned = users[0](t, x, both)
        out[:] = both.reshape(2, 24, 24).swapaxes(0, 1).ravel()
        return returned

    return jacobian


@final
@attrs.frozen(eq=False, init=False)
class UserForce(AbstractForce):
    """A force on one or two bodies by the user's own functions, in natural coordinates.

    For a law along a joint or between two points there are `rbdae.forces.Motor` and `rbdae.forces.SpringDamper`, which
    take functions of an angle or length and its rate (docs/forces.md).

    Both functions are called as function(t, x, out) with x = (Z, Zdot), 48 numbers: Z = (x, d1, d2, d3) of the first
    body, then of the second, with R = [d1 d2 d3]; the ground, or a second body that is not there, has the axes of space
    and no velocity. The point x of a free body is its centre of mass, that of a body with a pivot the pivot (as in
    `rbdae.Problem.natural`). They fill `out` (it is zero before) and leave x alone:

    * `force`: F, 24 numbers, the natural forces on Z: their power is F . Zdot. A force f at a point x + R r is f on x
      and r_k f on d_k, a torque tau is tau x d_k / 2 on d_k;
    * `jacobian`: dF/dZ, then dF/dZdot, each (24, 24) by rows: out[:576].reshape(24, 24) and out[576:].reshape(24, 24).

    Action and reaction are the user's affair, and so is any energy: a force that has one can give it,

    * `potential`: V in out[0], called as potential(t, Z, out) with the 24 numbers Z alone; F without rates is -dV/dZ.

    V is part of `rbdae.Problem.energy`, and the conserving integrators keep it (docs/conserving.md). One of two bodies
    (no ground) depends on their relative position alone. `rbdae.formulate` compares V and F near the start.

    Parameters
    ----------
    bodies : Body, or sequence of one or two bodies
    force : callable
        Plain Python, recorded if it is arithmetic (`rbdae.laws`); one that numba has compiled, from its source.
    jacobian : callable, optional
        The derivatives of `force`, where it is called: a recorded force has exact ones, and so has
        one that is called without a Jacobian (`rbdae.laws`), unless it makes floats of its arguments; then
        `rbdae.forces.CalledBack` has differences.
    potential : callable, optional
        V (J).
    """

    default_name: ClassVar = "user"

    body: Body
    other: Body | None
    force: Function
    jacobian: Function | None
    potential: Function | None

    def __init__(
        self,
        bodies: Body | Sequence[Body],
        force: Function,
        jacobian: Function | None = None,
        *,
        potential: Function | None = None,
        name: str | None = None,
    ) -> None:
        given: Any = (bodies,) if isinstance(bodies, Body) else bodies
        if not isinstance(given, Sequence) or isinstance(given, (str, bytes)) or len(given) not in (1, 2):
            raise ValueError(
                f"force UserForce: bodies must be one body or two, got {_check.show(bodies)}; pass e.g. (a, b)"
            )
        first, second = given[0], given[1] if len(given) == 2 else None
        owner = describe("force", "UserForce", first, second, name)
        for what, function in (("force", force), ("jacobian", jacobian), ("potential", potential)):
            if what == "force" or function is not None:
                _check.takes(owner, what, function, "t", "x", "out")
        self.__attrs_init__(first, second, force, jacobian, potential, name=name)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """One body or two."""
        return (self.body,) if self.other is None else (self.body, self.other)

    def elements(self) -> tuple[AnyElement, ...]:
        jacobian = None if self.jacobian is None else Composed([self.jacobian], _by_rows)
        return (StateElement(self.force, jacobian, potential=self.potential),)
