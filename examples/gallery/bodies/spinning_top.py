"""
A spinning top and its nutation
===============================

A top with a spin of 50 rad/s is dropped from a tilt of 20 degrees. It nods between two tilts that its first integrals
fix, and draws cusps where it turns back: section 11.6 of [GR95].
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

problem = rbdae.formulate(rbdae.models.rotations_top(case=1), "null-space")
t = np.linspace(0.0, 2.0, 800)
solution = rbdae.solve(problem, (0.0, 2.0), rtol=1e-9, atol=1e-9, t_eval=t)

top = solution.states["top"]
tilt = np.degrees(np.arccos(top.orientation.as_matrix()[:, 2, 2]))
exact = rbdae.closed_form.SymmetricTop(0.8 + 5.0 * 1.3**2, 1.8, 5.0 * 9.81 * 1.3)
limits = np.degrees(exact.nutation_limits(*exact.integrals(top.orientation[0], top.angular_velocity[0])))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(top.position[:, 0], top.position[:, 1])
left.set(title="centre of mass, from above", xlabel="x in m", ylabel="y in m", aspect="equal")
right.plot(t, tilt)
for limit in limits:
    right.axhline(limit, color="black", ls=":", lw=1)
right.set(title="tilt; dotted: limits by the first integrals", xlabel="t in s", ylabel="tilt in degrees")

film = solution.animate(duration=3.0, fps=8, size=(5, 4.5), dpi=72)
