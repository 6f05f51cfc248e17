"""Andrews' squeezing mechanism: seven bodies in the plane."""

from __future__ import annotations

import math
from typing import Final, TypeAlias

from rbdae import forces
from rbdae.body import Body
from rbdae.joints import PointOnLine, Revolute
from rbdae.system import System

Point: TypeAlias = tuple[float, float]

# the angles (beta, Theta, gamma, Phi, delta, Omega, epsilon) at the start, at rest
START: Final = (
    -0.0617138900142764496358948458001,
    0.0,
    0.455279819163070380255912382449,
    0.222668390165885884674473185609,
    0.487364979543842550225598953530,
    -0.222668390165885884674473185609,
    1.23054744454982119249735015568,
)


def andrews() -> System:
    """Seven bodies on hinges, three loops, a spring and a motor: bodies "K1" .. "K7", for 0.03 s.

    There is no gravity. The mechanism is plane, so each body hangs on one hinge, and two plane equations close each of
    the three loops. The angle about the third axis is beta for K1, beta + Theta for K2, gamma for K3, Phi +
    delta for K4, delta for K5, Omega + epsilon for K6, epsilon for K7, where (beta, Theta, gamma, Phi, delta, Omega,
    epsilon) at 0.03 s are (15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
    0.5244099658805304, 0.5347301163226948, 1.048080741042263).

    Sources: [HW96], VI.9; problem andrews of [IVP].
    """
    beta, theta, gamma, phi, delta, omega, epsilon = START
    d, da, e, ea = 0.028, 0.0115, 0.02, 0.01421
    rr, ra, ss, sa, sb, sc, sd = 0.007, 0.00092, 0.035, 0.01874, 0.01043, 0.018, 0.02
    ta, tb, u, ua, ub, zf, zt, fa = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
    A, B, C, O = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072), (0.0, 0.0)

    system = System(gravity=(0.0, 0.0, 0.0))

    def body(number: int, mass: float, inertia: float, origin: Point, angle: float, center: Point) -> Body:
        return system.add_body(
            f"K{number}",
            mass=mass,
            inertia=3 * (inertia,),
            center_of_mass=_at(center),
            position=_at(origin),
            orientation=(math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)),
        )

    # the origin of each body frame is the body's own hinge; K4 hangs on K5, K6 on K7
    F, H, G = _along(O, beta, (rr, 0.0)), _along(A, delta, (zt, 0.0)), _along(A, epsilon, (0.0, -u))
    k1 = body(1, 0.04325, 2.194e-6, O, beta, (ra, 0.0))
    k2 = body(2, 0.00365, 4.410e-7, F, beta + theta, (-da, 0.0))
    k3 = body(3, 0.02373, 5.255e-6, B, gamma, (sb, -sa))
    k4 = body(4, 0.00706, 5.667e-7, H, phi + delta, (0.0, ea - e))
    k5 = body(5, 0.07050, 1.169e-5, A, delta, (ta, tb))
    k6 = body(6, 0.00706, 5.667e-7, G, omega + epsilon, (zf - fa, 0.0))
    k7 = body(7, 0.05498, 1.912e-5, A, epsilon, (-ub, -ua))
    ground = system.ground
    system.add_joint(Revolute(ground, k1, name="O"))
    system.add_joint(Revolute(k1, k2, at_a=(rr, 0.0, 0.0), name="F"))
    system.add_joint(Revolute(ground, k3, at_a=_at(B), name="B"))
    system.add_joint(Revolute(ground, k5, at_a=_at(A), name="A5"))
    system.add_joint(Revolute(k5, k4, at_a=(zt, 0.0, 0.0), name="H"))
    system.add_joint(Revolute(ground, k7, at_a=_at(A), name="A7"))
    system.add_joint(Revolute(k7, k6, at_a=(0.0, -u, 0.0), name="G"))
    for arm, end in ((k3, (0.0, -ss, 0.0)), (k4, (0.0, -e, 0.0)), (k6, (zf, 0.0, 0.0))):
        system.add_joint(PointOnLine(k2, arm, at_a=(-d, 0.0, 0.0), at_b=end, name=f"E{arm.name[1:]}"))
    system.add_force(
        forces.SpringDamper(k3, ground, at_a=(sd, -sc, 0.0), at_b=_at(C), stiffness=4530.0, length=0.07785)
    )
    system.add_force(forces.Torque(k1, torque=(0.0, 0.0, 0.033)))
    return system


def _at(point: Point) -> tuple[float, float, float]:
    return (*point, 0.0)


def _along(point: Point, angle: float, arm: Point) -> Point:
    c, s = math.cos(angle), math.sin(angle)
    return point[0] + c * arm[0] - s * arm[1], point[1] + s * arm[0] + c * arm[1]
