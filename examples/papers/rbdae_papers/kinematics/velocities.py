"""Angular velocities and accelerations, motions of points, and motions relative to a moving frame."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.rotations import checks
from rbdae.rotations.quaternions import conjugated, multiplied, rotated, to_axis_angle
from rbdae_papers.kinematics.components import Components, Rotations, checked, of_rate, skew
from rbdae_papers.kinematics.rotations import AxisAngle


class AccelerationMatrices(NamedTuple):
    """The matrices of angular accelerations: a_P = alpha x_P and A_P = A X_P.

    Attributes
    ----------
    material : (..., 3, 3) array, A = R^T Rddot = Omegadot~ + Omega~ Omega~
    spatial : (..., 3, 3) array, alpha = Rddot R^T = omegadot~ + omega~ omega~
    """

    material: Mat
    spatial: Mat


def angular_velocity(rotation: Rotations, rate: ArrayLike) -> Components:
    """omega = vect(Rdot R^T) and Omega = vect(R^T Rdot), [GR95] (75), (78), (80), (81).

    A symmetric part of R^T Rdot is ignored.
    """
    return of_rate("angular_velocity", rotation, "rate", rate)


def angular_acceleration(rotation: Rotations, second_rate: ArrayLike) -> Components:
    """omegadot = vect(Rddot R^T) and Omegadot = vect(R^T Rddot), [GR95] (124), (127)."""
    return of_rate("angular_acceleration", rotation, "second_rate", second_rate)


def incremental_angular_velocity(increment: Rotations, rate: ArrayLike) -> Vec:
    """Omega = Omega_inc = vect(R_inc^T Rdot_inc), (..., 3), [GR95] (160): the reference has no influence.

    With a variation in place of the rate this is dTheta = dTheta_inc.
    """
    return of_rate("incremental_angular_velocity", increment, "rate", rate, "increment").material


def acceleration_matrices(rotation: Rotations, Omega: ArrayLike, Omega_rate: ArrayLike) -> AccelerationMatrices:
    """alpha = omegadot~ + omega~ omega~ and A = Omegadot~ + Omega~ Omega~, [GR95] (123), (126)."""
    owner = "acceleration_matrices"
    R = checks.rotation_matrices(owner, "rotation", rotation)
    velocity, change = checks.vectors(owner, "Omega", Omega), checks.vectors(owner, "Omega_rate", Omega_rate)
    checks.together(owner, rotation=(R, 2), Omega=(velocity, 1), Omega_rate=(change, 1))
    S = skew(velocity)
    A = skew(change) + S @ S
    return AccelerationMatrices(A, R @ A @ np.swapaxes(R, -1, -2))


def angular_velocity_of_axis_angle(
    axis: ArrayLike, angle: ArrayLike, axis_rate: ArrayLike, angle_rate: ArrayLike
) -> Components:
    """Omega = M ndot + n phidot and omega = M^T ndot + n phidot, M = sin phi I - (1 - cos phi) n~, [GR95] (104), (105).

    Only the direction of the axis counts; ValueError if it is zero. The part of ndot along n is ignored, because
    n . ndot = 0.
    """
    owner = "angular_velocity_of_axis_angle"
    n, phi = checks.axes(owner, "axis", axis), checks.numbers(owner, "angle", angle)
    dn, dphi = checks.vectors(owner, "axis_rate", axis_rate), checks.numbers(owner, "angle_rate", angle_rate)
    checks.together(owner, axis=(n, 1), angle=(phi, 0), axis_rate=(dn, 1), angle_rate=(dphi, 0))
    dn = dn - (dn * n).sum(-1, keepdims=True) * n
    along, across = _sine_terms(n, phi, dn)
    along = along + dphi[..., None] * n
    return Components(along - across, along + across)


def angular_acceleration_of_axis_angle(
    axis: ArrayLike, angle: ArrayLike, axis_rate: ArrayLike, angle_rate: ArrayLike, axis_second_rate: ArrayLike,
    angle_second_rate: ArrayLike,
) -> Components:  # fmt: skip
    """Omegadot = M nddot + n phiddot + N ndot + ndot phidot, and omegadot with M^T, N^T, [GR95] (130), (131).

    M = sin phi I - (1 - cos phi) n~, N = phidot (cos phi I - sin phi n~). The axis n is a unit vector, or ValueError,
    with n . ndot = 0 and n . nddot = -|ndot|^2.
    """
    owner = "angular_acceleration_of_axis_angle"
    vectors = {"axis": axis, "axis_rate": axis_rate, "axis_second_rate": axis_second_rate}
    numbers = {"angle": angle, "angle_rate": angle_rate, "angle_second_rate": angle_second_rate}
    n, dn, ddn = (checks.vectors(owner, *named) for named in vectors.items())
    phi, dphi, ddphi = (checks.numbers(owner, *named) for named in numbers.items())
    checks.together(
        owner,
        **{name: (value, 1) for name, value in zip(vectors, (n, dn, ddn), strict=True)},
        **{name: (value, 0) for name, value in zip(numbers, (phi, dphi, ddphi), strict=True)},
    )
    length = checks.norm(n)
    if (np.abs(length - 1.0) > checks.ORTHONORMAL).any():
        worst = length.flat[np.argmax(np.abs(length - 1.0))]
        raise ValueError(f"{owner}: axis must have unit length, got {worst:.9g}; divide n and its rates by |n|")
    even, odd = _sine_terms(n, phi, ddn)
    half = np.sin(0.5 * phi)
    even = even + ddphi[..., None] * n + (dphi * (2.0 - 2.0 * half * half))[..., None] * dn  # 1 + cos phi
    odd = odd + (dphi * np.sin(phi))[..., None] * np.cross(n, dn)
    return Components(even - odd, even + odd)


def _sine_terms(n: Vec, phi: Vec, x: Vec) -> tuple[Vec, Vec]:
    """sin phi x and (1 - cos phi) n x x, whose difference is M x; accurate for small angles."""
    half = np.sin(0.5 * phi)
    return np.sin(phi)[..., None] * x, (2.0 * half * half)[..., None] * np.cross(n, x)


def axis_angle_rates(rotation: Rotations, Omega: ArrayLike) -> AxisAngle:
    """ndot = B Omega and phidot = n . Omega of `to_axis_angle`, [GR95] (91), (92), (97); the inverse of (104).

    ValueError for the identity, whose axis is undefined.
    """
    q, velocity = checked("axis_angle_rates", {"rotation": rotation}, Omega=Omega)
    n, phi = to_axis_angle(q)
    if not phi.all():
        raise ValueError(
            "axis_angle_rates: rotation must not be the identity, got an angle of zero; its axis has no rate"
        )
    dphi = (n * velocity).sum(-1)
    across = velocity - dphi[..., None] * n
    cotangent = q[..., :1] / checks.norm(q[..., 1:])[..., None]
    return AxisAngle(0.5 * (np.cross(n, across) + cotangent * across), dphi)


def rotation_axis(omega: ArrayLike) -> Vec:
    """f = omega / |omega|, (..., 3), [GR95] (132); ValueError where omega is zero."""
    return checks.axes("rotation_axis", "omega", omega)


def rotation_axis_rate(omega: ArrayLike, omega_rate: ArrayLike) -> Vec:
    """fdot = (I - f f^T) omegadot / |omega|, (..., 3), [GR95] (138), the solution of (135), 1/s; ValueError where omega
    is zero. With material components the result is the change relative to the body."""
    owner = "rotation_axis_rate"
    f = checks.axes(owner, "omega", omega)
    size = checks.norm(checks.vectors(owner, "omega", omega))
    change = checks.vectors(owner, "omega_rate", omega_rate)
    checks.together(owner, omega=(f, 1), omega_rate=(change, 1))
    out: Vec = (change - (f * change).sum(-1, keepdims=True) * f) / size[..., None]
    return out


def point_velocity(rotation: Rotations, velocity: ArrayLike, Omega: ArrayLike, point: ArrayLike) -> Components:
    """v_P = v_0 + R (Omega x X_P) = v_0 + omega x (x_P - x_0), and V_P = R^T v_P.

    [GR95] (73), (76)-(79), (107), (109), and (237). The velocity v_0 of the body's origin is spatial, Omega and the
    point X_P are material; `to_material` converts omega to Omega.
    """
    q, v0, turning, X = checked("point_velocity", {"rotation": rotation}, velocity=velocity, Omega=Omega, point=point)
    return _moved(q, v0, np.cross(turning, X))


def point_acceleration(
    rotation: Rotations, acceleration: ArrayLike, Omega: ArrayLike, Omega_rate: ArrayLike, point: ArrayLike
) -> Components:
    """a_P = a_0 + R (Omegadot x X_P + Omega x (Omega x X_P)), and A_P = R^T a_P, [GR95] (122), (123), (125), (126).

    The acceleration a_0 of the body's origin is spatial, Omega, its rate and the point X_P are material.
    """
    q, a0, turning, change, X = checked(
        "point_acceleration", {"rotation": rotation}, acceleration=acceleration, Omega=Omega, Omega_rate=Omega_rate,
        point=point,
    )  # fmt: skip
    return _moved(q, a0, np.cross(change, X) + np.cross(turning, np.cross(turning, X)))


def _moved(q: Vec, origin: Vec, relative: Vec) -> Components:
    """The sum of the origin's spatial vector and a relative material one, in both frames."""
    return Components(rotated(conjugated(q), origin) + relative, origin + rotated(q, relative))


def composed_angular_velocity(
    frame: Rotations, relative: Rotations, Omega_frame: ArrayLike, Omega_relative: ArrayLike
) -> Components:
    """Omega = R_rel^T Omega_0 + Omega_rel, [GR95] (158), and omega = R_0 (Omega_0 + R_rel Omega_rel).

    Omega_0 has components in the moving frame, Omega_rel in the body. The same formula with infinitesimal rotations in
    place of angular velocities is (156), (157).
    """
    q0, q, first, second = checked(
        "composed_angular_velocity", {"frame": frame, "relative": relative}, Omega_frame=Omega_frame,
        Omega_relative=Omega_relative,
    )  # fmt: skip
    return Components(rotated(conjugated(q), first) + second, rotated(q0, first + rotated(q, second)))


def composed_angular_acceleration(
    frame: Rotations, relative: Rotations, Omega_frame: ArrayLike, Omega_relative: ArrayLike,
    Omega_frame_rate: ArrayLike, Omega_relative_rate: ArrayLike,
) -> Components:  # fmt: skip
    """Omegadot = R_rel^T Omegadot_0 + Omegadot_rel - Omega_rel x R_rel^T Omega_0, the derivative of [GR95] (158), and
    omegadot = R Omegadot. Omega_0, Omega_rel and their rates have components each in its own frame."""
    q0, q, first, second, d_first, d_second = checked(
        "composed_angular_acceleration", {"frame": frame, "relative": relative}, Omega_frame=Omega_frame,
        Omega_relative=Omega_relative, Omega_frame_rate=Omega_frame_rate, Omega_relative_rate=Omega_relative_rate,
    )  # fmt: skip
    back = conjugated(q)
    out = rotated(back, d_first) + d_second - np.cross(second, rotated(back, first))
    return Components(out, rotated(multiplied(q0, q), out))


def inertial_velocity(
    frame: Rotations, velocity: ArrayLike, Omega_frame: ArrayLike, point: ArrayLike, rate: ArrayLike
) -> Vec:
    """v = v_0 + R_0 (Xdot + Omega_0 x X), (..., 3), of a point measured in a moving frame, [GR95] section 5.3.

    The velocity v_0 of the frame's origin is spatial; Omega_0, X and Xdot have components in the moving frame.
    """
    q, v0, turning, X, dX = checked(
        "inertial_velocity", {"frame": frame}, velocity=velocity, Omega_frame=Omega_frame, point=point, rate=rate
    )
    return v0 + rotated(q, dX + np.cross(turning, X))


def inertial_acceleration(
    frame: Rotations, acceleration: ArrayLike, Omega_frame: ArrayLike, Omega_frame_rate: ArrayLike, point: ArrayLike,
    rate: ArrayLike, second_rate: ArrayLike,
) -> Vec:  # fmt: skip
    """a = a_0 + R_0 (Xddot + 2 Omega_0 x Xdot + Omegadot_0 x X + Omega_0 x (Omega_0 x X)), (..., 3).

    [GR95] section 5.3: the relative, Coriolis, Euler and centrifugal terms. The acceleration a_0 of the frame's origin
    is spatial; all others have components in the moving frame.
    """
    q, a0, turning, change, X, dX, ddX = checked(
        "inertial_acceleration", {"frame": frame}, acceleration=acceleration, Omega_frame=Omega_frame,
        Omega_frame_rate=Omega_frame_rate, point=point, rate=rate, second_rate=second_rate,
    )  # fmt: skip
    inside = ddX + 2.0 * np.cross(turning, dX) + np.cross(change, X) + np.cross(turning, np.cross(turning, X))
    return a0 + rotated(q, inside)
