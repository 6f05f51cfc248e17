"""
The heavy top by two rotations and two solvers
==============================================

A slightly unsymmetrical top precesses and nods on a fixed point: Example A of [NS]. Quaternions and directors, an
explicit solver and IDA give one path at the same tolerance. They differ in how well they keep the energy.
"""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np

import rbdae

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
t = np.linspace(0.0, 5.0, 1500)
for k, (solver, rotation) in enumerate(product(("rbdae:dop853", "sundials:ida"), ("quaternion", "directors"))):
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0", rotation=rotation)
    solution = rbdae.solve(problem, (0.0, 5.0), solver=solver, rtol=1e-7, atol=1e-7, t_eval=t)
    tip = solution.states["top"].orientation.as_matrix()[:, :, 2]
    left.plot(tip[:, 0], tip[:, 1], lw=5 - 1.3 * k)
    energy = np.abs(solution.energy.total / solution.energy.total[0] - 1.0)
    right.semilogy(t[1:], np.maximum.accumulate(energy)[1:], label=f"{rotation}, {solver.split(':')[1]}")
left.set(title="tip of the axis, from above", xlabel="d3 along x", ylabel="d3 along y", aspect="equal")
right.set(title="largest relative change of the energy", xlabel="t in s", ylabel="|E / E(0) - 1|")
figure.legend(loc="outside lower center", ncols=4, frameon=False)
