"""`formulate`: from a system to a problem, as a line of functions, each on the result of the one before; `assemble`,
its start alone."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.compiler.options import ENABLED
from rbdae.formulations.base import Formulation
from rbdae.formulations.pairing import chosen_velocity, misfit
from rbdae.formulations.table import FORMULATIONS, FormulationName, VelocityName, named
from rbdae.initial.given import Hold
from rbdae.initial.renumbered import renumbered
from rbdae.initial.start import REMEDY, ConsistentState, consistent_state
from rbdae.kernels.constraints.drives import ANGLE
from rbdae.kernels.records import DIRECTOR_RATE
from rbdae.machine.entries_on_disk import say_once
from rbdae.machine.python_calls import supported
from rbdae.multibody.layout import natural_coordinates, write
from rbdae.multibody.memory import Code, Memory
from rbdae.multibody.model import Model, compile_system
from rbdae.multibody.parameters import Changed
from rbdae.multibody.recording import selection_numbers
from rbdae.multibody.references import centred
from rbdae.multibody.row_selection import SUSPENDED_FROM, closeness, redundant_rows, strength
from rbdae.multibody.selection import IndependentVelocities, KeptRows, Selection
from rbdae.multibody.settings import Settings, Structure
from rbdae.multibody.tree_velocities import spanning_velocities, tree_velocities
from rbdae.multibody.velocity_kind import ANGULAR, KINDS, SPATIAL, VelocityKind
from rbdae.multibody.velocity_selection import DependentRows, metric, sparse_matrix, spatial_columns
from rbdae.multibody.workspace import Workspace
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.start import Assembly, InitialValuesWarning, Start, consistent_start, listed
from rbdae.problem.switches.friction import refuse_friction
from rbdae.problem.switches.rows import with_pivot_floor
from rbdae.rotations import CHARTS, Chart
from rbdae.rotations.chart import RotationName
from rbdae.system import System

CODES: Final = ("auto", "folded", "generic", "traced")
"""Values of `code`; the environment variable RBDAE_CODE decides what "auto" means."""

_REMEDY = (
    "replace a joint by one with fewer equations, or ask for redundant='minimum-norm', which gives the same motion and "
    "reactions of least norm"
)
_SIZES = "check masses, inertias, positions and velocities, and that the laws of forces and drives return numbers"

_WITHOUT: Final = {"radial_inertia": "zero", "director_constraints": "rows"}
"""Options that forms without them may be asked for, as studies over all forms do: it is how they are."""

SPARSE_FROM = 24
"""Freedoms of the spanning tree from which the square system of loops is sparse (docs/decisions.md)."""


def formulate(
    system: System,
    formulation: FormulationName | Formulation = "index-2",
    *,
    rotation: RotationName = "quaternion",
    velocity: VelocityName | None = None,
    consistent: Literal["warn", "project", "check"] = "warn",
    redundant: Literal["error", "minimum-norm"] = "error",
    hold: Hold = (),
    reference: Literal["space", "start"] = "space",
    code: Literal["auto", "folded", "generic", "traced"] = "auto",
    t0: float = 0.0,
    **options: Any,
) -> Problem:
    """Write the equations of a system.

    Parameters
    ----------
    system : System
    formulation : str or Formulation
        ``"index-3"``, ``"index-2"``, ``"index-1"``, ``"index-0"``, ``"ggl"``, ``"hiller-anantharaman"``,
        ``"baumgarte"`` (``"baumgarte-ode"``), ``"projected-2"``, ``"projected-1"``, ``"projected-0"``,
        ``"overdetermined"`` (``"overdetermined-1"``), ``"null-space"`` (``"null-space-overdetermined"``),
        ``"hamiltonian"`` (``"hamiltonian-momentum"``, ...), and the spellings ``"ind3"``, ``"ggl2"``, ``"ovstab1"``,
        ... of Assimulo. Or a value of a class in `rbdae.formulations`, or of a class of one's own, with its options:
        ``Baumgarte(alpha=10.0, beta=25.0)``.
    rotation : str
        ``"quaternion"``, ``"directors"``, ``"euler-313"``, ``"bryant-321"``, ``"rotation-vector"``, ``"rodrigues"``,
        ``"conformal"``, ``"linear"``, ``"quaternion-vector"``.
    velocity : str
        ``"angular"`` (default): v = (xdot, Omega), material Omega; ``"spatial"``: v = (xdot, omega), omega = R Omega;
        ``"coordinate"``: v = qdot (quaternion, directors). The Hamiltonian forms have momenta.
    consistent : ``"warn"``, ``"project"`` or ``"check"``
        Initial values that are not given are found: unknown positions move before unknown orientations, unknown
        velocities are those of least kinetic energy. Given ones that contradict the joints change as little as
        possible (mass metric): with an `InitialValuesWarning`, or without one, or they are refused.
        `Problem.assembly` always says what was given, found and changed. Systems of more than 800 joint equations are
        too large for these priorities: there all values move to the nearest consistent ones.
    redundant : ``"error"`` or ``"minimum-norm"``
        What to do with joint equations that follow from the others: refuse them by name, or leave them out. The
        motion is the same; multipliers and reactions are then those of least norm, marked as not unique. The forms
        without multipliers, with projection, then also pass through singular positions
        (`rbdae.problem.switches.rows`).
    hold : names of bodies, or (name, ``"x"`` | ``"y"`` | ``"z"`` | ``"position"`` | ``"orientation"``)
        What keeps its place while the system is assembled, see `rbdae.assemble`. It says that the others are placed
        roughly: what changes of them gives no warning.
    reference : ``"space"`` or ``"start"``
        R_ref in R = R_ref R(a), a constant of each body, for charts with a singular set: I, or such that the chart is
        centred at the body's initial attitude. A start at or beyond the singular set needs ``"start"``.
    code : ``"auto"``, ``"folded"``, ``"generic"`` or ``"traced"``
        The machine code behind the callbacks: kernels that are compiled once for all models (``"generic"``), or code of
        the structure of this model: of its bodies, joints and forces, the formulation, and which numbers are 0, 1, -1
        or equal. It loads the other numbers, takes tenths of a second to make, in large models seconds, and is 5 to 20
        times as fast; other models of the structure find it (`Problem.with_parameters`). ``"auto"`` is that up to 1,000
        bodies, of callbacks that are not too long for it. ``"traced"`` asks for it whatever the size, and a callback
        that cannot have it is named in a warning; RBDAE_CODE=generic (or traced) in the environment makes that choice
        for all. ``"folded"`` has all numbers of the model as constants. Results agree to rounding. ``problem.code``,
        ``problem.callbacks.code(name)`` and the statistics of a run say which it was.
    t0 : float
        Initial time, s.
    **options
        Options of the class of a formulation that is given by its name: ``formulate(system, "baumgarte", alpha=10.0)``.

    Returns
    -------
    Problem

    Raises
    ------
    ValueError
        A name is unknown, choices do not go together, the chart is singular at the start, or the initial values are
        inconsistent (``"check"``).
    ProjectionError
        The constraints cannot be satisfied near the initial values, or are redundant.
    """
    system = _checked_system("formulate", system)
    choices = check_choices(formulation, rotation, velocity, options, redundant, reference)
    _one_of("value of consistent", consistent, ("warn", "project", "check"))
    wanted = _checked_code(code)
    t0 = _check.number("formulate", "t0", t0)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by name
        model = compiled(system, t0, choices.explicit)
        problem = _formulated(model, choices, t0, consistent == "check", hold, wanted)
    assembly = problem.assembly
    if consistent == "warn" and not hold and assembly.changes:
        text = (
            f"the given initial values contradict the joints and were changed: {listed(assembly.changes)}; largest "
            f"gap: {assembly.disagreement}; {REMEDY}"
        )
        warnings.warn(text, InitialValuesWarning, stacklevel=2)
    return problem


def assemble(system: System, hold: Hold = (), t0: float = 0.0) -> Assembly:
    """Find a consistent start of a system, and say what was found and what had to change.

    `rbdae.formulate(system, ..., hold=hold)` starts from the same state, and `Problem.assembly` is the same report.
    Here no warning is given: `Assembly.changes` has what had to change.

    Parameters
    ----------
    system : System
    hold : names of bodies, or (name, ``"x"`` | ``"y"`` | ``"z"`` | ``"position"`` | ``"orientation"``)
        What keeps its place, that of the origin of the body frame, and its velocity. Unknown velocities of what is held
        are zero where the joints allow that.
    t0 : float
        Initial time, s.

    Raises
    ------
    ValueError
        A loop cannot be closed (with the gap that remains), or the velocities contradict each other.
    """
    system, t0 = _checked_system("assemble", system), _check.number("assemble", "t0", t0)
    return consistent_state(compiled(system, t0), t0, hold=hold).assembly


def _checked_system(owner: str, system: object) -> System:
    if not isinstance(system, System):
        raise TypeError(
            f"{owner} needs a rbdae.System, got {_check.show(system)} of type {type(system).__name__}; make one with "
            "rbdae.System()"
        )
    return system


def compiled(system: System, t0: float, explicit: bool = False) -> Model:
    """A system in arrays, its laws of motion checked at the initial time; for `explicit` forms, without algebraic
    unknowns of forces, or for others."""
    model = compile_system(system, explicit, t0)
    for law in model.rheonomic.values():
        size = 1.0 if law.kind == ANGLE else model.scales.length
        law.motion.check(t0, 1.0 / model.scales.rate, size)
    return model


def _formulated(model: Model, choices: Choices, t0: float, check: bool, hold: Hold, wanted: str) -> Problem:
    code = _code_of(wanted)
    at_start: Code = "generic" if code == "generic" else "plain"  # a start takes few evaluations
    state = consistent_state(model, t0, check=check, hold=hold)
    _refuse_state(model, choices, state)
    settings, selection = settings_of(model, choices, state)
    if model.forces.inputs:
        selection = selection.with_inputs(np.array([each.value for each in model.forces.inputs]))
    workspace = Workspace(Memory.of(model, settings, code=at_start), selection)
    start = _start(workspace, state, t0)
    workspace = _with_floor(workspace, choices, start)
    if code != "generic":
        workspace = _with_code(workspace, code, start.y0)
    return Problem.of(workspace, start, choices.velocity, partial(_again, choices, t0, hold, wanted))


def _again(choices: Choices, t0: float, hold: Hold, code: str, problem: Problem, new: Changed | System) -> Problem:
    """The system of a problem with other numbers, or another one, formulated in the same way."""
    with np.errstate(over="ignore", invalid="ignore"):
        out = None if isinstance(new, System) else renumbered(problem, new)
        if out is None:
            system = new if isinstance(new, System) else new.system()
            return _formulated(compiled(system, t0, choices.explicit), choices, t0, False, hold, code)
        refuse_friction(out.interpretation, out.t0, out.y0)
        _refuse_not_finite(out.start, out.layout.labels)
        return out


def _refuse_state(model: Model, choices: Choices, state: ConsistentState) -> None:
    """Redundant rows that may not be left out; bodies without a director mass."""
    if state.dropped and not choices.may_drop:
        names = "; ".join(model.row_name(k) for k in state.dropped)
        follow = (
            "1 joint equation follows" if len(state.dropped) == 1 else f"{len(state.dropped)} joint equations follow"
        )
        raise ValueError(f"{follow} from the others at the start: {names}; {_REMEDY}")
    if choices.formulation.unknowns == "momenta" and choices.kind.number == DIRECTOR_RATE:
        for k, name in enumerate(model.names):
            if np.isnan(model.bodies["euler_inverse"][k]).any():
                raise ValueError(
                    f"body {name!r}: its Euler tensor tr(J)/2 I - J is singular (a flat body), so the director mass "
                    "has no inverse; use rotation='quaternion'"
                )


# ---------------------------------------------------------------- the start


def _start(workspace: Workspace, state: ConsistentState, t0: float) -> Start:
    """y0 and yd0 with the multipliers that belong to them."""
    y: Vec = write(workspace.model, workspace.settings, workspace.layout, state.motion, workspace.selection, t0)
    view = Interpretation(workspace)
    start = consistent_start(view, t0, y, state.assembly)
    refuse_friction(view, t0, start.y0)
    row = workspace.singular_row()
    _refuse_not_finite(start, workspace.layout.labels)
    if row is not None:
        raise ValueError(
            f"the constraints are redundant or singular at the start, first at {workspace.model.row_name(row)}; "
            f"{_REMEDY}"
        )
    return start


def _refuse_not_finite(start: Start, labels: Sequence[str]) -> None:
    """Numbers so large that the equations overflow, or laws that return none."""
    for what, values in (("", start.y0), ("the rate of ", start.yd0)):
        finite = np.isfinite(values)
        if not finite.all():
            bad = np.flatnonzero(~finite)
            raise ValueError(
                f"{what}{labels[bad[0]]} is {values[bad[0]]:g} at t0 = {start.t0:g}"
                f"{f' (and {len(bad) - 1} more unknowns are not finite)' if len(bad) > 1 else ''}; {_SIZES}"
            )


def _with_code(workspace: Workspace, code: Code, y0: Vec) -> Workspace:
    """The workspace for recorded code, which is recorded near y0."""
    first = Workspace(workspace.memory.with_code(code, y0, y0[:0]), workspace.selection)
    out = Workspace(workspace.memory.with_code(code, y0, selection_numbers(first)), workspace.selection)
    out.open_numbers = first.open_numbers
    return out


def _with_floor(workspace: Workspace, choices: Choices, start: Start) -> Workspace:
    """Suspend joint equations near singular positions, if they may be left out and loops can come to one."""
    if not (choices.may_drop and workspace.model.tree.closing and not workspace.settings.reduced):
        return workspace
    rows = with_pivot_floor(workspace, workspace.selection.rows, start.t0, start.y0, SUSPENDED_FROM)
    return workspace.with_selection(workspace.selection.with_rows(rows))


# ---------------------------------------------------------------- the user's choices


@final
@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """Formulation, chart and velocity that go together; whether redundant joint equations may be left out; where charts
    are centred."""

    formulation: Formulation
    chart: Chart
    velocity: str
    kind: VelocityKind
    may_drop: bool
    reference: str

    @property
    def explicit(self) -> bool:
        """Whether the problem is an ODE, without algebraic unknowns."""
        return self.formulation.kind == "ode"


def check_choices(
    formulation: str | Formulation,
    rotation: str,
    velocity: str | None,
    options: Mapping[str, object],
    redundant: str,
    reference: str,
) -> Choices:
    """The choices of `rbdae.formulate`; `options` belong to the class of the formulation.

    Raises
    ------
    TypeError, ValueError
        A name is unknown, or choices do not go together.
    """
    form = _with_options(formulation, options)
    if not isinstance(rotation, str) or rotation not in CHARTS:
        raise _check.unknown("rotation", rotation, CHARTS)
    chart = CHARTS[rotation]
    speed = chosen_velocity(form, chart, velocity)
    _one_of("value of redundant", redundant, ("error", "minimum-norm"))
    _check_reference(reference, chart)
    if wrong := misfit(form, chart, speed, [name for name, value in options.items() if value is not None]):
        raise ValueError(wrong)
    return Choices(form, chart, speed, _kind(speed, chart), redundant == "minimum-norm", reference)


def _with_options(formulation: str | Formulation, options: Mapping[str, Any]) -> Formulation:
    """The value of a formulation; options are for one that is given by its name."""
    form = formulation if isinstance(formulation, Formulation) else named(formulation)
    own = {}
    for name, value in options.items():
        if value is None or (name not in form.options and isinstance(value, str) and value == _WITHOUT.get(name)):
            continue
        if name not in form.options:
            having = ", ".join(repr(f.name) for f in FORMULATIONS.values() if name in f.options)
            kind = ValueError if having else TypeError
            belongs = f"belongs to the formulations {having}, not to {form.name!r}" if having else "is no option"
            raise kind(f"formulate: {name}={_check.show(value)} {belongs}: leave it out")
        if form is formulation or name in [option.name for option, _ in form.chosen()]:
            raise ValueError(
                f"formulate: {name}={_check.show(value)} is given by keyword, and {name}={form.options[name]!r} by "
                f"{formulation!r}; give one of them"
            )
        own[name] = form.checked(name, value, "formulate")
    return replace(form, **own)


def _check_reference(reference: str, chart: Chart) -> None:
    """Only charts with a singular set have a centre."""
    _one_of("reference", reference, ("space", "start"))
    if reference == "start" and not chart.centre:
        centred = ", ".join(c.name for c in CHARTS.values() if c.centre)
        raise ValueError(
            f"reference='start' centres charts that have a singular set: {centred}; {chart.name} has none, leave it out"
        )


def _kind(velocity: str, chart: Chart) -> VelocityKind:
    """Momenta are conjugate to the rates of the coordinates."""
    if velocity == "spatial":
        return SPATIAL
    if velocity == "angular" or chart.coordinate_velocities is None:
        return ANGULAR
    return KINDS[chart.coordinate_velocities]


def _one_of(what: str, value: object, known: Sequence[str]) -> None:
    if not isinstance(value, str) or value not in known:
        raise _check.unknown(what, value, known)


def _checked_code(value: str) -> str:
    """The argument `code` of `formulate`, in place of "auto" what the environment says."""
    _one_of("value of code", value, CODES)
    if value == "auto":
        value = os.environ.get("RBDAE_CODE", "auto")
        _one_of("value of RBDAE_CODE in the environment", value, CODES)
    return value


def _code_of(wanted: str) -> Literal["auto", "folded", "generic", "traced"]:
    """The code of a model's problems: generic without the JIT, and where Python is not as machine code expects it."""
    if wanted == "generic" or not ENABLED:
        return "generic"
    if not supported():
        say_once(
            "this Python keeps floats and arrays elsewhere than code of one model looks for them; generic code runs"
        )
        return "generic"
    return "traced" if wanted == "traced" else "folded" if wanted == "folded" else "auto"


# ---------------------------------------------------------------- settings and selection


def bare_settings(choices: Choices, structure: Structure) -> Settings:
    """Settings by choices alone."""
    return Settings(choices.formulation, choices.chart, choices.kind, structure)


def settings_of(model: Model, choices: Choices, state: ConsistentState) -> tuple[Settings, Selection]:
    """The settings that lay the model out, and the selection at the start."""
    settings, selection = _structure(model, choices, state)
    if choices.reference == "space":
        return settings, selection
    return settings, selection.with_references(centred(choices.chart, state.motion.R))


def _structure(model: Model, choices: Choices, state: ConsistentState) -> tuple[Settings, Selection]:
    """The structure by which velocities are found, the kept rows and the independent velocities."""
    rows = _kept_rows(model, state)
    if choices.formulation.unknowns != "quasi-velocities":
        return replace(bare_settings(choices, "any"), redundant=bool(state.dropped)), Selection(rows)
    if _is_spherical_tree(model):
        return bare_settings(choices, "spherical tree"), Selection(rows)
    tree = None if state.dropped else tree_velocities(model, natural_coordinates(state.motion), state.joint_matrix)
    if tree is not None:
        return replace(bare_settings(choices, "tree"), tree=tree), Selection(rows)
    sparse = not state.dropped and int(spanning_velocities(model, ()).freedoms(model).sum()) >= SPARSE_FROM
    choose = _sparse_velocities if sparse else _independent_velocities
    velocities = choose(model, state, choices.kind.spatial)
    settings = replace(
        bare_settings(choices, "loops"),
        n_independent=len(velocities.S),
        sparse=sparse,
        redundant=bool(state.dropped),
    )
    return settings, Selection(rows, velocities)


def _kept_rows(model: Model, state: ConsistentState) -> KeptRows:
    if not state.dropped:
        return KeptRows()
    G = state.joint_matrix()
    return KeptRows(state.dropped, strength(model, G, state.dropped), float(closeness(model, G, len(state.dropped))))


def _independent_velocities(model: Model, state: ConsistentState, spatial: bool) -> IndependentVelocities:
    """From the null space at the start."""
    G = state.joint_matrix()
    loose = redundant_rows(model, np.delete(G, state.dropped, axis=0), prefer_trees=False)
    if loose:
        kept = np.delete(np.arange(len(G)), state.dropped)
        names = "; ".join(model.row_name(int(kept[k])) for k in loose)
        raise ValueError(f"the constraints are redundant or singular at the start: {names}; {_REMEDY}")
    if spatial:
        G = spatial_columns(G, state.motion.R)
    measure = metric(model)
    return measure.select(G, len(measure.scale) - len(G) + len(state.dropped))


def _sparse_velocities(model: Model, state: ConsistentState, spatial: bool) -> IndependentVelocities:
    """The same of a large system, whose matrix is sparse."""
    measure, joints = metric(model), state.joints
    gradients = joints.gradients(state.motion)
    if spatial:
        R = np.concatenate([state.motion.R, np.eye(3)[None]])
        gradients[..., 3:] = np.einsum("rsk,rsjk->rsj", gradients[..., 3:], R[joints.bodies])
    G = sparse_matrix(gradients, joints.bodies, measure.moving)
    try:
        return measure.select(G, G.shape[1] - G.shape[0])
    except DependentRows as error:
        raise ValueError(
            f"the constraints are redundant or singular at the start: {model.row_name(error.row)}; {_REMEDY}"
        ) from error


def _is_spherical_tree(model: Model) -> bool:
    """Whether T is known in closed form: spherical joints of free bodies, no loop, nothing that moves by itself."""
    tree = model.tree
    return (
        not tree.closing
        and not len(model.drives)
        and all(
            [bool(model.primitives[i]["linear"]) for i in model.joints[k].primitives] == [True]
            and model.bodies["nt"][b] == 3
            for b, k in enumerate(tree.joint)
            if k >= 0
        )
    )
