"""A system in one formulation and rotation: equations, what their unknowns mean, and a consistent start."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, final

import numpy as np

from rbdae import _check, _frozen
from rbdae._arrays import ArrayLike, Bools, Ints, Mat, Vec
from rbdae._frozen import by_fields
from rbdae.formulations.base import Kind
from rbdae.inputs import Given, values_of
from rbdae.machine.cache import bytes_from_cache
from rbdae.multibody.choices.layout import Layout
from rbdae.multibody.choices.selection import Selection
from rbdae.multibody.choices.states import put_parameters
from rbdae.multibody.code.jacobian_pattern import jacobian_pattern
from rbdae.multibody.code.traced import shared
from rbdae.multibody.memory.contents import pattern_on_disk
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.parameter_tangents import ParameterTangents
from rbdae.multibody.recorded.recording import Pattern
from rbdae.multibody.system.model import Model
from rbdae.multibody.system.parameters import Changed, changed
from rbdae.problem.callbacks import Callbacks
from rbdae.problem.constant_mass import ConstantMass
from rbdae.problem.contract import Solvable
from rbdae.problem.driven import (
    Inputs,
    asked,
    follows_inputs,
    inputs_of,
    places_of,
    present,
    refuse_jumps,
)
from rbdae.problem.event import Event, EventFunction, EventGroup
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.matrices import Matrices
from rbdae.problem.observables import Observable, attach
from rbdae.problem.outputs import Outputs, numbers_among
from rbdae.problem.projection import Projection, bind_projection, project_drift
from rbdae.problem.start import Assembly, Start, consistent_start
from rbdae.problem.switches import SWITCHES, USUAL, AbstractSwitch, ChartPolicy
from rbdae.problem.timed import Segments
from rbdae.quantities.quantity import Quantity
from rbdae.system import System

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from scipy.sparse import csc_matrix
    from scipy.spatial.transform import Rotation

    from rbdae.handover.casadi import CasadiModel
    from rbdae.handover.jax import JaxModel

R = TypeVar("R")

Again: TypeAlias = Callable[["Problem", Changed | System], "Problem"]


def _by_time(
    read: Callable[[Interpretation, ArrayLike, ArrayLike], R],
) -> Callable[[Problem, ArrayLike, ArrayLike], R]:
    @wraps(read)
    def method(self: Problem, t: ArrayLike, y: ArrayLike) -> R:
        return self.each(read, t, y)

    return method


@final
@dataclass(frozen=True, eq=False, repr=False)
class Problem(Solvable):
    """Residual F(t, y, yd) = 0 (and yd = f(t, y) for ODE kinds) of a system, with analytic Jacobians.

    Made by `rbdae.formulate`. Not thread-safe: the kernels share one working memory; make one problem per thread, for
    example by `copy.copy`. Copies and pickles are independent of the problem that they come from. Solvers
    that cannot run in several threads take turns by themselves (`threads` in `rbdae.solvers`).
    """

    interpretation: Interpretation
    start: Start
    velocity: str
    again: Again
    _segments: Segments | None = None

    @classmethod
    def of(cls, workspace: Workspace, start: Start, velocity: str, again: Again) -> Problem:
        """A problem on a workspace; `again` formulates a system with other numbers in the same way."""
        return cls(Interpretation(workspace), start, velocity, again)

    __reduce__ = by_fields

    def __copy__(self) -> Problem:
        """A problem of its own on the same model: what another thread needs."""
        return copy.deepcopy(self, {id(self.model): self.model})

    def __repr__(self) -> str:
        return (
            f"Problem({self.formulation}, rotation={self.rotation!r}, velocity={self.velocity!r}, n={self.n}, "
            f"kind={self.kind!r}, index={self.index})"
        )

    def _repr_html_(self) -> str:
        """HTML for notebooks: the form, with the source of its equations, and its size."""
        form = self.workspace.settings.formulation
        kind = {"ode": "an ODE", "dae": f"a DAE of index {self.index}"}.get(self.kind, "overdetermined")
        facts = [
            ("equations", f"{form}: {form.summary}, {form.source}"),
            ("kind", f"{kind}, {self.n} unknowns, {self.interpretation.n_constraints} constraints"),
            ("rotation, velocity", f"{self.rotation}, {self.velocity}"),
            ("bodies", ", ".join(self.model.names[:8]) + (", ..." if self.model.n > 8 else "")),
        ]
        if self.redundant:
            facts.append(("redundant, left out", ", ".join(self.redundant)))
        return _frozen.notebook("Problem", facts)

    # ------------------------------------------------------------ facts

    @cached_property
    def workspace(self) -> Workspace:
        """The memory that the kernels work on."""
        return self.interpretation.workspace

    @property
    def model(self) -> Model:
        """The system in arrays."""
        return self.workspace.model

    @property
    def system(self) -> System:
        """The system that was formulated."""
        return self.workspace.memory.model.system

    @property
    def formulation(self) -> str:
        """The name of the formulation."""
        return self.workspace.settings.formulation.name

    @property
    def rotation(self) -> str:
        """The name of the chart."""
        return self.workspace.settings.chart.name

    @cached_property
    def labels(self) -> list[str]:
        """One label an unknown."""
        return list(self.layout.labels)

    @property
    def code(self) -> Literal["machine", "folded", "plain"]:
        """``"machine"``, ``"folded"`` or ``"plain"``: how the right-hand side runs, of a DAE the residual, see
        `rbdae.formulate`. Machine code is made if it was not there yet.

        ``problem.callbacks.code(name)`` says it of each callback; what is too long for machine code is plain Python.
        """
        return self.callbacks.code("rhs" if self.kind == "ode" else "residual")

    @property
    def laws(self) -> dict[str, str]:
        """The user's functions by their owners, each ``"recorded"``, in code of the model, or why it is called."""
        found = self.workspace.model.functions
        return {function.owner: "recorded" if function.law is not None else function.why for function in found}

    @cached_property
    def layout(self) -> Layout:
        """The places of the unknowns: slices q, v, s, la, mu of y."""
        return self.workspace.layout

    @cached_property
    def n(self) -> int:
        """Number of unknowns."""
        return self.layout.n

    @cached_property
    def n_equations(self) -> int:
        """Number of equations, which are more than unknowns for the overdetermined forms."""
        return self.workspace.n_equations

    @cached_property
    def kind(self) -> Kind:
        """``"ode"``, ``"dae"`` or ``"overdetermined"``."""
        return self.workspace.settings.formulation.kind

    @cached_property
    def index(self) -> int:
        """Differentiation index; 1 for a DAE formulation of a system that leaves no constraint in it."""
        if self.kind == "dae" and self.layout.mu.stop == self.layout.la.start:
            return 1
        return self.workspace.settings.formulation.index

    @cached_property
    def differential(self) -> Bools:
        """(n,) False where yd does not appear: the multipliers, and algebraic unknowns of forces."""
        return self._classes[0].copy()

    @cached_property
    def variable_index(self) -> Ints:
        """(n,) Hairer's classes 1, 2, 3 of DAE unknowns; 0 for ODE kinds, and without a constraint to differentiate."""
        return self._classes[1].copy()

    @cached_property
    def algebraic(self) -> Bools:
        """(n,) True for algebraic unknowns of forces: z of their equations 0 = g. Multipliers are none."""
        return self._classes[2].copy()

    @property
    def _classes(self) -> tuple[Bools, Ints, Bools]:
        """These three, found once for all problems of a structure."""
        memory, layout = self.workspace.memory, self.layout
        found: tuple[Bools, Ints, Bools] | None = memory.known.get("classes")
        if found is None:
            differential, index, algebraic = (np.full(layout.n, x) for x in (True, 0, False))
            algebraic[layout.s] = memory.model.forces.algebraic
            if memory.settings.formulation.unknown_multipliers == "values":
                differential[layout.n_differential :] = False
            differential[algebraic] = False
            if self.index > 0:
                index[:] = 1
                index[layout.v] = max(1, self.index - 1)
                index[layout.n_differential :] = self.index
                index[algebraic] = 1
            found = memory.known["classes"] = tuple(map(_check.frozen, (differential, index, algebraic)))
        return found

    @cached_property
    def callbacks(self) -> Callbacks:
        """The bare kernels; factors choose their pivots near the start."""
        return Callbacks(self)

    @property
    def t0(self) -> float:
        """Initial time, s."""
        return self.start.t0

    @property
    def y0(self) -> Vec:
        """Consistent initial unknowns (n,)."""
        return self.start.y0

    @property
    def yd0(self) -> Vec:
        """Their rates (n,)."""
        return self.start.yd0

    @property
    def assembly(self) -> Assembly:
        """The report of the start: what was given, what was found, and what had to change."""
        return self.start.assembly

    @property
    def redundant(self) -> tuple[str, ...]:
        """Names of the joint equations that are left out because they follow from the others."""
        return tuple(self.model.row_name(k) for k in self.selection.rows.dropped)

    # ------------------------------------------------------------ selections

    @property
    def selection(self) -> Selection:
        """The choices that a run may have to make again: kept joint rows, independent velocities, reference
        rotations."""
        return self.workspace.selection

    @property
    def reference_rotations(self) -> dict[str, Rotation]:
        """R_ref of each body by name, in R = R_ref R(a); the identity where nothing else was asked for."""
        from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

        R = self.selection.references
        R = np.tile(np.eye(3), (self.model.n, 1, 1)) if R is None else R
        return {name: Rotation.from_matrix(each) for name, each in zip(self.model.names, R, strict=True)}

    def with_selection(self, selection: Selection) -> Problem:
        """This problem with another selection, by which `y0` and all states are then read.

        The two share model, code and working memory; n and labels are the same.
        """
        if selection is self.selection:
            return self
        return self._on(self.workspace.with_selection(selection))

    def _on(self, workspace: Workspace) -> Problem:
        """This problem on another workspace, for all times."""
        return Problem(Interpretation(workspace), self.start, self.velocity, self.again)

    def _at(self, t: float) -> Problem:
        return self if self._segments is None else self._segments.at(t)

    def resumed(self, t: float, y: Vec, selection: Selection) -> Problem:
        """The same motion from (t, y) on, with another selection.

        With other rows the state is projected, if it has drifted: rows that are taken up have drifted more than those
        that the solver kept, and a code that keeps them from now on would have to correct them within one step,
        whatever its error test says.
        """
        out = self.with_selection(selection)
        y = self.translated(t, y, out).copy()
        if selection.rows is not self.selection.rows:
            project_drift(out, t, y)
        return out._begun(t, y)

    def at(self, t: float, y: ArrayLike) -> Problem:
        """This problem from the state (t, y) on: its `t0`, and its `y0` and `yd0` with consistent multipliers, rates
        and algebraic unknowns. A state that has drifted from the constraints is projected."""
        t, y = _check.time("at", t), self._vector("y", y).copy()
        here = self._at(t)
        project_drift(here, t, y)
        return here._on(here.workspace)._begun(t, y)

    def _begun(self, t: float, y: Vec) -> Problem:
        """The same from a state on that satisfies the constraints."""
        return replace(self, start=consistent_start(self.interpretation, t, y, self.assembly))

    @cached_property
    def _driven(self) -> Problem:
        return self._twin()

    def _twin(self) -> Problem:
        """This problem on a workspace of its own, where other inputs are written in place. Recorded code loads them: to
        write them costs as much as a copy."""
        out = self._on(Workspace(self.workspace.memory, self.selection))
        out.callbacks._tally = self.callbacks._tally
        return out

    def _read_under(self, inputs: Vec) -> Problem:
        """This problem with other inputs, for one reading."""
        if self.selection.rows.dropped:  # other rows may be taken, by other workspaces
            return self.with_selection(replace(self.selection, inputs=inputs.copy()))
        self._driven.workspace.write_inputs(inputs)
        return self._driven

    def with_inputs(self, values: Mapping[str, Given]) -> Problem:
        """This problem with other inputs, by name: numbers, functions of the time, `rbdae.Table` s, or (t, values)
        of tables whose values are joined by lines.

        Numbers cost microseconds: code and memory are shared. Functions and tables become laws of the system, which is
        formulated again, with code of its own. The start is the same state; where drives read inputs, the nearest one
        on them.

        Raises
        ------
        TypeError, ValueError
            for a name that there is not, and for what is none of these; for tables of ``"previous"`` values, which jump
            on the way: `rbdae.solve` has them as ``inputs=``
        """
        numbers, sources = asked("with_inputs", self.system, values)
        out = self.again(self, self.system.with_sources(sources)) if sources else self
        new, known = inputs_of(out.workspace), self.inputs
        before: Vec = np.array([known.get(each.name, each.value) for each in new])
        chosen = replace(self.selection, inputs=values_of("with_inputs", places_of(out.workspace), numbers, before))
        out, y0 = out.with_selection(chosen), self.y0
        if follows_inputs(out.workspace):
            y0 = out.project(self.t0, y0)
        return out._begun(self.t0, y0)

    def resumed_with_inputs(self, t: float, y: Vec, values: Mapping[str, float]) -> Problem:
        """The same motion from (t, y) on, with other numbers of inputs, checked. Raises ValueError if a drive would
        jump."""
        old, places = present(self.workspace), places_of(self.workspace)
        new = old.copy()
        for name, value in values.items():
            new[places[name]] = value
        refuse_jumps(self.workspace, t, old, new)
        return self.with_selection(replace(self.selection, inputs=new))._begun(t, y)

    def switches(self, policy: ChartPolicy = USUAL) -> Sequence[AbstractSwitch]:
        """New switches for a segment of a run that begins at `y0`."""
        return [kind(self, policy) for kind in self._switches]

    @cached_property
    def _switches(self) -> list[type[AbstractSwitch]]:
        return [kind for kind in SWITCHES if kind.needed(self.interpretation)]

    def by_time(self, later: Sequence[Problem], times: Sequence[float], direction: float = 1.0) -> Problem:
        """This problem, but states from times[k] on are read by the selection of the k-th later problem; in a run back
        in time, whose direction is -1, times fall. Without later ones all states are read by its own selection."""
        if not later:
            return self if self._segments is None else self._on(self.workspace)
        parts = tuple(p._on(p.workspace) for p in (self, *later))
        return replace(self, _segments=Segments(parts, tuple(times), direction))

    def translated(self, t: float, y: Vec, other: Problem) -> Vec:
        """The state y of this problem in the unknowns of another selection; `y` itself where they are the same."""
        velocities, references = other.selection.velocities, other.selection.references
        same_velocities = velocities is None or velocities is self.selection.velocities
        if same_velocities and references is self.selection.references:
            return y
        out = y.copy()
        if velocities is not None and not same_velocities:
            w, _ = self.interpretation.null_space(t, y)
            out[self.layout.v] = velocities.S @ w
        if references is not self.selection.references:
            d = self.interpretation.natural(t, y)[:, 3:12]
            put_parameters(self.model, self.workspace.settings, self.layout, d, references, out)
        return out

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

    def _under(self, owner: str, t: float, u: Inputs) -> Problem:
        here = self._at(t)
        if u is None:
            return here
        here._driven.workspace.write_inputs(values_of(owner, places_of(here.workspace), u, present(here.workspace)))
        return here._driven

    @property
    def inputs(self) -> Mapping[str, float]:
        """The values of the inputs by name, in the order of `rbdae.System.add_input`, read only; without those that are
        functions of the time."""
        named = [each.name for each in inputs_of(self.workspace)]
        return MappingProxyType(dict(zip(named, present(self.workspace).tolist(), strict=True)))

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
        here, name = self._under("input_jacobian", t, u), "rhs" if yd is None else "residual"
        if yd is None:
            here.callbacks._explicit()
        given = [self._apart("y", y, out), *([] if yd is None else [self._apart("yd", yd, out)])]
        t, rows = _check.time("input_jacobian", t), self.n if yd is None else here.n_equations
        call = here.callbacks._by_inputs(name)
        return filled(out, (rows, len(self.inputs)), lambda into: call(t, *given, into))

    @cached_property
    def _parameter_tangents(self) -> ParameterTangents:
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
        ones = np.ones(len(pattern.rows))
        shape = self.n_equations, self.n
        return csc_matrix((ones, pattern.rows, pattern.pointers(self.n)), shape=shape, copy=True)  # others have it, too

    def plot_sparsity(self) -> Figure:
        """Draw `sparsity` with the names of its blocks: the equations of bodies and joints down, their unknowns across.
        Raises ImportError without matplotlib."""
        from rbdae.problem.structure import plot_sparsity

        return plot_sparsity(self)

    @cached_property
    def _block_pattern(self) -> Pattern:
        """The same as compressed columns; other selections have it, too, unless they drop other rows, and problems with
        other numbers of the same structure. It is on disk if the structure of the Jacobian is known there."""
        workspace, known = self.workspace, self.workspace.memory.recorded
        key = ("pattern", workspace.structure)

        def find() -> Pattern:
            return jacobian_pattern(workspace, self.n_equations)

        def kept() -> Pattern:
            place = pattern_on_disk(workspace, workspace.settings.kernels.jacobian.name)
            if place is None:
                return find()
            return Pattern.from_bytes(bytes_from_cache(("pattern", place), lambda: find().to_bytes()))

        if key not in known and workspace.code_calls_python:
            known[key] = find()
        elif key not in known:
            known[key] = shared(workspace, key, kept) if workspace.memory.traced else kept()
        found: Pattern = known[key]
        return found

    # ------------------------------------------------------------ other numbers

    @property
    def parameters(self) -> Mapping[str, float]:
        """The numbers of bodies, joints and forces, and gravity, by name, as `parameter_jacobian` takes them; in SI
        units, read only."""
        return self._parameter_tangents.numbers

    def with_parameters(self, values: Mapping[str, float]) -> Problem:
        """The problem of the same system with other numbers, by their names in `parameters`; its start is made
        consistent again, from the given initial values.

        Its code is that of this problem, unless ``code="folded"`` was chosen. A number that becomes 0,
        1 or -1, or equal to another in the same vector or matrix, or is so no longer, is another structure, which has
        code of its own. Masses, inertias, gravity and numbers of forces take no search for a start if given
        positions agreed, and velocities are zero or determined by the joints and given ones, or the joints leave
        few of them free.

        Raises
        ------
        ValueError
            for an unknown name, a number that a body, joint or force cannot have, and a start that cannot be consistent
        """
        return self.again(self, changed(self.system, values))

    # ------------------------------------------------------------ models in other languages

    def c_source(self, path: str | Path, *, kind: str = "plain", parameters: bool | Sequence[str] = False) -> Path:
        """Write the equations to a C99 file that needs math.h alone, and return its path.

        It has the residual F(t, y, yd) and dF/dy + c dF/dyd, of an ODE also the right-hand side and its Jacobian, with
        their patterns, start, classes of unknowns, and inputs; names begin with that of the file. docs/handover.md has
        programs around it.

        No number is a parameter unless you ask: with all of them functions of the shipped models have 1.2 to 5.4 times
        the operations, and joint quantities and reactions whose formulas use such numbers are left out.

        Parameters
        ----------
        path : of the file, such as ``"crane.c"``
        kind : ``"ida"`` or ``"cvode"`` for the functions that these take, ``"plain"`` for all; ``"radau5"`` for
            residual, Jacobian, and FCN, JAC and MAS of `with_constant_mass`, unknowns in the order of their classes
        parameters : names of `parameters` that stay numbers p of the caller; True for all that can be

        Raises
        ------
        ValueError
            where a law is called in Python, for a right-hand side of a DAE, a mass matrix of an overdetermined form,
            and for a number that is no parameter
        TypeError
            where `parameters` is no list of names
        """
        from rbdae.handover.c_file import write

        return write(self, path, kind, parameters)

    def fmu(
        self,
        path: str | Path,
        *,
        version: str = "2.0",
        kind: str = "model-exchange",
        outputs: Sequence[str] | None = None,
        parameters: bool | Sequence[str] = False,
    ) -> Path:
        """Write an ODE as a Functional Mock-up Unit, with C sources, compiled if there is a C compiler, and return its
        path. It needs no Python; docs/handover-fmu.md has its variables.

        Parameters
        ----------
        path : of the file, such as ``"crane.fmu"``
        version : of FMI, ``"2.0"`` or ``"3.0"``
        kind : ``"model-exchange"``, or ``"co-simulation"`` with steps of Dormand and Prince inside
        outputs : quantities and reactions such as ``"pin.angle"``, ``"pin on rod.force.x"``; all without it
        parameters : names of `parameters` that can be tuned, or True for all that can

        Raises
        ------
        ValueError
            for a DAE, for unknown names, and where a law is called in Python
        """
        from rbdae.handover.fmu import write
        from rbdae.handover.recorded import Handed

        return write(Handed(self, parameters), path, version, kind, outputs)

    def cuda_source(self, path: str | Path, *, parameters: bool | Sequence[str] = False) -> Path:
        """Write the right-hand side of an ODE form as CUDA C++ with a loop for many runs at once, and return its path.

        DOPRI5 in every thread, as ``"rbdae:dopri5"`` steps; one file for nvcc, NVRTC, or g++ on the host.
        docs/handover-cuda.md has the call.

        Parameters
        ----------
        path : of the file, such as ``"top.cu"``
        parameters : names of `parameters` that each run has its own of, in this order; True for all that can be

        Raises
        ------
        ValueError
            for a DAE, and where a law is called in Python
        """
        from rbdae.handover.cuda import write

        return write(self, path, parameters)

    def casadi(self, parameters: bool | Sequence[str] = False) -> CasadiModel:
        """SX functions of CasADi: ``rhs``, ``residual``, and ``dae`` for its integrators, with ``x0`` and ``z0``.

        What depends on the state is NaN, with its derivatives, where a guard of the recording does not hold.

        Parameters
        ----------
        parameters : names of `parameters` that are p; True for all that can be

        Raises
        ------
        ImportError
            without casadi: ``pip install "rbdae[handover]"``
        ValueError
            for an unknown parameter; from these functions, where a law is called
        """
        from rbdae.handover.casadi import CasadiModel

        return CasadiModel(self, parameters)

    def jax(self, parameters: bool | Sequence[str] = False) -> JaxModel:
        """Pure functions of JAX, ``rhs`` and ``residual``, for jit, vmap, grad and diffrax.

        They compute in double precision if you say ``jax.config.update("jax_enable_x64", True)`` before anything else.
        What depends on the state is NaN, with its derivatives, where a guard of the recording does not hold.

        Parameters
        ----------
        parameters : names of `parameters` that are p; True for all that can be

        Raises
        ------
        ImportError
            without jax: ``pip install "rbdae[handover]"``
        ValueError
            for an unknown parameter; from these functions, where a law is called
        """
        from rbdae.handover.jax import JaxModel

        return JaxModel(self, parameters)

    # ------------------------------------------------------------ what a state means

    natural = _by_time(Interpretation.natural)
    states = _by_time(Interpretation.states)
    joints = _by_time(Interpretation.joints)
    forces = _by_time(Interpretation.forces)
    energy = _by_time(Interpretation.energy)
    momentum = _by_time(Interpretation.momentum)
    constraints = _by_time(Interpretation.constraints)
    rates = _by_time(Interpretation.rates)
    multipliers = _by_time(Interpretation.multipliers)
    run_multipliers = _by_time(Interpretation.run_multipliers)
    reactions = _by_time(Interpretation.reactions)

    def each(self, read: Callable[[Interpretation, Any, Any], R], t: ArrayLike, y: ArrayLike) -> R:
        """read(interpretation, t, y), rows of a run that changed its selection each by that of its time."""
        segments = self._segments
        if segments is None:
            return read(self.interpretation, t, y)
        found: R = segments.each(t, y, lambda part, t, y: read(part.interpretation, t, y))
        return found

    def quantity(self, quantity: Quantity | str, t: ArrayLike, y: ArrayLike) -> Any:
        """A quantity such as ``pin.angle`` or ``"pin.angle"``, vectorised over rows of y. ValueError for what the
        system has not."""
        owner, found = self.interpretation.owners.find(quantity)
        return getattr(getattr(self, owner.kind)(t, y)[owner.name], found.name)

    def outputs(self, quantities: Sequence[Quantity | str]) -> Outputs:
        """Some quantities, such as ``[pin.angle, "pin.rate"]``, as one function of (t, y, u) with exact derivatives:
        ``.values``, ``.jacobian`` by y, ``.input_jacobian``. Raises ValueError and TypeError for what is no number
        that the system has."""
        return Outputs(self.by_time((), ()), numbers_among(self.interpretation.owners, quantities))

    def event_function(
        self,
        quantity: Quantity | str,
        *,
        above: float | None = None,
        below: float | None = None,
        crossing: float | None = None,
    ) -> EventFunction:
        """The quantity less a value as a function (t, y), for a package's own events in an own loop forward in time: an
        angle counts its turns, and does not jump. Make one for each run, and call it in the order of time.

            turned = problem.event_function(pin.angle, above=1.5)
            def events(t, y, yd, out): out[0] = turned(t, y)  # scikit-sundae; turned.direction is 1.0
        """
        self.interpretation.owners.find(quantity)  # an Event takes functions, too
        event = Event(quantity, above=above, below=below, crossing=crossing)
        group = EventGroup.begun(self.interpretation, [event], 1.0)
        return EventFunction(event, group.value(0), 0, event.direction, group)

    def matrices(self, t: float, y: ArrayLike, *, sparse: bool | None = None) -> Matrices:
        """The equations' matrices at one state by the names of [NS] (1)-(11): M, G, K, g, g_I, g_II, psi, and T, r of
        the null-space form. M, G and K are sparse for large systems, or as `sparse` says."""
        if sparse is not None:
            sparse = _check.flag("matrices", "sparse", sparse)
        t = _check.time("t", t)
        return self._at(t).interpretation.matrices(t, self._vector("y", y), sparse)

    def with_constant_mass(self) -> ConstantMass:
        """The equations as A u' = f(t, u) with a constant A, [NS] (13), u = (q, v, w, la): for codes that take a mass
        matrix, such as RADAU5. Nothing is solved for; the start is that of this problem.

        Raises
        ------
        ValueError
            for an overdetermined form
        """
        return ConstantMass.of(self)

    # ------------------------------------------------------------ projection

    def project(self, t: float, y: ArrayLike, projection: Projection | None = None) -> Vec:
        """A copy of y on the constraint manifold; multipliers are left as they are."""
        out = self._vector("y", y).copy()
        bound = bind_projection(self, True if projection is None else projection)
        if bound is None:
            raise TypeError("project: projection must be a rbdae.Projection, got False; leave it out for the usual one")
        bound(_check.time("project", t), out)
        return out


def _check_parameters(owner: str, t: float, names: Sequence[str]) -> float:
    """The time; refuses what is no list of names."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{owner}: names must be a list of names, got {_check.show(names)}")
    return _check.time(owner, t)


def array_for(out: Any, shape: tuple[int, ...]) -> Any:
    """`out` for a result of this shape, or a fresh array for None; raises ValueError for one that does not fit."""
    if out is None:
        return np.empty(shape)
    given = f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape or not out.flags.writeable:
        raise ValueError(f"out must be a writable float64 array of shape {shape}, got {given}")
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


# ------------------------------------------------------------ observables of the table


def _reading(line: Observable) -> Callable[..., Any]:
    def read(self: Problem, t: ArrayLike, y: ArrayLike) -> Any:
        times, states, single = self.interpretation.rows(t, y)
        segments = self._segments or Segments((self,))
        out = segments.each(times, states, line.rows)
        return line.first(out) if single else out

    read.__name__, read.__doc__ = line.name, line.note
    return read


attach(Problem, _reading)
