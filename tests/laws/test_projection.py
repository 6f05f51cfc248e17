"""Projection onto the constraint manifold against the explicit forms of [NS] (section 6)."""

from __future__ import annotations

import cases
import inside
import numpy as np
import pytest
from cases import PAIR_IDS, PAIRS, Pairing
from scipy.spatial.transform import Rotation

import rbdae

PATIENT = rbdae.Projection(max_iterations=50)
PAPER = rbdae.Projection(velocities="tangential")
"""[NS], section 6."""


def _scale(problem: rbdae.Problem, y: np.ndarray) -> float:
    """What rounding is relative to: squares of lengths, and lengths times speeds, of the terms of the constraints."""
    A = max(1.0, float(np.abs(problem.model.primitives["A"]).max(initial=0.0)))
    return A**2 * max(1.0, float(np.abs(problem.natural(0.0, y)).max()))


def _drift(problem: rbdae.Problem, y: np.ndarray) -> tuple[float, float]:
    g = problem.constraints(0.0, y)
    return float(np.abs(g.position).max(initial=0.0)), float(np.abs(g.velocity).max(initial=0.0))


def _drifted(problem: rbdae.Problem, rng: np.random.Generator, size: float) -> np.ndarray:
    y = problem.y0.copy()
    n = problem.layout.v.stop
    y[:n] += size * rng.standard_normal(n)
    return y


@pytest.mark.parametrize("system, pairing", PAIRS, ids=PAIR_IDS)
def test_projection_reaches_the_manifold_and_stays(system, pairing, rng):
    problem = cases.problem(system, pairing)
    skipping, y = rbdae.Projection(tolerance=1e-11).bind(problem), problem.y0.copy()
    assert skipping(0.0, y) is False and np.array_equal(y, problem.y0)  # it has not drifted
    assert (skipping.count, skipping.skipped, skipping.largest, skipping.total) == (0, 1, 0.0, 0.0)
    for size in (1e-9, 1e-5, 1e-2):
        y = _drifted(problem, rng, size)
        before = y.copy()
        out = problem.project(0.0, y, PATIENT)
        np.testing.assert_array_equal(y, before)  # a copy is corrected
        rounding = 6e-14 * _scale(problem, out)  # of what is within the model's reach
        assert max(_drift(problem, out)) < rounding
        again = problem.project(0.0, out, PATIENT)
        assert np.abs(again - out).max() < 30 * rounding  # momenta carry masses
        # no larger than what was put in
        assert np.abs(out - y)[problem.layout.q].max() < 20 * size
        np.testing.assert_array_equal(out[problem.layout.la], y[problem.layout.la])


# ---------------------------------------------------------------- explicit forms


def _free_body(pairing: Pairing) -> rbdae.Problem:
    system = rbdae.System()
    system.add_body(
        "body", mass=2.0, inertia=cases.INERTIA, position=(1, 2, 3), velocity=(0.3, -0.2, 0.1),
        orientation=Rotation.from_rotvec((0.5, -0.8, 0.3)), angular_velocity=(1.0, -2.0, 0.5),
    )  # fmt: skip
    return cases.formulate(system, pairing)


QUATERNIONS = [p for p in cases.PAIRINGS if p.rotation == "quaternion"]
DIRECTORS = [p for p in cases.PAIRINGS if p.rotation == "directors"]


@pytest.mark.parametrize("velocities", ["angular", "tangential"])
@pytest.mark.parametrize("pairing", QUATERNIONS, ids=str)
def test_quaternions_are_normalised(pairing, velocities, rng):
    """(63): p = p*/|p*|, pdot = pdot* - <p, pdot*> p where pdot is an unknown; or this over |p*|, which keeps Omega."""
    problem = _free_body(pairing)
    y = _drifted(problem, rng, 0.1)
    out = problem.project(0.0, y, rbdae.Projection(velocities=velocities))
    norm = np.linalg.norm(y[3:7])
    p = y[3:7] / norm
    wanted = y.copy()
    wanted[3:7] = p
    if not pairing.angular:  # of the momenta the same part is radial, M4 = 4 Q diag(J0, J) Q^T
        v = slice(problem.layout.v.start + 3, problem.layout.v.start + 7)
        wanted[v] = (y[v] - (p @ y[v]) * p) / (norm if velocities == "angular" else 1.0)
    # some roundings of the largest momentum, which is subtracted from
    np.testing.assert_allclose(out, wanted, rtol=0, atol=1e-14 * np.abs(y).max())


def _spurrier_klumpp(R: np.ndarray) -> np.ndarray:
    """As the paper has it (section 6), component by component."""
    d = {(n, m): R[m - 1, n - 1] for n in (1, 2, 3) for m in (1, 2, 3)}  # d_n^m
    trace = d[1, 1] + d[2, 2] + d[3, 3]
    n = int(np.argmax([trace, d[1, 1], d[2, 2], d[3, 3]]))
    p = np.empty(4)
    if n == 0:
        p[0] = np.sqrt(1 + trace) / 2
        p[1:] = np.array([d[2, 3] - d[3, 2], d[3, 1] - d[1, 3], d[1, 2] - d[2, 1]]) / (4 * p[0])
        return p
    p[n] = np.sqrt(d[n, n] / 2 + (1 - trace) / 4)
    i, j = {1: (2, 3), 2: (3, 1), 3: (1, 2)}[n]
    p[0] = (d[i, j] - d[j, i]) / (4 * p[n])
    for m in (i, j):
        p[m] = (d[n, m] + d[m, n]) / (4 * p[n])
    return p


@pytest.mark.parametrize("pairing", DIRECTORS, ids=str)
def test_directors_go_through_a_quaternion(pairing, rng):
    """(64, P): d = phi(p/|p|) with p by the algorithm of [Klu76] and [Spu78]."""
    problem = _free_body(pairing)
    for _ in range(5):
        y = _drifted(problem, rng, 0.05)
        y[3:12] = Rotation.random(random_state=rng).as_matrix().T.reshape(9) + 0.02 * rng.standard_normal(9)
        out = problem.project(0.0, y, PAPER)
        p = _spurrier_klumpp(y[3:12].reshape(3, 3).T)
        R = Rotation.from_quat(p[[1, 2, 3, 0]]).as_matrix()
        np.testing.assert_allclose(out[3:12].reshape(3, 3).T, R, rtol=0, atol=1e-14)
        np.testing.assert_array_equal(out[:3], y[:3])


# ---------------------------------------------------------------- the angular velocity stays

DRIFTING = [(system, pairing) for system, pairing in PAIRS if not pairing.angular and "null" not in pairing.formulation]


def _stretched(problem: rbdae.Problem, size: float, rng: np.random.Generator) -> np.ndarray:
    """The start with eta (p, pdot) in place of (p, pdot), and with eta (q, p) of momenta; with D S and Ddot S, S
    symmetric, of directors. Of these the momenta are Ddot E."""
    y, column = problem.y0.copy(), {label: k for k, label in enumerate(problem.labels)}
    for body in problem.system.bodies:
        names = (
            [f"p{k}" for k in range(4)]
            if problem.rotation == "quaternion"
            else [f"d{i}{c}" for i in "123" for c in "xyz"]
        )
        rates = "{}.pi_{}" if problem.velocity == "momentum" else "{}.{}dot"
        q, v = ([column[form.format(body.name, name)] for name in names] for form in ("{}.{}", rates))
        if problem.rotation == "quaternion":
            eta = 1.0 + size * rng.uniform(-1.0, 1.0)
            y[q] *= eta
            y[v] *= eta
            continue
        S = rng.standard_normal((3, 3))
        S = np.eye(3) + size * (S + S.T)
        E = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia if problem.velocity == "momentum" else np.eye(3)
        y[q] = (S @ y[q].reshape(3, 3)).reshape(-1)  # the rows are the directors
        y[v] = (E @ S @ np.linalg.solve(E, y[v].reshape(3, 3))).reshape(-1)
    return y


@pytest.mark.parametrize("system, pairing", DRIFTING, ids=[f"{s}-{p}" for s, p in DRIFTING])
def test_coordinates_that_drifted_with_their_rates_come_back(system, pairing, rng):
    """Index 0 is invariant under (p, pdot) -> eta (p, pdot), so that it drifts along: the state before is the one that
    belongs to it. (63) changes the angular velocity by the factor eta."""
    problem = cases.problem(system, pairing)
    for size in (1e-9, 1e-6, 1e-3, 0.03):
        y = _stretched(problem, size, rng)
        tolerance = 1e-13 * max(1.0, float(np.abs(problem.y0).max()))
        np.testing.assert_allclose(problem.project(0.0, y), problem.y0, rtol=0, atol=tolerance)
    v = problem.layout.v
    stretched = np.abs(y - problem.y0)[v].max()
    if stretched > 1e-4:
        assert np.abs(problem.project(0.0, y, PAPER) - problem.y0)[v].max() > 0.02 * stretched


@pytest.mark.parametrize("rotation", ["quaternion", "directors"])
def test_the_angular_velocity_of_a_free_body_stays(rotation, rng):
    """Whatever has drifted: Omega = 2 conj(p) o pdot / |p|^2, and omega of Ddot D^-1 of directors."""
    problem = _free_body(Pairing("index-0", rotation, "coordinate"))
    y = _drifted(problem, rng, 0.03)
    before, after = (problem.natural(0.0, z)[0] for z in (y, problem.project(0.0, y)))
    turning = [z[15:24].reshape(3, 3).T @ np.linalg.inv(z[3:12].reshape(3, 3).T) for z in (before, after)]
    spins = [W - W.T for W in turning]
    np.testing.assert_allclose(spins[1], spins[0], rtol=0, atol=1e-13)


# ---------------------------------------------------------------- size of corrections


@pytest.mark.parametrize("pairing", [p for p in cases.PAIRINGS if p.formulation == "index-1"], ids=str)
def test_tangential_displacements_need_corrections_of_second_order(pairing):
    """A step along the velocities leaves the manifold only by its curvature."""
    problem = cases.problem("branched", pairing)
    sizes = []
    for h in (1e-2, 1e-3):
        y = problem.y0 + h * problem.yd0
        y[problem.layout.la] = problem.y0[problem.layout.la]
        sizes.append(np.abs(problem.project(0.0, y) - y)[problem.layout.q].max())
    assert 50 < sizes[0] / sizes[1] < 200


def test_positions_move_the_least_in_the_mass_metric(rng):
    """(62, P): M (q - q*) + G^T chi = 0, up to second order for steps that are turns."""
    problem = cases.problem("branched", cases.REFERENCE)
    masses = np.concatenate([np.concatenate([np.full(3, b.mass), np.zeros(3)]) for b in problem.system.bodies])
    M = np.diag(masses)
    for k, b in enumerate(problem.system.bodies):
        M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = b.inertia
    push = rng.standard_normal((len(problem.system.bodies), 6))
    left = []
    for size in (1e-2, 1e-3):
        y = problem.y0.copy()
        for k in range(len(push)):
            y[7 * k : 7 * k + 3] += size * push[k, :3]
            p = Rotation.from_quat(y[7 * k + 3 : 7 * k + 7][[1, 2, 3, 0]]) * Rotation.from_rotvec(size * push[k, 3:])
            y[7 * k + 3 : 7 * k + 7] = p.as_quat()[[3, 0, 1, 2]]
        out = problem.project(0.0, y)
        before, after = problem.natural(0.0, y), problem.natural(0.0, out)
        step = []
        for k in range(len(push)):
            R, S = (Z[k, 3:12].reshape(3, 3).T for Z in (before, after))
            step.append(np.concatenate([after[k, :3] - before[k, :3], Rotation.from_matrix(R.T @ S).as_rotvec()]))
        pushed = M @ np.concatenate(step)
        G = inside.constraint_gradient(problem, 0.0, out)
        eta = np.linalg.lstsq(G.T, -pushed, rcond=None)[0]
        left.append(np.abs(pushed + G.T @ eta).max() / np.abs(pushed).max())
    assert left[0] < 1e-3
    assert left[0] / left[1] > 30  # falls with the step, faster than it


# ---------------------------------------------------------------- what is projected, and what is said of it


@pytest.mark.parametrize("pairing", [p for p in cases.PAIRINGS if not p.formulation.startswith("null-space")], ids=str)
def test_position_and_velocity_can_be_left_out(pairing, rng):
    problem = cases.problem("branched", pairing)
    q, v = problem.layout.q, problem.layout.v
    y = _drifted(problem, rng, 1e-3)
    positions = problem.project(0.0, y, rbdae.Projection(velocity=False))
    assert _drift(problem, positions)[0] < 1e-13 < 1e-5 < _drift(problem, positions)[1]
    np.testing.assert_array_equal(positions[v], y[v])
    velocities = problem.project(0.0, y, rbdae.Projection(position=False))
    np.testing.assert_array_equal(velocities[q], y[q])
    if not (pairing.angular and pairing.rotation == "directors"):
        # velocities are made tangential where the positions are
        internal = inside.internal_constraints(problem)
        g = problem.constraints(0.0, velocities).velocity
        assert np.abs(g[internal if pairing.angular else 0 :]).max() < 1e-13
    neither = rbdae.Projection(position=False, velocity=False).bind(problem)
    untouched = y.copy()
    assert neither(0.0, untouched) is False
    np.testing.assert_array_equal(untouched, y)
    assert neither.drift(0.0, y) == 0.0


@pytest.mark.parametrize("rotation", cases.charts("projection"))
def test_null_space_velocities_are_left_alone(rotation, rng):
    """They satisfy their constraints by construction."""
    problem = cases.problem("branched", Pairing("null-space", rotation, "angular"))
    y = _drifted(problem, rng, 1e-3)
    out = problem.project(0.0, y)
    np.testing.assert_array_equal(out[problem.layout.v], y[problem.layout.v])
    assert _drift(problem, y)[0] > 1e-5
    assert max(_drift(problem, out)) < 1e-13


def test_drift_is_what_would_be_projected(rng):
    problem = cases.problem("C", cases.REFERENCE)
    y = _drifted(problem, rng, 1e-4)
    scales, n = problem.model.scales, len(problem.system.bodies)
    weights = np.append(np.ones(n), 1.0 / scales.sizes(scales.length))
    g = problem.constraints(0.0, y)
    position = np.max(weights * np.abs(g.position))
    velocity = np.max(weights * np.abs(g.velocity)) / scales.rate
    assert rbdae.Projection().bind(problem).drift(0.0, y) == max(position, velocity)
    assert rbdae.Projection(velocity=False).bind(problem).drift(0.0, y) == position
    assert rbdae.Projection(position=False).bind(problem).drift(0.0, y) == velocity


# ---------------------------------------------------------------- far away

FAR = {
    "branched": cases.branched,
    "loop": cases.loop,
    "two bodies": cases.linked_bodies,
    **{kind: cases.JOINT_SYSTEMS[f"joint-{kind}"] for kind in ("revolute", "prismatic", "universal", "rod")},
}


def _turned_away(problem: rbdae.Problem, angle: float, rng: np.random.Generator) -> np.ndarray:
    """The start with every body turned about an axis of its own."""
    y = problem.y0.copy()
    state = problem.states(0.0, y)
    columns = {label: k for k, label in enumerate(problem.labels)}
    for name, body in state.items():
        axis = rng.standard_normal(3)
        turn = body.orientation * Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))
        if problem.rotation == "quaternion":
            first = columns[f"{name}.p0"]
            y[first : first + 4] = turn.as_quat()[[3, 0, 1, 2]]
        else:
            first = columns[f"{name}.d1x"]
            y[first : first + 9] = turn.as_matrix().T.reshape(-1)
    return y


@pytest.mark.parametrize("rotation", ["quaternion", "directors"])
@pytest.mark.parametrize("name", FAR)
def test_bodies_turned_by_a_radian_are_brought_back(name, rotation, rng):
    """Steps are shortened, and in the end aim at the manifold alone: without that, most of these cases fail."""
    problem = rbdae.formulate(FAR[name](), "index-1", rotation=rotation, consistent="project")
    for angle in (1.0, 1.5):
        for _ in range(4):
            y = _turned_away(problem, angle, rng)
            assert _drift(problem, y)[0] > 0.01
            out = problem.project(0.0, y, rbdae.Projection(max_iterations=20))
            assert _drift(problem, out)[0] < 1e-12 * _scale(problem, out)


def test_a_step_that_overshoots_is_halved():
    """A point on a rod of 1 m, pulled in to 2 mm: the whole step goes to 250 m, and comes back by halves each time."""
    system = rbdae.System()
    bob = system.add_body("bob", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1.0))
    system.add_joint(rbdae.joints.Rod(system.ground, bob, length=1.0))
    problem = rbdae.formulate(system, "index-0")
    y = problem.y0.copy()
    y[2] = -0.002
    projector = rbdae.Projection(max_iterations=8).bind(problem)
    assert projector(0.0, y)
    np.testing.assert_allclose(y[:3], (0.0, 0.0, -1.0), rtol=0, atol=1e-14)
    assert projector.iterations <= 8


# ---------------------------------------------------------------- failures


def test_singular_positions_are_named():
    """A rod of constant length whose ends meet: the gradient of the distance vanishes."""
    system = rbdae.System()
    bob = system.add_body("bob", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1.0))
    rod = cases.Tie(system.ground, bob, [rbdae.joints.Distance((0, 0, 0), (0, 0, 0), 1.0)], (0, 0, 0), (0, 0, 0), "rod")
    system.add_joint(rod)
    problem = rbdae.formulate(system, "index-0")
    y = problem.y0.copy()
    y[:3] = 0.0
    with pytest.raises(rbdae.ProjectionError, match=r"redundant or singular, first at joint 'rod', equation 1 of 1"):
        problem.project(0.0, y)


# ---------------------------------------------------------------- a stored trajectory


def test_a_stored_trajectory_is_projected_afterwards():
    problem = cases.problem("C", Pairing("index-0", "quaternion", "coordinate"))
    solution = rbdae.solve(problem, (0.0, 0.3), solver="scipy:RK45", rtol=1e-6, atol=1e-6)
    assert solution.drift.position.max() > 1e-7
    clean = solution.projected()
    assert clean.drift.position.max() < 1e-12
    assert clean.drift.velocity.max() < 1e-14 * max(1.0, _scale(problem, solution.y[-1]))
    assert np.array_equal(clean.t, solution.t)
    assert clean.stats.projections > len(solution.t) // 2
    assert np.abs(clean.y - solution.y).max() < 100 * max(solution.drift.position.max(), solution.drift.velocity.max())
    rows = np.array([problem.project(t, y) for t, y in zip(solution.t, solution.y, strict=True)])
    np.testing.assert_array_equal(rows, clean.y)
    with pytest.raises(ValueError, match=r"needs a rbdae.Projection"):
        solution.projected(False)
