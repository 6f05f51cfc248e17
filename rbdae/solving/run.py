"""`solve`: a problem, a time span and a solver's name in; a `Solution` out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Literal, final

import numpy as np

from rbdae._arrays import ArrayLike, Vec
from rbdae._callers import level_outside
from rbdae._frozen import changed, made
from rbdae._names import SolverName
from rbdae._signals import Deferred, Pending
from rbdae.adapter import Outcome, Reason, Request, Steps
from rbdae.inputs import Given
from rbdae.multibody.memory import Preparation
from rbdae.problem.contract import Solvable
from rbdae.problem.drive_inputs import refuse_held
from rbdae.problem.driven import present
from rbdae.problem.moving import moving
from rbdae.problem.problem import Problem
from rbdae.problem.projection import Projection, bind_projection
from rbdae.solving.chart_advice import chart_advice
from rbdae.solving.checks import Event, check_problem, check_progress
from rbdae.solving.default_solver import default_solver
from rbdae.solving.driven import InputSteps, driven
from rbdae.solving.event import with_bound_events
from rbdae.solving.plan import Plan, planned
from rbdae.solving.progress import progress_of
from rbdae.solving.rows import give_multipliers, with_fine_rows
from rbdae.solving.sampling import AllChanges, Samples, sampled_of
from rbdae.solving.segments import Changes, Segments, run_segments
from rbdae.solving.solution import EventLog, Solution
from rbdae.solving.tolerances import advice
from rbdae.solving.watched import run_once


class FailedRunWarning(UserWarning):
    """A run ended before its end and before a terminal event; `Solution.message` says why, and what to try."""


def _message(solver: str, outcome: Outcome, t0: float, t_end: float) -> str:
    sentence = outcome.reason.value
    last = t0 if outcome.stopped is None else outcome.stopped
    if outcome.reason is Reason.FINISHED:
        message = f"{solver} {sentence}"
    elif outcome.reason is Reason.EVENT:
        message = f"{solver} {sentence} at t = {last:.9g}"
    else:
        message = f"{solver} stopped at t = {last:.9g} on the way from {t0:g} to {t_end:g}: {sentence}"
    return f"{message}. It said: {outcome.said()}" if outcome.detail else message


def solve(
    problem: Solvable,
    t_span: Sequence[float],
    *,
    solver: SolverName | str | None = None,
    rtol: float = 1e-6,
    atol: ArrayLike = 1e-6,
    t_eval: ArrayLike | None = None,
    projection: Projection | bool | None = None,
    events: Event | Sequence[Event] | None = None,
    progress: bool | Callable[[float], None] = False,
    step: float | None = None,
    dense_output: bool = True,
    on_singularity: Literal["stop", "switch"] = "stop",
    recentre: Literal["due", "always"] = "due",
    inputs: Mapping[str, Given] | None = None,
    **options: Any,
) -> Solution:
    """Integrate a problem.

    Parameters
    ----------
    problem : from `rbdae.formulate`
    t_span : start (the problem's `t0`) and end of the interval, in seconds; an earlier end runs back in time
    solver : ``"package:method"``; `rbdae.solvers` lists them. None takes ``"rbdae:dop853"`` for ODE forms, the first
        of SUNDIALS' IDA, Radau5 and ODASSL that is installed and takes the form for others, and with `step` the method
        for the form that keeps energy or momentum; `Solution.solver` and its message say which
    rtol, atol : tolerances; `atol` a number or (n,), see `rbdae.scaled_atol`. A solution has those used
    t_eval : output times, from the solver's dense output; None for the solver's own steps. The states at the steps are
        kept in either case, for ``solution(t)``, unless `dense_output` is False
    projection : True or a `rbdae.Projection` to project every accepted step and every output onto the
        constraints. The solvers continue from the projected state; sksundae's and scikits.odes' IDA and CVODE do so, by
        a restart that is counted, only where the drift exceeds `rbdae.Projection.restart_tolerance` and ten times the
        tolerance
    events : one or more `rbdae.Event`, as ``rbdae.Event(pin.angle, above=0.5, terminal=True)``, or functions ``event(t,
        y)``, with scipy's attributes `terminal` and `direction`
    progress : True for a bar (needs tqdm), or a function that is called with the time of each step; one whose
        attribute ``now_and_then`` is true need not be: loops in machine code call it some fifty times a second
    step : step size of fixed-step methods, and only of those
    dense_output : False keeps only the rows of `t_eval` and of events, in memory that does not grow with the steps
        (Radau methods keep these until the rows between them are made). Then there is no ``solution(t)``, and no work
        of what has no potential; singular positions are looked for at the output times alone. Without `t_eval` the
        rows are the steps
    on_singularity : what happens where a body comes near the singular set of its rotation parameters: ``"stop"`` ends
        the run with that reason; ``"switch"`` centres the parameters of all bodies at the attitudes reached (R_ref in
        R = R_ref R(a)) and continues. ``solution.problem_at(t).reference_rotations`` has R_ref; states, energies,
        reactions and ``solution(t)`` read every row by its own
    recentre : ``"due"``, or ``"always"`` with ``"switch"``: after every accepted step. One-step methods then work in
        canonical coordinates from step to step, as Lie-group methods do
    inputs : of `rbdae.System.add_input`, by name: numbers, functions of the time, `rbdae.Table` s, or (t, values) or
        (t, values, kind) of tables, see `rbdae.Problem.with_inputs`. Steps of ``"previous"`` values cut the run into
        segments: the solver ends at each, and restarts there with the size of its last step
    **options : the package's own options, by its own names; unknown ones are refused

    Returns
    -------
    Solution
        A solver that gives up returns what it has, with ``success=False``, a message, and a `FailedRunWarning`.

    Raises
    ------
    TypeError, ValueError
        for wrong input
    rbdae.adapter.Unsupported
        for a form that the solver cannot take, with those that can, and for options that it does not have
    rbdae.adapter.MissingSolver
        for a package that is not installed
    KeyboardInterrupt
        after Ctrl-C, as soon as the callback at work has returned (at once after a second one); its `solution` is the
        `Solution` so far; none where there was no run yet. What another handler of the signal raises has it, too.

    An exception of a callback, an event or `progress` comes out as itself.
    """
    run = Deferred()
    try:
        with run:
            check_progress(progress)
            changes: InputSteps | None = None
            if inputs is not None:
                problem, changes = driven(problem, inputs, t_span)
            named = solver is not None
            if solver is None:
                check_problem("solve", problem)
                solver = default_solver(problem, step)
            plan = planned(
                problem, t_span, solver, rtol, atol, t_eval, projection, events, step, dense_output, on_singularity,
                recentre, options,
            )  # fmt: skip
            solution = _run(problem, solver, plan, projection, progress, run.pending, changes)
            if not named:
                solution = replace(solution, _said=f"{solution._said}; no solver was named: {solver} was chosen")
            run.solution = solution
            if solution.reason is not Reason.KEYBOARD and isinstance(problem, Problem):
                solution = run.solution = _with_warnings(
                    solution, not (projection is None or projection is False), plan
                )
    except KeyboardInterrupt as error:  # also one that came when the handler was back in its place
        run.carry(error)
        raise
    if not solution.success and solution.reason is not Reason.KEYBOARD:
        warnings.warn(
            f"the run did not reach its end: {solution.message}", FailedRunWarning, stacklevel=level_outside()
        )
    return solution


_NO_PROGRESS = nullcontext()


@final
class _Clock:
    """The time of a run, without that in which code of its problem was made."""

    def __init__(self, problem: Problem | None) -> None:
        self._preparation = Preparation() if problem is None else problem.workspace.memory.preparation
        self._began = self._now()

    def _now(self) -> tuple[float, float]:
        made = self._preparation
        return time.thread_time() - made.seconds, time.perf_counter() - made.wall_seconds

    def elapsed(self) -> tuple[float, float]:
        """Seconds of the processor, and on the wall."""
        now = self._now()
        return now[0] - self._began[0], now[1] - self._began[1]


def _run(
    problem: Solvable,
    solver: str,
    plan: Plan,
    projection: Projection | bool | None,
    progress: bool | Callable[[float], None],
    pending: Pending,
    changes: InputSteps | None = None,
) -> Solution:
    """The run, and what it has found."""
    adapter, method, asked, policy = plan.adapter, plan.method, plan.request, plan.policy
    own = problem.by_time((), ()) if isinstance(problem, Problem) else None
    problem = own or problem  # not that of a run that changed its selection, whose states are read by other times
    before = 0 if own is None else own.callbacks._handed_over  # traced code to generic code, in earlier runs
    if own is not None:
        refuse_held(own.workspace, present(own.workspace))
    asked = with_bound_events(problem, asked)
    with _NO_PROGRESS if progress is False else progress_of(progress, solver, asked.t0, asked.t_end) as advance:
        clock = _Clock(own)
        at_times: Changes | None = changes
        controllers = [] if own is None else sampled_of(own)
        if own is not None and controllers:
            samples = Samples(controllers, asked.t0, asked.t_end)
            problem = own = samples.resumed(own, asked.t0, own.y0)
            at_times = samples if changes is None else AllChanges((changes, samples))
        outcome, segments = run_segments(
            problem,
            asked if advance is None else changed(asked, advance=advance),
            lambda here, request: run_once(adapter, solver, method, here, request, pending),
            lambda here: bind_projection(here, projection),
            lambda here: here.switches(policy) if isinstance(here, Problem) else here.switches(),
            lambda here: moving(here, policy),
            at_times,
        )
        if own is not None:
            give_multipliers(own, method, outcome, segments)
        stats = outcome.stats
        stats.seconds, stats.wall_seconds = clock.elapsed()
    if own is not None:
        stats.handed_over = sum(p.callbacks._handed_over for p in segments.problems) - before
    used = _used(outcome, asked)
    fields: dict[str, Any] = {
        "problem": _read_by_time(problem, segments),
        "t": np.require(outcome.t, requirements="W"),  # those of t_eval are the request's
        "y": outcome.y,
        "solver": solver,
        "reason": outcome.reason,
        "_said": _message(solver, outcome, asked.t0, asked.t_end) + _loosened(problem, asked, used) + _called(own),
        "stats": stats,
        "rtol": used[0],
        "atol": used[1],
        "events": tuple(map(EventLog, outcome.t_events, outcome.y_events)),
        "segments": segments,
        "steps": _steps(outcome, asked.t_eval is not None),
        "options": {**plan.said},
    }
    solution: Solution = made(Solution, fields)
    if asked.t_eval is not None and method.coarse_output and own is not None and outcome.reason is not Reason.KEYBOARD:
        solution = with_fine_rows(solution, segments, projection)
        stats.seconds, stats.wall_seconds = clock.elapsed()
    if asked.t_eval is not None and "dense_output" in plan.said:
        solution = replace(solution, steps=Steps(outcome.t[:0], outcome.y[:0]))
    return solution


def _used(outcome: Outcome, asked: Request) -> tuple[float, float | Vec]:
    """The tolerances of a run: those asked for, unless the adapter says otherwise."""
    return (
        asked.rtol if outcome.rtol is None else outcome.rtol,
        asked.atol if outcome.atol is None else outcome.atol,
    )


def _loosened(problem: Solvable, asked: Request, used: tuple[float, float | Vec]) -> str:
    """A word for the message where a solver could not use tolerances as tight as those asked for."""
    if used[0] is asked.rtol and used[1] is asked.atol:
        return ""
    changed = [
        f"{name} = {_number(b)} in place of {_number(a)}"
        for name, a, b in zip(("rtol", "atol"), (asked.rtol, asked.atol), used, strict=True)
        if not np.array_equal(a, b)
    ]
    if not changed:
        return ""
    return f"; it ran with {' and '.join(changed)}, the tightest that it can use for {problem.formulation!r}"


def _called(problem: Problem | None) -> str:
    """A word for the message on laws that are called in Python, which takes most of a run's time."""
    found = () if problem is None else problem.workspace.user_functions
    names = [
        each.owner for each in found if each.python and each.law is None and not each.owner.endswith("derivatives")
    ]
    return f"; called in Python: {', '.join(names)} (problem.laws says why)" if names else ""


def _number(tolerance: float | Vec) -> str:
    """A tolerance in a sentence."""
    if np.ndim(tolerance) == 0:
        return f"{tolerance:.3g}"
    return f"{np.min(tolerance):.3g} to {np.max(tolerance):.3g}"


def _steps(outcome: Outcome, asked: bool) -> Steps | None:
    """The steps, where they are not the rows; none if the adapter did not keep them."""
    return Steps(outcome.t[:0], outcome.y[:0]) if asked and outcome.steps is None else outcome.steps


def _read_by_time(problem: Any, segments: Segments) -> Any:
    """The problem by which the states of the run are read."""
    if not isinstance(problem, Problem):
        return problem
    return problem.by_time(segments.problems[1:], segments.times, segments.direction)


def _with_warnings(solution: Solution, projected: bool, plan: Plan) -> Solution:
    """The same, with a word in the message where something is wrong that no error test sees."""
    said = chart_advice(solution)
    if solution.problem is not None and not plan.method.fixed_step:
        said += advice(solution.problem, solution.y, solution.rtol, solution.atol)
    return replace(solution, _said=solution._said + said, _projected=projected)


__all__ = ["FailedRunWarning", "solve"]
