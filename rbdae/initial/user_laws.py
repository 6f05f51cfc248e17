"""The user's functions of forces, called once at the start: what they give must be what the kernels expect.

Python functions are checked at every call, too (`rbdae.forces.packing`). Those compiled by numba write into the
kernels' memory without a check, so that only here it is seen what they fill. A potential is compared with its force.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rbdae import _check
from rbdae._arrays import POINT, Mat, Vec, cross
from rbdae.actuators.network import elements_of
from rbdae.body import Body
from rbdae.compiler.user_functions import is_compiled
from rbdae.forces.element import Element, StateElement, UserElement, value_of
from rbdae.inputs import Input
from rbdae.system import System

_ROOM = 1024
"""Numbers behind `out` in which a function may be seen to write too far."""

_MARK = -7.2057594037927936e16
"""What no law gives by chance."""

_SMALL = 1e-5
"""Displacements, in distances of the bodies, and rotations. They leave 1e-11 of V as rounding."""

_SHARE = 1e-4
"""Of the work that may be missing in the change of V. Simpson's rule leaves the fourth power of `_SMALL`."""

_WAYS = (
    (np.array((0.7, -0.4, 0.5)), np.array((0.3, -0.5, 0.7))),
    (np.array((-0.5, 0.6, 0.4)), np.array((0.6, 0.4, -0.2))),
)
"""Displacements and turns of two bodies, in no special direction."""


class _Real(np.ndarray[Any, Any]):
    """An array that refuses what NumPy would cut: imaginary parts."""

    def __setitem__(self, key: Any, value: Any) -> None:
        if np.iscomplexobj(value):
            raise TypeError(
                f"a function of a force writes complex numbers, {_check.show(value)}, into out[{_check.show(key)}]; "
                "give real ones"
            )
        super().__setitem__(key, value)


def check_user_laws(system: System, t0: float) -> None:
    """Call every function of every force at the start.

    Raises
    ------
    TypeError, ValueError
        for one that gives other than finite real numbers of the right shape, by the name of the force; what the
        function itself raises passes as it is
    """
    for name, element, bodies in elements_of(system.forces, system.joints):
        owner = f"force {name!r}"
        if isinstance(element, UserElement):
            x = _motion(bodies, 2)
            _check_filling(owner, "force", element.force, t0, x, 24)
            if element.jacobian is not None:
                _check_filling(owner, "jacobian", element.jacobian, t0, x, 1152)
            if element.potential is not None:
                _check_filling(owner, "potential", element.potential, t0, x[:24], 1)
                _check_potential(owner, bodies, element, t0, x[:24])
        elif isinstance(element, StateElement):
            start = _check.array(owner, "the start of its internal states", element.start, (len(element.names),))
            _check_inputs(owner, system, element.inputs)
            inputs = np.array([system.source(each)(t0) for each in element.inputs])
            least = 2 if element.bodies is None else 0
            x = np.concatenate([_motion(bodies, least), start, inputs])
            n = element.n_results(max(len(bodies), least))
            _check_filling(owner, "function", element.function, t0, x, n)
            if element.jacobian is not None:
                _check_filling(owner, "jacobian", element.jacobian, t0, x, n * len(x))
        elif isinstance(element, Element) and element.force is not None:
            _check_inputs(owner, system, element.force.inputs)
            element.force.check(owner, t0, [system.source(each)(t0) for each in element.force.inputs])
        elif isinstance(element, Element):
            _check_inputs(owner, system, element.law.inputs)
            if element.law.function is not None:
                value_of(owner, element.law, t0)


def _check_inputs(owner: str, system: System, inputs: Sequence[Input]) -> None:
    """Refuse inputs of other systems."""
    for each in inputs:
        try:
            system.source(each)
        except ValueError as error:
            raise ValueError(f"{owner}: {error}") from None


def _check_filling(owner: str, what: str, function: Callable[[float, Vec, Vec], Any], t: float, x: Vec, n: int) -> None:
    room = np.full(n + 2 * _ROOM, _MARK)
    out, given = room[_ROOM : _ROOM + n], x.copy()
    _check.takes(owner, what, function, "t", "x", "out")
    returned: Any = function(t, given, out if is_compiled(function) else out.view(_Real))
    if returned is not None:
        raise TypeError(
            f"{owner}: {what} must fill out and return nothing, got {_check.show(returned)}; write out[:] = ..."
        )
    if np.any(room[:_ROOM] != _MARK) or np.any(room[_ROOM + n :] != _MARK):
        raise ValueError(f"{owner}: {what} fills more than the {n} numbers that out has; correct its indices")
    unset = np.flatnonzero(out == _MARK)
    if len(unset):
        raise ValueError(
            f"{owner}: {what} does not fill out: out[{unset[0]}] is unset at t = {t:g}, as are {len(unset) - 1} others "
            f"of {n}; begin with out[:] = 0.0"
        )
    if not np.isfinite(out).all():
        k = int(np.flatnonzero(~np.isfinite(out))[0])
        raise ValueError(f"{owner}: {what} gives out[{k}] = {out[k]} at t = {t:g}; it must be finite at the start")
    if not np.array_equal(given, x):
        raise ValueError(f"{owner}: {what} changes x; it has to leave it alone: work on x.copy()")


def _motion(bodies: Sequence[Body], least: int) -> Vec:
    """(Z, Zdot) of bodies as they were added, and of the ground for those that lack; 24 numbers of each."""
    n = max(least, len(bodies))
    Z, Zd = np.zeros((n, 4, 3)), np.zeros((n, 4, 3))
    Z[:, 1:] = np.eye(3)
    for k, body in enumerate(bodies):
        if not body.fixed:
            Z[k], Zd[k] = _natural(body)
    return np.concatenate([Z.ravel(), Zd.ravel()])


def _natural(body: Body) -> tuple[Any, Any]:
    """(x, d1, d2, d3) of a body and their rates, by rows."""
    R, arm = np.array(body.rotation), np.array(body.reference)
    rate = R @ cross(np.array(body.angular_velocity), np.eye(3)).T
    return np.vstack([body.position + R @ arm, R.T]), np.vstack([body.velocity + rate @ arm, rate.T])


# ---------------------------------------------------------------- potentials


def _check_potential(owner: str, bodies: Sequence[Body], element: UserElement, t: float, Z: Vec) -> None:
    """Compare V and F at the start `Z` (24,): V changes by -F . dZ when the bodies move a little, and not at all when
    two move as one.

    Raises
    ------
    ValueError
        for a potential that does not belong to the force, or to the relative position of two bodies
    """
    points = Z.reshape(2, 4, 3)
    distance = float(np.linalg.norm(points[1, 0] - points[0, 0])) or 1.0
    free = [side for side, body in enumerate(bodies) if not body.fixed]
    change, work, size, rounding = _small_motion(
        element, t, points, distance, {k: _WAYS[k] for k in free}, points[:, 0]
    )
    if not abs(change + work) <= _SHARE * size + rounding:
        raise ValueError(
            f"{owner}: potential does not belong to the force: when {' and '.join(repr(bodies[k].name) for k in free)} "
            f"move a little, it changes by {change:g} and the work of the force without rates is {work:g}; give V with "
            "-dV/dZ = F in out[0]"
        )
    if len(free) == 2:
        at = points[:1, 0].repeat(2, axis=0)
        change, _, size, rounding = _small_motion(element, t, points, distance, dict.fromkeys(free, _WAYS[0]), at)
        if not abs(change) <= _SHARE * size + rounding:
            raise ValueError(
                f"{owner}: potential changes by {change:g} when both bodies move as one; that of two bodies must "
                "depend on their relative position only: give each body a force of its own, or leave potential out"
            )


def _small_motion(
    element: UserElement, t: float, points: Mat, distance: float, ways: Mapping[int, tuple[Vec, Vec]], about: Mat
) -> tuple[float, float, float, float]:
    """The change of V in a small motion of some bodies, displacements and turns about points, the work of F, the sum of
    its terms without signs, and what rounding may add."""
    V, F = np.zeros((3, 1)), np.zeros(24)
    work = size = 0.0
    for k, weight in enumerate((1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0)):  # Simpson's rule
        s, there, rate = (k - 1) * 0.5 * _SMALL, points.copy(), np.zeros((2, 4, 3))
        for side, (way, turn) in ways.items():
            first = points[side] - about[side] * POINT
            spun = cross(turn, first)
            twice = cross(turn, spun)
            there[side] += s * (spun + 0.5 * s * twice + distance * way * POINT)
            rate[side] = spun + s * twice + distance * way * POINT
        if element.potential is not None:
            element.potential(t, there.ravel(), V[k])
        element.force(t, np.concatenate([there.ravel(), np.zeros(24)]), F)
        terms = _SMALL * weight * F * rate.ravel()
        work, size = work + float(terms.sum()), size + float(np.abs(terms).sum())
        F[:] = 0.0
    far = 1.0 + float(np.abs(points).max()) / distance  # positions far from the origin have rounding, too
    return float(V[2, 0] - V[0, 0]), work, size, 1e-14 * far * float(np.abs(V).sum())
