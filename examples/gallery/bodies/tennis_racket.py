"""
The tennis racket that turns over
=================================

A body that spins about its middle axis of inertia is unstable: it turns over, again and again, as Dzhanibekov saw in
orbit. The smaller the disturbance, the longer it waits: Example B of [NS]. The film shows a racket at 6 rad/s.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
t = np.linspace(0.0, 2.0, 1000)
for disturbance in (1.0, 0.1, 1e-3):
    problem = rbdae.formulate(rbdae.models.tennis_racket(disturbance), "index-0")
    solution = rbdae.solve(problem, (0.0, 2.0), rtol=1e-10, atol=1e-10, t_eval=t)
    axis.plot(t, solution.states["racket"].angular_velocity[:, 0], label=f"{disturbance:g} rad/s")
axis.set(title="spin about the middle axis", xlabel="t in s", ylabel="first component of Omega in rad/s")
figure.legend(title="disturbance", loc="outside right center", frameon=False)

system = rbdae.System(gravity=(0, 0, 0))
system.add_body("racket", mass=0.33, inertia=(0.0164, 0.0012, 0.0175), position=(0, 0, 0), velocity=(0, 0, 0),
                angular_velocity=(6.0, 0.01, 0.01))  # fmt: skip
solution = rbdae.solve(rbdae.formulate(system, "index-0"), (0.0, 4.0), rtol=1e-9, atol=1e-9)
film = solution.animate(duration=4, fps=9, size=(4.5, 4), dpi=72, azimuth=-30, traces={"tip": ("racket", (0, 0.38, 0))})
