"""`Simulator`: a mechanism that is driven step by step from outside.

It goes from one time to the next by a loop that stays (`_InPlace`), or by a run for each step (`_InPieces`). Both give
the same answers to the tolerances. The loop stays where its adapter has one that continues
(`rbdae.adapter.AbstractAdapter.stepper`) and no switch can be due: then a step costs what the compiled loop costs. All
other solvers begin again in each step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec
from rbdae._frozen import changed, refuse_copies
from rbdae._process import Deferred
from rbdae.adapter import Reason, Stats, Stepper, Steps
from rbdae.inputs import values_of
from rbdae.multibody.memory.workspace import Workspace
from rbdae.problem.driven import follows_inputs, places_of, present, refuse_held, refuse_jumps
from rbdae.problem.posed import posed
from rbdae.problem.problem import Problem
from rbdae.problem.projection import Projection, bind_projection
from rbdae.problem.quantities import BodyState, Measured
from rbdae.solving.changes import Samples, sampled_of
from rbdae.solving.checks import check_span
from rbdae.solving.registry import solver_for
from rbdae.solving.run import integrated, planned
from rbdae.solving.segments import Segment, joined_stats
from rbdae.solving.solution import Solution

Inputs = Mapping[str, float] | ArrayLike | None


class StepError(ArithmeticError):
    """A solver gave up within a step of a simulator, which stands where the step began."""


@final
class Simulator:
    """A mechanism that is driven step by step: inputs go in, time advances by `dt`, and its state can be read.

    Inputs are constant within a step. With solvers of the package ``"rbdae"`` that have an error estimate, such as
    ``"rbdae:dop853"``, and a problem that no switch changes on its way, a step runs in a compiled loop that stays from
    step to step: it keeps its step size, and the rates at the end of a step where the inputs stay. All other solvers
    begin again in each step, and give the same answers at many times the cost, most of all multistep methods, which
    begin with order 1 (``docs/inputs.md`` has times).

    Raises as `rbdae.solve`.

    Parameters
    ----------
    problem : Problem
        From `rbdae.formulate`, or `rbdae.Problem.at`.
    solver : str, optional
        ``"package:method"``; as in `rbdae.solve`.
    dt : float
        Length of a step, s.
    rtol, atol : float or (n,) array_like
        Tolerances, as in `rbdae.solve`. The solver takes as many steps of its own within a step as they need.
    projection : bool or Projection, optional
        As in `rbdae.solve`.
    record : bool
        Whether `solution` has all steps; without them memory does not grow, and it has the last state.
    on_singularity : ``"stop"`` or ``"switch"``
        As in `rbdae.solve`.
    **options
        Those of the solver.

    Examples
    --------
    >>> import rbdae
    >>> system = rbdae.System(gravity=(0, 0, 0))
    >>> wheel = system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 2.0))
    >>> pin = system.add_joint(rbdae.joints.Revolute(system.ground, wheel, axis_a=(0, 0, 1), name="pin"))
    >>> motor = system.add_force(rbdae.forces.Motor(pin, torque=system.add_input("torque")))
    >>> sim = rbdae.Simulator(rbdae.formulate(system, "null-space"), dt=0.1)
    >>> sim.step({"torque": 4.0})
    >>> round(float(sim.states["wheel"].angular_velocity[2]), 9)
    0.2
    """

    _values: Vec
    _since: float  # the time of the last step of another length, and the steps since then
    _steps: int
    _samples: Samples | None

    def __init__(
        self,
        problem: Problem,
        solver: str | None = None,
        *,
        dt: float = 1e-3,
        rtol: float = 1e-6,
        atol: ArrayLike = 1e-6,
        projection: Projection | bool | None = None,
        record: bool = True,
        on_singularity: Literal["stop", "switch"] = "stop",
        **options: Any,
    ) -> None:
        if not isinstance(problem, Problem):
            raise TypeError(
                f"Simulator: problem must be made by rbdae.formulate, got {_check.show(problem)}; formulate the system"
            )
        self._dt = _check.positive("Simulator", "dt", dt, "give a time in seconds")
        self._records = _check.flag("Simulator", "record", record)
        self.solver, _, method = solver_for(problem, solver, None)
        step = options.pop("step", self._dt if method.fixed_step else None)
        span = check_span(problem, (problem.t0, problem.t0 + self._dt))
        self._segment, self._said = planned(
            problem, *span, self.solver, rtol, atol, None, projection, None, step, True, on_singularity, "due", options
        )
        bind_projection(problem, projection)  # refuses what it cannot bind
        self._base = self._segment.problem
        self._begin(self._base)

    __reduce__ = refuse_copies

    def __repr__(self) -> str:
        return f"Simulator({self.solver}, t={self.t:g}, dt={self.dt:g}, inputs={dict(self.inputs)})"

    # ------------------------------------------------------------ the present state

    @property
    def problem(self) -> Problem:
        """The problem that is simulated, from the last reset on, with the inputs of that time."""
        return self._problem

    @property
    def dt(self) -> float:
        """Length of a step, s."""
        return self._dt

    @property
    def t(self) -> float:
        """The time, s."""
        return self._engine.t

    @property
    def y(self) -> Vec:
        """The unknowns (n,), in the order of ``problem.labels``; a copy."""
        return self._engine.y

    @property
    def inputs(self) -> Mapping[str, float]:
        """The inputs of the last step by name, read only."""
        return MappingProxyType(dict(zip(self._places, self._values.tolist(), strict=True)))

    @property
    def states(self) -> dict[str, BodyState]:
        """Motion of every body by name, now."""
        here = self._engine.here
        if follows_inputs(here.workspace):  # rates of coordinates depend on the inputs of drives in some forms
            here = here.with_selection(replace(here.selection, inputs=self._values.copy()))
        return here.states(self.t, self.y)

    @property
    def joints(self) -> dict[str, Measured]:
        """Quantities of every joint by name, now: ``sim.joints["pin"].angle``, ``.rate``, ``.torque``, ..."""
        return self._measured("joints")

    @property
    def forces(self) -> dict[str, Measured]:
        """Quantities of every force by name, now."""
        return self._measured("forces")

    def _measured(self, kind: Literal["joints", "forces"]) -> dict[str, Measured]:
        here, t, y, inputs = self._engine.here, self.t, self.y, self._values

        def read(owner: str, name: str) -> Any:
            return getattr(getattr(here._read_under(inputs), kind)(t, y)[owner], name)

        owners = getattr(here.interpretation.owners, kind)
        return {name: Measured(each.units, partial(read, name)) for name, each in owners.items()}

    # ------------------------------------------------------------ steps

    def step(self, u: Inputs = None, dt: float | None = None) -> None:
        """Take a step.

        Raises StepError if the solver gives up, and TypeError or ValueError for unknown inputs, values that are no
        numbers, and values by which a drive would jump. After an exception of any kind the simulator is as it was
        before: time, state, inputs and `solution`.

        Parameters
        ----------
        u : mapping or (n_u,) array_like, optional
            Inputs within the step, by name, or all of them in the order of `rbdae.System.add_input`. Those that are not
            given stay as they were.
        dt : float, optional
            Another length than the simulator's, s.
        """
        engine, samples = self._engine, self._samples
        values = self._values if u is None else values_of("step", self._places, u, self._values)
        since, steps = self._since, self._steps + 1
        end = since + steps * self._dt
        if dt is not None:
            since = end = engine.t + _check.positive("step", "dt", dt, "give a time in seconds")
            steps = 0
        before, mark = self._values, engine.mark()
        memories = None if samples is None else samples.memories.copy()
        try:
            self._take(values)
            while samples is not None and (stop := samples.next(engine.t)) is not None and stop < end:
                self._advance(stop)
                self._sample(samples)
            if end > engine.t:
                self._advance(end)
            if samples is not None:
                self._sample(samples)
        except BaseException:
            self._values = before
            engine.back(mark)
            if samples is not None and memories is not None:
                samples.memories = memories
            raise
        self._since, self._steps = since, steps

    def _advance(self, end: float) -> None:
        begin = self._engine.t
        reached, said = self._engine.advance(end)
        if not reached:
            raise StepError(f"{self.solver} did not reach t = {end:.9g}, and stands at t = {begin:.9g}: {said}")

    def _take(self, values: Vec) -> None:
        if values.tobytes() != self._values.tobytes():
            refuse_jumps(self._problem.workspace, self.t, self._values, values)
            self._values = values
            self._engine.drive(values)

    def _sample(self, samples: Samples) -> None:
        """Let the controllers whose samples are due set their outputs."""
        here = self._engine.here
        here = here.with_selection(replace(here.selection, inputs=self._values.copy()))
        self._take(present(samples.resumed(here, self._engine.t, self._engine.y).workspace))

    def reset(
        self,
        t: float | None = None,
        y: ArrayLike | None = None,
        *,
        joints: Mapping[str, Any] | None = None,
        inputs: Mapping[str, float] | None = None,
    ) -> None:
        """Go back to the start of the problem, or to another state, and forget all steps.

        Raises TypeError and ValueError for a state, a name or a number that there cannot be, by name.

        Parameters
        ----------
        t : float, optional
            Time, s; the problem's if it is left out.
        y : (n,) array_like, optional
            Unknowns; consistent, or projected.
        joints : mapping, optional
            Coordinates by the names of joints, ``{"pin": 0.3}``, in rad or m, with rates ``{"pin": (0.3, -1.0)}``; of
            joints with several ``{"sleeve": {"angle": 0.3, "displacement": 0.1}}``. All other joints keep theirs.
            Joints in closed loops, which others would follow, are refused: there give `y`.
        inputs : mapping, optional
            Inputs by name; the problem's if they are left out.
        """
        problem = self._base
        if t is not None or y is not None:
            problem = problem.at(problem.t0 if t is None else t, problem.y0 if y is None else y)
        if joints is not None:
            problem = posed(problem, joints)
        if inputs is not None:
            new = values_of("reset", self._places, inputs, np.array([*problem.inputs.values()]))
            problem = problem.with_inputs(dict(zip(problem.inputs, new.tolist(), strict=True)))
        self._begin(problem)

    # ------------------------------------------------------------ the run so far

    def solution(self) -> Solution:
        """All steps since the last reset as one run, with dense output; its segments are where inputs have changed."""
        steps, problem, stats = self._engine.collected()
        t = (float(steps.t[0]), float(steps.t[-1]))
        return Solution(
            problem=problem,
            t=steps.t,
            y=steps.y,
            solver=self.solver,
            reason=Reason.FINISHED,
            _said=f"{self.solver} was driven from t = {t[0]:.9g} to {t[1]:.9g} by a simulator",
            stats=stats,
            rtol=self._segment.request.rtol,
            atol=self._segment.request.atol,
            options={**self._said, "t_span": f"({t[0]!r}, {t[1]!r})", "dt": repr(self._dt)},
        )

    # ------------------------------------------------------------ engines

    def _begin(self, problem: Problem) -> None:
        values = np.array([*problem.inputs.values()], dtype=float)
        refuse_held(problem.workspace, values)
        self._engine = self._made(problem)
        self._problem, self._places, self._values = problem, places_of(problem.workspace), values
        self._since, self._steps = problem.t0, 0
        controllers = sampled_of(problem)
        self._samples = Samples(controllers, problem.t0, math.inf) if controllers else None
        if self._samples is not None:
            self._sample(self._samples)

    def _made(self, problem: Problem) -> _Engine:
        segment = self._segment
        if problem.kind == "ode" and not segment.switches(problem):
            segment = changed(segment, problem=problem._twin())
            request = changed(
                segment.request,
                t0=problem.t0,
                t_end=problem.t0 + self._dt,
                projector=bind_projection(segment.problem, segment.projection),
                keep_steps=self._records,
            )
            stepper = segment.adapter.stepper(segment.problem, segment.method, request)
            if stepper is not None:
                return _InPlace(problem, segment.problem.workspace, stepper)
        return _InPieces(problem, self._segment, self._said, keeps=self._records)


# ------------------------------------------------------------ engines

# `t` and `y`, a copy, are reached; `here` is the problem with the selection there. `advance` goes on to a later time,
# `drive` takes other values of the inputs from there on, `back` stands again where `mark` was made, `collected` has all
# accepted steps, the problem that reads each of them, and the cost.


@final
class _InPlace:
    """A loop (`stepper`) that stays, on a twin of the problem of an ODE form, in whose workspace (`own`) inputs are
    written where its code reads them."""

    def __init__(self, problem: Problem, own: Workspace, stepper: Stepper) -> None:
        self.here, self._own, self._stepper = problem, own, stepper
        self._changes: list[tuple[float, Vec]] = []

    @property
    def t(self) -> float:
        return self._stepper.t

    @property
    def y(self) -> Vec:
        return self._stepper.y

    def advance(self, t_end: float) -> tuple[bool, str]:
        reason, detail = self._stepper.advance(t_end)
        return reason is Reason.FINISHED, f"{reason.value}: {detail}" if detail else reason.value

    def drive(self, values: Vec) -> None:
        self._own.write_inputs(values)
        self._stepper.disturbed()
        self._changes.append((self._stepper.t, values.copy()))

    def mark(self) -> Any:
        return self._stepper.mark(), len(self._changes), present(self._own)

    def back(self, mark: Any) -> None:
        at, changes, values = mark
        self._own.write_inputs(values)
        self._stepper.back(at)
        del self._changes[changes:]

    def collected(self) -> tuple[Steps, Problem, Stats]:
        steps, stats = self._stepper.steps(), self._stepper.stats()
        kept = len(steps.t) > 0
        if not kept:
            steps = Steps(np.array([self.t]), self.y[None])
        first, times = self.here, list[float]()
        problems = [first]
        for t, values in self._changes:
            begins = not kept or t <= first.t0
            at, y = (first.t0, first.y0) if begins else (t, steps.y[int(np.searchsorted(steps.t, t))])
            here = first.with_selection(replace(first.selection, inputs=values))._begun(at, y)
            if begins:
                problems = [here]
                continue
            if times and times[-1] == t:  # no step has been taken with the values before
                times.pop(), problems.pop()
            problems.append(here)
            times.append(t)
        return steps, problems[0].by_time(problems[1:], times), stats


@final
class _InPieces:
    """A run for each step, from a first segment on; the options said are those of each run's solution."""

    def __init__(self, problem: Problem, segment: Segment, said: Mapping[str, str], *, keeps: bool) -> None:
        self.here, self._segment, self._said, self._keeps = problem, segment, said, keeps
        self._values: dict[str, float] | None = None  # those that a step begins with
        self._runs: list[Solution] = []
        self.t, self._y = problem.t0, problem.y0

    @property
    def y(self) -> Vec:
        return self._y.copy()

    def advance(self, t_end: float) -> tuple[bool, str]:
        if self._runs or self._values is not None:
            self.here = self.here.resumed_with_inputs(self.t, self._y, self._values or {})
        self._values = None
        request = changed(self._segment.request, t0=self.here.t0, t_end=t_end)
        with Deferred() as deferred:
            run = integrated(changed(self._segment, problem=self.here, request=request), self._said, deferred)
        self._runs = self._runs if self._keeps else []
        self._runs.append(run)
        if len(run.t):
            self.t, self._y = float(run.t[-1]), run.y[-1]
            self.here = run.problem_at(self.t)
        return run.success, "" if run.success else run.message

    def drive(self, values: Vec) -> None:
        self._values = dict(zip(self.here.inputs, values.tolist(), strict=True))

    def mark(self) -> Any:
        return self.here, self._values, self._runs, len(self._runs), self.t, self._y

    def back(self, mark: Any) -> None:
        self.here, self._values, self._runs, n, self.t, self._y = mark
        del self._runs[n:]

    def collected(self) -> tuple[Steps, Problem, Stats]:
        if not self._runs:
            return Steps(np.array([self.t]), self.y[None]), self.here, Stats()
        parts = [run.segments for run in self._runs]
        times = [t for run, part in zip(self._runs, parts, strict=True) for t in (float(run.t[0]), *part.times)]
        problems = [problem for part in parts for problem in part.problems]
        *before, last = self._runs
        t = np.concatenate([*(run.t[:-1] for run in before), last.t])
        y = np.concatenate([*(run.y[:-1] for run in before), last.y])
        stats = joined_stats([run.stats for run in self._runs])
        return Steps(t, y), problems[0].by_time(problems[1:], times[1:]), stats


_Engine: TypeAlias = _InPlace | _InPieces
