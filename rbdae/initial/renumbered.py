"""`renumbered`: a problem with other masses, inertias, gravity or numbers of forces, where bodies stay at their places.

They do not move bodies whose given values agree with each other, and have no say in velocities that are zero, or that
the joints and the given ones determine; others are weighed again (`rbdae.initial.weighed`). Nothing is laid out or
recorded: the memory has other numbers in it, and rates and multipliers come of the code that is there.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from rbdae._arrays import Vec
from rbdae.actuators.block import Block
from rbdae.initial.given import Known
from rbdae.initial.joints import Joints
from rbdae.initial.start import ConsistentState
from rbdae.initial.weighed import RANK, Plane, weighed
from rbdae.multibody.bodies import BodyMotion
from rbdae.multibody.model import Model, with_numbers
from rbdae.multibody.parameters import Changed
from rbdae.multibody.recording import changed_numbers, selection_numbers
from rbdae.multibody.row_selection import SUSPENDED_FROM, strength
from rbdae.multibody.selection import Selection
from rbdae.multibody.settings import Settings
from rbdae.multibody.states import write
from rbdae.multibody.workspace import Workspace
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.start import Assembly, consistent_start
from rbdae.problem.switches.rows import with_pivot_floor
from rbdae.system import System

_OF_BODIES = ("mass", "inertia")

_OF_ALL = ("algebraic", "differential", "variable_index")
"""What a problem says of its unknowns whatever the numbers."""

_MOVING = {"velocity", "angular_velocity"}

Search: TypeAlias = Callable[[Model], tuple[ConsistentState, Settings, Selection]]


def renumbered(problem: Problem, new: Changed, search: Search, *, held: bool) -> Problem | None:
    """The problem with other numbers; None if the places of bodies, its layout or its code can be others, too."""
    old, kinds = problem.workspace, _kinds(problem.system, new.names)
    if kinds is None or not old.memory.opened:
        return None
    constants, forces = "constants" in kinds, "forces" in kinds
    system = new.system
    if constants:
        model = _with_constants(problem, new, system) if kinds == {"constants"} else None
    elif forces and old.model.forces.functions:
        return None
    else:
        model = with_numbers(old.model, system, forces_too=forces)
        if _records(model) != _records(old.model):
            return None
    if model is None:
        return None
    assembly, selection = problem.assembly, old.selection
    if constants:
        y0, regular = problem.y0, old.memory.regular
    elif (again := _assembled(problem, model, held)) is not None and _selects_alike(problem, model):
        assembly, selection = again, _as_strong(problem, model, again)
        y0 = regular = _written(problem, model, assembly)
    else:
        state, settings, selection = search(model)
        if not _stands(problem, state, settings):
            return None
        assembly = state.assembly
        # floors are far below all pivots at the start, also those of other masses
        selection = selection.with_rows(replace(selection.rows, pivot_floor=old.selection.rows.pivot_floor))
        y0 = regular = write(model, old.settings, old.layout, state.motion, selection, problem.t0)
    workspace = Workspace(old.memory.renumbered(model, regular), selection)
    workspace.open_numbers = changed_numbers(old, workspace, forces_too=forces or constants)
    start = consistent_start(Interpretation(workspace), problem.t0, y0, assembly)
    if selection.rows.pivot_floor is not None and not constants:
        rows = with_pivot_floor(workspace, selection.rows, problem.t0, start.y0, SUSPENDED_FROM)
        selection = selection.with_rows(rows)
    if selection is not old.selection:
        workspace = _selecting(workspace, selection)
    out = Problem.of(workspace, start, problem.velocity, problem.again)
    vars(out).update({name: vars(problem)[name].copy() for name in _OF_ALL if name in vars(problem)})
    return out


def _selecting(workspace: Workspace, selection: Selection) -> Workspace:
    """A workspace whose memory has the numbers of a selection."""
    numbers, memory = selection_numbers(workspace.with_selection(selection)), workspace.memory
    out = Workspace(replace(memory.renumbered(memory.model, memory.regular), numbers=numbers), selection)
    out.open_numbers = workspace.open_numbers
    return out


def _stands(problem: Problem, state: ConsistentState, settings: Settings) -> bool:
    """Whether bodies are where they were, and equations and velocities are laid out in the same way."""
    before, old = problem.assembly, problem.workspace.settings
    alike = (settings.structure, settings.sparse, settings.n_independent)
    return (
        np.array_equal(state.assembly.position, before.position)
        and np.array_equal(state.assembly.orientation, before.orientation)
        and state.rows.dropped == problem.selection.rows.dropped
        and (old.structure, old.sparse, old.n_independent) == alike
        and not (settings.tree or old.tree)
    )


def _selects_alike(problem: Problem, model: Model) -> bool:
    """Whether rows and velocities are selected as they were: for that masses count in the model's length alone."""
    if not problem.selection.rows.dropped and problem.selection.velocities is None:
        return True
    return model.scales.length == problem.model.scales.length


def _with_constants(problem: Problem, new: Changed, system: System) -> Model | None:
    """The model with others of the numbers of the laws of its blocks, which move no body. None if a law has not been
    recorded with them as symbols, or if one is 0, which may be structure: a law may not depend on an angle then."""
    values = {name: float(value) for name, value in _constants(system).items() if name in new.names}
    forces = problem.model.forces
    before = dict(zip(forces.constant_labels, forces.constants["value"].tolist(), strict=True))
    if not all(before.get(name, 0.0) and value for name, value in values.items()):
        return None
    return replace(problem.model, system=copy.copy(system), forces=forces.with_constants(values))


def _constants(system: System) -> dict[str, float]:
    """The numbers of the laws of all blocks, by the names of parameters."""
    blocks = [force for force in system.forces if isinstance(force, Block)]
    return {f"{block.name}.{name}": value for block in blocks for name, value in block.constants.items()}


def _assembled(problem: Problem, model: Model, held: bool) -> Assembly | None:
    """The start with other masses where given positions agree; None if it takes a search."""
    memory, before = problem.workspace.memory, problem.assembly
    if before.steps or before.moved.any() or before.turned.any():
        return None
    if "stays" not in memory.known:
        memory.known["stays"] = not before.changes and _stays(problem)
    if memory.known["stays"]:
        return before
    if held or model.scales.length != memory.model.scales.length:
        return None
    if "plane" not in memory.known:
        memory.known["plane"] = Plane.of(memory.model, problem.t0, before)
    plane: Plane | None = memory.known["plane"]
    return None if plane is None else weighed(plane, model.bodies[: model.n], before)


def _stays(problem: Problem) -> bool:
    """Whether masses had no say in velocities: nothing moves, or they are those where the search began, or there are no
    others. Unknown ones have the least kinetic energy beside given ones."""
    a = problem.assembly
    if not (a.velocity.any() or a.angular_velocity.any()):
        return True
    told = all(
        body.pivot is not None or set(body.given) >= _MOVING or not body.center_of_mass.any()
        for body in problem.system.bodies
    )
    if told and not (a.velocity_change.any() or a.spin_change.any()):
        return True
    # whether no unknown velocity is in the null space of G
    known, joints = Known.of(problem.model, ()), Joints(problem.model, problem.t0)
    motion = BodyMotion(a.position, a.orientation, a.velocity, a.angular_velocity).at(-known.arms)
    G = joints.of_origins(known.arms).matrix(motion)
    unknown = problem.model.scales.columns(G)[:, (known.free & ~known.moving).ravel()]
    return bool(np.linalg.matrix_rank(unknown, tol=RANK * float(np.linalg.norm(unknown, 2))) == unknown.shape[1])


def _as_strong(problem: Problem, model: Model, assembly: Assembly) -> Selection:
    """The selection, with the strength of its kept rows by the radius of gyration of other masses."""
    selection, rows = problem.selection, problem.selection.rows
    if assembly is problem.assembly or not rows.dropped:
        return selection
    plane: Plane = problem.workspace.memory.known["plane"]
    strong = strength(model, plane.G, rows.dropped)
    return selection.with_rows(replace(rows, strength=strong))


def _records(model: Model) -> tuple[int, ...]:
    """How many records of forces a model has: a force may have none for a number that is zero."""
    return len(model.forces.elements), len(model.forces.entries)


def _kinds(system: System, names: Sequence[str]) -> set[str] | None:
    """Whose numbers these are: ``"bodies"``, masses and inertias, ``"gravity"``, ``"forces"``, or ``"constants"`` of
    blocks; None if others are among them."""
    bodies = {body.name for body in system.bodies}
    forces = {force.name for force in system.forces}
    constants = _constants(system)
    found = set()
    for name in names:
        part, _, field = name.partition(".")
        if name in constants and part not in bodies:
            found.add("constants")
        elif part in forces and part not in bodies:
            found.add("forces")
        elif part == "gravity":
            found.add("gravity")
        elif part in bodies and field.partition(".")[0] in _OF_BODIES:
            found.add("bodies")
        else:
            return None
    return found


def _written(problem: Problem, model: Model, assembly: Assembly) -> Vec:
    """y0: momenta depend on masses."""
    settings, layout = problem.workspace.settings, problem.layout
    if assembly is problem.assembly and not settings.momenta:
        out = problem.y0.copy()
        out[layout.n_differential :] = 0.0
        return out
    motion = BodyMotion(assembly.position, assembly.orientation, assembly.velocity, assembly.angular_velocity)
    return write(model, settings, layout, motion, problem.selection, problem.t0)
