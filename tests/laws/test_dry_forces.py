"""End stops, dry friction and contact: closed forms, values by hand, what is kept and what is refused."""

from __future__ import annotations

import math
from typing import Any

import cases
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.forces import Contact, Coulomb, Limit
from rbdae.joints import Cylindrical, Planar, Prismatic, Revolute, Spherical

M, J = 2.0, 0.5
V0 = 0.05


def one_body(make: Any, gravity: Any = (0, 0, 0), **start: Any) -> rbdae.System:
    """A body, m = 2, J = 0.5; `make` gives the joint with the ground, if there is one, and a force."""
    system = rbdae.System(gravity=gravity)
    body = system.add_body("body", mass=M, inertia=(J, J, J), **start)
    joint, force = make(system.ground, body)
    if joint is not None:
        system.add_joint(joint)
    system.add_force(force(joint))
    return system


def run(system: rbdae.System, end: float, form: str = "index-0", solver: str = "scipy:DOP853", **more: Any) -> Any:
    cases.need(solver)
    values = {"rtol": 1e-10, "atol": 1e-12} | more
    where = {name: values.pop(name) for name in ("rotation", "velocity") if name in values}
    out = rbdae.solve(rbdae.formulate(system, form, **where), (0.0, end), solver=solver, **values)
    assert out.success, out.message
    return out


# ---------------------------------------------------------------- end stops

K, WIDTH, SPEED = 800.0, 0.4, 1.5


def slide(low: float, high: float, **law: Any) -> rbdae.System:
    """A slide between two stops, in the middle at the start."""
    return one_body(
        lambda ground, body: (Prismatic(ground, body), lambda joint: Limit(joint, low, high, stiffness=K, **law)),
        velocity=(0, 0, SPEED),
    )


def bouncing(t: Any) -> Any:
    """Free flights and half periods of linear springs in turn."""
    w = math.sqrt(K / M)
    flight, stop = WIDTH / SPEED, math.pi / w
    half = flight + stop
    since = t + 0.5 * flight  # it begins in the middle
    side, s = (-1.0) ** np.floor(since / half), since % half
    return side * np.where(s < flight, SPEED * s - 0.5 * WIDTH, 0.5 * WIDTH + SPEED / w * np.sin(w * (s - flight)))


@pytest.mark.parametrize(
    "form, solver, tolerance, most",
    [
        ("index-0", "scipy:DOP853", 1e-9, 1e-6),
        ("index-3", "sksundae:ida", 1e-6, 2e-4),
        ("null-space", "rbdae:dopri5", 1e-9, 2e-6),
        ("hiller-anantharaman", "scikits.odes:ida", 1e-6, 2e-4),
    ],
)
def test_a_slide_between_end_stops(form, solver, tolerance, most):
    """Errors are made where the stops begin and end."""
    t = np.linspace(0.0, 1.5, 40)
    found = run(slide(-0.5 * WIDTH, 0.5 * WIDTH), 1.5, form, solver, t_eval=t, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(found.states["body"].position[:, 2], bouncing(t), rtol=0, atol=most)
    assert found.states["body"].position[:, 2].max() > 0.52 * WIDTH


def test_steps_that_keep_energy_count_the_work_of_stops():
    found = run(
        slide(-0.5 * WIDTH, 0.5 * WIDTH, exponent=1.5, damping=0.3),
        1.0,
        "hamiltonian",
        "rbdae:energy-momentum",
        velocity="momentum",
        step=0.01,
    )
    energy = found.energy
    assert np.ptp(energy.work) > 0.5 * energy.total[0]
    assert np.abs(energy.balance).max() < 1e-12 * energy.total[0]


def test_an_end_stop_counts_turns():
    """At 9 rad, where the wheel is reflected; the stop at -2 rad is beside it in space."""
    w = math.sqrt(K / J)
    system = one_body(
        lambda ground, body: (Revolute(ground, body), lambda joint: Limit(joint, -2.0, 9.0, stiffness=K)),
        angular_velocity=(0, 0, 6.0),
    )
    end = 1.5 + math.pi / w + 1.0
    found = run(system, end)
    assert found.problem.labels[-1] == "limit-1.phi"
    assert found.y[-1, -1] == pytest.approx(3.0, abs=1e-8)
    assert found.states["body"].angular_velocity[-1, 2] == pytest.approx(-6.0, abs=1e-7)


def accelerations(system: rbdae.System) -> Any:
    """xddot, Omegadot of the body at the start."""
    problem = rbdae.formulate(system, "index-0")
    return problem.yd0[problem.layout.v]


def test_a_stop_does_not_pull():
    """Inside of it, and fast on the way out."""
    for speed, pushes in ((-3.0, False), (-0.5, True)):
        system = one_body(
            lambda ground, body: (
                Prismatic(ground, body),
                lambda joint: Limit(joint, high=0.2, stiffness=K, damping=1.0),
            ),
            position=(0, 0, 0.3),
            velocity=(0, 0, speed),
        )
        wanted = -K * 0.1 * 0.5 / M if pushes else 0.0
        assert accelerations(system)[2] == pytest.approx(wanted, rel=1e-12, abs=1e-12)


# ---------------------------------------------------------------- restitution


BACK: dict[str, Any] = {"restitution": 0.6, "impact_velocity": 2.0}


@pytest.mark.parametrize(
    "make",
    [
        lambda ground, body: (None, lambda _: Contact(body, stiffness=1e5, **BACK)),
        lambda ground, body: (
            None,
            lambda _: Contact(body, radius=0.5, at_b=(0, 0, -0.5), stiffness=1e4, exponent=2.5, **BACK),
        ),
        lambda ground, body: (
            Prismatic(ground, body),
            lambda joint: Limit(joint, 0.0, stiffness=1e4, **BACK),
        ),
    ],
    ids=["plane", "sphere", "stop"],
)
def test_restitution_is_exact(make):
    """Of any law k d^n, at the velocity for which it was asked; what is lost is the work of the force."""
    found = run(one_body(make, position=(0, 0, 0.1), velocity=(0, 0, -2.0)), 0.3)
    assert found.states["body"].velocity[-1, 2] == pytest.approx(1.2, rel=1e-8)
    assert found.energy.work[-1] == pytest.approx(-0.5 * M * 2.0**2 * (1.0 - 0.6**2), rel=1e-7)


@pytest.mark.parametrize("restitution", [0.05, 0.3, 0.999])
def test_the_damping_of_a_restitution(restitution):
    """a v - ln(1 + a v) is the same before and after; of small losses e = 1 - 2 a v / 3 [HC75]."""
    body = rbdae.System().add_body("body", mass=1.0, inertia=(1, 1, 1))
    x = 3.0 * Contact(body, stiffness=1.0, restitution=restitution, impact_velocity=3.0).damping
    before, after = x - math.log1p(x), -restitution * x - math.log1p(-restitution * x)
    assert after == pytest.approx(before, rel=1e-9)
    if restitution > 0.9:
        assert restitution == pytest.approx(1.0 - 2.0 * x / 3.0, abs=2e-6)


# ---------------------------------------------------------------- dry friction


def slowed(t: Any, v: float, rate: float) -> Any:
    """vdot = -rate tanh(v / v0): sinh(v / v0) falls with exp(-rate t / v0)."""
    return V0 * np.arcsinh(math.sinh(v / V0) * np.exp(-rate * t / V0))


MU, N, R = 0.3, 7.0, 0.4
DRY: dict[str, Any] = {"velocity": V0}


@pytest.mark.parametrize(
    "make, start, gravity, rate",
    [
        (
            lambda ground, body: (Prismatic(ground, body), lambda joint: Coulomb(joint, MU, normal=N, **DRY)),
            {"velocity": (0, 0, 1.0)},
            0.0,
            MU * N / M,
        ),
        (
            lambda ground, body: (
                Revolute(ground, body),
                lambda joint: Coulomb(joint, MU, normal=lambda t: N, radius=R, **DRY),
            ),
            {"angular_velocity": (0, 0, 1.0 / R)},
            0.0,
            MU * N * R * R / J,
        ),
        (
            lambda ground, body: (Planar(ground, body), lambda joint: Coulomb(joint, MU, normal=N, **DRY)),
            {"velocity": (0.6, 0.8, 0.0)},
            0.0,
            MU * N / M,
        ),
        (
            lambda ground, body: (None, lambda _: Contact(body, stiffness=1e4, exponent=1.0, mu=MU, **DRY)),
            {"velocity": (0.6, 0.8, 0.0), "position": (0, 0, -M * 9.0 / 1e4)},
            9.0,
            MU * 9.0,
        ),
    ],
    ids=["slide", "bearing", "plane", "contact"],
)
def test_dry_friction_slows(make, start, gravity, rate):
    """From 20 v0 to 1e-3 v0 and less, in its closed form; the energy is its work."""
    found = run(one_body(make, gravity=(0, 0, -gravity), **start), 0.7 / rate * 1.6)
    state = found.states["body"]
    turning = R * state.angular_velocity[:, 2]
    speed = np.linalg.norm(state.velocity, axis=1) + turning
    np.testing.assert_allclose(speed, slowed(found.t, 1.0, rate), rtol=0, atol=1e-8)
    assert found.energy.work[-1] == pytest.approx(-found.energy.kinetic[0] + found.energy.kinetic[-1], rel=1e-7)
    (force,) = found.forces.values()
    power = -rate * np.tanh(speed / V0) * speed * (J / R**2 if turning.any() else M)
    found_power = sum(getattr(force, name) for name in force if name.endswith("power"))
    np.testing.assert_allclose(found_power, power, atol=1e-9)


@pytest.mark.parametrize("form, solver", [("index-2", "sksundae:ida"), ("ggl", "solve_dae:Radau")])
def test_what_does_not_slide_creeps(form, solver):
    """On a slope, with tan(slope) = 0.2 below mu = 0.3: v = v0 artanh(0.2 / 0.3), by implicit solvers."""
    slope = math.atan(0.2)
    system = one_body(
        lambda ground, body: (
            Prismatic(ground, body, axis_a=(math.cos(slope), 0, -math.sin(slope))),
            lambda joint: Coulomb(joint, 0.3, normal=M * 9.0 * math.cos(slope), velocity=1e-3),
        ),
        gravity=(0, 0, -9.0),
    )
    found = run(system, 5.0, form, solver, rtol=1e-8, atol=1e-10)
    speed = np.linalg.norm(found.states["body"].velocity[-1])
    assert speed == pytest.approx(1e-3 * math.atanh(0.2 / 0.3), rel=1e-6)


def test_contact_by_hand():
    """A point off the centre of a body that turns, on a sphere, moving across and inwards: force and moment."""
    arm, v, spin = np.array((0.2, 0.1, -0.3)), np.array((0.4, -0.3, -0.7)), np.array((0.5, 0.9, -0.4))
    turned, centre = Rotation.from_rotvec((0.3, -0.4, 0.5)), np.array((0.1, -0.2, -0.4))
    law: dict[str, Any] = {"stiffness": 300.0, "exponent": 1.5, "damping": 0.4, "mu": 0.35, "velocity": 0.6}
    system = one_body(
        lambda ground, body: (None, lambda _: Contact(body, radius=0.7, at_a=arm, at_b=centre, **law)),
        orientation=turned,
        velocity=v,
        angular_velocity=spin,
    )
    point, rate = turned.apply(arm) - centre, v + turned.apply(np.cross(spin, arm))
    r = np.linalg.norm(point)
    n = point / r
    across = rate - rate @ n * n
    size = np.linalg.norm(across)
    pressed = 300.0 * (0.7 - r) ** 1.5 * (1.0 - 0.4 * rate @ n)
    force = pressed * n - 0.35 * pressed * math.tanh(size / 0.6) * across / size
    assert pressed > 10.0
    moment = np.cross(arm, turned.inv().apply(force))
    np.testing.assert_allclose(accelerations(system), np.concatenate([force / M, moment / J]), rtol=1e-10)


BAD: list[tuple[Any, str]] = [
    (lambda g, b: Limit(Prismatic(g, b), stiffness=1.0), "it has no stop; give low= or high="),
    (lambda g, b: Limit(Prismatic(g, b), 1.0, 1.0, stiffness=1.0), "low must be below high"),
    (lambda g, b: Limit(Prismatic(g, b), 1.0, stiffness=1.0, exponent=0.5), "exponent must be at least 1"),
    (lambda g, b: Limit(Prismatic(g, b), 1.0, stiffness=1.0, restitution=0.5), "impact_velocity="),
    (
        lambda g, b: Limit(Cylindrical(g, b), 1.0, stiffness=1.0),
        "coordinates angle, displacement; name one",
    ),
    (lambda g, b: Limit(Cylindrical(g, b), 1.0, stiffness=1.0, coordinate="angel"), "did you mean 'angle'"),
    (lambda g, b: Coulomb(Spherical(g, b), 0.1, normal=1.0), "has no coordinate"),
    (lambda g, b: Coulomb(Revolute(g, b), 0.1, normal=1.0), "turns; give radius="),
    (lambda g, b: Coulomb(Prismatic(g, b), 0.1, normal=-1.0), "normal must not be negative"),
    (lambda g, b: Contact(b, stiffness=1.0, radius=1.0, normal=(0, 0, 1)), "leave one out"),
    (lambda g, b: Contact(b, stiffness=1.0, restitution=0.5, damping=1.0), "a damping and a restitution"),
]


@pytest.mark.parametrize("make, words", BAD, ids=[str(k) for k in range(len(BAD))])
def test_bad_input_is_refused(make, words):
    system = rbdae.System()
    with pytest.raises(ValueError, match=words):
        make(system.ground, system.add_body("body", mass=1.0, inertia=(1, 1, 1)))
