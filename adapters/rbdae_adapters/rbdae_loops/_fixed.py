"""Runs of the conserving schemes: implicit steps of fixed size, their loop in machine code."""

from __future__ import annotations

import ast
import time
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import Outcome, Reason, Request, Solvable, Stats, Steps, Unsupported
from rbdae.machine.loops import fixed_memory as at
from rbdae.machine.loops.composition import COMPOSITIONS, ORDERS, weights
from rbdae.machine.loops.fixed_host import FixedLoop
from rbdae_adapters.toolkit import Dense, GaveUp, free_loop, stepwise_loop
from rbdae_adapters.toolkit import options as check

TOLERANCE = 1e-8
"""Relative size of the last correction, which is applied: Newton's method squares it."""

MOST = 30
"""Iterations in one step."""

HALF_A_TURN = 1e50
"""Of the loop's last size: what a step gets that turns a body by half a turn (`rbdae.kernels.conserving.steps`)."""

SCHEMES: Mapping[str, Mapping[str, str]] = {
    "energy-momentum": {"rodrigues": "QUAT.EM-R", "paper": "QUAT.EM"},
    "variational": {"quat-vi": "QUAT.VI"},
    "simo-wong": {"algo-c1": "ALGO.C1", "energy-momentum": "ALGO.C1 (energy)"},
    "midpoint": {
        "rodrigues": "MIDPOINT",
        "conformal": "MIDPOINT (conformal)",
        "average-momentum": "MIDPOINT (310)",
        "average-velocity": "MIDPOINT (326)",
    },
}
"""The schemes of a method by the names of its variants; the first one is the default."""

UNSOLVABLE: Mapping[str, str] = {
    "variational": "a step turns a spin Omega by theta with sin(theta) = step * Omega, so there is none beyond "
    "step * Omega = 1; ",
}
"""Why a step of a method may have no solution."""


SIXTH = frozenset({"QUAT.EM-R", "QUAT.EM", "MIDPOINT", "MIDPOINT (conformal)"})
"""Schemes whose composition has order six, without joints; the last two have the steps of the first ones."""

DIRECTORS = "DIR.EM"
"""The scheme in director momenta."""

NOT_SYMMETRIC = frozenset({"MIDPOINT (326)"})
"""Schemes whose steps of the size -h do not undo those of the size h."""


def _order(owner: str, name: str, value: object) -> int:
    if value not in ORDERS or not isinstance(value, int):
        raise ValueError(f"{owner}: {name} must be one of {', '.join(map(str, ORDERS))}, got {value!r}; choose one")
    return value


def options_of(method: str) -> dict[str, check.Check]:
    """The options that a method of this kind can be told."""
    return {
        "variant": check.one_of(*SCHEMES[method]),
        "order": _order,
        "composition": check.one_of(*COMPOSITIONS),
        "tolerance": check.fraction,
        "max_iterations": check.count,
        "max_steps": check.count,
    }


@final
class FixedRun:
    """A loop and the end of it, see `Run`."""

    continues = False

    def __init__(
        self, problem: Solvable, method: str, request: Request, y0: Vec, options: Mapping[str, Any], *, stepwise: bool
    ) -> None:
        assert request.step is not None
        variants = SCHEMES[method]
        scheme = variants[options.get("variant", next(iter(variants)))]
        self.functions = functions_of(problem, scheme, method)
        self.step, self.method = request.step, method
        self.loop = FixedLoop(
            self.functions,
            (request.t0, request.t_end),
            y0,
            request.step,
            weights=weights_of(self.functions, method, options),
            tolerance=options.get("tolerance", TOLERANCE),
            most=options.get("max_iterations", MOST),
            max_steps=None if stepwise else options.get("max_steps"),
            times=None if stepwise else request.t_eval,
            stepwise=stepwise,
            direction=request.direction,
        )

    def failed(self, status: int) -> None:
        """Raise why the loop cannot continue: the exception of a user's function, or `GaveUp`."""
        self.functions.check()
        s = self.loop.s
        number = s.steps + int(s.t == s.t_new)  # else a state within the last one has no solution
        if status == at.TOO_MANY:
            raise GaveUp(Reason.TOO_MANY_STEPS, f"the limit was {s.max_steps}")
        where = f"step {number} of {self.step:.3g} s: "
        remedy = UNSOLVABLE.get(self.method, "") + "take a smaller step="
        if status == at.NOT_CONVERGED:
            if s.correction > HALF_A_TURN:
                said = f"body {self._fastest()!r} comes to half a turn, where the scheme has no step"
            else:
                said = (
                    f"after {s.most} iterations a correction is still {s.correction:.2g} of the increment, or "
                    "a balance of momentum lacks as much"
                )
            raise GaveUp(Reason.NOT_CONVERGED, f"{where}{said}; {remedy}")
        if status == at.NOT_FINITE:
            raise GaveUp(Reason.NOT_FINITE, f"{where}{remedy}")
        raise RuntimeError(f"the loop came back with {status}, which nobody knows")

    def _fastest(self) -> str:
        """The body that turns most in the unknowns of the last step or its stages."""
        stages = self.loop.unknowns()
        turns: tuple[tuple[str, int], ...] = self.functions.turns
        return max(turns, key=lambda turn: float(np.abs(stages[:, turn[1] : turn[1] + 3]).max()))[0]

    def seen(self) -> None:
        """Nothing is asked in these runs."""

    def replace(self, t: float, y: Vec) -> None:
        """Continue from another state."""
        self.loop.replace(y)

    def dense(self) -> Dense:
        """The dense output of the last step; `GaveUp` where the step to a state within it has no solution."""

        def at_time(t: float) -> Vec:
            y = self.loop.at(t)
            if self.loop.within != at.DONE:
                self.failed(self.loop.within)
            return y

        return at_time

    def finish(self, stats: Stats) -> None:
        """The loop's counts: an iteration evaluates a residual and a Jacobian, and factorises it."""
        n = self.loop.s.iterations
        stats.evaluations = stats.jacobians = stats.factorisations = n
        stats.rejected = 0


def weights_of(functions: Any, method: str, options: Mapping[str, Any]) -> tuple[float, ...]:
    """The stages of a step: one, or those of ``order=4`` or ``6``, which is 4 if a composition is asked for."""
    scheme = functions.scheme
    order = options.get("order", 4 if "composition" in options else 2)
    if order > 2 and scheme in NOT_SYMMETRIC:
        raise Unsupported(
            f"rbdae:{method}: order={order} is composed of steps that lead back with the opposite size, and those of "
            f"{scheme} do not; choose another variant="
        )
    if order > 4:
        reason = ""
        if scheme == DIRECTORS:
            reason = "in directors momenta off the tangent space change their sign in every step"
        elif scheme not in SIXTH:
            reason = f"it is verified for the steps of QUAT.EM and QUAT.EM-R alone, not for those of {scheme}"
        elif functions.n_rows:
            reason = "with joints velocities off the tangent space change their sign in every step"
        if reason:
            raise Unsupported(f"rbdae:{method} has no order=6 here: {reason}; take order=4")
    return weights(options.get("composition", COMPOSITIONS[0]), order)


def functions_of(problem: Solvable, scheme: str, method: str) -> Any:
    """The machine functions of a scheme, or of what it is in directors."""
    found: Any = getattr(problem.callbacks, "_steps", None)
    if found is None:
        raise Unsupported(f"rbdae:{method} needs a problem of rbdae.formulate; formulate the system first")
    try:
        return found(scheme)
    except ValueError as error:
        raise Unsupported(f"rbdae:{method}: {error}") from error


def run(problem: Solvable, method: str, request: Request, options: Mapping[str, Any]) -> Outcome:
    """Run a method; in machine code from the start to the end if nothing is asked of Python after each step."""
    if request.projector is not None:
        raise Unsupported(
            f"rbdae:{method} keeps positions on the constraints by itself, and a projection would change energy and "
            "momentum, which it keeps, too; leave out projection="
        )
    began = time.perf_counter()
    if not (request.events or request.each_step or request.watch is not None):
        return free_loop.run(FixedRun(problem, method, request, problem.y0, options, stepwise=False), request, began)
    return stepwise_loop.run(
        lambda recorder: FixedRun(problem, method, request, recorder.y0, options, stepwise=True),
        problem,
        request,
        options.get("max_steps"),
    )


def work(problem: Any, method: str, said: Mapping[str, str], steps: Steps, times: Vec) -> Vec | None:
    """The work of what has no potential in the steps of a run, at times within it, see `rbdae.adapter`. The unknowns of
    the steps are found again as in the run. None if a step has no solution: then these are not the states of a run."""
    options = {name: ast.literal_eval(said[name]) for name in options_of(method) if name in said}
    variants = SCHEMES[method]
    scheme = variants[options.get("variant", next(iter(variants)))]
    functions = functions_of(problem, scheme, method)
    step = ast.literal_eval(said["step"])
    direction = -1.0 if steps.t[-1] < steps.t[0] else 1.0
    own = direction * steps.t
    loop = FixedLoop(
        functions,
        (float(own[0]), float(own[-1])),
        steps.y[0],
        step,
        weights=weights_of(functions, method, options),
        tolerance=options.get("tolerance", TOLERANCE),
        most=options.get("max_iterations", MOST),
        stepwise=True,
        direction=direction,
    )
    sizes = np.diff(own)
    sizes[np.abs(sizes - step) <= at.ALMOST * step] = step
    function = problem.callbacks._work_of_steps(scheme)
    status, out = loop.works(function, own, steps.y, sizes, direction * times)
    functions.check()
    function.check()
    return out if status == at.FINISHED else None


__all__ = ["SCHEMES", "FixedRun", "functions_of", "options_of", "run", "work"]
