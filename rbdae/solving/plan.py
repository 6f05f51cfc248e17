"""The plan of a call of `solve`, checked. The same call again, as in a study of many starts, is not checked again."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any, final

from rbdae import _check
from rbdae._arrays import ArrayLike
from rbdae._frozen import changed
from rbdae.adapter import AbstractAdapter, Method, Request
from rbdae.problem.contract import Solvable
from rbdae.problem.problem import Problem
from rbdae.problem.projection import Projection, bind_projection
from rbdae.problem.switches import USUAL, ChartPolicy
from rbdae.solving.checks import (
    Event,
    check_backward,
    check_charts,
    check_events,
    check_options,
    check_problem,
    check_span,
    check_step,
    check_times,
    check_tolerances,
)
from rbdae.solving.event import check_quantities
from rbdae.solving.registry import check_pairing, find_method

_ANY = Request(0.0, 1.0, None, 1e-6, 1e-6)
"""A request in which nothing special is asked for."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A call of `solve`.

    Parameters
    ----------
    adapter, method : what runs
    request : what it is asked for, in the first segment
    policy : what becomes of charts near their singular sets
    said : what a solution says of its run beside solver and tolerances; what was left as it is by itself is not said
    """

    adapter: AbstractAdapter
    method: Method
    request: Request
    policy: ChartPolicy
    said: Mapping[str, str]


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Call:
    """The last call whose arguments cannot change, and its plan. The problem is not kept alive."""

    problem: Callable[[], Solvable | None]
    arguments: tuple[object, ...]
    plan: Plan

    def has(self, arguments: tuple[object, ...]) -> bool:
        """Whether these are the same objects; a time span may be another tuple of the same two floats."""
        known = self.arguments
        if not all(map(is_, arguments[1:], known[1:])):
            return False
        span = arguments[0]
        return span is known[0] or (
            type(span) is tuple and span == known[0] and type(span[0]) is float and type(span[1]) is float
        )


_CONSTANT = {float, int, str, bool, type(None)}
_last: _Call | None = None


def planned(
    problem: Solvable,
    t_span: Sequence[float],
    solver: str,
    rtol: float,
    atol: ArrayLike,
    t_eval: ArrayLike | None,
    projection: Projection | bool | None,
    events: Event | Sequence[Event] | None,
    step: float | None,
    dense_output: bool,
    on_singularity: str,
    recentre: str,
    options: dict[str, Any],
) -> Plan:
    """The plan of a call; raises what `solve` raises for wrong input.

    The last call's plan is taken for the same problem with the same arguments, if none of them can change.
    """
    global _last
    bare = t_eval is None and projection is None and events is None and not options
    arguments = (t_span, solver, rtol, atol, step, dense_output, on_singularity, recentre)
    last = _last
    if bare and last is not None and last.problem() is problem and last.has(arguments):
        return last.plan
    check_problem("solve", problem)
    adapter, method = find_method(solver)
    check_pairing(problem, solver, method)
    t0, t_end = check_span(problem, t_span)
    relative, absolute = check_tolerances(problem, rtol, atol)
    check_options(solver, options)
    keeps = _check.flag("solve", "dense_output", dense_output)
    request = changed(
        _ANY,
        t0=t0,
        t_end=t_end,
        t_eval=check_times(t_eval, t0, t_end),
        rtol=relative,
        atol=absolute,
        step=check_step(solver, method, step),
        events=check_events(events),
        keep_steps=keeps or method.coarse_output,  # rows between the steps of such methods are made from the steps
        options=options,
    )
    check_quantities(problem, request.events)
    bind_projection(problem, projection)  # refuses what it cannot bind
    check_backward(problem, t0, t_end, projection)
    policy = check_charts(problem, on_singularity, recentre, request.events)
    plan = Plan(adapter, method, request, policy, _said(request, projection, policy, keeps))
    constant = bare and type(t_span) is tuple and _CONSTANT.issuperset(map(type, (*t_span, *arguments[1:])))
    if constant and isinstance(problem, Problem):
        _last = _Call(weakref.ref(problem), arguments, plan)
    return plan


def _said(asked: Request, projection: Projection | bool | None, policy: ChartPolicy, keeps: bool) -> dict[str, str]:
    out = {"t_span": f"({asked.t0!r}, {asked.t_end!r})"}
    if asked.t_eval is not None:
        out["t_eval"] = f"{len(asked.t_eval)} times"
    if projection is not None and projection is not False:
        out["projection"] = repr(projection)
    if policy is not USUAL:
        for name in ("on_singularity", "recentre"):
            if getattr(policy, name) != getattr(USUAL, name):
                out[name] = repr(getattr(policy, name))
    if asked.events:
        out["events"] = ", ".join(getattr(event, "__name__", _check.show(event)) for event in asked.events)
    if asked.step is not None:
        out["step"] = repr(asked.step)
    if not keeps:
        out["dense_output"] = "False"
    for name, value in asked.options.items():
        out[name] = _check.show(value)
    return out


__all__ = ["Plan", "planned"]
