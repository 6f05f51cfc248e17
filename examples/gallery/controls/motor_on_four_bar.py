"""
A motor with a controller on a four-bar
=======================================

A direct-current motor under a PI controller turns a four-bar linkage, whose load varies with the angle. Circuit,
controller and mechanism are one system of equations.
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae
from rbdae.actuators import PI, DCMotor
from rbdae.joints import Revolute

POINTS = np.array(((0, 0, 0), (0, 0.2, 0), (0.7, 0.5, 0), (0.6, 0, 0)))
system = rbdae.System(gravity=(0, -9.81, 0))
bars = [system.ground]
for name, p, q in zip(("crank", "coupler", "rocker"), POINTS[:-1], POINTS[1:], strict=True):
    size = np.linalg.norm(q - p)
    bars.append(system.add_body(name, mass=3 * size, inertia=(size**3 / 4,) * 3, center_of_mass=(p + q) / 2,
                                position=(0, 0, 0), angular_velocity=(0, 0, 0)))  # fmt: skip
pins = [Revolute(bars[k], [*bars[1:], system.ground][k], at_a=p, at_b=p, name="ABCD"[k]) for k, p in enumerate(POINTS)]
for pin in pins:
    system.add_joint(pin)
control = system.add_block(PI(measured=pins[0].rate, setpoint=lambda t: 4.0, kp=20.0, ki=60.0, kb=5.0, low=-48.0,
                              high=48.0, name="control"))  # fmt: skip
system.add_force(DCMotor(pins[0], voltage=control.out, resistance=1.5, inductance=0.02, constant=1.2, name="motor"))

problem = rbdae.formulate(system, "index-0", redundant="minimum-norm")
t = np.linspace(0.0, 4.0, 600)
solution = rbdae.solve(problem, (0.0, 4.0), rtol=1e-7, atol=1e-7, projection=True, t_eval=t)
figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 4.6), sharex=True, layout="constrained")
upper.plot(t, solution.joints["A"].rate)
upper.axhline(4.0, color="black", ls=":", lw=1)
upper.set(ylabel="speed of the crank in rad/s")
lower.plot(t, solution.forces["motor"].current)
lower.set(xlabel="t in s", ylabel="current in A")
