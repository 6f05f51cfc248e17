"""The definition of a switch: a measure against a limit, and the next selection."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.kernels.entry import Entry
from rbdae.multibody.choices.selection import Selection
from rbdae.multibody.code.traced import traced
from rbdae.multibody.memory.workspace import Workspace
from rbdae.problem.contract import Ending, Quiet, Solvable
from rbdae.problem.interpretation import Interpretation

Resume = Callable[[float, Vec, Selection], Solvable]
"""(t, y, selection) -> the problem with another selection from the state (t, y) on."""


@final
@dataclass(frozen=True, slots=True)
class ChartPolicy:
    """The policy of a run about the singular sets of its charts; see `rbdae.solve`."""

    on_singularity: Literal["stop", "switch"] = "stop"
    recentre: Literal["due", "always"] = "due"


USUAL = ChartPolicy()


class AbstractSwitch(ABC):
    """Something that a run may have to choose again. Its object belongs to one segment of one run.

    Duties of a switch:

    1. `needed` says whether a problem has such a choice at all.
    2. `measure` maps accepted states, in the order of time, to a number. It is cheap, because it is asked after every
       accepted step. The switch is considered where the number exceeds `limit`.
    3. `next` maps (t, y, selection) to the next selection. It changes its own field and no other, so that switches
       compose. It returns the same object if no other choice is better.
    4. `ends` says why the run has to end where the switch is due; None if it can continue.
    """

    limit: float

    def __init__(self, view: Interpretation, t: float, y: Vec, resumed: Resume, policy: ChartPolicy) -> None:
        self.view = view
        self._resumed = resumed
        self._policy = policy
        self.begin(t, y)

    @classmethod
    @abstractmethod
    def needed(cls, view: Interpretation) -> bool:
        """Whether a problem has this choice."""

    def begin(self, t: float, y: Vec) -> None:  # noqa: B027  (most need not)
        """Note the state at which the segment begins."""

    @abstractmethod
    def measure(self, t: float, y: Vec) -> float:
        """How ill-conditioned the present choice has become at an accepted state; compared with `limit`."""

    @abstractmethod
    def next(self, t: float, y: Vec, selection: Selection) -> Selection:
        """The selection with this switch's own field chosen again at (t, y)."""

    def ends(self, t: float, y: Vec) -> Ending | None:
        """Why the run cannot continue from a state at which the switch is due; None if it can."""
        return None

    @property
    def selection(self) -> Selection:
        """The present one."""
        return self.view.workspace.selection

    def due(self, t: float, y: Vec) -> bool:
        """Whether to choose again at this accepted state."""
        return self.measure(t, y) > self.limit and self.next(t, y, self.selection) is not self.selection

    def quiet(self) -> Quiet | None:
        """The states at which it is not due, for loops in machine code; None if it has to be asked after every step."""
        return None

    def resume(self, t: float, y: Vec) -> Solvable:
        """An equivalent problem that begins at (t, y)."""
        return self._resumed(t, y, self.next(t, y, self.selection))


ROUNDING = 1e-9
"""Relative; loops in machine code ask a switch that much before its limit."""


def measured(
    workspace: Workspace, kernel: Entry, n: int, *, low: float = -np.inf, high: float = np.inf
) -> Quiet | None:
    """Bounds of the n numbers that a kernel ``f(t, y, out)`` computes; None without code of this model, or with laws in
    Python."""
    if workspace.code_calls_python:
        return None
    found = traced(workspace, kernel, {"y": (workspace.layout.n,), "out": (n,)})
    return None if found is None else Quiet(found.code.function(workspace), n, low, high)
