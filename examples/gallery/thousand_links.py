"""
A chain of a thousand links
===========================

A thousand rods hang on hinges, and fall from the horizontal. The equations of a tree are solved link by link, so the
cost of an evaluation grows only in proportion to the number of links. The picture shows the chain every 1.5 s.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

N = 1000
system = rbdae.models.chain(N, planar=True, length=100.0 / N, mass=100.0 / N)
problem = rbdae.formulate(system, "null-space")
t = np.linspace(0.0, 4.5, 4)
solution = rbdae.solve(problem, (0.0, 4.5), rtol=1e-3, atol=1e-3, t_eval=t, dense_output=False)

figure, axis = plt.subplots(figsize=(8, 6), layout="constrained")
places = np.array([solution.states[f"link{k + 1}"].center_of_mass for k in range(N)])
for k, time in enumerate(t):
    axis.plot(places[:, k, 0], places[:, k, 2], lw=1.5, label=f"{time:g} s")
axis.set(xlabel="x in m", ylabel="z in m", aspect="equal", title="100 m of chain, 1,000 links")
figure.legend(loc="outside right center", frameon=False)
