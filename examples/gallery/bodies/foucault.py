"""
Foucault's pendulum
===================

A pendulum hangs from a turntable, and swings on in one plane of space. Who stands on the turntable sees that plane
turn the other way: released at rest there, the bob draws a rosette with cusps.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae
from rbdae.joints import Revolute, Universal

RATE, LENGTH, ANGLE = 0.15, 4.0, 0.1  # rad/s of the turntable, m, rad
system = rbdae.System(gravity=(0, 0, -9.81))
table = system.add_body("turntable", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0, 0, 0))
start = LENGTH * np.array((np.sin(ANGLE), 0.0, -np.cos(ANGLE)))
turning = np.cross((0, 0, RATE), start)
bob = system.add_body("bob", mass=5.0, inertia=(1e-3, 1e-3, 1e-3), position=start, velocity=turning)
bearing = system.add_joint(Revolute(system.ground, table, name="bearing"))
system.add_joint(rbdae.drives.PrescribedAngle(bearing, lambda t: RATE * t))
# the cross is upright when the pendulum is: its first arm is fixed in the table, the other one in the bob
system.add_joint(Universal(table, bob, at_b=-start, axis_a=(0, 1, 0), axis_b=(np.cos(ANGLE), 0, np.sin(ANGLE))))

problem = rbdae.formulate(system, "null-space", consistent="project")
t = np.linspace(0.0, 2.0 * np.pi / RATE, 4000)
solution = rbdae.solve(problem, (0.0, t[-1]), rtol=1e-9, atol=1e-9, t_eval=t)
seen = solution.states["turntable"].orientation.inv().apply(solution.states["bob"].position)
space = solution.states["bob"].position
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained", sharex=True, sharey=True)
for axis, path, title in zip(axes, (space, seen), ("seen from space", "seen on the turntable"), strict=True):
    axis.plot(path[:, 0], path[:, 1], lw=1)
    axis.set(title=title, xlabel="x in m", ylabel="y in m", aspect="equal")
