"""`renumbered`: a problem with other masses, inertias, gravity or numbers of forces, where its start stays as it is.

They do not move bodies whose given values agree with each other. So nothing is searched, laid out or
recorded: the memory is a copy with other numbers in it, and rates and multipliers come of the code that is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rbdae._arrays import Vec
from rbdae.multibody.layout import BodyMotion, write
from rbdae.multibody.memory import Memory
from rbdae.multibody.model import Model, with_numbers
from rbdae.multibody.recording import changed_numbers
from rbdae.multibody.workspace import Workspace
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem, consistent_start
from rbdae.system import System

_OF_BODIES = ("mass", "inertia")

_MOVING = {"velocity", "angular_velocity"}


def renumbered(problem: Problem, system: System, values: Mapping[str, float]) -> Problem | None:
    """The problem of a system in which only the numbers with these names are others; None if its start, its layout or
    its code can be others, too."""
    old = problem.workspace
    forces = _of_forces(problem.system, values)
    if forces is None or not (old.memory.opened and _stays(problem)) or (forces and old.model.forces.functions):
        return None
    if old.selection.rows.dropped or old.selection.rows.pivot_floor is not None:
        return None  # a rank and a floor that were found with the masses
    model = with_numbers(old.model, system, forces_too=forces)
    memory = old.memory.renumbered(model)
    y0 = _written(problem, model, memory)
    workspace = Workspace(replace(memory, regular=y0), old.selection)
    workspace.open_numbers = changed_numbers(old, workspace, forces_too=forces)
    start = consistent_start(Interpretation(workspace), problem.t0, y0, problem.assembly)
    return Problem.of(workspace, start, problem.velocity, problem.again)


def _stays(problem: Problem) -> bool:
    """Whether the start is where its search began, and masses had no say in that: unknown velocities have the least
    kinetic energy beside given ones, and depend on masses where the centre of mass is not the origin of the body."""
    assembly = problem.assembly
    changes = (assembly.moved, assembly.turned, assembly.velocity_change, assembly.spin_change)
    return (
        not (assembly.steps or any(change.any() for change in changes))
        and problem.workspace.settings.structure != "loops"  # velocities are selected with masses
        and all(
            body.pivot is not None or set(body.given) >= _MOVING or not body.center_of_mass.any()
            for body in problem.system.bodies
        )
    )


def _of_forces(system: System, values: Mapping[str, float]) -> bool | None:
    """Whether some of the names are of a force; None unless the others are of gravity, a mass or an inertia."""
    bodies = {body.name for body in system.bodies}
    forces = {force.name for force in system.forces}
    found = False
    for name in values:
        part, _, field = name.partition(".")
        of_force = part in forces and part not in bodies
        if not (of_force or part == "gravity" or (part in bodies and field.partition(".")[0] in _OF_BODIES)):
            return None
        found |= of_force
    return found


def _written(problem: Problem, model: Model, memory: Memory) -> Vec:
    """y0: momenta depend on masses."""
    assembly, settings = problem.assembly, memory.settings
    if not settings.momenta:
        out = problem.y0.copy()
        out[memory.layout.n_differential :] = 0.0
        return out
    motion = BodyMotion(assembly.position, assembly.orientation, assembly.velocity, assembly.angular_velocity)
    return write(model, settings, memory.layout, motion, problem.selection)


__all__ = ["renumbered"]
