"""
Your own time loop around IDA
=============================

rbdae is a library of residuals and Jacobians: any solver can take them. Here IDA of scikit-sundae steps a DAE of
index 2 by hand, and rbdae reads the joint's reaction from the unknowns. The lower panel has the sizes of IDA's steps.
"""

import matplotlib.pyplot as plt
import numpy as np
from sksundae.ida import IDA

import rbdae
from rbdae_adapters import sksundae

problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-2", rotation="directors")
native = sksundae.ADAPTER.native(problem, "ida", rtol=1e-7, atol=1e-7)  # resfn, jacfn, what to leave untested, ...
solver = IDA(native.resfn, **native.options)
solver.init_step(native.t0, native.y0, native.yd0)
t, y = [native.t0], [native.y0]
while t[-1] < 0.2:
    result = solver.step(0.2, method="onestep", tstop=0.2)
    if not result.success:
        raise RuntimeError(result.message)
    t.append(float(result.t))
    y.append(result.y.copy())

force = problem.reactions(np.array(t), np.array(y))["spherical-1"]["first"].force
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
for name, component in zip("xyz", force.T, strict=True):
    upper.plot(t, 1e-3 * component, label=f"F{name}")
upper.set(ylabel="force in the joint in kN")
lower.semilogy(t[1:], np.diff(t), ".", ms=3)
lower.set(xlabel="t in s", ylabel="step size in s")
figure.legend(loc="outside right upper", frameon=False)
