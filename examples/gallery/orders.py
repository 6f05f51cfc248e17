"""
The orders of conserving schemes
================================

Errors of schemes with steps of one size, for the free body of [BS09], against its motion in closed form. A line of
slope two is of second order; composed steps are of order four, and keep the same quantities.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

HAMILTONIAN = {"formulation": "hamiltonian-eliminated", "velocity": "momentum"}
SCHEMES = {
    "energy-momentum": (HAMILTONIAN, {"solver": "rbdae:energy-momentum"}),
    "energy-momentum, order 4": (HAMILTONIAN, {"solver": "rbdae:energy-momentum", "order": 4}),
    "variational": (HAMILTONIAN, {"solver": "rbdae:variational"}),
    "mid-point": ({"formulation": "index-0"}, {"solver": "rbdae:midpoint"}),
}
system, steps = rbdae.models.free_body(), 0.01 / 2.0 ** np.arange(4)
exact = rbdae.solve(rbdae.formulate(system, "index-0"), (0.0, 0.5), solver="rbdae:dop853", rtol=1e-13, atol=1e-13)
wanted = exact.states["body"].orientation[-1].as_matrix()
figure, axis = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
for name, (form, how) in SCHEMES.items():
    problem = rbdae.formulate(system, **form)
    runs = [rbdae.solve(problem, (0.0, 0.5), step=step, **how) for step in steps]
    errors = [np.abs(run.states["body"].orientation[-1].as_matrix() - wanted).max() for run in runs]
    axis.loglog(1e3 * steps, errors, "o--" if name == "mid-point" else "o-", label=name)
for order, size in ((2, 3.0), (4, 0.3)):
    axis.loglog(1e3 * steps, size * (steps / steps[0]) ** order * 1e-3, "k:", lw=1)
axis.set_xticks(1e3 * steps, [f"{1e3 * step:g}" for step in steps])
axis.set_xticks([], minor=True)
axis.set(xlabel="step in ms", ylabel="largest error of the rotation matrix", title="dotted: slopes two and four")
figure.legend(loc="outside right center", frameon=False)
