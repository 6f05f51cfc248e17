"""
Which reactions of a four-bar are unique
========================================

Four hinges in a plane loop all hold the plane: three of their equations are redundant, and only the forces in the
plane and the torque about it are determined. With a ball joint and a universal joint all reactions are unique.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae
from rbdae.joints import Revolute, Spherical, Universal

POINTS = np.array(((0, 0, 0), (0, 0.2, 0), (0.7, 0.5, 0), (0.6, 0, 0)))
LOOPS = {"four hinges": [Revolute] * 4, "two hinges, ball, universal": [Revolute, Spherical, Universal, Revolute]}
figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
for axis, (title, kinds) in zip(axes, LOOPS.items(), strict=True):
    system = rbdae.System(gravity=(0, -9.81, 0))
    bars = [system.ground]
    for k, middle in enumerate((POINTS[:-1] + POINTS[1:]) / 2):
        bars.append(system.add_body(f"bar{k}", mass=1, inertia=(0.01,) * 3, center_of_mass=middle))
    for k, kind in enumerate(kinds):
        place = {"at_a": POINTS[k], "at_b": POINTS[k], "name": f"{kind.__name__} {'ABCD'[k]}"}
        arms = {"axis_a": (0, 0, 1), "axis_b": (0.7, 0.5, 0)} if kind is Universal else {}
        system.add_joint(kind(bars[k], [*bars[1:], system.ground][k], **place, **arms))
    problem = rbdae.formulate(system, "index-0", redundant="minimum-norm")
    solution = rbdae.solve(problem, (0.0, 1.0), rtol=1e-8, projection=True)
    table = []
    for sides in solution.reactions.values():
        side = next(iter(sides.values()))
        table.append([*side.unique_force, *side.unique_torque])
    axis.imshow(table, cmap="RdYlGn", vmin=-0.6, vmax=1.6, aspect="auto")
    axis.set_xticks(range(6), ["Fx", "Fy", "Fz", "Mx", "My", "Mz"])
    axis.set_yticks(range(4), [*solution.reactions])
    axis.set_title(title)
figure.suptitle("green: unique")
