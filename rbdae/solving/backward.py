"""Runs back in time: a solver integrates the mirrored problem forward, and the run is read in the problem's own time.

With tau = -t and z = dy/dtau = -yd, F(t, y, yd) = 0 is F(-tau, y, -z) = 0. Its Jacobian dF/dy + c d/dz is that of F at
-c; a right-hand side becomes -f(-tau, y). Index, classes of the unknowns and sparsity stay. So every solver has runs
back in time, whether its package knows of falling times or not.

Machine functions and steps of schemes stay in the problem's time: their loops mirror it (`Request.direction`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import Outcome, Request, Steps
from rbdae.problem.contract import Solvable, StateProjector

_TIME = re.compile(r"(?<![\w.])t = (-?)(\d)")


@final
class _Callbacks:
    """The callbacks of a mirrored problem; each is asked for when the adapter asks."""

    def __init__(self, problem: Solvable) -> None:
        self._inner = problem.callbacks
        self._n = problem.n

    @property
    def machine(self) -> Callable[[str], Any]:
        """In the problem's own time."""
        found: Callable[[str], Any] = self._inner.machine  # type: ignore[attr-defined]  # not every problem has it
        return found

    @property
    def factors(self) -> Callable[..., Any]:
        """In the problem's own time."""
        found: Callable[..., Any] = self._inner.factors  # type: ignore[attr-defined]
        return found

    @property
    def steps(self) -> Callable[[str], Any]:
        """In the problem's own time."""
        found: Callable[[str], Any] = self._inner.steps  # type: ignore[attr-defined]
        return found

    @cached_property
    def residual(self) -> Callable[[float, Vec, Vec, Vec], None]:
        residual, yd = self._inner.residual, np.empty(self._n)

        def mirrored(tau: float, y: Vec, z: Vec, out: Vec) -> None:
            np.negative(z, out=yd)
            residual(-tau, y, yd, out)

        return mirrored

    @cached_property
    def jacobian(self) -> Callable[[float, Vec, Vec, float, Mat], None]:
        return self._tangent(self._inner.jacobian)

    @cached_property
    def jacobian_data(self) -> Callable[[float, Vec, Vec, float, Vec], None]:
        return self._tangent(self._inner.jacobian_data)

    def _tangent(self, fill: Callable[..., None]) -> Callable[..., None]:
        yd = np.empty(self._n)

        def mirrored(tau: float, y: Vec, z: Vec, c: float, out: Any) -> None:
            np.negative(z, out=yd)
            fill(-tau, y, yd, -c, out)

        return mirrored

    @cached_property
    def rhs(self) -> Callable[[float, Vec, Vec], None]:
        return self._negative(self._inner.rhs)

    @cached_property
    def rhs_jacobian(self) -> Callable[[float, Vec, Mat], None]:
        return self._negative(self._inner.rhs_jacobian)

    @staticmethod
    def _negative(fill: Callable[..., None]) -> Callable[..., None]:
        def mirrored(tau: float, y: Vec, out: Any) -> None:
            fill(-tau, y, out)
            np.negative(out, out=out)

        return mirrored


@final
class MirroredProblem:
    """A problem in tau = -t; all else is that of the problem."""

    def __init__(self, problem: Any) -> None:
        self.callbacks = _Callbacks(problem)
        self.t0 = -problem.t0
        self.yd0: Vec = -np.asarray(problem.yd0)
        self._inner = problem

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@final
class _Projector:
    """A projector that is asked in tau."""

    def __init__(self, inner: StateProjector) -> None:
        self._inner = inner

    @property
    def count(self) -> int:
        """How many corrections were made."""
        return self._inner.count

    @property
    def restart_tolerance(self) -> float:
        """Drift beyond which a multistep code is restarted."""
        return self._inner.restart_tolerance

    @property
    def reach(self) -> float:
        """The size of positions in the unit of `drift`."""
        return float(getattr(self._inner, "reach", 1.0))

    def __call__(self, t: float, y: Vec) -> bool:
        """Project `y` in place."""
        return self._inner(-t, y)

    def drift(self, t: float, y: Vec) -> float:
        """Largest violation of the constraints."""
        return self._inner.drift(-t, y)

    def machine(self) -> Any:
        """In the problem's own time, but for its start; None if there is none."""
        make = getattr(self._inner, "machine", None)
        made = None if make is None else make()
        return None if made is None else _Correction(made)


@final
class _Correction:
    """A compiled projection whose start is given in tau."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def start(self, tau: float, y: Vec) -> None:
        """Project `y` in place."""
        self._inner.start(-tau, y)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@final
class _Watch:
    """A watch that is asked in tau."""

    def __init__(self, inner: Callable[[float, Vec], bool]) -> None:
        self._inner = inner

    def __call__(self, tau: float, y: Vec) -> bool:
        return self._inner(-tau, y)

    def machine(self) -> Any:
        """In the problem's own time; None if there is none."""
        make = getattr(self._inner, "machine", None)
        return None if make is None else make()


@final
class _Event:
    """An event function in tau; its direction is that of its value along the run, as in scipy."""

    def __init__(self, inner: Any) -> None:
        self.__name__ = getattr(inner, "__name__", repr(inner))
        self.terminal = getattr(inner, "terminal", 0)
        self.direction = getattr(inner, "direction", 0.0)
        self.machine = getattr(inner, "machine", None)  # in the problem's own time
        self._inner = inner

    def __call__(self, tau: float, y: Vec) -> float:
        value: float = self._inner(-tau, y)
        return value


def mirrored_request(request: Request) -> Request:
    """A request back in time, in tau, where it goes forward."""
    advance, begun, projector, watch = request.advance, request.begun, request.projector, request.watch
    return replace(
        request,
        t0=-request.t0,
        t_end=-request.t_end,
        t_eval=None if request.t_eval is None else -request.t_eval,
        direction=-1.0,
        projector=None if projector is None else _Projector(projector),
        events=[_Event(event) for event in request.events],
        advance=None if advance is None else lambda tau: advance(0.0 - tau),
        watch=None if watch is None else _Watch(watch),
        begun=None if begun is None else lambda collected: begun(lambda: mirrored_outcome(collected())),
    )


def mirrored_outcome(outcome: Outcome) -> Outcome:
    """An outcome in tau, in the problem's own time."""
    return replace(
        outcome,
        t=0.0 - outcome.t,
        detail=_TIME.sub(lambda found: f"t = {'' if found[1] else '-'}{found[2]}", outcome.detail),
        t_events=[0.0 - t for t in outcome.t_events],
        stopped=None if outcome.stopped is None else 0.0 - outcome.stopped,
        steps=None if outcome.steps is None else Steps(0.0 - outcome.steps.t, outcome.steps.y),
    )


__all__ = ["MirroredProblem", "mirrored_outcome", "mirrored_request"]
