"""Steps of the conserving schemes by their printed equations, and by how they are computed: blocks, series, all of a
step in one function, linear cost. The laws over all schemes: tests/laws/test_conserving.py."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cases
import inside
import numpy as np
import pytest
from conserving import Body, DirectorOracle, Oracle, left, rotation
from conserving_systems import JOINTS, chain, hinge, relative_energy, spring
from scipy.spatial.transform import Rotation
from test_conserving import SCHEMES, problem_of, run

import rbdae
from rbdae.forces import SpringDamper
from rbdae.joints import Fixed, Revolute, Spherical
from rbdae.problem import callbacks as steps

# ---------------------------------------------------------------- [BS09], QUAT.EM and DIR.EM


def split(problem: rbdae.Problem, y: Any) -> Any:
    """Positions and momenta of one body after the other."""
    n = problem.model.n
    m = problem.n // (2 * n)
    return np.stack([y[: m * n].reshape(n, m), y[m * n : 2 * m * n].reshape(n, m)], axis=1).ravel()


@pytest.mark.parametrize("scheme", ["QUAT.EM-R", "QUAT.EM", "DIR.EM"])
def test_steps_solve_the_printed_equations(scheme):
    """(51) in nine unknowns a body, the four lines of QUAT.EM-R, or nine directors, nine momenta, six multipliers:
    three steps of two hinged bodies with weight and a spring. The oracles form velocities from positions and
    differences of potentials: 1e-11."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    given = [(1.0, (2.0, 2.5, 3.0)), (2.0, (3.0, 3.75, 4.5))]
    a, b = (
        system.add_body(f"b{k}", mass=m, inertia=J, position=(2.0 * k, 0, 0), angular_velocity=(1.0, 2.0, 0.5 + k))
        for k, (m, J) in enumerate(given)
    )
    system.add_joint(JOINTS["revolute"](a, b))
    system.add_force(SpringDamper(a, b, stiffness=150.0, length=1.0, at_a=(0.3, 0.5, 0.0), at_b=(0.0, 0.7, 0.2)))
    problem, h = problem_of(system, scheme), 0.02
    bodies: Any = [Body(m, J, (0.0, 0.0, -9.81 * m)) for m, J in given]
    oracle: Any = (
        DirectorOracle(bodies, hinge, 5, spring)
        if scheme == "DIR.EM"
        else Oracle(bodies, hinge, 5, spring, rodrigues=scheme == "QUAT.EM-R")
    )
    y = split(problem, problem.y0)
    for row in run(problem, scheme, 3 * h, h).y[1:]:
        y = oracle.step(y, h)
        np.testing.assert_allclose(split(problem, row), y, rtol=0, atol=1e-11 * np.abs(y).max())


@pytest.mark.parametrize("scheme", ["QUAT.EM-R", "DIR.EM", "QUAT.VI", "MIDPOINT"])
def test_steps_of_a_body_with_products_of_inertia(scheme):
    """A matrix J, no principal axes, a centre of mass off the pivot: the same motion as in principal axes."""
    turn = Rotation.from_rotvec((0.4, 0.3, -0.8))
    Q = turn.as_matrix()
    runs = []
    for J, c, q, om in (
        (np.diag((2.0, 2.5, 3.0)), np.array((0.1, 0.2, 0.3)), Rotation.identity(), np.array((1.0, 2.0, 3.0))),
        (Q.T @ np.diag((2.0, 2.5, 3.0)) @ Q, Q.T @ (0.1, 0.2, 0.3), turn, Q.T @ (1.0, 2.0, 3.0)),
    ):
        system = rbdae.System(gravity=(0.0, 0.0, -9.81))
        system.add_body("b", mass=4.0, inertia=J, pivot=(0, 0, 0), center_of_mass=c, orientation=q, angular_velocity=om)
        runs.append(run(system, scheme, 2.0, 0.02))
    one, two = (found.states["b"] for found in runs)
    assert (one.orientation.inv() * two.orientation * turn.inv()).magnitude().max() < 1e-12
    assert scheme == "QUAT.VI" or relative_energy(runs[1]) < 1e-12


# ---------------------------------------------------------------- [BS09], Appendix E, QUAT.VI

PENDULUM = np.array([[2.0, 0.1, -0.2], [0.1, 2.5, 0.3], [-0.2, 0.3, 3.0]])
HEAVY, GRAVITY = 4.0, np.array([0.0, 0.0, -9.81])


def mass(q: Any) -> Any:
    """M4~(q) = 4 G(q)^T J G(q) of Remark 4.1."""
    G = left(q).T[1:]
    return 4.0 * G.T @ PENDULUM @ G


def point(x: Any, q: Any, at: Any) -> Any:
    return x + rotation(q) @ np.asarray(at)


def test_joints_are_constraints_of_the_printed_equations():
    """What (E1) leaves at a node is in the span of the gradients of |q| = 1 and of a ball joint."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    given = {"mass": HEAVY, "inertia": PENDULUM}
    a = system.add_body("a", **given, velocity=(1.0, 0.5, -0.2), angular_velocity=(1.0, 2.0, -1.0))
    b = system.add_body("b", **given, position=(2.0, 0.0, 0.0))
    system.add_joint(Spherical(a, b, at_a=(1.0, 0.2, 0.0), at_b=(-1.0, 0.2, 0.0)))
    h = 0.05
    y = run(system, "QUAT.VI", 6 * h, h).y
    nodes = [[(row[7 * k : 7 * k + 3], row[7 * k + 3 : 7 * k + 7]) for k in range(2)] for row in y]

    def slopes(q: Any, at: Any) -> Any:
        return np.array([(point(0.0, q + e, at) - point(0.0, q - e, at)) / 2.0 for e in np.eye(4)]).T

    for before, now, after in zip(nodes, nodes[1:], nodes[2:], strict=False):
        left_over, G = [], np.zeros((5, 14))
        for k, at in enumerate(((1.0, 0.2, 0.0), (-1.0, 0.2, 0.0))):
            (x0, q0), (x1, q1), (x2, q2) = before[k], now[k], after[k]
            left_over += [*(HEAVY * (2.0 * x1 - x0 - x2) / h), *((mass(q0) + mass(q2)) @ q1 / h)]
            sign = 1.0 - 2.0 * k
            G[:3, 7 * k : 7 * k + 3], G[:3, 7 * k + 3 : 7 * k + 7] = sign * np.eye(3), sign * slopes(q1, at)
            G[3 + k, 7 * k + 3 : 7 * k + 7] = q1
        rest = np.array(left_over)
        assert np.abs(rest).max() > 1.0
        assert np.abs(rest - G.T @ np.linalg.lstsq(G.T, rest, rcond=None)[0]).max() < 1e-11 * HEAVY / h


def test_a_free_body_in_the_gravity_has_its_parabola():
    system = rbdae.System(gravity=GRAVITY)
    system.add_body("body", mass=HEAVY, inertia=PENDULUM, velocity=(1.0, 2.0, 3.0), angular_velocity=(1.0, -2.0, 3.0))
    state = run(system, "QUAT.VI", 1.0, 0.05).states["body"]
    np.testing.assert_allclose(state.position[-1], np.array((1.0, 2.0, 3.0)) + 0.5 * GRAVITY, rtol=0, atol=1e-13)
    np.testing.assert_allclose(state.velocity[-1], np.array((1.0, 2.0, 3.0)) + GRAVITY, rtol=0, atol=1e-12)


# ---------------------------------------------------------------- [GR95], section 11, the mid-point rule

MASS, ARM, J = 5.0, np.array((0.0, 0.0, 1.3)), np.diag((0.8, 0.8, 1.8))
WEIGHT = np.array((0.0, 0.0, -9.81 * MASS))


def spin(a: Any) -> Any:
    return np.array([[0.0 * a[0], -a[2], a[1]], [a[2], 0.0 * a[0], -a[0]], [-a[1], a[0], 0.0 * a[0]]])


def halves(e: Any) -> Any:
    """F of (324), with (196)."""
    e0 = np.sqrt(1.0 - e @ e)
    return e0 * np.eye(3) + np.outer(e, e) / (1.0 + e0) + spin(e)


def conformal(c: Any) -> tuple[Any, Any, Any]:
    """4 - c0 of (254), R of (256) and F of (259)."""
    c0 = (16.0 - c @ c) / 8.0
    R = ((c0**2 + 8.0 * c0 - 16.0) * np.eye(3) + 2.0 * np.outer(c, c) + 2.0 * c0 * spin(c)) / (4.0 - c0) ** 2
    return 4.0 - c0, R, (c0 * np.eye(3) + np.outer(c, c) / 4.0 + spin(c)) / (4.0 - c0)


def printed(reading: str, start: Any, u: Any, h: float) -> tuple[Any, Any]:
    """The residual in u = (x1, parameters of the increment, lambda), and (x1, R1, v1, Om1)."""
    x0, R0, v0, Om0 = start
    x1, a, la = u[:3], u[3:6], u[6:]
    h0, v1 = R0 @ J @ Om0, 2.0 / h * (x1 - x0) - v0
    linear = 2.0 * MASS / h**2 * (x1 - x0) - 2.0 / h * MASS * v0 - la - WEIGHT  # (309)
    if reading == "rodrigues":  # b = h Om_mean / 2, (183), (306) with the sign of (301) on the mean of both ends
        R1 = R0 @ (np.eye(3) + 2.0 / (1.0 + a @ a) * (spin(a) + spin(a) @ spin(a)))
        Om1 = 4.0 * a / h - Om0
        angular = (R1 @ J @ Om1 - h0) / h + spin(0.5 * (x0 + x1)) @ la
        return np.concatenate([linear, angular, x1 - R1 @ ARM]), (x1, R1, v1, Om1)
    if reading == "conformal":  # c = h Om_mean, with the arm for which the work of lambda is exact
        scale, dR, F = conformal(a)
        R1, Om1 = R0 @ dR, 2.0 * a / h - Om0
        angular = (R1 @ J @ Om1 - h0) / h + spin(2.0 / scale * R0 @ F @ ARM) @ la
        return np.concatenate([linear, angular, x1 - R1 @ ARM]), (x1, R1, v1, Om1)
    if reading == "(332)":
        scale, _, F = conformal(a)
        e = a / scale  # (329): vect(F)
    else:
        F, e = halves(a), a
    Rh = R0 @ F
    angular = 4.0 / h**2 * R0 @ F @ J @ F.T @ e - 2.0 / h * h0 + spin(Rh @ ARM) @ la  # (331), (332)
    closed = x1 - x0 + 2.0 * Rh @ spin(ARM) @ F.T @ e  # (340)
    R1 = Rh @ F
    Om1 = 4.0 * e / h - Om0 if reading == "(326)" else np.linalg.solve(J, R1.T @ (4.0 / h * Rh @ J @ e - h0))
    return np.concatenate([linear, angular, closed]), (x1, R1, v1, Om1)


def step(reading: str, start: Any, h: float) -> Any:
    """(x1, R1, v1, Om1) of a step from `start`, by Newton's method with complex steps."""
    x0, _, v0, Om0 = start
    u = np.concatenate([x0 + h * v0, h * Om0 * {"conformal": 1.0, "(332)": 1.0}.get(reading, 0.5), np.zeros(3)])
    for _ in range(8):
        columns = []
        for i in range(9):
            v = u.astype(complex)
            v[i] += 1e-30j
            columns.append(printed(reading, start, v, h)[0].imag / 1e-30)
        u = u - np.linalg.solve(np.array(columns).T, printed(reading, start, u, h)[0])
    return printed(reading, start, u, h)[1]


READINGS = {
    "rodrigues": "MIDPOINT",
    "conformal": "MIDPOINT (conformal)",
    "(310)": "MIDPOINT (310)",
    "(332)": "MIDPOINT (310)",
    "(326)": "MIDPOINT (326)",
}


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("case", [1, 2])
def test_midpoint_steps_solve_the_printed_equations(reading, case):
    """Three steps of the top of 11.6, each from the state of the run; the conformal vector of (332) is (331) again."""
    h = 0.01
    found = run(rbdae.models.rotations_top(case=case), READINGS[reading], 3 * h, h)
    body = found.states["top"]
    for k in range(3):
        turn = body.orientation[k].as_matrix()
        x, R, v, Om = step(reading, (body.position[k], turn, body.velocity[k], body.angular_velocity[k]), h)
        np.testing.assert_allclose(body.position[k + 1], x, rtol=0, atol=1e-11)
        np.testing.assert_allclose(body.orientation[k + 1].as_matrix(), R, rtol=0, atol=1e-11)
        np.testing.assert_allclose(body.velocity[k + 1], v, rtol=0, atol=1e-11 * 65.0)
        np.testing.assert_allclose(body.angular_velocity[k + 1], Om, rtol=0, atol=1e-11 * 50.0)


@pytest.mark.parametrize(("scheme", "other"), [("MIDPOINT", "QUAT.EM-R"), ("MIDPOINT (conformal)", "QUAT.EM")])
def test_rodrigues_and_conformal_take_the_steps_of_the_hamiltonian_paper(scheme, other):
    """There in momenta, here in angular velocities."""
    one, two = (run(rbdae.models.rotations_top(case=2), name, 0.2, 1e-3) for name in (scheme, other))
    np.testing.assert_allclose(one.y[:, :7], two.y[:, :7], rtol=0, atol=1e-11)


# ---------------------------------------------------------------- how a step is computed

VARIANTS = {
    "energy-momentum": ("rodrigues", "paper"),
    "variational": ("quat-vi",),
    "simo-wong": ("algo-c1", "energy-momentum"),
    "midpoint": ("conformal", "average-momentum", "average-velocity"),
}


def _problem(method: str, system: rbdae.System) -> rbdae.Problem:
    if method in ("energy-momentum", "variational"):
        return rbdae.formulate(system, "hamiltonian-eliminated", velocity="momentum")
    return rbdae.formulate(system, "index-0")


@pytest.mark.parametrize(("method", "variant"), [(m, v) for m, variants in VARIANTS.items() for v in variants])
@pytest.mark.parametrize("order", [2, 4])
def test_a_step_in_one_function_is_that_of_its_kernels(method, variant, order, monkeypatch):
    """The same states and iterations, forward and back, with output times."""
    if order == 4 and variant == "average-velocity":
        pytest.skip("it is not symmetric")
    spans = ((0.0, 0.3), (0.0, -0.3))
    options = {"solver": f"rbdae:{method}", "variant": variant, "order": order, "step": 4e-3}
    runs = []
    for whole in (True, False):
        if not whole:
            monkeypatch.setattr(steps, "LONGEST_STEP", 0)
        problem = _problem(method, rbdae.models.heavy_top())
        runs.append([rbdae.solve(problem, span, **options) for span in spans])
        runs[-1].append(rbdae.solve(problem, spans[0], t_eval=np.linspace(0.0, 0.3, 7), **options))
        scheme = inside.steps_of(runs[-1][0].problem, inside.FIXED_SCHEMES[method][variant])
        assert (scheme.step is not None) == whole
    for one, other in zip(*runs, strict=True):
        assert one.success and one.stats.evaluations == other.stats.evaluations
        np.testing.assert_array_equal(one.t, other.t)
        np.testing.assert_allclose(one.y, other.y, rtol=0, atol=1e-12 * np.abs(other.y).max())


def test_unknowns_are_extrapolated():
    """Newton's method begins nearer: two iterations a step where the unknowns of the step before need three."""
    problem = rbdae.formulate(rbdae.models.chain(10), "hamiltonian-eliminated", velocity="momentum")
    found = rbdae.solve(problem, (0.0, 0.1), solver="rbdae:energy-momentum", step=1e-3)
    assert found.stats.evaluations < 2.2 * found.stats.steps


def _welded(n: int) -> rbdae.System:
    """A chain of hinges in which every third joint holds all six motions of its body."""
    system = rbdae.System()
    before = system.ground
    for k in range(n):
        body = system.add_body(f"link{k}", mass=1.0, inertia=(1.0, 1.2, 1.4), position=(k + 0.5, 0.0, 0.0))
        ends: dict[str, Any] = {"at_a": (0.5 if k else 0.0, 0, 0), "at_b": (-0.5, 0, 0)}
        if k % 3 == 1:
            system.add_joint(Fixed(before, body, **ends))
        else:
            system.add_joint(Revolute(before, body, axis_a=(0, 0, 1), axis_b=(0, 0, 1), **ends))
        before = body
    return system


def _driven(n: int) -> rbdae.System:
    """A chain with weight whose first body turns as it has to, with a damper from there to the ground."""
    system = _welded(n)
    motor = system.add_body("motor", mass=1.0, inertia=(1.0, 1.2, 1.4), position=(-0.5, 0.0, 0.0))
    joint = Revolute(system.ground, motor, at_b=(0.5, 0.0, 0.0), axis_a=(0, 0, 1), axis_b=(0, 0, 1))
    system.add_joint(joint)
    system.add_joint(rbdae.drives.PrescribedAngle(joint, lambda t: 0.3 * t))
    system.add_force(SpringDamper(system.ground, motor, stiffness=3.0, damping=2.0, length=1.0, at_a=(0.0, -1.0, 0.0)))
    return system


@pytest.mark.parametrize(
    ("scheme", "build"),
    [
        ("QUAT.EM-R", lambda: chain("cylindrical", 20)),
        ("DIR.EM", lambda: _driven(19)),
        ("QUAT.VI", lambda: rbdae.models.n_four_bar(10)),
        ("ALGO.C1 (energy)", lambda: _welded(20)),
    ],
    ids=["springs", "drive", "loops", "welds"],
)
def test_iterations_by_elements_are_those_of_the_whole_model(scheme, build):
    """Bodies and joints of long models fill rows and tangent; plain code records the model as a whole."""
    one, two = (run(problem_of(build(), scheme, code=code), scheme, 0.02, 0.01) for code in ("auto", "plain"))
    assert one.stats.evaluations == two.stats.evaluations
    np.testing.assert_allclose(one.y, two.y, rtol=0, atol=1e-12 * np.abs(two.y).max())


def _coupled(scheme: str) -> rbdae.System:
    """20 hinged bodies, with springs where the scheme has them."""
    system = chain("revolute", 20, springs=False)
    for a, b in [*pairwise(system.bodies)][::3] if SCHEMES[scheme].springs else ():
        system.add_force(SpringDamper(a, b, stiffness=200.0, length=1.0, at_a=(0.3, 0.5, 0.0), at_b=(0.0, 0.7, 0.2)))
    return system


LONG = [(scheme, what) for scheme in SCHEMES for what in ("chain", "ladder")]
BY_DAY = [("QUAT.VI", "ladder"), ("MIDPOINT (326)", "chain")]


@pytest.mark.parametrize(
    ("scheme", "what"), [pytest.param(*case, marks=[pytest.mark.nightly] * (case not in BY_DAY)) for case in LONG]
)
def test_fifty_steps_by_elements_are_those_of_the_whole_model(scheme, what):
    """Code with the numbers folded in has no elements. Momenta are differences of positions over the step, so that the
    rounding of these adds eps |q| m / h to them in each of n steps; ten times that, as motions that are near each other
    part."""
    n, h, runs = 50, 0.01, []
    for code in ("auto", "folded"):
        system = _coupled(scheme) if what == "chain" else rbdae.models.n_four_bar(10)
        problem = problem_of(system, scheme, code=code)
        runs.append(run(problem, scheme, n * h, h))
        assert runs[-1].success and runs[-1].stats.code == {"auto": "machine"}.get(code, code)
    one, two = runs
    size = np.abs(two.y[:, problem.layout.q]).max() * max(body.mass for body in system.bodies)
    assert one.stats.fallbacks == 0
    np.testing.assert_allclose(one.y, two.y, rtol=0, atol=10 * n * np.finfo(float).eps * size / h)


def _row(mass: float) -> rbdae.System:
    """20 bodies with ball joints."""
    system = rbdae.System()
    before = system.ground
    for k in range(20):
        given = {"mass": mass, "inertia": np.array((1.0, 1.2, 1.4)) * mass, "position": (k + 0.5, 0.0, 0.0)}
        body = system.add_body(f"link{k}", **given, angular_velocity=(0.1 * (k % 3), 0.2, 0.3))
        system.add_joint(Spherical(before, body, at_a=(0.5 if k else 0.0, 0, 0), at_b=(-0.5, 0, 0)))
        before = body
    return system


def test_bodies_that_are_too_light_for_the_pivots_of_elements():
    """The guard on the growth of 1 / pivot lets plain code of the whole model take the step. The motion does not depend
    on the unit of mass."""
    runs = [run(_row(mass), "QUAT.EM-R", 0.02, 0.01) for mass in (1.0, 1e-22)]
    one, two = runs
    assert one.success and one.stats.fallbacks == 0
    assert two.success and two.stats.fallbacks == two.stats.evaluations > 0
    q = one.problem.layout.q
    np.testing.assert_allclose(two.y[:, q], one.y[:, q], rtol=0, atol=1e-13 * np.abs(one.y[:, q]).max())
    np.testing.assert_allclose(two.y[:, q.stop :] * 1e22, one.y[:, q.stop :], rtol=0, atol=1e-12)


@pytest.mark.parametrize("build", [_welded, rbdae.models.n_four_bar], ids=["welds", "windows"])
def test_bodies_and_joints_are_eliminated_at_linear_cost(build):
    """A joint that closes a loop waits for the bodies of its loop alone; one with as many equations as its body has
    unknowns is eliminated with it, or would wait for the whole chain."""
    sizes = []
    for n in (3, 6, 12):
        problem = cases.formulated(build(n), "hamiltonian-eliminated", velocity="momentum", code="plain")
        sizes.append(inside.nodes_of_an_iteration(problem, "QUAT.EM-R"))
    assert (sizes[2] - sizes[1]) / (sizes[1] - sizes[0]) == pytest.approx(2.0, rel=0.05)
