"""
A long run that keeps energy and momentum
=========================================

Two bodies with a ball joint turn in space a hundred times. A general solver with a loose tolerance loses energy as if
there were damping; a conserving scheme ([BS09]) keeps energy and angular momentum to rounding, at any step size.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

system = rbdae.System(gravity=(0, 0, 0))
spin = (0.3, -0.2, 2.0 * np.pi)
a = system.add_body("a", mass=2.0, inertia=(0.4, 0.5, 0.6), position=(0.5, 0, 0), angular_velocity=spin)
b = system.add_body("b", mass=1.0, inertia=(0.2, 0.3, 0.35), position=(-0.5, 0.1, 0), angular_velocity=spin)
system.add_joint(rbdae.joints.Spherical(a, b, at_a=(-0.5, 0, 0), at_b=(0.5, -0.1, 0)))

RUNS = {
    "IDA, index 2, rtol 1e-5": ("index-2", {"solver": "sundials:ida", "rtol": 1e-5, "atol": 1e-5}),
    "DOP853, index 0, rtol 1e-8": ("index-0", {"solver": "rbdae:dop853", "rtol": 1e-8, "atol": 1e-8}),
    "energy-momentum, 50 steps a turn": ("hamiltonian-eliminated", {"solver": "rbdae:energy-momentum", "step": 0.02}),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for name, (form, how) in RUNS.items():
    solution = rbdae.solve(rbdae.formulate(system, form), (0.0, 100.0), t_eval=np.linspace(0.0, 100.0, 101), **how)
    energy, momentum = solution.energy.total, solution.momentum.angular
    changes = energy / energy[0] - 1.0, np.linalg.norm(momentum - momentum[0], axis=1) / np.linalg.norm(momentum[0])
    for axis, change in zip(axes, changes, strict=True):
        axis.loglog(solution.t[1:], np.maximum.accumulate(np.abs(change))[1:] + 1e-16, label=name)
for axis, name in zip(axes, ("energy", "angular momentum"), strict=True):
    axis.set(title=name, xlabel="turns")
axes[0].set(ylabel="largest relative change so far")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
