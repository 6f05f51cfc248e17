"""The functions of an integration scheme for a problem, as loops of fixed steps in machine code call them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from rbdae.compiler.jit import Entry
from rbdae.conserving import SCHEMES, Scheme
from rbdae.conserving.entries import predict
from rbdae.kernels import records as kb
from rbdae.machine.function import MachineFunction, Shapes
from rbdae.multibody.bound import in_memory, machine_function
from rbdae.multibody.traced import Tally, traced
from rbdae.multibody.workspace import Workspace

IN_DIRECTORS: Mapping[str, str] = {"QUAT.EM-R": "DIR.EM", "QUAT.EM": "DIR.EM"}
"""What these are in director momenta: the paper's scheme there, whose increments have Rodrigues parameters."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class StepFunctions:
    """``newton``, ``advance`` and ``predict`` of a scheme, see `rbdae.machine.loops.fixed`; a step has `n_unknowns`,
    of which `n_rows` belong to joints; `scheme` is its name, in directors that of what it is there; `turns` are the
    bodies with the places of their increments b."""

    scheme: str
    newton: MachineFunction
    advance: MachineFunction
    predict: MachineFunction
    n_unknowns: int
    n_rows: int
    code: Literal["traced", "folded", "generic", "mixed"]
    turns: tuple[tuple[str, int], ...]

    def check(self) -> None:
        """Raise what a Python function behind one of them has raised."""
        for function in (self.newton, self.advance, self.predict):
            function.check()


def step_functions(workspace: Workspace, scheme: str, tally: Tally) -> StepFunctions:
    """The functions of a scheme of `rbdae.conserving.SCHEMES`; `tally` counts where the generic kernels run.

    Raises
    ------
    ValueError
        for forces and drives that the scheme does not have
    """
    if workspace.settings.kind.number == kb.DIRECTOR_RATE:
        scheme = IN_DIRECTORS.get(scheme, scheme)
    found = SCHEMES[scheme]
    refused = _refused(workspace) or _forced(workspace, found)
    if refused:
        raise ValueError(f"{scheme} has no discrete form of {refused}; use rbdae:dop853, or leave them out")
    _warn_of_indefinite_masses(workspace)
    workspace.make_newton()
    layout = workspace.layout
    n = int(workspace.head["n_body_unknowns"][0]) + layout.n_rows

    shapes: Shapes = {"y": (layout.n,), "yd": (n + 1,)}
    newton, newton_code = _made(workspace, found.newton, {**shapes, "out": (n + 1,)}, tally)
    advance, advance_code = _made(workspace, found.advance, {**shapes, "out": (layout.n,)}, tally)
    first, first_code = _made(workspace, predict, {**shapes, "out": (n + 1,)}, tally)
    codes = {newton_code, advance_code, first_code}
    code = codes.pop() if len(codes) == 1 else "mixed"
    return StepFunctions(scheme, newton, advance, first, n, layout.n_rows, code, _turns(workspace))


def work_function(workspace: Workspace, steps: StepFunctions, tally: Tally) -> MachineFunction:
    """The work of what has no potential in a step, see `rbdae.kernels.conserving.work`."""
    shapes: Shapes = {"y": (workspace.layout.n,), "yd": (steps.n_unknowns + 1,), "out": (1,)}
    return _made(workspace, SCHEMES[steps.scheme].work, shapes, tally)[0]


def _made(
    workspace: Workspace, kernel: Entry, shapes: Shapes, tally: Tally
) -> tuple[MachineFunction, Literal["traced", "folded", "generic"]]:
    """A kernel as a machine function, of this model alone if there is code of it; and which code it is."""
    if workspace.memory.traced:
        own = traced(workspace, kernel, shapes, generic=lambda: in_memory(workspace, kernel), tally=tally)
        if own is not None:
            return own.function(), workspace.memory.name
    return machine_function(workspace, kernel, shapes), "generic"


def _turns(workspace: Workspace) -> tuple[tuple[str, int], ...]:
    """The bodies, and where the three numbers b of their increments begin in the unknowns of a step."""
    arrays, names = workspace.arrays, workspace.model.names
    places = [int(u) + int(n) for u, n in zip(arrays["newton_bodies"]["unknown"], arrays["bodies"]["nt"], strict=False)]
    return tuple((names[k], place) for k, place in zip(workspace.layout.order, places, strict=False))


def _warn_of_indefinite_masses(workspace: Workspace) -> None:
    """One warning for bodies whose director mass is E = tr(J)/2 I - J with a negative principal value."""
    if workspace.settings.kind.number != kb.DIRECTOR_RATE:
        return
    model = workspace.model
    for name, body in zip(model.names, model.bodies, strict=False):  # the ground comes last
        least = float(np.linalg.eigvalsh(body["euler"]).min())
        if least < 0.0:
            warnings.warn(
                f"body {name!r} has an indefinite director mass (smallest principal value {least:.3g} kg m^2): no "
                "distribution of mass has its inertia; energy and momentum are kept all the same, but steps may have "
                "to be smaller; rotation='quaternion' has a positive definite one",
                RuntimeWarning,
                stacklevel=2,
            )


def _refused(workspace: Workspace) -> str:
    """The kind of forces that the schemes cannot take."""
    model = workspace.model
    elements = model.forces.elements
    kinds = {
        "forces with internal states": (elements["shaping"] == kb.STATEFUL).any(),
        "rotational springs": (np.any(elements["stiffness"], axis=(1, 2)) & (elements["holonomic"] == 0)).any(),
    }
    return next((name for name, n in kinds.items() if n), "")


def _forced(workspace: Workspace, scheme: Scheme) -> str:
    """The kind of elements that acts on the bodies beside joints and weight, where the scheme has nothing else."""
    model = workspace.model
    kinds = {"drives": len(model.drives), "applied forces": len(model.bushings) + len(model.forces.elements)}
    return "" if scheme.forces else next((name for name, n in kinds.items() if n), "")


__all__ = ["StepFunctions", "step_functions", "work_function"]
