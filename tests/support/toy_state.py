"""A force with an internal state by its law alone: no Jacobian, which is that of the recorded law."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, final

import numpy as np
from toy_force import Point, between

from rbdae.body import Body
from rbdae.forces import AbstractPairForce, StateElement


@final
@dataclass(frozen=True, slots=True, eq=False)
class Viscoelastic(AbstractPairForce):
    """`toy_force.Maxwell` without its tangents.

    With l the distance of the points and s the stretch of the damper, f = stiffness (l - length - s), viscosity
    sdot = f.
    """

    a: Body
    b: Body | None = None
    _: KW_ONLY
    stiffness: float
    viscosity: float
    length: float
    stretch: float
    at_a: Point = (0.0, 0.0, 0.0)
    at_b: Point = (0.0, 0.0, 0.0)
    name: str | None = None

    def elements(self) -> tuple[StateElement]:
        """One, with the stretch of the damper as its state."""
        A = between(self)

        def law(t: float, x: Any, out: Any) -> None:
            P = A @ x[:24]
            l = np.linalg.norm(P)
            f = self.stiffness * (l - self.length - x[48])
            out[:24] = -f / l * (P @ A)
            out[24] = f / self.viscosity

        return (StateElement(law, None, ("stretch",), np.array([self.stretch])),)
