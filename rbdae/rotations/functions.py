"""Functions of all charts for users, defined once. `ChartFunctions.publish` adds them to a chart's file.

All follow from the chart's R(a), K(a) and T(a), recorded on symbols.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import partial, update_wrapper
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Bools, Mat, Vec
from rbdae.graph.functions import Array
from rbdae.graph.on_stacks import OnStacks, Recording
from rbdae.rotations import checks
from rbdae.rotations.chart import Chart
from rbdae.rotations.quaternions import multiplied
from rbdae.rotations.vectors import axial, rotation_matrices, spurrier_klumpp

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

Frame: TypeAlias = Literal["material", "spatial"]
"""Frame of the angular velocity: Omega = R^T omega is material, omega spatial."""

_RAISES = """

Raises
------
TypeError, ValueError
    An argument is not real numbers of these shapes, not finite, not a rotation, at the singular set, or off the
    internal constraints."""

NEAR = 0.01
"""Parameters within this angle of the singular set, in radians, are checked one by one."""

DEFECT = 1e-6
"""Tolerance for the internal constraints of a chart."""

_FRAMES = ("material", "spatial")

_OF_ANY_PARAMETERS = ("distance", "is_singular")


@final
class ChartFunctions:
    """A chart's functions for users, with the names in `NAMES` and docstrings completed for the chart.

    Parameters
    ----------
    module : str
        The ``__name__`` of the chart's file.
    chart : Chart
    kind : str
        Plural name of its parameters.
    half_rotation : callable, optional
        F (..., 3, 3) of parameters, in place of the one through the quaternion.
    notes : mapping
        Additions to docstrings by function name: equations and remarks for this chart.
    """

    def __init__(
        self,
        module: str,
        chart: Chart,
        kind: str,
        *,
        half_rotation: Callable[[Vec], Mat] | None = None,
        notes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._chart, self._module = chart, module
        self._quaternion = chart.quaternion or (lambda a: shorter(spurrier_klumpp(chart.matrices(a))))
        self._half_rotation = half_rotation or (lambda a: of_half(self._quaternion(a)))
        self._tangents = {frame: OnStacks(chart.n, partial(_tangent, chart, frame)) for frame in _FRAMES}
        self._inverses = {frame: OnStacks(chart.n, partial(_inverse_tangent, chart, frame)) for frame in _FRAMES}
        notes = {"matrix_derivative": f"of {notes['matrix']}", **notes} if "matrix" in notes else notes
        for name in NAMES:
            setattr(self, name, self._named(name, module, kind, notes))

    def publish(self) -> None:
        """Add the functions to the chart's file, which takes their types from `rbdae.rotations.signatures`."""
        vars(sys.modules[self._module]).update({name: getattr(self, name) for name in NAMES})

    def _named(self, name: str, module: str, kind: str, notes: Mapping[str, str]) -> Callable[..., Any]:
        """A method as a function of the chart's module, for `help` and pickles."""
        method = getattr(self, name)

        def function(*arguments: Any, **named: Any) -> Any:
            return method(*arguments, **named)

        update_wrapper(function, method)
        function.__module__, function.__qualname__ = module, name
        general = re.sub(r"\bn\b", str(self._chart.n), method.__doc__)
        text = f"Of {kind}; {notes[name]}." if name in notes else f"Of {kind}."
        function.__doc__ = f"{general}\n\n{text}{'' if name in _OF_ANY_PARAMETERS else _RAISES}"
        return function

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
        """F (..., 3, 3) with R = F F; [GR95] (274), (275)."""
        return self._half_rotation(self._checked(a))

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
        p = multiplied(self._quaternion(first), self._quaternion(second))
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


def shorter(p: Vec) -> Vec:
    """The sign of p with the shorter way, at most half a turn; p and -p are the same rotation."""
    return np.where(p[..., :1] < 0.0, -p, p)


def of_half(p: Vec) -> Mat:
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


def _inverse_tangent(chart: Chart, frame: str, of: Recording) -> Array:
    """K (n, 3) in a frame; adot = -C K(C a) omega if R^T has the parameters C a."""
    if frame == "material":
        return chart.kinematics(of.x)
    if chart.inverted is None:
        return chart.kinematics(of.x) @ chart.rotation(of.x).T
    return -chart.inverted(chart.kinematics(chart.inverted(of.x)).T).T


def _tangent(chart: Chart, frame: str, of: Recording) -> Array:
    """T (3, n) in a frame; omega = -T(C a) C adot if R^T has the parameters C a. Of a chart without T they are the skew
    parts of R^T dR/da, or of dR/da R^T."""
    if chart.tangent is None:
        R = chart.rotation(of.x)
        columns = [R.T @ D if frame == "material" else D @ R.T for D in np.moveaxis(of.derivative(R), -1, 0)]
        return np.array([0.5 * axial(turning) for turning in columns]).T
    if frame == "material":
        return chart.tangent(of.x)
    if chart.inverted is None:
        return chart.rotation(of.x) @ chart.tangent(of.x)
    return -chart.inverted(chart.tangent(chart.inverted(of.x)))


NAMES = tuple(name for name in vars(ChartFunctions) if not name.startswith("_") and name != "publish")
"""Names of the functions in every chart's file."""
