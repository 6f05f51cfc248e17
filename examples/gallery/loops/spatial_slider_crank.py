"""
A spatial slider crank
======================

The crank turns about one axis, the slider moves along another: a rod with a ball joint and a universal joint links
them. This is a benchmark of [IFToMM]; the slider follows in closed form from the crank's end, which is dotted here.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

problem = rbdae.formulate(rbdae.models.spatial_slider_crank(), "null-space")
t = np.linspace(0.0, 5.0, 800)
solution = rbdae.solve(problem, (0.0, 5.0), rtol=1e-8, atol=1e-8, projection=True, t_eval=t)

crank, slider = solution.states["crank"], solution.states["slider"]
end = np.array((0.0, 0.1, 0.12)) + crank.orientation.apply((0.0, 0.0, 0.08))
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
upper.plot(t, slider.position[:, 0])
upper.plot(t[::20], np.sqrt(0.09 - end[::20, 1] ** 2 - end[::20, 2] ** 2), ".", color="black", ms=5)
upper.set(ylabel="position of the slider in m")
lower.plot(t, slider.velocity[:, 0])
lower.set(xlabel="t in s", ylabel="its velocity in m/s")
