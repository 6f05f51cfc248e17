"""A force by the user's own functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.body import Body, describe
from rbdae.forces.base import AbstractForce
from rbdae.forces.element import AnyElement, Composed, StateElement
from rbdae.laws.law import Filling, Users

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
