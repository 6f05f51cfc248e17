"""`solve`: a problem, a time span and a solver's name in; a `Solution` out."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec
from rbdae._frozen import made
from rbdae._process import Deferred
from rbdae.adapter import Outcome, Reason, Request, Steps
from rbdae.inputs import Given
from rbdae.multibody.memory.memory import Preparation
from rbdae.problem.contract import Solvable, StateProjector
from rbdae.problem.driven import refuse_run
from rbdae.problem.event import AnyEvent, name_of
from rbdae.problem.problem import Problem
from rbdae.problem.projection import Projection
from rbdae.problem.switches import DUE, USUAL
from rbdae.solving import checks
from rbdae.solving.changes import Changes, driven
from rbdae.solving.dense import give_multipliers
from rbdae.solving.registry import solver_for
from rbdae.solving.segments import Segment, run_segments
from rbdae.solving.solution import EventLog, Solution


class FailedRunWarning(UserWarning):
    """A run ended before its end and before a terminal event; `Solution.message` says why, and what to try."""


def solve(
    problem: Solvable,
    t_span: Sequence[float],
    *,
    solver: str | None = None,
    method: str | None = None,
    rtol: float = 1e-6,
    atol: ArrayLike = 1e-6,
    t_eval: ArrayLike | None = None,
    projection: Projection | bool | None = None,
    events: AnyEvent | Sequence[AnyEvent] | None = None,
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
    method : the same as `solver`, as SciPy's users write it
    rtol, atol : tolerances; `atol` a number or (n,), see `rbdae.scaled_atol`. A solution has those used
    t_eval : output times, from the solver's dense output; None for the solver's own steps. The states at the steps are
        kept in either case, for ``solution(t)``, unless `dense_output` is False
    projection : True or a `rbdae.Projection` to project every accepted step and every output onto the
        constraints. The solvers continue from the projected state; sksundae's and scikits.odes' IDA and CVODE do so, by
        a restart that is counted, only where the drift exceeds `rbdae.Projection.restart_tolerance` and ten times the
        tolerance
    events : one or more `rbdae.Event`, as ``rbdae.Event(pin.angle, above=0.5, terminal=True)``, or functions
        ``event(t, y)``, with scipy's attributes `terminal` and `direction`
    progress : True for a bar (needs tqdm), or a function that is called with the time of each step; one whose
        attribute ``now_and_then`` is true need not be: loops in machine code call it some fifty times a second
    step : step size, of fixed-step methods only
    dense_output : False keeps only the rows of `t_eval` and of events, in memory that does not grow with the steps
        (Radau methods keep these until the rows between them are made). Then there is no ``solution(t)``, and no work
        of forces without potential; singular positions are looked for at the output times only. Without `t_eval` the
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
        Its `y` has shape (m, n), a row for each time: the transpose of SciPy's. ``events[k].t`` and ``events[k].y`` are
        SciPy's ``t_events[k]`` and ``y_events[k]``, and the solution is called as SciPy's ``sol`` is. A solver that
        gives up returns what it has, with ``success=False``, a message, and a `FailedRunWarning`.

    Raises
    ------
    TypeError, ValueError
        for wrong input
    rbdae.adapter.Unsupported
        for a form that the solver cannot take, with the solvers that can, and for options that it does not have
    rbdae.adapter.MissingSolver
        for a package that is not installed
    KeyboardInterrupt
        after Ctrl-C, as soon as the callback at work has returned (at once after a second one); its `solution` is the
        `Solution` so far, None if there was no run yet. What another handler of SIGINT raises has it, too. Handlers of
        other signals should call ``signal.raise_signal(signal.SIGINT)``: what they raise may vanish in compiled code

    An exception of a callback, an event or `progress` comes out as itself.
    """
    run = Deferred()
    try:
        with run:
            if method is not None and solver is not None:
                raise TypeError(f"solve: method= is another name of solver=, got {method!r} and {solver!r}; give one")
            solver = method if solver is None else solver
            checks.check_problem("solve", problem)
            checks.check_progress(progress)
            t0, t_end = checks.check_span(problem, t_span)
            problem, changes = driven(problem, inputs, t0, t_end)
            segment, said = planned(
                problem, t0, t_end, solver, rtol, atol, t_eval, projection, events, step, dense_output, on_singularity,
                recentre, options,
            )  # fmt: skip
            chosen = "" if solver is not None else f"; no solver was named: {segment.solver} was chosen"
            shown: AbstractContextManager[Any] = nullcontext(progress or None)
            with _bar(segment) if progress and not callable(progress) else shown as advance:
                solution = integrated(segment, said, run, changes, advance, chosen)
    except KeyboardInterrupt as error:  # also one that came when the handler was back in its place
        run.carry(error)
        raise
    if not solution.success and solution.reason is not Reason.KEYBOARD:
        warnings.warn(f"the run did not reach its end: {solution.message}", FailedRunWarning, stacklevel=2)
    return solution


def planned(
    problem: Solvable,
    t0: float,
    t_end: float,
    solver: str | None,
    rtol: float,
    atol: ArrayLike,
    t_eval: ArrayLike | None,
    projection: Projection | bool | None,
    events: AnyEvent | Sequence[AnyEvent] | None,
    step: float | None,
    dense_output: bool,
    on_singularity: str,
    recentre: str,
    options: dict[str, Any],
) -> tuple[Segment, dict[str, str]]:
    """The run of a call of `solve` as its first segment, checked, and the options of its solution. Raises as `solve`
    does for wrong input; what an event or a projection asks of the problem is refused when the run binds them."""
    relative, absolute = checks.check_tolerances(problem, rtol, atol)
    times = checks.check_times(t_eval, t0, t_end)
    asked = checks.check_events(problem, events)
    keeps = _check.flag("solve", "dense_output", dense_output)
    checks.check_backward(problem, t0, t_end, projection)
    policy = checks.check_charts(problem, on_singularity, recentre, asked)
    solver, adapter, method = solver_for(problem, solver, step)
    request = Request(
        t0,
        t_end,
        times,
        relative,
        absolute,
        step=checks.check_step(solver, method, step),
        events=asked,
        keep_steps=keeps or method.coarse_output,  # rows between the steps of such methods are made from the steps
        options=options,
    )
    if isinstance(problem, Problem):
        problem = problem.by_time((), ())  # of a run that changed its selection: its own states by its own
        refuse_run(problem.workspace, t0, t_end)
    segment = Segment(solver, adapter, method, problem, request, projection, policy)
    return segment, _said(segment, keeps)


def _said(segment: Segment, keeps: bool) -> dict[str, str]:
    """The options of a solution; what was left as it is by itself is not said."""
    asked, projection, policy = segment.request, segment.projection, segment.policy
    out = {"t_span": f"({asked.t0!r}, {asked.t_end!r})"}
    if asked.t_eval is not None:
        out["t_eval"] = f"{len(asked.t_eval)} times"
    if projection is not None and projection is not False:
        out["projection"] = repr(projection)
    if policy is not USUAL:
        out["on_singularity"] = repr(policy.on_singularity)
        if policy.recentre != USUAL.recentre:
            out["recentre"] = repr(policy.recentre)
    if asked.events:
        out["events"] = ", ".join(map(name_of, asked.events))
    if asked.step is not None:
        out["step"] = repr(asked.step)
    if not keeps:
        out["dense_output"] = "False"
    return out | {name: _check.show(value) for name, value in asked.options.items()}


def integrated(
    segment: Segment,
    said: Mapping[str, str],
    run: Deferred,
    changes: Sequence[Changes] = (),
    advance: Callable[[float], None] | None = None,
    more: str = "",
) -> Solution:
    """The solution of a run from its first segment on; `run` has it when it is there. Its message ends with `more`."""
    asked, method = segment.request, segment.method
    own = segment.problem if isinstance(segment.problem, Problem) else None
    elapsed = _clock(own)
    outcome, parts = run_segments(segment, run.pending, changes, advance)
    problem, stats, later = parts[0].problem, outcome.stats, parts[1:]
    if own is not None:
        problem = problem.by_time([p.problem for p in later], [p.request.t0 for p in later], segment.direction)
        give_multipliers(problem, method, outcome)
    stats.seconds, stats.wall_seconds = elapsed()
    rtol = asked.rtol if outcome.rtol is None else outcome.rtol
    atol = asked.atol if outcome.atol is None else outcome.atol
    # the rows are the steps, unless t_eval was given; then steps are empty if the adapter did not keep them
    none = Steps(outcome.t[:0], outcome.y[:0])
    projectors = [part.request.projector for part in parts]
    complete = own is not None and outcome.reason is not Reason.KEYBOARD
    message = _message(segment, outcome) + _loosened(segment, rtol, atol) + _called(own)
    fields: dict[str, Any] = {
        "problem": problem,
        "t": outcome.t if outcome.t.flags.writeable else outcome.t.copy(),  # `t_eval` is the request's
        "y": outcome.y,
        "solver": segment.solver,
        "reason": outcome.reason,
        "_said": message + _near_singular_set(parts, outcome) + more,
        "stats": stats,
        "rtol": rtol,
        "atol": atol,
        "events": tuple(map(EventLog, outcome.t_events, outcome.y_events)),
        "steps": none if asked.t_eval is not None and outcome.steps is None else outcome.steps,
        "options": {**said},
        "_projected": projectors[0] is not None if complete else None,
    }
    solution: Solution = made(Solution, fields)
    if complete and asked.t_eval is not None and method.coarse_output:
        solution = _with_fine_rows(solution, projectors)
        stats.seconds, stats.wall_seconds = elapsed()
    if asked.t_eval is not None and "dense_output" in said:
        solution = replace(solution, steps=none)
    run.solution = solution
    return solution


def _clock(problem: Problem | None) -> Callable[[], tuple[float, float]]:
    """Measure the seconds of a run from now on, of the processor and on the wall; making code does not count."""
    made = Preparation() if problem is None else problem.workspace.memory.preparation
    first, wall = time.thread_time() - made.seconds, time.perf_counter() - made.wall_seconds
    return lambda: (time.thread_time() - made.seconds - first, time.perf_counter() - made.wall_seconds - wall)


@contextmanager
def _bar(segment: Segment) -> Iterator[Callable[[float], None]]:
    tqdm = _check.package("progress=True", "tqdm.auto").tqdm
    t0, t_end = segment.request.t0, segment.request.t_end
    shape = "{l_bar}{bar}| t = {n:.4g} of {total:.4g} [{elapsed}<{remaining}]"
    with tqdm(total=abs(t_end - t0), desc=segment.solver, bar_format=shape) as bar:
        yield lambda t: bar.update(abs(t - t0) - bar.n)


def _with_fine_rows(solution: Solution, projectors: Sequence[StateProjector | None]) -> Solution:
    """The same with ``solution(t)`` at its times, projected if the run is, where dense output is of a lower order than
    steps: RADAU's collocation polynomial is of order 3, its steps of order 5 ([HW96], section IV.8)."""
    steps = solution.steps
    if steps is None or not len(steps.t) or not len(solution.t) or not np.isfinite(steps.y).all():
        return solution
    return replace(solution, y=solution._projected_rows(projectors, solution.t, solution(solution.t)))


# ------------------------------------------------------------ words of messages


def _message(segment: Segment, outcome: Outcome) -> str:
    solver, asked, sentence = segment.solver, segment.request, outcome.reason.value
    last = asked.t0 if outcome.stopped is None else outcome.stopped
    if outcome.reason is Reason.FINISHED:
        message = f"{solver} {sentence}"
    elif outcome.reason is Reason.EVENT:
        message = f"{solver} {sentence} at t = {last:.9g}"
    else:
        message = f"{solver} stopped at t = {last:.9g} on the way from {asked.t0:g} to {asked.t_end:g}: {sentence}"
    return f"{message}. It said: {outcome.said()}" if outcome.detail else message


def _loosened(segment: Segment, rtol: float, atol: float | Vec) -> str:
    """Tolerances that the solver has used because it cannot use tighter ones."""
    asked = segment.request
    if rtol is asked.rtol and atol is asked.atol:
        return ""
    pairs = (("rtol", asked.rtol, rtol), ("atol", asked.atol, atol))
    words = [f"{name} = {_number(b)} in place of {_number(a)}" for name, a, b in pairs if not np.array_equal(a, b)]
    form = segment.problem.formulation
    return f"; it ran with {' and '.join(words)}, the tightest that it can use for {form!r}" if words else ""


def _number(tolerance: float | Vec) -> str:
    if np.ndim(tolerance) == 0:
        return f"{tolerance:.3g}"
    return f"{np.min(tolerance):.3g} to {np.max(tolerance):.3g}"


def _called(problem: Problem | None) -> str:
    """Laws that are called in Python, which takes most of a run's time."""
    laws = () if problem is None else problem.workspace.model.functions
    names = [each.owner for each in laws if each.law is None and not each.owner.endswith("derivatives")]
    return f"; called in Python: {', '.join(names)} (problem.laws says why)" if names else ""


def _near_singular_set(parts: Sequence[Segment], outcome: Outcome) -> str:
    """Rotation parameters near their singular set, where solvers fail for other reasons."""
    known = (Reason.FINISHED, Reason.EVENT, Reason.CHART, Reason.FRICTION, Reason.KEYBOARD)
    if outcome.reason in known or not len(outcome.t) or not np.isfinite(outcome.y[-1]).all():
        return ""
    t, y, direction = float(outcome.t[-1]), outcome.y[-1], parts[0].direction
    problem = next(part.problem for part in reversed(parts) if direction * (t - part.request.t0) >= 0.0)
    if not isinstance(problem, Problem):
        return ""
    chart = problem.workspace.settings.chart
    distance, body = problem.interpretation.distance_to_singularity(t, y)
    if not chart.centre or distance > (1.0 - DUE) * chart.reach:
        return ""
    return (
        f"; the {chart.name} parameters of body {problem.model.names[body]!r} are {distance:.3g} rad from their "
        "singular set there: use on_singularity='switch' or rotation='quaternion'"
    )
