"""
Work and precision: null space beside index 0
=============================================

The same motion, Example A of [NS], by ODEs in minimal velocities (null space) and with eliminated multipliers
(index 0): evaluations of the right-hand side, beside the error at the end, for tolerances from 1e-4 to 1e-10.
"""

import matplotlib.pyplot as plt

import rbdae

found = rbdae.compare(
    rbdae.models.heavy_top(),
    1.0,
    formulations=["null-space", "index-0"],
    rotations=["quaternion", "directors"],
    velocities=["angular"],
    solvers=["rbdae:dop853"],
    tolerances=[1e-4, 1e-6, 1e-8, 1e-10],
    repeats=1,
)
table = found.frame
figure, axis = plt.subplots(figsize=(8, 4.2), layout="constrained")
for (form, rotation), rows in table.groupby(["formulation", "rotation"]):
    style = "o-" if form == "index-0" else "s--"
    axis.loglog(rows["evaluations"], rows["error"], style, label=f"{form}, {rotation}")
axis.set(xlabel="evaluations of the right-hand side", ylabel="error at the end")
figure.legend(loc="outside right center", frameon=False)
