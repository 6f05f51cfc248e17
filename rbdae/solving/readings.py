"""Quantities of joints and forces at a state under inputs that change from step to step."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Literal, NoReturn, final

from rbdae._arrays import Vec
from rbdae._frozen import refuse_copies
from rbdae.multibody.workspace import Workspace
from rbdae.problem.body_state import BodyState
from rbdae.problem.drive_inputs import follows_inputs
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.measured import Measured
from rbdae.problem.problem import Problem

_OF_MOTION = frozenset({"value", "rate", "turn", "axis", "spin"})
"""Aspects that no input changes at a state, but for those of drives."""

Kind = Literal["joints", "forces"]


@final
class Readings:
    """Reads quantities by a problem, and those that depend on inputs by a twin whose inputs are written in place."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    @property
    def problem(self) -> Problem:
        """The problem."""
        return self._problem

    def __reduce__(self) -> NoReturn:
        refuse_copies()

    @cached_property
    def _twin(self) -> tuple[Problem, Workspace]:
        own = Workspace(self._problem.workspace.memory, self._problem.selection)
        return replace(self._problem, interpretation=Interpretation(own)), own

    def measured(self, kind: Kind, t: float, y: Vec, inputs: Vec) -> dict[str, Measured]:
        """Quantities of all joints or forces; computed when they are asked for, of this state under these inputs."""
        driven = self._driven
        motion = None if driven else getattr(self._problem, kind)(t, y)
        owners = getattr(self._problem.interpretation.owners, kind)

        def read(owner: str, name: str) -> Any:
            if motion is not None and owners[owner].quantities[name].aspect in _OF_MOTION:
                return getattr(motion[owner], name)
            return getattr(getattr(self._under(inputs), kind)(t, y)[owner], name)

        return {name: Measured(each.units, partial(read, name)) for name, each in owners.items()}

    def states(self, t: float, y: Vec, inputs: Vec) -> dict[str, BodyState]:
        """Motion of every body by name, of this state under these inputs."""
        if not self._driven:
            return self._problem.states(t, y)
        return self._problem.with_selection(self._problem.selection.with_inputs(inputs.copy())).states(t, y)

    @cached_property
    def _driven(self) -> bool:
        """Whether a drive reads inputs: then rates of coordinates depend on them in forms with fewer velocities."""
        return follows_inputs(self._problem.workspace)

    def _under(self, inputs: Vec) -> Problem:
        """The problem under inputs, for one reading."""
        if self._problem.selection.rows.dropped:  # other rows may be taken, by other workspaces
            return self._problem.with_selection(self._problem.selection.with_inputs(inputs))
        twin, own = self._twin
        own.write_inputs(inputs)
        return twin


__all__ = ["Readings"]
