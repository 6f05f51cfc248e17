"""A system in one formulation and rotation: equations, what their unknowns mean, and a consistent start."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, final

import numpy as np

from rbdae import _check, _frozen
from rbdae._arrays import ArrayLike, Vec
from rbdae._frozen import by_fields
from rbdae.inputs import Given, values_of
from rbdae.multibody.model import Model
from rbdae.multibody.parameters import Changed, changed
from rbdae.multibody.selection import Selection
from rbdae.multibody.states import put_parameters
from rbdae.multibody.workspace import Workspace
from rbdae.problem.driven import asked, follows_inputs, inputs_of, places_of, present, refuse_jumps
from rbdae.problem.equations import ConstantMass, Equations
from rbdae.problem.event import Event, EventFunction, EventGroup
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.matrices import Matrices
from rbdae.problem.observables import Observable, attach
from rbdae.problem.outputs import Outputs, numbers_among
from rbdae.problem.projection import Projection, bind_projection, project_drift
from rbdae.problem.start import Assembly, Start, consistent_start
from rbdae.problem.switches import USUAL, AbstractSwitch, ChartPolicy, switches_of
from rbdae.problem.timed import Segments
from rbdae.quantities.quantity import Quantity
from rbdae.system import System

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


_INSIDERS = {
    "again", "by_time", "each", "interpretation", "model", "of", "resumed", "resumed_with_inputs",
    "selection", "start", "switches", "translated", "with_selection", "workspace",
}  # fmt: skip

R = TypeVar("R")

Again: TypeAlias = Callable[["Problem", Changed | System], "Problem"]


def _by_time(
    read: Callable[[Interpretation, ArrayLike, ArrayLike], R],
) -> Callable[[Problem, ArrayLike, ArrayLike], R]:
    """The method of problems that reads states by the selection of their time."""

    @wraps(read)
    def method(self: Problem, t: ArrayLike, y: ArrayLike) -> R:
        return self.each(read, t, y)

    return method


@final
@dataclass(frozen=True, eq=False, repr=False)
class Problem(Equations):
    """Residual F(t, y, yd) = 0 (and yd = f(t, y) for ODE kinds) of a system, with analytic Jacobians.

    Made by `rbdae.formulate`. Not thread-safe: the kernels share one working memory; make one problem per thread, for
    example by `copy.copy`. Copies and pickles are independent of the problem that they come from. Solvers
    that cannot run in several threads take turns by themselves (`threads` in `rbdae.solvers`).
    """

    interpretation: Interpretation
    start: Start
    velocity: str
    again: Again
    _regular: Vec
    _segments: Segments | None = None

    @classmethod
    def of(cls, workspace: Workspace, start: Start, velocity: str, again: Again) -> Problem:
        """A problem on a workspace; `again` formulates a system with other numbers in the same way."""
        return cls(Interpretation(workspace), start, velocity, again, start.y0)

    __reduce__ = by_fields

    def __copy__(self) -> Problem:
        """A problem of its own on the same model: what another thread needs."""
        return copy.deepcopy(self, {id(self.model): self.model})

    def __dir__(self) -> list[str]:
        """The names for users; runs and adapters use more."""
        return sorted({*object.__dir__(self)} - _INSIDERS)

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
        found = self.workspace.user_functions
        return {function.owner: "recorded" if function.law is not None else function.why for function in found}

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
        return Problem(Interpretation(workspace), self.start, self.velocity, self.again, self._regular)

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
        return replace(out, start=consistent_start(out.interpretation, t, y, self.assembly))

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
        out.callbacks._count_with(self.callbacks)
        return out

    def _read_under(self, inputs: Vec) -> Problem:
        """This problem with other inputs, for one reading."""
        if self.selection.rows.dropped:  # other rows may be taken, by other workspaces
            return self.with_selection(self.selection.with_inputs(inputs.copy()))
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
        chosen = self.selection.with_inputs(values_of("with_inputs", places_of(out.workspace), numbers, before))
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
        return self.with_selection(self.selection.with_inputs(new))._begun(t, y)

    def switches(self, policy: ChartPolicy = USUAL) -> Sequence[AbstractSwitch]:
        """New switches for a segment of a run that begins at `y0`."""
        return switches_of(self.interpretation, self.t0, self.y0, self.resumed, policy)

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

    # ------------------------------------------------------------ equations

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

    # ------------------------------------------------------------ what a state means

    natural = _by_time(Interpretation.natural)
    states = _by_time(Interpretation.states)
    joints = _by_time(Interpretation.joints)
    forces = _by_time(Interpretation.forces)
    energy = _by_time(Interpretation.energy)
    momentum = _by_time(Interpretation.momentum)
    constraints = _by_time(Interpretation.constraints)
    log_determinant = _by_time(Interpretation.log_determinant)
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
        group = EventGroup(self.interpretation, [event], 1.0)
        return EventFunction(event.__name__, group.value(0), event.terminal, event.direction, group)

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
        return ConstantMass.of(self, self.t0, self.y0, self.yd0)

    # ------------------------------------------------------------ projection

    def project(self, t: float, y: ArrayLike, projection: Projection | None = None) -> Vec:
        """A copy of y on the constraint manifold; multipliers are left as they are."""
        out = self._vector("y", y).copy()
        bound = bind_projection(self, True if projection is None else projection)
        if bound is None:
            raise TypeError("project: projection must be a rbdae.Projection, got False; leave it out for the usual one")
        bound(_check.time("project", t), out)
        return out


def _reading(line: Observable) -> Callable[..., Any]:
    """The method of problems for a line of the table."""

    def read(self: Problem, t: ArrayLike, y: ArrayLike) -> Any:
        times, states, single = self.interpretation.rows(t, y)
        segments = self._segments or Segments((self,))
        out = segments.each(times, states, line.rows)
        return line.first(out) if single else out

    read.__name__, read.__doc__ = line.name, line.text
    return read


attach(Problem, _reading)
