"""Residual and right-hand side of a model in one formulation, for one selection: pure functions of their arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Bools, Ints, Mat, Vec
from rbdae.formulations.base import Kind
from rbdae.machine.entries_on_disk import bytes_from_cache
from rbdae.multibody.block_pattern import BlockPattern
from rbdae.multibody.contents import pattern_on_disk
from rbdae.multibody.count_equations import count_equations
from rbdae.multibody.jacobian_pattern import jacobian_pattern
from rbdae.multibody.layout import Layout
from rbdae.multibody.parameter_tangents import ParameterTangents
from rbdae.multibody.recording import own_constants, selected
from rbdae.multibody.traced import shared
from rbdae.multibody.workspace import Workspace
from rbdae.problem.callbacks import Callbacks
from rbdae.problem.driven import Driven, InputTangents, inputs_of, present

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
        return count_equations(self.workspace)

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
        """The bare kernels."""
        return Callbacks(self.workspace, lambda: self._block_pattern)

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
        result: Mat = array_for(out, (here.n_equations, self.n))
        target = addressable(result)
        t, c = _check.time("jacobian", t), _check.number("jacobian", "c", c)
        here.callbacks.jacobian(t, self._apart("y", y, out), self._apart("yd", yd, out), c, target)
        if target is not result:
            result[:] = target
        return result

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
        result: Mat = array_for(out, (self.n, self.n))
        target = addressable(result)
        here = self._under("rhs_jacobian", t, u)
        here.callbacks.rhs_jacobian(_check.time("rhs_jacobian", t), self._apart("y", y, out), target)
        if target is not result:
            result[:] = target
        return result

    @property
    @abstractmethod
    def _driven(self) -> Driven[Self]:
        """The same equations, with inputs that are written in place."""

    def _under(self, owner: str, t: float, u: Inputs) -> Self:
        """The equations at time t with these inputs, or with their own."""
        here = self._at(t)
        return here if u is None else here._driven.under(owner, u)

    @property
    def inputs(self) -> Mapping[str, float]:
        """The values of the inputs by name, in the order of `rbdae.System.add_input`, read only; without those that are
        functions of the time."""
        named = [each.name for each in inputs_of(self.workspace)]
        return MappingProxyType(dict(zip(named, present(self.workspace).tolist(), strict=True)))

    @cached_property
    def _input_tangents(self) -> InputTangents:
        """Derivatives with respect to inputs."""
        return InputTangents(self.workspace, self.n_equations)

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
        result: Mat = array_for(out, (self.n if yd is None else here.n_equations, len(self.inputs)))
        target = addressable(result)
        t, y = _check.time("input_jacobian", t), self._apart("y", y, out)
        if result.size:
            here._input_tangents.fill(t, y, None if yd is None else self._apart("yd", yd, out), target)
        if target is not result:
            result[:] = target
        return result

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
        workspace, memory, n_equations = self.workspace, self.workspace.memory, self.n_equations

        def find() -> BlockPattern:
            return jacobian_pattern(workspace, n_equations)

        def keep() -> BlockPattern:
            return _kept_pattern(workspace, find)

        if workspace.code_calls_python:
            return find()
        return shared(workspace, key, keep) if memory.traced else keep()


def _kept_pattern(workspace: Workspace, find: Callable[[], BlockPattern]) -> BlockPattern:
    """The pattern of the Jacobian, from the cache on disk if its structure is known there."""
    known = pattern_on_disk(workspace, workspace.settings.kernels.jacobian.name)
    if known is None:
        return find()
    return BlockPattern.from_bytes(bytes_from_cache(("pattern", known), lambda: find().to_bytes()))


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


def addressable(matrix: Mat) -> Mat:
    """The matrix, or a fresh one if its strides are not those of whole numbers forwards: kernels would write
    elsewhere."""
    forward = matrix.flags.aligned and all(s > 0 and s % 8 == 0 for s in matrix.strides)
    return matrix if forward else np.empty(matrix.shape)


def _describe(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return type(value).__name__
