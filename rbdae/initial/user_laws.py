"""The user's functions of forces, called once at the start: what they give must be what the kernels expect.

Python functions are checked at every call, too (`rbdae.forces.packing`). Those compiled by numba write into the
kernels' memory without a check, so that only here it is seen what they fill. A potential is compared with its force.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec, cross
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

_AXES = "xyz"
_FAR = np.array((0.7, -0.4, 0.5))
_TURN = np.array((0.3, -0.5, 0.7))
"""A common motion of two bodies, in no special direction."""


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
    """Compare V and F at the start: V changes by -F . dZ when a body moves a little, and not at all when two move as
    one. `Z` is (24,).

    Raises
    ------
    ValueError
        for a potential that does not belong to the force, or to the relative position of two bodies
    """
    points = Z.reshape(2, 4, 3)
    distance = float(np.linalg.norm(points[1, 0] - points[0, 0])) or 1.0
    for side, body in enumerate(bodies):
        if body.fixed:
            continue
        for turning in (False, True):
            found = [_along(element, t, points, side, axis, turning, distance) for axis in np.eye(3)]
            size = max(abs(work) for _, work, _ in found)
            for k, (change, work, rounding) in enumerate(found):
                if not abs(change + work) <= _SHARE * size + rounding:
                    how = f"turns about {_AXES[k]}" if turning else f"moves along {_AXES[k]}"
                    step = _SMALL if turning else _SMALL * distance
                    raise ValueError(
                        f"{owner}: potential does not belong to the force: when {body.name!r} {how}, it changes by "
                        f"{change / step:g} a unit and the work of the force without rates is {work / step:g}; give V "
                        "with -dV/dZ = F in out[0]"
                    )
    if sum(not body.fixed for body in bodies) == 2:
        _check_common_motion(owner, element, t, points, distance)


def _check_common_motion(owner: str, element: UserElement, t: float, points: Any, distance: float) -> None:
    moved = points @ _rotation(_TURN).T
    moved[:, 0] += distance * _FAR
    apart = np.array((points[0], moved[1]))
    one, two = _potential(element, t, points), _potential(element, t, moved)
    size = abs(one) + abs(two) + abs(_potential(element, t, apart))
    if not abs(two - one) <= 1e-8 * size:
        raise ValueError(
            f"{owner}: potential changes from {one:g} to {two:g} when both bodies move as one; that of two bodies must "
            "depend on their relative position alone: give each body a force of its own, or leave potential out"
        )


def _along(
    element: UserElement, t: float, points: Any, side: int, axis: Vec, turning: bool, distance: float
) -> tuple[float, float, float]:
    """The change of V from one small displacement to the opposite one, the work of F, and what rounding may add."""
    step = _SMALL if turning else _SMALL * distance
    V, power, terms = [], [], 0.0
    for size in (-0.5 * step, 0.0, 0.5 * step):
        there, rate = points.copy(), np.zeros((2, 4, 3))
        if turning:
            there[side, 1:] = there[side, 1:] @ _rotation(size * axis).T
            rate[side, 1:] = np.cross(axis, there[side, 1:])
        else:
            there[side, 0] += size * axis
            rate[side, 0] = axis
        V.append(_potential(element, t, there))
        F = _force(element, t, there) * rate.ravel()
        power.append(float(F.sum()))
        terms += step * float(np.abs(F).sum())
    work = step * (power[0] + 4.0 * power[1] + power[2]) / 6.0
    far = 1.0 + float(np.abs(points).max()) / distance  # positions far from the origin have rounding, too
    return V[2] - V[0], work, 1e-14 * far * (abs(V[0]) + abs(V[2]) + terms)


def _rotation(vector: Vec) -> Mat:
    """The rotation by a vector."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    n = vector / angle
    N = np.cross(np.eye(3), n)
    return np.asarray(np.eye(3) + np.sin(angle) * N + 2.0 * np.sin(0.5 * angle) ** 2 * (N @ N))


def _potential(element: UserElement, t: float, points: Any) -> float:
    out = np.zeros(1)
    if element.potential is not None:
        element.potential(t, points.ravel().copy(), out)
    return float(out[0])


def _force(element: UserElement, t: float, points: Any) -> Vec:
    out = np.zeros(24)
    element.force(t, np.concatenate([points.ravel(), np.zeros(24)]), out)
    return out
