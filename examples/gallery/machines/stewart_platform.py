"""
A Stewart platform
==================

Six legs with prescribed lengths carry a platform round a tilted circle while it turns. The lengths come from the
motion that is wanted; rbdae returns the forces that the legs push or pull with.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

system = rbdae.System(gravity=(0, 0, -9.81))
platform = system.add_body("platform", mass=50.0, inertia=(2.0, 2.0, 4.0), position=(0.2, 0.0, 0.9))


def length(t, base, top):
    """Distance of the ends of a leg, for the centre on a circle and a yaw of 0.3 sin 2t."""
    c, s = np.cos(0.3 * np.sin(2.0 * t)), np.sin(0.3 * np.sin(2.0 * t))
    x = 0.2 * np.cos(2.0 * t) + c * top[0] - s * top[1] - base[0]
    y = 0.2 * np.sin(2.0 * t) + s * top[0] + c * top[1] - base[1]
    return np.sqrt(x * x + y * y + (0.9 + 0.1 * np.sin(2.0 * t)) ** 2)


for k in range(6):
    low, high = (np.pi / 3.0 * (2 * (k // 2) + side) for side in ((0.2, 1.8)[k % 2], (0.8, 1.2)[k % 2]))
    base, top = (0.8 * np.cos(low), 0.8 * np.sin(low), 0.0), (0.5 * np.cos(high), 0.5 * np.sin(high), 0.0)
    law = lambda t, base=base, top=top: length(t, base, top)  # noqa: E731
    system.add_joint(rbdae.drives.DrivenRod(system.ground, platform, law, at_a=base, at_b=top, name=f"leg {k + 1}"))

t = np.linspace(0.0, np.pi, 300)
solution = rbdae.solve(rbdae.formulate(system, "index-0"), (0.0, np.pi), rtol=1e-8, projection=True, t_eval=t)
figure, axis = plt.subplots(figsize=(8, 3.8), layout="constrained")
for k in range(6):
    axis.plot(t, -solution.joints[f"leg {k + 1}"].force, label=f"leg {k + 1}")
axis.set(xlabel="t in s", ylabel="force of compression in N")
figure.legend(loc="outside right center", frameon=False)
film = solution.animate(duration=4.0, fps=10, size=(5.5, 4.5), dpi=72)
