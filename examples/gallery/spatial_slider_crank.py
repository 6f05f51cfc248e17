"""
A slider crank in space
=======================

The crank turns about one axis, the slider moves along a second: a rod with a ball joint and a universal joint links
them. This is a benchmark of [IFToMM]; the slider follows in closed form from the crank's end, which is dotted here.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

problem = rbdae.formulate(rbdae.models.spatial_slider_crank(), "null-space")
solution = rbdae.solve(problem, (0.0, 5.0), rtol=1e-8, atol=1e-8, projection=True)

t = np.linspace(0.0, 5.0, 800)
states = problem.states(t, solution(t))
end = np.array((0.0, 0.1, 0.12)) + states["crank"].orientation.apply((0.0, 0.0, 0.08))
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
upper.plot(t, states["slider"].position[:, 0])
upper.plot(t[::20], np.sqrt(0.09 - end[::20, 1] ** 2 - end[::20, 2] ** 2), ".", color="black", ms=5)
upper.set(ylabel="position of the slider in m")
lower.plot(t, states["slider"].velocity[:, 0])
lower.set(xlabel="t in s", ylabel="its velocity in m/s")

film = solution.animate(duration=4.0, fps=10, size=(5.5, 4.2), dpi=72, traces=["rod", "slider"])
