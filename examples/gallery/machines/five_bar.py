"""
A five-bar that draws
=====================

Two cranks turn by laws of the time, and two couplers meet in a pen that draws a curve. All five hinges hold the plane,
so equations are redundant; the form of minimum norm leaves them out, and torques of the cranks are unique.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae
from rbdae.joints import Revolute

POINTS = np.array(((-0.15, 0, 0), (-0.35, 0.25, 0), (0.0, 0.6, 0), (0.35, 0.25, 0), (0.15, 0, 0)))
NAMES = ("left crank", "left coupler", "right coupler", "right crank")
system = rbdae.System(gravity=(0, -9.81, 0))
bars = [system.ground]
for name, p, q in zip(NAMES, POINTS[:-1], POINTS[1:], strict=True):
    J = (q - p) @ (q - p) / 12.0
    bars.append(system.add_body(name, mass=1.0, inertia=(J, J, J), center_of_mass=(p + q) / 2, position=(0, 0, 0)))
pins = [
    system.add_joint(Revolute(a, b, at_a=p, at_b=p, name=f"pin{k}"))
    for k, (a, b, p) in enumerate(zip(bars, [*bars[1:], system.ground], POINTS, strict=True))
]
system.add_joint(rbdae.drives.PrescribedAngle(pins[0], lambda t: 0.4 * np.sin(4.0 * t), name="left"))
system.add_joint(rbdae.drives.PrescribedAngle(pins[4], lambda t: 0.4 * np.sin(6.0 * t), name="right"))

problem = rbdae.formulate(system, "index-0", redundant="minimum-norm")
t = np.linspace(0.0, np.pi, 400)
solution = rbdae.solve(problem, (0.0, np.pi), rtol=1e-8, projection=True, t_eval=t)
pen = solution.states["left coupler"].position + solution.states["left coupler"].orientation.apply(POINTS[2])
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(pen[:, 0], pen[:, 1])
left.set(title="what the pen draws", xlabel="x in m", ylabel="y in m", aspect="equal")
for name, sign in (("left", 1.0), ("right", -1.0)):
    right.plot(t, sign * solution.joints[name].torque, label=f"{name} crank")
right.set(title="torques of the cranks", xlabel="t in s", ylabel="torque in N m")
figure.legend(loc="outside right upper", frameon=False)
film = solution.animate(duration=4.0, fps=10, size=(6, 4), dpi=72, traces={"pen": ("left coupler", POINTS[2])})
