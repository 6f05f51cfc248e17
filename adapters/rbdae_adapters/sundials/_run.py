"""A run of IDA or CVODE with SUNDIALS' objects, their functions and counts."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec, address_of
from rbdae.adapter import ProjectionError, Reason, Request, Solvable, Stats, Unsupported
from rbdae.machine.factors import Factors, NoFactors, NotFinite
from rbdae.machine.function import PROTOTYPE, MachineFunction
from rbdae.machine.loops import memory
from rbdae.machine.loops.host import USUAL, Controls, Loop
from rbdae.machine.loops.methods import MULTISTEP
from rbdae_adapters._sundials import REASONS, gave_up
from rbdae_adapters.sundials._library import INDEX, INT, LONG, POINTER, REAL, Library, Objects
from rbdae_adapters.sundials._shims import MESSAGE_BYTES, Words, shims
from rbdae_adapters.toolkit import GaveUp
from rbdae_adapters.toolkit.loops import Inside, LoopRun, arguments, machine

_NEAR = 1e-12
"""Relative distance of times."""

SETTERS = (
    ("first_step", "SetInitStep", REAL),
    ("max_step", "SetMaxStep", REAL),
    ("min_step", "SetMinStep", REAL),
    ("max_order", "SetMaxOrd", INT),
    ("max_nonlin_iters", "SetMaxNonlinIters", INT),
    ("max_conv_fails", "SetMaxConvFails", INT),
    ("max_err_test_fails", "SetMaxErrTestFails", INT),
    ("nonlin_conv_coef", "SetNonlinConvCoef", REAL),
)
"""SUNDIALS' own options, which it checks itself."""


def _array(address: int, n: int) -> Vec:
    memory: Any = (REAL * n).from_address(address)
    return np.frombuffer(memory)


@final
class MultistepRun(LoopRun):
    """A run of IDA (`implicit`) or CVODE by the loop of `rbdae.machine.loops.multistep`, with SUNDIALS' tolerances,
    which may differ from the request's, and checked options. The step function has an `address` and a `context`, the
    `words`, which are passed to its functions."""

    def __init__(
        self,
        library: Library,
        problem: Solvable,
        request: Request,
        y0: Vec,
        implicit: bool,
        rtol: float,
        atol: float | Vec,
        options: Mapping[str, Any],
        within: Inside | None,
    ) -> None:
        self.library, self._problem, self._implicit = library, problem, implicit
        self._prefix = "IDA" if implicit else "CVode"
        self._code = shims()
        self._objects = objects = Objects(library)
        self._memory_of_words = np.zeros(len(Words.names))
        self.words = w = Words.of(self._memory_of_words)
        self._alive: list[Any] = []
        self._message = np.zeros(MESSAGE_BYTES, dtype=np.uint8)
        self._last: tuple[int, ...] | None = None
        self._looked = 0  # Jacobians evaluated for pivots
        self._errors: list[BaseException] = []
        self._direction = request.direction
        function = self._held(machine(problem, "residual" if implicit else "rhs", self._direction))
        self._functions: list[MachineFunction] = [function]
        self._projection: MachineFunction | None = None
        scratch = self._held(np.zeros(problem.n))
        w.array, w.function, w.context = library.address("N_VGetArrayPointer"), function.address, function.context
        w.n, w.scratch, w.direction = problem.n, address_of(scratch), self._direction
        self.address = self._code["ida" if implicit else "cvode"]
        self.context = address_of(self._memory_of_words)
        # CVODE's BDF projects states within its steps, the others between steps
        self._projects = within is not None and not implicit and options.get("lmm") == "bdf"
        correction = within.correction if within is not None and self._projects else None
        try:
            self._make(request, y0, rtol, atol, options, correction)
        except BaseException:
            objects.close()
            raise
        if within is not None and self._projects and request.t_eval is None:
            within = within._replace(correction=None)  # ends of steps are projected already
        controls = USUAL if within is None else Controls(max_steps=options["max_num_steps"])
        span, told = (request.t0, request.t_end), arguments(request, within)
        loop = Loop(MULTISTEP, self, span, y0, request.rtol, 0.0, controls, **told)
        super().__init__(loop, self._raise, request, within)
        loop.s.takes_back = int(not self._projects)  # states changed between steps go into the history

    def _make(
        self, request: Request, y0: Vec, rtol: float, atol: float | Vec, options: Mapping[str, Any], correction: Any
    ) -> None:
        """Create and configure SUNDIALS' objects, and note its functions for the step function."""
        objects, library, w, prefix = self._objects, self.library, self.words, self._prefix
        library.call("SUNContext_ClearErrHandlers", INT, objects.context)  # its messages go to `_said`
        said, words = POINTER(self._code["said"]), POINTER(address_of(self._message))
        library.call("SUNContext_PushErrHandler", INT, objects.context, said, words)
        self._y, state = objects.vector(y0)
        self._yp, _ = objects.vector(np.asarray(self._problem.yd0, dtype=float))
        further, _ = objects.vector(np.zeros(self._problem.n))
        lmm = () if self._implicit else (INT(2 if options.get("lmm") == "bdf" else 1),)
        self._memory = objects.made(f"{prefix}Create", f"{prefix}Free", *lmm, objects.context, by_address=True)
        if request.projector is not None and correction is None:
            w.history = self._history(request.t0, state)
        else:
            self._start("Init", request.t0)
        if np.ndim(atol):
            vector, _ = objects.vector(np.asarray(atol, dtype=float))
            self._call("SVtolerances", REAL(rtol), vector)
        else:
            self._call("SStolerances", REAL(rtol), REAL(float(atol)))
        self._call("SetUserData", POINTER(self.context))
        self._settings(options)
        if options.get("linsolver") == "dense":
            self._dense()
        else:
            self._own("linsolver" in options)
        if correction is not None:  # states are corrected in every step of BDF, error estimates are unchanged
            self._projection = correction
            w.projection, w.projection_context = correction.address, correction.context
            self._call("SetProjFn", POINTER(self._code["projection"]))
            self._call("SetProjErrEst", INT(0))
            self._call("SetProjFrequency", LONG(1))
        self._call("SetStopTime", REAL(request.t_end))
        w.integrator, w.state, w.rates = self._memory.value, self._y.value, self._yp.value
        w.derivative_vector = further.value
        w.step = library.address("IDASolve" if self._implicit else "CVode")
        w.derivative, w.order = library.address(f"{prefix}GetDky"), library.address(f"{prefix}GetLastOrder")

    def _held(self, what: Any) -> Any:
        self._alive.append(what)
        return what

    def _call(self, name: str, *arguments: Any) -> None:
        """Call a function of the integrator; raises its message if it fails."""
        status = self.library.call(self._prefix + name, INT, self._memory, *arguments)
        if status < 0:
            raise Unsupported(f"{self._prefix}{name} returned {status}: {self._said() or 'no message'}")

    # ------------------------------------------------------------ making

    def _start(self, name: str, t0: float) -> None:
        function = (POINTER(self._code["residual" if self._implicit else "rates"]),) if name == "Init" else ()
        self._call(name, *function, REAL(t0), self._y, *((self._yp,) if self._implicit else ()))

    def _history(self, t0: float, state: Vec) -> int:
        """Start, and find the address of the last state, the zeroth column of the integrator's history: among the
        vectors that it made, this one takes another state at a restart."""
        library, clone = self.library, self.library.address("N_VClone_Serial")
        vectors: list[int] = []

        def cloned(vector: int) -> int:
            vectors.append(library.call("N_VClone_Serial", POINTER, POINTER(vector)))
            return vectors[-1]

        def set_clone(vector: Any, old: int, new: int) -> None:
            table = (POINTER * 4).from_address((POINTER * 2).from_address(vector)[1] or 0)  # its operations
            table[[*table].index(old)] = new

        noted = ctypes.CFUNCTYPE(POINTER, POINTER)(cloned)
        address = ctypes.cast(noted, POINTER).value or 0
        set_clone(self._y.value, clone, address)
        self._start("Init", t0)
        for vector in (self._y.value, *vectors):
            set_clone(vector, address, clone)
        y0 = state.copy()
        state[:] = np.pi * np.arange(1, len(state) + 1)
        self._start("ReInit", t0)
        places = [library.call("N_VGetArrayPointer", POINTER, POINTER(vector)) for vector in vectors]
        matches = [place for place in places if np.array_equal(_array(place, len(state)), state)]
        state[:] = y0
        self._start("ReInit", t0)
        if len(matches) != 1:
            raise Unsupported(f"the history of {library.files[0]!r} was not found; leave projection= out")
        return int(matches[0])

    def _settings(self, options: Mapping[str, Any]) -> None:
        self._call("SetMaxNumSteps", LONG(-1))  # the loop counts steps
        if not self._implicit:
            self._call("SetMaxHnilWarns", INT(-1))  # they would be printed despite any handler
        for name, setter, kind in (each for each in SETTERS if each[0] in options):
            try:
                number = kind(options[name])
            except TypeError as error:
                raise TypeError(f"sundials: {name}={options[name]!r} is no {kind.__name__}: {error}") from None
            self._call(setter, number)
        if self._implicit and options.get("suppress_alg"):
            identity, _ = self._objects.vector(np.asarray(self._problem.differential, dtype=float))
            self._call("SetId", identity)
            self._call("SetSuppressAlg", INT(1))

    # ------------------------------------------------------------ linear solvers

    def _own(self, wanted: bool) -> None:
        """Use the problem's factors, with repeated choice of pivots; use SUNDIALS' dense solver if there are no factors
        (unless they are requested) or no pivots at the start, since it chooses them at each state."""
        make = getattr(self._problem.callbacks, "factors", None)
        try:
            if make is None:
                raise NoFactors(f"{self._problem.formulation} has no factors of its own")
            self._serve(make("residual" if self._implicit else "rates"))
        except (ArithmeticError, NoFactors) as error:
            if wanted and isinstance(error, NoFactors):
                raise Unsupported(f"{error}; take linsolver='dense'") from None
            self._dense()
            return
        n = self._problem.n

        def repair(_: int, t: float, y: int, yd: int, c: float, out: int) -> int:
            try:
                self._looked += 1
                self._serve(self._now.again(t, _array(y, n), _array(yd, n), c))
                f = PROTOTYPE(self._now.factors.address)
                status = f(self._now.factors.context, t, y, yd, c, address_of(self._factor_memory))
            except NotFinite:
                self.words.bad, self.words.bad_t = 1, self._direction * t
                return 1
            except ArithmeticError:
                return 1  # singular at this state, but perhaps not at others
            except BaseException as error:
                self._errors.append(error)
                return -1
            return 1 if status else 0

        function = self._held(PROTOTYPE(repair))
        self.words.repair = POINTER.from_address(ctypes.addressof(function)).value or 0
        matrix = self._objects.made("SUNDenseMatrix", "SUNMatDestroy", INDEX(1), INDEX(1), self._objects.context)
        solve = self._code["solve" if self._implicit else "ratessolve"]
        solver = self._objects.linear_solver(self._code["setup"], solve)
        content = POINTER.from_address(solver.value)  # a linear solver's content belongs to its maker
        content.value = self.context
        self._call("SetLinearSolver", solver, matrix)
        if self._implicit:
            self._call("SetJacFn", POINTER(self._code["factors"]))
        else:
            self._call("SetLinSysFn", POINTER(self._code["ratesfactors"]))

    def _serve(self, factors: Factors) -> None:
        """Use these factors from here on."""
        self._now = self._held(factors)
        self._factor_memory = np.zeros(factors.size)
        w = self.words
        w.factors, w.factors_context = factors.factors.address, factors.factors.context
        w.factors_memory = address_of(self._factor_memory)
        w.solve, w.solve_context = factors.solve.address, factors.solve.context
        self._functions.append(factors.factors)

    def _dense(self) -> None:
        """Use SUNDIALS' dense solver, with the Jacobian's entries at their places."""
        library, objects, w, n = self.library, self._objects, self.words, self._problem.n
        if self._implicit:
            function = machine(self._problem, "jacobian_data", self._direction)
            pattern = self._problem.sparsity
            rows, columns = np.asarray(pattern.indices), np.repeat(np.arange(n), np.diff(pattern.indptr))
        else:
            function = machine(self._problem, "rhs_jacobian", self._direction)
            rows, columns = (x.ravel() for x in np.mgrid[:n, :n])
        places, values = (columns * n + rows).astype(np.int64), np.zeros(len(rows))
        self._held((function, places, values))
        self._functions.append(function)
        w.jacobian, w.jacobian_context = function.address, function.context
        w.values, w.entries, w.places = values.ctypes.data, len(rows), places.ctypes.data
        w.matrix_data = library.address("SUNDenseMatrix_Data")
        matrix = objects.made("SUNDenseMatrix", "SUNMatDestroy", INDEX(n), INDEX(n), objects.context)
        solver = objects.made("SUNLinSol_Dense", "SUNLinSolFree", self._y, matrix, objects.context)
        self._call("SetLinearSolver", solver, matrix)
        self._call("SetJacFn", POINTER(self._code["scatter" if self._implicit else "scatterrates"]))

    # ------------------------------------------------------------ its end

    def failed(self, status: int) -> None:
        """Raise the exception stored by a function, or `GaveUp`."""
        t, w = self.loop.t, self.words
        what = f"{'the residual' if self._implicit else 'the right-hand side'} is not finite"
        bad = w.bad and w.bad_t >= t - _NEAR * max(1.0, abs(t))  # in the steps attempted from here
        if status == memory.GAVE_UP:
            self._raise()
            end = gave_up(REASONS, self.loop.s.code, self._said())
            raise GaveUp(Reason.NOT_FINITE, f"{end.detail}; {what}", w.bad_t) if bad else end
        if status == memory.STANDS_STILL and bad:
            raise GaveUp(Reason.NOT_FINITE, what, w.bad_t)
        if status == memory.STATE_NOT_FINITE:
            raise GaveUp(Reason.NOT_FINITE, "the state is not finite", t)
        raise self.ended(status) or GaveUp(Reason.NOT_FINITE, "the dense output is not finite before the step", t)

    def _said(self) -> str:
        text = bytes(self._message).partition(b"\0")[0].decode(errors="replace")
        return " ".join(text.split())

    def _raise(self) -> None:
        """Raise the exception of a user's function, if any."""
        if self._errors:
            raise self._errors.pop()
        for function in self._functions:
            function.check()
        if self._projection is not None:
            with suppress(ProjectionError):  # SUNDIALS has tried shorter steps, and says the rest
                self._projection.check()

    def finish(self, stats: Stats) -> None:
        counts = self._last or self._counts()
        stats.evaluations, stats.jacobians, stats.factorisations, stats.rejected, projections = counts
        self.count_projections(stats, projections)

    def _counts(self) -> tuple[int, ...]:
        """Evaluations, Jacobians, factorisations, rejected steps and projections."""

        def count(name: str) -> int:
            out = LONG()
            self._call(f"Get{name}", POINTER(ctypes.addressof(out)))
            return int(out.value)

        return (
            count("NumResEvals" if self._implicit else "NumRhsEvals"),
            count("NumJacEvals") + self._looked,
            count("NumLinSolvSetups"),
            count("NumErrTestFails") + count("NumNonlinSolvConvFails"),
            count("NumProjEvals") if self.words.projection else 0,
        )

    def close(self) -> None:
        """Free all SUNDIALS objects; the counts stay. What knows this run goes: both would wait for the collector."""
        if self._ended is None:
            self._last = self._counts()
        self._objects.close()
        self._alive.clear()
        self.loop.kept = ()
        del self.check
