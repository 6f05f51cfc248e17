"""`Solution`: a trajectory and everything that its problem can say about it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from rbdae import _frozen
from rbdae._arrays import ArrayLike, Mat, Vec, sense
from rbdae._frozen import brief_repr, by_fields
from rbdae.adapter import Reason, Stats, Steps
from rbdae.machine.reading import slices
from rbdae.problem.contract import StateProjector
from rbdae.problem.observables import Observable, attach
from rbdae.problem.problem import Problem
from rbdae.problem.projection import Projection, bind_projection
from rbdae.problem.quantities import BodyState, Measured, Momentum, Reaction
from rbdae.problem.timed import Segments
from rbdae.quantities.quantity import Quantity
from rbdae.solving.along import EnergyOfRun, along_run, passages, quantity_along, singular_times
from rbdae.solving.checks import check_problem
from rbdae.solving.dense import DenseOutput
from rbdae.solving.files import frame, read_run, write_run
from rbdae.solving.registry import package_version

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from rbdae.show import Animation


@final
@dataclass(frozen=True, slots=True, repr=False)
class EventLog:
    """Occurrences of one event: times `t` (k,) and unknowns `y` (k, n)."""

    t: Vec
    y: Mat

    __repr__ = brief_repr


@final
@dataclass(frozen=True, slots=True, repr=False)
class Drift:
    """Largest violation of the constraints over time: `position` (m,), `velocity` (m,), in their own units."""

    position: Vec
    velocity: Vec

    __repr__ = brief_repr


@final
@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """A trajectory.

    Parameters
    ----------
    problem : what was solved; None for a solution loaded without its problem. After a run that changed its selection on
        the way it reads every state by the selection of its time.
    t : times, shape (m,), in the order of the run, falling back in time
    y : unknowns, shape (m, n), in the order of ``problem.labels``: a row for each time, the transpose of SciPy's
    solver : ``"package:method"``
    reason : how the run ended
    stats : the cost
    rtol, atol : tolerances of the run, as asked for, or the tightest that the solver can use if they were tighter (then
        the message says so)
    events : one `EventLog` for each event: ``events[k].t`` is SciPy's ``t_events[k]``
    steps : the accepted steps of a run with ``t_eval``; None if t and y are the steps
    options : what else `rbdae.solve` was asked for, as text: `t_span`, `projection`, `step`, the package's own options
    _said : the message, without the singular positions that are looked for when it is read
    _projected : whether every accepted step was projected; None where the message is whole
    """

    problem: Problem | None
    t: Vec
    y: Mat
    solver: str
    reason: Reason
    _said: str
    stats: Stats
    rtol: float
    atol: float | Vec
    events: tuple[EventLog, ...] = ()
    steps: Steps | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    _projected: bool | None = None

    __reduce__ = by_fields

    def __copy__(self) -> Solution:
        """A trajectory of its own on the same model."""
        models = [self.problem.model] if isinstance(self.problem, Problem) else []
        return copy.deepcopy(self, {id(model): model for model in models})

    @property
    def success(self) -> bool:
        """Whether the run reached its end or a terminal event."""
        return self.reason in (Reason.FINISHED, Reason.EVENT)

    @cached_property
    def message(self) -> str:
        """How the run ended, with the time, the solver's own words and what to try. The singular positions that the
        joints of a loop have passed are looked for when it is read."""
        return self._said if self._projected is None else self._said + passages(self, self._projected)

    def __repr__(self) -> str:
        span = f"{len(self.t)} times from {self.t[0]:g} to {self.t[-1]:g}" if len(self.t) else "no times"
        return f"Solution({self.solver}, {span}, success={self.success}: {self.message})"

    def _repr_html_(self) -> str:
        from rbdae.show import facts

        return _frozen.notebook("Solution", facts(self))

    @property
    def _accepted(self) -> Steps:
        return Steps(self.t, self.y) if self.steps is None else self.steps

    @property
    def segments(self) -> Segments:
        """The problems of the run, and the times from which on they hold."""
        problem = self._problem
        return getattr(problem, "_segments", None) or Segments((problem,), direction=self._sense)

    def problem_at(self, t: float) -> Problem:
        """The problem whose selection holds at time t: its `rhs` and `residual` take a state of that time."""
        out: Problem = self.segments.at(t)
        return out

    @property
    def _problem(self) -> Problem:
        if self.problem is None:
            raise ValueError("this solution was loaded without its problem: use rbdae.load(path, problem)")
        return self.problem

    @cached_property
    def dense(self) -> DenseOutput:
        """y between the steps of the run, as a function of time; calling the solution is the same."""
        problem = self._problem
        if not isinstance(problem, Problem):
            raise TypeError(f"only a rbdae.Problem has states between the steps of its runs, not {problem!r}")
        steps = self._accepted
        return DenseOutput(self.segments, steps.t, steps.y, self.rtol, self.atol)

    def __call__(self, t: ArrayLike) -> Mat:
        """y at a time, shape (n,), or at times (k,), shape (k, n), within the run.

        At the accepted steps, whatever ``t_eval`` was, it gives the recorded q, v, s; between them the error is the
        steps' own and a few tolerances. Multipliers belong to positions and velocities, by elimination. From a change
        of selection on, y has the unknowns of the new one (`problem_at`). Raises ValueError for times outside of the
        run, and without a problem.
        """
        return self.dense(t)

    @cached_property
    def states(self) -> Mapping[str, BodyState]:
        """`BodyState` s by the name of the body, vectorised over `t`."""
        return self._problem.states(self.t, self.y)

    @cached_property
    def energy(self) -> EnergyOfRun:
        """`kinetic`, `potential`, `total`, and the `work` of drives and of forces without potential, shape (m,), in
        joules; `balance` is the change of the total energy minus this work, zero in the exact motion."""
        energy = self._problem.energy(self.t, self.y)
        return EnergyOfRun(energy.kinetic, energy.potential, energy.total, self)

    @cached_property
    def singular_times(self) -> Vec:
        """Times near which the joints of a loop passed a singular position, see `rbdae.solving.along`. Looked for at
        the accepted steps, whatever ``t_eval`` was: output times may leave it out."""
        steps = self._accepted if self._accepted.t.size else Steps(self.t, self.y)
        order = slice(None, None, 1 if self.segments.direction > 0.0 else -1)
        return singular_times(self._problem, steps.t[order], steps.y[order])[order]

    @cached_property
    def momentum(self) -> Momentum:
        """`linear` and `angular` (about the origin), shape (m, 3)."""
        return self._problem.momentum(self.t, self.y)

    @cached_property
    def drift(self) -> Drift:
        """Largest violation of the position and velocity constraints at each time."""
        position, velocity = np.empty(len(self.t)), np.empty(len(self.t))
        for part in slices(len(self.t), self.y.shape[1]):
            c = self._problem.constraints(self.t[part], self.y[part])
            position[part] = np.abs(c.position).max(axis=1, initial=0.0)
            velocity[part] = np.abs(c.velocity).max(axis=1, initial=0.0)
        return Drift(position, velocity)

    @cached_property
    def multipliers(self) -> Mat:
        """Lagrange multipliers, shape (m, number of constraints), that belong to positions and velocities, by
        elimination; signs and order in `Problem.multipliers`."""
        return self._problem.multipliers(self.t, self.y)

    @property
    def run_multipliers(self) -> Mat:
        """The multipliers among the unknowns of the run, shape (m, number of constraints): those that the solver has
        computed, to its tolerances at best. Where its error test leaves them out so far that they are noise (IDA,
        DASPK and ODASSL at index 1), they are `multipliers` but for redundant equations.

        No error test sees them at index 2 and 3. There they are first and second derivatives of what is tested, and
        have about the root of the tolerance, relative to the largest. At index 3 BDF codes begin with implicit Euler
        steps, which get (1 + 1/r)/2 times an acceleration where a step is r times the one before: an error that is the
        same at any tolerance. `multipliers` are as accurate as positions and velocities.
        """
        return self._problem.run_multipliers(self.t, self.y)

    @cached_property
    def reactions(self) -> Mapping[str, Mapping[str, Reaction]]:
        """Spatial force and torque, shape (m, 3), of each joint on each of its bodies, from `multipliers`."""
        return self._problem.reactions(self.t, self.y)

    @cached_property
    def joints(self) -> Mapping[str, Measured]:
        """Quantities of each joint by name, shape (m,): ``["pin"].angle``, ``.rate``, ``.acceleration``, ``.torque``,
        ``.power``. Angles count the turns of the run, which begins in (-pi, pi]."""
        return along_run(self._problem, "joints", self.t, self.y, self._accepted)

    @cached_property
    def forces(self) -> Mapping[str, Measured]:
        """Quantities of each force by name, shape (m,): ``["spring"].length``, ``.rate``, ``.force``, ``.power``."""
        return along_run(self._problem, "forces", self.t, self.y, self._accepted)

    def quantity(self, quantity: Quantity | str, t: ArrayLike | None = None) -> Any:
        """A quantity such as ``pin.angle`` or ``"pin.angle"`` along the run, (m,); at times t within it, between the
        steps, if they are given. ValueError for what the system has not."""
        return quantity_along(self, quantity, t)

    @cached_property
    def _observed(self) -> dict[Observable, Any]:
        return {}

    @property
    def _sense(self) -> int:
        return sense(self._accepted.t, self.t)

    def projected(self, projection: Projection | None = None) -> Solution:
        """This trajectory with every row projected onto the constraints ([NS], section 6)."""
        wanted = True if projection is None else projection
        projectors = [bind_projection(problem, wanted) for problem in self.segments.problems]
        if None in projectors:
            raise ValueError(f"projected needs a rbdae.Projection, got {projection!r}")
        y = self._projected_rows(projectors, self.t, self.y)
        count = sum(projector.count for projector in projectors if projector is not None)
        steps = self.steps and Steps(self.steps.t, self._projected_rows(projectors, self.steps.t, self.steps.y))
        return replace(self, y=y, steps=steps, stats=replace(self.stats, projections=count))

    def _projected_rows(self, projectors: Sequence[StateProjector | None], t: Vec, y: Mat) -> Mat:
        """Project rows (m, n) at times t, each by the projector of its segment."""
        out = y.copy()
        for time, row, k in zip(t, out, self.segments.numbers(t), strict=True):
            if (projector := projectors[k]) is not None:
                projector(float(time), row)
        return out

    def save(self, path: str | Path) -> Path:
        """Write a ``.npz`` file: `t`, `y`, steps, events, selections, and the rest as JSON text under ``metadata``.
        Returns its path; ``.npz`` is added to names without it."""
        return write_run(self, path)

    def plot(self, *, title: str | None = None, **options: Any) -> Figure:
        """Small multiples over time, a row for each body or joint; needs matplotlib. Events are marked.

        Options are those of `rbdae.show.plot_solution`: `bodies`, `quantities` ("position", "orientation", "velocity",
        "angular_velocity", "center_of_mass", "joints", "forces", "reactions", "energy", "momentum", "drift", "steps",
        further `rbdae.observables`) and `joints` choose the panels. If the times are few, curves follow ``solution(t)``
        between them.
        """
        from rbdae._figure import plain
        from rbdae.show import plot_solution

        if title is None:
            what = self.solver if self.problem is None else f"{self.problem.formulation}, {self.solver}"
            stopped = "" if self.success or not len(self.t) else f"; stopped at t = {self.t[-1]:.6g} s"
            title = plain(f"{what}, rtol = {self.rtol:g}{stopped}")
        return plot_solution(self, title=title, **options)

    def animate(self, path: str | Path | None = None, **options: Any) -> Animation:
        """The motion of the mechanism; needs matplotlib. A notebook shows it, and `path` writes a file: ``.gif``,
        ``.mp4`` (with ffmpeg) or ``.html``.

        Options are those of `rbdae.show.animate`: `fps`, `duration` in seconds or `speed` (1 is real time), `bodies`,
        `traces`, the camera (`elevation`, `azimuth`), `size`, `dpi`, `title`.
        """
        from rbdae.show import animate

        return animate(self, path, **options)

    def to_pandas(self, quantities: str | Iterable[str] = "unknowns") -> DataFrame:
        """A table with a row for each time, and columns whose names end with their units, such as ``"top.x [m]"``.

        Raises ImportError without pandas, and ValueError for other quantities and for a solution that was loaded
        without its problem.

        Parameters
        ----------
        quantities : one or more of ``"unknowns"`` (y, by ``problem.labels``), ``"states"`` (of the bodies, whatever the
            unknowns are; quaternions scalar first), ``"energy"``, ``"momentum"``, ``"drift"``, ``"joints"`` and
            ``"forces"`` (their quantities), ``"reactions"`` (in space); further `rbdae.observables`
        """
        return frame(self, quantities)

    def report(self, path: str | Path, *, bodies: Iterable[str] | None = None, title: str | None = None) -> Path:
        """Write one HTML file that opens without a network: an animation of the mechanism, diagrams of motion, energy,
        drift, reactions and step sizes, tables that can be sorted and filtered, and how the run was made. Returns its
        path.

        Raises ImportError without plotly, jinja2 or itables (``pip install plotly jinja2 itables``), and OSError,
        TypeError or ValueError for a path that it cannot be written to, and for what is no body or text.

        Parameters
        ----------
        path : ending with ``.html``
        bodies : names of those whose motion the diagrams show; None for all, or twelve of them if there are more
        title : of the page, such as the mechanism's name; None for the form and the solver
        """
        from rbdae.show import check_report, report_run

        return report_run(self, check_report(path), package_version(self.solver), bodies, title)


def load(path: str | Path, problem: Problem | None = None) -> Solution:
    """Read what `Solution.save` wrote.

    Raises TypeError for a path or problem of another kind, OSError for a file that cannot be opened, and ValueError for
    a damaged file or one of another kind, and for a problem whose form, unknowns or mechanism differ from the stored
    ones (masses, geometry, stiffnesses, up to 1e-9; functions of the user cannot be compared).

    Parameters
    ----------
    path : the ``.npz`` file
    problem : the problem that was solved, made by the same call of `formulate`; without it only the arrays are there
    """
    if problem is not None:
        check_problem("load", problem)
    fields = read_run(path, problem)
    return Solution(**fields | {"events": tuple(EventLog(t, y) for t, y in fields["events"])})


# ------------------------------------------------------------ observables


def _along(line: Observable) -> property:
    def read(self: Solution) -> Any:
        if line not in self._observed:
            self._observed[line] = getattr(self._problem, line.name)(self.t, self.y)
        return self._observed[line]

    return property(read, doc=line.note)


attach(Solution, _along)
