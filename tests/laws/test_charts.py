"""The charts against scipy's rotations, differences and the identities of [NS], on floats and with complex steps.

What a chart is by scipy is in `cases.CHART_CASES`; the laws hold for every chart.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from cases import CHART_CASES, ROTATIONS, SINGULAR, ChartCase, count, differences
from scipy.spatial.transform import Rotation
from toy_chart import FUNCTIONS, SCALAR_LAST

import rbdae
from rbdae.rotations import CHARTS, ChartFunctions, quaternion, register
from rbdae.rotations.vectors import euler_differential, euler_map, frame, spurrier_klumpp, stacked
from rbdae_papers.kinematics import spin as skew

FUNCTIONS_OF = {name: import_module(f"rbdae.rotations.{name.replace('-', '_')}") for name in CHARTS}
"""The functions of charts for users."""

# ---------------------------------------------------------------- what scipy says


def scalar_first(r: Rotation) -> Any:
    return r.as_quat()[[3, 0, 1, 2]]


def directors(r: Rotation) -> Any:
    return r.as_matrix().T.reshape(9)


def complex_steps(f: Any, a: Any) -> Any:
    """df/da of f(a), the derivatives along the last axis."""
    return np.stack([f(a + 1e-30j * e).imag / 1e-30 for e in np.eye(len(a))], axis=-1)


def test_every_chart_has_a_case():
    assert set(CHART_CASES) == set(CHARTS) == set(ROTATIONS)
    for name, of in CHARTS.items():
        assert of.n == len(of.names) == CHART_CASES[name].n
        assert (of.internal_constraints is None) == (of.internal_rate is None) == (of.internal == ())


def _parameters(name: str, rng: np.random.Generator, off: bool) -> Any:
    """Parameters of a random rotation away from the chart's singularity, or near them off the internal constraints."""
    while True:
        r = Rotation.random(random_state=rng)
        if _distance(name, r) > 0.7:
            a = CHART_CASES[name].parameters(r)
            return a + 0.2 * rng.standard_normal(len(a)) if off and CHARTS[name].internal else a


def _distance(name: str, r: Rotation) -> float:
    """From the singular set."""
    return CHARTS[name].distance_to_singularity(CHARTS[name].parameters(scalar_first(r), r.as_matrix()))


both = pytest.mark.parametrize("off", [False, True], ids=["on", "off"])
every = pytest.mark.parametrize("name", ROTATIONS)


@every
@both
def test_rotation(name, off, rng):
    for _ in range(20):
        a = _parameters(name, rng, off)
        np.testing.assert_allclose(CHARTS[name].rotation(a), CHART_CASES[name].matrix(a), rtol=0, atol=1e-14)


@every
@both
def test_rates_turn_the_rotation_by_omega(name, off, rng):
    """Rdot = R Omega^ along adot = K(a) Omega, which is linear in Omega."""
    of = CHARTS[name]
    for _ in range(10):
        a, om = _parameters(name, rng, off), rng.standard_normal(3)
        ad = of.rate(a, om)
        if not off or name != "directors":
            turned = CHART_CASES[name].matrix(a) @ skew(om)
            np.testing.assert_allclose(complex_steps(of.rotation, a) @ ad, turned, rtol=0, atol=1e-13)
        np.testing.assert_allclose(of.kinematics(a) @ om, ad, rtol=0, atol=1e-14)


@every
def test_derivatives_are_those_of_the_chart(name, rng):
    """dR/da, dK/da are complex steps of R and K, on the constraints."""
    of, chart = FUNCTIONS_OF[name], CHARTS[name]
    for _ in range(10):
        a = _parameters(name, rng, False)
        found = of.matrix_derivative(a)
        np.testing.assert_allclose(found, complex_steps(chart.rotation, a), rtol=0, atol=1e-14)
        K, D = of.inverse_tangent(a), of.inverse_tangent_derivative(a)
        np.testing.assert_allclose(K, chart.kinematics(a), rtol=0, atol=1e-14 * max(1.0, np.abs(K).max()))
        exact = complex_steps(chart.kinematics, a)
        np.testing.assert_allclose(D, exact, rtol=0, atol=1e-14 * max(1.0, np.abs(exact).max()))


@every
def test_inverse_map(name, rng):
    for _ in range(50):
        r = Rotation.random(random_state=rng)
        while not _distance(name, r) > 0.2:
            r = Rotation.random(random_state=rng)
        a = CHARTS[name].parameters(scalar_first(r), r.as_matrix())
        assert a.shape == (CHARTS[name].n,)
        np.testing.assert_allclose(CHART_CASES[name].matrix(a), r.as_matrix(), rtol=0, atol=5e-15)
        assert not CHARTS[name].singular(a)


@pytest.mark.sampled
@every
def test_nearest_parameters_are_of_the_same_rotation(name, rng):
    """Along a motion that leaves the range of the inverse map they do not jump."""
    of = CHARTS[name]
    for _ in range(count(8, 100)):
        r = Rotation.random(random_state=rng)
        while not _distance(name, r) > 0.2:
            r = Rotation.random(random_state=rng)
        a, om, dt = of.parameters(scalar_first(r), r.as_matrix()), rng.standard_normal(3), 0.03
        for _ in range(200):
            ahead = a + dt * of.rate(a, om)
            r = r * Rotation.from_rotvec(dt * om)
            before, a = a, of.nearest(of.parameters(scalar_first(r), r.as_matrix()), a)
            np.testing.assert_allclose(of.rotation(a), r.as_matrix(), rtol=0, atol=1e-11)
            if not of.distance_to_singularity(a) > 0.4:
                break
            assert np.abs(a - ahead).max() < 0.05 * (1.0 + np.abs(before).max() ** 2)


def _condition(name: str, a: Any) -> float:
    """The larger norm of K and its inverse."""
    with np.errstate(all="ignore"):
        K = CHARTS[name].kinematics(a)
    if not np.isfinite(K).all():
        return np.inf
    values = np.linalg.svd(K, compute_uv=False)
    return float(max(values[0], 1.0 / values[-1] if values[-1] else np.inf))


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("tilt", [0.0, 1e-9, -1e-9, np.pi, np.pi - 1e-9, 1e-3, np.pi - 1e-3, 0.3, -0.3])
def test_charts_name_their_singularity(name, tilt):
    of = CHARTS[name]
    r = CHART_CASES[name].beside_singular(tilt)
    a = of.parameters(scalar_first(r), r.as_matrix())
    assert np.isfinite(a).all()
    size = _condition(name, a)
    assert size > 1e6 or abs(np.sin(tilt)) > 1e-6 or size < 3.0  # the last beside the centre
    assert bool(of.singular(a)) == (size > 1e6)
    if of.singular(a):
        assert "singularity" in of.singular(a)
    else:
        np.testing.assert_allclose(CHART_CASES[name].matrix(a), r.as_matrix(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", [n for n in ROTATIONS if CHARTS[n].distance is not None])
def test_distance_is_the_angle_to_the_singular_set(name):
    """Turned by it the shortest way, the rotation is singular; K or its inverse grows there without bound."""
    of = CHARTS[name]
    centre = np.array(of.centre)
    assert of.reach == of.distance_to_singularity(centre) > 1.5
    assert of.distance_to_singularity(centre + 0.1) < of.reach
    seen = []
    for angle in (0.3, 0.03, 3e-3, 3e-4):
        a = _beside(name, of.reach - angle)
        assert abs(of.distance_to_singularity(a) - angle) < 1e-11
        seen.append(_condition(name, a))
    assert seen[0] > 1.5 and all(after > 5.0 * before for before, after in itertools.pairwise(seen))


def _beside(name: str, angle: float) -> Any:
    """Parameters at an angle from the centre, straight to the singular set: angles along their second one, others along
    an axis."""
    of, axis = CHARTS[name], np.array((0.36, 0.48, -0.8))
    if "theta" in of.names[1]:
        return np.array((0.7, of.centre[1] - angle, 0.4))
    lengths = {"rotation-vector": angle, "conformal": 4.0 * np.tan(0.25 * angle), "rodrigues": np.tan(0.5 * angle)}
    lengths |= {"linear": np.sin(angle), "quaternion-vector": np.sin(0.5 * angle)}
    return lengths[name] * axis


# ---------------------------------------------------------------- internal constraints

CONSTRAINED = [name for name in ROTATIONS if CHARTS[name].internal]


@pytest.mark.parametrize("name", CONSTRAINED)
def test_internal_constraints_and_their_tangent(name, rng):
    of = CHARTS[name]
    m = len(of.internal)
    for off in (False, True):
        a = _parameters(name, rng, off)
        v, om = rng.standard_normal(of.n), rng.standard_normal(3)
        tangent = complex_steps(of.internal_constraints, a)
        np.testing.assert_allclose(of.internal_rate(a, v), tangent @ v, rtol=0, atol=1e-13)
        assert np.linalg.matrix_rank(tangent) == m == of.n - 3
        if not off:
            np.testing.assert_allclose(of.internal_constraints(a), 0.0, atol=1e-15)
            np.testing.assert_allclose(tangent @ of.rate(a, om), 0.0, atol=1e-14)


@pytest.mark.parametrize("name", CONSTRAINED)
def test_normalisation(name, rng):
    """Onto the constraints, no farther than they are away; what holds them already stays."""
    of = CHARTS[name]
    for size in (0.0, 1e-9, 1e-4, 0.1):
        a = _parameters(name, rng, False)
        tangent = complex_steps(of.internal_constraints, a)
        moved = of.normalise(a + size * tangent.T @ rng.standard_normal(len(of.internal)))
        assert np.abs(of.internal_constraints(moved)).max() < 5e-15
        assert np.abs(moved - a).max() < 5e-15 + 10.0 * size


# ---------------------------------------------------------------- another chart


def test_a_chart_of_another_package(monkeypatch, rng):
    """All laws hold for it."""
    name = SCALAR_LAST.name
    monkeypatch.setitem(CHARTS, name, SCALAR_LAST)
    del CHARTS[name]  # the fixture takes it away again
    register(SCALAR_LAST)
    with pytest.raises(ValueError, match="a chart 'scalar-last' already"):
        register(SCALAR_LAST)
    case = ChartCase(lambda r: r.as_quat(), lambda a: a @ a * Rotation.from_quat(a).as_matrix())
    monkeypatch.setitem(CHART_CASES, name, case)
    monkeypatch.setitem(FUNCTIONS_OF, name, FUNCTIONS)
    for off in (False, True):
        test_rotation(name, off, rng)
        test_rates_turn_the_rotation_by_omega(name, off, rng)
    test_derivatives_are_those_of_the_chart(name, rng)
    test_inverse_map(name, rng)
    test_internal_constraints_and_their_tangent(name, rng)
    test_normalisation(name, rng)
    of, p = FUNCTIONS, CHART_CASES["quaternion"].parameters(Rotation.random(random_state=rng))
    last = np.roll(p, -1)
    np.testing.assert_allclose(of.matrix(last), Rotation.from_quat(last).as_matrix(), rtol=0, atol=1e-15)
    np.testing.assert_allclose(of.tangent(last), np.roll(quaternion.tangent(p), -1, axis=-1), atol=1e-15)
    mine, known = (rbdae.formulate(rbdae.models.heavy_top(), "index-3", rotation=c) for c in (name, "quaternion"))
    y, yd = rng.standard_normal((2, known.n))
    put = np.array([1, 2, 3, 0, *range(4, known.n)])
    np.testing.assert_allclose(mine.residual(0.1, y[put], yd[put]), known.residual(0.1, y, yd)[put], rtol=1e-13)


def test_a_chart_that_branches_is_refused(monkeypatch):
    """What is recorded at some parameters holds for those of one branch."""

    def branching(a):
        return euler_map(a if a[3] > 0.5 else -a)

    of = replace(SCALAR_LAST, name="branching", rotation=branching)
    monkeypatch.setitem(CHARTS, of.name, of)
    del CHARTS[of.name]  # the fixture takes it away again
    register(of)
    functions = ChartFunctions(of)
    for derived in (functions.matrix_derivative, functions.tangent):
        with pytest.raises(TypeError, match=r"must not branch.*choose by rbdae\.graph\.functions\.select"):
            derived((0.0, 0.0, 0.0, 1.0))


# ---------------------------------------------------------------- null-space matrices


def test_null_space_matrices_annihilate_the_constraint_gradients(rng):
    for _ in range(10):
        r = Rotation.random(random_state=rng)
        p, d = scalar_first(r), directors(r)
        om = rng.standard_normal(3)
        Tp, Td = CHARTS["quaternion"].kinematics(p), CHARTS["directors"].kinematics(d)
        np.testing.assert_allclose(p @ Tp, 0.0, atol=1e-16)  # G_p = p, (36)
        np.testing.assert_allclose(Tp.T @ Tp, np.eye(3) / 4, atol=1e-15)
        gram = differences(lambda x: (x.reshape(3, 3) @ x.reshape(3, 3).T).reshape(9), d)  # G_d, (20), by its columns
        np.testing.assert_allclose(gram @ Td, 0.0, atol=1e-9)
        np.testing.assert_allclose(Td.T @ Td, 2 * np.eye(3), atol=1e-15)
        np.testing.assert_allclose(Td @ om, (r.as_matrix() @ skew(om)).T.reshape(9), atol=1e-15)
        # T_d = Dphi T_p, T_p = Dphi^+ T_d, (51), (53)
        np.testing.assert_allclose(euler_differential(p) @ Tp, Td, atol=1e-15)
        np.testing.assert_allclose(np.linalg.pinv(euler_differential(p)) @ Td, Tp, atol=1e-14)


# ---------------------------------------------------------------- Spurrier and Klumpp


def _branch(d: Any) -> int:
    """Which component the algorithm divides by."""
    return int(np.argmax([d[0] + d[4] + d[8], d[0], d[4], d[8]]))


def _same_rotation(p: Any, q: Any) -> float:
    return float(min(np.abs(p - q).max(), np.abs(p + q).max()))


@pytest.mark.parametrize("one", range(4))
@pytest.mark.parametrize("other", range(4))
@pytest.mark.parametrize("side", [-1e-3, -1e-9, -1e-15, 0.0, 1e-15, 1e-9, 1e-3])
def test_spurrier_klumpp_at_its_branch_switches(one, other, side):
    if one == other:
        q = np.full(4, 0.5)  # all branches at once
        q[one] += side
    else:
        q = np.zeros(4)
        q[one], q[other] = 1.0 + side, -1.0
    q /= np.linalg.norm(q)
    d = directors(Rotation.from_quat(q[[1, 2, 3, 0]]))
    p = spurrier_klumpp(frame(d))
    assert _same_rotation(p, q) < 1e-15
    np.testing.assert_allclose(euler_map(p), frame(d), atol=2e-15)


@pytest.mark.parametrize("size", [1e-12, 1e-8, 1e-4, 1e-2])
def test_spurrier_klumpp_near_rotations(size, rng):
    """Off the manifold the error is of the size of the perturbation, in every branch, and the polar factor is close."""
    seen = set()
    for _ in range(200):
        q = rng.standard_normal(4)
        q /= np.linalg.norm(q)
        d = directors(Rotation.from_quat(q[[1, 2, 3, 0]]))
        e = rng.standard_normal(9)
        e *= size / np.abs(e).max()
        seen.add(_branch(d + e))
        p = spurrier_klumpp(frame(d + e))
        assert _same_rotation(p, q) < 3.0 * size + 1e-15
        u, _, vt = np.linalg.svd((d + e).reshape(3, 3))
        assert np.abs(stacked(euler_map(p)) - (u @ vt).reshape(9)).max() < 3.0 * size + 1e-14
    assert seen == {0, 1, 2, 3}
