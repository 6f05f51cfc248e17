"""`renumbered`: a problem with other masses, inertias, gravity or numbers of forces, where its start stays as it is.

They do not move bodies whose given values agree with each other. So nothing is searched, laid out or recorded: the
memory has other numbers in it (`rbdae.multibody.filled`), and rates and multipliers come of the code that is there.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdae._arrays import Vec
from rbdae.actuators.block import Block
from rbdae.multibody.filled import Filled
from rbdae.multibody.layout import BodyMotion, write
from rbdae.multibody.model import Model
from rbdae.multibody.parameters import Changed
from rbdae.multibody.recording import changed_numbers
from rbdae.multibody.workspace import Workspace
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.start import consistent_start
from rbdae.system import System

_OF_BODIES = ("mass", "inertia")

_MOVING = {"velocity", "angular_velocity"}


def renumbered(problem: Problem, new: Changed) -> Problem | None:
    """The problem with other numbers; None if its start, its layout or its code can be others, too."""
    old = problem.workspace
    kinds = _kinds(problem.system, new.names)
    if kinds is None or not old.memory.opened:
        return None
    if kinds == {"constants"}:
        return _with_constants(problem, new)
    if "constants" in kinds or not _stays(problem):
        return None
    if old.selection.rows.dropped or old.selection.rows.pivot_floor is not None:
        return None  # a rank and a floor that were found with the masses
    forces = "forces" in kinds
    if forces and old.memory.filled.like.forces.functions:
        return None
    if kinds == {"bodies"}:
        filled = old.memory.filled.with_bodies(new.bodies, new.system)
    else:
        filled = old.memory.filled.with_numbers(new.system(), forces_too=forces)
        if _records(filled.store.model) != _records(old.model):
            return None
    y0 = _written(problem, filled)
    workspace = Workspace(old.memory.renumbered(filled, y0), old.selection)
    workspace.open_numbers = changed_numbers(old, workspace, forces_too=forces)
    start = consistent_start(Interpretation(workspace), problem.t0, y0, problem.assembly)
    return Problem.of(workspace, start, problem.velocity, problem.again)


def _with_constants(problem: Problem, new: Changed) -> Problem | None:
    """The problem with other numbers of the laws of its blocks, which move no body. None if a law has not been recorded
    with them as symbols, or if one is 0, which may be structure: a law may not depend on an angle then."""
    old, system = problem.workspace, new.system()
    like = old.memory.filled.like
    values = {name: float(value) for name, value in _constants(system).items() if name in new.names}
    before = dict(zip(like.forces.constant_labels, like.forces.constants["value"].tolist(), strict=True))
    if not all(before.get(name, 0.0) and value for name, value in values.items()):
        return None
    filled = old.memory.filled.with_constants(system, values)
    workspace = Workspace(old.memory.renumbered(filled, old.memory.regular), old.selection)
    workspace.open_numbers = changed_numbers(old, workspace, forces_too=True)
    start = consistent_start(Interpretation(workspace), problem.t0, problem.y0, problem.assembly)
    return Problem.of(workspace, start, problem.velocity, problem.again)


def _constants(system: System) -> dict[str, float]:
    """The numbers of the laws of all blocks, by the names of parameters."""
    blocks = [force for force in system.forces if isinstance(force, Block)]
    return {f"{block.name}.{name}": value for block in blocks for name, value in block.constants.items()}


def _stays(problem: Problem) -> bool:
    """Whether the start is where its search began, and masses had no say in that: unknown velocities have the least
    kinetic energy beside given ones, and depend on masses where something moves and the centre of mass is not the
    origin of the body."""
    known = problem.workspace.memory.known
    if "stays" not in known:
        assembly = problem.assembly
        moves = assembly.velocity.any() or assembly.angular_velocity.any()
        changes = (assembly.moved, assembly.turned, assembly.velocity_change, assembly.spin_change)
        known["stays"] = (
            not (assembly.steps or any(change.any() for change in changes))
            and problem.workspace.settings.structure != "loops"  # velocities are selected with masses
            and all(
                not moves or body.pivot is not None or set(body.given) >= _MOVING or not body.center_of_mass.any()
                for body in problem.system.bodies
            )
        )
    return bool(known["stays"])


def _records(model: Model) -> tuple[int, ...]:
    """How many records of forces a model has: a force may have none for a number that is zero."""
    return len(model.bushings), len(model.forces.elements), len(model.forces.entries)


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


def _written(problem: Problem, filled: Filled) -> Vec:
    """y0: momenta depend on masses."""
    assembly, settings, layout = problem.assembly, problem.workspace.settings, problem.layout
    if not settings.momenta:
        out = problem.y0.copy()
        out[layout.n_differential :] = 0.0
        return out
    motion = BodyMotion(assembly.position, assembly.orientation, assembly.velocity, assembly.angular_velocity)
    return write(filled.store.model, settings, layout, motion, problem.selection)


__all__ = ["renumbered"]
