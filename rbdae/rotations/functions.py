"""The functions of all charts for users, made once: checks, and the chart's kernels on arrays.

A chart's file takes them from its `ChartFunctions`. Parameters have any leading axes, such as time. The kernels run as
plain Python on arrays here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import update_wrapper
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

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

Tangents: TypeAlias = Callable[[Vec, str], tuple[Mat, Mat]]
"""T (3, n, ...) and dT/da (3, n, n, ...) of the components of a along the first axis (n, ...), in a frame."""

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


def _of_inverse(chart: Chart, a: Vec, frame: str) -> tuple[Mat, Mat]:
    """T = K^-1 and dT/da, for n > 3 the pseudo-inverse; near the singular set K does not leave them all digits."""
    K, D = _inverse(chart, np.moveaxis(a, 0, -1), frame)
    T = np.asarray(np.linalg.pinv(K), dtype=float)
    slopes = -np.einsum("...in,...njk,...jm->...imk", T, D, T)
    slopes += np.einsum("...in,...jn,...ljk,...lm->...imk", T, T, D, np.eye(chart.n) - K @ T)
    return np.moveaxis(T, (-2, -1), (0, 1)), np.moveaxis(slopes, (-3, -2, -1), (0, 1, 2))


def _of_matrix(chart: Chart, a: Vec) -> Vec:
    p = _stacks.spurrier_klumpp(_matrix(chart, a))
    return np.where(p[..., :1] < 0.0, -p, p)


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


# ---------------------------------------------------------------- functions for users

_RAISES = """

Raises
------
TypeError, ValueError
    An argument is not real numbers of these shapes, not finite, not a rotation, at the singular set, or off the
    internal constraints."""

_OF_ANY_PARAMETERS = ("distance", "is_singular")


@final
class ChartFunctions:
    """The functions of a chart for users, by the names in `NAMES`; their docstrings are completed for the chart.

    Parameters
    ----------
    module : str
        The ``__name__`` of the chart's file, which takes the functions from here.
    chart : Chart
    kind : str
        A name of its parameters, in the plural.
    tangents : callable, optional
        `Tangents`; without it T is the inverse of K.
    quaternion : callable, optional
        Unit quaternions (..., 4) of parameters (..., n); without it those of R by Spurrier and Klumpp.
    transposed : float, optional
        K by T^T, for charts with internal constraints whose K is this multiple of it, beside the constraints as well.
    notes : mapping
        By the name of a function, its equations and what else its docstring says of this chart.
    """

    def __init__(
        self,
        module: str,
        chart: Chart,
        kind: str,
        tangents: Tangents | None = None,
        quaternion: Callable[[Vec], Vec] | None = None,
        *,
        transposed: float | None = None,
        notes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._chart = chart
        self._tangents = tangents or (lambda a, frame: _of_inverse(chart, a, frame))
        self._quaternion = quaternion or (lambda a: _of_matrix(chart, a))
        self._transposed = transposed
        notes = {"matrix_derivative": f"of {notes['matrix']}", **notes} if "matrix" in notes else notes
        for name in NAMES:
            setattr(self, name, self._named(name, module, kind, notes))

    def _named(self, name: str, module: str, kind: str, notes: Mapping[str, str]) -> Callable[..., Any]:
        """A method as a function of the chart's file, for `help` and pickles."""
        method = getattr(self, name)

        def function(*arguments: Any, **named: Any) -> Any:
            return method(*arguments, **named)

        update_wrapper(function, method)
        function.__module__, function.__qualname__ = module, name
        general = re.sub(r"\bn\b", str(self._chart.n), method.__doc__)
        own = f"Of {kind}; {notes[name]}." if name in notes else f"Of {kind}."
        function.__doc__ = f"{general}\n\n{own}{'' if name in _OF_ANY_PARAMETERS else _RAISES}"
        return function

    def matrix(self, a: ArrayLike) -> Mat:
        """R (..., 3, 3) of parameters (..., n)."""
        return _matrix(self._chart, checked(self._chart, a))

    def matrix_derivative(self, a: ArrayLike) -> Mat:
        """dR/da (..., 3, 3, n), the derivatives along the last axis."""
        return _matrix_derivative(self._chart, checked(self._chart, a))

    def parameters(self, rotation: Rotation | ArrayLike) -> Vec:
        """The parameters (..., n) of a `Rotation` or of matrices (..., 3, 3)."""
        return of_quaternions(self._chart, _stacks.rotation_quaternions(self._chart.name, "rotation", rotation))

    def quaternion(self, a: ArrayLike) -> Vec:
        """The unit quaternion (..., 4), scalar first."""
        return self._quaternion(checked(self._chart, a))

    def half_rotation(self, a: ArrayLike) -> Mat:
        """F (..., 3, 3) with R = F F; [GR95] (274), (275)."""
        return half_rotation(self._quaternion(checked(self._chart, a)))

    def tangent(self, a: ArrayLike, frame: Frame = "material") -> Mat:
        """T (..., 3, n): Omega = T adot, or omega = T adot in the frame "spatial"."""
        at = _first(checked(self._chart, a))
        return _last(self._tangents(at, _frame(self._chart, frame))[0], 2)

    def tangent_derivative(self, a: ArrayLike, frame: Frame = "material") -> Mat:
        """dT/da (..., 3, n, n), the derivatives along the last axis."""
        at = _first(checked(self._chart, a))
        return _last(self._tangents(at, _frame(self._chart, frame))[1], 3)

    def tangent_rate(self, a: ArrayLike, adot: ArrayLike, frame: Frame = "material") -> Mat:
        """Tdot (..., 3, n): the angular acceleration is T addot + Tdot adot."""
        at = checked(self._chart, a)
        return _along(self.tangent_derivative(at, frame), _rates(self._chart, at, adot))

    def inverse_tangent(self, a: ArrayLike, frame: Frame = "material") -> Mat:
        """K (..., n, 3): adot = K Omega, or adot = K omega in the frame "spatial"."""
        if self._transposed is not None:
            return np.swapaxes(self._transposed * self.tangent(a, frame), -1, -2)
        return _inverse(self._chart, checked(self._chart, a), _frame(self._chart, frame))[0]

    def inverse_tangent_derivative(self, a: ArrayLike, frame: Frame = "material") -> Mat:
        """dK/da (..., n, 3, n), the derivatives along the last axis."""
        if self._transposed is not None:
            return np.swapaxes(self._transposed * self.tangent_derivative(a, frame), -2, -3)
        return _inverse(self._chart, checked(self._chart, a), _frame(self._chart, frame))[1]

    def inverse_tangent_rate(self, a: ArrayLike, adot: ArrayLike, frame: Frame = "material") -> Mat:
        """Kdot (..., n, 3): addot is K Omegadot + Kdot Omega."""
        at = checked(self._chart, a)
        return _along(self.inverse_tangent_derivative(at, frame), _rates(self._chart, at, adot))

    def compose(self, a: ArrayLike, b: ArrayLike) -> Vec:
        """The parameters (..., n) of R(a) R(b), b first; through quaternions, [GR95] (226)."""
        at, after = checked(self._chart, a), checked(self._chart, b, "b")
        _stacks.together(self._chart.name, a=(at, 1), b=(after, 1))
        p = multiplied(self._quaternion(at), self._quaternion(after))
        return of_quaternions(self._chart, p / _stacks.norm(p)[..., None])

    def distance(self, a: ArrayLike) -> Vec:
        """The angle (...) in radians to the singular set; inf for charts without one."""
        return _distances(self._chart, _stacks.vectors(self._chart.name, "a", a, self._chart.n))

    def is_singular(self, a: ArrayLike) -> Bools:
        """Whether parameters (..., n) are at the singular set, nearer to it than they can be used, or beyond, (...)."""
        at = _stacks.vectors(self._chart.name, "a", a, self._chart.n)
        out = [bool(self._chart.singular(row)) for row in at.reshape(-1, self._chart.n)]
        return np.array(out, dtype=bool).reshape(at.shape[:-1])


NAMES = tuple(name for name in vars(ChartFunctions) if not name.startswith("_"))
"""The functions that the file of every chart has."""
