"""Joints, drives and forces by their definitions, as functions of poses of bodies, for the solver of `maximal`.

Plain NumPy, and of the library only the data of joints and forces. Functions of poses take complex ones (derivatives
are complex steps), so nothing in here uses conjugates, norms or branches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from rbdae import drives, forces, joints

Array = Any


def hat(v: Array) -> Array:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def turned(R: Array, v: Array) -> Array:
    """R exp(hat(v)) for complex v."""
    square = v @ v
    if abs(square) < 1e-8:
        return R @ (np.eye(3) + (1 - square / 6) * hat(v) + (0.5 - square / 24) * hat(v) @ hat(v))
    angle = np.sqrt(square + 0j)
    a, b = np.sin(angle) / angle, (1 - np.cos(angle)) / square
    return R @ (np.eye(3) + a * hat(v) + b * hat(v) @ hat(v))


def angle_of(sine: Array, cosine: Array) -> Array:
    """atan2 for complex numbers: with its derivative for a complex step, by a logarithm for others."""
    s, c = np.real(sine), np.real(cosine)
    near = np.arctan2(s, c)
    if max(abs(np.imag(sine)), abs(np.imag(cosine))) < 1e-20:
        return near + 1j * (c * np.imag(sine) - s * np.imag(cosine)) / (s * s + c * c)
    size = np.sqrt(sine * sine + cosine * cosine)
    return near - 1j * np.log((cosine + 1j * sine) * np.exp(-1j * near) / size)


@dataclass(frozen=True)
class Pose:
    """Origin of the body frame in space, and R = [d1 d2 d3]."""

    o: Array
    R: Array

    def at(self, point: Array) -> Array:
        return self.o + self.R @ np.asarray(point)


def axes(joint: Any, a: Pose, b: Pose) -> tuple[Array, ...]:
    """Of a joint: d from the point on a to that on b, the frame (n, m, u) on a, the frame on b."""
    n, u = a.R @ np.array(joint.normal_a), a.R @ np.array(joint.axis_a)
    k, w = b.R @ np.array(joint.normal_b), b.R @ np.array(joint.axis_b)
    return b.at(joint.at_b) - a.at(joint.at_a), n, np.cross(u, n), u, k, np.cross(w, k), w


Equation = Callable[[Any, Pose, Pose, Any], list[Any]]


def _points(j: Any, a: Pose, b: Pose) -> Array:
    return b.at(j.at_b) - a.at(j.at_a)


def _axial(rows: Callable[..., list[Any]]) -> Equation:
    """An equation of what `axes` gives, and of the law."""
    return lambda j, a, b, s: rows(*axes(j, a, b), s)


def _turning(j: Any, a: Pose, b: Pose, s: Any) -> list[Any]:
    """sin(angle - s) = 0; a drive of an angle has all directions of its joint."""
    _, n, m, _, k, _, _ = axes(j, a, b)
    return [(m @ k) * np.cos(s[0]) - (n @ k) * np.sin(s[0])]


def _sliding(j: Any, a: Pose, b: Pose, s: Any) -> list[Any]:
    return [(a.R @ np.array(j.axis_a)) @ _points(j, a, b) - s[0]]


def _rod(j: Any, a: Pose, b: Pose, s: Any) -> list[Any]:
    d = _points(j, a, b)
    length = s[0] if isinstance(j, drives.DrivenRod) else j.length
    return [0.5 * (d @ d - length * length)]


def _screw(j: Any, a: Pose, b: Pose, s: Any) -> list[Any]:
    d, n, m, u, _, _, w = axes(j, a, b)
    return [n @ d, m @ d, n @ w, m @ w, *_turning(j, a, b, [2.0 * np.pi * (u @ d) / j.pitch])]


# what vanishes, with the law s(t) of a drive
EQUATIONS: dict[type, Equation] = {
    joints.Spherical: lambda j, a, b, s: [*_points(j, a, b)],
    joints.Revolute: _axial(lambda d, n, m, u, k, l, w, s: [*d, n @ w, m @ w]),
    joints.Prismatic: _axial(lambda d, n, m, u, k, l, w, s: [n @ d, m @ d, n @ w, m @ w, n @ l]),
    joints.Cylindrical: _axial(lambda d, n, m, u, k, l, w, s: [n @ d, m @ d, n @ w, m @ w]),
    joints.Planar: _axial(lambda d, n, m, u, k, l, w, s: [u @ d, n @ w, m @ w]),
    joints.Universal: _axial(lambda d, n, m, u, k, l, w, s: [*d, u @ w]),
    joints.Fixed: _axial(lambda d, n, m, u, k, l, w, s: [*d, n @ w, m @ w, n @ l]),
    joints.Rod: _rod,
    joints.PointOnLine: _axial(lambda d, n, m, u, k, l, w, s: [n @ d, m @ d]),
    joints.PointOnPlane: _axial(lambda d, n, m, u, k, l, w, s: [u @ d]),
    joints.Screw: _screw,
    drives.PrescribedAngle: _turning,
    drives.PrescribedDisplacement: _sliding,
    drives.DrivenRod: _rod,
    drives.PointMotion: lambda j, a, b, s: [*(-_points(j, a, b) - s)],
}


def law_at(joint: Any, t: float) -> Callable[[Any], Any]:
    """s(t + h) to the second order in h; nothing for joints."""
    if type(joint).__module__.split(".")[1] != "drives":
        return lambda h: np.zeros(1)
    s, sd, sdd = joint.motion(t)
    return lambda h: s + h * sd + 0.5 * h * h * sdd


# ---------------------------------------------------------------- forces along displacements


@dataclass(frozen=True)
class Along:
    """Displacements s of two poses, the force along them f(s, sdot), and the part of it that has a potential."""

    displacement: Callable[[Pose, Pose], list[Any]]
    force: Callable[[Array, Array], Array]
    potential_force: Callable[[Array], Array]


def _spring(k: Any, c: Any, rest: Any, u: Any, constant: Any, displacement: Any) -> Along:
    """-k (s - rest) - c sdot + u; of u the constant part has a potential, and it may be a law of s and sdot."""
    return Along(
        displacement,
        lambda s, sd: -np.dot(k, s - rest) - np.dot(c, sd) + (u(s, sd) if callable(u) else u),
        lambda s: -np.dot(k, s - rest) + constant,
    )


def value(law: Any, t: float, sign: float = 1.0) -> tuple[Any, Array]:
    """A law at a time, a number or a function of s and sdot, and what of it is constant; times a sign."""
    if law.fill is not None:
        (user,) = law.users
        return lambda s, sd: sign * np.atleast_1d(user(t, float(s[0]), float(sd[0]))), np.zeros(1)
    if sign < 0.0:
        return tuple(-each for each in value(law, t))  # type: ignore[return-value]
    if not law.users:
        return np.array(law.constant), np.array(law.constant)
    out = np.array(law.users[0](t), dtype=float).reshape(-1)
    return out, 0.0 * out


def _angle(j: Any) -> Callable[[Pose, Pose], list[Any]]:
    def displacement(a: Pose, b: Pose) -> list[Any]:
        _, n, m, _, k, _, _ = axes(j, a, b)
        return [angle_of(m @ k, n @ k)]

    return displacement


def _slide(j: Any, along: Any = None) -> Callable[[Pose, Pose], list[Any]]:
    direction = np.array(j.axis_a if along is None else along)
    return lambda a, b: [(a.R @ direction) @ _points(j, a, b)]


def _distance(f: Any) -> Callable[[Pose, Pose], list[Any]]:
    def displacement(a: Pose, b: Pose) -> list[Any]:
        d = _points(f, a, b)
        return [np.sqrt(d @ d + 0j)]

    return displacement


def _turned_second(j: Any) -> Callable[[Pose, Pose], list[Any]]:
    """Of the second body of a universal joint, about the axis there, from the axis of the first body."""

    def displacement(a: Pose, b: Pose) -> list[Any]:
        _, _, _, u, _, l, w = axes(j, a, b)
        return [angle_of(np.cross(u, l) @ w, u @ l)]

    return displacement


def _turned_cross(j: Any) -> Callable[[Pose, Pose], list[Any]]:
    """Of the cross of a universal joint, about the axis of the first body, from n x u."""

    def displacement(a: Pose, b: Pose) -> list[Any]:
        _, n, m, _, _, _, w = axes(j, a, b)
        return [angle_of(n @ w, -(m @ w))]

    return displacement


def coordinate(owner: Any, name: str) -> Callable[[Pose, Pose], list[Any]]:
    """A coordinate of a joint, or the distance of two points."""
    if name == "length":
        return _distance(owner)
    if name == "angle_a":
        return _turned_cross(owner)
    if name == "angle_b":
        return _turned_second(owner)
    if name == "angle":
        return _angle(owner)
    if name == "displacement":
        return _slide(owner)
    return _slide(owner, owner.normal_a if name == "x" else np.cross(owner.axis_a, owner.normal_a))


def pressed(depth: Any, rate: Any, f: Any) -> float:
    """k d^n (1 + a ddot), if it is in contact and does not pull."""
    return max(0.0, f.stiffness * max(0.0, float(depth)) ** f.exponent * (1.0 + f.damping * float(rate)))


def _limit(f: Any, t: float) -> list[Along]:
    def force(s: Array, sd: Array) -> Array:
        low = 0.0 if f.low is None else pressed(f.low - s[0], -sd[0], f)
        return np.array([low - (0.0 if f.high is None else pressed(s[0] - f.high, sd[0], f))])

    return [Along(coordinate(f.joint, f.coordinate), force, np.zeros_like)]


def _rubbed(mu: Any, normal: Any, v: Array, v0: float) -> Array:
    """-mu N tanh(|v| / v0) v / |v|."""
    size = float(np.linalg.norm(v))
    return -mu * normal * v * (np.tanh(size / v0) / size if size > 0.0 else 1.0 / v0)


def _coulomb(f: Any, t: float) -> list[Along]:
    normal, r = float(value(f.normal, t)[0][0]), 1.0 if f.radius is None else f.radius
    parts = [coordinate(f.joint, name) for name in f.along]
    return [
        Along(
            lambda a, b: [each for part in parts for each in part(a, b)],
            lambda s, sd: r * _rubbed(f.mu, normal, r * sd, f.velocity),
            np.zeros_like,
        )
    ]


def _contact(f: Any, t: float) -> list[Along]:
    """On the place of the point in the frame of the other body."""

    def displacement(a: Pose, b: Pose) -> list[Any]:
        return [*(b.R.T @ (a.at(f.at_a) - b.at(f.at_b)))]

    def force(s: Array, sd: Array) -> Array:
        n, r = (f.axis_b, 0.0) if f.radius is None else (s / np.linalg.norm(s), f.radius)
        N = pressed(r - n @ s, -n @ sd, f)
        return N * n + _rubbed(f.mu, N, sd - (n @ sd) * n, f.velocity)

    return [Along(displacement, force, np.zeros_like)]


def _bushing(f: Any, t: float) -> list[Along]:
    start_a, start_b = (np.eye(3) if x is None else np.array(x.rotation) for x in (f.a, f.b))
    rest = start_b.T @ start_a if f.rest is None else Rotation.from_quat(np.array(f.rest)[[1, 2, 3, 0]]).as_matrix()
    K, D, Kr, Dr = (np.array(x) for x in (f.stiffness, f.damping, f.rotational_stiffness, f.rotational_damping))
    E = 0.5 * np.trace(Kr) * np.eye(3) - Kr

    def level(a: Pose, b: Pose) -> list[Any]:
        return [-np.trace(E @ (b.R.T @ a.R @ rest.T))]

    def axial(a: Pose, b: Pose) -> list[Any]:
        Q = b.R.T @ a.R @ rest.T
        return [0.5 * (Q[2, 1] - Q[1, 2]), 0.5 * (Q[0, 2] - Q[2, 0]), 0.5 * (Q[1, 0] - Q[0, 1])]

    zero = np.zeros(3)
    return [
        _spring(K, D, zero, zero, zero, lambda a, b: [*(-_points(f, a, b))]),
        _spring(0.0, 0.0, 0.0, -1.0, -1.0, level),
        _spring(0.0, Dr, 0.0, zero, zero, axial),
    ]


def _friction(f: Any, t: float) -> list[Along]:
    sizes = {"rad": f.rotational, "m": f.translational}
    of = [] if f.joint.ball else f.joint.coordinates()
    return [_spring(0.0, sizes[each.unit], 0.0, 0.0, 0.0, coordinate(f.joint, each.name)) for each in of]


def _motor(f: Any, t: float) -> list[Along]:
    name = f.coordinate or ("angle" if f.force is None else "displacement")
    u, constant = value(f.torque if f.force is None else f.force, t)
    if f.force is None:
        constant = 0.0  # a torque has no potential
    return [_spring(0.0, 0.0, 0.0, u, constant, coordinate(f.joint, name))]


def _turn(k: Any, c: Any, rest: Any, torque: Any, t: float, joint: Any) -> Along:
    """About an axis; a torque has no potential."""
    return _spring(k, c, rest, value(torque, t)[0], 0.0, _angle(joint))


def _strut(f: Any, t: float) -> list[Along]:
    return [_spring(f.stiffness, f.damping, f.length, *value(f.force, t, -1.0), _distance(f))]


ALONG: dict[type, Callable[[Any, float], list[Along]]] = {
    forces.Bushing: _bushing,
    forces.SpringDamper: _strut,
    forces.TorsionalSpringDamper: lambda f, t: [_turn(f.stiffness, f.damping, f.angle, f.torque, t, f.joint)],
    forces.TranslationalSpringDamper: lambda f, t: [
        _spring(f.stiffness, f.damping, f.displacement, *value(f.force, t), _slide(f.joint))
    ],
    forces.Motor: _motor,
    forces.Friction: _friction,
    forces.Limit: _limit,
    forces.Coulomb: _coulomb,
    forces.Contact: _contact,
}
