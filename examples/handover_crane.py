"""The quickest way of a crane's load over 4 m, at rest before and after, by CasADi's Opti on the equations of a loop.

A trolley carries a beam on two rods: with them it is a loop, and the beam tilts when it swings. The force on the
trolley is bounded. The null-space form has the motion as an ODE of all positions and two independent velocities;
CasADi takes it as SX functions with their derivatives, and IPOPT finds the duration and the force. rbdae then runs
what was found. It takes 2.67 s, nearly all of them at the bounds of the force.

Needs `pip install "rbdae[handover]"`.
"""

import casadi
import numpy as np

import rbdae
from rbdae.joints import Prismatic, Revolute

N, SHIFT, MOST = 40, 4.0, 60.0  # intervals of constant force; m; N

system = rbdae.System(gravity=(0, -9.81, 0))
trolley = system.add_body("trolley", mass=10.0, inertia=(1, 1, 1))
rods = [
    system.add_body(f"rod {side}", mass=0.5, inertia=(0.1, 0.1, 0.1), position=(0.75 * x, -1.0, 0))
    for side, x in (("left", -1), ("right", 1))
]
beam = system.add_body("beam", mass=5.0, inertia=(0.1, 1.0, 1.0), position=(0, -2, 0))
rail = system.add_joint(Prismatic(system.ground, trolley, axis_a=(1, 0, 0), name="rail"))
for rod, x in zip(rods, (-1, 1), strict=True):
    top, low, axis = np.array((0.5 * x, 0, 0)), np.array((x, -2, 0)), (0, 0, 1)
    system.add_joint(Revolute(trolley, rod, at_a=top, at_b=top - rod.position, axis_a=axis))
    system.add_joint(Revolute(rod, beam, at_a=low - rod.position, at_b=low - beam.position, axis_a=axis))
system.add_force(rbdae.forces.Motor(rail, force=system.add_input("force", unit="N")))
problem = rbdae.formulate(system, "null-space", rotation="bryant-321", redundant="minimum-norm")
model = problem.casadi()

# one interval: two steps of the classical Runge-Kutta method
y, u, h = casadi.SX.sym("y", problem.n), casadi.SX.sym("u"), casadi.SX.sym("h")
end = y
for _ in range(2):
    k1 = model.rhs(0, end, u, model.p0)
    k2 = model.rhs(0, end + h / 4 * k1, u, model.p0)
    k3 = model.rhs(0, end + h / 4 * k2, u, model.p0)
    k4 = model.rhs(0, end + h / 2 * k3, u, model.p0)
    end = end + h / 12 * (k1 + 2 * k2 + 2 * k3 + k4)
step = casadi.Function("step", [y, u, h], [end])

opti = casadi.Opti()
Y, U, T = opti.variable(problem.n, N + 1), opti.variable(1, N), opti.variable()
opti.minimize(T)
opti.subject_to(Y[:, 1:] == step.map(N)(Y[:, :-1], U, T / N))
opti.subject_to(opti.bounded(-MOST, U, MOST))
opti.subject_to(opti.bounded(1.0, T, 10.0))
opti.subject_to(Y[:, 0] == problem.y0)
place = {name: k for k, name in enumerate(problem.labels)}
for label in ("trolley.x", "beam.x"):
    opti.subject_to(Y[place[label], -1] == SHIFT)
opti.subject_to(Y[problem.layout.v, -1] == 0)
opti.set_initial(T, 5.0)
opti.set_initial(Y, np.tile(problem.y0[:, None], N + 1))
opti.solver("ipopt", {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"})
found = opti.solve()
duration, force = found.value(T), found.value(U)
print(
    f"{SHIFT} m in {duration:.3f} s; the force is at its bound in {(abs(force) > 0.99 * MOST).sum()} of {N} intervals"
)
times = np.linspace(0.0, duration, N + 1)
table = rbdae.Table(times, [*force, 0.0], "previous")
run = rbdae.solve(problem, (0.0, duration), inputs={"force": table}, rtol=1e-8, atol=1e-8)
body = problem.states(run.t[-1], run.y[-1])["beam"]
print(f"rbdae: the beam is at {body.position[0]:.4f} m and moves at {np.linalg.norm(body.velocity):.1e} m/s")
