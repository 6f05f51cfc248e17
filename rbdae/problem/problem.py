"""A system in one formulation and rotation: residual, right-hand side, Jacobians, and what a state means."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, final

import numpy as np

from rbdae._arrays import ArrayLike, Bools, Ints, Mat, Vec
from rbdae.formulations import null_space
from rbdae.formulations.base import Formulation, Kind
from rbdae.initial.assembly import Assembly
from rbdae.kernels import outputs
from rbdae.kernels.linear.schur import SUSPENDED
from rbdae.kernels.log_determinant import log_determinant
from rbdae.kernels.projection import project as project_kernel
from rbdae.multibody.constraint_matrix import SINGULAR, gradient, minimum_norm, redundant_rows
from rbdae.multibody.model import Model
from rbdae.multibody.workspace import Workspace
from rbdae.problem import quantities
from rbdae.problem.labels import labels
from rbdae.problem.projection import Projection, ProjectionError, Projector
from rbdae.problem.quantities import BodyState, Constraints, Energy, Momentum, Reaction
from rbdae.rotations import Chart
from rbdae.solving.switches.velocities import LIMIT, Gauges, Measure, measure

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix


@final
@dataclass(frozen=True, slots=True)
class Layout:
    """Where positions, velocities (or momenta, or quasi-velocities), multipliers and those of the kinematic correction
    (`mu`, of `ggl` and `hiller-anantharaman`) are in y."""

    q: slice
    v: slice
    la: slice
    mu: slice


@final
class Callbacks:
    """The bare kernels: in place, nothing checked, nothing returned; compiled, or loaded, when first asked for.

    Arrays must be float64, vectors contiguous (read-only inputs are fine); matrices may have any content and any
    positive strides (kernels trust them: with negative ones they write beyond the array).
    `rhs(t, y, out)` and `rhs_jacobian(t, y, out)` are for ODE kinds only. `jacobian_data(t, y, yd, c, data)` fills CSC
    data in the order of `Problem.sparsity`.
    """

    def __init__(self, formulation: Formulation, workspace: Workspace, pattern: Callable[[], Any]) -> None:
        self._formulation = formulation
        self._workspace = workspace
        self._pattern = pattern

    @cached_property
    def residual(self) -> Callable[[float, Vec, Vec, Vec], None]:
        """residual(t, y, yd, out)."""
        return self._workspace.compiled(self._formulation.residual)

    @cached_property
    def jacobian(self) -> Callable[[float, Vec, Vec, float, Mat], None]:
        """jacobian(t, y, yd, c, out)."""
        if not self._formulation.has_multipliers:  # then its Jacobian is a dense one
            self._workspace.make_wide()
        return self._workspace.compiled(self._formulation.jacobian)

    @cached_property
    def jacobian_data(self) -> Callable[[float, Vec, Vec, float, Vec], None]:
        """jacobian_data(t, y, yd, c, data)."""
        self._pattern()
        jacobian = self.jacobian

        def fill(t: float, y: Vec, yd: Vec, c: float, data: Vec) -> None:
            jacobian(t, y, yd, c, data.reshape(1, -1))

        return fill

    @cached_property
    def rhs(self) -> Callable[[float, Vec, Vec], None]:
        """rhs(t, y, out)."""
        if self._formulation.kind != "ode":
            raise AttributeError(_no_rhs(self._formulation.name))
        return self._workspace.compiled(self._formulation.rhs)

    @cached_property
    def rhs_jacobian(self) -> Callable[[float, Vec, Mat], None]:
        """rhs_jacobian(t, y, out)."""
        if self._formulation.rhs_jacobian is None:
            raise AttributeError(_no_rhs(self._formulation.name))
        self._workspace.make_wide()
        return self._workspace.compiled(self._formulation.rhs_jacobian)

    @cached_property
    def project(self) -> Callable[[float, Vec, Vec], None]:
        """project(t, y, info), see `rbdae.kernels.projection`."""
        return self._workspace.compiled(project_kernel)


def _no_rhs(name: str) -> str:
    return f"{name} is a DAE and has no right-hand side; choose index-0, null-space or hamiltonian-eliminated for one"


@final
class Problem:
    """Residual F(t, y, yd) = 0 (and yd = f(t, y) for ODE kinds) of a system, with analytic Jacobians.

    Made by `rbdae.formulate`. Not thread-safe: the kernels share one working memory; make one problem per thread.

    Attributes
    ----------
    n, n_equations : int
        Unknowns, and equations, which are more for the overdetermined forms.
    labels : list of str
    kind : ``"ode"``, ``"dae"`` or ``"overdetermined"``
    index : int
        Differentiation index; 1 for a DAE formulation of a system that leaves no constraint in it.
    formulation, rotation, velocity : str
    t0, y0, yd0 : consistent initial values
    layout : Layout
    differential : (n,) bool
        False where yd does not appear: the multipliers.
    variable_index : (n,) int
        Hairer's classes 1, 2, 3 of DAE unknowns; 0 for ODE kinds and where there is no constraint to differentiate.
    callbacks : Callbacks
    assembly : Assembly or None
        What was moved to close the joints; None where the sparse projection was enough.
    redundant : names of the joint equations that are left out because they follow from the others
    """

    def __init__(
        self,
        model: Model,
        formulation: Formulation,
        chart: Chart,
        velocity: str,
        workspace: Workspace,
        t0: float,
    ) -> None:
        self.model = model
        self.system = model.system
        self._formulation = formulation
        self._chart = chart
        self.formulation = formulation.name
        self.rotation = chart.name
        self.velocity = velocity
        self._workspace = workspace
        sizes = workspace.sizes()
        self._sizes = sizes
        n_q = sizes["n_q"]
        n_v = sizes["n_nu"] if formulation.reduced else sizes["n_v"]
        n_la = sizes["n_la"] if formulation.has_multipliers else 0
        n_mu = n_la if formulation.corrected else 0
        n = n_q + n_v
        self.layout = Layout(slice(0, n_q), slice(n_q, n), slice(n, n + n_la), slice(n + n_la, n + n_la + n_mu))
        self.n: int = n + n_la + n_mu
        self._n_constraints = model.n * len(chart.internal) + sizes["n_rows"]
        invariants = self._n_constraints if formulation.reduced else sizes["n_la"]
        self.n_equations: int = self.n + len(formulation.extra) * invariants
        self.kind: Kind = formulation.kind
        self.index = 1 if formulation.kind == "dae" and n_la == 0 else formulation.index
        self.t0 = t0
        self.y0: Vec = np.zeros(self.n)
        self.yd0: Vec = np.zeros(self.n)
        settings = workspace.settings
        self.labels = labels(
            model,
            formulation,
            chart,
            velocity,
            workspace.order,
            n_v if settings.gauge is not None else None,
            settings.branches,
        )
        self.differential: Bools = np.ones(self.n, dtype=bool)
        if not formulation.integral:
            self.differential[n:] = False
        self.variable_index: Ints = np.zeros(self.n, dtype=np.int64)
        if self.index > 0:
            self.variable_index[:] = 1
            self.variable_index[self.layout.v] = max(1, self.index - 1)
            self.variable_index[n:] = self.index
        gauge = workspace.settings.gauge
        self._gauges = Gauges(gauge) if gauge is not None else None
        self.assembly: Assembly | None = None
        self._pattern: csc_matrix | None = None
        self.callbacks = Callbacks(formulation, workspace, lambda: self.sparsity)

    @property
    def redundant(self) -> tuple[str, ...]:
        """Names of the joint equations that are left out because they follow from the others."""
        return tuple(self.joint_row(k) for k in self._workspace.settings.dropped)

    @property
    def dropped(self) -> tuple[int, ...]:
        """The joint rows that are left out at present; `solve` may have to choose others (`rbdae.solving.switches.rows`)."""
        return self._workspace.dropped

    def drop(self, rows: tuple[int, ...]) -> None:
        """Leave other joint rows out, as many as before."""
        if rows != self.dropped:
            self._workspace.drop(rows)
            self._pattern = None

    @property
    def guarded(self) -> bool:
        """Whether joint equations are left out for the moment near singular positions (`rbdae.solving.switches.rows`)."""
        return bool(self._workspace.smallest.any())

    def guard(self, fraction: float, t: float, y: Vec) -> None:
        """Leave joint equations out for the moment wherever their pivots, the squares of sines between their gradient
        and those of the others, have fallen to this fraction of what they are at (t, y); 0 for never."""
        if fraction > 0.0:
            self._workspace.guard(0.0)
            self._explicit_kernel(t, y, np.empty(self.layout.v.stop + self._sizes["n_la"]))
        self._workspace.guard(fraction)

    def pivots(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """Pivots of the kept joint equations at states, over those below which an equation is left out; for guarded
        problems. Those of equations that are left out are 0."""
        least = self._workspace.smallest
        kept = least > 0.0
        n = self.layout.v.stop + self._sizes["n_la"]

        def kernel(time: float, row: Vec, out: Vec) -> None:
            self._explicit_kernel(time, row, np.empty(n))
            found = self._workspace.pivots[kept]
            out[:] = np.where(found >= SUSPENDED, 0.0, found / least[kept])

        return self._each(kernel, t, y, int(np.count_nonzero(kept)))

    def with_dropped(self, rows: tuple[int, ...], t: float, y: Vec) -> Problem:
        """This problem from (t, y) on with other rows left out; the two share their working memory.

        The state is projected: rows that are taken up have drifted more than those that the solver kept, and a code
        that keeps them from now on would have to correct them within one step, whatever its error test says.
        """
        self.drop(rows)
        out = copy.copy(self)
        out._pattern = None
        out.callbacks = Callbacks(self._formulation, self._workspace, lambda: out.sparsity)
        out.t0, out.y0, out.yd0 = t, y.copy(), np.zeros(self.n)
        Projector(Projection(), self)(t, out.y0)
        if self.guarded:
            self.guard(SINGULAR, t, y)
        n = self.layout.v.stop
        values = np.empty(n + self._sizes["n_la"])
        self._explicit_kernel(t, out.y0, values)
        out.yd0[:n] = values[:n]
        if self._formulation.integral:
            out.yd0[self.layout.la] = values[n:]
        elif self._formulation.has_multipliers:
            out.y0[self.layout.la] = values[n:]
            out.y0[self.layout.mu] = 0.0
        return out

    def __repr__(self) -> str:
        return (
            f"Problem({self.formulation}, rotation={self.rotation!r}, velocity={self.velocity!r}, n={self.n}, "
            f"kind={self.kind!r}, index={self.index})"
        )

    # ------------------------------------------------------------ equations

    def _vector(self, name: str, value: ArrayLike) -> Vec:
        out = np.ascontiguousarray(value, dtype=np.float64)
        if out.shape != (self.n,):
            raise ValueError(f"{name} has shape {out.shape}; this problem has {self.n} unknowns, give ({self.n},)")
        return out

    def _out(self, out: Any, shape: tuple[int, ...]) -> Any:
        if out is None:
            return np.empty(shape)
        if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape or not out.flags.writeable:
            raise ValueError(f"out must be a writable float64 array of shape {shape}, got {_describe(out)}")
        if out.ndim == 1 and not out.flags.c_contiguous:
            raise ValueError("out must be contiguous; give a copy")
        return out

    def residual(self, t: float, y: ArrayLike, yd: ArrayLike, out: Vec | None = None) -> Vec:
        """F(t, y, yd), shape (n_equations,), which is (n,) but for the overdetermined forms."""
        result: Vec = self._out(out, (self.n_equations,))
        with self._reading(t):
            self.callbacks.residual(t, self._vector("y", y), self._vector("yd", yd), result)
        return result

    def jacobian(self, t: float, y: ArrayLike, yd: ArrayLike, c: float, out: Mat | None = None) -> Mat:
        """dF/dy + c dF/dyd, shape (n_equations, n); `out` may have any strides."""
        result: Mat = self._out(out, (self.n_equations, self.n))
        target = _addressable(result)
        with self._reading(t):
            self.callbacks.jacobian(t, self._vector("y", y), self._vector("yd", yd), c, target)
        if target is not result:
            result[:] = target
        return result

    @property
    def sparsity(self) -> csc_matrix:
        """Pattern of dF/dy + c dF/dyd as a CSC matrix of ones, recorded from the Jacobian's own kernel."""
        if self._pattern is None:
            self._pattern = self._make_pattern()
        return self._pattern

    def _make_pattern(self) -> csc_matrix:
        from scipy.sparse import csc_matrix

        if not self._formulation.has_multipliers:  # then its Jacobian is a dense one
            self._workspace.make_wide()
        blocks = self._workspace.record(self._formulation.jacobian, self.y0, self.yd0)
        row, column, n_rows, n_columns = blocks.T
        # every column of every block, then every entry
        block_of = np.repeat(np.arange(len(blocks)), n_columns)
        columns = column[block_of] + np.arange(len(block_of)) - np.repeat(np.cumsum(n_columns) - n_columns, n_columns)
        entry_of = np.repeat(np.arange(len(block_of)), n_rows[block_of])
        inside = np.arange(len(entry_of)) - np.repeat(np.cumsum(n_rows[block_of]) - n_rows[block_of], n_rows[block_of])
        m = self.n_equations
        keys = columns[entry_of] * m + row[block_of][entry_of] + inside
        unique = np.unique(keys)
        indptr = np.searchsorted(unique, np.arange(self.n + 1) * m)
        self._workspace.set_starts(np.searchsorted(unique, columns * m + row[block_of]))
        return csc_matrix((np.ones(len(unique)), unique % m, indptr), shape=(m, self.n))

    def sparse_jacobian(self, t: float, y: ArrayLike, yd: ArrayLike, c: float, out: Vec | None = None) -> csc_matrix:
        """dF/dy + c dF/dyd as a CSC matrix with the pattern of `sparsity`; `out` receives its data, (nnz,)."""
        from scipy.sparse import csc_matrix

        pattern = self.sparsity
        data = self._out(out, (pattern.nnz,))
        with self._reading(t):
            self.callbacks.jacobian_data(t, self._vector("y", y), self._vector("yd", yd), c, data)
        return csc_matrix((data, pattern.indices, pattern.indptr), shape=pattern.shape)

    def rhs(self, t: float, y: ArrayLike, out: Vec | None = None) -> Vec:
        """f(t, y) with yd = f, shape (n,); ODE kinds only."""
        result: Vec = self._out(out, (self.n,))
        with self._reading(t):
            self.callbacks.rhs(t, self._vector("y", y), result)
        return result

    def rhs_jacobian(self, t: float, y: ArrayLike, out: Mat | None = None) -> Mat:
        """df/dy, shape (n, n); ODE kinds only."""
        result: Mat = self._out(out, (self.n, self.n))
        target = _addressable(result)
        with self._reading(t):
            self.callbacks.rhs_jacobian(t, self._vector("y", y), target)
        if target is not result:
            result[:] = target
        return result

    # ------------------------------------------------------------ what a state means

    def _rows(self, t: ArrayLike, y: ArrayLike) -> tuple[Vec, Mat, bool]:
        times = np.asarray(t, dtype=float)
        values = np.asarray(y, dtype=float)
        if times.ndim > 1 or values.shape != (*times.shape, self.n):
            raise ValueError(
                f"t has shape {times.shape} and y {values.shape}; "
                f"give a time and ({self.n},), or (m,) and (m, {self.n})"
            )
        return np.atleast_1d(times), np.ascontiguousarray(np.atleast_2d(values)), times.ndim == 0

    def _each(self, kernel: Callable[..., None], t: ArrayLike, y: ArrayLike, n: int) -> Mat:
        """kernel(t, y, out) on every row, out of length n."""
        times, values, single = self._rows(t, y)
        out = np.empty((len(times), n))
        for time, row, result in zip(times, values, out, strict=True):
            with self._reading(time):
                kernel(time, row, result)
        return out[0] if single else out

    @cached_property
    def _natural_kernel(self) -> Callable[..., None]:
        return self._workspace.compiled(outputs.natural)

    @cached_property
    def _constraint_kernel(self) -> Callable[..., None]:
        return self._workspace.compiled(outputs.constraints)

    def joint_volumes(self, t: ArrayLike, y: ArrayLike) -> Vec:
        """Logarithm of the product of the singular values of the joints' matrix in the mass metric, without the rows
        that are left out: it falls steeply at singular positions; -inf in them. Vectorised over rows of y."""
        return np.asarray(self._each(self._volume_kernel, t, y, 1)[..., 0])

    @cached_property
    def _volume_kernel(self) -> Callable[..., None]:
        return self._workspace.compiled(log_determinant)

    @cached_property
    def _explicit_kernel(self) -> Callable[..., None]:
        return self._workspace.compiled(self._formulation.rhs)

    def natural(self, t: ArrayLike, y: ArrayLike) -> Mat:
        """Natural coordinates and their rates, (x, d1, d2, d3, xdot, d1dot, ...), shape (..., bodies, 24).

        x is the centre of mass of a free body and the pivot of a body that has one; bodies in the order of addition.
        """
        Z = self._each(self._natural_kernel, t, y, 24 * self.model.n)
        return Z.reshape(*Z.shape[:-1], self.model.n, 24)[..., self._workspace.rank[: self.model.n], :]

    def states(self, t: ArrayLike, y: ArrayLike) -> dict[str, BodyState]:
        """Motion of every body by name; vectorised over rows of y."""
        return quantities.states(self.model, self.natural(t, y))

    def energy(self, t: ArrayLike, y: ArrayLike) -> Energy:
        """Kinetic, potential and total energy, J; the kinetic energy is that of the formulation's own velocities, with
        its own mass matrix, which differ where the state has drifted from the constraints."""
        return quantities.energy(self.model, self.natural(t, y), self._workspace.settings)

    def momentum(self, t: ArrayLike, y: ArrayLike) -> Momentum:
        """Linear momentum, and angular momentum about the origin of space."""
        return quantities.momentum(self.model, self.natural(t, y))

    def constraints(self, t: ArrayLike, y: ArrayLike) -> Constraints:
        """g and gdot: internal constraints of the chart, then joints."""
        out = self._each(self._constraint_kernel, t, y, 2 * self._n_constraints)
        return Constraints(out[..., : self._n_constraints], out[..., self._n_constraints :])

    def rates(self, t: ArrayLike, y: ArrayLike) -> tuple[Mat, Mat]:
        """Consistent yd (without multipliers) and multipliers at positions and velocities of y, by elimination."""
        n = self.layout.v.stop
        kernel = self._with_best_rows if self.dropped else self._explicit_kernel
        out = self._each(kernel, t, y, n + self._sizes["n_la"])
        return out[..., :n], out[..., n:]

    def _with_best_rows(self, t: float, y: Vec, out: Vec) -> None:
        """The explicit kernel with those rows left out that follow from the others at this state."""
        before = self.dropped
        Z = np.empty(24 * self.model.n)
        self._natural_kernel(t, y, Z)
        Z = Z.reshape(-1, 24)[self._workspace.rank[: self.model.n]]
        G = gradient(self.model, np.asarray(t), Z)
        rows = redundant_rows(self.model, G, prefer_trees=False, at_least=len(before))
        if len(rows) == len(before):
            self._workspace.drop(rows)
        try:
            self._explicit_kernel(t, y, out)
        finally:
            self._workspace.drop(before)

    def multipliers(self, t: ArrayLike, y: ArrayLike) -> Vec:
        """Multipliers: the unknowns of a DAE, or the eliminated ones (internal constraints of the velocities, joints).

        Null-space form: those of the joints. With redundant equations: those of least norm.
        """
        if self._formulation.has_multipliers and not self._formulation.integral:
            self._rows(t, y)
            la = np.array(np.asarray(y, dtype=float)[..., self.layout.la])
        else:
            la = np.array(self.rates(t, y)[1])
        if self._workspace.settings.dropped or self.guarded:
            G = gradient(self.model, np.asarray(t, dtype=float), self.natural(t, y))
            first = self._sizes["n_internal"]
            la[..., first:] = minimum_norm(G, la[..., first:], self._deficiency(t, y))[0]
        return la

    def _deficiency(self, t: ArrayLike, y: ArrayLike) -> Ints:
        """How many joint equations follow from the others, always or for the moment."""
        out = np.full(np.shape(t), len(self.dropped))
        return out + np.count_nonzero(self.pivots(t, y) == 0.0, axis=-1) if self.guarded else out

    def reactions(self, t: ArrayLike, y: ArrayLike) -> dict[str, dict[str, Reaction]]:
        """Force and torque of each joint on each of its bodies, ``[joint][body]``, spatial components; the torque
        about the joint's point on that body."""
        la = self.multipliers(t, y)[..., self._sizes["n_internal"] :]
        Z = self.natural(t, y)
        times = np.asarray(t, dtype=float)
        if not (self._workspace.settings.dropped or self.guarded):
            return quantities.reactions(self.model, times, Z, la)
        _, loose = minimum_norm(gradient(self.model, times, Z), la, self._deficiency(t, y))
        return quantities.reactions(self.model, times, Z, la, loose)

    # ------------------------------------------------------------ gauges

    @property
    def has_gauges(self) -> bool:
        """Whether nu are the quasi-velocities of a gauge, which `solve` may have to change (`rbdae.solving.switches.velocities`)."""
        return self._gauges is not None

    @contextmanager
    def _reading(self, t: float) -> Iterator[None]:
        """With the gauge that was valid at a time in the last run."""
        if self._gauges is None or not self._gauges.times:
            yield
            return
        before = self._workspace.gauge
        self._workspace.set_gauge(self._gauges.at(t).S)
        try:
            yield
        finally:
            self._workspace.set_gauge(before)

    @cached_property
    def _motion_kernel(self) -> Callable[..., None]:
        self._workspace.make_wide()
        return self._workspace.compiled(null_space.motion)

    @cached_property
    def _measure(self) -> Measure:
        return measure(self.model)

    def _present_motion(self, t: float, y: Vec) -> tuple[Vec, Mat]:
        """w and T."""
        n_v, n_nu = self._sizes["n_v"], self._sizes["n_nu"]
        out = np.empty(n_v + n_v * n_nu)
        self._motion_kernel(t, y, out)
        return out[:n_v], out[n_v:].reshape(n_v, n_nu)

    def _own_gauges(self) -> Gauges:
        if self._gauges is None:
            raise TypeError(f"{self!r} has no gauges")
        return self._gauges

    def begin_gauges(self) -> None:
        """A run begins: with the first gauge, that of `y0`."""
        self._own_gauges().reset()
        self.end_gauges()

    def end_gauges(self) -> None:
        """The callbacks are in the first gauge again."""
        self._workspace.set_gauge(self._own_gauges().gauges[0].S)

    def gauge_is_worn(self, t: float, y: Vec) -> bool:
        """Whether T has grown too much since the present gauge was chosen."""
        _, T = self._present_motion(t, y)
        present = self._own_gauges().gauges[-1]
        return bool(np.any(self._measure.sizes(T) > LIMIT * present.sizes))

    def in_new_gauge(self, t: float, y: Vec) -> Problem:
        """This problem from (t, y) on, in a gauge chosen there; the two share their gauges and working memory."""
        w, _ = self._present_motion(t, y)
        n_q = self.layout.q.stop
        metric = self._measure
        Z = np.empty(24 * self.model.n)
        self._natural_kernel(t, y, Z)
        G = gradient(self.model, np.asarray(t), Z.reshape(-1, 24))
        gauge = metric.choose(metric.columns(G), self._sizes["n_nu"])
        self._own_gauges().append(t, gauge)
        self._workspace.set_gauge(gauge.S)
        out = copy.copy(self)
        out.t0 = t
        out.y0 = np.concatenate([y[:n_q], gauge.S @ w])
        out.yd0 = np.empty(self.n)
        self._explicit_kernel(t, out.y0, out.yd0)
        return out

    def gauge_arrays(self) -> dict[str, Any]:
        """The gauges of the last run, for a file."""
        return self._own_gauges().arrays()

    def with_gauges(self, arrays: Mapping[str, Any]) -> Problem:
        """A copy that reads states by the gauges of a file; `y0` stays the state that it is."""
        return self._copy_in(Gauges.of(arrays))

    def with_own_gauges(self) -> Problem:
        """This problem, or where its last run has changed the gauge a copy, which later runs do not touch."""
        own = self._own_gauges()
        return self._copy_in(own.copy()) if own.times else self

    def _copy_in(self, gauges: Gauges) -> Problem:
        n_q = self.layout.q.stop
        w, _ = self._present_motion(self.t0, self.y0)
        out = copy.copy(self)
        for name in [name for name in out.__dict__ if name.endswith("_kernel")]:
            del out.__dict__[name]
        out._workspace = Workspace(self.model, replace(self._workspace.settings, gauge=gauges.gauges[0]))
        out._gauges = gauges
        out._pattern = None
        out.callbacks = Callbacks(out._formulation, out._workspace, lambda: out.sparsity)
        out.y0 = np.concatenate([self.y0[:n_q], gauges.gauges[0].S @ w])
        out.yd0 = np.empty(self.n)
        out._explicit_kernel(self.t0, out.y0, out.yd0)
        return out

    # ------------------------------------------------------------ projection

    def project(self, t: float, y: ArrayLike, projection: Projection | None = None) -> Vec:
        """A copy of y on the constraint manifold; multipliers are left as they are."""
        out = self._vector("y", y).copy()
        Projector(projection or Projection(), self)(t, out)
        return out

    def raise_projection_error(self, t: float, info: Vec) -> NoReturn:
        """Say why a projection failed."""
        if info[7] == -2.0:
            row = self._workspace.singular_row()
            name = self.joint_row(row - 1) if row else "a joint"
            raise ProjectionError(
                f"t = {t:g}: the constraints are redundant or singular, first at {name}; remove the redundant joint "
                "equation or move away from the singular position"
            )
        raise ProjectionError(
            f"t = {t:g}: Newton's method did not reach the constraint manifold (violation {info[5]:.3g} before); "
            "start closer to a consistent position, or raise max_iterations"
        )

    def joint_row(self, row: int) -> str:
        """Name of a joint equation, counted over all joints."""
        for joint in self.model.joints:
            n = sum(int(self.model.primitives[k]["n"]) for k in joint.primitives)
            if row < n:
                return f"joint {joint.name!r}, equation {row + 1} of {n}"
            row -= n
        raise IndexError(f"no joint row {row}")


def _addressable(matrix: Mat) -> Mat:
    """The matrix, or a fresh one where its strides are not those of whole numbers forwards: kernels would write
    elsewhere."""
    return matrix if all(s > 0 and s % 8 == 0 for s in matrix.strides) else np.empty(matrix.shape)


def _describe(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return type(value).__name__
