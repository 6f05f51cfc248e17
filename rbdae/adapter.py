"""The contract between `rbdae.solve` and an adapter, a module that speaks one solver package's dialect.

An adapter
 1. is registered under the entry-point group ``rbdae.adapters`` and is importable without its package;
 2. lists its `Method` s, each of which says what kinds of `rbdae.Problem` it accepts;
 3. says whether its package is there (`version`), and how to get it (`install`);
 4. hands over native objects (`native`) in the package's own signatures, for people who keep their own loop;
 5. runs a `Request` (`run`): steps, projects after accepted steps, collects output and `Stats`;
 6. never raises because a solver gave up: it returns the partial trajectory with a `Reason`;
 7. lets an exception of a callback reach the user as itself;
 8. never ignores what the user asked for: what its package cannot do is refused with `Unsupported`, by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from rbdae._arrays import Mat, Vec

if TYPE_CHECKING:
    from rbdae.problem.problem import Problem
    from rbdae.problem.projection import Projector


class Reason(Enum):
    """How a run ended. The values are the sentences that the user reads."""

    FINISHED = "reached the end of the interval"
    EVENT = "stopped at a terminal event"
    INTERRUPTED = "was interrupted, to go on from there in other unknowns"
    STEP_TOO_SMALL = "the step size became too small; loosen the tolerances or choose a lower-index formulation"
    NOT_CONVERGED = "Newton's method did not converge; try a lower index, a looser tolerance or a smaller step"
    ERROR_TEST = "the error test failed repeatedly; loosen the tolerances or choose a lower-index formulation"
    SINGULAR = "the iteration matrix became singular; check for redundant or singular constraints"
    TOO_MANY_STEPS = "the solver's limit on steps was reached; raise it or loosen the tolerances"
    PROJECTION = "the projection onto the constraints failed; tighten the tolerances or check for singular constraints"
    NOT_FINITE = "the solution became infinite or not a number"
    SOLVER = "the solver gave up"


@dataclass(slots=True)
class Stats:
    """What a run cost. `evaluations` counts residuals (DAE solvers) or right-hand sides (ODE solvers).

    A count that the package does not report and the adapter cannot count is -1.
    """

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    jacobians: int = 0
    factorisations: int = -1
    projections: int = 0
    restarts: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Method:
    """One solver of a package.

    Parameters
    ----------
    name : the part after the colon, as in ``"scikits.odes:ida"``
    kinds : the `Problem.kind` s that it takes: ``"ode"``, ``"dae"``, ``"overdetermined"``
    indices : for ``"dae"``, the differentiation indices that it can integrate
    one_step : a projected state goes back in without a restart
    fixed_step : needs ``step=``
    summary : one line for `rbdae.solvers`
    """

    name: str
    kinds: frozenset[str]
    indices: frozenset[int] = frozenset()
    one_step: bool = False
    fixed_step: bool = False
    summary: str = ""

    def accepts(self, kind: str, index: int) -> bool:
        """Whether a problem of this kind (and, for DAEs, index) makes sense for the method."""
        return kind in self.kinds and (kind != "dae" or index in self.indices)


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked `rbdae.solve` for, checked.

    `atol` is a float or an array of shape (n,). `t_eval` None asks for the solver's own steps. `projector`
    is None or a `Projector`, called as ``projector(t, y)`` after accepted steps: it corrects `y` in
    place and returns whether it changed anything. `advance` is called with the time of each accepted step
    (the progress bar). `watch` is called with each accepted state and ends the
    run with `Reason.INTERRUPTED` where it returns True. `options` are the package's own; unknown ones
    are refused by the adapter.
    """

    t0: float
    t_end: float
    t_eval: Vec | None
    rtol: float
    atol: float | Vec
    step: float | None = None
    projector: Projector | None = None
    events: Sequence[Callable[[float, Vec], float]] = ()
    advance: Callable[[float], None] | None = None
    watch: Callable[[float, Vec], bool] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Outcome:
    """What an adapter gives back: rows of `y` belong to entries of `t`.

    `stopped` is the time that the solver reached, which is later than ``t[-1]`` where `t_eval` says so.
    """

    t: Vec
    y: Mat
    reason: Reason
    stats: Stats
    detail: str = ""
    t_events: list[Vec] = field(default_factory=list)
    y_events: list[Mat] = field(default_factory=list)
    stopped: float | None = None


class Unsupported(ValueError):
    """The package cannot do what was asked; the message says what can."""


class MissingSolver(ImportError):
    """The solver package is not installed; the message gives the install command."""


class AbstractAdapter(ABC):
    """One solver package. See the module's docstring for the duties."""

    package: str
    methods: tuple[Method, ...]
    install: str

    @abstractmethod
    def version(self) -> str | None:
        """The package's version, or None where it cannot be imported."""

    @abstractmethod
    def native(self, problem: Problem, method: str, **options: Any) -> Any:
        """The package's own objects for `problem`: residual, Jacobian and options in its signatures."""

    @abstractmethod
    def run(self, problem: Problem, method: Method, request: Request) -> Outcome:
        """Integrate. Never raises because the solver gave up."""


__all__ = [
    "AbstractAdapter",
    "Method",
    "MissingSolver",
    "Outcome",
    "Reason",
    "Request",
    "Stats",
    "Unsupported",
]
