"""`solve`: a problem, a time span and a solver's name in; a `Solution` out."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import importlib.util
import io
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, TextIO, final

import numpy as np

from rbdae._arrays import ArrayLike, Vec
from rbdae.adapter import AbstractAdapter, Method, MissingSolver, Outcome, Reason, Request, Unsupported
from rbdae.solving.solution import EventLog, Solution
from rbdae.solving.switches import rows as redundancy
from rbdae.solving.switches import velocities as gauges

if TYPE_CHECKING:
    from rbdae.problem.problem import Problem
    from rbdae.problem.projection import Projection, Projector

Event = Callable[[float, Vec], float]

_GROUP = "rbdae.adapters"
# For a checkout on the path without installed metadata; an installed entry point of the same name wins.
_IN_HOUSE = {
    "scipy": "rbdae_adapters.scipy_ivp",
    "scikits.odes": "rbdae_adapters.scikits_odes",
    "sksundae": "rbdae_adapters.sksundae",
    "assimulo": "rbdae_adapters.assimulo",
    "solve_dae": "rbdae_adapters.solve_dae",
}
_FORMS = {
    "ode": "ODE forms (index-0, null-space, ...)",
    "dae": "DAEs",
    "overdetermined": "overdetermined forms",
}


@final
@dataclass(frozen=True, slots=True)
class SolverInfo:
    """One line of `solvers`.

    Parameters
    ----------
    name : as given to `solve`, ``"package:method"``
    package : the adapter's name
    available : whether the package is installed
    version : the package's version, or None
    kinds : kinds of problems that the solver takes
    indices : for DAEs, the differentiation indices that it takes
    one_step : whether it is a one-step method, which takes projected states back without a restart
    install : how to get the package
    summary : one line on the method
    """

    name: str
    package: str
    available: bool
    version: str | None
    kinds: frozenset[str]
    indices: frozenset[int]
    one_step: bool
    install: str
    summary: str

    @property
    def takes(self) -> str:
        """The kinds of problems in words, as in ``"ode, dae 1-2"``."""
        words = []
        for kind in ("ode", "dae", "overdetermined"):
            if kind in self.kinds:
                numbers = ",".join(map(str, sorted(self.indices)))
                words.append(f"dae {numbers}" if kind == "dae" else kind)
        return ", ".join(words)


@final
class SolverTable(list[SolverInfo]):
    """A list of `SolverInfo` that prints as a table."""

    def __str__(self) -> str:
        rows = [("solver", "version", "takes", "what it is")]
        rows += [(s.name, s.version or "missing", s.takes, s.summary) for s in self]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = ["  ".join([*(row[k].ljust(widths[k]) for k in range(3)), row[3]]).rstrip() for row in rows]
        missing = {s.package: s.install for s in self if not s.available}
        lines += [f"{package} is missing: run {install}" for package, install in missing.items()]
        return "\n".join(lines)

    __repr__ = __str__


def _in_house(module: str) -> AbstractAdapter:
    found: AbstractAdapter = importlib.import_module(module).ADAPTER
    return found


@lru_cache(maxsize=1)
def _sources() -> dict[str, Callable[[], AbstractAdapter]]:
    """How to load each adapter, by its name."""
    sources: dict[str, Callable[[], AbstractAdapter]] = {p.name: p.load for p in entry_points(group=_GROUP)}
    if importlib.util.find_spec("rbdae_adapters") is not None:
        for name, module in _IN_HOUSE.items():
            sources.setdefault(name, partial(_in_house, module))
    if not sources:
        raise MissingSolver(
            "no adapters found: rbdae is neither installed nor is its folder adapters/ on the path; "
            "run `pip install -e .`, or set PYTHONPATH=adapters"
        )
    return sources


@cache
def _load(package: str) -> AbstractAdapter:
    """One adapter; this does not import its package, and no other adapter."""
    return _sources()[package]()


def _adapters() -> dict[str, AbstractAdapter]:
    """Every adapter; one of another distribution that cannot be loaded is left out with a warning."""
    found = {}
    for name in _sources():
        try:
            found[name] = _load(name)
        except Exception as error:
            if name in _IN_HOUSE:
                raise
            warnings.warn(f"the adapter {name!r} cannot be loaded: {error}", stacklevel=3)
    return found


def solvers() -> SolverTable:
    """Every solver of every adapter, available or not; prints as a table."""
    table = SolverTable()
    for package, adapter in _adapters().items():
        version = adapter.version()
        for m in adapter.methods:
            table.append(
                SolverInfo(
                    name=f"{package}:{m.name}",
                    package=package,
                    available=version is not None,
                    version=version,
                    kinds=m.kinds,
                    indices=m.indices,
                    one_step=m.one_step,
                    install=adapter.install,
                    summary=m.summary,
                )
            )
    return table


def adapter(package: str) -> AbstractAdapter:
    """The adapter of a package, for its `native` objects: ``adapter("scipy").native(problem, "RK45")``."""
    if package not in _sources():
        raise ValueError(f"no adapter {package!r}; {_nearest(package, list(_sources()))}")
    return _load(package)


def _nearest(name: str, names: Sequence[str]) -> str:
    """'did you mean ...?', by spelling, by upper and lower case, or by the part after the colon."""
    folded = {n.casefold(): n for n in names}
    wanted = name.casefold()
    if wanted in folded:
        return f"did you mean {folded[wanted]!r}?"
    near = [n for key, n in folded.items() if key.rpartition(":")[2] == wanted.rpartition(":")[2]]
    near += [folded[key] for key in difflib.get_close_matches(wanted, list(folded), n=3)]
    if near:
        return "did you mean " + " or ".join(repr(n) for n in dict.fromkeys(near)) + "?"
    return "there are " + ", ".join(sorted(names))


def find_method(solver: str) -> tuple[AbstractAdapter, Method]:
    """The adapter and the method of a solver's name; refuses unknown names and missing packages.

    Raises
    ------
    ValueError
        for a name that no adapter has, with the nearest ones
    MissingSolver
        for a package that is not installed, with the command that installs it
    """
    if not isinstance(solver, str):
        raise TypeError(f"solver must be a string such as 'scipy:RK45', got {solver!r}")
    package, _, name = solver.partition(":")
    if package in _sources():
        speaker = _load(package)
        for method in speaker.methods:
            if method.name == name:
                if speaker.version() is None:
                    raise MissingSolver(f"{solver!r} needs {package}, which is missing: run {speaker.install}")
                return speaker, method
    names = [f"{p}:{m.name}" for p, a in _adapters().items() for m in a.methods]
    raise ValueError(f"unknown solver {solver!r}; {_nearest(solver, names)} (rbdae.solvers() lists them all)")


def solvers_for(problem: Problem) -> list[str]:
    """Names of the solvers that take a problem's form, installed or not."""
    return [
        f"{package}:{m.name}"
        for package, a in _adapters().items()
        for m in a.methods
        if m.accepts(problem.kind, problem.index)
    ]


def _check_pairing(problem: Problem, solver: str, method: Method) -> None:
    if method.accepts(problem.kind, problem.index):
        return
    is_a = {
        "ode": "an ODE form",
        "dae": f"a DAE of index {problem.index}",
        "overdetermined": "an overdetermined DAE",
    }[problem.kind]
    takes = " and ".join(
        _FORMS[k] + (f" of index {', '.join(map(str, sorted(method.indices)))}" if k == "dae" else "")
        for k in ("ode", "dae", "overdetermined")
        if k in method.kinds
    )
    able = solvers_for(problem)
    raise Unsupported(
        f"{problem.formulation!r} is {is_a}, but {solver} takes {takes}. "
        f"Solvers for it: {', '.join(able) if able else 'none'}"
    )


def _check_span(problem: Problem, t_span: Sequence[float]) -> tuple[float, float]:
    try:
        t0, t_end = (float(t) for t in t_span)
    except (TypeError, ValueError):
        raise TypeError(f"t_span must be two numbers (start, end), got {t_span!r}") from None
    if not (math.isfinite(t0) and math.isfinite(t_end) and t0 < t_end):
        raise ValueError(f"t_span must be finite and increasing, got ({t0}, {t_end})")
    if t0 != problem.t0:
        raise ValueError(
            f"t_span begins at {t0}, but the problem's initial state belongs to t = {problem.t0}; begin there"
        )
    return t0, t_end


def _check_tolerances(problem: Problem, rtol: float, atol: ArrayLike) -> tuple[float, float | Vec]:
    relative = np.asarray(rtol, dtype=float)
    if relative.ndim or not 0.0 < relative < 1.0:
        raise ValueError(f"rtol must be a number between 0 and 1, got {rtol!r}")
    absolute = np.array(atol, dtype=float)
    if absolute.shape not in ((), (problem.n,)):
        raise ValueError(f"atol must be a number or have shape ({problem.n},), got shape {absolute.shape}")
    if not (np.isfinite(absolute).all() and (absolute > 0).all()):
        raise ValueError(f"atol must be positive and finite, got {atol!r}")
    return float(relative), float(absolute) if absolute.ndim == 0 else absolute


def _check_times(t_eval: ArrayLike | None, t0: float, t_end: float) -> Vec | None:
    if t_eval is None:
        return None
    times = np.array(t_eval, dtype=float)
    if times.ndim != 1 or not times.size:
        raise ValueError(f"t_eval must be a non-empty list of times, got shape {times.shape}")
    if not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise ValueError("t_eval must be finite and strictly increasing; sort it and drop repeated times")
    if times[0] < t0 or times[-1] > t_end:
        raise ValueError(
            f"t_eval reaches from {times[0]} to {times[-1]}, outside of t_span ({t0}, {t_end}); shorten it"
        )
    return times


def _check_step(solver: str, method: Method, step: float | None) -> float | None:
    if step is None:
        if method.fixed_step:
            raise ValueError(f"{solver} takes steps of fixed size: say step=, for example step=1e-3")
        return None
    if not method.fixed_step:
        raise ValueError(f"{solver} chooses its own steps: leave out step=, and use rtol and atol")
    if not (isinstance(step, (int, float)) and math.isfinite(step) and step > 0):
        raise ValueError(f"step must be positive and finite, got {step!r}")
    return float(step)


def _check_events(events: Event | Sequence[Event] | None) -> tuple[Event, ...]:
    if events is None:
        return ()
    several = (events,) if callable(events) else tuple(events)
    for event in several:
        if not callable(event):
            raise TypeError(f"events must be functions event(t, y), got {event!r}")
    return several


def bind_projection(problem: Problem, projection: Projection | bool | None) -> Projector | None:
    """The projector that a `projection` argument asks for, or None."""
    if projection is None or projection is False:
        return None
    if projection is True:
        from rbdae.problem.projection import Projection

        return Projection().bind(problem)
    if not callable(getattr(projection, "bind", None)):
        raise TypeError(f"projection must be True, False, None or a rbdae.Projection, got {projection!r}")
    return projection.bind(problem)


@contextlib.contextmanager
def _terminal() -> Iterator[TextIO]:
    """Standard error that stays audible while packages are silenced by way of its file descriptor."""
    try:
        stream = os.fdopen(os.dup(sys.stderr.fileno()), "w")
    except (AttributeError, OSError, ValueError, io.UnsupportedOperation):  # a notebook, or none at all
        yield sys.stderr
        return
    with stream:
        yield stream


@contextlib.contextmanager
def _progress(
    wanted: bool | Callable[[float], None], solver: str, t0: float, t_end: float
) -> Iterator[Callable[[float], None] | None]:
    """What `Request.advance` gets: None, the user's function, or a bar."""
    if callable(wanted):
        yield wanted
        return
    if not wanted:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("progress=True needs tqdm: run `pip install 'rbdae[progress]'`") from None
    with (
        _terminal() as stream,
        tqdm(
            total=t_end - t0,
            desc=solver,
            file=stream,
            bar_format="{l_bar}{bar}| t = {n:.4g} of {total:.4g} [{elapsed}<{remaining}]",
        ) as bar,
    ):

        def advance(t: float) -> None:
            bar.update(t - t0 - bar.n)

        yield advance


def _message(solver: str, outcome: Outcome, t0: float, t_end: float) -> str:
    sentence = outcome.reason.value
    last = t0 if outcome.stopped is None else outcome.stopped
    if outcome.reason is Reason.FINISHED:
        message = f"{solver} {sentence}"
    elif outcome.reason is Reason.EVENT:
        message = f"{solver} {sentence} at t = {last:.9g}"
    else:
        message = f"{solver} stopped at t = {last:.9g} on the way from {t0:g} to {t_end:g}: {sentence}"
    return f"{message}. It said: {outcome.detail}" if outcome.detail else message


def solve(
    problem: Problem,
    t_span: Sequence[float],
    *,
    solver: str,
    rtol: float = 1e-6,
    atol: ArrayLike = 1e-6,
    t_eval: ArrayLike | None = None,
    projection: Projection | bool | None = None,
    events: Event | Sequence[Event] | None = None,
    progress: bool | Callable[[float], None] = False,
    step: float | None = None,
    **options: Any,
) -> Solution:
    """Integrate a problem.

    Parameters
    ----------
    problem : from `rbdae.formulate`
    t_span : start (the problem's `t0`) and end of the interval, in seconds
    solver : ``"package:method"``; `rbdae.solvers` lists them
    rtol, atol : relative and absolute tolerance; `atol` a number or shape (n,)
    t_eval : output times, from the solver's dense output; None for the solver's own steps
    projection : True or a `rbdae.Projection` to project every accepted step and every output onto the
        constraints. The solvers of scipy, solve_dae and Assimulo go on from the projected state; other multistep
        codes do so, by a restart that is counted, only where the drift exceeds
        `rbdae.Projection.restart_tolerance` and ten times the tolerance
    events : one or more functions ``event(t, y)``, with scipy's attributes `terminal` and `direction`
    progress : True for a bar (needs tqdm), or a function that is called with the time of each step
    step : step size of fixed-step methods, and only of those
    **options : the package's own options, by its own names; unknown ones are refused

    Returns
    -------
    Solution
        A solver that gives up returns what it has, with ``success=False`` and a message.

    Raises
    ------
    TypeError, ValueError
        for wrong input
    rbdae.adapter.Unsupported
        for a form that the solver cannot take, with those that can, and for options that it does not have
    rbdae.adapter.MissingSolver
        for a package that is not installed
    """
    if getattr(problem, "callbacks", None) is None:
        raise TypeError(f"solve needs a problem made by rbdae.formulate(system, ...), got {problem!r}")
    speaker, method = find_method(solver)
    _check_pairing(problem, solver, method)
    t0, t_end = _check_span(problem, t_span)
    relative, absolute = _check_tolerances(problem, rtol, atol)
    with _progress(progress, solver, t0, t_end) as advance:
        request = Request(
            t0=t0,
            t_end=t_end,
            t_eval=_check_times(t_eval, t0, t_end),
            rtol=relative,
            atol=absolute,
            step=_check_step(solver, method, step),
            projector=bind_projection(problem, projection),
            events=_check_events(events),
            advance=advance,
            options=options,
        )
        began = time.perf_counter()
        if problem.has_gauges:
            outcome = gauges.run(problem, lambda part, asked: speaker.run(part, method, asked), request)
        elif problem.dropped:
            outcome = redundancy.run(problem, lambda part, asked: speaker.run(part, method, asked), request)
        else:
            outcome = speaker.run(problem, method, request)
        outcome.stats.seconds = time.perf_counter() - began
    solution = Solution(
        problem=problem.with_own_gauges() if problem.has_gauges else problem,
        t=outcome.t,
        y=outcome.y,
        solver=solver,
        reason=outcome.reason,
        message=_message(solver, outcome, t0, t_end),
        stats=outcome.stats,
        rtol=relative,
        atol=absolute,
        events=tuple(EventLog(t, y) for t, y in zip(outcome.t_events, outcome.y_events, strict=True)),
    )
    return _with_warning(solution, request.projector is not None) if hasattr(problem, "model") else solution


def _with_warning(solution: Solution, projected: bool) -> Solution:
    """The same, with a word in the message where the joints of a loop passed a singular position."""
    times = solution.singular_times
    if not len(times):
        return solution
    listed = ", ".join(f"{t:.6g}" for t in times[:5]) + (" and more" if len(times) > 5 else "")
    warning = f"; the joints were singular near t = {listed}: the motion beyond is one of several branches"
    if not projected:
        warning += ", and errors grow with each passage: use projection=True"
    return replace(solution, message=solution.message + warning)


__all__ = ["SolverInfo", "SolverTable", "adapter", "find_method", "solve", "solvers", "solvers_for"]
