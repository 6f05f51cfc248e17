"""A chart's kernels on arrays of parameters with any leading axes, such as time, run as plain Python."""

from __future__ import annotations

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.rotations import chart as kernels
from rbdae.rotations import checks
from rbdae.rotations.chart import Chart
from rbdae.rotations.euler_map import rotation_matrices

NEAR = 0.01
"""Parameters within this angle of the singular set, in radians, are checked one by one."""

DEFECT = 1e-6
"""Tolerance for the internal constraints of a chart."""


def checked(chart: Chart, a: ArrayLike, what: str = "a") -> Vec:
    """Parameters (..., n), checked to the standard of a problem.

    Raises
    ------
    TypeError
        if they are not real numbers
    ValueError
        if the last axis does not have length n, or if they are not finite, singular, or off the internal constraints
    """
    out = checks.vectors(chart.name, what, a, chart.n)
    along_first = first(out)
    if chart.internal:
        m = len(chart.internal)
        g = np.zeros((2 * m, *along_first.shape[1:]))
        kernels.internal_constraints(chart.number, along_first, along_first, g, 0, m)
        defect = np.max(np.abs(g[:m]), initial=0.0)
        if not defect <= DEFECT:
            raise ValueError(
                f"{chart.name}: {what} must hold the constraints {', '.join(chart.internal)} to {DEFECT:g}, got "
                f"{_check.show(a)}, which is off by {defect:.3g}; normalise it, or take parameters(...) of a rotation"
            )
    if chart.distance is not None:
        rows = out.reshape(-1, chart.n)
        for row in rows[~(distances(chart, rows) > NEAR)]:
            wrong = chart.singular(row)
            if wrong:
                raise ValueError(
                    f"{chart.name}: {what} must be off the singular set, got {_check.show(row)}: {wrong}; use another "
                    "chart, or parameters relative to a reference rotation"
                )
    return out


def rates(chart: Chart, a: Vec, adot: ArrayLike) -> Vec:
    """Rates of parameters, checked: (..., n), broadcastable to them."""
    out = checks.vectors(chart.name, "adot", adot, chart.n)
    checks.together(chart.name, a=(a, 1), adot=(out, 1))
    return out


# ---------------------------------------------------------------- arrays


def first(a: Vec) -> Vec:
    """The components of a along the first axis, as for kernels."""
    return np.moveaxis(a, -1, 0)


def last(array: Mat, axes: int) -> Mat:
    """The first axes moved last, as for users."""
    return np.ascontiguousarray(np.moveaxis(array, range(axes), range(-axes, 0)))


def matrix(chart: Chart, a: Vec) -> Mat:
    d = np.empty((9, *a.shape[:-1]))
    kernels.rotation(chart.number, first(a), d)
    return np.swapaxes(last(d.reshape(3, 3, *a.shape[:-1]), 2), -1, -2)


def stacked(R: Mat) -> Vec:
    """Directors (..., 9) of matrices (..., 3, 3)."""
    return np.swapaxes(R, -1, -2).reshape(*R.shape[:-2], 9)


def along(derivative: Mat, adot: Vec) -> Mat:
    out: Mat = np.einsum("...ijk,...k->...ij", derivative, adot)
    return out


def distances(chart: Chart, a: Vec) -> Vec:
    out = np.full((1, *a.shape[:-1]), np.inf)
    if chart.distance is not None:
        kernels.distance(chart.number, first(a), out)
    angles: Vec = out[0]
    return angles


def of_matrix(chart: Chart, a: Vec) -> Vec:
    return shorter(checks.spurrier_klumpp(matrix(chart, a)))


def shorter(p: Vec) -> Vec:
    """The sign of p with the shorter way, at most half a turn; p and -p are the same rotation."""
    return np.where(p[..., :1] < 0.0, -p, p)


def of_quaternions(chart: Chart, p: Vec) -> Vec:
    """The parameters of unit quaternions (..., 4)."""
    return checked(chart, chart.parameters(p, rotation_matrices(p)), "the a of the rotation")


def half_rotation(p: Vec) -> Mat:
    """F (..., 3, 3) with R = F F, of unit quaternions (..., 4) with p0 > -1; [GR95] (275)."""
    e = p[..., 1:]
    x, y, z = first(e)
    o = np.zeros_like(x)
    skew = last(np.array([[o, -z, y], [z, o, -x], [-y, x, o]]), 2)
    e0 = p[..., :1, None]
    out: Mat = e0 * np.eye(3) + e[..., :, None] * e[..., None, :] / (1.0 + e0) + skew
    return out
