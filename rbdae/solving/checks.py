"""The arguments of `solve`, checked before any integration begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec
from rbdae.adapter import Method
from rbdae.problem.contract import Solvable
from rbdae.problem.event import AnyEvent, of_quantity
from rbdae.problem.problem import Problem
from rbdae.problem.switches import USUAL, ChartPolicy


def check_problem(who: str, problem: object) -> None:
    """Refuse objects without callbacks; a problem of the user's own is welcome."""
    if isinstance(problem, type) or getattr(problem, "callbacks", None) is None:
        raise TypeError(
            f"{who}: problem must be made by rbdae.formulate(system, ...), got {_check.show(problem)}; formulate the "
            "system first"
        )


def check_span(problem: Solvable, t_span: Sequence[float]) -> tuple[float, float]:
    """Start and end; the start is the problem's."""
    ends = t_span.tolist() if isinstance(t_span, np.ndarray) else t_span
    if not isinstance(ends, (tuple, list)) or len(ends) != 2:
        raise TypeError(f"t_span must be two numbers (start, end), got {_check.show(t_span)}; pass e.g. (0.0, 1.0)")
    first, last = ends
    t0, t_end = _check.number("solve", "the start of t_span", first), _check.number("solve", "the end of t_span", last)
    if t0 == t_end:
        raise ValueError(f"t_span must have two different times, got ({t0}, {t_end}); give another end")
    if t0 != problem.t0:
        raise ValueError(
            f"t_span begins at {t0}, but the problem's initial state belongs to t = {problem.t0}; begin there"
        )
    return t0, t_end


def check_backward(problem: Solvable, t0: float, t_end: float, projection: object) -> None:
    """Refuse to run a form back in time whose constraints are stabilised forward in time: with
    gddot + 2 alpha gdot + beta^2 g = 0, violations grow as exp(alpha |t - t0|)."""
    if t_end > t0 or not isinstance(problem, Problem) or not (projection is None or projection is False):
        return
    form = problem.workspace.settings.formulation
    if form.damping and form.parameters[form.damping] > 0.0:
        raise ValueError(
            f"t_span goes back in time, where {form.damping} = {form.parameters[form.damping]:g} of {form.name!r} lets "
            f"violations of the constraints grow; use projection=True, {form.damping}=0.0, or another formulation"
        )


def check_tolerances(problem: Solvable, rtol: float, atol: ArrayLike) -> tuple[float, float | Vec]:
    """Relative tolerance, and absolute tolerance as a number or (n,)."""
    relative = _check.number("solve", "rtol", rtol)
    if not 0.0 < relative < 1.0:
        raise ValueError(f"rtol must be a number between 0 and 1, got {_check.show(rtol)}; pass e.g. 1e-6")
    if type(atol) is float and 0.0 < atol < np.inf:  # the usual
        return relative, atol
    shapes = ((), (problem.n,))
    remedy = f"pass e.g. 1e-6, or {problem.n} numbers"
    absolute = _check.array("solve", "atol", atol, *shapes, remedy=remedy)
    if not (absolute > 0).all():
        raise ValueError(f"atol must be positive and finite, got {_check.show(atol)}; {remedy}")
    return relative, float(absolute) if absolute.ndim == 0 else absolute


def check_times(t_eval: ArrayLike | None, t0: float, t_end: float) -> Vec | None:
    """Output times, in the order of the run and within the interval."""
    if t_eval is None:
        return None
    times = _check.times(t_eval, "t_eval")
    if not times.size or not times.ndim:
        raise ValueError(
            f"t_eval must be a non-empty list of times, got {_check.show(t_eval)}; leave it out for all steps"
        )
    backward = t_end < t0
    if (np.diff(-times if backward else times) <= 0).any():
        order = "decreasing, as t_span is" if backward else "increasing"
        raise ValueError(f"t_eval must be finite and strictly {order}; sort it and drop repeated times")
    if min(times[0], times[-1]) < min(t0, t_end) or max(times[0], times[-1]) > max(t0, t_end):
        raise ValueError(
            f"t_eval reaches from {times[0]} to {times[-1]}, outside of t_span ({t0}, {t_end}); shorten it"
        )
    return times


def check_step(solver: str, method: Method, step: float | None) -> float | None:
    """The step size of a fixed-step method, and only of one."""
    if step is None:
        if method.fixed_step:
            raise ValueError(f"{solver} takes steps of fixed size: say step=, for example step=1e-3")
        return None
    if not method.fixed_step:
        raise ValueError(
            f"{solver} chooses its own steps, got step={_check.show(step)}: leave out step=, and use rtol and atol"
        )
    return _check.positive("solve", "step", step, "pass e.g. step=1e-3")


def check_charts(problem: Solvable, on_singularity: str, recentre: str, events: Sequence[object]) -> ChartPolicy:
    """The policy for charts near their singular sets."""
    _check.one_of("on_singularity", on_singularity, ("stop", "switch"))
    _check.one_of("recentre", recentre, ("due", "always"))
    if on_singularity == "stop":
        if recentre == "always":
            raise ValueError("recentre='always' belongs to on_singularity='switch'; say both, or leave recentre out")
        return USUAL
    if not isinstance(problem, Problem):
        raise ValueError("on_singularity='switch' is for problems of rbdae.formulate; leave it out")
    chart = problem.workspace.settings.chart
    if recentre == "always" and not chart.centre:
        raise ValueError(f"recentre='always': {chart.name} has no centre; leave it out, or use rotation-vector")
    if not chart.whole and not all(map(of_quantity, events)):
        raise ValueError(
            f"events are asked in the unknowns of the problem that is solved, and {chart.name} does not reach all "
            "rotations in them: use another rotation, or leave out on_singularity='switch'"
        )
    return ChartPolicy("switch", "always" if recentre == "always" else "due")


def check_progress(progress: object) -> None:
    """True, False or a function of the time."""
    if callable(progress):
        _check.takes("solve", "progress", progress, "t")
    elif not isinstance(progress, (bool, np.bool_)):
        raise TypeError(
            f"progress must be True, False or a function of the time, got {_check.show(progress)}; pass progress=True "
            "for a bar"
        )


def check_events(problem: Any, events: AnyEvent | Sequence[AnyEvent] | None) -> tuple[AnyEvent, ...]:
    """Events as a tuple; refuses other objects, and quantities where the problem has none. Which ones it has, the run
    asks when it binds them (`rbdae.problem.event.RunEvents`)."""
    if events is None:
        return ()
    if callable(events):
        events = (events,)
    if not isinstance(events, (list, tuple)):
        raise TypeError(f"events must be functions event(t, y), got {_check.show(events)}; pass one, or a list of them")
    for k, event in enumerate(events):
        if not of_quantity(event):
            _check.takes("solve", f"events[{k}]", event, "t", "y")
        elif not isinstance(problem, Problem):
            raise TypeError(f"event {event.__name__!r}: {problem!r} has no quantities; give a function event(t, y)")
    return tuple(events)
