"""The package's own solvers: one-step methods with loops in machine code.

A run that needs no Python stays in machine code from start to end, with projection, switches and events of quantities
if there is code of the model for them (`toolkit.loops.LoopRun.free`). Otherwise the tools shared by all adapters work
after every accepted step. Both take the same steps.
"""

from __future__ import annotations

import ast
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae._check import NoSolution
from rbdae._frozen import changed
from rbdae._version import __version__
from rbdae.adapter import AbstractAdapter, Method, Outcome, Reason, Request, Solvable, Stats, Steps, Unsupported
from rbdae.machine.function import MachineFunction
from rbdae.machine.loops import fixed, memory
from rbdae.machine.loops.host import USUAL, Controls, FixedLoop, Loop
from rbdae.machine.loops.methods import METHODS, ODEX, Stepper, Tableau
from rbdae_adapters.toolkit import GaveUp, loops, take_options
from rbdae_adapters.toolkit.loops import Inside, LoopRun, arguments, machine

_ADAPTIVE = ("first_step", "max_step", "max_steps", "safety", "shrink", "grow", "beta")
_FIXED_STEP = ("variant", "order", "tolerance", "max_iterations", "max_steps")
_BOUNDS = {
    "first_step": (0.0, math.inf),
    "max_step": (0.0, math.inf),
    "safety": (0.0, 1.0),
    "shrink": (0.0, 1.0),
    "tolerance": (0.0, 1.0),
    "grow": (1.0, math.inf),
    "beta": (0.0, math.inf),
}
"""Ranges of numeric options. The ends are included for `grow` and `beta`; `max_step` may be infinite."""


def _options(given: Mapping[str, Any], known: tuple[str, ...], who: str, **choices: Iterable[object]) -> dict[str, Any]:
    """The user's options, checked here because there is no package to do so."""
    out = take_options(given, known, who, **choices)
    for name, value in out.items():
        if name in ("max_steps", "max_iterations"):
            _check.count(who, name, value)
        elif name in _BOUNDS and not (name == "max_step" and isinstance(value, float) and value == math.inf):
            low, high = _BOUNDS[name]
            number = _check.number(who, name, value)
            if not low <= number < high or (number == low and name not in ("grow", "beta")):
                raise ValueError(f"{who}: {name} must be between {low:g} and {high:g}, got {number!r}; leave it out")
    return out


_HAMILTONIAN = ("hamiltonian", "hamiltonian-momentum", "hamiltonian-differentiated", "hamiltonian-eliminated")
"""Forms in momenta without further multipliers: the schemes use their state but not their equations."""


_BOTH, _QUATERNION = ("quaternion", "directors"), ("quaternion",)
_FIXED = tuple(
    Method(
        name,
        frozenset({"ode", "dae"} if velocity == "momentum" else {"ode"}),
        indices=frozenset({1, 2, 3} if velocity == "momentum" else ()),
        one_step=True,
        fixed_step=True,
        summary=f"{summary}; order 2",
        pairings=frozenset((form, rotation, velocity) for form in forms for rotation in rotations),
    )
    for name, forms, rotations, velocity, summary in (
        ("energy-momentum", _HAMILTONIAN, _BOTH, "momentum",
         "keeps energy and momentum: QUAT.EM-R, variant='paper' for QUAT.EM [BS09], or DIR.EM"),
        ("variational", _HAMILTONIAN, _QUATERNION, "momentum",
         "keeps momentum, symplectic: QUAT.VI [BS09], with joints and weight"),
        ("simo-wong", ("index-0",), _QUATERNION, "angular",
         "keeps momentum: ALGO.C1 [SW91], variant='energy-momentum' keeps energy"),
        ("midpoint", ("index-0",), _QUATERNION, "angular",
         "mid-point rule of [GR95], section 11: keeps energy and momentum, and other readings"),
    )
)  # fmt: skip
"""Methods of fixed step size."""


@final
@dataclass(frozen=True, slots=True)
class NativeProblem:
    """Functions and values for your own loop in C, machine code or Python.

    Parameters
    ----------
    function : the right-hand side as a machine function: `address` of ``int32 f(void* context, double t, const double*
        y, const double* yd, double c, double* out)``, which does not read yd and c, its `context`, and `check`, to call
            after a nonzero result; for methods of fixed step size the three functions of a step, `newton`,
            `advance` and `predict` (`rbdae.machine.loops.fixed`), and `n_unknowns` of a step
    t0, y0 : the start, shape (n,)
    method : the method's name
    """

    function: MachineFunction | Any
    t0: float
    y0: Vec
    method: str


@cache
def _methods(steppers: tuple[Stepper, ...]) -> tuple[Method, ...]:
    loop, ode = "its loop in machine code", frozenset({"ode"})
    kinds = ((one, ", explicit" if isinstance(one, Tableau) else "") for one in steppers)
    found = (Method(one.name, ode, one_step=True, summary=f"{one.summary}{kind}, {loop}") for one, kind in kinds)
    return (*found, *_FIXED)


@final
class LoopsAdapter(AbstractAdapter):
    """One-step methods in machine code, see the module's docstring."""

    package = "rbdae"
    install = "pip install rbdae"

    @property
    def methods(self) -> tuple[Method, ...]:  # type: ignore[override]
        """The methods that have a tableau, also those of other packages, and those of fixed step size."""
        return _methods((*METHODS.values(), ODEX))

    def version(self) -> str | None:
        return __version__

    def native(self, problem: Solvable, method: str, **options: Any) -> NativeProblem:
        """The right-hand side as a machine function, and the start; for fixed-step methods the functions of a step.
        Raises Unsupported for options, and for models that the method does not support."""
        take_options(options, (), f"the native form of rbdae:{method}")
        if method in SCHEMES:
            scheme = next(iter(SCHEMES[method].values()))
            return NativeProblem(functions_of(problem, scheme, method), problem.t0, problem.y0.copy(), method)
        return NativeProblem(machine(problem, "rhs"), problem.t0, problem.y0.copy(), method)

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        if method.name in SCHEMES:
            return _run_fixed(problem, method.name, request)
        scheme, options = self._scheme(method, request)
        function = machine(problem, "rhs", request.direction)

        def make(y0: Vec, within: Inside | None) -> OneStepRun:
            return OneStepRun(scheme, function, request, y0, options, within)

        return loops.run(make, problem, request, options.get("max_steps"))

    def stepper(self, problem: Solvable, method: Method, request: Request) -> OneStepRun | None:
        """A run of a method with a tableau, or of ODEX, that its owner continues; None for fixed-step methods and if a
        projection or a switch needs Python."""
        if method.name in SCHEMES or request.events or request.watch is not None:
            return None
        scheme, options = self._scheme(method, request)
        within = loops.inside(problem, changed(request, each_step=False))
        if within is None:
            return None
        run = OneStepRun(scheme, machine(problem, "rhs"), request, within.y0, options, within)
        run._keeps = request.keep_steps
        run.loop.y[:] = within.y0  # as if a step had ended here
        return run

    def _scheme(self, method: Method, request: Request) -> tuple[Stepper, Mapping[str, Any]]:
        scheme = ODEX if method.name == ODEX.name else METHODS[method.name]
        allowed = _ADAPTIVE if scheme is not ODEX else _ADAPTIVE[:-1]
        return scheme, request.options and _options(request.options, allowed, f"rbdae:{method.name}")

    def work(self, problem: Any, method: str, options: Mapping[str, str], steps: Steps, times: Vec) -> Vec | None:
        """The work in the steps of fixed-step methods: forces times increments, multipliers times prescribed
        increments. For energy-conserving schemes it equals the change of energy.

        The unknowns of the steps are solved for again as in the run. None if a step has no solution: then these are not
        states of a run.
        """
        if method not in SCHEMES:
            return None
        given = {name: ast.literal_eval(options[name]) for name in _FIXED_STEP if name in options}
        step = ast.literal_eval(options["step"])
        direction = -1.0 if steps.t[-1] < steps.t[0] else 1.0
        run_times = direction * steps.t
        span = float(run_times[0]), float(run_times[-1])
        scheme, loop = _fixed_loop(problem, method, span, steps.y[0], step, given, stepwise=True, direction=direction)
        sizes = np.diff(run_times)
        sizes[np.abs(sizes - step) <= fixed.ALMOST * step] = step
        function = problem.callbacks.work_of_steps(scheme)
        status, out = loop.works(function, run_times, steps.y, sizes, direction * times)
        loop.functions.check()
        function.check()
        return out if status == memory.FINISHED else None


# ---------------------------------------------------------------- methods with an error estimate


NEAR = 1e-8
"""Relative distance of times: a value that was not finite within it explains the end of a run."""


@final
class OneStepRun(LoopRun):
    """A run of a method with an error estimate; also a `rbdae.adapter.Stepper`."""

    def __init__(
        self,
        method: Stepper,
        function: MachineFunction,
        request: Request,
        y0: Vec,
        options: Mapping[str, Any],
        within: Inside | None,
    ) -> None:
        given = dict(options)
        if request.first_step is not None:
            given["first_step"] = request.first_step
        if within is None:
            given.pop("max_steps", None)
        span, told = (request.t0, request.t_end), arguments(request, within)
        controls = Controls(**given) if given else USUAL
        loop = Loop(method, function, span, y0, request.rtol, request.atol, controls, **told)
        super().__init__(loop, function.check, request, within)
        self._max_step = options.get("max_step", math.inf)

    def failed(self, status: int) -> None:
        """Raise the exception behind a status or `GaveUp`, or make the loop reject its last attempt."""
        loop = self.loop
        if status == memory.CALLBACK_NOT_FINITE:
            try:
                self.check()
            except Exception:
                loop.s.shrink = 1  # the function cannot take NaN, and need not
                return
        if status in (memory.CALLBACK, memory.CALLBACK_NOT_FINITE):
            self.check()
            raise GaveUp(Reason.SOLVER, "a callback has failed")
        s, t = loop.s, loop.t
        if status == memory.DENSE_NOT_FINITE:
            late = loop.times[s.outputs] if s.outputs < s.times else float("nan")
            raise GaveUp(Reason.NOT_FINITE, "the dense output is not finite", late)
        near = s.bad or abs(s.bad_t - t) <= NEAR * max(1.0, abs(t))
        shorter = status in (memory.STANDS_STILL, memory.TOO_SMALL)
        if status == memory.RATES_NOT_FINITE or (shorter and s.ever_bad and near):
            raise GaveUp(Reason.NOT_FINITE, "the right-hand side is not finite", s.bad_t)
        if status == memory.TOO_SMALL:
            raise GaveUp(Reason.STEP_TOO_SMALL, f"a step of {s.h:.3g} is lost in rounding")
        raise self.ended(status) or RuntimeError(f"the loop returned the unknown status {status}")

    def finish(self, stats: Stats) -> None:
        s = self.loop.s
        stats.rejected, stats.evaluations = s.rejected, s.evaluations
        stats.jacobians = stats.factorisations = 0
        self.count_projections(stats)

    # ------------------------------------------------------------ continued by its owner

    @property
    def t(self) -> float:
        return float(self.loop.t)

    @property
    def y(self) -> Vec:
        y: Vec = self.loop.y
        return y.copy()

    def advance(self, t_end: float) -> tuple[Reason, str]:
        s = self.loop.s
        s.t_end = t_end
        s.h_max = min(self._max_step, t_end - s.t_new)
        try:
            self.go_on()
        except GaveUp as end:
            return end.reason, end.detail if end.t is None else f"{end.detail} at t = {end.t:.9g}"
        except NoSolution as error:
            return Reason.NOT_CONVERGED, str(error)
        return Reason.FINISHED, ""

    def mark(self) -> tuple[float, Vec, int]:
        return self.t, self.y, self.loop.s.rows

    def back(self, mark: tuple[float, Vec, int]) -> None:
        """Return to the state at `mark`; the size of the next step is chosen as at a start."""
        loop, s = self.loop, self.loop.s
        t, y, rows = mark
        s.rows = rows if self._keeps else 1
        loop.restart(t, y)
        loop.y[:] = y
        s.h = 0.0

    def disturbed(self) -> None:
        self.loop.s.stale = 1

    def steps(self) -> Steps:
        """Copies of the start and all accepted steps, since the rows grow in place; empty if they are not kept."""
        t, y = self.loop.steps()
        if not self._keeps:
            return Steps(t[:0].copy(), y[:0].copy())
        return Steps(t.copy(), y.copy())

    def stats(self) -> Stats:
        out = Stats(steps=self.loop.s.steps, seconds=time.perf_counter() - self._began)
        self.finish(out)
        return out


# ---------------------------------------------------------------- methods of fixed step size


TOLERANCE = 1e-8
"""Relative size of the last correction, which is still applied: Newton's method squares it."""

MOST = 30
"""Most iterations in one step."""

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
"""Schemes of each method by variant; the first is the default."""


def _fixed_loop(
    problem: Solvable, method: str, span: tuple[float, float], y0: Vec, step: float, options: Mapping[str, Any],
    **more: Any,
) -> tuple[str, FixedLoop]:  # fmt: skip
    """The scheme selected by a method's options, and its loop."""
    variants = SCHEMES[method]
    scheme = variants[options.get("variant", next(iter(variants)))]
    functions = functions_of(problem, scheme, method)
    weights, tolerance = weights_of(functions, method, options), options.get("tolerance", TOLERANCE)
    most = options.get("max_iterations", MOST)
    return scheme, FixedLoop(functions, span, y0, step, weights=weights, tolerance=tolerance, most=most, **more)


@final
class FixedRun(LoopRun):
    def __init__(self, loop: FixedLoop, request: Request, method: str, within: Inside | None) -> None:
        super().__init__(loop, loop.functions.check, request, within)
        self.step_size, self.method = request.step, method

    def failed(self, status: int) -> None:
        """Raise the exception of a user's function, or `GaveUp`."""
        self.check()
        s = self.loop.s
        number = s.steps + int(s.t == s.t_new)  # else a state within the last step has no solution
        where, remedy = f"step {number} of {self.step_size:.3g} s: ", "take a smaller step="
        if status == memory.STEP_NOT_FINITE:
            raise GaveUp(Reason.NOT_FINITE, f"{where}{remedy}")
        if status != memory.NOT_CONVERGED:
            raise self.ended(status) or RuntimeError(f"the loop returned the unknown status {status}")
        said = f"after {s.most} iterations its equations do not hold, as where a body comes to half a turn in a step"
        if self.method == "variational":
            said = "it turns a spin Omega by theta, sin(theta) = step * Omega: there is none beyond step * Omega = 1"
        raise GaveUp(Reason.NOT_CONVERGED, f"{where}{said}; {remedy}")

    def finish(self, stats: Stats) -> None:
        """Count a residual, a Jacobian and a factorisation for each iteration."""
        n = self.loop.s.evaluations
        stats.evaluations = stats.jacobians = stats.factorisations = n
        stats.rejected = 0


def weights_of(functions: Any, method: str, options: Mapping[str, Any]) -> tuple[float, ...]:
    """Stages of a step: one, or those of ``order=4``, Suzuki's five steps of sizes w_i h with sum w_i = 1 and
    sum w_i^3 = 0 ([HLW06], II.4)."""
    if options.get("order", 2) == 2:
        return (1.0,)
    if functions.scheme == "MIDPOINT (326)":
        raise Unsupported(
            f"rbdae:{method}: order=4 needs steps that are undone by the opposite size, unlike those of "
            f"{functions.scheme}; choose another variant="
        )
    a = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
    return (a, a, 1.0 - 4.0 * a, a, a)


def functions_of(problem: Solvable, scheme: str, method: str) -> Any:
    """Compiled step functions of a scheme; for director momenta, those of its director variant."""
    step_functions: Any = getattr(problem.callbacks, "steps", None)
    if step_functions is None:
        raise Unsupported(f"rbdae:{method} needs a problem of rbdae.formulate; formulate the system first")
    try:
        return step_functions(scheme)
    except ValueError as error:
        raise Unsupported(f"rbdae:{method}: {error}") from error


def _run_fixed(problem: Solvable, method: str, request: Request) -> Outcome:
    options = _options(request.options, _FIXED_STEP, f"rbdae:{method}", variant=SCHEMES[method], order=(2, 4))
    if request.projector is not None:
        raise Unsupported(
            f"rbdae:{method} keeps positions on the constraints by itself, and a projection would change the conserved "
            "energy and momentum; leave out projection="
        )

    def make(y0: Vec, within: Inside | None) -> FixedRun:
        assert request.step is not None
        span, told = (request.t0, request.t_end), arguments(request, within)
        most = None if within is None else options.get("max_steps")
        _, loop = _fixed_loop(problem, method, span, y0, request.step, options, max_steps=most, **told)
        return FixedRun(loop, request, method, within)

    return loops.run(make, problem, request, options.get("max_steps"))


ADAPTER = LoopsAdapter()
