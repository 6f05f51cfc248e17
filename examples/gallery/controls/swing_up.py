"""
Swing-up with a simulator
=========================

A motor is too weak to lift a pendulum at once. `rbdae.Simulator` advances in steps of 20 ms with the torque as an
input, here always in the direction of the motion, until the rod is upright: the loop of a controller or of learning.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

system = rbdae.models.pendulum(side=1.0)
system.add_force(rbdae.forces.Motor(system.joints[0], torque=system.add_input("torque", unit="N m")))
sim = rbdae.Simulator(rbdae.formulate(system, "null-space"), dt=0.02)
sim.reset(joints={"hinge": (-1.5, 0.0)})
torques = []
while np.sin(sim.joints["hinge"].angle) < 0.999 and sim.t < 20.0:
    torques.append(2.5 * np.sign(sim.joints["hinge"].rate) or 2.5)
    sim.step({"torque": torques[-1]})
solution = sim.solution()

hinge = solution.joints["hinge"]
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 4.8), sharex=True, layout="constrained")
upper.plot(solution.t, np.degrees(hinge.angle) + 90.0)
upper.set(ylabel="from hanging, in degrees")
lower.step(0.02 * np.arange(len(torques)), torques, where="post")
lower.set(xlabel="t in s", ylabel="torque in N m")
film = solution.animate(duration=3.0, fps=8, size=(4.5, 4), dpi=72)
