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
from rbdae.machine.function import MachineFunction, Shapes, trampoline
from rbdae.multibody.bound import in_memory
from rbdae.multibody.traced import Tally, traced
from rbdae.multibody.workspace import Workspace

IN_DIRECTORS: Mapping[str, str] = {"QUAT.EM-R": "DIR.EM", "QUAT.EM": "DIR.EM"}
"""What these are in director momenta: the paper's scheme there, whose increments have Rodrigues parameters."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class StepFunctions:
    """``newton``, ``advance`` and ``predict`` of a scheme, see `rbdae.machine.loops.fixed`; a step has `n_unknowns`,
    of which `n_rows` belong to joints; `scheme` is its name, in directors that of what it is there."""

    scheme: str
    newton: MachineFunction
    advance: MachineFunction
    predict: MachineFunction
    n_unknowns: int
    n_rows: int
    code: Literal["traced", "generic", "mixed"]

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

    own_code: set[Literal["traced", "generic"]] = set()

    def made(kernel: Entry, n_out: int) -> MachineFunction:
        shapes: Shapes = {"y": (layout.n,), "yd": (n + 1,), "out": (n_out,)}
        if workspace.memory.traced:
            own = traced(workspace, kernel, shapes, generic=lambda: in_memory(workspace, kernel), tally=tally)
            if own is not None:
                own_code.add("traced")
                return own.function()
        own_code.add("generic")
        return trampoline(in_memory(workspace, kernel), "tyyto", shapes)

    functions = made(found.newton, n + 1), made(found.advance, layout.n), made(predict, n + 1)
    code = own_code.pop() if len(own_code) == 1 else "mixed"
    return StepFunctions(scheme, *functions, n, layout.n_rows, code)


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
    """What of the model the schemes cannot take."""
    model = workspace.model
    elements = model.forces.elements
    kinds = {
        "forces with internal states": (elements["shaping"] == kb.STATEFUL).any(),
        "rotational springs": (np.any(elements["stiffness"], axis=(1, 2)) & (elements["holonomic"] == 0)).any(),
    }
    return next((name for name, n in kinds.items() if n), "")


def _forced(workspace: Workspace, scheme: Scheme) -> str:
    """What acts on the bodies beside joints and weight, where the scheme has nothing else."""
    model = workspace.model
    kinds = {"drives": len(model.drives), "applied forces": len(model.bushings) + len(model.forces.elements)}
    return "" if scheme.forces else next((name for name, n in kinds.items() if n), "")


__all__ = ["StepFunctions", "step_functions"]
