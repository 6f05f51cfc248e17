"""Mechanisms in loops: Andrews' squeezing mechanism; of [IFToMM] the N-four-bar, Bricard's mechanism, the stiff
flyball governor and the spatial slider crank; SUNDIALS' plane slider crank."""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np

from rbdae import _check, forces
from rbdae._arrays import cross
from rbdae.body import Body
from rbdae.joints import PointOnLine, PointOnPlane, Prismatic, Revolute, Spherical, Universal
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


def n_four_bar(n: int = 2, *, redundant: bool = False) -> System:
    """`n` windows of uniform rods, 1 m and 1 kg, initially upright: bodies "bar0" .. and "coupler1" .. .

    The tops start with 1 m/s to the right; gravity is 9.81 m/s^2 against the second axis. When all rods are
    collinear the mechanism has n + 1 degrees of freedom instead of one, and the constraints are dependent. On its
    regular branch it is a pendulum, ((n + 1)/3 + n) phi'' = -((n + 1)/2 + n) g cos(phi); for n = 2 the top of "bar0"
    is at (0.328458111539, 0.944518538179) after 10 s, with velocity (1.423051470202, -0.494868845481). Source:
    [IFToMM], benchmark A02, which asks for constant energy over 10 s (n = 40 in its first edition). The rods' moment
    about their own axis has no influence. To pass the singular positions use
    ``formulate(..., "index-0", redundant="minimum-norm")`` and ``solve(..., projection=True)`` with a one-step method.

    Parameters
    ----------
    n : int
        Number of windows.
    redundant : bool
        Close the windows with full hinges: three of their five equations are redundant in the plane.
    """
    owner = "model n_four_bar"
    windows = _check.count(owner, "n", n)
    full = _check.flag(owner, "redundant", redundant)
    rod = {"mass": 1.0, "inertia": (1.0 / 12, 1.0 / 12, 1.0 / 12), "center_of_mass": (0.5, 0.0, 0.0)}
    upright = (0.5**0.5, 0.0, 0.0, 0.5**0.5)
    system = System(gravity=(0.0, -9.81, 0.0))
    bars = [
        system.add_body(
            f"bar{k}",
            position=(float(k), 0.0, 0.0),
            orientation=upright,
            angular_velocity=(0.0, 0.0, -1.0),
            **rod,  # type: ignore[arg-type]
        )
        for k in range(windows + 1)
    ]
    for k, bar in enumerate(bars):
        system.add_joint(Revolute(system.ground, bar, at_a=(float(k), 0.0, 0.0), name=f"foot{k}"))
    for k in range(1, windows + 1):
        coupler = system.add_body(
            f"coupler{k}",
            position=(k - 1.0, 1.0, 0.0),
            velocity=(1.0, 0.0, 0.0),
            **rod,  # type: ignore[arg-type]
        )
        system.add_joint(Revolute(bars[k - 1], coupler, at_a=(1.0, 0.0, 0.0), name=f"left{k}"))
        close = Revolute if full else PointOnLine
        system.add_joint(close(bars[k], coupler, at_a=(1.0, 0.0, 0.0), at_b=(1.0, 0.0, 0.0), name=f"right{k}"))
    return system


def bricard(*, redundant: bool = True) -> System:
    """Five rods and six hinges in a loop that can move because of its special geometry: bodies "rod1" .. "rod5".

    The rods are 1 m long, of square cross-section 0.1 m, 1 kg; they start at rest along the edges of a cube, in gravity
    9.81 m/s^2 against the second axis, for 10 s. There is one degree of freedom although 30 coordinates have 30
    equations: one of them is redundant. No numbers are published, but the energy is constant. Source: [IFToMM],
    benchmark A04; the placement is taken from Exudyn's example bricardMechanism.

    Parameters
    ----------
    redundant : bool
        False leaves out one equation of the last hinge, which the others imply.
    """
    full = _check.flag("model bricard", "redundant", redundant)
    points = np.array(((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)), dtype=float)
    ends = points[1:] - points[:-1]
    x, y, z = np.eye(3)
    axes = (y, z, x, y, z, x)
    width, mass = 0.1, 1.0
    inertia = (mass * width**2 / 6, mass * (1 + width**2) / 12, mass * (1 + width**2) / 12)
    system = System(gravity=(0.0, -9.81, 0.0))
    frames, bodies = [np.eye(3)], [system.ground]
    for k, (point, end) in enumerate(zip(points[:-1], ends, strict=True)):
        # first axis along the rod, second axis along the hinge at its beginning
        frame = np.stack([end, axes[k], cross(end, axes[k])], axis=1)
        body = system.add_body(
            f"rod{k + 1}", mass=mass, inertia=inertia, center_of_mass=(0.5, 0, 0), position=point, orientation=frame
        )
        before = (0.0, 0.0, 0.0) if k == 0 else (1.0, 0.0, 0.0)
        axis = frames[-1].T @ axes[k]
        system.add_joint(Revolute(bodies[-1], body, at_a=before, axis_a=axis, axis_b=(0, 1, 0), name=f"hinge{k + 1}"))
        frames.append(frame)
        bodies.append(body)
    last = {"at_a": (1.0, 0.0, 0.0), "at_b": points[-1], "name": "hinge6"}
    if full:
        system.add_joint(Revolute(bodies[-1], system.ground, axis_a=frames[-1].T @ x, axis_b=x, **last))
    else:
        system.add_joint(Universal(bodies[-1], system.ground, axis_a=frames[-1].T @ x, axis_b=y, **last))
    return system


def flyball_governor(
    *, stiffness: float = 8e5, damping: float = 4e4, spin: float = 0.16 * 2 * math.pi, gravity: float = 9.81
) -> System:
    """A shaft, a slider on it, two rods with a ball each, coupled to the slider by stiff springs.

    Bodies "shaft", "slider", "right" and "left". Shaft and rods are 1 m x 0.01 m x 0.01 m, the slider is a cube of
    0.1 m, all of 3000 kg/m^3; the balls are points of 5 kg. The rods begin 30 degrees below the horizontal, the slider
    half way up the shaft, the springs unstretched. Only curves are published, no numbers. Sources: [IFToMM],
    benchmark A05, and Exudyn's example stiffFlyballGovernor for the spin and the distance 0.1 m of the rods' hinges.

    Parameters
    ----------
    stiffness, damping : float
        Values for each spring, N/m and N s/m.
    spin : float
        Initial angular velocity of the mechanism about the shaft, rad/s.
    gravity : float
        m/s^2, against the third axis.
    """
    system = System(gravity=(0.0, 0.0, -gravity))
    thin, rod, cube, ball = 0.01, 0.3, 3.0, 5.0
    across, own = rod * (1.0 + thin**2) / 12, rod * thin**2 / 6
    turning = (0.0, 0.0, spin)
    shaft = system.add_body(
        "shaft", mass=rod, inertia=(across, across, own), center_of_mass=(0, 0, 0.5), angular_velocity=turning
    )
    slider = system.add_body(
        "slider", mass=cube, inertia=3 * (cube * 0.1**2 / 6,), position=(0, 0, 0.5), angular_velocity=turning
    )
    system.add_joint(Revolute(system.ground, shaft, name="bearing"))
    system.add_joint(Prismatic(shaft, slider, name="sleeve"))
    center = (0.5 * rod + ball) / (rod + ball)
    lump = across + rod * (0.5 - center) ** 2 + ball * (1.0 - center) ** 2
    alpha = math.radians(30.0)
    for name, side in (("right", 1.0), ("left", -1.0)):
        # first axis from the hinge to the ball; the left rod is the right one turned about the shaft
        c, s = math.cos(alpha), math.sin(alpha)
        arm = system.add_body(
            name,
            mass=rod + ball,
            inertia=(own, lump, lump),
            center_of_mass=(center, 0, 0),
            position=(0.05 * side, 0, 1.0),
            orientation=((side * c, 0, side * s), (0, side, 0), (-s, 0, c)),
            velocity=(0, 0.05 * side * spin, 0),
            angular_velocity=(-s * spin, 0, c * spin),
        )
        axis = (0, side, 0)
        system.add_joint(
            Revolute(shaft, arm, at_a=(0.05 * side, 0, 1.0), axis_a=axis, axis_b=(0, 1, 0), name=f"{name} hinge")
        )
        spring = forces.SpringDamper(
            slider, arm, at_a=(0.05 * side, 0, 0), at_b=(0.5, 0, 0), stiffness=stiffness, damping=damping, length=0.5
        )
        system.add_force(spring)
    return system


def planar_slider_crank(*, stiffness: float = 1.0, damping: float = 1.0) -> System:
    """The slider crank of SUNDIALS' example idaSlCrank: bodies "crank" and "rod", for 10 s.

    The crank has 0.5 m and moment of inertia 1 kg m^2. The rod has 1 m; its mass of 1 kg, with a moment of inertia of
    2 kg m^2 about it, is at the slider's pin, the origin of its frame, which stays on the first axis of space. A spring
    of 1 m connects the midpoints of both, and a force of 1 N acts along the first axis, 1 m beyond the pin. The
    mechanism starts at rest, without gravity. Crank angle q, slider position x and rod angle p, from the example's own
    output: (0.57904, 1.3803, -0.27715) at 2 s, (-1.4300, 0.93903, 0.51790) at 5 s, (1.2757, 1.0236, -0.49881) at 10 s.

    Parameters
    ----------
    stiffness, damping : float
        Of the spring, N/m and N s/m: the sensitivity parameters of the example.
    """
    system = System(gravity=(0.0, 0.0, 0.0))
    q, p = 0.5 * math.pi, math.asin(-0.5)
    crank = system.add_body(
        "crank", mass=1.0, inertia=3 * (1.0,), orientation=(math.cos(q / 2), 0.0, 0.0, math.sin(q / 2))
    )
    rod = system.add_body(
        "rod",
        mass=1.0,
        inertia=3 * (2.0,),
        position=(math.cos(p), 0.0, 0.0),
        orientation=(math.cos(p / 2), 0.0, 0.0, math.sin(p / 2)),
    )
    ground = system.ground
    system.add_joint(Revolute(ground, crank, name="bearing"))
    system.add_joint(Revolute(crank, rod, at_a=(0.5, 0.0, 0.0), at_b=(-1.0, 0.0, 0.0), name="crank pin"))
    system.add_joint(PointOnPlane(ground, rod, axis_a=(0.0, 1.0, 0.0), name="slider"))
    spring = forces.SpringDamper(
        crank, rod, at_a=(0.25, 0, 0), at_b=(-0.5, 0, 0), stiffness=stiffness, damping=damping, length=1.0
    )
    system.add_force(spring)
    system.add_force(forces.Force(rod, (1.0, 0.0, 0.0), at=(1.0, 0.0, 0.0)))
    return system


def spatial_slider_crank(*, spin: float = 6.0, gravity: float = 9.81) -> System:
    """A crank about the first axis, a rod on a ball joint and a universal joint, a slider along the first axis.

    Bodies "crank", "rod" and "slider", for 5 s. The crank of 0.08 m turns about (0.1, 0.12) and is initially upright,
    the rod has 0.3 m, so the slider is at x = sqrt(0.09 - y^2 - z^2) with (y, z) the end of the crank. Only curves are
    published. Source: [IFToMM], "Rigid slider crank"; data as in Exudyn's example slidercrank3Dbenchmark. Here one arm
    of the universal joint's cross is along the slider's first axis, the other perpendicular to it and to the rod.

    Parameters
    ----------
    spin : float
        Initial angular velocity of the crank, rad/s.
    gravity : float
        m/s^2, against the third axis.
    """
    system = System(gravity=(0.0, 0.0, -gravity))
    A = np.array((0.0, 0.1, 0.12))
    B = A + np.array((0.0, 0.0, 0.08))
    C = np.array((math.sqrt(0.3**2 - B @ B), 0.0, 0.0))
    x = np.array((1.0, 0.0, 0.0))
    along = (C - B) / 0.3
    across = cross(along, x)
    across /= np.linalg.norm(across)
    # velocities of the rod's end and of the slider at a constant distance; the rod does not turn about `third`
    v_b = np.array((0.0, -0.08 * spin, 0.0))
    v_c = (along @ v_b) / along[0] * x
    pivoting = cross(along, (v_c - v_b) / 0.3)
    third = cross(x, across)
    omega = pivoting - (pivoting @ third) / (along @ third) * along
    frame = np.stack([along, across, cross(along, across)], axis=1)
    crank = system.add_body(
        "crank", mass=0.12, inertia=(1e-4, 1e-5, 1e-4), position=A, angular_velocity=(spin, 0.0, 0.0)
    )
    rod = system.add_body(
        "rod",
        mass=0.5,
        inertia=(4e-4, 4e-3, 4e-3),
        position=0.5 * (B + C),
        orientation=frame,
        velocity=0.5 * (v_b + v_c),
        angular_velocity=frame.T @ omega,
    )
    slider = system.add_body("slider", mass=2.0, inertia=3 * (1e-4,), position=C, velocity=v_c)
    ground = system.ground
    system.add_joint(Revolute(ground, crank, at_a=A, axis_a=x, axis_b=x, name="bearing"))
    system.add_joint(Spherical(crank, rod, at_a=(0.0, 0.0, 0.08), at_b=(-0.15, 0.0, 0.0), name="crank pin"))
    system.add_joint(Universal(slider, rod, at_b=(0.15, 0.0, 0.0), axis_a=x, axis_b=(0, 1, 0), name="slider pin"))
    system.add_joint(Prismatic(ground, slider, axis_a=x, name="guide"))
    return system
