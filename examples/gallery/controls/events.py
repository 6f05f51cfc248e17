"""
Events by quantity
==================

A motor turns a pendulum over. Events watch quantities of joints by name, in machine code: here when the angle has
passed each full turn, and when the rod is slowest. The last event ends the run.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

system = rbdae.System(gravity=(0, 0, -9.81))
bob = system.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1), angular_velocity=(0, 6.5, 0))
pin = system.add_joint(rbdae.joints.Revolute(system.ground, bob, at_b=(0, 0, 1), axis_a=(0, 1, 0), name="pin"))
system.add_force(rbdae.forces.Motor(pin, torque=1.0))

turns = [rbdae.Event(pin.angle, above=2.0 * np.pi * k, terminal=k == 4) for k in (1, 2, 3, 4)]
slowest = rbdae.Event(pin.acceleration, above=0.0)
problem = rbdae.formulate(system, "index-0")
solution = rbdae.solve(problem, (0.0, 9.0), rtol=1e-9, atol=1e-9, events=[*turns, slowest])

t = np.linspace(0.0, solution.t[-1], 600)
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 4.8), sharex=True, layout="constrained")
upper.plot(t, solution.quantity(pin.angle, t) / (2.0 * np.pi))
upper.plot([event.t[0] for event in solution.events[:4]], (1, 2, 3, 4), "o", color="tab:red")
upper.set(ylabel="turns")
lower.plot(t, solution.quantity(pin.rate, t))
at = solution.events[4].t
lower.plot(at, solution.quantity(pin.rate, at), "o", color="black")
lower.set(xlabel="t in s", ylabel="rate in rad/s")
