"""
A box that bounces
==================

The four corners of a tumbling plate meet the ground with the contact law of Hunt and Crossley [HC75] and dry
friction. A contact is a force of the equations, so that any solver with step control finds the impacts.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.transform import Rotation

import rbdae

system = rbdae.System(gravity=(0, 0, -9.81))  # the plate is thin along y
box = system.add_body("box", mass=1.0, inertia=(0.0075, 0.0208, 0.0133), position=(0, 0, 1.0), velocity=(0.6, 0, 0),
                      angular_velocity=(0, 3.0, 0), orientation=Rotation.from_euler("y", 0.4))  # fmt: skip
for x in (-0.2, 0.2):
    for z in (-0.15, 0.15):
        system.add_force(rbdae.forces.Contact(box, at_a=(x, 0, z), stiffness=1e5, restitution=0.6, impact_velocity=3.0,
                                              mu=0.3))  # fmt: skip
problem = rbdae.formulate(system, "index-0")
t = np.linspace(0.0, 2.5, 800)
solution = rbdae.solve(problem, (0.0, 2.5), rtol=1e-7, atol=1e-7, t_eval=t)

figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 4.8), sharex=True, layout="constrained")
upper.plot(t, solution.states["box"].position[:, 2])
upper.set(ylabel="height of the centre in m")
lower.plot(t, solution.energy.kinetic + solution.energy.potential)
lower.set(xlabel="t in s", ylabel="energy in J")
corners = {"corner": ("box", (0.2, 0.0, 0.15))}
film = solution.animate(duration=4.0, fps=10, size=(6, 4), dpi=72, traces=corners)
