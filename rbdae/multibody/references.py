"""Reference rotations: R = R_ref R(a) with a constant R_ref for each body, at which its chart is centred.

R^T Rdot does not contain R_ref, so the material angular velocity, K(a), labels and n stay ([GR95] (159), (160)).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.rotations import CHARTS, Chart
from rbdae.rotations.chart import NEAR_SINGULAR, rotation
from rbdae.rotations.euler_map import rotation_matrices
from rbdae.rotations.quaternion_algebra import unit_quaternion


def matrix(chart: Chart, a: Vec) -> Mat:
    """R(a), (3, 3)."""
    d = np.zeros(9)
    rotation(chart.number, np.asarray(a, dtype=float), d)
    return d.reshape(3, 3).T


def centred(chart: Chart, R: Mat) -> Mat:
    """R_ref (n, 3, 3) with which the rotations R (n, 3, 3) have the parameters of the chart's centre.

    It is made from unit quaternions, so that it stays orthonormal however often a run repeats this.
    """
    p = np.array([unit_quaternion(each) for each in R])
    out: Mat = rotation_matrices(p) @ _from_centre(chart)
    return out


@cache
def _from_centre(chart: Chart) -> Mat:
    """R(a)^T at the centre."""
    return matrix(chart, np.array(chart.centre)).T


def parameters(chart: Chart, R: Mat, reference: Mat | None, p: Vec | None = None) -> Vec:
    """a with R = R_ref R(a), for R (3, 3); `p` is its unit quaternion, if known. Beyond the chart's singular set R(a)
    is another rotation: see `wrong`."""
    if reference is None:
        return chart.parameters(unit_quaternion(R) if p is None else p, R)
    relative = reference.T @ R
    return chart.parameters(unit_quaternion(relative), relative)


def wrong(chart: Chart, R: Mat, reference: Mat | None, a: Vec) -> str:
    """Why the parameters a cannot stand for R; empty if they can."""
    if not chart.centre:
        return chart.singular(a)
    relative = R if reference is None else reference.T @ R
    with np.errstate(all="ignore"):  # what is not finite is what is asked for
        said = chart.singular(a)
        if said:
            return f"{said} (distance {chart.distance_to_singularity(a):.3g} rad)"
        off = np.abs(matrix(chart, a) - relative).max() if np.isfinite(a).all() else np.inf
    if off < NEAR_SINGULAR:
        return ""
    return f"its orientation is beyond the singular set of {chart.name}, {chart.reach:.6g} rad from the centre"


def usable(R: Mat) -> list[str]:
    """The charts that have parameters for all rotations R (n, 3, 3), centred in space."""
    return [
        chart.name
        for chart in CHARTS.values()
        if not any(wrong(chart, each, None, parameters(chart, each, None)) for each in R)
    ]
