"""The way out of a saddle point of the violations, where every step of Gauss and Newton vanishes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rbdae._arrays import Bools, Mat
from rbdae.initial.merit import Merit, displaced
from rbdae.multibody.layout import BodyMotion

_H = 1e-5  # of the differences
_CURVED = 1e-3  # curvature over the violation, from which on a direction leads down
_SIZE = 0.3  # rad, or lengths of the model


def way_out(here: BodyMotion, moves: Sequence[Bools], merit: Merit) -> Mat | None:
    """A displacement (n, 6) along the direction in which |gaps|^2 / 2 bends down most, of those that may move; None
    where it bends down in none. Always the same one: among equal directions the one nearest to the first coordinate,
    and of its two senses the one that closes more, or else the positive one."""
    free = np.flatnonzero(np.any(moves, axis=0))
    units = merit.units
    n = len(here.x)

    def gradient(step: Mat) -> Mat:
        there = displaced(here, step)
        return np.asarray(np.einsum("rni,r->ni", merit.slopes(there), merit.gaps(there)) * units).reshape(-1)[free]

    def size(step: Mat) -> float:
        return float(np.linalg.norm(merit.gaps(displaced(here, step))))

    hessian = np.empty((len(free), len(free)))
    for i, column in enumerate(free):
        step = np.zeros(6 * n)
        step[column] = _H
        step = step.reshape(n, 6) * units
        hessian[:, i] = (gradient(step) - gradient(-step)) / (2.0 * _H)
    curvature, directions = np.linalg.eigh(0.5 * (hessian + hessian.T))
    before = float(np.linalg.norm(merit.gaps(here)))
    if not curvature[0] < -_CURVED * before:
        return None
    steepest = directions[:, curvature < curvature[0] + 1e-4 * abs(curvature[0])]
    nearest = int(np.argmax(np.round(np.linalg.norm(steepest, axis=1), 6)))
    along = np.zeros(6 * n)
    along[free] = steepest @ steepest[nearest]
    way = _SIZE * (along / np.max(np.abs(along))).reshape(n, 6) * units
    forward, back = size(way), size(-way)
    if not min(forward, back) < before:
        return None
    return np.asarray(-way if back < (1.0 - 1e-9) * forward else way)


__all__ = ["way_out"]
