"""``rbdae.solve(..., solver="toy:rk4", step=h)``: an adapter of its own distribution, for a solver of ten lines.

It imports public names only: the contract, `rbdae.adapter`, and the tools, `rbdae_adapters.toolkit`. With them it has
everything that the adapters of rbdae have: events, output times, projection, and errors that reach the user.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from rbdae.adapter import AbstractAdapter, Method, Outcome, Reason, Request, Solvable, Stats
from rbdae_adapters.toolkit import AbstractStepper, Dense, GaveUp, Recorder, drive, take_options

Vec = NDArray[np.float64]


# The solver, which knows nothing of rbdae


@final
class RungeKutta4:
    """The classical method of order 4 with steps of one size."""

    def __init__(self, fun: Callable[[float, Vec], Vec], t: float, y: Vec, h: float) -> None:
        self.fun, self.t, self.y, self.h = fun, t, y, h

    def step(self) -> None:
        f, t, y, h = self.fun, self.t, self.y, self.h
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        self.t, self.y = t + h, y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


# The adapter


@final
@dataclass(frozen=True, slots=True)
class Native:
    """What ``RungeKutta4(p.fun, p.t0, p.y0, h)`` takes."""

    fun: Callable[[float, Vec], Vec]
    t0: float
    y0: Vec


@final
class Stepper(AbstractStepper):
    """`RungeKutta4` with a cubic Hermite polynomial between the ends of its last step."""

    def __init__(self, native: Native, recorder: Recorder, step: float) -> None:
        self.evaluations = 0
        self.fun = native.fun
        self.solver = RungeKutta4(self.counted, native.t0, recorder.y0, step)
        self.start = native.t0, recorder.y0

    def counted(self, t: float, y: Vec) -> Vec:
        self.evaluations += 1
        return self.fun(t, y)

    def step(self) -> tuple[float, Vec]:
        self.start = self.solver.t, self.solver.y
        self.solver.step()
        if not np.isfinite(self.solver.y).all():
            raise GaveUp(Reason.NOT_FINITE, "the step overflowed")
        return self.solver.t, self.solver.y

    def interpolant(self) -> Dense:
        (t0, y0), (t1, y1) = self.start, (self.solver.t, self.solver.y)
        h, f0, f1 = t1 - t0, self.counted(t0, y0), self.counted(t1, y1)

        def dense(t: float) -> Vec:
            s = (t - t0) / h
            slopes: Vec = (s - 1) * h * f0 + s * h * f1
            return (1 - s) * y0 + s * y1 + s * (s - 1) * ((1 - 2 * s) * (y1 - y0) + slopes)

        return dense

    def replace(self, t: float, y: Vec) -> None:
        self.solver.y = y

    def finish(self, stats: Stats) -> None:
        stats.evaluations = self.evaluations


@final
class ToyAdapter(AbstractAdapter):
    """One method for ODE forms."""

    package = "toy"
    install = "pip install tests/support/toy_adapter"
    methods = (
        Method("rk4", frozenset({"ode"}), one_step=True, fixed_step=True, summary="classical Runge-Kutta, fixed step"),
    )

    def version(self) -> str | None:
        return version("rbdae-toy-adapter")

    def native(self, problem: Solvable, method: str, **options: Any) -> Native:
        take_options(options, (), f"the native form of toy:{method}")
        rhs = problem.callbacks.rhs

        def fun(t: float, y: Vec) -> Vec:
            out = np.empty_like(y)
            rhs(t, y, out)
            return out

        return Native(fun, problem.t0, np.array(problem.y0, dtype=float))

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        options = take_options(request.options, {"max_steps"}, f"toy:{method.name}")
        recorder = Recorder(problem, request, one_step=method.one_step, max_steps=options.get("max_steps"))
        assert request.step is not None  # as the method has `fixed_step`
        return drive(Stepper(self.native(problem, method.name), recorder, request.step), recorder)


ADAPTER = ToyAdapter()
