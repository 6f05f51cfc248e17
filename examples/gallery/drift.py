"""
Drift by the index of the form
==============================

A joint can be an equation of positions (index 3), of velocities (index 2) or of accelerations (index 1): what is
differentiated drifts. GGL [GGL85] keeps positions and velocities together. The curves show the largest violation so
far, in Example C of [NS].
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

FORMS = ("index-3", "index-2", "index-1", "ggl")
t = np.linspace(0.0, 0.5, 300)
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), sharey=True, layout="constrained")
for form in FORMS:
    problem = rbdae.formulate(rbdae.models.linked_bodies(), form)
    solution = rbdae.solve(problem, (0.0, 0.5), solver="assimulo:Radau5DAE", rtol=1e-6, atol=1e-6, t_eval=t)
    for axis, drift in zip(axes, (solution.drift.position, solution.drift.velocity), strict=True):
        axis.semilogy(t[1:], np.maximum.accumulate(drift[1:]), label=form, lw=2)
axes[0].set(title="of the joint", xlabel="t in s", ylabel="largest violation in m, or in m/s")
axes[1].set(title="of its derivative", xlabel="t in s")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
