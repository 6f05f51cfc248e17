"""The parts of a problem that solvers, adapters and runs may use: `Solvable` and `StateProjector`.

`rbdae.Problem` is one implementation. The tests have another, a pendulum of two hundred lines without any kernel.
Whoever depends on these protocols and not on `rbdae.Problem` works with both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, final

from rbdae._arrays import Bools, Ints, Mat, Vec
from rbdae._frozen import refuse_copies
from rbdae.machine.function import MachineFunction


class ProjectionError(ArithmeticError):
    """The constraints could not be satisfied from there, or are redundant or singular."""


class SolvableCallbacks(Protocol):
    """The equations as bare functions for the loops of solvers.

    1. Each of them fills its last argument completely and returns nothing.
    2. They check nothing. Arrays are float64, vectors are contiguous; read-only inputs are fine. Matrices may have
       any positive strides.
    3. The result depends on the arguments alone, not on earlier calls.
    4. Asking for one of them may compile it or allocate memory of its size. An adapter asks for what it calls.
    5. `rhs` and `rhs_jacobian` belong to problems of the kind ``"ode"``; others raise `AttributeError`.
    6. They may have further functions for loops in machine code, as `rbdae.problem.callbacks.Callbacks` has them:
       `machine`, `factors` and `steps`. Most have them not.
    """

    @property
    def residual(self) -> Callable[[float, Vec, Vec, Vec], None]:
        """``residual(t, y, yd, out)``: F(t, y, yd) into `out`, shape (n_equations,)."""

    @property
    def jacobian(self) -> Callable[[float, Vec, Vec, float, Mat], None]:
        """``jacobian(t, y, yd, c, out)``: dF/dy + c dF/dyd into `out`, shape (n_equations, n)."""

    @property
    def jacobian_data(self) -> Callable[[float, Vec, Vec, float, Vec], None]:
        """``jacobian_data(t, y, yd, c, data)``: the same as CSC data in the order of `Solvable.sparsity`."""

    @property
    def rhs(self) -> Callable[[float, Vec, Vec], None]:
        """``rhs(t, y, out)``: f(t, y) into `out`, shape (n,)."""

    @property
    def rhs_jacobian(self) -> Callable[[float, Vec, Mat], None]:
        """``rhs_jacobian(t, y, out)``: df/dy into `out`, shape (n, n)."""


class Solvable(Protocol):
    """A problem as an adapter sees it.

    The laws, which come to the ones of `SolvableCallbacks`:

    1. Nothing here changes during a run. A switch gives another problem.
    2. (t0, y0, yd0) is consistent: F(t0, y0, yd0) = 0. Adapters copy what they change.
    3. `differential` is False where yd does not appear in F.
    4. A problem of kind ``"ode"`` has index 0 and yd = f(t, y); F = 0 says the same, so that DAE solvers can run it.

    Do not test objects for being a `Solvable` at run time: that would ask for every attribute, and compile them.
    """

    @property
    def formulation(self) -> str:
        """The name of the form, for messages."""

    @property
    def kind(self) -> Literal["ode", "dae", "overdetermined"]:
        """``"ode"``: yd = f(t, y); ``"dae"``: F(t, y, yd) = 0; ``"overdetermined"``: F has more rows than unknowns."""

    @property
    def index(self) -> int:
        """Differentiation index."""

    @property
    def n(self) -> int:
        """Number of unknowns."""

    @property
    def n_equations(self) -> int:
        """Number of equations; larger than `n` for overdetermined forms."""

    @property
    def labels(self) -> Sequence[str]:
        """One name for each unknown."""

    @property
    def t0(self) -> float:
        """The time that `y0` and `yd0` belong to."""

    @property
    def y0(self) -> Vec:
        """Consistent initial unknowns, shape (n,)."""

    @property
    def yd0(self) -> Vec:
        """Their rates, shape (n,)."""

    @property
    def differential(self) -> Bools:
        """Whether yd of an unknown appears in F, shape (n,)."""

    @property
    def algebraic(self) -> Bools:
        """(n,) True for unknowns without a rate that error tests count, as those of a circuit; adapters take a problem
        without this attribute for one that has none."""

    @property
    def variable_index(self) -> Ints:
        """Classes 1, 2, 3 of the unknowns of a DAE (Hairer & Wanner II, section VII.1), shape (n,); 0 for ODE kinds."""

    @property
    def sparsity(self) -> Any:
        """The pattern of dF/dy + c dF/dyd for any c, a `scipy.sparse.csc_matrix` of shape (n_equations, n)."""

    @property
    def callbacks(self) -> SolvableCallbacks:
        """The equations as bare functions."""

    def switches(self) -> Sequence[Any]:
        """New switches (`rbdae.problem.switches.AbstractSwitch`) for one segment of a run that begins at `y0`; most
        problems have none."""

    def translated(self, t: float, y: Vec, other: Any) -> Vec:
        """The state y of this problem in the unknowns of another one that a switch has made from it, or of the one that
        it was made from; `y` itself where they are the same."""


@final
@dataclass(frozen=True, slots=True)
class Ending:
    """Why a run ends where a switch is due, whether this state can still be read, and what ends it."""

    why: str
    readable: bool = True
    kind: Literal["chart", "friction"] = "chart"


@final
@dataclass(frozen=True, eq=False)
class CompiledWatch:
    """Whether a run in machine code has to ask about a state, see `rbdae.machine.loops.watching`: the function that
    computes `n_measured` measures, and the memory (4, n_measured) with their bounds, of one run. What watches a run may
    have a function ``machine()`` that makes one, or gives None; most have it not."""

    measure: MachineFunction
    n_measured: int
    memory: Mat
    __reduce__ = refuse_copies


class StateProjector(Protocol):
    """A projection onto the constraints of one problem, as a run uses it. `rbdae.Projector` is one.

    1. A projected state is a fixed point: projecting it again changes nothing and returns False.
    2. Multipliers are left alone.
    3. It may have a function ``machine()`` that gives the projection as a C function for runs in machine code, as
       `rbdae.Projector` has it, or None; most have it not.
    """

    @property
    def count(self) -> int:
        """How many corrections were made."""

    @property
    def restart_tolerance(self) -> float:
        """Drift beyond which a multistep code is restarted from the projected state."""

    @property
    def reach(self) -> float:
        """The size of positions in the unit of `drift`, at least 1."""

    def __call__(self, t: float, y: Vec) -> bool:
        """Project `y` in place and return whether it changed; raise `ProjectionError` if it cannot be done."""

    def drift(self, t: float, y: Vec) -> float:
        """Largest violation of the constraints that would be projected."""
