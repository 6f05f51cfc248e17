"""Functions of all charts for users, defined once; `publish` adds them to a chart's file.

All follow from the chart's R(a), K(a) and T(a), recorded on symbols. They raise TypeError or ValueError for arguments
that are not real numbers of these shapes, not finite, not a rotation, at the singular set, or off the internal
constraints.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Bools, Mat, Vec
from rbdae.graph.functions import Array
from rbdae.graph.on_stacks import OnStacks, Recording
from rbdae.rotations import checks
from rbdae.rotations.chart import Chart
from rbdae.rotations.vectors import axial, product, rotation_matrices, shorter, spurrier_klumpp

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

Frame: TypeAlias = Literal["material", "spatial"]
"""Frame of the angular velocity: Omega = R^T omega is material, omega spatial."""

NEAR = 0.01
"""Parameters within this angle of the singular set, in radians, are checked one by one."""

DEFECT = 1e-6
"""Tolerance for the internal constraints of a chart."""

_FRAMES = ("material", "spatial")


@final
class ChartFunctions:
    """A chart's functions for users, with the names in `NAMES`."""

    def __init__(self, chart: Chart) -> None:
        self._chart = chart
        self._quaternion = chart.quaternion or (lambda a: shorter(spurrier_klumpp(chart.matrices(a))))
        self._tangents = {frame: OnStacks(chart.n, partial(_tangent, chart, frame)) for frame in _FRAMES}
        self._inverses = {frame: OnStacks(chart.n, partial(_inverse_tangent, chart, frame)) for frame in _FRAMES}

    def matrix(self, a: ArrayLike) -> Mat:
        """R (..., 3, 3) of parameters (..., n)."""
        return self._chart.matrices(self._checked(a))

    def matrix_derivative(self, a: ArrayLike) -> Mat:
        """dR/da (..., 3, 3, n), the derivatives along the last axis."""
        return self._chart.matrices.derivative(self._checked(a))

    def parameters(self, rotation: Rotation | ArrayLike) -> Vec:
        """The parameters (..., n) of a `Rotation` or of matrices (..., 3, 3)."""
        return self._of_quaternions(checks.rotation_quaternions(self._chart.name, "rotation", rotation))

    def quaternion(self, a: ArrayLike) -> Vec:
        """The unit quaternion (..., 4), scalar first."""
        return self._quaternion(self._checked(a))

    def half_rotation(self, a: ArrayLike) -> Mat:
        """F (..., 3, 3) with R = F F; [GR95] (274), (275). Beyond half a turn it is half of that, too."""
        p = self._quaternion(self._checked(a))
        p = p if self._chart.centre else shorter(p)
        e0, e = p[..., :1, None], p[..., 1:]  # F = e0 I + e e^T / (1 + e0) + e^
        along: Mat = e[..., :, None] * e[..., None, :] / (1.0 + e0)
        return along + np.eye(3) * e0 + np.cross(np.eye(3), e[..., None, :])

    def tangent(self, a: ArrayLike, frame: Frame = "material") -> Mat:
        """T (..., 3, n): Omega = T adot, or omega = T adot in the frame "spatial"."""
        return self._in_frame(self._tangents, frame)(self._checked(a))

    def tangent_derivative(self, a: ArrayLike, frame: Frame = "material") -> Mat:
        """dT/da (..., 3, n, n), the derivatives along the last axis."""
        return self._in_frame(self._tangents, frame).derivative(self._checked(a))

    def tangent_rate(self, a: ArrayLike, adot: ArrayLike, frame: Frame = "material") -> Mat:
        """Tdot (..., 3, n): the angular acceleration is T addot + Tdot adot."""
        return self._along(self._in_frame(self._tangents, frame), a, adot)

    def inverse_tangent(self, a: ArrayLike, frame: Frame = "material") -> Mat:
        """K (..., n, 3): adot = K Omega, or adot = K omega in the frame "spatial"."""
        return self._in_frame(self._inverses, frame)(self._checked(a))

    def inverse_tangent_derivative(self, a: ArrayLike, frame: Frame = "material") -> Mat:
        """dK/da (..., n, 3, n), the derivatives along the last axis."""
        return self._in_frame(self._inverses, frame).derivative(self._checked(a))

    def inverse_tangent_rate(self, a: ArrayLike, adot: ArrayLike, frame: Frame = "material") -> Mat:
        """Kdot (..., n, 3): addot is K Omegadot + Kdot Omega."""
        return self._along(self._in_frame(self._inverses, frame), a, adot)

    def compose(self, a: ArrayLike, b: ArrayLike) -> Vec:
        """The parameters (..., n) of R(a) R(b) (b acts first), through quaternions, [GR95] (226)."""
        first, second = self._checked(a), self._checked(b, "b")
        checks.together(self._chart.name, a=(first, 1), b=(second, 1))
        both = np.broadcast_arrays(self._quaternion(first), self._quaternion(second))
        p = np.moveaxis(product(*(np.moveaxis(p, -1, 0) for p in both)), 0, -1)
        return self._of_quaternions(p / checks.norm(p)[..., None])

    def distance(self, a: ArrayLike) -> Vec:
        """The angle (...) in radians to the singular set; inf for charts without one."""
        return self._distances(checks.vectors(self._chart.name, "a", a, self._chart.n))

    def is_singular(self, a: ArrayLike) -> Bools:
        """Whether parameters (..., n) are at the singular set, too near to it, or beyond, (...)."""
        params = checks.vectors(self._chart.name, "a", a, self._chart.n)
        out = [bool(self._chart.singular(row)) for row in params.reshape(-1, self._chart.n)]
        return np.array(out, dtype=bool).reshape(params.shape[:-1])

    # ------------------------------------------------------------ what they share

    def _checked(self, a: ArrayLike, what: str = "a") -> Vec:
        """Parameters (..., n), checked to the standard of a problem."""
        chart = self._chart
        out = checks.vectors(chart.name, what, a, chart.n)
        if chart.internal:
            defect = np.max(np.abs(chart.constraints(out)), initial=0.0)
            if not defect <= DEFECT:
                raise ValueError(
                    f"{chart.name}: {what} must hold the constraints {', '.join(chart.internal)} to {DEFECT:g}, got "
                    f"{_check.show(a)}, which is off by {defect:.3g}; normalise it, or take parameters(...) of a "
                    "rotation"
                )
        rows = out.reshape(-1, chart.n)
        for row in rows[~(self._distances(rows) > NEAR)]:
            wrong = chart.singular(row)
            if wrong:
                raise ValueError(
                    f"{chart.name}: {what} must be off the singular set, got {_check.show(row)}: {wrong}; use another "
                    "chart, or parameters relative to a reference rotation"
                )
        return out

    def _distances(self, a: Vec) -> Vec:
        if self._chart.distance is None:
            return np.full(a.shape[:-1], np.inf)
        return np.asarray(self._chart.distance(np.moveaxis(a, -1, 0)))

    def _of_quaternions(self, p: Vec) -> Vec:
        """The parameters of unit quaternions (..., 4)."""
        return self._checked(self._chart.parameters(p, rotation_matrices(p)), "the a of the rotation")

    def _in_frame(self, of: Mapping[str, OnStacks], frame: str) -> OnStacks:
        if not isinstance(frame, str) or frame not in of:
            raise _check.unknown(f"{self._chart.name}: frame", frame, _FRAMES)
        return of[frame]

    def _along(self, of: OnStacks, a: ArrayLike, adot: ArrayLike) -> Mat:
        """The derivative in the direction of adot (..., n)."""
        params, rates = self._checked(a), checks.vectors(self._chart.name, "adot", adot, self._chart.n)
        checks.together(self._chart.name, a=(params, 1), adot=(rates, 1))
        out: Mat = np.einsum("...ijk,...k->...ij", of.derivative(params), rates)
        return out


def _inverse_tangent(chart: Chart, frame: str, of: Recording) -> Array:
    K = chart.kinematics(of.x)
    return K if frame == "material" else K @ chart.rotation(of.x).T


def _tangent(chart: Chart, frame: str, of: Recording) -> Array:
    """T (3, n) in a frame. Of a chart without T the columns are the skew parts of R^T dR/da."""
    R = chart.rotation(of.x)
    if chart.tangent is None:
        T = np.array([0.5 * axial(R.T @ D) for D in np.moveaxis(of.derivative(R), -1, 0)]).T
    else:
        T = chart.tangent(of.x)
    return T if frame == "material" else R @ T


NAMES = tuple(name for name in vars(ChartFunctions) if not name.startswith("_"))
"""Names of the functions in every chart's file."""


def publish(module: str, chart: Chart) -> None:
    """Add the functions of a chart to its file, with their types from `rbdae.rotations.signatures`."""
    functions = ChartFunctions(chart)
    vars(sys.modules[module]).update({name: _named(module, getattr(functions, name)) for name in NAMES})


def _named(module: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method as a function of a module, for `help` and pickles."""

    def function(*arguments: Any, **named: Any) -> Any:
        return method(*arguments, **named)

    update_wrapper(function, method)
    function.__module__, function.__qualname__ = module, method.__name__
    return function
