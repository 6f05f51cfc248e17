"""`rbdae_papers.kinematics` against motions with 60 digits and their differences, from the angle 1e-12 to pi.

Errors of values are relative to their size and below 1e-14, those of derivatives below 1e-12.
"""

from __future__ import annotations

import numpy as np
import precise
import pytest
from precise import MP, derivative, error, exact, rounded, vect
from scipy.spatial.transform import Rotation

from rbdae.rotations import quaternions as Q
from rbdae_papers import kinematics

ANGLES = [1e-12, 1e-8, 1e-5, 1e-3, 0.1, 1.0, 2.5, np.pi - 1e-3, np.pi - 1e-8, np.pi - 1e-12]
NEAR = {"value": 1e-14, "derivative": 1e-12}


class Turning:
    """n(t) and phi(t) by their values and first two derivatives at t = 0, R(t) of them, x_0(t) of an origin."""

    def __init__(self, angle: float, rng: np.random.Generator) -> None:
        n = rng.standard_normal(3)
        self.n = n / np.linalg.norm(n)
        dn, ddn = rng.standard_normal((2, 3))
        self.dn = dn - self.n * (dn @ self.n)
        self.ddn = ddn - self.n * (ddn @ self.n) - self.n * (self.dn @ self.dn)
        self.phi, self.dphi, self.ddphi = angle, *rng.standard_normal(2)
        self.x0, self.v0, self.a0 = rng.standard_normal((3, 3))

    def R(self, t):
        n = exact(self.n) + t * exact(self.dn) + t * t / 2 * exact(self.ddn)
        return precise.rotation(n, MP.mpf(self.phi) + t * MP.mpf(self.dphi) + t * t / 2 * MP.mpf(self.ddphi))

    def origin(self, t):
        return exact(self.x0) + t * exact(self.v0) + t * t / 2 * exact(self.a0)

    def Omega(self, t):
        return vect(self.R(t).T @ derivative(self.R)(t))

    def omega(self, t):
        return vect(derivative(self.R)(t) @ self.R(t).T)

    @property
    def now(self):
        """The rotation at t = 0, as the library has it."""
        return kinematics.from_axis_angle(self.n, self.phi)


@pytest.fixture(params=ANGLES)
def motion(request, rng):
    return Turning(request.param, rng)


ZERO = MP.mpf(0)


def both(found, material, spatial, level=NEAR["derivative"]):
    """A quantity in both frames."""
    assert error(found.material, material) < level
    assert error(found.spatial, spatial) < level


# ---------------------------------------------------------------- finite rotations


def test_axis_and_angle(motion):
    """(46), (22) and back, relative to the angle."""
    R = motion.R(ZERO)
    assert error(motion.now.as_matrix(), R) < NEAR["value"]
    n, phi = kinematics.to_axis_angle(motion.now)
    assert error(n, exact(motion.n)) < NEAR["value"]
    assert abs(phi - motion.phi) < NEAR["value"] * motion.phi
    # a matrix near half a turn knows its angle to rounding, and near the identity, too
    n, phi = kinematics.to_axis_angle(rounded(R))
    assert abs(phi - motion.phi) < NEAR["value"] * max(motion.phi, 1e-3)
    assert np.abs(R @ exact(n) - exact(n)).max() < NEAR["value"]


def test_invariants(motion):
    """(21), (47)."""
    R = motion.R(ZERO)
    found = kinematics.invariants(motion.now)
    assert error(found.trace, np.trace(R), 1.0) < NEAR["value"]
    assert error(found.vector, vect(R), 1e-3 if motion.phi > 3 else 0.0) < NEAR["value"]
    values = np.linalg.eigvals(rounded(R))
    distance = np.abs(found.eigenvalues[:, None] - values)
    # eigenvalues that coincide are as uncertain as the root of rounding
    assert distance.min(axis=1).max() < 3e-15 * max(1.0, 1.0 / abs(np.sin(motion.phi)))
    assert error(kinematics.displacement_matrix(motion.now), R - exact(np.eye(3))) < NEAR["value"]


def test_exponential_and_logarithm(motion):
    """(54), (165), and its inverse, without the axis."""
    psi = motion.phi * motion.n
    R = kinematics.exponential(psi)
    reference = precise.exponential(exact(psi))
    assert error(R.as_matrix(), reference) < NEAR["value"]
    assert error(kinematics.displacement_matrix(R), reference - exact(np.eye(3))) < NEAR["value"]
    assert error(kinematics.logarithm(R), exact(psi)) < NEAR["value"]
    assert np.abs(R.as_rotvec() - Rotation.from_rotvec(psi).as_rotvec()).max() < 1e-14


def test_the_angle_derives_the_rotation_by_its_axis(rng):
    """(50), (51), (52): dR/dphi R^T = n~."""
    n, phi = exact(rng.standard_normal(3)), MP.mpf(1.25)
    turning = derivative(lambda angle: precise.rotation(n, angle))(phi)
    R = kinematics.from_axis_angle(rounded(n), 1.25).as_matrix()
    assert error(kinematics.spin(rounded(n / precise.length(n))) @ R, turning) < 1e-14


def test_half_rotation(motion):
    """(257): F F = R, about the same axis."""
    F = kinematics.half_rotation(motion.now)
    assert error(F.as_matrix(), precise.rotation(exact(motion.n), MP.mpf(motion.phi) / 2)) < NEAR["value"]
    assert error(kinematics.logarithm(F), exact(motion.n) * MP.mpf(motion.phi) / 2) < NEAR["value"]
    assert np.abs((F * F * motion.now.inv()).as_rotvec()).max() < NEAR["value"]


def test_direction_cosines(rng):
    """(32)-(35)."""
    A, B = Rotation.random(4, rng), Rotation.random(4, rng)
    R = kinematics.rotation_between(A, B).as_matrix()
    assert np.abs(np.einsum("kij,kjl->kil", R, A.as_matrix()) - B.as_matrix()).max() < 1e-14
    cosines = kinematics.direction_cosines(A, B)
    for i in range(3):
        for j in range(3):
            inner = (A.as_matrix()[:, :, i] * B.as_matrix()[:, :, j]).sum(-1)
            assert np.abs(cosines[:, i, j] - inner).max() < 1e-15
    assert np.abs(cosines - A.inv().as_matrix() @ R @ A.as_matrix()).max() < 1e-14


# ---------------------------------------------------------------- general displacements


def test_screw(motion, rng):
    """(56)-(71): the pose is what (67) says, with the condition 1 / phi."""
    u0, X = rng.standard_normal((2, 3))
    found = kinematics.screw(motion.now, u0)
    R, n = motion.R(ZERO), exact(motion.n) / precise.length(exact(motion.n))
    D = R - exact(np.eye(3))
    k = n @ exact(u0)
    pose = -(D.T @ exact(u0)) / (2 * (1 - MP.cos(MP.mpf(motion.phi))))
    # near half a turn the pose hangs on the last digit of the angle, as cot(phi / 2)
    assert error(found.pose, pose, np.linalg.norm(u0)) < NEAR["value"]
    assert error(found.translation, k, np.linalg.norm(u0)) < NEAR["value"]
    assert error(found.pitch, 2 * MP.pi * k / MP.mpf(motion.phi), np.linalg.norm(u0)) < 3 * NEAR["value"]
    assert np.abs(D @ pose - (n * k - exact(u0))).max() < 1e-30  # (64), (67)
    assert abs(found.pose @ found.axis) < NEAR["value"] * np.linalg.norm(found.pose)  # (66)
    moved = exact(u0) + D @ exact(X)
    assert error(kinematics.displacement_of(motion.now, u0, X), moved) < NEAR["value"]
    assert error(kinematics.displaced(motion.now, u0, X), exact(u0) + R @ exact(X)) < NEAR["value"]
    # (65), (70): the pose may be far away, its rounding times the angle counts
    assert error(kinematics.screw_displacement(found, X), moved, 1.0) < NEAR["value"]
    assert error(kinematics.screw_displacement(found, found.pose), k * n, 1.0) < NEAR["value"]


def test_the_pitch_is_per_turn():
    """(71): a nut that rises by 0.25 in each turn."""
    turns = np.array([0.1, 0.25, 0.49])
    found = kinematics.screw(
        kinematics.from_axis_angle((0, 0, 1), 2 * np.pi * turns), np.outer(0.25 * turns, (0, 0, 1))
    )
    assert np.abs(found.pitch - 0.25).max() < 1e-15


# ---------------------------------------------------------------- velocities


def test_angular_velocity(motion):
    """(75), (78), (80), (81), and (104), (105), relative to the angular velocity."""
    material, spatial = motion.Omega(ZERO), motion.omega(ZERO)
    by_matrix = kinematics.angular_velocity(rounded(motion.R(ZERO)), rounded(derivative(motion.R)(ZERO)))
    by_axis = kinematics.angular_velocity_of_axis_angle(motion.n, motion.phi, motion.dn, motion.dphi)
    for found in (by_matrix, by_axis):
        both(found, material, spatial)
    assert np.abs(kinematics.to_spatial(motion.now, by_axis.material) - by_axis.spatial).max() < 1e-14
    assert np.abs(kinematics.to_material(motion.now, by_axis.spatial) - by_axis.material).max() < 1e-14


def test_rates_of_axis_and_angle(motion):
    """(91), (92), (97): the inverse of (104), with the condition 1 / phi."""
    Omega = rounded(motion.Omega(ZERO))
    rates = kinematics.axis_angle_rates(motion.now, Omega)
    condition = max(1.0, 1.0 / motion.phi)
    assert np.abs(rates.axis - motion.dn).max() < 3e-15 * condition * np.linalg.norm(Omega)
    assert abs(rates.angle - motion.dphi) < NEAR["derivative"]


def test_points(motion, rng):
    """(55), (73), (107), (109), (122), (125): derivatives of x_0 + R X."""
    X = rng.standard_normal(3)

    def place(t):
        return motion.origin(t) + motion.R(t) @ exact(X)

    Omega, dOmega = motion.Omega(ZERO), derivative(motion.Omega)(ZERO)
    v = kinematics.point_velocity(motion.now, motion.v0, rounded(Omega), X)
    a = kinematics.point_acceleration(motion.now, motion.a0, rounded(Omega), rounded(dOmega), X)
    R = motion.R(ZERO)
    assert error(v.spatial, derivative(place)(ZERO)) < NEAR["derivative"]
    assert error(v.material, R.T @ derivative(place)(ZERO)) < NEAR["derivative"]
    assert error(a.spatial, derivative(derivative(place))(ZERO)) < NEAR["derivative"]
    assert error(a.material, R.T @ derivative(derivative(place))(ZERO)) < NEAR["derivative"]
    omega, x = rounded(motion.omega(ZERO)), rounded(place(ZERO))
    assert np.abs(v.spatial - motion.v0 - np.cross(omega, x - motion.x0)).max() < 1e-13


def test_instantaneous_screw_axis(motion, rng):
    """(110)-(121)."""
    X = rng.standard_normal(3)
    omega = motion.omega(ZERO)
    w2 = omega @ omega
    found = kinematics.instantaneous_screw(motion.x0, motion.v0, rounded(omega))
    x0, v0 = exact(motion.x0), exact(motion.v0)
    # (118) with the sign that solves (117): omega x v_0, not v_0 x omega
    x_M = np.cross(omega, v0) / w2 + x0 - omega * (omega @ x0) / w2
    assert error(found.point, x_M) < NEAR["derivative"]
    u = (omega @ v0) / MP.sqrt(w2)
    assert error(found.sliding, u, 1.0) < NEAR["value"]
    assert error(found.pitch, 2 * MP.pi * u / MP.sqrt(w2), 1.0) < NEAR["derivative"]
    assert abs(omega @ x_M) < 1e-40  # (116)
    assert np.abs(v0 + np.cross(omega, x_M - x0) - u * omega / MP.sqrt(w2)).max() < 1e-40  # (112), (114)
    x = x0 + motion.R(ZERO) @ exact(X)
    moving = derivative(lambda t: motion.origin(t) + motion.R(t) @ exact(X))(ZERO)
    assert error(kinematics.screw_velocity(found, rounded(x)), moving) < NEAR["derivative"]


def test_no_point_is_slower_than_those_on_the_screw_axis(rng):
    """(110)."""
    x0, v0, omega = rng.standard_normal((3, 3))
    found = kinematics.instantaneous_screw(x0, v0, omega)
    assert np.linalg.norm(kinematics.screw_velocity(found, found.point + 3.0 * omega)) - abs(found.sliding) < 1e-14
    around = found.point + rng.standard_normal((100, 3))
    assert (np.linalg.norm(kinematics.screw_velocity(found, around), axis=1) >= abs(found.sliding) - 1e-14).all()


# ---------------------------------------------------------------- accelerations


def test_angular_acceleration(motion):
    """(123), (124), (126), (127), and (130), (131)."""
    material, spatial = derivative(motion.Omega)(ZERO), derivative(motion.omega)(ZERO)
    R, ddR = motion.R(ZERO), derivative(derivative(motion.R))(ZERO)
    by_matrix = kinematics.angular_acceleration(rounded(R), rounded(ddR))
    by_axis = kinematics.angular_acceleration_of_axis_angle(
        motion.n, motion.phi, motion.dn, motion.dphi, motion.ddn, motion.ddphi
    )
    for found in (by_matrix, by_axis):
        both(found, material, spatial)
    matrices = kinematics.acceleration_matrices(
        motion.now, rounded(motion.Omega(ZERO)), rounded(derivative(motion.Omega)(ZERO))
    )
    assert error(matrices.spatial, ddR @ R.T) < NEAR["derivative"]
    assert error(matrices.material, R.T @ ddR) < NEAR["derivative"]


def test_rotation_axis(motion):
    """(132)-(138)."""

    def f(t):
        return motion.omega(t) / precise.length(motion.omega(t))

    omega, change = rounded(motion.omega(ZERO)), rounded(derivative(motion.omega)(ZERO))
    assert error(kinematics.rotation_axis(omega), f(ZERO)) < NEAR["value"]
    rate = kinematics.rotation_axis_rate(omega, change)
    assert error(rate, derivative(f)(ZERO)) < NEAR["derivative"]
    axis = kinematics.rotation_axis(omega)
    S = kinematics.spin(omega)
    left = (np.outer(axis, axis) - S @ S) @ rate
    right = S @ kinematics.spin(change) @ axis
    assert np.abs(left - right).max() < 1e-13 * max(1.0, np.abs(S @ S).max(), np.abs(right).max())  # (135)


# ---------------------------------------------------------------- variations


@pytest.mark.parametrize("angle", [1e-12, 1e-4, 1.0, np.pi - 1e-8])
def test_variations(angle, rng):
    """(142)-(154) for R(t, s), with d by differences in s."""
    base, sideways = Turning(angle, rng), exact(rng.standard_normal((2, 3)))

    def R(t, s):
        return base.R(t) @ precise.rotation(sideways[0] + t * sideways[1], s * precise.length(sideways[0]) * (1 + t))

    dt, ds = (lambda f: derivative(f, 0)), (lambda f: derivative(f, 1))
    Theta, theta = (lambda t, s: vect(R(t, s).T @ ds(R)(t, s))), (lambda t, s: vect(ds(R)(t, s) @ R(t, s).T))
    Omega, omega = (lambda t, s: vect(R(t, s).T @ dt(R)(t, s))), (lambda t, s: vect(dt(R)(t, s) @ R(t, s).T))

    def at(f):
        return rounded(f(ZERO, ZERO))

    now = at(R)
    found = kinematics.infinitesimal_rotation(now, at(ds(R)))
    both(found, Theta(ZERO, ZERO), theta(ZERO, ZERO), 1e-14)
    assert np.abs(kinematics.to_material(now, found.spatial) - found.material).max() < 1e-14  # (145)
    X = rng.standard_normal(3)
    assert error(kinematics.virtual_displacement(now, found.material, X), ds(R)(ZERO, ZERO) @ exact(X)) < 1e-14
    material = (at(Omega), at(Theta), at(dt(Theta)))
    spatial = (at(omega), at(theta), at(dt(theta)))
    d_Omega, d_omega = ds(Omega)(ZERO, ZERO), ds(omega)(ZERO, ZERO)
    assert error(kinematics.material_velocity_variation(*material), d_Omega) < 1e-12
    assert error(kinematics.spatial_velocity_variation(*spatial), d_omega) < 1e-12
    crossed = kinematics.crossed_variations(now, material[2], spatial[2])
    both(crossed, d_Omega, d_omega)
    accelerated = kinematics.material_acceleration_variation(
        material[0], at(dt(Omega)), material[1], material[2], at(dt(dt(Theta)))
    )
    assert error(accelerated, ds(dt(Omega))(ZERO, ZERO)) < 1e-12
    accelerated = kinematics.spatial_acceleration_variation(
        spatial[0], at(dt(omega)), spatial[1], spatial[2], at(dt(dt(theta)))
    )
    assert error(accelerated, ds(dt(omega))(ZERO, ZERO)) < 1e-12


# ---------------------------------------------------------------- frames that move, increments


def test_relative_motion(motion, rng):
    """(155)-(158), accelerations, and points that are measured in a moving frame."""
    frame, X, dX, ddX = Turning(1.3, rng), *rng.standard_normal((3, 3))

    def R(t):
        return frame.R(t) @ motion.R(t)

    def Omega(t):
        return vect(R(t).T @ derivative(R)(t))

    def omega(t):
        return vect(derivative(R)(t) @ R(t).T)

    assert error(kinematics.composed(frame.now, motion.now).as_matrix(), R(ZERO)) < 1e-14
    relative = kinematics.relative_rotation(frame.now, kinematics.composed(frame.now, motion.now))
    assert np.abs(relative.as_matrix() - motion.now.as_matrix()).max() < 1e-14
    rates = [rounded(m.Omega(ZERO)) for m in (frame, motion)]
    second = [rounded(derivative(m.Omega)(ZERO)) for m in (frame, motion)]
    found = kinematics.composed_angular_velocity(frame.now, motion.now, *rates)
    both(found, Omega(ZERO), omega(ZERO))
    found = kinematics.composed_angular_acceleration(frame.now, motion.now, *rates, *second)
    both(found, derivative(Omega)(ZERO), derivative(omega)(ZERO))

    def place(t):
        return frame.origin(t) + frame.R(t) @ (exact(X) + t * exact(dX) + t * t / 2 * exact(ddX))

    v = kinematics.inertial_velocity(frame.now, frame.v0, rates[0], X, dX)
    assert error(v, derivative(place)(ZERO)) < 1e-12
    a = kinematics.inertial_acceleration(frame.now, frame.a0, rates[0], second[0], X, dX, ddX)
    assert error(a, derivative(derivative(place))(ZERO)) < 1e-12


def test_increments(motion, rng):
    """(159), (160): a reference that stays does not change Omega."""
    R0 = Rotation.random(None, rng)
    fixed = exact(R0.as_matrix())
    psi = motion.phi * motion.n
    R = kinematics.incremented(R0, psi)
    assert error(R.as_matrix(), fixed @ precise.exponential(exact(psi))) < 3e-15
    # the increment is a difference of rotations: its error is absolute
    assert np.abs(kinematics.increment(R0, R) - psi).max() < 3e-15
    increment, rate = motion.R(ZERO), derivative(motion.R)(ZERO)
    found = kinematics.incremental_angular_velocity(rounded(increment), rounded(rate))
    whole = kinematics.angular_velocity(rounded(fixed @ increment), rounded(fixed @ rate)).material
    assert error(found, motion.Omega(ZERO)) < 1e-12
    assert np.abs(found - whole).max() < 1e-12 * np.abs(whole).max()


# ---------------------------------------------------------------- stacks


def test_steps_that_are_misprinted(rng):
    """(93), (118), (149), (207), (228) as `docs/references.md` has them."""
    motion = Turning(0.7, rng)
    R, dR = motion.R(ZERO), derivative(motion.R)(ZERO)
    Omega, omega = motion.Omega(ZERO), motion.omega(ZERO)
    trace = -2 * MP.mpf(motion.dphi) * MP.sin(MP.mpf(motion.phi))
    # the data have n . ndot = 0 up to rounding
    assert abs(np.trace(dR) - trace) < 1e-25
    assert abs(np.trace(R @ precise.spin(Omega)) - trace) < 1e-25
    S, v0, x0 = precise.spin(omega), exact(motion.v0), exact(motion.x0)
    found = kinematics.instantaneous_screw(motion.x0, motion.v0, rounded(omega)).point
    assert error(found, (S.T @ S @ x0 + S @ v0) / (omega @ omega)) < 1e-14
    u, v = exact(rng.standard_normal((2, 3)))
    U, V = precise.spin(u), precise.spin(v)
    assert np.abs(U @ V - V @ U - (np.outer(v, u) - np.outer(u, v))).max() < 1e-50
    assert np.abs(vect(U @ V - V @ U) - U @ v).max() < 1e-50

    def euler(t):
        n = exact(motion.n) + t * exact(motion.dn)
        phi = MP.mpf(motion.phi) + t * MP.mpf(motion.dphi)
        return np.append([MP.cos(phi / 2)], n / precise.length(n) * MP.sin(phi / 2))

    rate, e = derivative(euler)(ZERO), euler(ZERO)
    sine = precise.length(e[1:])
    assert abs(-2 / sine * rate[0] - MP.mpf(motion.dphi)) < 1e-25
    assert error(motion.dn, (rate[1:] + e[0] / sine**2 * e[1:] * rate[0]) / sine) < 1e-14
    x, q, dq = rng.standard_normal(3), rounded(e), rounded(rate)
    star = (1, -1, -1, -1)
    here = Q.product(Q.product(q, Q.pure(x)), q * star)
    moving = Q.product(Q.product(dq, q * star), here) + Q.product(here, Q.product(q, dq * star))
    assert np.abs(moving[1:] - np.cross(rounded(omega), here[1:])).max() < 1e-14
    assert abs(moving[0]) < 1e-14


def test_vect_and_spin(rng):
    """(357)-(366) of the appendix."""
    u, v, w = rng.standard_normal((3, 5, 3))
    A = rng.standard_normal((5, 3, 3))
    U, V = kinematics.spin(u), kinematics.spin(v)
    assert np.abs((U @ v[..., None])[..., 0] - np.cross(u, v)).max() < 1e-15 * 8
    assert np.array_equal(kinematics.vect(U), u)
    other = np.swapaxes(A, -1, -2)
    assert np.abs(kinematics.vect(A) - kinematics.vect(0.5 * (A - other))).max() < 1e-15
    assert np.abs(kinematics.vect(A + other)).max() == 0.0
    inner = np.einsum("ki,ki->k", u, v)[:, None, None]
    assert np.abs(U @ V - (np.einsum("ki,kj->kij", v, u) - inner * np.eye(3))).max() < 1e-14
    assert np.abs((U @ V @ w[..., None])[..., 0] - np.cross(u, np.cross(v, w))).max() < 1e-14


def test_single_precision_is_precise_enough_for_a_rotation(rng):
    """Noise of its size in double precision is not."""
    matrices = Rotation.from_rotvec(rng.normal(size=(50, 3))).as_matrix()
    single = matrices.astype(np.float32)
    for function in (kinematics.half_rotation, kinematics.logarithm):
        found, right = function(single), function(matrices)
        if isinstance(found, Rotation):
            found, right = found.as_matrix(), right.as_matrix()
            assert np.abs(np.swapaxes(found, -1, -2) @ found - np.eye(3)).max() < 1e-14
        assert np.abs(found - right).max() < 1e-6
    with pytest.raises(ValueError, match="not orthonormal"):
        kinematics.half_rotation(single.astype(float) + 1e-7)
    with pytest.raises(ValueError, match="not orthonormal"):
        kinematics.half_rotation(single * np.float32(1.00001))
