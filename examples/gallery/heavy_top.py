"""
The heavy top in four forms
===========================

A slightly unsymmetrical top precesses and nods on a fixed point: Example A of [NS]. Four forms of its equations are
solved with the same tolerance, and all of them follow one path. They differ in how well they keep the energy.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

FORMS = {"null-space": "rbdae:dop853", "index-0": "rbdae:dop853", "index-2": "sundials:ida", "ggl": "sundials:ida"}
runs = {}
for form, solver in FORMS.items():
    problem = rbdae.formulate(rbdae.models.heavy_top(), form)
    runs[form] = rbdae.solve(problem, (0.0, 2.0), solver=solver, rtol=1e-7, atol=1e-7)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
axis = runs["index-0"](np.linspace(0.0, 2.0, 2000))
tip = runs["index-0"].problem.states(np.linspace(0.0, 2.0, 2000), axis)["top"].orientation.as_matrix()[:, :, 2]
left.plot(tip[:, 0], tip[:, 1], lw=1)
left.set(title="tip of the axis, from above", xlabel="d3 along x", ylabel="d3 along y", aspect="equal")
for form, run in runs.items():
    energy = np.abs(run.energy.total / run.energy.total[0] - 1.0)
    right.semilogy(run.t, np.maximum.accumulate(energy) + 1e-16, label=f"{form}, {FORMS[form].split(':')[1]}")
right.set(title="largest relative change of the energy", xlabel="t in s", ylabel="|E / E(0) - 1|")
right.set_ylim(1e-13, 1e-3)
right.legend(ncols=2, loc="upper center", frameon=False)
