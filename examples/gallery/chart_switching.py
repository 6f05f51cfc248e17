"""
Euler angles through their singularity
======================================

Euler angles of the sequence 3-1-3 are singular where the axis of a top is vertical. A run can stop there, or switch:
then the angles are measured from the attitude reached, and the motion goes on as that in quaternions.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

t = np.linspace(0.0, 2.0, 600)
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 4.8), sharex=True, layout="constrained")
for rotation, look in (("quaternion", {"lw": 4, "alpha": 0.4}), ("euler-313", {"color": "tab:red"})):
    angles = rotation == "euler-313"  # at the start they are measured from that attitude: there they are regular
    form = {"rotation": rotation, "reference": "start" if angles else "space"}
    problem = rbdae.formulate(rbdae.models.free_body((3.0, 4.0, 5.0)), "null-space", **form)
    way = {"on_singularity": "switch" if angles else "stop"}
    solution = rbdae.solve(problem, (0.0, 2.0), rtol=1e-9, atol=1e-9, t_eval=t, **way)
    upper.plot(t, solution.states["body"].orientation.as_matrix()[:, 2, 2], label=rotation, **look)
angle = solution.y[:, problem.labels.index(next(label for label in problem.labels if "theta2" in label))]
lower.plot(t, np.degrees(angle), ".", ms=2, color="tab:red")
upper.set(ylabel="third component of d3")
lower.set(xlabel="t in s", ylabel="middle angle in degrees")
figure.legend(loc="outside right upper", frameon=False)
