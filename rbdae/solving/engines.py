"""How a simulator goes from one time to the next: by a loop that stays, or by a run for each step.

Both give the same answers to the tolerances. The loop stays where its adapter has one that continues
(`rbdae.adapter.AbstractAdapter.stepper`) and no switch can be due: then a step costs what the compiled loop costs. All
other solvers begin again in each step.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn, Protocol, final

import numpy as np

from rbdae._arrays import Vec
from rbdae._frozen import refuse_copies
from rbdae.adapter import Reason, Stats, Stepper, Steps
from rbdae.multibody.workspace import Workspace
from rbdae.problem.driven import present
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.start import Start
from rbdae.solving.run import FailedRunWarning
from rbdae.solving.segments import Segments
from rbdae.solving.solution import Solution


class Engine(Protocol):
    """An engine takes the steps of a simulator."""

    @property
    def t(self) -> float:
        """The time that is reached."""

    @property
    def y(self) -> Vec:
        """The state there, (n,); a copy."""

    @property
    def here(self) -> Problem:
        """The problem by which the state is read, with the inputs of some time."""

    def advance(self, t_end: float) -> tuple[bool, str]:
        """Continue to a later time: whether it is reached, and what the solver said."""

    def drive(self, values: Vec) -> None:
        """Take other values of the inputs from here on."""

    def mark(self) -> Any:
        """A mark from which `back` comes back to the present state and inputs."""

    def back(self, mark: Any) -> None:
        """Stand again where `mark` was made, whatever has failed since."""

    def collected(self) -> tuple[Steps, Segments, Stats]:
        """All accepted steps, the problems that hold from time to time, and the cost."""


Begin = Callable[[Problem], Stepper | None]
"""Makes a stepper for a problem, or None."""


@final
class InPlace:
    """A loop that stays, on a twin of the problem whose inputs are written where its code reads them.

    Parameters
    ----------
    problem : an ODE form, where the simulation begins
    begin : makes the stepper of the twin
    """

    def __init__(self, problem: Problem, begin: Begin) -> None:
        self._problem = problem
        self._own = Workspace(problem.workspace.memory, problem.selection)
        self.stepper = begin(replace(problem, interpretation=Interpretation(self._own)))
        self._changes: list[tuple[float, Vec]] = []

    def __reduce__(self) -> NoReturn:
        refuse_copies()

    @property
    def t(self) -> float:
        """The time that is reached."""
        return self._stepper.t

    @property
    def y(self) -> Vec:
        """The state there; a copy."""
        return self._stepper.y

    @property
    def here(self) -> Problem:
        """The problem of the start: its selection stays."""
        return self._problem

    @property
    def _stepper(self) -> Stepper:
        assert self.stepper is not None
        return self.stepper

    def advance(self, t_end: float) -> tuple[bool, str]:
        """Continue to a later time."""
        reason, detail = self._stepper.advance(t_end)
        return reason is Reason.FINISHED, f"{reason.value}: {detail}" if detail else reason.value

    def drive(self, values: Vec) -> None:
        """Take other values of the inputs from here on."""
        self._own.write_inputs(values)
        self._stepper.disturbed()
        self._changes.append((self._stepper.t, values.copy()))

    def mark(self) -> Any:
        """The mark for `back`."""
        return self._stepper.mark(), len(self._changes), present(self._own)

    def back(self, mark: Any) -> None:
        """Stand again where `mark` was made."""
        at, changes, values = mark
        self._own.write_inputs(values)
        self._stepper.back(at)
        del self._changes[changes:]

    def collected(self) -> tuple[Steps, Segments, Stats]:
        """All accepted steps, the problems that hold from time to time, and the cost."""
        steps, stats = self._stepper.steps(), self._stepper.stats()
        kept = len(steps.t) > 0
        if not kept:
            steps = Steps(np.array([self.t]), self.y[None])
        problems, times = [self._problem], list[float]()
        for t, values in self._changes:
            if not kept or t <= self._problem.t0:
                named = dict(zip(self._problem.inputs, values.tolist(), strict=True))
                problems = [self._problem.resumed_with_inputs(self._problem.t0, self._problem.y0, named)]
                continue
            if times and times[-1] == t:  # nobody has taken a step with those before
                times.pop(), problems.pop()
            y = steps.y[int(np.searchsorted(steps.t, t))]
            start = Start(t, y, self._problem.rhs(t, y, u=values), self._problem.assembly)
            here = self._problem.with_selection(self._problem.selection.with_inputs(values))
            problems.append(replace(here, start=start))
            times.append(t)
        return steps, Segments(tuple(problems), tuple(times)), stats


Solve = Callable[[Problem, float], Solution]
"""Runs a problem from its start to a time."""


@final
class InPieces:
    """A run for each step.

    Parameters
    ----------
    problem : where the simulation begins
    solve : runs one step
    keeps : whether the runs are kept
    """

    def __init__(self, problem: Problem, solve: Solve, *, keeps: bool) -> None:
        self._here, self._solve, self._keeps = problem, solve, keeps
        self._values: dict[str, float] | None = None  # those that a step begins with
        self._runs: list[Solution] = []
        self.t, self._y = problem.t0, problem.y0

    def __reduce__(self) -> NoReturn:
        refuse_copies()

    @property
    def here(self) -> Problem:
        """The problem at the end of the last run, with the selection there."""
        return self._here

    @property
    def y(self) -> Vec:
        """The state that is reached; a copy."""
        return self._y.copy()

    def advance(self, t_end: float) -> tuple[bool, str]:
        """Continue to a later time."""
        if self._runs or self._values is not None:
            self._here = self._here.resumed_with_inputs(self.t, self._y, self._values or {})
        self._values = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FailedRunWarning)  # the simulator says it
            run = self._solve(self._here, t_end)
        if not self._keeps:
            self._runs.clear()
        self._runs.append(run)
        if len(run.t):
            self.t, self._y = float(run.t[-1]), run.y[-1]
            self._here = run.problem_at(self.t)
        return run.success, run.message

    def drive(self, values: Vec) -> None:
        """Take other values of the inputs from here on."""
        self._values = dict(zip(self._here.inputs, values.tolist(), strict=True))

    def mark(self) -> Any:
        """The mark for `back`."""
        return self._here, self._values, self._runs.copy(), self.t, self._y

    def back(self, mark: Any) -> None:
        """Stand again where `mark` was made."""
        self._here, self._values, self._runs, self.t, self._y = mark

    def collected(self) -> tuple[Steps, Segments, Stats]:
        """All accepted steps, the problems that hold from time to time, and the cost."""
        if not self._runs:
            return Steps(np.array([self.t]), self.y[None]), Segments((self._here,)), Stats()
        problems, times = list[Problem](), list[float]()
        t, y = list[Vec](), list[Vec]()
        for k, run in enumerate(self._runs):
            segments = run.segments or Segments((run.problem,))
            if problems:
                times.append(float(run.t[0]))
            problems += segments.problems
            times += segments.times
            last = k + 1 == len(self._runs)
            t.append(run.t if last else run.t[:-1])
            y.append(run.y if last else run.y[:-1])
        return Steps(np.concatenate(t), np.concatenate(y)), Segments(tuple(problems), tuple(times)), self._stats()

    def _stats(self) -> Stats:
        out = Stats(restarts=len(self._runs) - 1)
        for name in ("steps", "rejected", "evaluations", "jacobians", "factorisations", "projections"):
            counts = [getattr(run.stats, name) for run in self._runs]
            setattr(out, name, -1 if min(counts) < 0 else sum(counts))
        out.restarts += sum(run.stats.restarts for run in self._runs)
        out.seconds = sum(run.stats.seconds for run in self._runs)
        out.wall_seconds = sum(run.stats.wall_seconds for run in self._runs)
        codes = {run.stats.code for run in self._runs}
        out.code = codes.pop() if len(codes) == 1 else "mixed"
        return out


__all__ = ["Begin", "Engine", "InPieces", "InPlace", "Solve"]
