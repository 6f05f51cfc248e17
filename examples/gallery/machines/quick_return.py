"""
The quick return of a shaper
============================

A crank drives a lever through a die in a slot, and a link drives the ram. It cuts slowly and returns fast.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae
from rbdae.joints import Prismatic, Revolute

tilt = np.arctan2(0.12, 0.30)  # of the lever, when the crank points to the right
pivot, origin, pin = np.array((0.0, -0.3, 0.0)), np.zeros(3), np.array((0.12, 0.0, 0.0))
along = np.array((np.sin(tilt), np.cos(tilt), 0.0))
head = pivot + 0.75 * along
eye = head + np.array((np.sqrt(0.25**2 - (0.4 - head[1]) ** 2), 0.4 - head[1], 0.0))
system = rbdae.System(gravity=(0, -9.81, 0))


def body(name, mass, p, q, **more):
    J = mass * (q - p) @ (q - p) / 12.0 + 1e-3
    return system.add_body(name, mass=mass, inertia=(J,) * 3, center_of_mass=(p + q) / 2, position=(0, 0, 0), **more)


crank, die = body("crank", 4, origin, pin, angular_velocity=(0, 0, 4)), body("die", 0.5, pin, pin)
lever, link, ram = body("lever", 8, pivot, head), body("link", 2, head, eye), body("ram", 15, eye, eye)
hinges = ((system.ground, crank, origin), (crank, die, pin), (system.ground, lever, pivot), (lever, link, head))
bearing, *_ = (system.add_joint(Revolute(a, b, at_a=p, at_b=p)) for a, b, p in (*hinges, (link, ram, eye)))
system.add_joint(Prismatic(lever, die, at_a=pin, at_b=pin, axis_a=along, axis_b=along))
system.add_joint(Prismatic(system.ground, ram, at_a=eye, at_b=eye, axis_a=(1, 0, 0), name="guide"))
system.add_force(rbdae.forces.Motor(bearing, torque=lambda t, angle, rate: 60.0 - 12.0 * rate))

problem = rbdae.formulate(system, "index-0", redundant="minimum-norm")
t = np.linspace(0.0, 3.0, 400)
solution = rbdae.solve(problem, (0.0, 3.0), rtol=1e-7, projection=True, t_eval=t)
figure, axis = plt.subplots(figsize=(8, 3.4), layout="constrained")
axis.plot(t, solution.joints["guide"].rate)
axis.set(xlabel="t in s", ylabel="velocity of the ram in m/s")
