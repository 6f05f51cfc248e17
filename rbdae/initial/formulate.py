"""`formulate`: from a system to a problem, as a line of functions, each on the result of the one before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.compiler.jit import expect
from rbdae.formulations.base import Derivative, Explicit, Formulation
from rbdae.initial.assemble import compiled
from rbdae.initial.changed import warn_of_changes, warn_of_forgotten
from rbdae.initial.choices import Choices, RadialInertia, check_choices, check_consistent
from rbdae.initial.code import check_code, code_of
from rbdae.initial.consistent import START_SETTINGS, ConsistentState, consistent_state
from rbdae.initial.euler_parameter_choices import Gyroscopic, PullBack
from rbdae.initial.given import Hold
from rbdae.initial.structure import REMEDY, bare_settings, probable_structure, settings_of
from rbdae.kernels import outputs
from rbdae.kernels.projection import project
from rbdae.kernels.records import DIRECTOR_RATE
from rbdae.multibody.layout import write
from rbdae.multibody.memory import Code, Memory
from rbdae.multibody.model import Model
from rbdae.multibody.recording import selection_numbers
from rbdae.multibody.row_selection import SUSPENDED_FROM
from rbdae.multibody.settings import features
from rbdae.multibody.workspace import Workspace
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem, Start, consistent_start
from rbdae.problem.switches.rows import with_pivot_floor
from rbdae.system import System

_SIZES = "check masses, inertias, positions and velocities, and that the laws of forces and drives return numbers"


def formulate(
    system: System,
    formulation: str | Formulation = "index-2",
    *,
    rotation: str = "quaternion",
    velocity: str | None = None,
    consistent: Literal["warn", "project", "check"] = "warn",
    constraint: str | None = None,
    radial_inertia: RadialInertia = "zero",
    gyroscopic: Gyroscopic | None = None,
    pull_back: PullBack | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    redundant: Literal["error", "minimum-norm"] = "error",
    hold: Hold = (),
    reference: Literal["space", "start"] = "space",
    director_constraints: Literal["rows", "columns"] = "rows",
    code: Literal["auto", "generic", "open", "traced"] = "auto",
    t0: float = 0.0,
) -> Problem:
    """Write the equations of a system.

    Parameters
    ----------
    system : System
    formulation : str
        ``"index-3"``, ``"index-2"``, ``"index-1"``, ``"index-0"``, ``"ggl"``, ``"hiller-anantharaman"``,
        ``"baumgarte"`` (``"baumgarte-ode"``), ``"projected-2"``, ``"projected-1"``, ``"projected-0"``,
        ``"overdetermined"`` (``"overdetermined-1"``), ``"null-space"`` (``"null-space-overdetermined"``),
        ``"hamiltonian"`` (and the spellings ``"ind3"``, ``"ggl2"``, ``"ovstab1"``, ... of Assimulo). Also
        ``"hamiltonian-momentum"``, ... for the values of `constraint`, and a `Formulation` of
        one's own. ``"null-space"`` costs O(n) for trees of lower pairs and O(n^3) in the number of velocities for
        systems with loops; their quasi-velocities are a selection that `solve` changes when it becomes
        ill-conditioned.
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
    constraint : str
        For ``"hamiltonian"``: ``"position"`` (default), ``"momentum"``, ``"differentiated"``, ``"eliminated"``,
        ``"both"`` (with a second multiplier), ``"overdetermined"``.
    radial_inertia : ``"zero"`` or ``"half-trace"``
        J0 of the quaternion mass of the coordinate forms: 0 ([NS]) or tr(J)/2 ([BS09], whose
        forms always have it). The motion is the same, the multiplier of the unit norm differs.
    gyroscopic : ``"third-order"`` (default) or ``"fifth-order"``
        The gyroscopic term of the coordinate forms in quaternions: [SNS15] (29), which is [NS] (33), or (23). The
        motion and the joints' multipliers are the same, that of the unit norm differs (`rbdae.norm_multipliers`).
    pull_back : ``"homogeneous"`` (default), ``"moment"`` or ``"inhomogeneous"``
        How weights, applied forces and those of the joints become generalised forces there: by the gradient of
        R(p) = (p0^2 - e . e) I + 2 e e^T + 2 p0 e~, [NS] (48), linear in p; as 2 L^T n, [SNS15] (59), without a part
        along p; by the gradient of (5), which has used |p| = 1, (69). Again only the multiplier of the norm differs.
    alpha, beta : float
        Of the Baumgarte forms, gddot + 2 alpha gdot + beta^2 g = 0, 1/s; both 10 where they are not given, which is
        right for motions that take about a second.
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
    director_constraints : ``"rows"`` or ``"columns"``
        The six internal constraints of ``"directors"``: R R^T = I, [NS] (19), or R^T R = I, (44). The motion is the
        same; La of the columns is R^T La R of the rows.
    code : ``"auto"``, ``"generic"``, ``"open"`` or ``"traced"``
        The machine code behind the callbacks: kernels that are compiled once for all models, or code of this model
        alone, which takes tenths of a second to make, in large models seconds, and is 5 to 20 times as fast. ``"auto"``
        is that up to 1,000 bodies, of callbacks that are not too long for it. ``"traced"`` asks for it whatever the
        size, and a callback that cannot have it is named in a warning; RBDAE_CODE=generic (or traced) in the
        environment makes that choice for all. ``"open"`` is code of the model with its numbers as inputs: it is that of
        all models with the same structure, and `Problem.with_parameters` has it. Results agree to rounding.
        ``problem.code``, ``problem.callbacks.code(name)`` and the statistics of a run say which it was.
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
        constraint,
        radial_inertia,
        (gyroscopic, pull_back),
        {"alpha": alpha, "beta": beta},
        redundant,
        reference,
        director_constraints,
    )
    wanted = check_consistent(consistent)
    wanted_code = check_code(code)
    t0 = _check.number("formulate", "t0", t0)
    warn_of_forgotten(system)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by name
        problem = _formulated(compiled(system, t0), choices, t0, wanted == "check", hold, wanted_code)
    if wanted == "warn" and not hold:
        warn_of_changes(problem.assembly)
    return problem


def _formulated(model: Model, choices: Choices, t0: float, check: bool, hold: Hold, wanted: str) -> Problem:
    code = code_of(wanted, model)
    if code == "generic":
        _refuse_without_kernels(choices)
        _expect_kernels(model, choices)
    at_start: Code = code if code in ("generic", "open") else "plain"  # a start takes few evaluations
    state = consistent_state(model, t0, check=check, hold=hold, code=at_start)
    _refuse_state(model, choices, state)
    settings, selection = settings_of(model, choices, state)
    workspace = Workspace(Memory.of(model, settings, code=at_start), selection)
    start = _start(workspace, state, t0)
    workspace = _with_floor(workspace, choices, start)
    if code != "generic":
        workspace = _with_code(workspace, code, start.y0)
    return Problem.of(workspace, start, choices.velocity, partial(_again, choices, t0, hold))


def _again(choices: Choices, t0: float, hold: Hold, system: System) -> Problem:
    """Another system of the same kind, formulated in the same way, with its numbers as inputs of its code."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _formulated(compiled(system, t0), choices, t0, False, hold, "open")


def _refuse_without_kernels(choices: Choices) -> None:
    """A formulation whose Jacobian is derived has no generic code."""
    if not choices.formulation.written:
        raise ValueError(
            f"formulation {choices.formulation.name!r} has no kernel of its Jacobian, so that there is no generic code "
            "of it; use code='traced' or 'auto', with at most 1000 bodies and without NUMBA_DISABLE_JIT"
        )


def _expect_kernels(model: Model, choices: Choices) -> None:
    """Have other processes compile what this problem will probably call, in this order."""
    structure = probable_structure(model, choices)
    settings = bare_settings(choices, structure)
    start, wanted = features(model, START_SETTINGS), features(model, settings)
    kernels = settings.kernels
    further = [kernels.rhs_jacobian] if isinstance(kernels, Explicit) else []
    jacobians = [entry for entry in (*further, kernels.jacobian) if not isinstance(entry, Derivative)]
    expect(
        now=[(outputs.constraints, start), (kernels.rates, wanted)],
        later=[
            (outputs.natural, start),
            (project, start),
            *((entry, wanted) for entry in (kernels.residual, *jacobians)),
        ],
    )


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
    y: Vec = write(workspace.model, workspace.settings, workspace.layout, state.motion, workspace.selection)
    start = consistent_start(Interpretation(workspace), t0, y, state.assembly)
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
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
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
