"""Residual and right-hand side of a model in one formulation, for one selection: pure functions of their arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Bools, Ints, Mat, Vec
from rbdae.formulations.base import Kind
from rbdae.inputs import values_of
from rbdae.machine.entries_on_disk import bytes_from_cache
from rbdae.multibody.contents import pattern_on_disk
from rbdae.multibody.jacobian_pattern import BlockPattern, jacobian_pattern
from rbdae.multibody.layout import Layout
from rbdae.multibody.parameter_tangents import ParameterTangents
from rbdae.multibody.recording import own_constants, selected
from rbdae.multibody.traced import shared
from rbdae.multibody.workspace import Workspace
from rbdae.problem.callbacks import Callbacks
from rbdae.problem.driven import derivative_by_inputs, inputs_of, places_of, present

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix


Inputs: TypeAlias = Mapping[str, float] | ArrayLike | None
"""Values of inputs: by name, or in the order of `rbdae.System.add_input`; None for those of the problem."""


class Equations(ABC):
    """F(t, y, yd) = 0, and yd = f(t, y) for ODE kinds: the part of a problem that evaluates them."""

    _regular: Vec
    """A regular state (n,): the sparsity pattern is recorded there."""

    @property
    @abstractmethod
    def workspace(self) -> Workspace:
        """The memory that the kernels work on."""

    @abstractmethod
    def _at(self, t: float) -> Self:
        """The problem whose selection holds at time t."""

    @property
    def layout(self) -> Layout:
        """The places of the unknowns: slices q, v, s, la, mu of y."""
        return self.workspace.layout

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return self.layout.n

    @cached_property
    def n_equations(self) -> int:
        """Number of equations, which are more than unknowns for the overdetermined forms."""
        return self.workspace.n_equations

    @property
    def kind(self) -> Kind:
        """``"ode"``, ``"dae"`` or ``"overdetermined"``."""
        return self.workspace.settings.formulation.kind

    @property
    def index(self) -> int:
        """Differentiation index; 1 for a DAE formulation of a system that leaves no constraint in it."""
        if self.kind == "dae" and self.layout.mu.stop == self.layout.la.start:
            return 1
        return self.workspace.settings.formulation.index

    @cached_property
    def differential(self) -> Bools:
        """(n,) False where yd does not appear: the multipliers, and algebraic unknowns of forces."""
        out = np.ones(self.n, dtype=bool)
        if self.workspace.settings.formulation.unknown_multipliers == "values":
            out[self.layout.n_differential :] = False
        out[self.algebraic] = False
        return out

    @cached_property
    def variable_index(self) -> Ints:
        """(n,) Hairer's classes 1, 2, 3 of DAE unknowns; 0 for ODE kinds, and without a constraint to differentiate."""
        out = np.zeros(self.n, dtype=np.int64)
        if self.index > 0:
            out[:] = 1
            out[self.layout.v] = max(1, self.index - 1)
            out[self.layout.n_differential :] = self.index
            out[self.algebraic] = 1
        return out

    @cached_property
    def algebraic(self) -> Bools:
        """(n,) True for algebraic unknowns of forces: z of their equations 0 = g. Multipliers are none."""
        out = np.zeros(self.n, dtype=bool)
        out[self.layout.s] = self.workspace.memory.filled.like.forces.algebraic
        return out

    @cached_property
    def callbacks(self) -> Callbacks:
        """The bare kernels; factors choose their pivots near the start."""
        return Callbacks(self)

    # ------------------------------------------------------------ checked evaluations

    def residual(self, t: float, y: ArrayLike, yd: ArrayLike, out: Vec | None = None, *, u: Inputs = None) -> Vec:
        """F(t, y, yd), shape (n_equations,), which is (n,) but for the overdetermined forms. Like all that follow, it
        takes values `u` of the inputs: by name, or an array in the order of `inputs`; without them it has its own.

        For ODE kinds F = yd - f(t, y), but for `null-space`: the rows of its nu are T^T (M vdot - psi), [NS] (7), so
        that F = E (yd - f) with E = T^T M T in these rows (``matrices(t, y)``) and the identity in the others.
        """
        here = self._under("residual", t, u)
        result: Vec = array_for(out, (here.n_equations,))
        y, yd = self._apart("y", y, out), self._apart("yd", yd, out)
        here.callbacks.residual(_check.time("residual", t), y, yd, result)
        return result

    def jacobian(
        self, t: float, y: ArrayLike, yd: ArrayLike, c: float, out: Mat | None = None, *, u: Inputs = None
    ) -> Mat:
        """dF/dy + c dF/dyd, shape (n_equations, n); `out` may have any strides."""
        here = self._under("jacobian", t, u)
        t, c = _check.time("jacobian", t), _check.number("jacobian", "c", c)
        y, yd = self._apart("y", y, out), self._apart("yd", yd, out)
        return filled(out, (here.n_equations, self.n), lambda into: here.callbacks.jacobian(t, y, yd, c, into))

    def sparse_jacobian(
        self, t: float, y: ArrayLike, yd: ArrayLike, c: float, out: Vec | None = None, *, u: Inputs = None
    ) -> csc_matrix:
        """dF/dy + c dF/dyd as a CSC matrix with the pattern of `sparsity`; `out` receives its data, (nnz,)."""
        from scipy.sparse import csc_matrix

        here = self._under("sparse_jacobian", t, u)
        pattern = here.sparsity
        data = array_for(out, (pattern.nnz,))
        t, c = _check.time("sparse_jacobian", t), _check.number("sparse_jacobian", "c", c)
        here.callbacks.jacobian_data(t, self._apart("y", y, out), self._apart("yd", yd, out), c, data)
        return csc_matrix((data, pattern.indices, pattern.indptr), shape=pattern.shape)

    def rhs(self, t: float, y: ArrayLike, out: Vec | None = None, *, u: Inputs = None) -> Vec:
        """f(t, y) with yd = f, shape (n,); ODE kinds only."""
        result: Vec = array_for(out, (self.n,))
        self._under("rhs", t, u).callbacks.rhs(_check.time("rhs", t), self._apart("y", y, out), result)
        return result

    def rhs_jacobian(self, t: float, y: ArrayLike, out: Mat | None = None, *, u: Inputs = None) -> Mat:
        """df/dy, shape (n, n); ODE kinds only."""
        here = self._under("rhs_jacobian", t, u)
        t, y = _check.time("rhs_jacobian", t), self._apart("y", y, out)
        return filled(out, (self.n, self.n), lambda into: here.callbacks.rhs_jacobian(t, y, into))

    @property
    @abstractmethod
    def _driven(self) -> Self:
        """The same equations on a workspace of their own, whose inputs are written in place."""

    def _under(self, owner: str, t: float, u: Inputs) -> Self:
        """The equations at time t with these inputs, or with their own."""
        here = self._at(t)
        if u is None:
            return here
        here._driven.workspace.write_inputs(values_of(owner, here._places, u, present(here.workspace)))
        return here._driven

    @cached_property
    def _places(self) -> dict[str, int]:
        return places_of(self.workspace)

    @property
    def inputs(self) -> Mapping[str, float]:
        """The values of the inputs by name, in the order of `rbdae.System.add_input`, read only; without those that are
        functions of the time."""
        named = [each.name for each in inputs_of(self.workspace)]
        return MappingProxyType(dict(zip(named, present(self.workspace).tolist(), strict=True)))

    @cached_property
    def _residual_by_inputs(self) -> Callable[..., None]:
        return derivative_by_inputs(self.workspace, self.n_equations, explicit=False)

    @cached_property
    def _rhs_by_inputs(self) -> Callable[..., None]:
        return derivative_by_inputs(self.workspace, self.n, explicit=True)

    def input_jacobian(
        self,
        t: float,
        y: ArrayLike,
        yd: ArrayLike | None = None,
        out: Mat | None = None,
        *,
        u: Inputs = None,
    ) -> Mat:
        """dF/du, shape (n_equations, n_u), at fixed unknowns, with u in the order of `inputs`; without yd that of the
        right-hand side, df/du, (n, n_u), for ODE kinds only. It is derived from what is recorded, exactly."""
        here = self._under("input_jacobian", t, u)
        if yd is None:
            here.callbacks._explicit()
        t, y = _check.time("input_jacobian", t), self._apart("y", y, out)
        if yd is None:
            return filled(out, (self.n, len(self.inputs)), lambda into: here._rhs_by_inputs(t, y, into))
        yd = self._apart("yd", yd, out)
        return filled(out, (here.n_equations, len(self.inputs)), lambda into: here._residual_by_inputs(t, y, yd, into))

    @cached_property
    def _parameter_tangents(self) -> ParameterTangents:
        """Derivatives with respect to numbers of the system."""
        return ParameterTangents(self.workspace, self.n_equations)

    def parameter_jacobian(self, t: float, y: ArrayLike, yd: ArrayLike, names: Sequence[str]) -> Mat:
        """dF/dp at fixed unknowns, shape (n_equations, len(names)): p are numbers by name, such as "a.mass",
        "a.inertia.xy", "spring-1.stiffness" or "gravity.z" (all of them: `parameters`).

        In SI units; F is that of `residual`, which is not yd - f for `null-space`. Inertias are about the points that
        they were given about, and x in y is where the centre of mass is, wherever it is in the body. Each name is
        recorded when it is first asked for.

        Raises
        ------
        ValueError
            for a name that is unknown, and where F depends on p through a function of the user
        """
        tangents = self._at(t)._parameter_tangents
        t = _check_parameters("parameter_jacobian", t, names)
        return tangents.matrix(t, self._vector("y", y), self._vector("yd", yd), names)

    def rhs_parameter_jacobian(self, t: float, y: ArrayLike, names: Sequence[str]) -> Mat:
        """df/dp at fixed unknowns, shape (n, len(names)), with the names, units and errors of `parameter_jacobian`;
        ODE kinds only. Sensitivities s = dy/dp follow from sdot = (df/dy) s + df/dp."""
        here = self._at(t)
        t = _check_parameters("rhs_parameter_jacobian", t, names)
        here.callbacks._explicit()
        return here._parameter_tangents.matrix(t, self._vector("y", y), None, names)

    def _vector(self, name: str, value: ArrayLike) -> Vec:
        """`value` as kernels take it; refuses another shape than (n,)."""
        return _check.real(f"{name}, the {self.n} unknowns of this problem or their rates,", value, (self.n,))

    def _apart(self, name: str, value: ArrayLike, out: Vec | Mat | None) -> Vec:
        """The same, in other memory than `out`: results may be stored before all unknowns are read."""
        values = self._vector(name, value)
        return values if out is None or not np.may_share_memory(values, out) else values.copy()

    # ------------------------------------------------------------ the pattern

    @cached_property
    def sparsity(self) -> csc_matrix:
        """Pattern of dF/dy + c dF/dyd as a CSC matrix of ones: the entries that are not zero whatever the state. Its
        `indices` and `indptr` are int32."""
        from scipy.sparse import csc_matrix

        pattern = self._block_pattern
        ones = np.ones(len(pattern.indices))
        shape = self.n_equations, self.n
        return csc_matrix((ones, pattern.indices, pattern.pointers), shape=shape, copy=True)  # others have it, too

    @cached_property
    def _block_pattern(self) -> BlockPattern:
        """The same as compressed columns; other selections have it, too, unless they drop other rows."""
        workspace, known = self.workspace, self.workspace.memory.recorded  # other numbers may have other zeros
        key = ("pattern", workspace.selection.rows.dropped, tuple(selected(workspace)))
        if key not in known:
            known[key] = self._found_pattern((*key, own_constants(workspace)))
        found: BlockPattern = known[key]
        return found

    def _found_pattern(self, key: tuple[Any, ...]) -> BlockPattern:
        workspace, n_equations = self.workspace, self.n_equations

        def find() -> BlockPattern:
            return jacobian_pattern(workspace, n_equations)

        def kept() -> BlockPattern:
            """From the cache on disk, if the structure of the Jacobian is known there."""
            known = pattern_on_disk(workspace, workspace.settings.kernels.jacobian.name)
            if known is None:
                return find()
            return BlockPattern.from_bytes(bytes_from_cache(("pattern", known), lambda: find().to_bytes()))

        if workspace.code_calls_python:
            return find()
        return shared(workspace, key, kept) if workspace.memory.traced else kept()


def _check_parameters(owner: str, t: float, names: Sequence[str]) -> float:
    """The time; refuses what is no list of names."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{owner}: names must be a list of names, got {_check.show(names)}")
    return _check.time(owner, t)


def array_for(out: Any, shape: tuple[int, ...]) -> Any:
    """`out` for a result of this shape, or a fresh array for None; raises ValueError for one that does not fit."""
    if out is None:
        return np.empty(shape)
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape or not out.flags.writeable:
        raise ValueError(f"out must be a writable float64 array of shape {shape}, got {_describe(out)}")
    if out.ndim == 1 and not (out.flags.c_contiguous and out.flags.aligned):
        raise ValueError("out must be contiguous and aligned; give a copy")
    return out


def filled(out: Mat | None, shape: tuple[int, int], fill: Callable[[Mat], None]) -> Mat:
    """The matrix of this shape that `fill` writes, in `out` if it is given. Where its strides are not those of whole
    numbers forwards, kernels would write elsewhere: they get a fresh one."""
    result: Mat = array_for(out, shape)
    if not result.size:
        return result
    if result.flags.aligned and all(s > 0 and s % 8 == 0 for s in result.strides):
        fill(result)
    else:
        fill(fresh := np.empty(shape))
        result[:] = fresh
    return result


def _describe(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return type(value).__name__


# ------------------------------------------------------------ with a constant mass matrix


@final
@dataclass(frozen=True, eq=False, repr=False)
class ConstantMass:
    """The equations of a problem as A u' = f(t, u), [NS] (13), with a constant diagonal A of ones and zeros: for codes
    that take a mass matrix.

    u = (q, v, s, w, la, mu): the unknowns y of the problem, and w = vdot between those that have rates and those that
    have none. Nothing is solved for:

        qdot = K v    (with `ggl`: K (v - G^T mu)),    vdot = w,    sdot = f_s
        0 = M w - psi + G^T la,    0 = the constraints

    Positions and internal states stand alone in their rows of F(t, y, yd), so that these are explicit already. With
    integrals of multipliers u = (q, v, s, w, integrals), and w has the rates of these as well. Forms whose residual is
    yd - f(t, y) have u = y and A = I.

    Attributes
    ----------
    problem : the equations
    t0, u0 : a consistent start, u0 of shape (n,)
    w : slice, the place of w in u

    Examples
    --------
    RADAU5 (``radau5.f``) takes the right-hand side as FCN and its Jacobian as JAC, the diagonal as MAS with
    IMAS = 1 and MLMAS = MUMAS = 0, and the numbers of unknowns of class 1, 2 and 3 as IWORK(5), IWORK(6), IWORK(7):
    it wants them in this order, so permute u by ``numpy.argsort(variable_index, kind="stable")``.
    """

    problem: Equations
    t0: float
    u0: Vec
    w: slice
    _rates: Ints  # the unknowns whose rates are w

    @classmethod
    def of(cls, problem: Equations, t0: float, y0: Vec, yd0: Vec) -> ConstantMass:
        """The equations with a consistent start. Raises ValueError for an overdetermined form."""
        if problem.kind == "overdetermined":
            raise ValueError(
                f"with_constant_mass: {problem.workspace.settings.formulation} has more equations than unknowns, which "
                "no mass matrix holds; choose another formulation, such as 'index-1' or 'ggl'"
            )
        layout, rates = problem.layout, np.arange(0)
        if problem.kind != "ode" or problem.workspace.settings.reduced:
            rates = np.arange(layout.v.start, layout.v.stop)
            if problem.differential.all():
                rates = np.append(rates, np.arange(layout.la.start, layout.mu.stop))
        w = slice(layout.s.stop, layout.s.stop + len(rates))
        return cls(problem, t0, np.concatenate([y0[: w.start], yd0[rates], y0[w.start :]]), w, rates)

    def __repr__(self) -> str:
        return f"ConstantMass({self.problem!r}, n={self.n}, rank={int(self.diagonal.sum())})"

    @property
    def n(self) -> int:
        """Number of unknowns u."""
        return len(self.u0)

    @property
    def mass(self) -> Mat:
        """A, (n, n)."""
        return np.diag(self.diagonal)

    @cached_property
    def diagonal(self) -> Vec:
        """The diagonal of A, (n,): 1 for unknowns whose rates appear, 0 for w and multipliers; read only."""
        out = np.zeros(self.n)
        out[self._places] = self.problem.differential
        out.flags.writeable = False
        return out

    @cached_property
    def variable_index(self) -> Ints:
        """Hairer's classes 1, 2, 3 (n,), 0 where A = I. w is of class 1 where the dynamics and the constraints can be
        solved for it and the multipliers, else one above the velocity whose rate it is."""
        settings, layout = self.problem.workspace.settings, self.problem.layout
        out, form = np.zeros(self.n, dtype=np.int64), settings.formulation
        if not len(self._rates):
            return out
        classes = np.maximum(self.problem.variable_index, 1)
        out[self._places] = classes
        raised, level = classes[self._rates] + 1, form.levels[0] if form.levels else 2
        free = not form.projected and layout.mu.stop == layout.la.start
        if free or settings.reduced or (level == 2 and not form.corrected):
            raised[: layout.v.stop - layout.v.start] = 1
        out[self.w] = raised
        return out

    @property
    def labels(self) -> list[str]:
        """One label an unknown; those of w are the labels of the unknowns with an apostrophe."""
        names = [*self.problem.layout.labels]
        names[self.w.start : self.w.start] = [f"{names[k]}'" for k in self._rates]
        return names

    @cached_property
    def _places(self) -> Ints:
        """Where the unknowns y are in u."""
        n = np.arange(self.problem.n)
        return np.where(n < self.w.start, n, n + len(self._rates))

    @cached_property
    def _rows(self) -> Ints:
        """The rows of f in which the rows of F are: those of unknowns without a rate, but for positions and states."""
        out = self._places.copy()
        out[self._rates] = np.arange(self.w.start, self.w.stop)
        return out

    @cached_property
    def _signs(self) -> Vec:
        """-1 in the rows of F that are a rate less what it is: of positions and internal states."""
        out = np.ones(self.problem.n)
        out[self.problem.layout.q] = out[self.problem.layout.s] = -1.0
        return out

    def unknowns(self, u: ArrayLike) -> Mat:
        """y (..., problem.n) of u (..., n), as the methods of the problem take it."""
        u = np.asarray(u, dtype=float)
        if u.shape[-1:] != (self.n,):
            raise ValueError(f"u must have {self.n} numbers along its last axis, got the shape {u.shape}")
        return np.asarray(u[..., self._places])

    def f(self, t: float, u: ArrayLike) -> Vec:
        """The right-hand side, (n,)."""
        u, y, yd = self._parts(u)
        if not len(self._rates):
            return self.problem.rhs(t, y)
        out = np.empty(self.n)
        out[self._rows] = self._signs * self.problem.residual(t, y, yd)
        out[self._places[self._rates]] = u[self.w]
        return out

    def jacobian(self, t: float, u: ArrayLike) -> Mat:
        """df/du, (n, n). Derivatives with respect to w are differences of two Jacobians of the residual: exact but for
        rounding relative to the largest entry of their rows."""
        u, y, yd = self._parts(u)
        if not len(self._rates):
            return self.problem.rhs_jacobian(t, y)
        still, moved = (self._signs[:, None] * self.problem.jacobian(t, y, yd, c) for c in (0.0, 1.0))
        out = np.zeros((self.n, self.n))
        out[np.ix_(self._rows, self._places)] = still
        out[self._rows, self.w] = (moved - still)[:, self._rates]
        out[self._places[self._rates], self.w] = np.eye(len(self._rates))
        return out

    def _parts(self, u: ArrayLike) -> tuple[Vec, Vec, Vec]:
        """u, y, and yd with w, and zeros for positions and internal states: their rows of F are less their rates."""
        u = _check.real(f"u, the {self.n} unknowns of A u' = f,", u, (self.n,))
        yd = np.zeros(self.problem.n)
        yd[self._rates] = u[self.w]
        return u, u[self._places], yd
