"""The charts' kernels against scipy's rotations, differences and the identities of [NS].

The kernels are entered through the library's own `entry`, so the file tests the compiled code, or plain Python with
``NUMBA_DISABLE_JIT=1``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from cases import ROTATIONS, differences
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from rbdae.compiler.jit import entry
from rbdae.kernels import projection as project
from rbdae.rotations import CHARTS, charts

# ---------------------------------------------------------------- entries


@entry("iyo")
def _rotation(chart, a, d):
    charts.rotation(chart, a, d)


@entry("iyM")
def _rotation_tangent(chart, a, D):
    charts.rotation_tangent(chart, a, D)


@entry("iyyo")
def _rate(chart, a, om, ad):
    charts.rate(chart, a, om, ad)


@entry("iyyMM")
def _rate_tangents(chart, a, om, K, A):
    charts.rate_tangents(chart, a, om, K, A)


@entry("yo")
def _euler_map(p, d):
    charts.euler_map(p, d)


@entry("yM")
def _euler_differential(p, D):
    charts.euler_differential(p, D)


@entry("yyo")
def _euler_differential_transposed(p, f, out):
    charts.euler_differential_transposed(p, f, out)


@entry("yM")
def _euler_hessian(f, S):
    charts.euler_hessian(f, S)


@entry("yM")
def _quaternion_tangents(p, K):
    charts.quaternion_tangents(p, K)


@entry("yM")
def _director_tangents(d, K):
    charts.director_tangents(d, K)


@entry("yyo")
def _spin(d, om, out):
    charts.spin(d, om, out)


@entry("yo")
def _spurrier_klumpp(d, p):
    project.spurrier_klumpp(d, p)


def call(kernel: Any, *arguments: Any, shape: tuple[int, ...]) -> Any:
    """The kernel's output, into an array that holds rubbish before."""
    out = np.full(shape, np.nan)
    given_ = [np.ascontiguousarray(x, float) if np.ndim(x) else x for x in arguments]
    kernel.compiled()(*given_, out)
    return out


def euler_map(p: Any) -> Any:
    return call(_euler_map, p, shape=(9,))


def differential(p: Any) -> Any:
    return call(_euler_differential, p, shape=(9, 4))


def spurrier_klumpp(d: Any) -> Any:
    return call(_spurrier_klumpp, d, shape=(4,))


# ---------------------------------------------------------------- what scipy says


def scalar_first(r: Rotation) -> Any:
    return r.as_quat()[[3, 0, 1, 2]]


def directors(r: Rotation) -> Any:
    return r.as_matrix().T.reshape(9)


def skew(w: Any) -> Any:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


@dataclass(frozen=True)
class Case:
    """What a chart is by scipy: parameters of a rotation, and the matrix of any parameters."""

    parameters: Callable[[Rotation], Any]
    matrix: Callable[[Any], Any]
    n: int


CASES = {
    "quaternion": Case(scalar_first, lambda a: a @ a * Rotation.from_quat(a[[1, 2, 3, 0]]).as_matrix(), 4),
    "directors": Case(directors, lambda a: a.reshape(3, 3).T, 9),
    "euler-313": Case(
        lambda r: r.as_euler("ZXZ"),
        lambda a: Rotation.from_euler("ZXZ", a).as_matrix(),
        3,
    ),
}
MATRICES = {name: (CHARTS[name].number, case) for name, case in CASES.items()}


def test_every_chart_has_a_case():
    assert set(CASES) == set(CHARTS) == set(ROTATIONS)
    for name, chart in CHARTS.items():
        assert len(chart.names) == CASES[name].n == charts.PARAMETERS[chart.number]


def _parameters(name: str, rng: np.random.Generator, off: bool) -> Any:
    """Parameters of a random rotation away from the chart's singularity, or near them."""
    while True:
        a = CASES[name].parameters(Rotation.random(random_state=rng))
        if name != "euler-313" or abs(np.sin(a[1])) > 0.5:
            return a + (0.2 * rng.standard_normal(len(a)) if off else 0.0)


both = pytest.mark.parametrize("off", [False, True], ids=["on", "off"])
every = pytest.mark.parametrize("name", ROTATIONS)


@every
@both
def test_rotation(name, off, rng):
    number, case = MATRICES[name]
    for _ in range(20):
        a = _parameters(name, rng, off)
        d = call(_rotation, number, a, shape=(9,))
        np.testing.assert_allclose(d.reshape(3, 3).T, case.matrix(a), rtol=0, atol=1e-14)


@every
@both
def test_rotation_tangent(name, off, rng):
    number, case = MATRICES[name]
    for _ in range(10):
        a = _parameters(name, rng, off)
        found = call(_rotation_tangent, number, a, shape=(9, case.n))
        wanted = differences(lambda x: case.matrix(x).T.reshape(9), a)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


@every
@both
def test_rates_turn_the_rotation_by_omega(name, off, rng):
    """Rdot = R Omega^ along adot = K(a) Omega, K and its derivative are those of `rate`."""
    number, case = MATRICES[name]
    for _ in range(10):
        a, om = _parameters(name, rng, off), rng.standard_normal(3)
        ad = call(_rate, number, a, om, shape=(case.n,))
        tangent = call(_rotation_tangent, number, a, shape=(9, case.n))
        if not off or name != "directors":
            turned = (case.matrix(a) @ skew(om)).T.reshape(9)
            np.testing.assert_allclose(tangent @ ad, turned, rtol=0, atol=1e-13)
        K, A = np.full((case.n, 3), np.nan), np.full((case.n, case.n), np.nan)
        _rate_tangents.compiled()(number, a, om, K, A)
        np.testing.assert_allclose(K @ om, ad, rtol=0, atol=1e-14)
        wanted = differences(lambda x: call(_rate, number, x, om, shape=(case.n,)), a)  # noqa: B023
        np.testing.assert_allclose(A, wanted, rtol=0, atol=1e-9 * max(1.0, np.abs(wanted).max()))


def test_rates_follow_the_exponential_map(rng):
    """The whole way round: integrating adot = K(a) Omega with constant Omega is Rodrigues' formula."""
    from scipy.integrate import solve_ivp

    om = np.array((0.4, 1.1, -0.7))
    for name in ROTATIONS:
        number, case = MATRICES[name]
        start = Rotation.from_euler("ZXZ", (0.3, 1.2, 0.5))
        run = solve_ivp(
            lambda t, a: call(_rate, number, a, om, shape=(case.n,)),  # noqa: B023
            (0.0, 0.8),
            case.parameters(start),
            method="DOP853",
            rtol=1e-12,
            atol=1e-12,
        )
        end = start * Rotation.from_rotvec(0.8 * om)
        np.testing.assert_allclose(case.matrix(run.y[:, -1]), end.as_matrix(), rtol=0, atol=1e-10)


@every
def test_inverse_map(name, rng):
    chart, case = CHARTS[name], CASES[name]
    for _ in range(50):
        r = Rotation.random(random_state=rng)
        a = chart.parameters(scalar_first(r), r.as_matrix())
        assert a.shape == (case.n,)
        np.testing.assert_allclose(case.matrix(a), r.as_matrix(), rtol=0, atol=5e-15)
        assert not chart.singular(a)


def test_inverse_map_owns_its_array():
    p = np.array((1.0, 0.0, 0.0, 0.0))
    for chart in CHARTS.values():
        R = np.eye(3)
        a = chart.parameters(p, R)
        a[:] = 7.0
        assert p[0] == 1.0 and R[0, 0] == 1.0


@pytest.mark.parametrize("tilt", [0.0, 1e-9, np.pi, np.pi - 1e-9, 1e-3, np.pi - 1e-3])
def test_euler_angles_name_their_singularity(tilt):
    chart = CHARTS["euler-313"]
    r = Rotation.from_euler("ZXZ", (0.3, tilt, 0.5))
    a = chart.parameters(scalar_first(r), r.as_matrix())
    if abs(np.sin(tilt)) < 1e-6:
        assert "gimbal lock" in chart.singular(a)
    else:
        assert not chart.singular(a)
        np.testing.assert_allclose(a, (0.3, tilt, 0.5), atol=1e-12)


# ---------------------------------------------------------------- null-space matrices and the Euler map


def test_null_space_matrices_annihilate_the_constraint_gradients(rng):
    for _ in range(10):
        r = Rotation.random(random_state=rng)
        p, d = scalar_first(r), directors(r)
        om = rng.standard_normal(3)
        Tp = call(_quaternion_tangents, p, shape=(4, 3))
        Td = call(_director_tangents, d, shape=(9, 3))
        np.testing.assert_allclose(p @ Tp, 0.0, atol=1e-16)  # G_p = p, (36)
        np.testing.assert_allclose(Tp.T @ Tp, np.eye(3) / 4, atol=1e-15)
        gram = differences(lambda x: (x.reshape(3, 3) @ x.reshape(3, 3).T).reshape(9), d)  # G_d, (20), by its columns
        np.testing.assert_allclose(gram @ Td, 0.0, atol=1e-9)
        np.testing.assert_allclose(Td.T @ Td, 2 * np.eye(3), atol=1e-15)
        np.testing.assert_allclose(Td @ om, (r.as_matrix() @ skew(om)).T.reshape(9), atol=1e-15)
        np.testing.assert_allclose(call(_spin, d, om, shape=(9,)), Td @ om, atol=1e-15)
        # T_d = Dphi T_p, T_p = Dphi^+ T_d, (51), (53)
        np.testing.assert_allclose(differential(p) @ Tp, Td, atol=1e-15)
        np.testing.assert_allclose(np.linalg.pinv(differential(p)) @ Td, Tp, atol=1e-14)


def test_euler_map_and_its_differential(rng):
    for _ in range(10):
        p = rng.standard_normal(4)
        pp = p @ p
        np.testing.assert_allclose(euler_map(p), pp * directors(Rotation.from_quat(p[[1, 2, 3, 0]])), atol=1e-14 * pp)
        D = differential(p)
        np.testing.assert_allclose(D, differences(euler_map, p), atol=1e-9)
        np.testing.assert_allclose(D @ p, 2 * euler_map(p), atol=1e-14 * pp)  # homogeneous of degree two
        f, w = rng.standard_normal(9), rng.standard_normal(4)
        np.testing.assert_allclose(call(_euler_differential_transposed, p, f, shape=(4,)), D.T @ f, atol=1e-13)
        S = call(_euler_hessian, f, shape=(4, 4))
        np.testing.assert_array_equal(S, S.T)
        np.testing.assert_allclose(S @ p, D.T @ f, atol=1e-13)
        # (54): Dphi(p) p is phi(p), up to the factor two of a quadratic map; Dphi is linear
        np.testing.assert_allclose(differential(p + w), D + differential(w), atol=1e-13)


def test_moore_penrose_inverse_of_the_euler_differential(rng):
    """[NS] (55) and (56)."""
    for _ in range(10):
        p = rng.standard_normal(4)
        pp, eye = p @ p, np.eye(4)
        D = differential(p)
        np.testing.assert_allclose(D.T @ D, 4 * (2 * pp * eye + np.outer(p, p)), atol=1e-13 * pp)
        inverse = (eye / 2 - np.outer(p, p) / (6 * pp)) / (4 * pp) @ D.T
        np.testing.assert_allclose(inverse, np.linalg.pinv(D), atol=1e-13 / np.sqrt(pp))


# ---------------------------------------------------------------- Spurrier and Klumpp

AXES = np.vstack([np.eye(4), -np.eye(4)])


def _branch(d: Any) -> int:
    """Which component the algorithm divides by."""
    return int(np.argmax([d[0] + d[4] + d[8], d[0], d[4], d[8]]))


def _same_rotation(p: Any, q: Any) -> float:
    return float(min(np.abs(p - q).max(), np.abs(p + q).max()))


@pytest.mark.parametrize("branch", range(4))
@pytest.mark.parametrize("spread", [0.0, 1e-8, 0.3])
def test_spurrier_klumpp_in_each_branch(branch, spread, rng):
    for _ in range(10):
        q = np.eye(4)[branch] + spread * rng.standard_normal(4)
        q /= np.linalg.norm(q)
        d = directors(Rotation.from_quat(q[[1, 2, 3, 0]]))
        if spread < 0.1:
            assert _branch(d) == branch
        assert _same_rotation(spurrier_klumpp(d), q) < 1e-15 * (1 if spread < 0.1 else 3)


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
    p = spurrier_klumpp(d)
    assert _same_rotation(p, q) < 5e-16
    np.testing.assert_allclose(euler_map(p), d, atol=2e-15)


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
        p = spurrier_klumpp(d + e)
        assert _same_rotation(p, q) < 3.0 * size + 1e-15
        u, _, vt = np.linalg.svd((d + e).reshape(3, 3))
        assert np.abs(euler_map(p / np.linalg.norm(p)) - (u @ vt).reshape(9)).max() < 3.0 * size + 1e-14
    assert seen == {0, 1, 2, 3}


# ---------------------------------------------------------------- properties

numbers = st.floats(-1.0, 1.0, allow_subnormal=False)
quaternions = (
    st.tuples(numbers, numbers, numbers, numbers)
    .map(np.array)
    .filter(lambda p: np.linalg.norm(p) > 0.05)
    .map(lambda p: p / np.linalg.norm(p))
)
vectors = st.tuples(*3 * [st.floats(-100.0, 100.0)]).map(np.array)
quick = settings(deadline=None, max_examples=150, derandomize=True, database=None)


@quick
@given(quaternions)
def test_quaternions_round_trip_through_directors(q):
    p = spurrier_klumpp(euler_map(q))
    assert _same_rotation(p, q) < 2e-15
    assert abs(p @ p - 1.0) < 4e-15
    assert np.max(np.abs(p)) == p[np.argmax(np.abs(p))]  # the component from the root is positive, and the largest


@quick
@given(quaternions)
def test_antipodes_are_one_rotation(q):
    np.testing.assert_array_equal(euler_map(q), euler_map(-q))
    R = euler_map(q).reshape(3, 3).T
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=2e-15)
    assert abs(np.linalg.det(R) - 1.0) < 4e-15


@quick
@given(quaternions, vectors)
def test_rates_are_tangential(q, om):
    ad = call(_rate, CHARTS["quaternion"].number, q, om, shape=(4,))
    assert abs(q @ ad) <= 1e-15 * (1.0 + np.linalg.norm(om))
    assert abs(np.linalg.norm(ad) - 0.5 * np.linalg.norm(om)) <= 1e-13 * (1.0 + np.linalg.norm(om))
    spun = call(_rate, CHARTS["directors"].number, euler_map(q), om, shape=(9,))
    np.testing.assert_allclose(differential(q) @ ad, spun, rtol=0, atol=1e-14 * (1.0 + np.linalg.norm(om)))


@quick
@given(quaternions)
def test_euler_angles_round_trip_or_say_why_not(q):
    chart = CHARTS["euler-313"]
    R = euler_map(q).reshape(3, 3).T
    a = chart.parameters(q, R)
    assert np.isfinite(a).all()
    if chart.singular(a):
        assert np.hypot(R[0, 2], R[1, 2]) < 2e-6
    else:
        # angles lose digits like 1/sin(theta2) near the singularity
        np.testing.assert_allclose(call(_rotation, chart.number, a, shape=(9,)), R.T.reshape(9), atol=1e-14 / 1e-6)
        if np.hypot(R[0, 2], R[1, 2]) > 0.1:
            np.testing.assert_allclose(call(_rotation, chart.number, a, shape=(9,)), R.T.reshape(9), atol=1e-14)
