"""A problem under other values of its inputs, which are written where its code reads them.

The values are a part of the selection, and recorded code has them as numbers that it loads. So a twin of a problem with
a workspace of its own takes other values for the price of copying them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae._frozen import refuse_copies
from rbdae.formulations.base import Derivative, Explicit
from rbdae.inputs import Given, Input, Table, given, values_of
from rbdae.machine.function import Shapes
from rbdae.multibody.derived import evaluated
from rbdae.multibody.traced import traced
from rbdae.multibody.workspace import Workspace
from rbdae.system import System

E = TypeVar("E")

Source: TypeAlias = Callable[[float], Any]
"""An input as a function of the time."""


def inputs_of(workspace: Workspace) -> tuple[Input, ...]:
    """The inputs that are numbers, in the order of addition."""
    found: tuple[Input, ...] = workspace.memory.filled.like.forces.inputs
    return found


def places_of(workspace: Workspace) -> dict[str, int]:
    """Their places by name."""
    return {each.name: k for k, each in enumerate(inputs_of(workspace))}


def present(workspace: Workspace) -> Vec:
    """Their values in the selection of a workspace."""
    return workspace.owned["inputs"].copy() if inputs_of(workspace) else np.zeros(0)


def asked(owner: str, system: System, values: Mapping[str, Given]) -> tuple[dict[str, float], dict[str, Source | None]]:
    """The inputs of a system that become numbers, and those that become functions of the time; None for functions that
    become numbers. Raises TypeError and ValueError for what `rbdae.Problem.with_inputs` refuses."""
    if not isinstance(values, Mapping):
        raise TypeError(f'{owner}: values must be a mapping by name, got {_check.show(values)}; give {{"torque": 2.0}}')
    known = {each.name: each for each in system.inputs}
    numbers: dict[str, float] = {}
    sources: dict[str, Source | None] = {}
    for name, value in values.items():
        if name not in known:
            raise _check.unknown("input", name, known)
        found = given(owner, name, value)
        if isinstance(found, Table) and found.kind == "previous":
            raise ValueError(
                f"{owner}: the input {name!r} jumps at the times of a table of 'previous' values; give it to "
                "rbdae.solve(..., inputs=), which cuts the run there"
            )
        if not isinstance(found, float):
            sources[name] = found
            continue
        numbers[name] = found
        if known[name] in system.sources:
            sources[name] = None
    return numbers, sources


@final
class Driven(Generic[E]):
    """Equations on a workspace of their own, whose inputs are written in place.

    Parameters
    ----------
    equations : have the values that were written last; nothing else of them is asked
    workspace : theirs alone
    """

    def __init__(self, equations: E, workspace: Workspace) -> None:
        self.equations = equations
        self._places = places_of(workspace)
        self._own = present(workspace)
        self._workspace = workspace

    def __reduce__(self) -> NoReturn:
        refuse_copies()

    def under(self, owner: str, u: object) -> E:
        """The equations under these values, checked."""
        self._workspace.write_inputs(values_of(owner, self._places, u, self._own))
        return self.equations


@final
class InputTangents:
    """dF/du and df/du of a workspace, derived from what its kernels have recorded; compiled where its code is, else
    evaluated in Python, slowly."""

    def __init__(self, workspace: Workspace, n_equations: int) -> None:
        self._workspace = workspace
        self._n_equations = n_equations
        self._n_inputs = len(inputs_of(workspace))
        self._bound: dict[bool, Callable[..., None]] = {}

    def __reduce__(self) -> NoReturn:
        refuse_copies()

    def fill(self, t: float, y: Vec, yd: Vec | None, out: Mat) -> None:
        """dF/du into out, (n_equations, n_u), or without yd df/du, (n, n_u)."""
        explicit = yd is None
        if explicit not in self._bound:
            self._bound[explicit] = self._made(explicit)
        if yd is None:
            self._bound[explicit](t, y, out)
        else:
            self._bound[explicit](t, y, yd, out)

    def _made(self, explicit: bool) -> Callable[..., None]:
        workspace, kernels = self._workspace, self._workspace.settings.kernels
        n = workspace.layout.n
        if explicit:
            assert isinstance(kernels, Explicit)
            kernel = Derivative(kernels.rates, "inputs")
            shapes: Shapes = {"y": (n,), "out": (n, self._n_inputs)}
        else:
            kernel = Derivative(kernels.residual, "inputs")
            shapes = {"y": (n,), "yd": (n,), "out": (self._n_equations, self._n_inputs)}
        slow = workspace.raising(evaluated(workspace, kernel, shapes, None))
        found = traced(workspace, kernel, shapes, generic=lambda: slow) if workspace.memory.traced else None
        return slow if found is None else found.call
