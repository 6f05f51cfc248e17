"""`renumbered`: a problem with other masses, inertias, gravity or numbers of forces, where bodies stay at their places.

They do not move bodies whose given values agree with each other, and have no say in velocities that are zero, or that
the joints and the given ones determine; other velocities are searched for. Nothing is laid out or recorded: the memory
has other numbers in it, and rates and multipliers come of the code that is there. Where positions have to be searched
for, the system is formulated again.
"""

from __future__ import annotations

import copy
from dataclasses import replace

from rbdae._arrays import Vec
from rbdae.actuators.block import Block
from rbdae.body import Body
from rbdae.initial.given import Hold, Known
from rbdae.initial.joints import Joints
from rbdae.initial.start import LARGEST, Velocities, consistent_state
from rbdae.joints.base import AbstractJoint
from rbdae.multibody.choices.selection import KeptRows, Selection
from rbdae.multibody.choices.states import write
from rbdae.multibody.memory.memory import Preparation
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.system.bodies import BodyMotion
from rbdae.multibody.system.model import Model, with_numbers
from rbdae.multibody.system.parameters import Changed, Parameter
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.start import Assembly, consistent_start
from rbdae.problem.switches import with_pivot_floor
from rbdae.system import System

_OF_BODIES = ("mass", "inertia")

_MOVING = {"velocity", "angular_velocity"}


def renumbered(problem: Problem, new: Changed, hold: Hold) -> Problem | None:
    """The problem with other numbers; None if bodies may have other places, or its layout or code can be others."""
    old, kinds = problem.workspace, set(map(_kind, new.parameters))
    if "places" in kinds or not old.memory.opened:
        return None
    constants, forces = "constants" in kinds, "forces" in kinds
    model: Model | None = None
    if constants:
        model = _with_constants(problem, new) if kinds == {"constants"} else None
    elif not (forces and old.model.forces.functions):
        model = with_numbers(old.model, new.system, forces_too=forces)
    if model is None or _records(model) != _records(old.model):
        return None
    assembly, rows, y0, regular = problem.assembly, old.selection.rows, problem.y0, old.memory.regular
    if not constants:
        found = _assembled(problem, model, hold)
        if found is None:
            return None
        assembly, rows = found
        y0 = regular = _written(problem, model, assembly)
    workspace = Workspace(old.memory.renumbered(model, regular), old.selection, old)
    workspace.open_numbers = old.open_numbers.changed(workspace.open_numbers.arrays)
    if rows.pivot_floor is not None and not constants:
        rows = with_pivot_floor(workspace, rows, problem.t0, y0)
    if rows is not old.selection.rows:
        workspace = _selecting(workspace, replace(old.selection, rows=rows))
    start = consistent_start(Interpretation(workspace), problem.t0, y0, assembly)
    return Problem.of(workspace, start, problem.velocity, problem.again)


def _selecting(workspace: Workspace, selection: Selection) -> Workspace:
    """A workspace whose memory has the numbers of a selection, and code of its own."""
    numbers = workspace.with_selection(selection).numbers
    memory = replace(workspace.memory, numbers=numbers, recorded={}, preparation=Preparation())
    out = Workspace(memory, selection, workspace)
    out.open_numbers = workspace.open_numbers
    return out


def _with_constants(problem: Problem, new: Changed) -> Model | None:
    """The model with others of the numbers of the laws of its blocks, which move no body. None if a law has not been
    recorded with them as symbols, or if one is 0, which may be structure: a law may not depend on an angle then."""
    forces = problem.model.forces
    before = dict(zip(forces.constant_labels, forces.constants["value"].tolist(), strict=True))
    if not all(before.get(name, 0.0) and value for name, value in new.values.items()):
        return None
    return replace(problem.model, system=copy.copy(new.system), forces=forces.with_constants(new.values))


def _assembled(problem: Problem, model: Model, hold: Hold) -> tuple[Assembly, KeptRows] | None:
    """The start with other masses where given positions agree, and the kept rows; None if the layout may change."""
    memory, before, rows = problem.workspace.memory, problem.assembly, problem.selection.rows
    if before.steps or before.moved.any() or before.turned.any():
        return None
    if "weightless" not in memory.known:
        memory.known["weightless"] = _is_weightless(problem)
    weightless = memory.known["weightless"]
    chosen = not weightless or rows.dropped or problem.selection.velocities is not None
    if chosen and model.scales.length != memory.model.scales.length:
        return None  # masses count in the length, and so in what is chosen
    if weightless:
        return before, rows
    state = consistent_state(model, problem.t0, hold=hold)
    if state.assembly.steps or state.rows.dropped != rows.dropped:
        return None
    return state.assembly, replace(rows, strength=state.rows.strength)


def _is_weightless(problem: Problem) -> bool:
    """Whether masses have no say in the velocities of the start."""
    model, at = problem.model, problem.assembly
    told = all(
        body.pivot is not None or set(body.given) >= _MOVING or not body.center_of_mass.any()
        for body in problem.system.bodies
    )
    moves = at.velocity.any() or at.angular_velocity.any()
    if not at.changes and (not moves or (told and not (at.velocity_change.any() or at.spin_change.any()))):
        return True
    known, joints = Known.of(model, ()), Joints(model, problem.t0)
    if at.changes or len(joints.sizes) > LARGEST:
        return False
    here = BodyMotion(at.position, at.orientation, at.velocity, at.angular_velocity).at(-known.arms)
    return Velocities.of(known, joints, replace(known.stated(), x=here.x, p=here.p)).determined


def _records(model: Model) -> tuple[int, ...]:
    """How many records of forces a model has: a force may have none for a number that is zero."""
    return len(model.forces.elements), len(model.forces.entries)


def _kind(parameter: Parameter) -> str:
    """``"bodies"`` of masses and inertias, ``"gravity"``, ``"constants"`` of blocks, ``"forces"``; ``"places"`` of
    others, by which bodies move."""
    part, field = parameter.part, parameter.field
    if isinstance(part, System):
        return "gravity"
    if isinstance(part, Body):
        return "bodies" if field in _OF_BODIES else "places"
    if isinstance(part, AbstractJoint):
        return "places"
    return "constants" if isinstance(part, Block) and field in ("values", "sources") else "forces"


def _written(problem: Problem, model: Model, assembly: Assembly) -> Vec:
    """y0: momenta depend on masses."""
    settings, layout = problem.workspace.settings, problem.layout
    if assembly is problem.assembly and not settings.momenta:
        out = problem.y0.copy()
        out[layout.n_differential :] = 0.0
        return out
    motion = BodyMotion(assembly.position, assembly.orientation, assembly.velocity, assembly.angular_velocity)
    return write(model, settings, layout, motion, problem.selection, problem.t0)
