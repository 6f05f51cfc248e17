"""The common part of the public functions of all charts: checks, and the chart's kernels on arrays.

A chart's file has functions of the same names as those of the other charts, for parameters with any leading axes, such
as time. `tangents(a, frame)` is what it brings itself: T and dT/da, with the components of a along the first axis. All
else comes of its kernels, which run as plain Python on arrays here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from rbdae import _check, _stacks
from rbdae._arrays import ArrayLike, Bools, Mat, Vec
from rbdae.compiler.plain import plain
from rbdae.rotations import chart as kernels
from rbdae.rotations.chart import Chart
from rbdae.rotations.euler_map import rotation_matrices
from rbdae.rotations.quaternions.algebra import multiplied

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

Frame: TypeAlias = Literal["material", "spatial"]
"""Of the angular velocity: Omega = R^T omega is material, omega spatial."""

NAMES = (
    "matrix",
    "matrix_derivative",
    "parameters",
    "quaternion",
    "half_rotation",
    "tangent",
    "tangent_derivative",
    "tangent_rate",
    "inverse_tangent",
    "inverse_tangent_derivative",
    "inverse_tangent_rate",
    "compose",
    "distance",
    "is_singular",
)
"""The functions that the file of every chart has."""

Tangents: TypeAlias = Callable[[Vec, str], tuple[Mat, Mat]]

NEAR = 0.01
"""Parameters that are no farther from the singular set than this, in radians, are asked one by one."""

DEFECT = 1e-6
"""How far parameters may be off the internal constraints of their chart."""


# ---------------------------------------------------------------- arguments


def checked(chart: Chart, a: ArrayLike, what: str = "a") -> Vec:
    """Parameters (..., n) that are no worse than a problem's may be.

    Raises
    ------
    TypeError
        they are not real numbers
    ValueError
        the last axis is not n long, or they are not finite, singular, or off the internal constraints
    """
    out = _stacks.vectors(chart.name, what, a, chart.n)
    first = _first(out)
    if chart.internal:
        m = len(chart.internal)
        g = np.zeros((2 * m, *first.shape[1:]))
        plain(kernels.internal_constraints)(chart.number, first, first, g, 0, m)
        defect = np.max(np.abs(g[:m]), initial=0.0)
        if not defect <= DEFECT:
            raise ValueError(
                f"{chart.name}: {what} must hold the constraints {', '.join(chart.internal)} to {DEFECT:g}, got "
                f"{_check.show(a)}, which is off by {defect:.3g}; normalise it, or take parameters(...) of a rotation"
            )
    if chart.distance is not None:
        rows = out.reshape(-1, chart.n)
        for row in rows[~(_distances(chart, rows) > NEAR)]:
            wrong = chart.singular(row)
            if wrong:
                raise ValueError(
                    f"{chart.name}: {what} must be off the singular set, got {_check.show(row)}: {wrong}; use another "
                    "chart, or parameters relative to a reference rotation"
                )
    return out


def _rates(chart: Chart, a: Vec, adot: ArrayLike) -> Vec:
    out = _stacks.vectors(chart.name, "adot", adot, chart.n)
    _stacks.together(chart.name, a=(a, 1), adot=(out, 1))
    return out


def _frame(chart: Chart, frame: str) -> str:
    if not isinstance(frame, str) or frame not in ("material", "spatial"):
        raise _check.unknown(f"{chart.name}: frame", frame, ("material", "spatial"))
    return frame


# ---------------------------------------------------------------- arrays


def _first(a: Vec) -> Vec:
    """The components of a along the first axis, as kernels take them."""
    return np.moveaxis(a, -1, 0)


def _last(array: Mat, axes: int) -> Mat:
    """The first axes last, as users take them."""
    return np.ascontiguousarray(np.moveaxis(array, range(axes), range(-axes, 0)))


def _matrix(chart: Chart, a: Vec) -> Mat:
    d = np.empty((9, *a.shape[:-1]))
    plain(kernels.rotation)(chart.number, _first(a), d)
    return np.swapaxes(_last(d.reshape(3, 3, *a.shape[:-1]), 2), -1, -2)


def _matrix_derivative(chart: Chart, a: Vec) -> Mat:
    D = np.empty((9, chart.n, *a.shape[:-1]))
    plain(kernels.rotation_tangent)(chart.number, _first(a), D)
    return np.swapaxes(_last(D.reshape(3, 3, chart.n, *a.shape[:-1]), 3), -3, -2)


def _inverse(chart: Chart, a: Vec, frame: str) -> tuple[Mat, Mat]:
    """K and dK/da, or K R^T and its derivative for the spatial angular velocity."""
    n, lead = chart.n, a.shape[:-1]
    K, A, slopes = np.empty((n, 3, *lead)), np.empty((n, n, *lead)), np.empty((n, 3, n, *lead))
    for j, om in enumerate(np.eye(3)):
        plain(kernels.rate_tangents)(chart.number, _first(a), om, K, A)
        slopes[:, j] = A
    material, derivative = _last(K, 2), _last(slopes, 3)
    if frame == "material":
        return material, derivative
    R, D = _matrix(chart, a), _matrix_derivative(chart, a)
    turned = np.einsum("...njk,...ij->...nik", derivative, R) + np.einsum("...nj,...ijk->...nik", material, D)
    return material @ np.swapaxes(R, -1, -2), turned


def zeros(a: Vec, *shape: int) -> Mat:
    """For `tangents`."""
    return np.zeros((*shape, *a.shape[1:]))


def stacked(R: Mat) -> Vec:
    """Directors (..., 9) of matrices (..., 3, 3)."""
    return np.swapaxes(R, -1, -2).reshape(*R.shape[:-2], 9)


def _along(derivative: Mat, adot: Vec) -> Mat:
    out: Mat = np.einsum("...ijk,...k->...ij", derivative, adot)
    return out


def _distances(chart: Chart, a: Vec) -> Vec:
    out = np.full((1, *a.shape[:-1]), np.inf)
    if chart.distance is not None:
        plain(kernels.distance)(chart.number, _first(a), out)
    angles: Vec = out[0]
    return angles


# ---------------------------------------------------------------- functions of all charts


def matrix(chart: Chart, a: ArrayLike) -> Mat:
    """R (..., 3, 3)."""
    return _matrix(chart, checked(chart, a))


def matrix_derivative(chart: Chart, a: ArrayLike) -> Mat:
    """dR/da (..., 3, 3, n)."""
    return _matrix_derivative(chart, checked(chart, a))


def parameters(chart: Chart, rotation: Rotation | ArrayLike) -> Vec:
    """The parameters (..., n) of a `Rotation` or of matrices (..., 3, 3).

    Raises
    ------
    TypeError, ValueError
        it is no rotation, or the chart has no parameters for it
    """
    p = _stacks.rotation_quaternions(chart.name, "rotation", rotation)
    return of_quaternions(chart, p)


def of_quaternions(chart: Chart, p: Vec) -> Vec:
    """The parameters of unit quaternions (..., 4)."""
    return checked(chart, chart.parameters(p, rotation_matrices(p)), "the a of the rotation")


def half_rotation(p: Vec) -> Mat:
    """F (..., 3, 3) with R = F F, of unit quaternions (..., 4) with p0 > -1; [GR95] (275)."""
    e = p[..., 1:]
    x, y, z = _first(e)
    o = np.zeros_like(x)
    skew = _last(np.array([[o, -z, y], [z, o, -x], [-y, x, o]]), 2)
    e0 = p[..., :1, None]
    out: Mat = e0 * np.eye(3) + e[..., :, None] * e[..., None, :] / (1.0 + e0) + skew
    return out


def tangent(chart: Chart, tangents: Tangents, a: ArrayLike, frame: str) -> Mat:
    """T (..., 3, n)."""
    return _last(tangents(_first(checked(chart, a)), _frame(chart, frame))[0], 2)


def tangent_derivative(chart: Chart, tangents: Tangents, a: ArrayLike, frame: str) -> Mat:
    """dT/da (..., 3, n, n)."""
    return _last(tangents(_first(checked(chart, a)), _frame(chart, frame))[1], 3)


def tangent_rate(chart: Chart, tangents: Tangents, a: ArrayLike, adot: ArrayLike, frame: str) -> Mat:
    """Tdot (..., 3, n)."""
    at = checked(chart, a)
    return _along(tangent_derivative(chart, tangents, at, frame), _rates(chart, at, adot))


def inverse_tangent(chart: Chart, a: ArrayLike, frame: str) -> Mat:
    """K (..., n, 3)."""
    return _inverse(chart, checked(chart, a), _frame(chart, frame))[0]


def inverse_tangent_derivative(chart: Chart, a: ArrayLike, frame: str) -> Mat:
    """dK/da (..., n, 3, n)."""
    return _inverse(chart, checked(chart, a), _frame(chart, frame))[1]


def inverse_tangent_rate(chart: Chart, a: ArrayLike, adot: ArrayLike, frame: str) -> Mat:
    """Kdot (..., n, 3)."""
    at = checked(chart, a)
    return _along(_inverse(chart, at, _frame(chart, frame))[1], _rates(chart, at, adot))


def compose(chart: Chart, quaternion: Callable[[Vec], Vec], a: ArrayLike, b: ArrayLike) -> Vec:
    """The parameters of R(a) R(b), through the product of the quaternions; [GR95] (226)."""
    at, after = checked(chart, a), checked(chart, b, "b")
    _stacks.together(chart.name, a=(at, 1), b=(after, 1))
    p = multiplied(quaternion(at), quaternion(after))
    return of_quaternions(chart, p / _stacks.norm(p)[..., None])


def distance(chart: Chart, a: ArrayLike) -> Vec:
    """Angles (...) to the singular set in radians; inf for charts without one."""
    return _distances(chart, _stacks.vectors(chart.name, "a", a, chart.n))


def is_singular(chart: Chart, a: ArrayLike) -> Bools:
    """Whether parameters are at the singular set, nearer to it than they can be used, or beyond, (...)."""
    at = _stacks.vectors(chart.name, "a", a, chart.n)
    out = [bool(chart.singular(row)) for row in at.reshape(-1, chart.n)]
    return np.array(out, dtype=bool).reshape(at.shape[:-1])
