"""Parameters of a chart with any leading axes, such as time."""

from __future__ import annotations

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.rotations import checks
from rbdae.rotations.chart import Chart
from rbdae.rotations.vectors import rotation_matrices, spurrier_klumpp

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
    if chart.internal:
        defect = np.max(np.abs(chart.constraints(out)), initial=0.0)
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


def along(derivative: Mat, adot: Vec) -> Mat:
    """The derivative (..., i, j, k) in the direction of adot (..., k)."""
    out: Mat = np.einsum("...ijk,...k->...ij", derivative, adot)
    return out


def distances(chart: Chart, a: Vec) -> Vec:
    """The angles (...) to the singular set; inf for charts without one."""
    return (
        np.full(a.shape[:-1], np.inf) if chart.distance is None else np.asarray(chart.distance(np.moveaxis(a, -1, 0)))
    )


def of_matrix(chart: Chart, a: Vec) -> Vec:
    """The unit quaternions (..., 4) of parameters, through R."""
    return shorter(spurrier_klumpp(chart.matrices(a)))


def shorter(p: Vec) -> Vec:
    """The sign of p with the shorter way, at most half a turn; p and -p are the same rotation."""
    return np.where(p[..., :1] < 0.0, -p, p)


def of_quaternions(chart: Chart, p: Vec) -> Vec:
    """The parameters of unit quaternions (..., 4)."""
    return checked(chart, chart.parameters(p, rotation_matrices(p)), "the a of the rotation")


def half_rotation(p: Vec) -> Mat:
    """F = e0 I + e e^T / (1 + e0) + e^ (..., 3, 3) with R = F F, of unit quaternions (..., 4) with p0 > -1; [GR95]
    (275)."""
    e0, x, y, z = np.moveaxis(p, -1, 0)
    f = 1.0 / (1.0 + e0)
    F = [
        [e0 + x * x * f, x * y * f - z, x * z * f + y],
        [x * y * f + z, e0 + y * y * f, y * z * f - x],
        [x * z * f - y, y * z * f + x, e0 + z * z * f],
    ]
    return np.ascontiguousarray(np.moveaxis(np.array(F), (0, 1), (-2, -1)))
