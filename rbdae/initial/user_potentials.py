"""The potential of a user's force, compared with the force near the start of the bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.body import Body
from rbdae.forces.element import UserElement

_SMALL = 1e-5
"""Displacements, in distances of the bodies, and rotations. They leave 1e-11 of V as rounding."""

_SHARE = 1e-4
"""Of the work that may be missing in the change of V. Simpson's rule leaves the fourth power of `_SMALL`."""

_AXES = "xyz"
_FAR = np.array((0.7, -0.4, 0.5))
_TURN = np.array((0.3, -0.5, 0.7))
"""A common motion of two bodies, in no special direction."""


def check_potential(owner: str, bodies: Sequence[Body], element: UserElement, t: float, Z: Vec) -> None:
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


__all__ = ["check_potential"]
