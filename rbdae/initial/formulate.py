"""`formulate`: from a system to a problem, as a line of functions, each on the result of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae._names import FormulationName, RotationName, VelocityName
from rbdae.formulations.base import (
    DirectorConstraints,
    Formulation,
    Gyroscopic,
    Norm,
    PullBack,
    RadialInertia,
)
from rbdae.initial.assemble import compiled
from rbdae.initial.changed import warn_of_changes
from rbdae.initial.choices import Choices, check_choices, check_consistent
from rbdae.initial.code import check_code, code_of
from rbdae.initial.consistent import ConsistentState, consistent_state
from rbdae.initial.given import Hold
from rbdae.initial.renumbered import renumbered
from rbdae.initial.structure import REMEDY, settings_of
from rbdae.kernels.records import DIRECTOR_RATE
from rbdae.multibody.layout import write
from rbdae.multibody.memory import Code, Memory
from rbdae.multibody.model import Model
from rbdae.multibody.parameters import Changed
from rbdae.multibody.recording import selection_numbers
from rbdae.multibody.row_selection import SUSPENDED_FROM
from rbdae.multibody.workspace import Workspace
from rbdae.problem.friction_margins import refuse_friction
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.start import Start, consistent_start
from rbdae.problem.switches.rows import with_pivot_floor
from rbdae.system import System

_SIZES = "check masses, inertias, positions and velocities, and that the laws of forces and drives return numbers"


def formulate(
    system: System,
    formulation: FormulationName | Formulation = "index-2",
    *,
    rotation: RotationName = "quaternion",
    velocity: VelocityName | None = None,
    consistent: Literal["warn", "project", "check"] = "warn",
    constraint: str | None = None,
    radial_inertia: RadialInertia | None = None,
    gyroscopic: Gyroscopic | None = None,
    pull_back: PullBack | None = None,
    norm: Norm | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    redundant: Literal["error", "minimum-norm"] = "error",
    hold: Hold = (),
    reference: Literal["space", "start"] = "space",
    director_constraints: DirectorConstraints | None = None,
    code: Literal["auto", "folded", "generic", "traced"] = "auto",
    t0: float = 0.0,
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
    constraint, radial_inertia, gyroscopic, pull_back, norm, alpha, beta, director_constraints
        The options of a formulation that is given by its name, as its class in `rbdae.formulations` describes them.
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
    if not isinstance(system, System):
        raise TypeError(
            f"formulate needs a rbdae.System, got {_check.show(system)} of type {type(system).__name__}; make one with "
            "rbdae.System()"
        )
    choices = check_choices(
        formulation,
        rotation,
        velocity,
        {
            "constraint": constraint,
            "radial_inertia": radial_inertia,
            "gyroscopic": gyroscopic,
            "pull_back": pull_back,
            "norm": norm,
            "alpha": alpha,
            "beta": beta,
            "director_constraints": director_constraints,
        },
        redundant,
        reference,
    )
    wanted = check_consistent(consistent)
    wanted_code = check_code(code)
    t0 = _check.number("formulate", "t0", t0)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by name
        problem = _formulated(compiled(system, t0, choices.explicit), choices, t0, wanted == "check", hold, wanted_code)
    if wanted == "warn" and not hold:
        warn_of_changes(problem.assembly)
    return problem


def _formulated(model: Model, choices: Choices, t0: float, check: bool, hold: Hold, wanted: str) -> Problem:
    code = code_of(wanted)
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
        raise ValueError(f"{follow} from the others at the start: {names}; {REMEDY}")
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
            f"{REMEDY}"
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


__all__ = ["formulate"]
