"""
The flyball governor
====================

Watt's governor turns freely: as the balls fall the shaft runs faster, as they rise it slows down. The slider follows
them on stiff springs, whose fast vibration makes this a benchmark for stiff solvers: A05 of [IFToMM].
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

problem = rbdae.formulate(rbdae.models.flyball_governor(), "index-2")
t = np.linspace(0.0, 4.0, 600)
solution = rbdae.solve(problem, (0.0, 4.0), solver="sundials:ida", rtol=1e-7, atol=1e-7, t_eval=t)

figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 4.8), sharex=True, layout="constrained")
upper.plot(t, solution.states["slider"].center_of_mass[:, 2])
upper.set(ylabel="height of the slider in m")
lower.plot(t, np.linalg.norm(solution.states["shaft"].angular_velocity, axis=1))
lower.set(xlabel="t in s", ylabel="speed of the shaft in rad/s")

film = solution.animate(duration=4.0, fps=10, size=(5, 5), dpi=72, traces=["left", "right"])
