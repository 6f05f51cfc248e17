"""A quarter of a car over a bump: a tyre, a spring, and a damper of two chambers with an orifice between them.

    python examples/quarter_car.py

The oil is incompressible, so the flow through the orifice equals the piston's, and the pressure drop is an algebraic
unknown: 0 = A v - k drop / (drop^2 + d0^2)^(1/4).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rbdae
from rbdae.joints import Prismatic


class HydraulicDamper(rbdae.Actuator):
    """A force against the motion, by the pressure drop over an orifice with turbulent flow."""

    algebraic = {"drop": 1e5}  # noqa: RUF012
    parameters = {"area": 8e-4, "flow": 4e-7, "smoothing": 1e4}  # noqa: RUF012
    units = {"drop": "Pa"}  # noqa: RUF012

    def law(self, t: Any, q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        """Force, and the flow in the chamber minus the flow through the orifice."""
        through = p.flow * z.drop / (z.drop * z.drop + p.smoothing * p.smoothing) ** 0.25
        return -p.area * z.drop, [(p.area * qd - through) / p.flow]


def road(t: Any) -> Any:
    """The height of the road under the wheel: one bump of 60 mm."""
    return np.where(t < 0.2, 0.03 * (1.0 - np.cos(10.0 * np.pi * t)), 0.0)


def tyre(t: Any, height: Any, rate: Any) -> Any:
    """The force of the tyre on the wheel, beyond the weight at rest."""
    return 2e5 * (road(t) - height) - 100.0 * rate + 340.0 * 9.81


def build() -> rbdae.System:
    """Wheel and body at rest on springs under their weight."""
    s = rbdae.System()
    wheel = s.add_body("wheel", mass=40.0, inertia=(1, 1, 1), position=(0, 0, 0.3), velocity=(0, 0, 0))
    body = s.add_body("body", mass=300.0, inertia=(50, 50, 50), position=(0, 0, 0.8), velocity=(0, 0, 0))
    up = s.add_joint(Prismatic(s.ground, wheel, at_a=(0, 0, 0.3), axis_a=(0, 0, 1), name="wheel guide"))
    strut = s.add_joint(Prismatic(wheel, body, at_a=(0, 0, 0.5), axis_a=(0, 0, 1), name="strut"))
    s.add_force(rbdae.forces.Motor(up, force=tyre, name="tyre"))
    s.add_force(
        rbdae.forces.TranslationalSpringDamper(strut, stiffness=2e4, displacement=300.0 * 9.81 / 2e4, name="spring")
    )
    s.add_force(HydraulicDamper(strut, name="damper"))
    return s


if __name__ == "__main__":
    solution = rbdae.solve(rbdae.formulate(build(), "null-space"), (0.0, 1.0), rtol=1e-8, atol=1e-8)
    print("strut from", solution.joints["strut"].displacement.min(), "to", solution.joints["strut"].displacement.max())
