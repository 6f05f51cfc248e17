"""
A delta robot
=============

Three arms are turned by motors; pairs of parallel rods keep the platform level wherever it goes. The arms follow laws
of the time, and rbdae returns the torques that the motors have to give.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae
from rbdae.joints import Revolute, Rod

system = rbdae.System(gravity=(0, 0, -9.81))
tool = np.array((0.0, 0.0, -0.55))
platform = system.add_body("platform", mass=0.5, inertia=(1e-3, 1e-3, 2e-3), position=tool)
for k in range(3):
    a = 2.0 * np.pi * k / 3.0
    out, along = np.array((np.cos(a), np.sin(a), 0.0)), np.array((-np.sin(a), np.cos(a), 0.0))
    hip, elbow, wrist = 0.2 * out, 0.45 * out - (0.0, 0.0, 0.1), 0.06 * out
    u = elbow - hip
    arm = system.add_body(f"arm{k}", mass=1.0, inertia=(u @ u * np.eye(3) - np.outer(u, u)) / 12.0 + 1e-4 * np.eye(3),
                          center_of_mass=hip + u / 2, position=(0, 0, 0))  # fmt: skip
    motor = Revolute(system.ground, arm, at_a=hip, at_b=hip, axis_a=along, axis_b=along, name=f"motor{k}")
    system.add_joint(motor)
    law = [lambda t: 0.3 * np.sin(6.0 * t), lambda t: 0.3 * np.sin(9.0 * t), lambda t: 0.3 * np.sin(12.0 * t)][k]
    system.add_joint(rbdae.drives.PrescribedAngle(motor, law, name=f"law{k}"))
    for shift in (-0.06 * along, 0.06 * along):
        system.add_joint(Rod(arm, platform, at_a=elbow + shift, at_b=wrist + shift))

t = np.linspace(0.0, 2.1, 400)
solution = rbdae.solve(rbdae.formulate(system, "index-0"), (0.0, 2.1), rtol=1e-8, projection=True, t_eval=t)
figure, axis = plt.subplots(figsize=(8, 3.4), layout="constrained")
for k in range(3):
    axis.plot(t, solution.joints[f"law{k}"].torque, label=f"motor {k + 1}")
axis.set(xlabel="t in s", ylabel="torque in N m")
figure.legend(loc="outside right center", frameon=False)
film = solution.animate(duration=4.0, fps=10, size=(5.5, 4.5), dpi=72, traces=["platform"])
