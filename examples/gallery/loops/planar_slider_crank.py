"""
A slider crank beside SUNDIALS' own numbers
===========================================

The slider crank of SUNDIALS' example idaSlCrank, with a spring and damper between its links. rbdae writes its
equations from bodies and joints; the dots are what the example prints from equations derived by hand.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

PRINTED = {2: (0.57904, 1.3803, -0.27715), 5: (-1.4300, 0.93903, 0.51790), 10: (1.2757, 1.0236, -0.49881)}
problem = rbdae.formulate(rbdae.models.planar_slider_crank(), "index-2")
t = np.linspace(0.0, 10.0, 500)
solution = rbdae.solve(problem, (0.0, 10.0), solver="sundials:ida", rtol=1e-8, atol=1e-8, t_eval=t)

states = solution.states
crank, rod = (np.unwrap(states[name].orientation.as_euler("zyx")[:, 0]) for name in ("crank", "rod"))
curves = {"crank angle in rad": crank, "slider position in m": states["rod"].position[:, 0], "rod angle in rad": rod}
figure, axes = plt.subplots(3, 1, figsize=(7, 5.5), sharex=True, layout="constrained")
for k, (axis, (name, values)) in enumerate(zip(axes, curves.items(), strict=True)):
    axis.plot(t, values)
    axis.plot([*PRINTED], [row[k] for row in PRINTED.values()], "o", color="black", ms=5)
    axis.set(ylabel=name)
axes[-1].set(xlabel="t in s")
