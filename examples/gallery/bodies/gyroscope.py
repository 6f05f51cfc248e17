"""
A gyroscope in gimbals
======================

A rotor spins in two rings, and a weight hangs on its axis. The weight does not fall: the axis precesses with about
M g a / (J w), the dashed line of the textbook, and nods a little at first.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae
from rbdae.joints import Revolute

MASS, ARM, J, SPIN = 0.2, 0.15, 2e-3, 300.0  # of the weight and the rotor
system = rbdae.System(gravity=(0, 0, -9.81))
outer = system.add_body("outer ring", mass=0.3, inertia=(2e-3, 2e-3, 2e-3), position=(0, 0, 0))
inner = system.add_body("axis with weight", mass=MASS, inertia=(1e-4,) * 3, center_of_mass=(ARM, 0, 0),
                        position=(0, 0, 0))  # fmt: skip
rotor = system.add_body("rotor", mass=1.0, inertia=(J, 0.6 * J, 0.6 * J), position=(0, 0, 0),
                        angular_velocity=(SPIN, 0, 0))  # fmt: skip
turn = system.add_joint(Revolute(system.ground, outer, axis_a=(0, 0, 1), name="turn"))
nod = system.add_joint(Revolute(outer, inner, axis_a=(0, 1, 0), name="nod"))
system.add_joint(Revolute(inner, rotor, axis_a=(1, 0, 0), name="spin"))

t = np.linspace(0.0, 4.0, 2000)
solution = rbdae.solve(rbdae.formulate(system, "index-0"), (0.0, 4.0), rtol=1e-8, atol=1e-8, t_eval=t)
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 4.8), sharex=True, layout="constrained")
upper.plot(t, np.degrees(solution.joints["turn"].angle))
upper.plot(t, np.degrees(MASS * 9.81 * ARM / (J * SPIN) * t), "--", color="black", lw=1)
upper.set(ylabel="precession in degrees")
lower.plot(t, np.degrees(solution.joints["nod"].angle), lw=0.8)
lower.set(xlabel="t in s", ylabel="nodding in degrees")
