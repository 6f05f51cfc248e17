"""The definition of a formulation: values that say what its unknowns and constraints are, and the kernels of its
equations."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Literal, TypeAlias, final

from rbdae.compiler.jit import Entry

Kind = Literal["ode", "dae", "overdetermined"]
Unknowns = Literal["velocities", "momenta", "quasi-velocities"]
Multipliers = Literal["none", "values", "integrals"]


@final
@dataclass(frozen=True, slots=True)
class Derivative:
    """The Jacobian of a kernel, with no kernel of its own: recorded code derives it (`rbdae.multibody.derived`), and
    generic code does not have it.

    Parameters
    ----------
    of : the residual, or the right-hand side
    """

    of: Entry

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.of.name}_jacobian"

    @property
    def signs(self) -> str:
        """As those of `rbdae.compiler.jit.Entry`."""
        return {"ityyo": "ityytM", "ityo": "ityM"}[self.of.signs]


Jacobian: TypeAlias = Entry | Derivative


class AbstractKernels(ABC):
    """The equations of a formulation as kernels.

    1. `residual` is F(t, y, yd) and `jacobian` dF/dy + c dF/dyd, a kernel or a `Derivative`. Code of one model derives
       it in both cases; a kernel is for generic code.
    2. `rates` maps (t, y) to the consistent rates of positions, velocities and internal states, by elimination of the
       multipliers; the multipliers follow where the output has room for them.
    3. All of them have the internal states of forces (`rbdae.kernels.forces.internal_states`). Where s and the
       multipliers begin in y stands in the head: states_at, multipliers_at.
    """

    residual: Entry
    jacobian: Jacobian
    rates: Entry


@final
@dataclass(frozen=True, slots=True)
class Implicit(AbstractKernels):
    """Equations that have a residual only."""

    residual: Entry
    jacobian: Jacobian
    rates: Entry


@final
@dataclass(frozen=True, slots=True)
class Solved:
    """A linear system that kernels solve on their way, so that its solution is differentiated by its residual.

    Parameters
    ----------
    balance : (m, x, out), the residual at x = (vdot, la), which is the solution where it vanishes; follows the kernel
    columns : (m), `rhs_tangent`: residuals become the solutions of the system with them as right-hand sides, by the
        factors that the kernel has left
    """

    balance: Entry
    columns: Entry


@final
@dataclass(frozen=True, slots=True)
class Explicit(AbstractKernels):
    """Equations that can be solved for yd, too: yd = `rates`, with `rhs_jacobian` d(rates)/dy. `solved` has the linear
    systems that these kernels solve, with the kernels."""

    residual: Entry
    jacobian: Jacobian
    rates: Entry
    rhs_jacobian: Jacobian
    solved: tuple[tuple[Entry, Solved], ...] = ()


@final
@dataclass(frozen=True, slots=True, eq=False)
class Formulation:
    """One way to write the equations of motion.

    Parameters
    ----------
    name, summary, source : the public name, one line, paper and equation
    kind, index : kind of problem and differentiation index
    velocities : the velocity choices that it has, the default first
    kernels : its equations
    unknowns : velocities, momenta, or independent quasi-velocities
    levels : the levels of the constraints that stand in the residual (0 position, 1 velocity, 2 acceleration). The
        first is that of the multipliers' equations. A DAE with two of them has a second set of multipliers, those of
        the kinematic correction; an overdetermined form has the others as further equations.
    multipliers : whether y contains them, or their integrals
    gains : names of the parameters of constraint stabilisation
    charts : names of the charts that it is for; empty for all that have its velocities
    projected : whether the dynamics of each body are projected onto the tangents of its unit norm, so that this has no
        multiplier among the unknowns
    """

    name: str
    summary: str
    source: str
    kind: Kind
    index: int
    velocities: tuple[str, ...]
    kernels: AbstractKernels
    unknowns: Unknowns = "velocities"
    levels: tuple[int, ...] = ()
    multipliers: Multipliers = "none"
    gains: tuple[str, ...] = ()
    charts: tuple[str, ...] = ()
    projected: bool = False

    @property
    def corrected(self) -> bool:
        """Whether there is a second set of multipliers, those of the kinematic correction."""
        return self.kind == "dae" and len(self.levels) == 2

    @property
    def written(self) -> bool:
        """Whether there are kernels of its Jacobians, which generic code needs."""
        jacobians = [getattr(self.kernels, name, None) for name in ("jacobian", "rhs_jacobian")]
        return not any(isinstance(jacobian, Derivative) for jacobian in jacobians)

    @property
    def further_levels(self) -> tuple[int, ...]:
        """Levels of the constraints that an overdetermined form adds as further equations."""
        if self.kind != "overdetermined":
            return ()
        return self.levels if self.multipliers == "none" else self.levels[1:]


__all__ = [
    "AbstractKernels",
    "Derivative",
    "Explicit",
    "Formulation",
    "Implicit",
    "Jacobian",
    "Kind",
    "Multipliers",
    "Solved",
    "Unknowns",
]
