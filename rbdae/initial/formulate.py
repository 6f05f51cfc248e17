"""`formulate`: from a system to a problem, as a line of functions, each on the result of the one before; `assemble`,
its start alone."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.formulations.base import Formulation
from rbdae.formulations.pairing import chosen_velocity, misfit
from rbdae.formulations.table import FORMULATIONS, FormulationName, VelocityName, named
from rbdae.initial.given import REMEDY, Hold, InitialValuesWarning, listed
from rbdae.initial.renumbered import renumbered
from rbdae.initial.start import ConsistentState, consistent_state
from rbdae.kernels.records import DIRECTOR_RATE
from rbdae.machine.cache import say_once
from rbdae.machine.module import of_models
from rbdae.machine.python_calls import supported
from rbdae.multibody.choices.row_selection import SUSPENDED_FROM, redundant_rows
from rbdae.multibody.choices.selection import IndependentVelocities, Selection
from rbdae.multibody.choices.settings import Settings, Structure
from rbdae.multibody.choices.states import centred, write
from rbdae.multibody.choices.tree_velocities import is_spherical_tree, spanning_freedoms, tree_velocities
from rbdae.multibody.choices.velocity_kind import ANGULAR, KINDS, SPATIAL, VelocityKind
from rbdae.multibody.choices.velocity_selection import DependentRows, metric, sparse_matrix, spatial_columns
from rbdae.multibody.memory.memory import Code, Memory
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.system.model import Model, compile_system
from rbdae.multibody.system.parameters import Changed
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.start import Assembly, Start, consistent_start
from rbdae.problem.switches import refuse_friction, with_pivot_floor
from rbdae.rotations import CHARTS, Chart
from rbdae.rotations.chart import RotationName
from rbdae.system import System

CODES: Final = ("auto", "folded")
"""Values of `code`; the environment variable RBDAE_CODE says what "auto" means."""

_REMEDY = (
    "replace a joint by one with fewer equations, or ask for redundant='minimum-norm', which gives the same motion and "
    "reactions of least norm"
)
_SIZES = "check masses, inertias, positions and velocities, and that the laws of forces and drives return numbers"

_WITHOUT: Final = {"radial_inertia": "zero", "director_constraints": "rows"}
"""Options that forms without them may be asked for, as studies over all forms do: it is how they are."""

SPARSE_FROM = 24
"""Freedoms of the spanning tree from which independent velocities of loops are selected by sparse matrices."""


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
    code: Literal["auto", "folded"] = "auto",
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
        (`rbdae.problem.switches`).
    hold : names of bodies, or (name, ``"x"`` | ``"y"`` | ``"z"`` | ``"position"`` | ``"orientation"``)
        What keeps its place while the system is assembled, see `rbdae.assemble`. It says that the others are placed
        roughly: what changes of them gives no warning.
    reference : ``"space"`` or ``"start"``
        R_ref in R = R_ref R(a), a constant of each body, for charts with a singular set: I, or such that the chart is
        centred at the body's initial attitude. A start at or beyond the singular set needs ``"start"``.
    code : ``"auto"`` or ``"folded"``
        The machine code behind the callbacks. ``"auto"`` is code of the structure of this model: of its bodies, joints
        and forces, the formulation, and which numbers are 0, 1, -1 or equal. It loads the other numbers, and takes
        tenths of a second to make, in large models seconds; other models of the structure find it
        (`Problem.with_parameters`). ``"folded"`` has all numbers of the model as constants. RBDAE_CODE in the
        environment says what ``"auto"`` is. Where there is no machine code, Python runs, milliseconds a call, and a
        warning says why: without llvmlite, and of a callback that is too long. Results agree to rounding.
        ``problem.code``, ``problem.callbacks.code(name)`` and the statistics of a run say which it was: ``"machine"``,
        ``"folded"`` or ``"plain"``, which is Python.
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
    _check.one_of("value of consistent", consistent, ("warn", "project", "check"))
    of_model = _code_of(code)
    t0 = _check.number("formulate", "t0", t0)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by name
        problem = _formulated(system, choices, t0, consistent == "check", hold, of_model)
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
    return consistent_state(compile_system(system, t0=t0), t0, hold=hold).assembly


def _checked_system(owner: str, system: object) -> System:
    if not isinstance(system, System):
        raise TypeError(
            f"{owner} needs a rbdae.System, got {_check.show(system)} of type {type(system).__name__}; make one with "
            "rbdae.System()"
        )
    return system


def _formulated(system: System, choices: Choices, t0: float, check: bool, hold: Hold, code: Code) -> Problem:
    model = compile_system(system, choices.formulation.kind == "ode", t0)
    state = consistent_state(model, t0, check=check, hold=hold)
    _refuse_state(model, choices, state)
    settings, selection = settings_of(model, choices, state)
    workspace = Workspace(Memory.of(model, settings), selection)
    y: Vec = write(model, settings, workspace.layout, state.motion, selection, t0)
    view = Interpretation(workspace)
    start = consistent_start(view, t0, y, state.assembly)
    _refuse_start(view, start)
    row = workspace.singular_row()
    if row is not None:
        raise _singular(f"first at {model.row_name(row)}")
    workspace = _with_floor(workspace, choices, start)
    # recordings are made near the start
    workspace = Workspace(workspace.memory.with_code(code, start.y0, workspace.numbers), workspace.selection)
    return Problem.of(workspace, start, choices.velocity, partial(_again, choices, t0, hold, code))


def _again(choices: Choices, t0: float, hold: Hold, code: Code, problem: Problem, new: Changed | System) -> Problem:
    """The system of a problem with other numbers, or another one, formulated in the same way."""
    with np.errstate(over="ignore", invalid="ignore"):
        out = None if isinstance(new, System) else renumbered(problem, new, hold)
        if out is None:
            return _formulated(new if isinstance(new, System) else new.system, choices, t0, False, hold, code)
        _refuse_start(out.interpretation, out.start)
        return out


def _refuse_state(model: Model, choices: Choices, state: ConsistentState) -> None:
    """Redundant rows that may not be left out; bodies without a director mass."""
    names = state.assembly.redundant
    if names and not choices.may_drop:
        follow = "1 joint equation follows" if len(names) == 1 else f"{len(names)} joint equations follow"
        raise ValueError(f"{follow} from the others at the start: {'; '.join(names)}; {_REMEDY}")
    if choices.formulation.unknowns == "momenta" and choices.kind.number == DIRECTOR_RATE:
        for k, name in enumerate(model.names):
            if np.isnan(model.bodies["euler_inverse"][k]).any():
                raise ValueError(
                    f"body {name!r}: its Euler tensor tr(J)/2 I - J is singular (a flat body), so the director mass "
                    "has no inverse; use rotation='quaternion'"
                )


# ---------------------------------------------------------------- the start


def _refuse_start(view: Interpretation, start: Start) -> None:
    """Friction at rest, numbers so large that the equations overflow, and laws that return none."""
    refuse_friction(view, start.t0, start.y0)
    for what, values in (("", start.y0), ("the rate of ", start.yd0)):
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            label = view.workspace.layout.labels[bad[0]]
            more = f" (and {len(bad) - 1} more unknowns are not finite)" if len(bad) > 1 else ""
            raise ValueError(f"{what}{label} is {values[bad[0]]:g} at t0 = {start.t0:g}{more}; {_SIZES}")


def _with_floor(workspace: Workspace, choices: Choices, start: Start) -> Workspace:
    """Suspend joint equations near singular positions, if they may be left out and loops can come to one: where their
    pivots are small against the ones of the rates at the start."""
    if not (choices.may_drop and workspace.model.tree.closing and not workspace.settings.reduced):
        return workspace
    rows, pivots = workspace.selection.rows, workspace.pivots()
    if pivots is None:
        rows = with_pivot_floor(workspace, rows, start.t0, start.y0)
    else:
        rows = replace(rows, pivot_floor=SUSPENDED_FROM * pivots)
    return workspace.with_selection(replace(workspace.selection, rows=rows))


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

    def settings(self, structure: Structure, **found: Any) -> Settings:
        return Settings(self.formulation, self.chart, self.kind, structure, **found)


def check_choices(
    formulation: str | Formulation,
    rotation: str,
    velocity: str | None,
    options: Mapping[str, object],
    redundant: str,
    reference: str,
) -> Choices:
    """The choices of `rbdae.formulate`; `options` belong to the class of the formulation. Raises TypeError and
    ValueError for an unknown name, and for choices that do not go together."""
    form = _with_options(formulation, options)
    _check.one_of("rotation", rotation, CHARTS)
    chart = CHARTS[rotation]
    speed = chosen_velocity(form, chart, velocity)
    _check.one_of("value of redundant", redundant, ("error", "minimum-norm"))
    _check.one_of("reference", reference, ("space", "start"))
    if reference == "start" and not chart.centre:
        others = ", ".join(c.name for c in CHARTS.values() if c.centre)
        raise ValueError(
            f"reference='start' centres charts that have a singular set: {others}; {chart.name} has none, leave it out"
        )
    if wrong := misfit(form, chart, speed, [name for name, value in options.items() if value is not None]):
        raise ValueError(wrong)
    kind = SPATIAL if speed == "spatial" else ANGULAR
    if speed not in ("spatial", "angular") and chart.coordinate_velocities is not None:
        kind = KINDS[chart.coordinate_velocities]  # momenta are conjugate to the rates of the coordinates
    return Choices(form, chart, speed, kind, redundant == "minimum-norm", reference)


def _with_options(formulation: str | Formulation, options: Mapping[str, Any]) -> Formulation:
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


def _code_of(value: str) -> Code:
    """The code of a model's problems, from the argument `code` of `formulate`; in place of "auto" it is what the
    environment says. Python where Python is not as machine code expects it, and where tests ask for none."""
    _check.one_of("value of code", value, CODES)
    if value == "auto":
        value = os.environ.get("RBDAE_CODE", "auto")
        _check.one_of("value of RBDAE_CODE in the environment", value, CODES)
    if not of_models():
        return "plain"
    if not supported():
        say_once("this Python keeps floats and arrays elsewhere than machine code looks for them; plain Python runs")
        return "plain"
    return "folded" if value == "folded" else "auto"


# ---------------------------------------------------------------- settings and selection


def settings_of(model: Model, choices: Choices, state: ConsistentState) -> tuple[Settings, Selection]:
    """The settings that lay the model out, by the structure by which velocities are found, and the selection at the
    start."""
    references = centred(choices.chart, state.motion.R) if choices.reference == "start" else None
    inputs = model.forces.input_values if model.forces.inputs else None
    selection, redundant = Selection(state.rows, None, references, inputs), bool(state.rows.dropped)
    if choices.formulation.unknowns != "quasi-velocities":
        return choices.settings("any", redundant=redundant), selection
    if is_spherical_tree(model):
        return choices.settings("spherical tree"), selection
    tree = None if redundant else tree_velocities(model, state.motion.R, state.joint_matrix)
    if tree is not None:
        return choices.settings("tree", tree=tree), selection
    sparse = not redundant and spanning_freedoms(model) >= SPARSE_FROM
    find = _sparse_velocities if sparse else _independent_velocities
    velocities = find(model, state, choices.kind.spatial)
    settings = choices.settings("loops", n_independent=len(velocities.S), sparse=sparse, redundant=redundant)
    return settings, replace(selection, velocities=velocities)


def _independent_velocities(model: Model, state: ConsistentState, spatial: bool) -> IndependentVelocities:
    """From the null space at the start."""
    G, dropped = state.joint_matrix(), state.rows.dropped
    kept = np.delete(np.arange(len(G)), dropped)
    loose = redundant_rows(model, G[kept], prefer_trees=False)
    if loose:
        raise _singular("; ".join(model.row_name(int(kept[k])) for k in loose))
    if spatial:
        G = spatial_columns(G, state.motion.R)
    measure = metric(model)
    return measure.select(G, len(measure.scale) - len(kept))


def _sparse_velocities(model: Model, state: ConsistentState, spatial: bool) -> IndependentVelocities:
    measure, joints = metric(model), state.joints
    gradients = joints.gradients(state.motion)
    if spatial:
        R = np.concatenate([state.motion.R, np.eye(3)[None]])
        gradients[..., 3:] = np.einsum("rsk,rsjk->rsj", gradients[..., 3:], R[joints.bodies])
    G = sparse_matrix(gradients, joints.bodies, measure.moving)
    try:
        return measure.select(G, G.shape[1] - G.shape[0])
    except DependentRows as error:
        raise _singular(model.row_name(error.row)) from error


def _singular(rows: str) -> ValueError:
    return ValueError(f"the constraints are redundant or singular at the start: {rows}; {_REMEDY}")
