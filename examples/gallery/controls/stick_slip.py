"""
Stick and slip
==============

A spring pulls a block over a rough floor, and its end moves at a constant speed. The block sticks until the spring
wins, slips, and sticks again. Dry friction is regularised: a sticking block creeps with less than 1 mm/s.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

PULL = 0.1  # m/s
system = rbdae.System(gravity=(0, 0, -9.81))
block = system.add_body("block", mass=1.0, inertia=(0.01,) * 3, position=(0, 0, 0), velocity=(0, 0, 0))
floor = rbdae.joints.Prismatic(system.ground, block, axis_a=(1, 0, 0), name="floor")
system.add_joint(floor)
system.add_force(rbdae.forces.TranslationalSpringDamper(floor, stiffness=20.0))
system.add_force(rbdae.forces.Motor(floor, force=lambda t: 20.0 * PULL * t))  # the spring's end is at PULL t


def friction(t, x, v):
    """Falls from 4 N at rest to 2 N in motion."""
    return -np.tanh(v / 1e-3) * (2.0 + 2.0 / (1.0 + (v / 0.05) ** 2))


system.add_force(rbdae.forces.Motor(floor, force=friction, name="friction"))
t = np.linspace(0.0, 12.0, 1500)
problem = rbdae.formulate(system, "null-space")
solution = rbdae.solve(problem, (0.0, 12.0), solver="scipy:Radau", rtol=1e-6, atol=1e-8, t_eval=t)
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 4.8), sharex=True, layout="constrained")
upper.plot(t, solution.joints["floor"].displacement)
upper.plot(t, PULL * t, ":", color="black", lw=1)
upper.set(title="dotted: end of the spring", ylabel="position in m")
lower.plot(t, solution.joints["floor"].rate)
lower.set(xlabel="t in s", ylabel="speed in m/s")
