"""
A chain of a thousand links
===========================

A thousand rods with ball joints hang at one end and fall from the horizontal: 7,000 positions and 6,000 velocities in
an ODE of index 0, whose right-hand side takes as long as a thousand small ones. The loose end falls freely until the
wave from the hinge reaches it.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

system = rbdae.models.chain(1000, length=0.1)
problem = rbdae.formulate(system, "index-0")
times = np.linspace(0.0, 1.0, 6)
solution = rbdae.solve(problem, (0.0, 1.0), solver="rbdae:dop853", t_eval=times, dense_output=False)
energy = solution.energy.total

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
bodies = [solution.states[f"link{k}"].position for k in range(1, 1001)]
for k, t in enumerate(times):
    axes.plot([each[k, 0] for each in bodies], [each[k, 2] for each in bodies], label=f"{t:.1f} s")
axes.set(
    xlabel="x, m", ylabel="z, m", title=f"{solution.stats.steps} steps, {solution.stats.seconds:.1f} s of processor"
)
axes.legend(title="time", loc="lower center", ncols=3)
print(f"energy: {np.ptp(energy) / np.ptp(solution.energy.kinetic):.1e} of what has become motion")
print(f"loose end: {solution.states['link1000'].position[-1, 2]:.4f} m, free fall: {-0.5 * 9.81:.4f} m")
