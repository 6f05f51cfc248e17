"""Runs back in time: a solver integrates the mirrored problem forward, and the run is read in the problem's own time.

With tau = -t and z = dy/dtau = -yd, F(t, y, yd) = 0 is F(-tau, y, -z) = 0. Its Jacobian dF/dy + c d/dz is that of F at
-c; a right-hand side becomes -f(-tau, y). Index, classes of the unknowns and sparsity stay. So every solver has runs
back in time, whether its package knows of falling times or not.

Machine functions and steps of schemes stay in the problem's time: their loops mirror it (`Request.direction`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import Outcome, Request, Steps
from rbdae.problem.contract import Solvable


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
    def _steps(self) -> Callable[[str], Any]:
        """In the problem's own time."""
        found: Callable[[str], Any] = self._inner._steps  # type: ignore[attr-defined]
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


class _InTau:
    """A function of (t, y) that is asked in tau; all else is that of the function, in the problem's own time."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __call__(self, tau: float, y: Vec) -> Any:
        return self._inner(-tau, y)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@final
class _Projector(_InTau):
    """A projector that is asked in tau."""

    def drift(self, tau: float, y: Vec) -> Any:
        """Largest violation of the constraints."""
        return self._inner.drift(-tau, y)

    def machine(self) -> Any:
        """In the problem's own time, but for its start; None if there is none."""
        make = getattr(self._inner, "machine", None)
        made = None if make is None else make()
        return None if made is None else _Correction(made)


@final
class _Correction(_InTau):
    """A compiled projection whose start is given in tau."""

    def start(self, tau: float, y: Vec) -> None:
        """Project `y` in place."""
        self._inner.start(-tau, y)


@final
class _Watch(_InTau):
    """A watch that is asked in tau; after each change the solver restarts."""

    continued = None


def mirrored_request(request: Request) -> Request:
    """A request back in time, in tau, where it goes forward."""
    advance, begun, watch = request.advance, request.begun, request.watch
    projector: Any = None if request.projector is None else _Projector(request.projector)
    return replace(
        request,
        t0=-request.t0,
        t_end=-request.t_end,
        t_eval=None if request.t_eval is None else -request.t_eval,
        direction=-1.0,
        projector=projector,
        events=[_InTau(event) for event in request.events],
        advance=None if advance is None else lambda tau: advance(0.0 - tau),
        watch=None if watch is None else _Watch(watch),
        begun=None if begun is None else lambda collected: begun(lambda: mirrored_outcome(collected())),
    )


def mirrored_outcome(outcome: Outcome) -> Outcome:
    """An outcome in tau, in the problem's own time."""
    return replace(
        outcome,
        t=0.0 - outcome.t,
        detail_time=None if outcome.detail_time is None else 0.0 - outcome.detail_time,
        t_events=[0.0 - t for t in outcome.t_events],
        stopped=None if outcome.stopped is None else 0.0 - outcome.stopped,
        steps=None if outcome.steps is None else Steps(0.0 - outcome.steps.t, outcome.steps.y),
    )


__all__ = ["MirroredProblem", "mirrored_outcome", "mirrored_request"]
