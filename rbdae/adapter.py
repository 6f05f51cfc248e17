"""The contract between `rbdae.solve` and an adapter, a module that speaks one solver package's dialect.

An adapter

1. is registered under the entry-point group ``rbdae.adapters`` and can be imported without its package;
2. lists its methods; each `Method` says which kinds of problems it accepts;
3. says whether its package is installed (`AbstractAdapter.version`) and how to get it (`AbstractAdapter.install`);
4. returns native objects (`AbstractAdapter.native`) in the package's own signatures, for users' own loops;
5. runs a `Request` (`AbstractAdapter.run`): steps, projects after accepted steps, collects output and `Stats`, and
   gives access to them by `Request.begun`, for runs that end with Ctrl-C;
6. never raises because a solver gave up: it returns the partial trajectory with a `Reason`;
7. lets an exception from a callback reach the user unchanged;
8. ignores no request: it raises `Unsupported`, by name, for anything that its package cannot do;
9. uses only the members of a problem that `Solvable` names, and does not change the problem.

`rbdae_adapters.toolkit` does most of 5 to 8 for a package that takes one step at a time. ``tests/support/toy_adapter``
is a complete adapter in a distribution of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from rbdae._arrays import Mat, Vec
from rbdae.problem.contract import ProjectionError as ProjectionError
from rbdae.problem.contract import Solvable as Solvable
from rbdae.problem.contract import StateProjector as StateProjector


class Reason(Enum):
    """How a run ended. The values are the sentences that the user reads."""

    FINISHED = "reached the end of the interval"
    EVENT = "stopped at a terminal event"
    INTERRUPTED = "was interrupted, because a switch was due"
    CHART = (
        "came near a singular set of its rotation parameters; use on_singularity='switch', reference='start', or "
        "rotation='quaternion'"
    )
    FRICTION = (
        "came to a state where dry friction leaves no acceleration, or several (Painleve's paradox); give a smaller mu "
        "or a compliant contact in place of the joint"
    )
    KEYBOARD = "was interrupted by a signal (Ctrl-C)"
    STEP_TOO_SMALL = "the step size became too small; loosen the tolerances or choose a lower-index formulation"
    NOT_CONVERGED = "Newton's method did not converge; try a lower index, a looser tolerance or a smaller step"
    ERROR_TEST = "the error test failed repeatedly; loosen the tolerances or choose a lower-index formulation"
    SINGULAR = "the iteration matrix became singular; check for redundant or singular constraints"
    TOO_MANY_STEPS = "the solver's limit on steps was reached; raise it or loosen the tolerances"
    PROJECTION = "the projection onto the constraints failed; tighten the tolerances or check for singular constraints"
    NOT_FINITE = (
        "the solution became infinite or not a number; look at forces and laws near that time, or begin with a shorter "
        "step"
    )
    SOLVER = "the solver gave up"


@dataclass(slots=True)
class Stats:
    """The cost of a run. `evaluations` counts residuals (DAE solvers) or right-hand sides (ODE solvers).

    A count that the package does not report and the adapter cannot count is -1. `seconds` is processor time of the
    thread that ran the solver (of its kernel calls, too; not of threads that a linear algebra library starts),
    `wall_seconds` what a clock on the wall says: on a busy machine the first one hardly changes; neither counts the
    time in which code of the problem was made, and pivots of its factors were chosen, which later runs find. `code` is
    ``"machine"``, ``"folded"`` or ``"plain"``, see `rbdae.formulate`, of all callbacks that the run has asked for,
    ``"mixed"`` where they differ; `fallbacks` counts the states at which a guard of machine code did not hold, so that
    plain Python ran. `rbdae.solve` fills in all of these.
    """

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    jacobians: int = 0
    factorisations: int = -1
    projections: int = 0
    restarts: int = 0
    seconds: float = 0.0
    wall_seconds: float = 0.0
    code: str = ""
    fallbacks: int = 0


@dataclass(frozen=True, slots=True)
class Method:
    """One solver of a package.

    Parameters
    ----------
    name : the part after the colon, as in ``"scikits.odes:ida"``
    kinds : values of `Solvable.kind` that it accepts: ``"ode"``, ``"dae"``, ``"overdetermined"``
    indices : for ``"dae"``, the differentiation indices that it can integrate
    overdetermined_indices : the same for ``"overdetermined"``; None for all
    one_step : whether a projected state can replace the solver's without a restart
    fixed_step : whether it needs ``step=``
    summary : one line for `rbdae.solvers`
    shared_state : the library that keeps the state of a run in static memory between two calls, such as
        ``"odepack"``; runs of methods that share it take turns and cannot be nested. Empty if there is no such library
    coarse_output : whether its dense output is of lower order than its steps; `rbdae.solve` then interpolates the
        states at `Request.t_eval` itself (`rbdae.solving.dense`)
    untested : indices at which its error test omits the multipliers of a DAE, which may then be noise; `rbdae.solve`
        records those computed from positions and velocities instead
    pairings : the forms that it accepts, as (formulation, rotation, velocity), if it is made for particular forms;
        empty for all forms of its kinds
    """

    name: str
    kinds: frozenset[str]
    indices: frozenset[int] = frozenset()
    one_step: bool = False
    fixed_step: bool = False
    summary: str = ""
    overdetermined_indices: frozenset[int] | None = None
    shared_state: str = ""
    pairings: frozenset[tuple[str, str, str]] = frozenset()
    coarse_output: bool = False
    untested: frozenset[int] = frozenset()

    def accepts(self, kind: str, index: int, pairing: tuple[str, str, str] | None = None) -> bool:
        """Whether the method accepts a problem of this kind (and, for DAEs and overdetermined forms, index); if a
        pairing is given, also of this form."""
        if pairing is not None and self.pairings and pairing not in self.pairings:
            return False
        allowed = {"dae": self.indices, "overdetermined": self.overdetermined_indices}.get(kind)
        return kind in self.kinds and (allowed is None or index in allowed)

    def can_solve(self, problem: Solvable) -> bool:
        """Whether it can integrate a problem, see `accepts`; problems of the user's own have no rotations."""
        form = None
        if self.pairings:
            form = problem.formulation, getattr(problem, "rotation", ""), getattr(problem, "velocity", "")
        return self.accepts(problem.kind, problem.index, form)

    def refusal(self, problem: Solvable, solver: str) -> str:
        """Why it does not take a problem: the form of this one, and those that it takes."""
        words = {
            "ode": ("an ODE form", "ODE forms (index-0, null-space, ...)", None),
            "dae": ("a DAE", "DAEs", self.indices),
            "overdetermined": ("an overdetermined DAE", "overdetermined forms", self.overdetermined_indices),
        }
        form = words[problem.kind][0] + ("" if problem.kind == "ode" else f" of index {problem.index}")
        taken = [
            many + ("" if indices is None else f" of index {', '.join(map(str, sorted(indices)))}")
            for kind, (_, many, indices) in words.items()
            if kind in self.kinds
        ]
        if self.pairings:
            if rotation := getattr(problem, "rotation", ""):
                form += f" with rotation={rotation!r}, velocity={getattr(problem, 'velocity', '')!r}"
            taken = [f"{form!r} with rotation={r!r}, velocity={v!r}" for form, r, v in sorted(self.pairings)]
        return f"{problem.formulation!r} is {form}, but {solver} takes {' and '.join(taken)}"


@dataclass
class Request:
    """The user's request to `rbdae.solve`, checked; each run has its own.

    Parameters
    ----------
    t0, t_end : the interval; t0 is the problem's, and before t_end
    direction : -1.0 in runs back in time; the times of the run are then the problem's with the opposite sign. Callbacks
        and other functions called from Python account for it, machine functions do not (`rbdae.solving.watch`)
    t_eval : increasing output times; None asks for the solver's own steps
    rtol, atol : tolerances; `atol` is a number or an array of shape (n,)
    step : step size of a method with `Method.fixed_step`, else None
    first_step : when a run continues after a change of selection, the step size that the method would have taken next,
        limited to the rest of the interval; None at the start. One-step methods begin with it; Assimulo's prefer the
        user's `inith`
    projector : called as ``projector(t, y)`` after accepted steps: corrects `y` in place, returns whether it changed
    events : functions ``event(t, y)`` with scipy's attributes `terminal` and `direction`
    advance : called with the time of each accepted step (the progress bar)
    each_step : whether `advance` has to be called after each accepted step; if not, a loop in machine code calls it at
        least every 20 ms, so that it can raise an exception left by a signal
    watch : called with each accepted state; the run ends with `Reason.INTERRUPTED` when it returns True
    keep_steps : whether to keep the states at the accepted steps in addition to the rows of `t_eval`; without `t_eval`
        they are the rows
    begun : called once, before the first step, with a function that returns the results collected so far, for a run
        that ends with an exception
    options : the package's own; the adapter or its package refuses unknown ones
    """

    t0: float
    t_end: float
    t_eval: Vec | None
    rtol: float
    atol: float | Vec
    step: float | None = None
    first_step: float | None = None
    projector: StateProjector | None = None
    events: Sequence[Callable[[float, Vec], float]] = ()
    advance: Callable[[float], None] | None = None
    each_step: bool = True
    watch: Callable[[float, Vec], bool] | None = None
    keep_steps: bool = True
    begun: Callable[[Callable[[], Outcome]], None] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    direction: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """States at the start and at the accepted steps of a run: times `t` (k,) and unknowns `y` (k, n)."""

    t: Vec
    y: Mat


@dataclass(slots=True)
class Outcome:
    """The result of an adapter: rows of `y` belong to entries of `t`.

    `stopped` is the time that the solver reached; it can be later than the last output time ``t[-1]``. `steps` has the
    accepted steps of a run whose rows belong to `Request.t_eval`, if they were kept; None if the rows are the steps, or
    if no steps were kept. `rtol` and `atol` are the tolerances of the run if the method cannot use the requested ones,
    otherwise None.
    `next_step` is the step size that a one-step method would take next, or its last one, see `Request.first_step`.
    `detail_time` is the time to which `detail` refers, if any: the text itself names no time, because a run back in
    time counts it with the opposite sign.
    """

    t: Vec
    y: Mat
    reason: Reason
    stats: Stats
    detail: str = ""
    t_events: list[Vec] = field(default_factory=list)
    y_events: list[Mat] = field(default_factory=list)
    stopped: float | None = None
    steps: Steps | None = None
    rtol: float | None = None
    atol: float | Vec | None = None
    next_step: float | None = None
    detail_time: float | None = None

    def said(self) -> str:
        """The detail, with its time."""
        return self.detail if self.detail_time is None else f"{self.detail} at t = {self.detail_time:.9g}"


class Stepper(Protocol):
    """A run that its owner continues step by step, see `AbstractAdapter.stepper`. The inputs of its problem may change
    between two calls."""

    @property
    def t(self) -> float:
        """The time that it has reached."""

    @property
    def y(self) -> Vec:
        """The state there, (n,); a copy."""

    def advance(self, t_end: float) -> tuple[Reason, str]:
        """Continue to a later time. Returns ``Reason.FINISHED``, or the reason for an earlier stop, with a detail.
        Raises exceptions of the user's functions."""

    def mark(self) -> Any:
        """A mark with which `back` can return to the present state."""

    def back(self, mark: Any) -> None:
        """Return to the state at `mark`, whatever has failed since; later accepted steps are dropped."""

    def disturbed(self) -> None:
        """Evaluate the right-hand side again at the present state, because it has changed."""

    def steps(self) -> Steps:
        """Copies of the start and all accepted steps; empty if they are not kept."""

    def stats(self) -> Stats:
        """The cost so far."""


class Unsupported(ValueError):
    """The package cannot do what was asked; the message names an alternative."""


class MissingSolver(ImportError):
    """The solver package is not installed; the message gives the install command."""


class AbstractAdapter(ABC):
    """One solver package. See the module's docstring for the duties."""

    package: str
    methods: tuple[Method, ...]
    install: str

    @abstractmethod
    def version(self) -> str | None:
        """The package's version, or None if it is not installed."""

    @abstractmethod
    def native(self, problem: Solvable, method: str, **options: Any) -> Any:
        """The package's own objects for `problem`: residual, Jacobian and options in its signatures."""

    @abstractmethod
    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        """Integrate. Never raises because the solver gave up."""

    def stepper(self, problem: Solvable, method: Method, request: Request) -> Stepper | None:
        """A run that its owner may continue beyond `Request.t_end` (used for step sizes only); None if the method does
        not support this. `Request.keep_steps` says whether accepted steps are kept."""
        return None

    def work(self, problem: Solvable, method: str, options: Mapping[str, str], steps: Steps, times: Vec) -> Vec | None:
        """Work of all forces without a potential since the first step, at times (k,), in J, as the method itself counts
        it; None if it does not, and the power has to be integrated.

        Parameters
        ----------
        options : the run's, as `rbdae.Solution` has them
        steps : consecutive steps of the problem
        times : rising, within the steps
        """
        return None
