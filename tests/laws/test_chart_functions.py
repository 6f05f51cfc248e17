"""The public functions of the charts: against 60 digits, scipy's `Rotation`, and the laws of the group.

The exact matrices come from the definitions alone: R by the axis and the angle, T and its derivative from differences
of R with 60 digits. Errors are measured by the condition: what a change of `a` in its last digit does.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from cases import NIGHTLY
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import chart_functions
from precise import MP, exact, length, rounded, vect
from precise import rotation as turned
from scipy.spatial.transform import Rotation

from rbdae.rotations import CHARTS
from rbdae_papers.kinematics import spin as skew

MODULES = {name: import_module(f"rbdae.rotations.{name.replace('-', '_')}") for name in CHARTS}
ALONG_AXIS = ("rotation-vector", "rodrigues", "conformal", "linear", "quaternion-vector")
ANGLES = ("euler-313", "bryant-321")
FRAMES = ("material", "spatial")

# the length of the parameters by the angle of rotation, and the angle of the singular rotation
LENGTHS: dict[str, tuple[Any, Any, float]] = {
    "rotation-vector": (lambda phi, f: phi, lambda r, f: r, 2.0 * np.pi),
    "rodrigues": (lambda phi, f: f.tan(phi / 2), lambda r, f: 2 * f.atan(r), np.pi),
    "conformal": (lambda phi, f: 4 * f.tan(phi / 4), lambda r, f: 4 * f.atan(r / 4), 2.0 * np.pi),
    "linear": (lambda phi, f: f.sin(phi), lambda r, f: f.asin(r), 0.5 * np.pi),
    "quaternion-vector": (lambda phi, f: f.sin(phi / 2), lambda r, f: 2 * f.asin(r), np.pi),
}

every = pytest.mark.parametrize("name", CHARTS)
along_axis = pytest.mark.parametrize("name", ALONG_AXIS)
quick = settings(deadline=None, max_examples=60, derandomize=True, database=None)


def of_angle(name: str, phi: float, axis: Any) -> Any:
    """Parameters of the rotation by an angle, rounded once."""
    return float(LENGTHS[name][0](MP.mpf(phi), MP)) * np.asarray(axis)


def samples(name: str, rng: np.random.Generator, away: float = 0.2) -> Rotation:
    """Twenty rotations around the chart's centre, away from the singular set by an angle."""
    chart = CHARTS[name]
    centre = Rotation.from_matrix(MODULES[name].matrix(chart.centre)) if chart.centre else Rotation.identity()
    axis = rng.standard_normal((20, 3))
    angle = rng.uniform(0.0, min(chart.reach, np.pi) - away, (20, 1))
    return centre * Rotation.from_rotvec(angle * axis / np.linalg.norm(axis, axis=-1, keepdims=True))


def stacked(name: str, r: Rotation) -> tuple[Any, Any]:
    """Matrices (4, 5, 3, 3) and their parameters."""
    R = r.as_matrix().reshape(4, 5, 3, 3)
    return R, MODULES[name].parameters(R)


# ---------------------------------------------------------------- 60 digits


def exact_matrix(name: str, a: Any) -> Any:
    """R by definition, with 60 digits."""
    if name in LENGTHS:
        size = length(a)
        return turned(a, LENGTHS[name][1](size, MP)) if size else exact(np.eye(3))
    axes = {"euler-313": (2, 0, 2), "bryant-321": (2, 1, 0)}[name]
    R = exact(np.eye(3))
    for k, angle in zip(axes, a, strict=True):
        R = R @ turned(exact(np.eye(3)[k]), angle)
    return R


def slopes(f: Any, a: Any) -> Any:
    """df/da, the derivatives along the last axis, by central differences of 60 digits."""
    h = MP.mpf(10) ** -20
    columns = []
    for e in exact(np.eye(3)):
        columns.append((f(a + h * e) - f(a - h * e)) / (2 * h))
    return np.stack(columns, axis=-1)


def exact_tangent(name: str, a: Any, frame: str) -> Any:
    """T from Rdot = R Omega^ = omega^ R."""
    R = exact_matrix(name, a)
    D = slopes(lambda b: exact_matrix(name, b), a)
    columns = [vect(R.T @ D[..., j] if frame == "material" else D[..., j] @ R.T) for j in range(3)]
    return np.stack(columns, axis=-1)


def inverted(T: Any) -> Any:
    return np.array((MP.matrix(T.tolist()) ** -1).tolist(), dtype=object).reshape(3, 3)


def points(name: str) -> list[Any]:
    """Parameters from tiny angles to 5 mrad from the singular set, and beside the switch of the series."""
    axis = np.array((0.36, -0.48, 0.8))
    if name in ANGLES:
        middle = CHARTS[name].centre[1]
        return [
            np.array((0.4, middle + tilt, -2.0)) for tilt in (0.0, 1e-8, 0.7, 1.5, np.pi / 2 - 5e-3, 5e-3 - np.pi / 2)
        ]
    edge = LENGTHS[name][2]
    angles = [1e-12, 1e-8, 1e-4, 0.01, 0.5, 1.4, edge - 0.3, edge - 0.03, edge - 5e-3]
    if edge > 2.1:
        angles += [2.0 - 1e-9, 2.0 + 1e-9, 2.9]
    if edge > 3.2:
        angles += [np.pi, 4.0]
    return [of_angle(name, phi, axis) for phi in angles]


def checked(found: Any, wanted: Any, conditioned: float, digits: float) -> None:
    error = float(max(abs(x) for x in np.ravel(exact(found) - wanted)))
    assert error <= digits * conditioned, (error, conditioned)


def condition(f: Any, a: Any) -> float:
    """The size of f, and what it changes by as a does relative to it."""
    h = 1e-7
    with np.errstate(all="ignore"):
        here = f(a)
        return float(np.abs(here).max() + np.abs(f(a * (1.0 - h)) - here).max() / h)


@pytest.mark.parametrize("name", ALONG_AXIS + ANGLES)
def test_matrices_against_60_digits(name):
    """Values to 1e-14 and derivatives to 1e-12 relative to the condition."""
    of = MODULES[name]
    for a in points(name):
        z = exact(a)
        checked(of.matrix(a), exact_matrix(name, z), condition(of.matrix, a), 1e-14)
        wanted = slopes(lambda b: exact_matrix(name, b), z)
        checked(of.matrix_derivative(a), wanted, condition(of.matrix_derivative, a), 1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", ALONG_AXIS + ANGLES)
def test_tangents_against_60_digits(name, frame):
    """T, its inverse K and their derivatives, in either frame; frames take turns over the points, and have all of them
    at night."""
    of = MODULES[name]
    for a in points(name) if NIGHTLY else points(name)[FRAMES.index(frame) :: 2]:
        z = exact(a)
        T = exact_tangent(name, z, frame)
        D = slopes(lambda b: exact_tangent(name, b, frame), z)
        K = inverted(T)
        DK = -np.einsum("ij,jkm,kl->ilm", K, D, K)
        for what, values, derivatives in (("tangent", T, D), ("inverse_tangent", K, DK)):
            value, derivative = getattr(of, what), getattr(of, f"{what}_derivative")
            checked(value(a, frame), values, condition(lambda b, f=value: f(b, frame), a), 1e-14)
            checked(derivative(a, frame), derivatives, condition(lambda b, f=derivative: f(b, frame), a), 1e-12)


@along_axis
def test_inverse_maps_against_60_digits(name):
    """Of the nearest rotation, up to the singular set or half a turn."""
    of, edge = MODULES[name], min(LENGTHS[name][2], np.pi)
    axis = np.array((0.36, -0.48, 0.8))
    for phi in (1e-300, 1e-12, 1e-8, 1e-4, 0.3, 1.0, edge - 0.3, edge - 0.03, edge - 5e-3):
        q = np.append(rounded(MP.sin(MP.mpf(phi) / 2) * exact(axis)), float(MP.cos(MP.mpf(phi) / 2)))
        found = of.parameters(Rotation.from_quat(q))
        # the angle that these rounded numbers say
        says = 2 * MP.atan2(length(exact(q[:3])), MP.mpf(float(q[3])))
        wanted = LENGTHS[name][0](says, MP) * exact(q[:3]) / length(exact(q[:3]))
        slope = float(abs(MP.diff(lambda t: LENGTHS[name][0](t, MP), says)) * (says if phi < 1.0 else 1))
        checked(found, wanted, float(length(wanted)) + slope, 1e-14)


# ---------------------------------------------------------------- all functions together


@every
def test_every_chart_has_the_functions_with_the_same_arguments(name):
    of = MODULES[name]
    mine = {n for n, f in vars(of).items() if inspect.isfunction(f) and f.__module__ == of.__name__ and n[0] != "_"}
    assert mine == set(chart_functions.NAMES)
    for what in chart_functions.NAMES:
        function, first = getattr(of, what), getattr(MODULES["quaternion"], what)
        assert list(inspect.signature(function).parameters) == list(inspect.signature(first).parameters)


@every
def test_functions_are_those_of_one_rotation(name, rng):
    """R and its derivative, T, K, rates, half rotations, quaternions, composition: for stacks of parameters."""
    of, chart = MODULES[name], CHARTS[name]
    R, a = stacked(name, samples(name, rng))
    np.testing.assert_allclose(of.matrix(a), R, rtol=0, atol=4e-15)
    p = of.quaternion(a)
    assert np.abs(np.linalg.norm(p, axis=-1) - 1.0).max() < 1e-15
    as_scipy = Rotation.from_quat(np.roll(p, -1, axis=-1).reshape(-1, 4)).as_matrix()
    np.testing.assert_allclose(as_scipy.reshape(R.shape), R, rtol=0, atol=4e-15)
    F = of.half_rotation(a)
    np.testing.assert_allclose(F @ F, R, rtol=0, atol=4e-15)
    np.testing.assert_allclose(np.swapaxes(F, -1, -2) @ F, np.broadcast_to(np.eye(3), F.shape), rtol=0, atol=3e-15)
    assert (np.trace(F, axis1=-2, axis2=-1) > 1.0 - 1e-12).all()  # the half of at most half a turn
    for frame in FRAMES:
        T, K = of.tangent(a, frame), of.inverse_tangent(a, frame)
        assert T.shape == (4, 5, 3, chart.n) and K.shape == (4, 5, chart.n, 3)
        size = np.abs(T).max() * np.abs(K).max()
        np.testing.assert_allclose(T @ K, np.broadcast_to(np.eye(3), (4, 5, 3, 3)), rtol=0, atol=1e-14 * size)
        om = rng.standard_normal((4, 5, 3))
        adot = np.einsum("...ij,...j->...i", K, om)
        Rdot = np.einsum("...ijk,...k->...ij", of.matrix_derivative(a), adot)
        wanted = R @ skew(om) if frame == "material" else skew(om) @ R
        np.testing.assert_allclose(Rdot, wanted, rtol=0, atol=2e-14 * size)
        for what in ("tangent", "inverse_tangent"):
            D, rate = getattr(of, f"{what}_derivative")(a, frame), getattr(of, f"{what}_rate")(a, adot, frame)
            np.testing.assert_allclose(np.einsum("...ijk,...k->...ij", D, adot), rate, rtol=0, atol=1e-12 * size)
            h = 1e-5
            ahead, behind = (getattr(of, what)(a + s * h * adot, frame) for s in (1.0, -1.0))
            largest = max(1.0, np.abs(rate).max())
            np.testing.assert_allclose((ahead - behind) / (2 * h), rate, rtol=0, atol=3e-6 * largest)
        # [GR95] (162), (163): P = R Q
    np.testing.assert_allclose(of.tangent(a, "spatial"), R @ of.tangent(a), rtol=0, atol=1e-14 * size)
    assert of.distance(a).shape == of.is_singular(a).shape == (4, 5)
    assert (of.distance(a) > 0.19).all() and not of.is_singular(a).any()
    rows = [chart.distance_to_singularity(row) for row in a.reshape(-1, chart.n)]
    np.testing.assert_array_equal(of.distance(a).ravel(), rows)


@every
def test_rates_give_angular_accelerations(name, rng):
    """[GR95] (174): Omegadot = T addot + Tdot adot along a motion, by differences of the angular velocity."""
    of = MODULES[name]
    _, a = stacked(name, samples(name, rng))
    a = a[0, 0]
    adot = of.inverse_tangent(a) @ (0.5, -0.8, 0.3)
    addot = of.inverse_tangent_rate(a, adot) @ (0.5, -0.8, 0.3) + of.inverse_tangent(a) @ (0.2, 0.1, -0.4)
    np.testing.assert_allclose(of.tangent(a) @ addot + of.tangent_rate(a, adot) @ adot, (0.2, 0.1, -0.4), atol=1e-12)
    h = 1e-4
    after, before = (
        of.tangent(a + s * h * adot + 0.5 * h * h * addot, "spatial") @ (adot + s * h * addot) for s in (1.0, -1.0)
    )
    found = of.tangent(a, "spatial") @ addot + of.tangent_rate(a, adot, "spatial") @ adot
    np.testing.assert_allclose((after - before) / (2 * h), found, atol=1e-5 * max(1.0, np.abs(addot).max()))


@every
def test_composition_is_the_product(name, rng):
    of = MODULES[name]
    R, a = stacked(name, samples(name, rng, 0.7))
    small = Rotation.from_rotvec(0.1 * rng.standard_normal((20, 3))).as_matrix().reshape(4, 5, 3, 3)
    if name in ANGLES:  # in which small rotations are near the singular set, or are not
        b = of.parameters(np.swapaxes(R, -1, -2) @ R[::-1])
        with_b = R[::-1]
    else:
        b, with_b = of.parameters(small), R @ small
    np.testing.assert_allclose(of.matrix(of.compose(a, b)), with_b, rtol=0, atol=1e-14)
    first = of.compose(a[0, 0], b)
    np.testing.assert_allclose(of.matrix(first), R[0, 0] @ of.matrix(b), rtol=0, atol=1e-14)


@every
def test_functions_follow_from_R_and_K(name, rng):
    """A chart that brings neither T nor a quaternion has the functions of one that does, away from the singular set.

    Beside the internal constraints T may go on otherwise: its derivative is compared along motions.
    """
    of, bare = MODULES[name], replace(CHARTS[name], tangent=None, quaternion=None)
    alone = chart_functions.ChartFunctions(bare)
    _, a = stacked(name, samples(name, rng, 0.5))
    for what in ("matrix", "quaternion", "half_rotation", "tangent", "inverse_tangent"):
        found, wanted = getattr(alone, what)(a), getattr(of, what)(a)
        if what == "quaternion":
            wanted = np.where(wanted[..., :1] < 0.0, -wanted, wanted)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13 * np.abs(wanted).max(), err_msg=what)
    for frame in FRAMES:
        found, wanted = (
            f.tangent_derivative(a, frame) @ of.inverse_tangent(a, frame)[..., None, :, :] for f in (alone, of)
        )
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


# ---------------------------------------------------------------- the review's own forms of them


def test_equations_of_the_conformal_rotation_vector(rng):
    """[GR95] (252), (254)-(256), (258), (259), (263), (264), (266); (258) is no rotation as printed."""
    of = MODULES["conformal"]
    r = samples("conformal", rng)
    for c in of.parameters(r.as_matrix()):
        size, C = np.linalg.norm(c), skew(c)
        c0 = (16.0 - size**2) / 8.0
        phi = 4.0 * np.arctan(size / 4.0)
        e = of.quaternion(c)
        np.testing.assert_allclose(4.0 * e / (1.0 + e[0]), (c0, *c), atol=1e-14)
        assert 0.0 <= c0 <= 2.0 and size <= 4.0
        squares = np.array((2.0 / (4.0 - c0), (2.0 - c0) / (4.0 - c0)))
        np.testing.assert_allclose((np.cos(phi / 4) ** 2, np.sin(phi / 4) ** 2), squares, atol=1e-15)
        quarter = np.sqrt(np.prod(squares))
        np.testing.assert_allclose(4.0 * quarter * (2.0 * squares[0] - 1.0), np.sin(phi), atol=2e-15)
        np.testing.assert_allclose(8.0 * quarter**2, 1.0 - np.cos(phi), atol=2e-15)
        R = ((c0**2 + 8 * c0 - 16) * np.eye(3) + 2 * np.outer(c, c) + 2 * c0 * C) / (4 - c0) ** 2
        np.testing.assert_allclose(of.matrix(c), R, atol=2e-15)
        F = (c0 * np.eye(3) + np.outer(c, c) / 4 + C) / (4 - c0)
        np.testing.assert_allclose(of.half_rotation(c), F, atol=1e-15)
        np.testing.assert_allclose(np.eye(3) + 8 / (16 + size**2) * (C + C @ C / 4), F, atol=1e-15)
        printed = np.eye(3) + 8 / (16 + size**2) * (C + C @ C)
        assert size < 0.1 or np.abs(printed.T @ printed - np.eye(3)).max() > 1e-3
        T = 2 / (4 - c0) ** 2 * (c0 * np.eye(3) + np.outer(c, c) / 4 - C)
        np.testing.assert_allclose(of.tangent(c), T, atol=1e-15)
        np.testing.assert_allclose(of.inverse_tangent(c), (4 - c0) / 2 * F, atol=1e-14)


def test_equations_of_the_linear_parameters(rng):
    """[GR95] (268), (269), (271), (273), (275); (273) as printed gives the spatial angular velocity, and T is not
    bounded at pi / 2, long before the printed singularity at pi."""
    of, eye = MODULES["linear"], np.eye(3)
    for s in of.parameters(samples("linear", rng).as_matrix()):
        S, s0 = skew(s), np.sqrt(1.0 - s @ s)
        np.testing.assert_allclose(of.matrix(s), s0 * eye + np.outer(s, s) / (1 + s0) + S, atol=2e-15)
        printed = eye + (np.outer(s, s) / s0 + S) / (1 + s0)
        np.testing.assert_allclose(of.tangent(s, "spatial"), printed, atol=2e-14)
        np.testing.assert_allclose(of.tangent(s, "material"), printed.T, atol=2e-14)
        sdot = rng.standard_normal(3)
        omega = of.tangent(s) @ sdot
        np.testing.assert_allclose(omega @ s / np.linalg.norm(s), sdot @ s / np.linalg.norm(s) / s0, atol=1e-13)
        e0, *e = of.quaternion(s)
        F = e0 * eye + np.outer(e, e) / (1 + e0) + skew(e)
        np.testing.assert_allclose(of.half_rotation(s), F, atol=1e-15)
        np.testing.assert_allclose(of.matrix(e), F, atol=1e-15)  # Euler parameters in place of s
    assert np.abs(of.tangent(np.sin(np.pi / 2 - 1e-5) * eye[0])).max() > 9e4


def test_equations_of_euler_and_bryant_angles(rng):
    """[GR95] (279) with sin(psi) in its last line, and (287)."""
    for R in Rotation.random(20, random_state=rng).as_matrix():
        psi, theta, phi = MODULES["euler-313"].parameters(R)
        assert abs(np.tan(phi) - R[2, 0] / R[2, 1]) < 1e-12 * (1 + np.tan(phi) ** 2)
        np.testing.assert_allclose(np.sin(theta), R[2, 0] * np.sin(phi) + R[2, 1] * np.cos(phi), atol=1e-14)
        np.testing.assert_allclose(np.cos(theta), R[2, 2], atol=1e-15)
        np.testing.assert_allclose(np.cos(psi), R[0, 0] * np.cos(phi) - R[0, 1] * np.sin(phi), atol=1e-14)
        np.testing.assert_allclose(np.sin(psi), R[1, 0] * np.cos(phi) - R[1, 1] * np.sin(phi), atol=1e-14)
        theta, psi, phi = MODULES["bryant-321"].parameters(R)
        assert abs(np.tan(theta) - R[1, 0] / R[0, 0]) < 1e-12 * (1 + np.tan(theta) ** 2)
        np.testing.assert_allclose(np.cos(psi), R[1, 0] * np.sin(theta) + R[0, 0] * np.cos(theta), atol=1e-14)
        np.testing.assert_allclose(np.sin(psi), -R[2, 0], atol=1e-15)
        np.testing.assert_allclose(np.cos(phi), -R[0, 1] * np.sin(theta) + R[1, 1] * np.cos(theta), atol=1e-14)
        np.testing.assert_allclose(np.sin(phi), R[0, 2] * np.sin(theta) - R[1, 2] * np.cos(theta), atol=1e-14)


# ---------------------------------------------------------------- wrong input


@every
def test_wrong_input_is_refused(name, rng):
    of, n = MODULES[name], CHARTS[name].n
    _, a = stacked(name, samples(name, rng))
    for call, error, said in (
        (lambda: of.matrix(np.zeros(n + 1)), ValueError, f"{name}: a must be .* numbers.*shape"),
        (lambda: of.matrix(np.full(n, np.nan)), ValueError, f"{name}: a must be finite"),
        (lambda: of.tangent(["x"] * n), TypeError, f"{name}: a must be .* numbers.*of type list"),
        (lambda: of.parameters(2.0 * np.eye(3)), ValueError, "rotation must be a rotation.*not orthonormal"),
        (lambda: of.parameters(np.diag((1.0, 1.0, -1.0))), ValueError, "improper"),
        (lambda: of.tangent(a, "body"), ValueError, "frame.*'body'.*material.*spatial"),
        (lambda: of.tangent_rate(a, np.zeros((3, n))), ValueError, "leading axes must go together"),
    ):
        with pytest.raises(error, match=said):
            call()


@pytest.mark.parametrize(
    "name, a, said",
    [
        ("rotation-vector", (2.0 * np.pi, 0.0, 0.0), r"6\.28319 is beyond or too near"),
        ("rodrigues", (0.0, 0.0, 2e3), "2000 is beyond or too near"),
        ("conformal", (0.0, 9e3, 0.0), "9000 is beyond or too near"),
        ("linear", (0.0, 0.8, 0.6), "1 is beyond.*phi = pi / 2"),
        ("quaternion-vector", (0.6, 0.0, 0.8), "1 is beyond.*phi = pi"),
        ("euler-313", (0.3, 0.0, 0.5), "gimbal lock"),
        ("bryant-321", (0.3, np.pi / 2, 0.5), "gimbal lock"),
        ("quaternion", (1.0, 0.1, 0.0, 0.0), r"constraints norm to 1e-06.*off by 0\.005"),
        ("directors", np.ones(9), "constraints row11.*normalise it"),
    ],
)
def test_parameters_outside_of_their_range_are_refused(name, a, said):
    of = MODULES[name]
    for f in (of.matrix, of.matrix_derivative, of.quaternion, of.half_rotation, of.tangent, of.inverse_tangent):
        with pytest.raises(ValueError, match=f"{name}: a must .*{said}"):
            f(a)
        with pytest.raises(ValueError, match=said):
            f(np.array([a, a]))
    if not CHARTS[name].internal:
        assert of.is_singular(a)


# ---------------------------------------------------------------- the whole ball, nasty values included

fractions = st.one_of(
    st.sampled_from((0.0, -0.0, 1e-300, 5e-324, 1e-160, 1e-12, 1e-8, 1e-4, 0.5, 1.0 - 1e-3, 2.0 / np.pi)),
    st.floats(0.0, 1.0 - 1e-3),
)
numbers = st.one_of(st.sampled_from((0.0, -0.0, 1.0, -1.0, 1e-9)), st.floats(-1.0, 1.0))
axes = (
    st.tuples(numbers, numbers, numbers)
    .map(np.array)
    .filter(lambda n: np.linalg.norm(n) > 0.1)
    .map(lambda n: n / np.linalg.norm(n))
)
names = st.sampled_from(ALONG_AXIS)


@quick
@given(names, axes, fractions)
def test_round_trips_over_the_ball(name, axis, fraction):
    """Inside of half a turn parameters come back; beyond it their rotation does.

    Parameters are rounded, by two units of 1.1e-16 in their length: from the angle, and by their product with the axis.
    Near |a| = 1, where d phi/d|a| = 1 / cos(phi) for the linear chart, R answers to that by its condition, 610 at 0.999
    of the ball; errors are up to 1.2 x 2.2e-16 times it there, and up to 1.7e-15 where it is small.
    """
    of, edge = MODULES[name], LENGTHS[name][2]
    phi = fraction * edge
    a = of_angle(name, phi, axis)
    R = of.matrix(a)
    level = 6e-15 + 8e-16 * condition(of.matrix, a)
    np.testing.assert_allclose(R @ R.T, np.eye(3), rtol=0, atol=3e-15)
    np.testing.assert_allclose(R, Rotation.from_rotvec(phi * axis).as_matrix(), rtol=0, atol=level)
    if of.distance(a) < 0.01:
        return
    if phi < 3.0 or edge < 3.2:
        lost = 2e-15 * condition(of.tangent, a) * condition(of.inverse_tangent, a)
        np.testing.assert_allclose(of.parameters(R), a, rtol=lost, atol=lost * np.abs(a).max() + 1e-323)
    else:
        np.testing.assert_allclose(of.matrix(of.parameters(R)), R, rtol=0, atol=level)
