"""Polynomials of y through the states at neighbouring steps, for steps that do not resolve the fast modes of a motion.

There the rates at a state are no guide: a state that is off by the tolerance has rates that are off by the tolerance
times the fast frequency. The states themselves are smooth as long as the fast modes are damped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae._arrays import Mat, Vec

_MOST = 6
"""Most states of one polynomial."""

NEAR = _MOST - 2
"""No polynomial needs states farther from a step than this number of steps."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """y over one step.

    Attributes
    ----------
    t, y : (k,) and (k, d), the states that the polynomial goes through
    error : the estimated error in tolerances: the difference to a polynomial of one state less
    """

    t: Vec
    y: Mat
    error: float

    def __call__(self, t: Vec) -> Mat:
        """y (m, d) at times (m,) of the step."""
        return _interpolate(self.t, self.y, t)


def neighbours(t: Vec, y: Mat, k: int, scale: Vec) -> Neighbours:
    """The polynomial over the step from t[k] to t[k + 1], with the number of states that is estimated to be best.

    Parameters
    ----------
    t, y : (m,) and (m, d), the states of the segment
    scale : (d,) the tolerance of each unknown
    """
    between = t[k] + (t[k + 1] - t[k]) * np.array([0.25, 0.5, 0.75])
    chosen = [k, k + 1]
    best = Neighbours(t[chosen], y[chosen], np.inf)
    before = best(between)
    while len(chosen) < min(_MOST, len(t)):
        below, above = chosen[0] - 1, chosen[-1] + 1
        left = t[k] - t[below] if below >= 0 else np.inf
        right = t[above] - t[k + 1] if above < len(t) else np.inf
        chosen = [below, *chosen] if left <= right else [*chosen, above]
        values = _interpolate(t[chosen], y[chosen], between)
        error = float(np.max(np.abs(values - before) / scale, initial=0.0))
        if error < best.error:
            best = Neighbours(t[chosen], y[chosen], error)
        before = values
    return best


def _interpolate(nodes: Vec, y: Mat, t: Vec) -> Mat:
    """The polynomial through (nodes, y) at t, by Lagrange's formula: few nodes, and t among them."""
    weights = np.ones((len(t), len(nodes)))
    for j, node in enumerate(nodes):
        for other in np.delete(nodes, j):
            weights[:, j] *= (t - other) / (node - other)
    out: Mat = np.einsum("mk,kd->md", weights, y)
    return out


__all__ = ["NEAR", "Neighbours", "neighbours"]
