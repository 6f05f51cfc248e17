"""What a formulation is: a name, what it can be combined with, and the kernels that fill its equations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from rbdae.compiler.jit import Entry

Kind = Literal["ode", "dae", "overdetermined"]


@final
@dataclass(frozen=True, slots=True)
class Formulation:
    """One way to write the equations of motion.

    Parameters
    ----------
    name, summary, source : the public name, one line, paper and equation
    kind, index : kind of problem and differentiation index
    velocities : the velocity choices that it has, the default first
    rotations : the charts that it has
    residual, jacobian : F(t, y, yd) and dF/dy + c dF/dyd
    rhs, rhs_jacobian : of the explicit form; `rhs` also gives every formulation its consistent rates and multipliers
    level : of the constraint (0 position, 1 velocity, 2 acceleration), for the DAEs
    momenta, reduced : unknowns are momenta, or independent quasi-velocities
    corrected : has the multipliers mu of a kinematic correction, too
    integral : the unknowns are the integrals of the multipliers
    baumgarte : has Baumgarte's parameters
    extra : levels of the constraints that an overdetermined form adds as further equations
    """

    name: str
    summary: str
    source: str
    kind: Kind
    index: int
    velocities: tuple[str, ...]
    rotations: tuple[str, ...]
    residual: Entry
    jacobian: Entry
    rhs: Entry
    rhs_jacobian: Entry | None
    level: int = 2
    momenta: bool = False
    reduced: bool = False
    corrected: bool = False
    integral: bool = False
    baumgarte: bool = False
    extra: tuple[int, ...] = ()

    @property
    def has_multipliers(self) -> bool:
        """Whether the multipliers are among the unknowns."""
        return self.kind != "ode" and not self.reduced
