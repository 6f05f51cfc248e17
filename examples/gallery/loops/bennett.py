"""
Bennett's linkage
=================

Four hinges in space close a loop that should be rigid by its count of equations. It moves because opposite links are
equal, and sin(twist) / length is the same for all four: then three of the joint equations follow from the others.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae
from rbdae.joints import Revolute

# a skew quadrilateral with a line of symmetry; each hinge is normal to its two links
side, up = np.array((np.cos(1.0), np.sin(1.0), 0.0)), np.array((0.0, 0.0, 0.5))
corners = [np.array((1.0, 0.0, 0.0)), side + up, np.array((-1.0, 0.0, 0.0)), up - side]
system = rbdae.System(gravity=(0, 0, -9.81))
links = [system.ground]
for k in (1, 2, 3):  # the frames of bodies are that of space at the start
    p, u = corners[k], corners[(k + 1) % 4] - corners[k]
    inertia = (u @ u * np.eye(3) - np.outer(u, u)) / 12.0 + 1e-3 * np.eye(3)
    links.append(system.add_body(f"link{k}", mass=1.0, inertia=inertia, center_of_mass=p + u / 2, position=(0, 0, 0)))
for k, p in enumerate(corners):
    axis = np.cross(corners[k - 1] - p, corners[(k + 1) % 4] - p)
    system.add_joint(Revolute(links[k - 1], links[k], at_a=p, at_b=p, axis_a=axis, axis_b=axis, name=f"hinge{k}"))

problem = rbdae.formulate(system, "index-0", redundant="minimum-norm")
t = np.linspace(0.0, 4.0, 200)
solution = rbdae.solve(problem, (0.0, 4.0), rtol=1e-7, atol=1e-7, projection=True, t_eval=t)
figure, axis = plt.subplots(figsize=(8, 3.4), layout="constrained")
for name, joint in solution.joints.items():
    axis.plot(t, np.degrees(joint.angle), label=name, ls="-" if name in ("hinge0", "hinge1") else "--", lw=2)
axis.set(xlabel="t in s", ylabel="angle of the hinge in degrees")
figure.legend(loc="outside right center", frameon=False)
film = solution.animate(duration=3.0, fps=10, size=(6, 4.5), dpi=72, traces=["link2"])
