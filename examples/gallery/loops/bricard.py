"""
Bricard's mechanism
===================

Five rods and six hinges close a loop. By counting equations it is rigid, yet it moves: one of its 30 joint equations
follows from the others. The form of minimum norm leaves that one out: benchmark A04 of [IFToMM].
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

problem = rbdae.formulate(rbdae.models.bricard(), "index-0", redundant="minimum-norm")
t = np.linspace(0.0, 10.0, 400)
solution = rbdae.solve(problem, (0.0, 10.0), rtol=1e-9, atol=1e-9, projection=True, t_eval=t)

energy = solution.energy
figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
axis.plot(t, energy.kinetic, label="kinetic")
axis.plot(t, energy.potential - energy.potential[0], label="potential")
axis.plot(t, energy.total - energy.total[0], color="black", lw=1, label="their sum")
axis.set(xlabel="t in s", ylabel="energy in J, from the start")
figure.legend(loc="outside right center", frameon=False)

film = solution.animate(duration=3.0, fps=8, size=(6, 4.5), dpi=72, traces=["rod3"])
