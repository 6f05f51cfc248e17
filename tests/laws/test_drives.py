"""Drives: the laws of derivatives and starts with constraints that depend on time, a driven pendulum against a scalar
equation, and laws that contradict themselves."""

from __future__ import annotations

from functools import cache

import cases
import numpy as np
import pytest
import scipy.interpolate
import test_derivatives as derivatives
from cases import Pairing, close
from inside import Vec, twin
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from test_benchmarks import each_run

import rbdae
from rbdae import drives, joints

START = 0.3


HALVES = (("cart", "bob"), ("arm", "tool"))
"""Bodies of `cases.driven` with no joint between them: a displacement; an angle, a length and a point."""


def _half(of: int) -> rbdae.System:
    whole = cases.driven()
    system = rbdae.System(gravity=whole.gravity)
    made = {"ground": system.ground}
    for body in whole.bodies:
        if body.name in HALVES[of]:
            given = {name: getattr(body, name) for name in ("mass", "inertia", "center_of_mass", *body.given)}
            made[body.name] = system.add_body(body.name, **given)
    joints = {}
    for joint in whole.joints:
        if {body.name for body in joint.bodies} <= set(made):
            more = {"joint": joints[joint.joint.name]} if hasattr(joint, "joint") else {}
            bodies = dict(zip("ab", (made[body.name] for body in joint.bodies), strict=True))
            joints[joint.name] = system.add_joint(twin(joint, **(more or bodies)))
    return system


@cache
def _problem(pairing: Pairing) -> rbdae.Problem:
    """One half or the other, in turn."""
    return cases.formulate(_half(cases.ALL_PAIRINGS.index(pairing) % 2), pairing, t0=START)


@cache
def _reference(of: int | None = None) -> rbdae.Problem:
    """Of the whole system, or a half."""
    return cases.formulate(cases.driven() if of is None else _half(of), cases.REFERENCE, t0=START)


def _rates(problem: rbdae.Problem, y: Vec) -> Vec:
    """Consistent rates, without multipliers."""
    out = np.zeros(problem.n)
    out[: problem.layout.v.stop] = problem.rates(START, y)[0]
    return out


def _flow(problem: rbdae.Problem, what: str, y: Vec) -> Vec:
    """d/dt of g or gdot along the motion through y, time and state together, to order four."""
    rates, h = _rates(problem, y), 1e-3

    def at(s: float) -> Vec:
        return np.asarray(getattr(problem.constraints(START + s, y + s * rates), what))

    return np.asarray((8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h))


PAIRINGS = cases.covering(cases.turns(0))
"""One list, whose problems the tests share."""


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("pairing", PAIRINGS, ids=str)
def test_driven_systems_start_consistently(pairing):
    problem = _problem(pairing)
    assert np.abs(problem.residual(START, problem.y0, problem.yd0)).max() < 1e-10
    g = problem.constraints(START, problem.y0)
    assert np.abs(g.position).max() < 1e-12
    assert np.abs(g.velocity).max() < 1e-12
    # the velocity constraint is the rate of the position constraint, the rates satisfy that of accelerations
    assert np.abs(_flow(problem, "position", problem.y0)).max() < 1e-8
    assert np.abs(_flow(problem, "velocity", problem.y0)).max() < 1e-8


@pytest.mark.parametrize("pairing", PAIRINGS, ids=str)
def test_velocity_constraints_are_rates_off_the_manifold_too(pairing, rng):
    problem = _problem(pairing)
    y = problem.y0 + 0.1 * rng.standard_normal(problem.n)
    rates = _rates(problem, y)
    scale = max(1.0, float(np.abs(rates).max()))
    found = _flow(problem, "position", y)
    assert np.abs(found - problem.constraints(START, y).velocity).max() < 1e-7 * scale


@pytest.mark.parametrize("pairing", PAIRINGS, ids=str)
def test_derivatives_of_driven_systems(pairing, rng):
    problem = _problem(pairing)
    y, yd = (x + 0.1 * rng.standard_normal(problem.n) for x in (problem.y0, problem.yd0))
    derivatives.check_residual_at(problem, y, yd)
    if problem.kind == "ode":
        derivatives.check_rhs_at(problem, problem.y0 + 0.05 * rng.standard_normal(problem.n))


@pytest.mark.parametrize("pairing", PAIRINGS, ids=str)
def test_drives_push_the_same_in_all_forms(pairing):
    problem, reference = _problem(pairing), _reference(cases.ALL_PAIRINGS.index(pairing) % 2)
    found, wanted = (p.reactions(START, p.y0) for p in (problem, reference))
    for joint in wanted:
        for body in wanted[joint]:
            for what in ("force", "torque"):
                one, other = getattr(wanted[joint][body], what), getattr(found[joint][body], what)
                assert close(other, one, 1e-8, 10.0), (joint, body, what)
    a, b = (p.natural(START, p.y0) for p in (problem, reference))
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


def test_the_drives_do_the_work():
    """The total energy changes by the power of the drives: reaction times the velocity that the law prescribes."""
    problem = _reference()
    t, y, h = START, problem.y0, 1e-4
    rates = _rates(problem, y)
    E = [problem.energy(t + s, y + s * rates).total for s in (-h, h)]
    states, reactions = problem.states(t, y), problem.reactions(t, y)
    push = reactions["push"]["cart"].force @ (0.15 * np.cos(3 * t), 0.0, 0.0)
    motor = reactions["motor"]["arm"].torque @ (2.0 + 2.0 * t, 0.0, 0.0)
    guide = reactions["guide"]["tool"].force @ (0.0, 0.2 * t, 0.0)
    tool, arm = states["tool"], states["arm"]
    end = tool.position + tool.orientation.apply((0.1, 0.2, 0.3))
    along = (end - arm.position) / np.linalg.norm(end - arm.position)
    hoist = reactions["hoist"]["tool"].force @ along * 0.1 * np.cos(t)
    power = float(push + motor + guide + hoist)
    assert abs(power) > 0.1
    assert abs((E[1] - E[0]) / (2 * h) - power) < 1e-6 * max(1.0, abs(power))


# ---------------------------------------------------------------- the pendulum on a carriage


@each_run
def test_the_model_of_a_driven_pendulum(run):
    a, w, l, m, angle = 0.2, 4.0, 0.8, 2.0, 0.5
    given = {"amplitude": a, "frequency": w, "length": l, "mass": m, "angle": angle}
    solution = run("driven_pendulum", np.array((1.0, 2.0)), given)
    c, J = 0.5 * l, m * l * l / 12.0
    share = m * c / (J + m * c * c)

    def rhs(t: float, z: Vec) -> list[float]:
        return [z[1], share * (-a * w * w * np.sin(w * t) * np.cos(z[0]) - 9.81 * np.sin(z[0]))]

    wanted = solve_ivp(rhs, (0.0, 2.0), (angle, share * a * w * np.cos(angle)), method="DOP853", rtol=1e-12, atol=1e-12)
    rod = solution.problem.states(2.0, solution.y[-1])["pendulum"]
    phi, speed = wanted.y[:, -1]
    np.testing.assert_allclose(
        rod.position, (a * np.sin(2.0 * w) - c * np.sin(phi), 0.0, -c * np.cos(phi)), rtol=0, atol=1e-8
    )
    np.testing.assert_allclose(rod.angular_velocity, (0.0, speed, 0.0), rtol=0, atol=1e-7)


# ---------------------------------------------------------------- angles


def _turntable(law: object) -> rbdae.System:
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    disc = system.add_body("disc", mass=1.0, inertia=(1.0, 1.0, 1.5))
    hinge = system.add_joint(joints.Revolute(system.ground, disc, axis_a=(0, 0, 1), axis_b=(0, 0, 1)))
    system.add_joint(drives.PrescribedAngle(hinge, law, name="motor"))
    return system


SPIN = (lambda t: 0.5 + 4.0 * t + 3.0 * t * t, lambda t: 4.0 + 6.0 * t, lambda t: 6.0)


@pytest.mark.parametrize("rotation", ["quaternion", "directors"])
@pytest.mark.parametrize("formulation, solver", [("index-0", "scipy:DOP853"), ("ggl", "sksundae:ida")])
def test_an_angle_is_driven_through_several_turns(formulation, solver, rotation):
    """Nothing is special at pi or 2 pi; the torque is J times the angular acceleration all the time."""
    problem = rbdae.formulate(_turntable(SPIN), formulation, rotation=rotation)
    t = np.linspace(0.0, 3.0, 40)
    solution = rbdae.solve(problem, (0.0, 3.0), solver=solver, rtol=1e-9, atol=1e-9, t_eval=t)
    assert solution.success, solution.message
    angle = 0.5 + 4.0 * t + 3.0 * t * t
    assert angle[-1] > 6 * 2 * np.pi
    R = solution.states["disc"].orientation.as_matrix()
    # directors with angular velocities keep no constraint of orthonormality: their error is that of the solver
    np.testing.assert_allclose(R[:, 0, 0], np.cos(angle), rtol=0, atol=1e-5)
    np.testing.assert_allclose(R[:, 1, 0], np.sin(angle), rtol=0, atol=1e-5)
    torque = problem.reactions(solution.t, solution.y)["motor"]["disc"].torque
    np.testing.assert_allclose(torque[:, 2], 1.5 * 6.0, rtol=1e-4)


@pytest.mark.parametrize("start", [1.7, 3.0, 4.0, -2.0])
def test_the_angle_is_found_from_any_side_of_the_axis(start):
    """The equation of the drive holds half a turn away, too: the bodies would follow the wrong angle in silence."""
    law = (lambda t: start + t, lambda t: 1.0, lambda t: 0.0)
    unknown = rbdae.formulate(_turntable(law), "index-0")
    assert unknown.assembly.changes == ()
    for placed in (0.0, start - 1.4, start + 1.4, start + np.pi, start + 2.0 * np.pi):
        system = rbdae.System(gravity=(0.0, 0.0, 0.0))
        disc = system.add_body(
            "disc", mass=1.0, inertia=(1, 1, 1.5), orientation=Rotation.from_rotvec((0.0, 0.0, placed))
        )
        axes = {"axis_a": (0, 0, 1), "axis_b": (0, 0, 1), "normal_a": (1, 0, 0), "normal_b": (1, 0, 0)}
        system.add_joint(drives.PrescribedAngle(system.add_joint(joints.Revolute(system.ground, disc, **axes)), law))
        for problem in (unknown, rbdae.formulate(system, "index-0", consistent="project")):
            turn = problem.states(0.0, problem.y0)["disc"].orientation
            assert (turn * Rotation.from_rotvec((0, 0, -start))).magnitude() < 1e-12
        changes = problem.assembly.changes
        assert [change.quantity for change in changes] == ([] if placed == start + 2.0 * np.pi else ["orientation"])


# ---------------------------------------------------------------- kinds of laws

T = np.linspace(-0.5, 1.5, 60)


def _called_law(t):
    try:  # no arithmetic: it is called, and its derivatives are those of numbers
        return 0.2 * np.sin(2.0 * t)
    except ArithmeticError:
        return 0.0


PLAIN_LAW = (lambda t: 0.2 * np.sin(2 * t), lambda t: 0.4 * np.cos(2 * t), lambda t: -0.8 * np.sin(2 * t))
LAWS = {
    "cubic spline": (lambda: scipy.interpolate.CubicSpline(T, 0.2 * np.sin(2 * T)), 1e-4),
    "B-spline": (lambda: scipy.interpolate.make_interp_spline(T, 0.2 * np.sin(2 * T), k=5), 1e-6),
    "list": (lambda: list(PLAIN_LAW), 1e-9),
    "called": (lambda: _called_law, 1e-9),
}


@pytest.mark.parametrize("kind", LAWS)
def test_laws_of_every_kind_drive_the_same(kind):
    law, level = LAWS[kind]
    found, wanted = (rbdae.formulate(_turntable(s), "index-0") for s in (law(), PLAIN_LAW))
    runs = [rbdae.solve(p, (0.0, 1.0), solver="scipy:DOP853", rtol=1e-10, atol=1e-10) for p in (found, wanted)]
    assert all(run.success for run in runs)
    states = [run.states["disc"] for run in runs]
    for name in ("orientation", "angular_velocity"):
        one, other = (getattr(s, name)[-1] for s in states)
        if name == "orientation":
            one, other = one.as_rotvec(), other.as_rotvec()
        np.testing.assert_allclose(one, other, rtol=0, atol=level)


# ---------------------------------------------------------------- refusals


def _formulate(law: object) -> rbdae.Problem:
    return rbdae.formulate(_turntable(law), "index-0")


@pytest.mark.parametrize(
    "law, facts",
    [
        ((lambda t: t * t, lambda t: t, lambda t: 1.0), ["contradict", "s' is given as"]),
        ((lambda t: t * t, lambda t: 2 * t, lambda t: -2.0), ["contradict", "s'' is given as"]),
        ((lambda t: np.nan, np.cos, np.sin), ["s is (nan)"]),
        ((np.sin, np.cos, lambda t: np.inf), ["s'' is (inf)"]),
        (
            (lambda t: (t, t), lambda t: (1.0, 1.0), lambda t: (0.0, 0.0)),
            ["(0.0, 0.0)", "shape (2,)", "return 1 number"],
        ),
        (lambda t: float(f"{t:.3f}"), ["cannot be differentiated", "(s, s', s'')"]),
        ((np.sin, np.cos), ["(s, s', s'')"]),
        (3.0, ["3.0", "three functions"]),
    ],
)
def test_laws_that_cannot_be_are_refused(law, facts):
    with pytest.raises((TypeError, ValueError), match="'motor'") as caught:
        _formulate(law)
    assert all(fact in str(caught.value) for fact in facts), caught.value


def test_a_point_moves_with_three_components():
    system = rbdae.System()
    body = system.add_body("body", mass=1.0, inertia=(1, 1, 1))
    scalar = (lambda t: t, lambda t: 1.0, lambda t: 0.0)
    system.add_joint(drives.PointMotion(body, system.ground, scalar, name="guide"))
    with pytest.raises(ValueError, match=r"joint 'guide': s.{0,2} at t = .* of shape \(\); return 3 numbers"):
        rbdae.formulate(system)


class _BrokenError(Exception):
    pass


@pytest.mark.parametrize(
    "formulation, solver",
    [
        ("index-0", "scipy:DOP853"),
        ("ggl", "sksundae:ida"),
        ("index-2", "assimulo:Radau5DAE"),
        ("index-0", "scipy:LSODA"),
    ],
)
def test_an_exception_in_a_law_reaches_the_user(formulation, solver):
    """A plain Python law is called from compiled code, which cannot pass exceptions on; it is raised all the same."""
    cases.need(solver)

    def broken(t: float) -> float:
        if t > 0.5:
            raise _BrokenError(f"no law at {t > 0.5}")
        return 0.3 * np.sin(t)

    problem = _formulate((broken, lambda t: 0.3 * np.cos(t), lambda t: -0.3 * np.sin(t)))
    problem = rbdae.formulate(problem.system, formulation)
    with pytest.raises(_BrokenError, match="no law at True"):
        rbdae.solve(problem, (0.0, 1.0), solver=solver, rtol=1e-8, atol=1e-8)
    # and nothing of it is left for the next call
    assert np.isfinite(problem.residual(0.0, problem.y0, problem.yd0)).all()
