"""
A projection that keeps the angular velocity
============================================

A state of quaternions and their rates has drifted off the unit sphere. The projection (63) of [NS] divides p by its
norm and takes the tangential part of its rate, which changes the angular velocity; that of rbdae does not.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

problem = rbdae.formulate(rbdae.models.heavy_top(), "index-2", velocity="coordinate")
layout = problem.layout
sizes = np.logspace(-10, -2, 17)
figure, axis = plt.subplots(figsize=(7.5, 4), layout="constrained")
start = problem.states(0.0, problem.y0)["top"].angular_velocity
for kind, name in (("tangential", "(63) of [NS]"), ("angular", "rbdae")):
    changes = []
    for size in sizes:
        drifted = problem.y0.copy()
        drifted[layout.q] *= 1.0 + size
        drifted[layout.v] *= 1.0 + size  # p and its rate drift together: the same angular velocity
        back = problem.project(0.0, drifted, rbdae.Projection(velocities=kind))
        after = problem.states(0.0, back)["top"].angular_velocity
        changes.append(np.linalg.norm(after - start) / np.linalg.norm(start))
    axis.loglog(sizes, np.maximum(changes, 1e-17), "o-", label=name)
axis.set(xlabel="drift, |p| - 1", ylabel="relative change of the angular velocity")
figure.legend(loc="outside right center", frameon=False)
