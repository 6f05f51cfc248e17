"""The functions of an integration scheme for a problem, as loops of fixed steps in machine code call them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np

from rbdae.compiler.jit import Entry
from rbdae.conserving import SCHEMES, Scheme
from rbdae.conserving.entries import predict
from rbdae.formulations.implicit_step import ImplicitStep
from rbdae.kernels import records as kb
from rbdae.machine.function import MachineFunction, Shapes
from rbdae.machine.implicit_step import MEMORY
from rbdae.multibody.bound import in_memory, machine_function
from rbdae.multibody.traced import Tally, TracedKernel, traced
from rbdae.multibody.workspace import Workspace

HowMade: TypeAlias = Literal["traced", "folded", "generic", "mixed"]

IN_DIRECTORS: Mapping[str, str] = {"QUAT.EM-R": "DIR.EM", "QUAT.EM": "DIR.EM"}
"""What these are in director momenta: the paper's scheme there, whose increments have Rodrigues parameters."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class StepFunctions:
    """``newton``, ``advance`` and ``predict`` of a scheme, and all of a `step` in one function where there is one, see
    `rbdae.machine.loops.fixed_stages`; a step has `n_unknowns`,
    of which `n_rows` belong to joints; `scheme` is its name, in directors that of what it is there."""

    scheme: str
    newton: MachineFunction
    advance: MachineFunction
    predict: MachineFunction
    step: MachineFunction | None
    n_unknowns: int
    n_rows: int
    code: HowMade

    def check(self) -> None:
        """Raise what a Python function behind one of them has raised."""
        for function in (self.newton, self.advance, self.predict):  # a step in one function calls nothing of the user
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
    kernels = {"newton": (found.newton, n + 1), "advance": (found.advance, layout.n), "predict": (predict, n + 1)}
    own = {name: _own(workspace, kernel, {**shapes, "out": (size,)}, tally) for name, (kernel, size) in kernels.items()}
    newton, advance, first = (
        _function(workspace, kernel, {**shapes, "out": (size,)}, own[name]) for name, (kernel, size) in kernels.items()
    )
    codes: set[HowMade] = {"generic" if one is None else workspace.memory.name for one in own.values()}
    code = codes.pop() if len(codes) == 1 else "mixed"
    step = _step(workspace, found, n, own["newton"], own["advance"])
    return StepFunctions(scheme, newton, advance, first, step, n, layout.n_rows, code)


def work_function(workspace: Workspace, steps: StepFunctions, tally: Tally) -> MachineFunction:
    """The work of what has no potential in a step, see `rbdae.kernels.conserving.work`."""
    shapes: Shapes = {"y": (workspace.layout.n,), "yd": (steps.n_unknowns + 1,), "out": (1,)}
    kernel = SCHEMES[steps.scheme].work
    return _function(workspace, kernel, shapes, _own(workspace, kernel, shapes, tally))


def _own(workspace: Workspace, kernel: Entry, shapes: Shapes, tally: Tally) -> TracedKernel | None:
    """Code of this model, if there is one."""
    if not workspace.memory.traced:
        return None
    return traced(workspace, kernel, shapes, generic=lambda: in_memory(workspace, kernel), tally=tally)


def _function(workspace: Workspace, kernel: Entry, shapes: Shapes, own: TracedKernel | None) -> MachineFunction:
    """A kernel as a machine function, of this model alone if there is code of it."""
    return machine_function(workspace, kernel, shapes) if own is None else own.function()


LONGEST_STEP = 1500
"""Nodes of a step up to which it is one function: in longer ones nothing is gained by that."""


def _step(
    workspace: Workspace, scheme: Scheme, n: int, newton: TracedKernel | None, advance: TracedKernel | None
) -> MachineFunction | None:
    """All of a step in one function, where its kernels are short and call nothing of the user."""
    if newton is None or advance is None or newton.code.functions or advance.code.functions:
        return None
    if newton.code.n_nodes + advance.code.n_nodes > LONGEST_STEP:
        return None
    kernel, size = ImplicitStep(scheme.newton, scheme.advance), workspace.layout.n
    shapes: Shapes = {"y": (size,), "yd": (2 * n + MEMORY,), "out": (size,)}
    found = traced(workspace, kernel, shapes, generic=lambda: in_memory(workspace, scheme.newton))
    return None if found is None else found.bare()


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
        "forces under the reaction of a joint": len(model.frictions) > 0,
        "rotational springs": (np.any(elements["stiffness"], axis=(1, 2)) & (elements["holonomic"] == 0)).any(),
    }
    return next((name for name, n in kinds.items() if n), "")


def _forced(workspace: Workspace, scheme: Scheme) -> str:
    """The kind of elements that acts on the bodies beside joints and weight, where the scheme has nothing else."""
    model = workspace.model
    kinds = {"drives": len(model.drives), "applied forces": len(model.bushings) + len(model.forces.elements)}
    return "" if scheme.forces else next((name for name, n in kinds.items() if n), "")
