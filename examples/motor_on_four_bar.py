"""A direct-current motor under a PI controller turns a four-bar linkage with a varying load.

python examples/motor_on_four_bar.py
"""

from __future__ import annotations

import numpy as np

import rbdae
from rbdae.actuators import PI, DCMotor
from rbdae.joints import Revolute

POINTS = {"ground": (0.0, 0.0), "a": (0.0, 0.2), "b": (0.7, 0.5), "c": (0.6, 0.0)}
"""m: bearing of the crank, its end, the end of the coupler, bearing of the rocker."""


def build() -> rbdae.System:
    """The linkage with the crank upright, at rest."""
    s = rbdae.System(gravity=(0, -9.81, 0))
    corners = [np.array((*xy, 0.0)) for xy in POINTS.values()]
    pins = []
    before, end = s.ground, np.zeros(3)
    for name, p, q in zip(("crank", "coupler", "rocker"), corners[:-1], corners[1:], strict=True):
        length, angle = np.linalg.norm(q - p), np.arctan2(q[1] - p[1], q[0] - p[0])
        J = 3.0 * length**3 / 12.0
        bar = s.add_body(
            name, mass=3.0 * length, inertia=(1e-4, J, J + 1e-4), position=(p + q) / 2, velocity=(0, 0, 0),
            orientation=(np.cos(angle / 2), 0, 0, np.sin(angle / 2)), angular_velocity=(0, 0, 0),
        )  # fmt: skip
        half = np.array((length / 2, 0.0, 0.0))
        pins.append(s.add_joint(Revolute(before, bar, at_a=end, at_b=-half, axis_a=(0, 0, 1), name=f"pin of {name}")))
        before, end = bar, half
    s.add_joint(Revolute(before, s.ground, at_a=end, at_b=corners[-1], axis_a=(0, 0, 1), name="bearing"))
    control = s.add_block(PI(measured=pins[0].rate, setpoint=lambda t: 4.0, kp=20.0, ki=60.0, kb=5.0, low=-48.0,
                             high=48.0, name="control"))  # fmt: skip
    s.add_force(DCMotor(pins[0], voltage=control.out, resistance=1.5, inductance=0.02, constant=1.2, name="motor"))
    return s


if __name__ == "__main__":
    problem = rbdae.formulate(build(), "index-0", redundant="minimum-norm")
    solution = rbdae.solve(problem, (0.0, 3.0), solver="rbdae:dop853", rtol=1e-8, atol=1e-8, projection=True)
    motor = solution.forces["motor"]
    print("speed", solution.joints["pin of crank"].rate[-1], "rad/s, current up to", motor.current.max(), "A")
