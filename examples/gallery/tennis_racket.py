"""
The tennis racket that turns over
=================================

A body that spins about its middle axis of inertia is unstable: it turns over, again and again, as Dzhanibekov saw in
orbit. The smaller the disturbance, the longer it waits: Example B of [NS].
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
for disturbance in (1.0, 0.1, 1e-3):
    problem = rbdae.formulate(rbdae.models.tennis_racket(disturbance), "index-0")
    solution = rbdae.solve(problem, (0.0, 2.0), rtol=1e-10, atol=1e-10)
    t = np.linspace(0.0, 2.0, 1000)
    axis.plot(t, problem.states(t, solution(t))["racket"].angular_velocity[:, 0], label=f"{disturbance:g} rad/s")
axis.set(title="spin about the middle axis", xlabel="t in s", ylabel="first component of Omega in rad/s")
figure.legend(title="disturbance", loc="outside right center", frameon=False)

slow = rbdae.models.tennis_racket(0.01, spin=6.0)  # for the eye
shown = rbdae.solve(rbdae.formulate(slow, "index-0"), (0.0, 12.0), rtol=1e-9, atol=1e-9)
film = shown.animate(duration=4.0, fps=10, size=(4.5, 4), dpi=72, traces={"tip": ("racket", (1.0, 0, 0))})
