"""Friction under a joint's own reaction: closed forms, a solver of the test's own, all forms, paradoxes."""

from __future__ import annotations

import math
from typing import Any

import cases
import inside
import numpy as np
import pytest
import test_derivatives as derivatives
from scipy.optimize import brentq, fsolve
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.forces import Coulomb
from rbdae.formulations import Index0
from rbdae.joints import Cylindrical, PointOnLine, PointOnPlane, Prismatic, Revolute

G = 9.81


def block(mu: float = 0.3, slope: float = 0.5, **more: Any) -> rbdae.System:
    """A block on an incline, which slides down."""
    system = rbdae.System(gravity=(0, 0, -G))
    axis = np.array([math.cos(slope), 0.0, -math.sin(slope)])
    turned = Rotation.from_rotvec((0.4, -0.3, 0.2))
    body = system.add_body("block", mass=2.0, inertia=(0.2, 0.3, 0.4), velocity=0.7 * axis, orientation=turned)
    rail = system.add_joint(Prismatic(system.ground, body, axis_a=axis, name="rail"))
    system.add_force(Coulomb(rail, mu, normal="reaction", name="rub", **more))
    return system


def chain() -> rbdae.System:
    """Two bodies in space on a hinge with two bearings and a sleeve that turns and slides: three frictions."""
    system = rbdae.System(gravity=(0.3, -0.5, -G))
    at = np.array([[0.4, 0.1, 0.2], [0.9, 0.2, 0.1]])
    turned = Rotation.from_rotvec([(0.4, -0.3, 0.2), (-0.2, 0.5, 0.6)])
    point = np.array([0.6, 0.3, 0.15])
    axis, along = (np.array(x) / np.linalg.norm(x) for x in ((0.2, 0.3, 1.0), (1.0, 0.3, 0.2)))
    w, u = 1.5 * axis, turned[0].apply(along)
    a = system.add_body(
        "a", mass=2.0, inertia=(0.03, 0.04, 0.05), position=at[0], orientation=turned[0], velocity=np.cross(w, at[0]),
        angular_velocity=turned[0].inv().apply(w),
    )  # fmt: skip
    b = system.add_body(
        "b", mass=1.0, inertia=(0.02, 0.01, 0.015), position=at[1], orientation=turned[1],
        velocity=np.cross(w, at[1]) + 0.3 * u + np.cross(2.0 * u, at[1] - point),
        angular_velocity=turned[1].inv().apply(w + 2.0 * u),
    )  # fmt: skip
    hinge = Revolute(system.ground, a, at_b=turned[0].inv().apply(-at[0]), axis_a=axis, name="hinge")
    sleeve = Cylindrical(
        a, b, turned[0].inv().apply(point - at[0]), turned[1].inv().apply(point - at[1]), along, name="sleeve"
    )
    hinge, sleeve = system.add_joint(hinge), system.add_joint(sleeve)
    for force in (
        Coulomb(hinge, 0.3, normal="reaction", radius=0.05, length=0.1, velocity=0.1),
        Coulomb(sleeve, 0.5, normal="reaction", coordinate="displacement", velocity=0.1),
        Coulomb(sleeve, 0.4, normal="reaction", coordinate="angle", radius=0.03, velocity=0.1),
    ):
        system.add_force(force)
    return system


def sleeve(**more: Any) -> rbdae.System:
    """A body that turns and slides on a bar, with friction in both."""
    system = rbdae.System(gravity=(0.3, -0.5, -G))
    turned = Rotation.from_rotvec((0.4, -0.3, 0.2))
    axis = np.array([1.0, 0.3, 0.2]) / np.linalg.norm([1.0, 0.3, 0.2])
    at, arm = np.array([0.1, 0.3, 0.2]), np.array([0.1, -0.2, 0.3])
    spin = 2.0 * axis
    body = system.add_body(
        "body",
        mass=2.0,
        inertia=(0.2, 0.3, 0.4),
        position=at,
        orientation=turned,
        velocity=0.7 * axis - np.cross(spin, arm),
        angular_velocity=turned.inv().apply(spin),
    )
    bar = system.add_joint(Cylindrical(system.ground, body, at + arm, turned.inv().apply(arm), axis, name="bar"))
    system.add_force(Coulomb(bar, 0.4, normal="reaction", coordinate="displacement", velocity=0.5, **more))
    system.add_force(Coulomb(bar, 0.3, normal="reaction", coordinate="angle", radius=0.05, velocity=0.1, **more))
    return system


ANGLES, RATE, HALF = (0.9, -0.4), 2.0, (0.2, 0.35)
MU, RADIUS, V0 = (0.3, 0.5, 0.4), (0.04, 0.03), 0.1
MASSES, INERTIAS = (2.0, 1.0), (0.03, 0.04)


def slider_crank() -> rbdae.System:
    """A crank, a rod whose end slides on the ground: friction in both pins and at the end."""
    (p, q), (c, d) = ANGLES, HALF
    rate = -c * RATE * math.cos(p) / (d * math.cos(q))
    r, s = (h * np.array([math.cos(a), math.sin(a), 0.0]) for h, a in ((c, p), (d, q)))
    v = RATE * c * np.array([-math.sin(p), math.cos(p), 0.0])
    w = rate * d * np.array([-math.sin(q), math.cos(q), 0.0])
    system = rbdae.System(gravity=(0, -G, 0))
    crank, rod = (
        system.add_body(
            name, mass=m, inertia=(0.8 * J, 0.9 * J, J), position=x, velocity=u, angular_velocity=(0, 0, w),
            orientation=Rotation.from_rotvec((0, 0, a)),
        )
        for name, m, J, x, u, w, a in (
            ("crank", MASSES[0], INERTIAS[0], r, v, RATE, p),
            ("rod", MASSES[1], INERTIAS[1], 2.0 * r + s, 2.0 * v + w, rate, q),
        )
    )  # fmt: skip
    pin = system.add_joint(Revolute(system.ground, crank, at_b=(-c, 0, 0), name="pin"))
    knee = system.add_joint(Revolute(crank, rod, at_a=(c, 0, 0), at_b=(-d, 0, 0), name="knee"))
    end = PointOnPlane(system.ground, rod, (0, (2.0 * r + 2.0 * s)[1], 0), (d, 0, 0), (0, 1, 0), normal_a=(1, 0, 0))
    end = system.add_joint(end)
    for joint, mu, more in (
        (pin, MU[0], {"radius": RADIUS[0]}),
        (knee, MU[1], {"radius": RADIUS[1]}),
        (end, MU[2], {"coordinate": "x"}),
    ):
        system.add_force(Coulomb(joint, mu, normal="reaction", velocity=V0, **more))
    return system


def by_hand() -> Any:
    """The angular accelerations of crank and rod, and the three normal forces, by Newton's and Euler's equations in the
    plane with the friction of the reactions as unknowns."""
    (p, q), (c, d), (m, n) = ANGLES, HALF, MASSES
    rate = -c * RATE * math.cos(p) / (d * math.cos(q))
    r, s = (h * np.array([math.cos(a), math.sin(a)]) for h, a in ((c, p), (d, q)))
    end = 2.0 * (RATE * -r[1] + rate * -s[1])

    def cross(u: Any, f: Any) -> Any:
        return u[0] * f[1] - u[1] * f[0]

    def turned(u: Any) -> Any:
        return np.array([-u[1], u[0]])

    def residual(x: Any) -> Any:
        alpha, beta, F, K, N = x[0], x[1], x[2:4], x[4:6], x[6]
        of_pin = -MU[0] * RADIUS[0] * np.hypot(*F) * math.tanh(RADIUS[0] * RATE / V0)
        of_knee = -MU[1] * RADIUS[1] * np.hypot(*K) * math.tanh(RADIUS[1] * (rate - RATE) / V0)
        push = np.array([-MU[2] * abs(N) * math.tanh(end / V0), N])
        a = alpha * turned(r) - RATE**2 * r
        b = beta * turned(s) - rate**2 * s
        weight = np.array([0.0, -G])
        return [
            *(F - K + m * weight - m * a),
            cross(-r, F) + cross(r, -K) + of_pin - of_knee - INERTIAS[0] * alpha,
            *(K + push + n * weight - n * (2.0 * a + b)),
            cross(-s, K) + cross(s, push) + of_knee - INERTIAS[1] * beta,
            (2.0 * a + 2.0 * b)[1],
        ]

    x = fsolve(residual, [0.0, 0.0, 1.0, 20.0, 1.0, 10.0, 10.0], xtol=1e-13)
    assert np.abs(residual(x)).max() < 1e-10
    return x[0], x[1], np.hypot(*x[2:4]), np.hypot(*x[4:6]), abs(x[6])


def pendulum(angle: float = 1.1, rate: float = -1.5, mu: float = 0.4) -> rbdae.System:
    """A rod of mass 2 and half length 0.5 in a bearing of radius 0.1."""
    x = 0.5 * np.array([math.sin(angle), 0.0, -math.cos(angle)])
    system = rbdae.System(gravity=(0, 0, -G))
    turned = Rotation.from_rotvec((0, -angle, 0))
    spin = np.array([0.0, -rate, 0.0])
    rod = system.add_body(
        "rod", mass=2.0, inertia=(0.17, 0.17, 0.1), position=x, orientation=turned, velocity=np.cross(spin, x),
        angular_velocity=spin,
    )  # fmt: skip
    pin = system.add_joint(Revolute(system.ground, rod, at_b=(0, 0, 0.5), axis_a=(0, 1, 0), name="pin"))
    system.add_force(Coulomb(pin, mu, normal="reaction", radius=0.1, velocity=0.05, name="rub"))
    return system


def bearing(angle: float, rate: float, mu: float = 0.4) -> tuple[float, float]:
    """The angular acceleration of the pendulum and N, by one equation for N."""

    def alpha(N: float) -> float:
        return (-2.0 * G * 0.5 * math.sin(angle) - mu * N * 0.1 * math.tanh(0.1 * rate / 0.05)) / (0.17 + 2.0 * 0.25)

    def size(N: float) -> float:
        return math.hypot(2.0 * (0.5 * rate**2 + G * math.cos(angle)), 2.0 * (0.5 * alpha(N) + G * math.sin(angle)))

    N = float(brentq(lambda N: N - size(N), 0.0, 1e3, xtol=1e-13))
    return alpha(N), N


def rod(mu: float, angle: float, **motion: Any) -> rbdae.System:
    """Painleve's rod: a slender one of length 1, at an angle to the line on which its end slides."""
    system = rbdae.System(gravity=(0, 0, -G))
    x = 0.5 * np.array([math.cos(angle), 0.0, math.sin(angle)])
    v, w = motion.get("velocity", 1.0), motion.get("rate", 0.0)
    body = system.add_body(
        "rod", mass=1.0, inertia=(0.01, 1 / 12, 1 / 12), position=x, orientation=Rotation.from_rotvec((0, -angle, 0)),
        velocity=np.add((v, 0, 0), np.cross((0, w, 0), x)), angular_velocity=(0, w, 0),
    )  # fmt: skip
    end = PointOnLine(system.ground, body, at_b=(-0.5, 0, 0), axis_a=(1, 0, 0), name="end")
    system.add_force(Coulomb(system.add_joint(end), mu, normal="reaction", name="rub"))
    return system


SYSTEMS = {"block": block, "sleeve": sleeve, "chain": chain, "slider crank": slider_crank, "pendulum": pendulum}


def start(system: rbdae.System, form: Any = "index-0", **choices: Any) -> tuple[rbdae.Problem, Any]:
    """A problem, and the rates and multipliers at its start, where its residual vanishes, by kernels in Python."""
    problem = rbdae.formulate(system, form, **choices)
    workspace = inside.workspace(problem)
    out = np.zeros(problem.layout.n_differential + problem.layout.n_constraints)
    workspace.plain(workspace.settings.kernels.rates)(problem.t0, problem.y0, out)
    residual = inside.in_plain_python(problem, "residual", problem.t0, problem.y0, problem.yd0)
    assert np.abs(residual).max() < 1e-12 * np.abs(out).max()
    return problem, out


# ---------------------------------------------------------------- closed forms


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.5])
def test_a_block_slides_down_an_incline(mu):
    """a = g (sin - mu cos)."""
    problem = rbdae.formulate(block(mu), "index-0")
    a = problem.yd0[problem.layout.v][:3]
    wanted = G * (math.sin(0.5) - mu * math.cos(0.5))
    assert a == pytest.approx(wanted * np.array([math.cos(0.5), 0.0, -math.sin(0.5)]), abs=1e-13)


@pytest.mark.parametrize("ahead", [0.02, 0.2])
def test_bearings_apart_take_moments(ahead):
    """A sleeve of length L, the load a distance e ahead: N = m g max(1, 2 e / L)."""
    system = rbdae.System(gravity=(0, 0, -G))
    body = system.add_body("body", mass=2.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    rail = system.add_joint(Prismatic(system.ground, body, at_b=(-ahead, 0, 0), axis_a=(1, 0, 0)))
    system.add_force(Coulomb(rail, 0.3, normal="reaction", length=0.1))
    problem = rbdae.formulate(system, "index-0")
    assert problem.yd0[problem.layout.v][0] == pytest.approx(-0.3 * G * max(1.0, 20.0 * ahead), rel=1e-12)


def test_the_bearing_of_a_pendulum():
    problem = rbdae.formulate(pendulum(), "null-space")
    alpha, N = bearing(1.1, -1.5)
    assert abs(problem.yd0[problem.layout.v][0]) == pytest.approx(abs(alpha), rel=1e-12)
    rub = problem.forces(problem.t0, problem.y0)["rub"]
    assert rub.normal == pytest.approx(N, rel=1e-12)
    slower = problem.y0 * np.where(np.arange(problem.n) < problem.layout.v.start, 1.0, 0.4)
    rub, N = problem.forces(0.0, slower)["rub"], bearing(1.1, -0.6)[1]
    assert rub.torque == pytest.approx(-0.4 * N * 0.1 * math.tanh(1.2), rel=1e-12)
    assert rub.power == pytest.approx(0.6 * rub.torque, rel=1e-12)


def test_a_slider_crank_against_a_solver_of_its_own():
    """Three frictions, each of which changes the reactions of the others."""
    problem, out = start(slider_crank())
    alpha, beta, *N = by_hand()
    v = out[problem.layout.v]
    assert [v[5], v[11]] == pytest.approx([alpha, beta], rel=1e-10)
    frictionless, _ = start(without(slider_crank()))
    assert abs(frictionless.yd0[frictionless.layout.v][5] - alpha) > 0.1 * abs(alpha)
    workspace, found = inside.workspace(problem), np.zeros(6)
    inside.in_python(workspace, inside.friction_margins)(problem.t0, problem.y0, found)
    assert found[3:] == pytest.approx(N, rel=1e-10)


def without(system: rbdae.System) -> rbdae.System:
    """The system with no friction."""
    return rbdae.formulate(system, "index-0").with_parameters({f"{f.name}.mu": 0.0 for f in system.forces}).system


# ---------------------------------------------------------------- all forms


@pytest.mark.parametrize(("name", "every"), [("sleeve", 5), ("chain", 11)])
def test_all_forms_have_the_same_multipliers(name, every):
    system, wanted = SYSTEMS[name](), None
    for pairing in cases.PAIRINGS[::every]:
        problem, out = start(system, pairing.formulation, rotation=pairing.rotation, velocity=pairing.velocity)
        la = out[len(out) - problem.layout.n_rows :]
        wanted = la if wanted is None else wanted
        assert la == pytest.approx(wanted, rel=1e-10, abs=1e-10 * np.abs(wanted).max()), pairing


@pytest.mark.parametrize(
    ("form", "choices"),
    [
        ("index-2", {"velocity": "coordinate"}),
        ("hiller-anantharaman", {}),
        (Index0(pull_back="moment"), {"velocity": "coordinate"}),
        ("null-space-ggl", {}),
        ("hamiltonian-eliminated", {}),
        ("baumgarte-ode", {"velocity": "spatial"}),
    ],
)
def test_jacobians_against_complex_steps(form, choices, rng):
    """Off the constraints, of residuals and right-hand sides."""
    problem = rbdae.formulate(sleeve(length=2.0), form, **choices)
    y, yd = (x + 1e-2 * rng.standard_normal(problem.n) for x in (problem.y0, problem.yd0))
    derivatives.check_residual_at(problem, y, yd)
    if problem.kind == "ode":
        derivatives.check_rhs_at(problem, y)


def test_plain_code_and_code_of_the_model_agree(rng):
    """And the values depend on their arguments alone, in any order of calls."""
    plain, traced = (cases.formulated(block(), "index-0", code=code) for code in ("plain", "auto"))
    states = plain.y0 + 1e-2 * rng.standard_normal((3, plain.n))
    found = [[p.rhs(0.0, y).copy() for y in (*states, *states[::-1])] for p in (plain, traced)]
    assert np.array(found[0]) == pytest.approx(np.array(found[1]), rel=1e-13, abs=1e-13)
    for each in found:
        assert np.array_equal(each[:3], each[:2:-1])
    J = [p.rhs_jacobian(0.0, states[0]) for p in (plain, traced)]
    assert J[0] == pytest.approx(J[1], rel=1e-12, abs=1e-12)


def test_matrices_have_the_friction():
    """M vdot + G^T la = psi."""
    problem = rbdae.formulate(sleeve(), "index-0")
    of, la = problem.matrices(0.0, problem.y0), problem.multipliers(0.0, problem.y0)
    assert of.M @ problem.yd0[problem.layout.v] + of.G.T @ la == pytest.approx(of.psi, abs=1e-12)


def test_derivatives_by_parameters():
    problem = rbdae.formulate(sleeve(length=2.0, floor=0.5), "index-2")
    for name in ("coulomb-1.mu", "coulomb-1.length", "coulomb-2.floor", "bar.at_b.x"):
        J = problem.parameter_jacobian(0.0, problem.y0, problem.yd0, [name])[:, 0]
        wanted, _ = inside.parameter_difference(problem, name, problem.y0, problem.yd0)
        assert pytest.approx(wanted, rel=1e-7, abs=1e-8 * np.abs(wanted).max()) == J, name


# ---------------------------------------------------------------- runs


@pytest.mark.parametrize(("form", "solver"), [("index-0", "rbdae:dop853"), ("index-2", "sksundae:ida")])
def test_energy_goes_into_friction(form, solver):
    """Along an incline, the way and the work are closed forms."""
    cases.need(solver)
    solution = rbdae.solve(rbdae.formulate(block(), form), (0.0, 0.5), solver=solver, rtol=1e-8, atol=1e-9)
    a, t = G * (math.sin(0.5) - 0.3 * math.cos(0.5)), 0.5
    way = 0.7 * t + 0.5 * a * t * t
    assert solution.joints["rail"].displacement[-1] == pytest.approx(way, rel=1e-6)
    work = -0.3 * 2.0 * G * math.cos(0.5) * way
    assert solution.energy.work[-1] == pytest.approx(work, rel=1e-6)
    assert np.abs(solution.energy.balance).max() < 1e-6 * abs(work)


# ---------------------------------------------------------------- what is refused


def test_painleves_rod_has_his_limit():
    """mu = 4 / 3 at tan(angle) = 2, the least at which a slender rod has no unique acceleration."""
    angle = math.atan(2.0)
    rbdae.formulate(rod(4.0 / 3.0 - 1e-6, angle), "index-0")
    for form in ("index-0", "index-3", "null-space"):
        with pytest.raises(ValueError, match=r"Painleve's paradox\), at t = 0 for 'rub' of joint 'end'"):
            rbdae.formulate(rod(4.0 / 3.0 + 1e-3, angle), form)


@pytest.mark.parametrize(("form", "solver"), [("index-0", "rbdae:dop853"), ("index-3", "solve_dae:Radau")])
def test_a_run_ends_at_the_paradox(form, solver):
    """mu 3 sin cos = 1 + 3 cos^2 is where the falling rod has to stop."""
    cases.need(solver)
    problem = rbdae.formulate(rod(1.5, 1.5, velocity=3.0, rate=1.0), form)
    with pytest.warns(rbdae.FailedRunWarning, match="'rub' of joint 'end'"):
        solution = rbdae.solve(problem, (0.0, 2.0), solver=solver, rtol=1e-7, atol=1e-7)
    assert not solution.success and solution.reason.name == "FRICTION"
    last = solution.states["rod"].orientation[-1].apply((1, 0, 0))
    limit = brentq(lambda u: 1.5 * 3.0 * math.sin(u) * math.cos(u) - 1.0 - 3.0 * math.cos(u) ** 2, 1.11, 1.5)
    assert math.atan2(last[2], last[0]) == pytest.approx(limit, abs=2e-2)
    assert np.isfinite(solution.y).all()


def test_a_reaction_that_is_not_unique_is_refused():
    system = rbdae.models.bricard()
    hinge = next(joint for joint in system.joints if isinstance(joint, Revolute))
    system.add_force(Coulomb(hinge, 0.1, normal="reaction", radius=0.01, name="rub"))
    with pytest.raises(ValueError, match=r"force 'rub': the reaction of joint .* is not unique.*normal= a number"):
        rbdae.formulate(system, "index-0", redundant="minimum-norm")
