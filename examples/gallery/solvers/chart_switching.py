"""
Euler angles through their singularity
======================================

Euler angles of the sequence 3-1-3 are singular where the middle one is 0 or 180 degrees. A run can stop before, or
switch: then angles are measured from the attitude reached, the middle one is 90 degrees again, and the motion goes on.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

system, t = rbdae.models.free_body((8.0, 1.0, 0.5)), np.linspace(0.0, 2.0, 600)
runs = {}
for rotation, reference, then in (("quaternion", "space", "stop"), ("euler-313", "start", "switch")):
    problem = rbdae.formulate(system, "index-0", rotation=rotation, reference=reference)
    runs[rotation] = rbdae.solve(problem, (0.0, 2.0), rtol=1e-9, atol=1e-9, t_eval=t, on_singularity=then)
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 4.8), sharex=True, layout="constrained")
for (rotation, solution), width in zip(runs.items(), (5, 1.5), strict=True):
    upper.plot(t, solution.states["body"].orientation.as_matrix()[:, 2, 2], lw=width, label=rotation)
lower.plot(t, np.degrees(solution.y[:, problem.labels.index("body.theta2")]), ".", ms=2, color="tab:orange")
upper.set(ylabel="third component of d3")
lower.set(xlabel="t in s", ylabel="middle angle in degrees")
figure.legend(loc="outside upper center", ncols=2, frameon=False)
