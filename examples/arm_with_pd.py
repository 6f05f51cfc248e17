"""An arm with six axes moves between two postures under digital PD control of its joints at 1 kHz.

python examples/arm_with_pd.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rbdae
from rbdae.actuators import Source
from rbdae.joints import Revolute

LENGTHS = (0.4, 0.5, 0.4, 0.2, 0.15, 0.1)
AXES = ((0, 0, 1), (0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1))
GOAL = (0.8, 0.5, -0.9, 0.4, 0.3, -0.5)
"""rad"""
STIFF, DAMP = (900.0, 1200.0, 500.0, 60.0, 60.0, 20.0), (90.0, 120.0, 40.0, 4.0, 4.0, 1.0)


def law(t: float, u: Any, m: Any) -> Sequence[float]:
    """Torques from the angles and rates at a sample, along a smooth path to the goal in 0.5 s."""
    x = min(t / 0.5, 1.0)
    way, speed = x * x * (3.0 - 2.0 * x), (6.0 * x * (1.0 - x)) / 0.5
    angles, rates = u[:6], u[6:]
    return [
        k * (way * goal - angle) + d * (speed * goal - rate)
        for k, d, goal, angle, rate in zip(STIFF, DAMP, GOAL, angles, rates, strict=True)
    ]


def build() -> rbdae.System:
    """The arm upright, at rest."""
    s = rbdae.System()
    before, end, height = s.ground, (0.0, 0.0, 0.0), 0.0
    axes = []
    for k, (length, axis) in enumerate(zip(LENGTHS, AXES, strict=True), 1):
        mass = 12.0 / k
        J = mass * length**2 / 12.0
        link = s.add_body(
            f"link {k}", mass=mass, inertia=(J + 0.01, J + 0.02, 0.3 * J + 0.015), velocity=(0, 0, 0),
            position=(0, 0, height + length / 2), angular_velocity=(0, 0, 0),
        )  # fmt: skip
        axes.append(s.add_joint(Revolute(before, link, at_a=end, at_b=(0, 0, -length / 2), axis_a=axis, axis_b=axis,
                                         name=f"axis {k}")))  # fmt: skip
        before, end, height = link, (0.0, 0.0, length / 2), height + length
    inputs = {f"angle{k}": axis.angle for k, axis in enumerate(axes)}
    inputs |= {f"rate{k}": axis.rate for k, axis in enumerate(axes)}
    names = [f"torque{k}" for k in range(6)]
    control = s.add_block(rbdae.Sampled(1e-3, law, names, inputs=inputs, name="control"))
    for k, axis in enumerate(axes):
        s.add_force(Source(axis, effort=control.quantity(names[k]), name=f"drive {k + 1}"))
    return s


if __name__ == "__main__":
    solution = rbdae.solve(rbdae.formulate(build(), "null-space"), (0.0, 0.6), rtol=1e-6, atol=1e-6)
    print("end:", [round(float(solution.joints[f"axis {k}"].angle[-1]), 3) for k in range(1, 7)], "goal:", GOAL)
