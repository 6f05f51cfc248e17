"""What unknowns mean, by their labels and by definition: natural coordinates, constraints and their gradient, energies,
momenta, for the laws of observables. Charts are scipy's (`cases.CHART_CASES`), joints are the data of their primitives,
forces those of `textbook`; nothing is taken from the library but data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cases
import numpy as np
from inside import Mat, Vec
from maximal import State
from textbook import ALONG

import rbdae
from rbdae import forces
from rbdae.drives import DrivenRod


def hat(v: Any) -> Mat:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _places(problem: rbdae.Problem, part: slice, body: str) -> list[int]:
    """Where a part of y has the unknowns of a body, by their labels."""
    return [k for k in range(part.start, part.stop) if problem.labels[k].rpartition(".")[0] == body]


def positions(problem: rbdae.Problem, y: Vec, body: Any) -> tuple[Vec, Vec]:
    """The point x of a body and its rotation parameters."""
    at = _places(problem, problem.layout.q, body.name)
    if body.pivot is not None:
        return np.array(body.pivot), y[at]
    return y[at[:3]], y[at[3:]]


def directors(problem: rbdae.Problem, body: Any, a: Vec) -> Mat:
    """[d1 d2 d3] of rotation parameters: of a quaternion |p|^2 R, of directors what they are."""
    return np.asarray(
        problem.reference_rotations[body.name].as_matrix() @ cases.CHART_CASES[problem.rotation].matrix(a)
    )


def _by_coordinates(problem: rbdae.Problem, body: Any, a: Vec, w: Vec) -> Mat:
    """The rate of the directors for rates of the parameters, by differences."""
    return np.asarray(cases.along(lambda b: directors(problem, body, b), a, w, 1e-3 * min(1.0, np.abs(w).max() + 1e-9)))


VELOCITIES: dict[str, Callable[[rbdae.Problem, Any, Vec, Vec], Mat] | None] = {
    "angular": lambda problem, body, a, w: directors(problem, body, a) @ hat(w),
    "spatial": lambda problem, body, a, w: directors(problem, body, a) @ hat(directors(problem, body, a).T @ w),
    "coordinate": _by_coordinates,
    "momentum": None,
}
"""The rate of the directors by the unknown velocities of a rotation, spatial ones by Omega = R^T omega; None: they are
no velocities."""


def natural(problem: rbdae.Problem, y: Vec) -> tuple[Mat, Mat | None]:
    """(x, d1, d2, d3) of all bodies (n, 12), and their rates, where the velocities among the unknowns are those of the
    bodies: momenta and quasi-velocities have laws of their own."""
    Z, Zd = [], []
    rate = VELOCITIES[problem.velocity]
    reduced = any(label.rpartition(".")[2].startswith("nu") for label in problem.labels[problem.layout.v])
    for body in problem.system.bodies:
        x, a = positions(problem, y, body)
        Z.append(np.concatenate([x, directors(problem, body, a).T.ravel()]))
        at = _places(problem, problem.layout.v, body.name)
        free = [] if body.pivot is not None else at[:3]
        if rate is not None and not reduced and len(at) > len(free):
            w = y[at[len(free) :]]
            xd = y[free] if free else np.zeros(3)
            Zd.append(np.concatenate([xd, rate(problem, body, a, w).T.ravel()]))
    return np.array(Z), np.array(Zd) if len(Zd) == len(Z) else None


# ---------------------------------------------------------------- states of bodies


def state(system: rbdae.System, Z: Mat, internal: Mapping[str, Vec] | None = None) -> State:
    """Of natural coordinates and rates (n, 24) on the constraints of the chart."""
    motion = {}
    for body, z in zip(system.bodies, Z, strict=True):
        R, Rd = z[3:12].reshape(3, 3).T, z[15:24].reshape(3, 3).T
        W = R.T @ Rd
        arm = np.array(body.reference)
        omega = 0.5 * np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]])
        motion[body.name] = (z[:3] - R @ arm, R, z[12:15] - Rd @ arm, omega)
    return State.of(system, motion, internal)


def internal_states(problem: rbdae.Problem, y: Vec) -> dict[str, Vec]:
    """The internal states of forces by the force's name."""
    found: dict[str, list[float]] = {}
    for k in range(problem.layout.s.start, problem.layout.s.stop):
        found.setdefault(problem.labels[k].rpartition(".")[0], []).append(float(y[k]))
    return {name: np.array(values) for name, values in found.items()}


# ---------------------------------------------------------------- joints


def _primitive(primitive: Any, system: rbdae.System, pair: tuple[Any, Any]) -> tuple[Vec, Vec]:
    """A and B about the points x of the bodies."""
    out = []
    for c in (primitive.A, primitive.B):
        c = np.array(c)
        for side, body in enumerate(pair):
            c[4 * side + 1 : 4 * side + 4] -= c[4 * side] * np.array(body.reference)
        out.append(c)
    return out[0], out[1]


def _sides(system: rbdae.System, Z: Mat, joint: Any, rates: bool) -> Mat:
    """(8, 3) vectors of the two bodies of a joint, or their rates."""
    rows = []
    for body in joint.bodies:
        if body.fixed:
            rows.append(np.zeros((4, 3)) if rates else np.vstack([np.zeros(3), np.eye(3)]))
        else:
            z = Z[system.bodies.index(body)]
            rows.append((z[12:] if rates else z[:12]).reshape(4, 3))
    return np.vstack(rows)


def joint_constraints(system: rbdae.System, t: float, Z: Mat) -> tuple[Vec, Vec]:
    """g and gdot of all joints, by their primitives, at natural coordinates and rates (n, 24)."""
    g: list[float] = []
    gd: list[float] = []
    for joint in system.joints:
        X, Xd = (_sides(system, Z, joint, rates) for rates in (False, True))
        for k, primitive in enumerate(joint.primitives()):
            A, B = _primitive(primitive, system, joint.bodies)
            offset, rate = np.array(primitive.offset), np.zeros(3)
            if k == 0 and isinstance(joint, DrivenRod):
                s, sd, _ = (float(np.ravel(x)[0]) for x in joint.motion(t))
                offset[0], rate[0] = 0.5 * s * s, s * sd
            if primitive.kind == "linear":
                g += list(A @ X - offset)
                gd += list(A @ Xd - rate)
            else:
                P, Q = A @ X, B @ X
                g.append(primitive.scale * (P @ Q) - offset[0])
                gd.append(primitive.scale * (A @ Xd @ Q + P @ (B @ Xd)) - rate[0])
    return np.array(g), np.array(gd)


def joint_gradient(system: rbdae.System, t: float, Z: Mat, pivots: bool = False) -> Mat:
    """G of all joints with respect to (xdot, Omega) of all bodies, (rows, 6 n): by a velocity at a time, since gdot is
    linear in them. A pivot has no xdot: its columns are zero, unless it is asked for what they would be."""
    base = Z.copy()
    base[:, 12:] = 0.0
    still = joint_constraints(system, t, base)[1]
    columns = []
    for k, body in enumerate(system.bodies):
        R = Z[k, 3:12].reshape(3, 3).T
        for j in range(6):
            moved = base.copy()
            if j < 3:
                moved[k, 12 + j] = 0.0 if body.pivot is not None and not pivots else 1.0
            else:
                moved[k, 15:24] = (R @ hat(np.eye(3)[j - 3])).T.ravel()
            columns.append(joint_constraints(system, t, moved)[1] - still)
    return np.array(columns).T


def mass_matrix(system: rbdae.System) -> Mat:
    """Of (xdot, Omega) of all bodies: about the centre of mass, or the pivot."""
    blocks = np.zeros((6 * len(system.bodies),) * 2)
    for k, body in enumerate(system.bodies):
        J = np.array(body.central_inertia)
        if body.pivot is not None:
            c = np.array(body.center_of_mass)
            J = J + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
        blocks[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = body.mass * np.eye(3)
        blocks[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = J
    return blocks


def euler_tensor(body: Any) -> Mat:
    """Integral of r r^T over the mass, about the centre of mass, or the pivot."""
    J = np.array(body.central_inertia)
    E = 0.5 * np.trace(J) * np.eye(3) - J
    if body.pivot is not None:
        E = E + body.mass * np.outer(body.center_of_mass, body.center_of_mass)
    return np.asarray(E)


# ---------------------------------------------------------------- energy, momentum


def kinetic(system: rbdae.System, s: State) -> float:
    out = 0.0
    for k, body in enumerate(system.bodies):
        out += 0.5 * body.mass * s.v[k] @ s.v[k] + 0.5 * s.Omega[k] @ np.array(body.central_inertia) @ s.Omega[k]
    return float(out)


def potential(system: rbdae.System, s: State, t: float) -> float:
    """Up to a constant: of a force along a displacement d that is f0 + f1 d, -(f0 + f1 d / 2) d."""
    out = 0.0
    everything = [*system.bodies, system.ground]
    for k, body in enumerate(system.bodies):
        out -= body.mass * np.array(system.gravity) @ s.c[k]
    for force in system.forces:
        numbers = [everything.index(b) for b in force.bodies]
        poses = [s.pose(k) for k in [*numbers, len(system.bodies)][:2]]
        for along in ALONG.get(type(force), lambda f, t: [])(force, t):
            d = np.real(np.array(along.displacement(*poses), dtype=complex))
            both = np.atleast_1d(along.potential_force(d)) + np.atleast_1d(along.potential_force(0.0 * d))
            out -= 0.5 * float(np.sum(d * both))
        if isinstance(force, forces.Force) and force.frame == "space" and force.force.function is None:
            out -= float(np.array(force.force.constant) @ poses[0].at(force.at))
        if isinstance(force, forces.UserForce) and force.potential is not None:
            z, value = np.zeros(24), np.zeros(1)
            for side, body in enumerate(force.bodies):
                pose = poses[side]
                z[12 * side : 12 * side + 12] = [*pose.at(np.array(body.reference)), *pose.R.T.ravel()]
            force.potential(t, z, value)
            out += float(value[0])
    return float(out)


def momentum(system: rbdae.System, s: State) -> tuple[Vec, Vec]:
    """Linear, and angular about the origin of space."""
    linear, angular = np.zeros(3), np.zeros(3)
    for k, body in enumerate(system.bodies):
        p = body.mass * s.v[k]
        linear += p
        angular += np.cross(s.c[k], p) + s.R[k] @ np.array(body.central_inertia) @ s.Omega[k]
    return linear, angular


def placed(system: rbdae.System) -> Mat:
    """Natural coordinates and rates of the bodies as they were added, (n, 24); points x whose velocities were not given
    are at rest."""
    rows = []
    for body in system.bodies:
        R, arm = np.array(body.rotation), np.array(body.reference)
        Rd = R @ hat(body.angular_velocity)
        known = body.pivot is not None or "velocity" in body.given
        xd = np.array(body.velocity) + Rd @ arm if known else np.zeros(3)
        rows.append(np.concatenate([np.array(body.position) + R @ arm, R.T.ravel(), xd, Rd.T.ravel()]))
    return np.array(rows)
