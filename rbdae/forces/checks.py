"""The user's functions of forces, called once at the start: what they give must be what the kernels expect. They are
checked at every call, too (`rbdae.forces.packing`); here they are called before they are recorded. A potential is
compared with its force."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from rbdae import _check
from rbdae._arrays import POINT, Mat, Vec, cross
from rbdae.forces.element import StateElement

_SMALL = 1e-5
"""Displacements, in distances of the bodies, and rotations. They leave 1e-11 of V as rounding."""

_SHARE = 1e-4
"""Of the work that may be missing in the change of V."""

_WAYS = (
    (np.array((0.7, -0.4, 0.5)), np.array((0.3, -0.5, 0.7))),
    (np.array((-0.5, 0.6, 0.4)), np.array((0.6, 0.4, -0.2))),
)
"""Displacements and turns of two bodies, in no special direction."""


def check_functions(
    owner: str, element: StateElement, t: float, Z: Mat, inputs: Sequence[float], bodies: Sequence[str | None]
) -> None:
    """Call every function of an element at the start: natural coordinates and rates Z (n, 24) of its bodies, with their
    names, None of the ground. Raises TypeError or ValueError for a function that gives other than finite real numbers
    of the right shape; what it raises itself passes as it is."""
    start = _check.array(owner, "the start of its internal states", element.start, (len(element.names),))
    for what in ("function", "jacobian", "potential"):
        if callable(function := getattr(element, what)):
            _check.takes(owner, what, function, "t", "x", "out")
    x = np.concatenate([Z[:, :12].ravel(), Z[:, 12:].ravel(), start, inputs])
    n = 12 * len(Z) + len(element.names)
    _check_filling(owner, "function", element.function, t, x, n)
    _check_filling(owner, "jacobian", element.jacobian, t, x, n * len(x))
    if element.potential is not None:
        _check_filling(owner, "potential", element.potential, t, x[:24], 1)
        _check_potential(owner, bodies, element, t, x[:24])


def _check_filling(owner: str, what: str, function: Any, t: float, x: Vec, n: int) -> None:
    """Call a function f(t, x, out) that fills n numbers, if there is one."""
    if not callable(function):
        return
    given, out = x.copy(), np.full(n, np.nan)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            returned = function(t, given, out)
    except np.exceptions.ComplexWarning:
        raise TypeError(f"{owner}: {what} writes complex numbers into out at t = {t:g}; give real ones") from None
    if returned is not None:
        raise TypeError(
            f"{owner}: {what} must fill out and return nothing, got {_check.show(returned)}; write out[:] = ..."
        )
    bad = np.flatnonzero(~np.isfinite(out))
    if len(bad):
        raise ValueError(
            f"{owner}: {what} gives out[{bad[0]}] = {out[bad[0]]} at t = {t:g}; fill all {n} with finite numbers, "
            "e.g. begin with out[:] = 0.0"
        )
    if not np.array_equal(given, x):
        raise ValueError(f"{owner}: {what} changes x; it has to leave it alone: work on x.copy()")


def _check_potential(owner: str, bodies: Sequence[str | None], element: StateElement, t: float, Z: Vec) -> None:
    """Compare V and F at the start `Z` (24,): V changes by -F . dZ when the bodies move a little, and not at all when
    two move as one. Raises ValueError for a potential that belongs to another force, or to no relative position."""
    assert element.potential is not None
    points, F = Z.reshape(2, 4, 3), np.zeros(24)
    element.function(t, np.concatenate([Z, np.zeros(24)]), F)
    distance = float(np.linalg.norm(points[1, 0] - points[0, 0])) or 1.0
    far = 1.0 + float(np.abs(points).max()) / distance  # positions far from the origin have rounding, too
    free = [side for side, body in enumerate(bodies) if body is not None]
    for together in (False, True)[: len(free)]:
        step, V = np.zeros((2, 4, 3)), np.zeros((2, 1))
        for side in free:
            like = 0 if together else side
            (way, turn), about = _WAYS[like], points[like, 0]
            step[side] = _SMALL * (cross(turn, points[side] - about * POINT) + distance * way * POINT)
        for sign, out in zip((1.0, -1.0), V, strict=True):
            element.potential(t, (points + sign * step).ravel(), out)
        change, terms = float(V[0, 0] - V[1, 0]), 2.0 * F * step.ravel()
        missing = _SHARE * np.abs(terms).sum() + 1e-14 * far * np.abs(V).sum()
        if not together and not abs(change + terms.sum()) <= missing:
            moved = " and ".join(repr(bodies[side]) for side in free)
            raise ValueError(
                f"{owner}: potential does not belong to the force: when {moved} move a little, it changes by "
                f"{change:g} and the work of the force without rates is {terms.sum():g}; give V with -dV/dZ = F in "
                "out[0]"
            )
        if together and not abs(change) <= missing:
            raise ValueError(
                f"{owner}: potential changes by {change:g} when both bodies move as one; that of two bodies must "
                "depend on their relative position only: give each body a force of its own, or leave potential out"
            )
