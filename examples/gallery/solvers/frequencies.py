"""
Frequencies by eigenvalues
==========================

Near its rest a chain of ten links swings in ten modes. The Jacobian of the right-hand side in minimal velocities has
them as eigenvalues: it is exact, without differences. The frequencies of a hanging rope are zeros of Bessel's function.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import jn_zeros

import rbdae

N, LENGTH = 10, 1.0
system = rbdae.System(gravity=(0, 0, -9.81))
before, size = system.ground, LENGTH / N
for k in range(N):
    J = size**3 / 12.0
    top = (0.0, 0.0, -k * size)
    link = system.add_body(f"link{k}", mass=size, inertia=(J, J, 0.1 * J), center_of_mass=(0, 0, -(k + 0.5) * size),
                           position=(0, 0, 0), velocity=(0, 0, 0), angular_velocity=(0, 0, 0))  # fmt: skip
    system.add_joint(rbdae.joints.Revolute(before, link, at_a=top, at_b=top, axis_a=(0, 1, 0), axis_b=(0, 1, 0)))
    before = link

problem = rbdae.formulate(system, "null-space", rotation="rotation-vector")
values = np.linalg.eigvals(problem.rhs_jacobian(0.0, problem.y0))
found = np.sort(values.imag[values.imag > 1e-3]) / (2.0 * np.pi)
rope = jn_zeros(0, N) / 2.0 * np.sqrt(9.81 / LENGTH) / (2.0 * np.pi)
figure, axis = plt.subplots(figsize=(7.5, 4), layout="constrained")
axis.plot(range(1, len(found) + 1), found, "o", label="ten links")
axis.plot(range(1, N + 1), rope, "k:", lw=1.2, label="rope")
axis.set(xlabel="mode", ylabel="frequency in Hz")
figure.legend(loc="outside right center", frameon=False)
