"""Systems for `compare_outputs.py` and `compare_steps.py`.

They have every joint, drive and force, trees, loops, pivots, chains, redundant equations and a singular position. Only
public names of rbdae are used, so the same file builds them before and after a change of what is inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from compare_forces import applied, ball_forces, cylinder_forces, hinge_forces, springs, user_forces
from compare_parts import AT, JOINTS, Tie, add, fit, frame, wave
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import rbdae

drives, forces, joints, models = rbdae.drives, rbdae.forces, rbdae.joints, rbdae.models

# ---------------------------------------------------------------- systems


def skew_top() -> Any:
    """A pivot away from the origin."""
    system = rbdae.System(gravity=(0.5, -1.0, -9.0))
    add(system, "top", 1, (1.0, 2.0, -0.5), pivot=True)
    return system


def jointed(kind: str) -> Any:
    """A chain of two bodies on one kind of joint; the second body is body `a` of its joint."""
    system = rbdae.System(gravity=(0.4, -0.6, -9.81))
    first = add(system, "first", 2, (0.6, 0.2, -0.5))
    second = add(system, "second", 3, (1.5, 0.5, -0.2))
    fit(system, kind, system.ground, first, "outer")
    fit(system, kind, second, first, "inner", (-0.4, 0.1, 0.3), (0.3, 1.0, 0.5))
    return system


def spherical_trees() -> Any:
    """A tree with a branch on the ground, one at a pivot, a free pair; a bushing between two of them."""
    system = rbdae.System()
    a, b, c = (add(system, name, 10 + k, (k, -0.4 * k, 0.3)) for k, name in enumerate("abc"))
    hinged = add(system, "hinged", 14, (0.3, 0.1, 0.2), pivot=True)
    child = add(system, "child", 15, (1.0, 0.2, 0.4))
    kite, tail = add(system, "kite", 16, (2.0, -1.0, 1.5)), add(system, "tail", 17, (2.5, -1.5, 1.5))
    pairs = ((system.ground, a), (a, b), (c, a), (child, hinged), (kite, tail))
    for k, (one, other) in enumerate(pairs):
        fit(system, "Spherical", one, other, f"ball{k}")
    system.add_force(forces.Bushing(child, kite, stiffness=(15, 25, 5), damping=0.4, at_a=AT, name="bushing"))
    return system


def lower_pairs(driven: bool = False) -> Any:
    """A tree with each lower pair, some with the child as body `a`; with two drives if wanted."""
    system = rbdae.System()
    links = [add(system, f"link{k}", 20 + k, (0.5 * k, 0.2, -0.3 * k)) for k in range(5)]
    rail = fit(system, "Cylindrical", system.ground, links[0], "rail")
    hinge = fit(system, "Revolute", links[0], links[1], "hinge")
    fit(system, "Prismatic", links[2], links[1], "slider")
    fit(system, "Planar", links[1], links[3], "plane")
    fit(system, "Spherical", links[4], links[2], "ball")
    if driven:
        times = np.linspace(-1.0, 3.0, 21)
        system.add_joint(drives.PrescribedAngle(hinge, wave(0.0, 0.3, 2.0), name="motor"))
        system.add_joint(
            drives.PrescribedDisplacement(rail, CubicSpline(times, 0.3 + 0.2 * np.sin(times)), name="push")
        )
    return system


def driven() -> Any:
    """Each drive, in a loop: a pushed cart with a pendulum, on it a turned arm with a rod to a guided tool."""
    system = rbdae.System(gravity=(0.3, -0.5, -9.81))
    # A body that cannot turn stands after one that can: the signs of quasi-velocities would hang on its rounding.
    bob, cart = add(system, "bob", 35, (0.0, 0.0, -1.0)), add(system, "cart", 34, (0.1, 0.0, 0.0))
    arm, tool = add(system, "arm", 36, (0.0, 1.0, 0.0)), add(system, "tool", 37, (1.0, 1.0, 0.0))
    rail = fit(system, "Prismatic", system.ground, cart, "rail")
    fit(system, "Revolute", cart, bob, "pin")
    hinge = fit(system, "Revolute", bob, arm, "hinge", (0, 1, 0), (1, 0.2, 0))
    system.add_joint(drives.PrescribedDisplacement(rail, wave(0.3, 0.05, 3.0), name="push"))
    system.add_joint(
        drives.PrescribedAngle(hinge, (lambda t: 2 * t + t * t, lambda t: 2 + 2 * t, lambda t: 2.0), name="motor")
    )
    system.add_joint(drives.DrivenRod(arm, tool, wave(1.0, 0.1, 1.0), at_b=(0.1, 0.2, 0.3), name="hoist"))
    curve = (lambda t: (1, 1 + 0.1 * t * t, 0.0), lambda t: (0, 0.2 * t, 0.0), lambda t: (0, 0.2, 0.0))
    system.add_joint(drives.PointMotion(tool, system.ground, curve, name="guide"))
    return system


def loop() -> Any:
    """Three bodies in a loop of ball joints over the ground."""
    system = rbdae.System()
    bars = [add(system, f"bar{k}", 40 + k, (k, 0.3 * k, -0.4 * k)) for k in range(3)]
    for k, (a, b) in enumerate(zip([system.ground, *bars], [*bars, system.ground], strict=True)):
        fit(system, "Spherical", a, b, f"ball{k}", (0.4, 0.1 * k, 0.3))
    return system


def tied() -> Any:
    """The four primitives between bodies, a pivot and the ground, in loops."""
    system = rbdae.System(gravity=(0.4, 0.0, -9.81))
    first, second = add(system, "first", 50, (0.1, 0.2, -0.3)), add(system, "second", 51, (1.2, 0.5, -0.2))
    third, ground = add(system, "third", 52, (2.0, 1.0, 0.5), pivot=True), system.ground
    r, u, w = np.array((0.3, -0.2, 0.4)), np.array((1.0, 0.3, -0.5)), np.array((0.2, 1.0, 0.4))

    def dot1(a: Any, b: Any) -> Any:
        return joints.Dot1(u, w, round(float(frame(a).apply(u) @ frame(b).apply(w)), 1))

    def between(a: Any, b: Any) -> Any:
        return b.position + frame(b).apply(w) - a.position - frame(a).apply(r)

    def dot2(a: Any, b: Any) -> Any:
        return joints.Dot2(u, r, w, round(float(frame(a).apply(u) @ between(a, b)), 1))

    def distance(a: Any, b: Any) -> Any:
        return joints.Distance(r, w, round(float(np.linalg.norm(between(a, b))), 1))

    def coincidence(a: Any, b: Any) -> Any:
        return joints.Coincidence(r, w, -between(a, b))

    ties = (
        (first, second, (dot1, dot2, distance)),
        (ground, first, (dot2,)),
        (second, ground, (distance, dot1)),
        (first, ground, (coincidence,)),
        (second, third, (dot2, distance)),
        (ground, third, (dot1,)),
    )
    for k, (a, b, parts) in enumerate(ties):
        system.add_joint(Tie(a, b, tuple(part(a, b) for part in parts), f"tie{k}"))
    return system


def floating() -> Any:
    """Two bodies in space with a joint and a bushing between them; no gravity."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    a, b = add(system, "a", 60, (1.0, 0.5, -0.7)), add(system, "b", 61, (1.8, 0.9, -0.3))
    fit(system, "Spherical", a, b, "ball")
    system.add_force(forces.Bushing(a, b, stiffness=50.0, at_a=(-0.4, 0.3, 0.1), name="bushing"))
    return system


def four_bar(closing: str = "Revolute", spin: float = 1.5, table: float = 0.0) -> Any:
    """A four-bar linkage, placed roughly; three equations of the last joint are redundant if it is a hinge.

    On a table that turns with an angular velocity, not always the same equations can be left out.
    """
    system = rbdae.System()
    data: dict[str, Any] = {"mass": 1.0, "inertia": (0.01, 0.1, 0.1)}
    along = Rotation.from_rotvec((0.5 * math.pi, 0.0, 0.0))
    up = along * Rotation.from_rotvec((0.0, 0.0, 0.5 * math.pi))
    a = system.add_body("a", position=(0.0, 0.0, 0.5), orientation=up, angular_velocity=(0, 0, spin), **data)
    b = system.add_body("b", position=(0.5, -0.05, 1.0), orientation=along, **data)
    c = system.add_body("c", position=(1.02, 0.0, 0.5), orientation=up, **data)
    hinge: dict[str, Any] = {"axis_a": (0, -1, 0)} | ({"axis_b": (0, 0, 1)} if closing == "Revolute" else {})
    first, ground = joints.Revolute, system.ground
    if table:
        ground = system.add_body("table", mass=5.0, inertia=(3.0, 3.0, 5.0), angular_velocity=(0, 0, table))
        system.add_joint(first(system.ground, ground, name="shaft"))
    system.add_joint(first(ground, a, at_b=(-0.5, 0, 0), name="A", axis_a=(0, -1, 0), axis_b=(0, 0, 1)))
    system.add_joint(first(a, b, at_a=(0.5, 0, 0), at_b=(-0.5, 0, 0), axis_b=(0, 0, 1), name="B"))
    system.add_joint(first(b, c, at_a=(0.6, 0, 0), at_b=(0.5, 0, 0), axis_b=(0, 0, 1), name="C"))
    system.add_joint(getattr(joints, closing)(ground, c, at_a=(1, 0, 0), at_b=(-0.5, 0, 0), name="D", **hinge))
    return system


def rocker() -> Any:
    """A four-bar linkage of which no bar makes full turns: its independent velocities change on the way."""
    l1, l2, l3, l4 = 2.0, 1.5, 2.2, 3.9
    system = rbdae.System(gravity=(0, -9.81, 0))
    O, A, D = np.zeros(3), l1 * np.array((math.cos(1), math.sin(1), 0)), np.array((l4, 0, 0))
    reach = float(np.linalg.norm(D - A))
    bend = math.atan2(*(D - A)[1::-1]) + math.acos((l2**2 - l3**2 + reach**2) / (2 * reach * l2))
    B = A + l2 * np.array((math.cos(bend), math.sin(bend), 0))

    def bar(name: str, a: Any, b: Any, mass: float, spin: float = 0.0) -> Any:
        across = mass * float(np.sum((b - a) ** 2)) / 12
        return system.add_body(
            name,
            mass=mass,
            inertia=(0.01 * mass, across, across + 0.008 * mass),
            position=(a + b) / 2,
            orientation=Rotation.from_rotvec((0, 0, math.atan2(b[1] - a[1], b[0] - a[0]))),
            angular_velocity=(0, 0, spin),
        )

    crank, coupler, bar3 = bar("crank", O, A, 1.0, -9.0), bar("coupler", A, B, 1.5), bar("rocker", D, B, 1.2)
    hinge, ground = joints.Revolute, system.ground
    system.add_joint(hinge(ground, crank, at_b=(-l1 / 2, 0, 0), name="O"))
    system.add_joint(hinge(crank, coupler, at_a=(l1 / 2, 0, 0), at_b=(-l2 / 2, 0, 0), name="A"))
    system.add_joint(hinge(ground, bar3, at_a=D, at_b=(-l3 / 2, 0, 0), name="D"))
    system.add_joint(joints.PointOnLine(coupler, bar3, at_a=(l2 / 2, 0, 0), at_b=(l3 / 2, 0, 0), name="B"))
    return system


def flat_windows() -> Any:
    """The bodies of `rbdae.models.n_four_bar`, free, where all its rods are in one line."""
    system = rbdae.System(gravity=(0.0, -9.81, 0.0))
    for body in models.n_four_bar().bodies:
        shift, motion = (0.0, 0.0, 0.0), {"angular_velocity": (0.0, 0.0, -6.0)}
        if body.name.startswith("coupler"):
            shift, motion = (1.0, -1.0, 0.0), {"velocity": (0.0, -6.0, 0.0)}
        else:
            motion["orientation"] = Rotation.identity()
        system.add_body(
            body.name,
            mass=body.mass,
            inertia=body.inertia,
            center_of_mass=body.center_of_mass,
            position=np.array(body.position) + shift,
            **motion,
        )
    return system


# ---------------------------------------------------------------- the registry


@dataclass(frozen=True)
class Entry:
    """A system with the options of `rbdae.formulate`.

    Attributes
    ----------
    build : makes the system
    options : of `rbdae.formulate`
    every : with the JIT off only every second, third, ... pairing is taken
    variants : further options, each with a regular expression that the pairing has to match
    elsewhere : the same bodies without joints at another state, at which ODE forms are evaluated, too
    """

    build: Callable[[], Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    every: int = 3
    variants: Sequence[tuple[str, Mapping[str, Any]]] = ()
    elsewhere: Callable[[], Any] | None = None


RADIAL = (r".*/quaternion/coordinate", {"radial_inertia": "half-trace"})
DAMPED = (r"baumgarte.*", {"alpha": 3.0, "beta": 7.0})
LEAST: dict[str, Any] = {"redundant": "minimum-norm"}

SYSTEMS: dict[str, Entry] = {
    "heavy-top": Entry(models.heavy_top, every=1),
    "tennis-racket": Entry(partial(models.tennis_racket, 1.0), every=1),
    "linked-bodies": Entry(models.linked_bodies, every=1, variants=(RADIAL, DAMPED)),
    "skew-top": Entry(skew_top, every=1, variants=(RADIAL,)),
    **{f"joint-{kind}": Entry(partial(jointed, kind)) for kind in JOINTS},
    "spherical-trees": Entry(spherical_trees),
    "lower-pairs": Entry(lower_pairs, every=5, variants=(DAMPED,)),
    "lower-pairs-driven": Entry(partial(lower_pairs, True), {"t0": 0.4}, every=5),
    "driven": Entry(driven, every=5, variants=(DAMPED,)),
    "loop": Entry(loop, every=1, variants=(RADIAL, DAMPED)),
    "tied": Entry(tied),
    "floating": Entry(floating, every=1),
    "applied": Entry(applied, {"t0": 0.3}, every=7),
    "springs": Entry(springs, every=7),
    "hinge-forces": Entry(hinge_forces, every=7),
    "cylinder-forces": Entry(cylinder_forces, every=7),
    "ball-forces": Entry(ball_forces),
    "user-forces": Entry(user_forces),
    "four-bar": Entry(partial(four_bar, "PointOnLine", 0.0), {"hold": ("a",)}),
    "four-bar-redundant": Entry(four_bar, LEAST),
    "four-bar-table": Entry(partial(four_bar, table=5.0), LEAST),
    "windows": Entry(models.n_four_bar, LEAST, elsewhere=flat_windows),
    "bricard": Entry(models.bricard, LEAST, every=7),
    "andrews": Entry(models.andrews, every=7),
    "chain": Entry(partial(models.chain, 4)),
    "governor": Entry(models.flyball_governor, every=7),
    "driven-pendulum": Entry(models.driven_pendulum, every=5),
    "planar-slider-crank": Entry(models.planar_slider_crank, every=5),
    "spatial-slider-crank": Entry(models.spatial_slider_crank),
    "double-pendulum": Entry(models.double_pendulum, every=5),
    "rotations-top": Entry(models.rotations_top, every=5),
}
