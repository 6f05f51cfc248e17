"""Assembly: bodies that are placed roughly are moved onto the constraints, positions first, then velocities.

Gauss-Newton steps of least mass-weighted size ([NS] (62)),

    min |M^(1/2) dq|  with  G dq = -g,

by a singular value decomposition, so that redundant equations do no harm; steps are limited and shortened until the
violation falls. What is held does not move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae.multibody.constraint_matrix import gradient
from rbdae.multibody.model import Model
from rbdae.rotations.euler_map import rotation_matrices

if TYPE_CHECKING:
    from rbdae.system import System

Hold: TypeAlias = Sequence[str | tuple[str, str]]

# beyond this size a dense decomposition takes minutes; such systems are assembled by the sparse projection
LARGEST = 800

_STEPS = 100
_TOLERANCE = 1e-12
_TURN = 0.5  # rad, the largest turn of a body in one step


@final
@dataclass(frozen=True, slots=True)
class Assembly:
    """What an assembly did.

    Attributes
    ----------
    names : names of the bodies
    position, orientation, velocity, angular_velocity : (n, 3), (n, 4) scalar-first, (n, 3), (n, 3)
        The consistent state; reference points (centre of mass, or pivot), angular velocities in the body frames.
    moved, turned : (n,)
        How far each body was displaced, m, and turned, rad.
    velocity_change, spin_change : (n,)
        Changes of the velocities, m/s and rad/s.
    gap : largest violation of a joint before, m (or the square root of m^2, or 1)
    steps : Gauss-Newton steps
    redundant : names of the joint equations that follow from the others
    """

    names: tuple[str, ...]
    position: Mat
    orientation: Mat
    velocity: Mat
    angular_velocity: Mat
    moved: Vec
    turned: Vec
    velocity_change: Vec
    spin_change: Vec
    gap: float
    steps: int
    redundant: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{'body':16s} {'moved/m':>10s} {'turned/rad':>11s} {'dv/(m/s)':>10s} {'dOmega/(rad/s)':>15s}"]
        for k, name in enumerate(self.names):
            lines.append(
                f"{name:16s} {self.moved[k]:10.3g} {self.turned[k]:11.3g} {self.velocity_change[k]:10.3g} "
                f"{self.spin_change[k]:15.3g}"
            )
        lines.append(f"largest gap before {self.gap:.3g}, {self.steps} steps")
        lines += [f"redundant: {name}" for name in self.redundant]
        return "\n".join(lines)


def held_columns(model: Model, hold: Hold) -> Bools:
    """Which of the 6 n displacements (x, rotation about the body's axes) are held."""
    out = np.zeros((model.n, 6), dtype=bool)
    parts = {"x": [0], "y": [1], "z": [2], "position": [0, 1, 2], "orientation": [3, 4, 5]}
    for item in hold:
        name, part = (item, None) if isinstance(item, str) else item
        if name not in model.names:
            raise ValueError(f"hold: no body {name!r}; the bodies are {', '.join(map(repr, model.names))}")
        if part is not None and part not in parts:
            raise ValueError(f"hold: body {name!r} has no {part!r}; choose from {', '.join(map(repr, parts))}")
        out[model.names.index(name), slice(None) if part is None else parts[part]] = True
    return out.reshape(-1)


def natural_coordinates(model: Model, x: Mat, p: Mat, xd: Mat, om: Mat) -> Mat:
    """(n, 24) as `Problem.natural` gives them."""
    R = rotation_matrices(p)
    skew = np.zeros((model.n, 3, 3))
    skew[:, 0, 1], skew[:, 0, 2], skew[:, 1, 2] = -om[:, 2], om[:, 1], -om[:, 0]
    skew -= np.swapaxes(skew, 1, 2)
    d = np.swapaxes(R, 1, 2).reshape(model.n, 9)
    dd = np.swapaxes(R @ skew, 1, 2).reshape(model.n, 9)
    return np.concatenate([x, d, xd, dd], axis=1)


def _weights(model: Model, held: Bools) -> Mat:
    """M^(-1/2) as (n, 6, 6) blocks, with zero rows and columns for what cannot move."""
    W = np.zeros((model.n, 6, 6))
    for k in range(model.n):
        body = model.bodies[k]
        if body["nt"] == 3:
            W[k, :3, :3] = np.eye(3) / np.sqrt(body["mass"])
        lam, V = np.linalg.eigh(body["inertia"])
        W[k, 3:, 3:] = (V / np.sqrt(lam)) @ V.T
    mask = held.reshape(model.n, 6)
    if mask.any():
        # the free displacements keep their mass, without the coupling to the held ones
        for k in map(int, np.flatnonzero(mask.any(axis=1))):
            M = np.zeros((6, 6))
            M[:3, :3] = model.bodies[k]["mass"] * np.eye(3)
            M[3:, 3:] = model.bodies[k]["inertia"]
            free = ~mask[k]
            if model.bodies[k]["nt"] != 3:
                free[:3] = False
            W[k] = 0.0
            if free.any():
                lam, V = np.linalg.eigh(M[np.ix_(free, free)])
                W[k][np.ix_(free, free)] = (V / np.sqrt(lam)) @ V.T
    return W


def _solve(G: Mat, W: Mat, rhs: Vec) -> Vec:
    """Least mass-weighted displacement (6 n) with G d = rhs in the sense of least squares."""
    n = W.shape[0]
    A = np.einsum("rni,nij->rnj", G.reshape(len(G), n, 6), W).reshape(len(G), 6 * n)
    scale = np.linalg.norm(A, axis=1)
    scale[scale == 0.0] = 1.0
    step = np.linalg.lstsq(A / scale[:, None], rhs / scale, rcond=1e-7)[0]
    return np.asarray(np.einsum("nij,nj->ni", W, step.reshape(n, 6)).reshape(-1))


def _displaced(x: Mat, p: Mat, step: Vec) -> tuple[Mat, Mat]:
    from scipy.spatial.transform import Rotation  # a slow import, which trees do not need

    d = step.reshape(len(x), 6)
    turn = Rotation.from_rotvec(d[:, 3:])
    rotated = Rotation.from_quat(p[:, [1, 2, 3, 0]]) * turn
    return x + d[:, :3], rotated.as_quat()[:, [3, 0, 1, 2]]


def assemble_dense(
    model: Model,
    t0: float,
    violation: Callable[[Mat, Mat, Mat, Mat], tuple[Vec, Vec]],
    row_name: Callable[[int], str],
    hold: Hold = (),
) -> Assembly:
    """Assemble a model; `violation(x, p, xd, om)` gives g and gdot of the joints, `row_name` names a joint equation."""
    held = held_columns(model, hold)
    W = _weights(model, held)
    x, p = model.x.copy(), model.p / np.linalg.norm(model.p, axis=1)[:, None]
    still = np.zeros((model.n, 3))
    g, _ = violation(x, p, still, still)
    gap = float(np.max(np.abs(g), initial=0.0))
    size, steps = gap, 0
    while size > _TOLERANCE and steps < _STEPS:
        steps += 1
        step = _solve(gradient(model, np.asarray(t0), natural_coordinates(model, x, p, still, still)), W, -g)
        turn = float(np.max(np.linalg.norm(step.reshape(-1, 6)[:, 3:], axis=1)))
        fraction = min(1.0, _TURN / turn) if turn > 0.0 else 1.0
        norm = float(np.linalg.norm(g))
        for _ in range(12):
            trial = _displaced(x, p, fraction * step)
            g_trial, _ = violation(*trial, still, still)
            if float(np.linalg.norm(g_trial)) < (1.0 - 0.1 * fraction) * norm:
                break
            fraction *= 0.5
        else:
            break  # no descent: at the rounding level, or the loop cannot close
        (x, p), g = trial, g_trial
        size = float(np.max(np.abs(g)))
    if not size <= 1e-9:
        worst = int(np.argmax(np.abs(g)))
        held_note = " with what is held" if held.any() else ""
        raise ValueError(
            f"the joints cannot be closed{held_note}: at best a gap of {abs(g[worst]):.3g} remains at "
            f"{row_name(worst)} (before: {gap:.3g}); check lengths, points and axes, or start from another placement"
        )
    G = gradient(model, np.asarray(t0), natural_coordinates(model, x, p, still, still))
    # the rotations have moved the body frames; velocities are kept in space, angular ones in the body frames
    _, rate = violation(x, p, model.xd, model.om)
    change = _solve(G, W, -rate).reshape(model.n, 6)
    xd, om = model.xd + change[:, :3], model.om + change[:, 3:]
    _, rest = violation(x, p, xd, om)
    if not float(np.max(np.abs(rest), initial=0.0)) <= 1e-8 * (1.0 + float(np.max(np.abs(rate), initial=0.0))):
        worst = int(np.argmax(np.abs(rest)))
        raise ValueError(
            f"no velocities satisfy the constraints: {abs(rest[worst]):.3g} remains at {row_name(worst)}; check the "
            "drives and what is held"
        )
    return report(model, x, p, xd, om, gap, steps)


def report(model: Model, x: Mat, p: Mat, xd: Mat, om: Mat, gap: float, steps: int) -> Assembly:
    """What has moved from the given placement to this state."""
    from scipy.spatial.transform import Rotation

    turned = Rotation.from_quat(model.p[:, [1, 2, 3, 0]]).inv() * Rotation.from_quat(p[:, [1, 2, 3, 0]])
    return Assembly(
        names=model.names,
        position=x,
        orientation=p,
        velocity=xd,
        angular_velocity=om,
        moved=np.linalg.norm(x - model.x, axis=1),
        turned=turned.magnitude(),
        velocity_change=np.linalg.norm(xd - model.xd, axis=1),
        spin_change=np.linalg.norm(om - model.om, axis=1),
        gap=gap,
        steps=steps,
    )


def assemble(system: System, hold: Hold = (), t0: float = 0.0) -> Assembly:
    """Place the bodies of a system consistently, and say what moved.

    `rbdae.formulate(system, ..., hold=hold)` starts from the same state.

    Parameters
    ----------
    system : System
    hold : names of bodies, or (name, ``"x"`` | ``"y"`` | ``"z"`` | ``"position"`` | ``"orientation"``)
        What keeps its place and velocity.
    t0 : float
        Initial time, s.

    Raises
    ------
    ValueError
        A loop cannot be closed (with the gap that remains), or the velocities contradict each other.
    """
    from rbdae.initial.formulate import starting_state

    return starting_state(system, hold, t0)[1]


__all__ = ["Assembly", "Hold", "assemble", "assemble_dense", "natural_coordinates", "report"]
