"""A solver of its own for the laws: Newton and Euler for every body, joints by their definitions, dense algebra.

Every body, those with a pivot too, has six coordinates: the centre of mass in space and a rotation. With w the
velocities of the centres of mass and the material angular velocities, M wdot = f + G^T la and G wdot = -gamma: one
solve gives accelerations and reactions. Columns of G and of displacements are complex steps. What constraints and
displacements do along a motion of constant w is read off their values on a circle in the complex plane of the time
(Cauchy's integral), so that rates and gamma are good to rounding. Nothing is shared with the library but data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from textbook import ALONG, EQUATIONS, Array, Pose, hat, law_at, turned, value

import rbdae
from rbdae import forces

STEP = 1e-30
POINTS, RADIUS = 16, 0.05


@dataclass(frozen=True)
class State:
    """Centres of mass, rotations, velocities and material angular velocities; the ground comes last. Internal states of
    forces by the force's name."""

    c: Array
    R: Array
    v: Array
    Omega: Array
    center: Array
    internal: Mapping[str, Array] = field(default_factory=dict)

    @classmethod
    def at_start(cls, system: rbdae.System) -> State:
        """As the bodies were added."""
        return cls.of(system, {b.name: (b.position, b.rotation, b.velocity, b.angular_velocity) for b in system.bodies})

    @classmethod
    def of(
        cls,
        system: rbdae.System,
        motion: Mapping[str, tuple[Any, Any, Any, Any]],
        internal: Mapping[str, Array] | None = None,
    ) -> State:
        """Of positions and velocities of the origins of the body frames, rotations and angular velocities."""
        center = np.array([*(b.center_of_mass for b in system.bodies), np.zeros(3)])
        rows = [tuple(np.array(part) for part in motion[b.name]) for b in system.bodies]
        rows.append((np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3)))
        o, R, od, Omega = (np.array([row[k] for row in rows]) for k in range(4))
        arm = np.einsum("bij,bj->bi", R, center)
        return cls(o + arm, R, od + np.einsum("bij,bj->bi", R, np.cross(Omega, center)), Omega, center, internal or {})

    @classmethod
    def read(cls, problem: rbdae.Problem, t: float, y: Any) -> State:
        """What a problem says of its unknowns."""
        states = problem.states(t, y)
        return cls.of(
            problem.system,
            {
                name: (s.position, s.orientation.as_matrix(), s.velocity, s.angular_velocity)
                for name, s in states.items()
            },
        )

    def pose(self, k: int, h: Any = 0.0) -> Pose:
        """Of a body at the time h, as if it kept its velocity and angular velocity; the ground stays."""
        R = turned(self.R[k], h * self.Omega[k]) if h != 0.0 else self.R[k]
        return Pose(self.c[k] + h * self.v[k] - R @ self.center[k], R)

    def moved(self, k: int, j: int) -> Pose:
        """A complex step of a body in its j-th coordinate."""
        e = 1j * STEP * np.eye(3)[j % 3]
        if j < 3:
            return Pose(self.c[k] + e - self.R[k] @ self.center[k], self.R[k] + 0j)
        R = self.R[k] + self.R[k] @ hat(e)
        return Pose(self.c[k] - R @ self.center[k], R)


Displacement = Callable[..., Any]


def _gradient(state: State, pair: Sequence[int], f: Displacement) -> Array:
    """df/d(coordinates of two bodies), (rows, 12)."""
    poses = [state.pose(k) for k in pair]
    columns = []
    for side in range(2):
        for j in range(6):
            both = list(poses)
            both[side] = state.moved(pair[side], j)
            columns.append(np.imag(np.array(f(*both), dtype=complex)) / STEP)
    return np.array(columns).T


def _along(state: State, pair: Sequence[int], f: Displacement, scale: float) -> tuple[Array, Array, Array]:
    """f(0), f'(0), f''(0) of f(a, b, h) along the motion of constant velocities; `scale` is a short time."""
    r = RADIUS * scale
    hs = r * np.exp(2j * np.pi * np.arange(POINTS) / POINTS)
    values = np.array([np.array(f(*(state.pose(k, h) for k in pair), h), dtype=complex) for h in hs])
    terms = np.fft.fft(values, axis=0) / POINTS
    return np.real(terms[0]), np.real(terms[1]) / r, 2.0 * np.real(terms[2]) / r**2


def _numbers(system: rbdae.System, bodies: Sequence[Any]) -> list[int]:
    """Of one or two bodies; the ground stands in for a second one."""
    everything = [*system.bodies, system.ground]
    return [*(everything.index(b) for b in bodies), len(system.bodies)][:2]


def gradient_at_start(system: rbdae.System, joint: Any, unit: float) -> Array:
    """G of a joint where the bodies were added, or of the pivot of a body; lengths in units, rows normalised."""
    state, n = State.at_start(system), len(system.bodies)
    if joint in system.bodies:
        G = _pivot(state, n, system.bodies.index(joint))
    else:
        pair = _numbers(system, joint.bodies)
        G = _spread(n, pair, _gradient(state, pair, _equation(joint, law_at(joint, 0.0)(0.0))))
    G = G[:, : 6 * n] * np.tile([unit] * 3 + [1.0] * 3, n)
    return np.asarray(G / np.linalg.norm(G, axis=1, keepdims=True))


def _equation(joint: Any, law: Any) -> Displacement:
    return lambda a, b: EQUATIONS[type(joint)](joint, a, b, law)


def _spread(n: int, pair: Sequence[int], block: Array) -> Array:
    out = np.zeros((len(block), 6 * (n + 1)))
    for side, k in enumerate(pair):
        out[:, 6 * k : 6 * k + 6] += block[:, 6 * side : 6 * side + 6]
    return out


def _pivot(state: State, n: int, k: int) -> Array:
    return _spread(n, (k, n), _gradient(state, (k, n), lambda a, b: [*a.o]))


@dataclass(frozen=True)
class Solved:
    """Accelerations of the centres of mass, material angular ones, reactions [joint][body] (force, torque about
    the joint's point), kinetic energy, its rate, and the power of the forces that have a potential."""

    acceleration: Array
    angular_acceleration: Array
    reactions: dict[str, dict[str, tuple[Array, Array]]]
    kinetic: float
    kinetic_rate: float
    potential_power: float


def solve_maximal(
    system: rbdae.System, state: State, t: float, scale: float = 1.0, loads: Sequence[tuple[Any, Any, float]] = ()
) -> Solved:
    """Accelerations and reactions of a state; `scale` is the unit of time. `loads` are more forces along displacements:
    the bodies, the displacement of their poses, the force."""
    scale /= 1.0 + scale * float(np.max(np.abs(state.Omega)))
    n = len(system.bodies)
    mass = np.zeros((6 * n, 6 * n))
    f, conservative = np.zeros(6 * (n + 1)), np.zeros(6 * (n + 1))
    for k, body in enumerate(system.bodies):
        J = np.array(body.central_inertia)
        mass[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = body.mass * np.eye(3)
        mass[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = J
        f[6 * k : 6 * k + 3] += body.mass * np.array(system.gravity)
        conservative[6 * k : 6 * k + 3] += body.mass * np.array(system.gravity)
        f[6 * k + 3 : 6 * k + 6] -= np.cross(state.Omega[k], J @ state.Omega[k])
    for force in system.forces:
        whole, part = _force(system, state, force, t, scale)
        f += whole
        conservative += part
    for bodies, displacement, effort in loads:
        pair = _numbers(system, bodies)
        f += _spread(n, pair, _gradient(state, pair, displacement)).T @ [effort]
    blocks, gammas, rows = [], [], {}
    row = 0
    for joint in system.joints:
        pair = _numbers(system, joint.bodies)
        law = law_at(joint, t)
        block = _gradient(state, pair, _equation(joint, law(0.0)))
        equations = EQUATIONS[type(joint)]
        gammas.append(_along(state, pair, lambda a, b, h, j=joint, s=law, e=equations: e(j, a, b, s(h)), scale)[2])
        blocks.append(_spread(n, pair, block))
        rows[joint.name] = (slice(row, row + len(block)), pair, joint)
        row += len(block)
    for k, body in enumerate(system.bodies):
        if body.pivot is not None:
            blocks.append(_pivot(state, n, k))
            gammas.append(_along(state, (k, n), lambda a, b, h: [*a.o], scale)[2])
    G = np.concatenate(blocks) if blocks else np.zeros((0, 6 * (n + 1)))
    gamma = np.concatenate(gammas) if gammas else np.zeros(0)
    wdot, la = _solve(mass, G[:, : 6 * n], f[: 6 * n], gamma)
    w = np.concatenate([state.v[:n], state.Omega[:n]], axis=1).ravel()
    reactions = {
        str(name): {
            body.name: _about(state, k, at, (G[part].T @ la[part])[6 * k : 6 * k + 6])
            for body, k, at in zip(joint.bodies, pair, (joint.at_a, joint.at_b), strict=True)
        }
        for name, (part, pair, joint) in rows.items()
    }
    return Solved(
        wdot.reshape(n, 6)[:, :3],
        wdot.reshape(n, 6)[:, 3:],
        reactions,
        float(0.5 * w @ mass @ w),
        float(w @ mass @ wdot),
        float(w @ conservative[: 6 * n]),
    )


def _solve(mass: Array, G: Array, f: Array, gamma: Array) -> tuple[Array, Array]:
    """[M -G^T; G 0], by the Schur complement in scaled rows."""
    half = np.linalg.cholesky(mass)
    free = np.linalg.solve(half, f)
    H = np.linalg.solve(half, G.T).T
    size = np.linalg.norm(H, axis=1)
    H = H / size[:, None]
    found = np.linalg.lstsq(H @ H.T, -gamma / size - H @ free, rcond=1e-11)  # forces of redundant rows are not unique
    la = np.linalg.solve(H @ H.T, -gamma / size - H @ free) if found[2] == len(H) else found[0]
    return np.linalg.solve(half.T, free + H.T @ la), la / size


def _about(state: State, k: int, at: Array, wrench: Array) -> tuple[Array, Array]:
    """Force, and torque in space about a point of the body."""
    arm = state.R[k] @ (np.array(at) - state.center[k])
    return wrench[:3], state.R[k] @ wrench[3:] - np.cross(arm, wrench[:3])


# ---------------------------------------------------------------- forces


def _force(system: rbdae.System, state: State, force: Any, t: float, scale: float) -> tuple[Array, Array]:
    """Generalised forces on all bodies, and those of the part that has a potential."""
    n = len(system.bodies)
    whole, part = np.zeros(6 * (n + 1)), np.zeros(6 * (n + 1))
    pair = _numbers(system, force.bodies)
    kind = type(force)
    if kind in ALONG:
        for along in ALONG[kind](force, t):
            S = _spread(n, pair, _gradient(state, pair, along.displacement))
            s, sd, _ = _along(state, pair, lambda a, b, h, f=along.displacement: f(a, b), scale)
            if force.name in state.internal:
                s = unwound(s, state.internal[force.name])
            whole += S.T @ np.atleast_1d(along.force(s, sd))
            part += S.T @ np.atleast_1d(along.potential_force(s))
    if kind is forces.Friction and force.joint.ball:
        a, b = pair
        torque = -force.rotational * (state.R[b] @ state.Omega[b] - state.R[a] @ state.Omega[a])
        _add(state, whole, b, state.c[b], np.zeros(3), torque)
        _add(state, whole, a, state.c[a], np.zeros(3), -torque)
    if kind in (forces.Force, forces.Torque):
        k = pair[0]
        u, constant = value(force.force if kind is forces.Force else force.torque, t)
        turn = state.R[k] if force.frame == "body" else np.eye(3)
        if kind is forces.Torque:
            _add(state, whole, k, state.c[k], np.zeros(3), turn @ u)
        else:
            at = state.pose(k).at(force.at)
            _add(state, whole, k, at, turn @ u, np.zeros(3))
            if force.frame == "space":
                _add(state, part, k, at, constant, np.zeros(3))
    if kind is forces.UserForce:
        for k, at, push, torque in _user(state, force.bodies, force.force, t, pair):
            _add(state, whole, k, at, push, torque)
            if force.potential is not None:  # then it has no other part
                _add(state, part, k, at, push, torque)
    return whole, part


def unwound(angle: Array, turn: Any) -> Array:
    """The angle that is next to a turn."""
    return turn + np.arctan2(np.sin(angle - turn), np.cos(angle - turn))


def motion(
    system: rbdae.System, state: State, bodies: Sequence[Any], displacement: Displacement, solved: Solved | None = None
) -> tuple[float, float, float]:
    """A displacement, its rate, and its acceleration if the accelerations are known."""
    n, pair = len(system.bodies), _numbers(system, bodies)
    scale = 1.0 / (1.0 + float(np.max(np.abs(state.Omega))))
    s, sd, sdd = _along(state, pair, lambda a, b, h: displacement(a, b), scale)
    if solved is not None:
        wdot = np.concatenate([solved.acceleration, solved.angular_acceleration], axis=1)
        wdot = np.concatenate([wdot.ravel(), np.zeros(6)])
        sdd = sdd + _spread(n, pair, _gradient(state, pair, displacement)) @ wdot
    return float(s[0]), float(sd[0]), float(sdd[0])


def force_on(system: rbdae.System, state: State, force: Any, t: float) -> Array:
    """Of one force, on all bodies and the ground: at the centre of mass in space, and the torque about it in the
    body."""
    return _force(system, state, force, t, 1.0 / (1.0 + float(np.max(np.abs(state.Omega)))))[0]


def _add(state: State, out: Array, k: int, at: Array, force: Array, torque: Array) -> None:
    """A force at a point and a torque, in space, on a body."""
    out[6 * k : 6 * k + 3] += force
    out[6 * k + 3 : 6 * k + 6] += state.R[k].T @ (torque + np.cross(at - state.c[k], force))


def _user(
    state: State, bodies: Sequence[Any], function: Any, t: float, pair: Sequence[int]
) -> list[tuple[int, Array, Array, Array]]:
    """By the user's function: forces on the reference points, torques d_i x F_i."""
    x, out = np.zeros(48), np.zeros(24)
    x[3:12] = x[15:24] = np.eye(3).ravel()
    for side, body in enumerate(bodies):
        k = pair[side]
        pose, arm = state.pose(k), np.array(body.reference)
        point = state.v[k] + state.R[k] @ np.cross(state.Omega[k], arm - state.center[k])
        rate = np.array([np.cross(state.Omega[k], e) for e in np.eye(3)]) @ state.R[k].T  # rows: rates of directors
        x[12 * side : 12 * side + 12] = [*pose.at(arm), *state.R[k].T.ravel()]
        x[24 + 12 * side : 36 + 12 * side] = [*point, *rate.ravel()]
    function(t, x, out)
    found = []
    for side, body in enumerate(bodies):
        k = pair[side]
        F, d = out[12 * side : 12 * side + 12].reshape(4, 3), state.R[k].T
        torque = sum(np.cross(d[i], F[1 + i]) for i in range(3))
        found.append((k, state.pose(k).at(np.array(body.reference)), F[0], torque))
    return found
