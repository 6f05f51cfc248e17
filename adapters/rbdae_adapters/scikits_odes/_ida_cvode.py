"""IDA and CVODE, driven one internal step at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import Request, Solvable, Stats
from rbdae_adapters._sundials import (
    CVODE_REASONS,
    IDA_REASONS,
    STALLED,
    STALLED_MESSAGE,
    ResidualNative,
    Restarts,
    RhsNative,
    gave_up,
)
from rbdae_adapters.toolkit import AbstractStepper, Dense, Recorder

_CALLBACKS = ("jacfn", "prec_setupfn", "prec_solvefn", "jac_times_vecfn", "jac_times_setupfn")


@final
class _Messages:
    """SUNDIALS' own words, in place of its printing."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        self.last = ""

    def __call__(self, code: int, module: bytes, function: bytes, message: bytes) -> None:
        self.last = message.decode(errors="replace").strip()


@final
class _Stepper(AbstractStepper):
    """IDA (carries yd) or CVODE (does not)."""

    def __init__(
        self,
        problem: Solvable,
        solver: Any,
        failed: list[BaseException],
        messages: _Messages,
        counts: dict[str, int],
        request: Request,
        recorder: Recorder,
        *,
        implicit: bool,
    ) -> None:
        self._solver, self._failed, self._messages = solver, failed, messages
        self._counts, self._t_end, self._implicit = counts, request.t_end, implicit
        self._reasons = IDA_REASONS if implicit else CVODE_REASONS
        self._t, self._y = request.t0, recorder.y0.copy()
        self._restarts = Restarts(problem, recorder)
        self._yd = np.array(problem.yd0, dtype=float)
        self._past = np.zeros(2, dtype=np.int64)  # CVODE's counts before the last restart
        self._interpolating = False
        self._call(solver.init_step)

    def _call(self, start: Callable[..., Any]) -> None:
        # the package keeps pointers to what it gets
        self._alive = (self._y.copy(), self._yd.copy())
        flag = start(self._t, *self._alive[: 2 if self._implicit else 1]).flag
        self._raise()
        if flag < 0:
            raise self._surrender(flag, "at the start")

    def _surrender(self, flag: int, message: str) -> Exception:
        message = self._messages.last or message
        return gave_up(self._reasons, int(flag), message)

    def _raise(self) -> None:
        """Raise what a callback has raised."""
        if self._failed:
            raise self._failed[0]

    def _mode(self, *, interpolating: bool) -> None:
        if interpolating != self._interpolating:
            self._solver.set_options(one_step_compute=not interpolating)
            self._interpolating = interpolating

    def step(self) -> tuple[float, Vec]:
        self._mode(interpolating=False)
        for _ in range(3):  # after interpolation the first call returns to the end of the step
            result = self._solver.step(self._t_end)
            self._raise()
            if result.flag < 0:
                raise self._surrender(result.flag, result.message)
            if result.values.t > self._t:
                break
        else:
            raise self._surrender(STALLED, STALLED_MESSAGE)
        self._t, self._y = result.values.t, result.values.y
        if self._implicit:
            self._yd = result.values.ydot
        return self._t, self._y

    def interpolant(self) -> Dense:
        self._mode(interpolating=True)

        def dense(t: float) -> Vec:
            y: Vec = self._solver.step(t).values.y
            return y

        return dense

    def replace(self, t: float, y: Vec) -> None:
        self._restarts.noted()
        self._past += self._info()
        self._t, self._y = t, y
        self._call(self._solver.reinit_IC)

    def _info(self) -> Any:
        if self._implicit:
            return np.zeros(2, dtype=np.int64)
        info = self._solver.get_info()
        return np.array([info["NumErrTestFails"], info["NumLinSolvSetups"]])

    def finish(self, stats: Stats) -> None:
        stats.jacobians = self._counts["jacobian"]
        if "jac_times_setupfn" in self._counts:  # each factorisation has its Jacobian from there, but the first
            stats.jacobians = 1 + self._counts["jac_times_setupfn"]
        stats.evaluations = self._counts["function"]  # CVODE's own count lacks the first call of the package
        if self._implicit:
            stats.factorisations = (
                1 + self._counts["prec_setupfn"] if "prec_setupfn" in self._counts else stats.jacobians
            )
            stats.rejected = -1  # the package does not report them
        else:
            stats.rejected, stats.factorisations = (self._past + self._info()).tolist()


def _contained(
    failed: list[BaseException], function: Callable[..., int | None], counts: dict[str, int], name: str
) -> Callable[..., int]:
    """`function`, counted; stores an exception and stops SUNDIALS: IDA's wrapper cannot pass it on."""
    counts[name] = 0

    def contained(*args: Any) -> int:
        if failed:
            return -1
        counts[name] += 1
        try:
            return function(*args) or 0
        except BaseException as error:
            failed.append(error)
            return -1

    return contained


def stepper(
    problem: Solvable, native: ResidualNative | RhsNative, request: Request, recorder: Recorder
) -> AbstractStepper:
    """The solver for `native`; `native` decides whether it is IDA or CVODE."""
    failed: list[BaseException] = []
    messages = _Messages()
    counts = {"jacobian": 0}
    options = dict(native.options, one_step_compute=True, old_api=False, err_handler=messages)
    if request.t_end > 0.0:  # the package ignores others; there the solver steps past the end
        options["tstop"] = request.t_end
    for name in _CALLBACKS:
        if callable(options.get(name)):
            options[name] = _contained(failed, options[name], counts, "jacobian" if name == "jacfn" else name)
    if isinstance(native, ResidualNative):
        from scikits_odes_sundials.ida import IDA

        solver, implicit = IDA(_contained(failed, native.resfn, counts, "function"), **options), True
    else:
        from scikits_odes_sundials.cvode import CVODE

        solver, implicit = CVODE(_contained(failed, native.rhsfn, counts, "function"), **options), False
    return _Stepper(problem, solver, failed, messages, counts, request, recorder, implicit=implicit)


__all__ = ["stepper"]
