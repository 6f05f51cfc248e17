"""
A six-axis arm with PD control
==============================

Six motors move an arm from upright to a posture along a smooth path. The law of each motor becomes machine code.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae
from rbdae.joints import Revolute

LENGTHS = (0.4, 0.5, 0.4, 0.2, 0.15, 0.1)
AXES = [(0, 0, 1) if axis == "z" else (0, 1, 0) for axis in "zyyzyz"]
GOAL, STIFF = (0.8, 0.7, 0.9, 0.4, 0.6, -0.5), (2e3, 6e3, 3e3, 100.0, 200.0, 20.0)


def law(t, angle, rate, goal, k):
    x = np.minimum(t, 1.0)
    return k * (goal * x * x * (3.0 - 2.0 * x) - angle) + 0.1 * k * (goal * 6.0 * x * (1.0 - x) - rate)


system, height = rbdae.System(gravity=(0, 0, -9.81)), 0.0
before = system.ground
for k, (length, axis) in enumerate(zip(LENGTHS, AXES, strict=True)):
    p, c = (0, 0, height), (0, 0, height + length / 2)
    inertia = np.array((length**2 + 0.0064, length**2 + 0.0064, 0.0128)) / (k + 1)  # of a bar, 8 cm thick
    link = system.add_body(f"link{k + 1}", mass=12 / (k + 1), inertia=inertia, center_of_mass=c, position=(0, 0, 0))
    pin = system.add_joint(Revolute(before, link, at_a=p, at_b=p, axis_a=axis, axis_b=axis, name=f"axis {k + 1}"))
    system.add_force(rbdae.forces.Motor(pin, torque=lambda t, a, r, goal=GOAL[k], k=STIFF[k]: law(t, a, r, goal, k)))
    before, height = link, height + length
t = np.linspace(0.0, 1.5, 300)
solution = rbdae.solve(rbdae.formulate(system, "null-space"), (0.0, 1.5), rtol=1e-7, atol=1e-7, t_eval=t)
figure, axis = plt.subplots(figsize=(8, 3.4), layout="constrained")
for k in range(6):
    axis.plot(t, solution.joints[f"axis {k + 1}"].angle - GOAL[k], label=f"axis {k + 1}")
axis.set(xlabel="t in s", ylabel="angle beyond the goal in rad")
figure.legend(loc="outside right center", frameon=False)
film = solution.animate(duration=3.0, fps=8, size=(5, 4.5), dpi=72, traces={"tool": ("link6", (0, 0, height))})
