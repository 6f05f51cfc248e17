"""Equations and interpretation of a run that changed its selection: every state is read by the selection of its time.

Both are frozen and pure: the time is among their arguments. They have the methods of `Equations` and `Interpretation`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Bools, Ints, Mat, Vec
from rbdae.formulations.base import Kind
from rbdae.multibody.layout import Layout
from rbdae.multibody.parameter_tangents import ParameterTangents
from rbdae.multibody.workspace import Workspace
from rbdae.problem.body_state import BodyState, ManyStates
from rbdae.problem.callbacks import Callbacks
from rbdae.problem.equations import Equations
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.joined import joined
from rbdae.problem.matrices import Matrices
from rbdae.problem.quantities import Constraints, Energy, Momentum
from rbdae.problem.reactions import Reaction

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix


@final
@dataclass(frozen=True, slots=True)
class Changes:
    """When the selection of a run has changed: `times` in the order of the run, which fall if its `direction` is -1."""

    times: tuple[float, ...]
    direction: float

    def number(self, t: float) -> int:
        """How many of them a time has behind it in the run, or is at."""
        return bisect_right(self.times, self.direction * t, key=lambda change: self.direction * change)

    def numbers(self, t: Vec) -> Ints:
        """The same for times (m,)."""
        changes = self.direction * np.array(self.times)
        return np.searchsorted(changes, self.direction * t, side="right").astype(np.int64)


@final
@dataclass(frozen=True, eq=False, repr=False)
class TimedEquations:
    """The k-th equations hold from the k-th change on, the first before. Facts and callbacks are those of the first."""

    parts: tuple[Equations, ...]
    changes: Changes

    def at(self, t: float) -> Equations:
        """The equations that hold at time t."""
        return self.parts[self.changes.number(_check.time("t", t))]

    @property
    def workspace(self) -> Workspace:
        """The workspace of the first selection."""
        return self.parts[0].workspace

    @property
    def y(self) -> Vec:
        """A regular state of the first selection."""
        return self.parts[0].y

    @property
    def layout(self) -> Layout:
        """The places of the unknowns."""
        return self.parts[0].layout

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return self.parts[0].n

    @property
    def n_equations(self) -> int:
        """Number of equations."""
        return self.parts[0].n_equations

    @property
    def kind(self) -> Kind:
        """``"ode"``, ``"dae"`` or ``"overdetermined"``."""
        return self.parts[0].kind

    @property
    def index(self) -> int:
        """Differentiation index."""
        return self.parts[0].index

    @property
    def differential(self) -> Bools:
        """(n,) False where yd does not appear."""
        return self.parts[0].differential

    @property
    def variable_index(self) -> Ints:
        """(n,) Hairer's classes."""
        return self.parts[0].variable_index

    @property
    def callbacks(self) -> Callbacks:
        """The bare kernels of the first selection."""
        return self.parts[0].callbacks

    @property
    def sparsity(self) -> csc_matrix:
        """The pattern of the first selection."""
        return self.parts[0].sparsity

    @property
    def parameter_tangents(self) -> ParameterTangents:
        """The parameter tangents of the first selection."""
        return self.parts[0].parameter_tangents

    def parameter_jacobian(self, t: float, y: ArrayLike, yd: ArrayLike, names: Sequence[str]) -> Mat:
        """dF/dp."""
        return self.at(t).parameter_jacobian(t, y, yd, names)

    def rhs_parameter_jacobian(self, t: float, y: ArrayLike, names: Sequence[str]) -> Mat:
        """df/dp."""
        return self.at(t).rhs_parameter_jacobian(t, y, names)

    def vector(self, name: str, value: ArrayLike) -> Vec:
        """`value` as kernels take it."""
        return self.parts[0].vector(name, value)

    def residual(self, t: float, y: ArrayLike, yd: ArrayLike, out: Vec | None = None) -> Vec:
        """F(t, y, yd)."""
        return self.at(t).residual(t, y, yd, out)

    def jacobian(self, t: float, y: ArrayLike, yd: ArrayLike, c: float, out: Mat | None = None) -> Mat:
        """dF/dy + c dF/dyd."""
        return self.at(t).jacobian(t, y, yd, c, out)

    def sparse_jacobian(self, t: float, y: ArrayLike, yd: ArrayLike, c: float, out: Vec | None = None) -> csc_matrix:
        """The same, with the pattern of the selection of time t."""
        return self.at(t).sparse_jacobian(t, y, yd, c, out)

    def rhs(self, t: float, y: ArrayLike, out: Vec | None = None) -> Vec:
        """f(t, y)."""
        return self.at(t).rhs(t, y, out)

    def rhs_jacobian(self, t: float, y: ArrayLike, out: Mat | None = None) -> Mat:
        """df/dy."""
        return self.at(t).rhs_jacobian(t, y, out)


@final
@dataclass(frozen=True, eq=False, repr=False)
class TimedInterpretation:
    """The k-th interpretation holds from the k-th change on, the first before."""

    parts: tuple[Interpretation, ...]
    changes: Changes

    def at(self, t: float) -> Interpretation:
        """The interpretation that holds at time t."""
        return self.parts[self.changes.number(_check.time("t", t))]

    @property
    def workspace(self) -> Workspace:
        """The workspace of the first selection."""
        return self.parts[0].workspace

    def _each(self, t: ArrayLike, y: ArrayLike, function: Callable[[Interpretation, Any, Any], Any]) -> Any:
        """function(interpretation, t, y), the rows of each segment by its own interpretation."""
        times, values, single = self.parts[0].rows(t, y)
        if single:
            return function(self.at(float(times[0])), t, y)
        found = [function(view, times[rows], values[rows]) for view, rows in self._segments(times)]
        return joined(found) if found else function(self.parts[0], times, values)

    def _numbers(self, times: Vec) -> Ints:
        """To which part each time belongs."""
        out = self.changes.numbers(times)
        ways = np.diff(out)
        if np.any(ways < 0) and np.any(ways > 0):
            raise ValueError("the times of a run that changed its selection must rise or fall; sort them")
        return out

    def _segments(self, times: Vec) -> list[tuple[Interpretation, slice]]:
        """The parts that times belong to, with their rows."""
        numbers = self._numbers(times)
        ends = np.flatnonzero(np.diff(numbers)) + 1
        bounds = [0, *ends.tolist(), len(numbers)] if len(numbers) else []
        return [(self.parts[numbers[a]], slice(a, b)) for a, b in pairwise(bounds)]

    def natural(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """Natural coordinates and their rates (..., bodies, 24)."""
        out: Mat = self._each(t, y, lambda view, t, y: view.natural(t, y))
        return out

    def natural_forces(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """(fx, fd) of every body (..., bodies, 12)."""
        out: Mat = self._each(t, y, lambda view, t, y: view.natural_forces(t, y))
        return out

    def states(self, t: ArrayLike, y: ArrayLike) -> dict[str, BodyState]:
        """Motion of every body by name."""
        times, values, single = self.parts[0].rows(t, y)
        if single:
            return self.at(float(times[0])).states(t, y)
        self._numbers(times)  # refuses times that fall
        source = ManyStates(self, times.copy(), values.copy())
        return {name: source.state(b) for b, name in enumerate(self.parts[0].model.names)}

    def of_bodies(self, t: Vec, y: Mat, what: str) -> Mat:
        """A field of `BodyState` of all bodies, (bodies, m, 3)."""
        found = [view.reader.of_bodies(t[rows], y[rows], what) for view, rows in self._segments(t)]
        return np.concatenate(found, axis=1) if found else self.parts[0].reader.of_bodies(t, y, what)

    def energy(self, t: ArrayLike, y: ArrayLike) -> Energy:
        """Kinetic, potential and total energy."""
        out: Energy = self._each(t, y, lambda view, t, y: view.energy(t, y))
        return out

    def momentum(self, t: ArrayLike, y: ArrayLike) -> Momentum:
        """Linear and angular momentum of the system."""
        out: Momentum = self._each(t, y, lambda view, t, y: view.momentum(t, y))
        return out

    def constraints(self, t: ArrayLike, y: ArrayLike) -> Constraints:
        """g and gdot."""
        out: Constraints = self._each(t, y, lambda view, t, y: view.constraints(t, y))
        return out

    def joint_matrix(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """G of all joint rows."""
        out: Mat = self._each(t, y, lambda view, t, y: view.joint_matrix(t, y))
        return out

    def log_determinant(self, t: ArrayLike, y: ArrayLike) -> Vec:
        """Logarithm of the product of the singular values of the kept joint rows."""
        out: Vec = self._each(t, y, lambda view, t, y: view.log_determinant(t, y))
        return out

    def pivots(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """Pivots of the kept joint rows over their floors."""
        out: Mat = self._each(t, y, lambda view, t, y: view.pivots(t, y))
        return out

    def null_space(self, t: float, y: Vec) -> tuple[Vec, Mat]:
        """w and T at one state."""
        return self.at(t).null_space(t, y)

    def distance_to_singularity(self, t: float, y: Vec) -> tuple[float, int]:
        """The smallest angle to a singular set of a chart at one state, and whose it is."""
        return self.at(t).distance_to_singularity(t, y)

    def matrices(self, t: float, y: Vec, sparse: bool | None = None) -> Matrices:
        """The equations' matrices at one state."""
        return self.at(t).matrices(t, y, sparse)

    def rates(self, t: ArrayLike, y: ArrayLike) -> tuple[Mat, Mat]:
        """Consistent rates and multipliers, by elimination."""
        out: tuple[Mat, Mat] = self._each(t, y, lambda view, t, y: view.rates(t, y))
        return out

    def multipliers(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """Multipliers, by elimination."""
        out: Mat = self._each(t, y, lambda view, t, y: view.multipliers(t, y))
        return out

    def run_multipliers(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """The multipliers among the unknowns."""
        out: Mat = self._each(t, y, lambda view, t, y: view.run_multipliers(t, y))
        return out

    def reactions(self, t: ArrayLike, y: ArrayLike) -> dict[str, dict[str, Reaction]]:
        """Force and torque of each joint on each of its bodies."""
        out: dict[str, dict[str, Reaction]] = self._each(t, y, lambda view, t, y: view.reactions(t, y))
        return out


__all__ = ["Changes", "TimedEquations", "TimedInterpretation"]
