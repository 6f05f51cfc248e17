"""Assembly: bodies that are placed roughly are moved onto the constraints, positions first, then velocities.

Gauss-Newton steps of least mass-weighted size ([NS] (62)),

    min |M^(1/2) dq|  with  G dq = -g,

by a singular value decomposition, so that redundant equations do no harm; steps are limited and shortened until the
violation falls. What is held does not move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from rbdae import _check
from rbdae._arrays import Bools, Mat, Vec
from rbdae.multibody.layout import BodyMotion, natural_coordinates
from rbdae.multibody.model import Model
from rbdae.problem.assembly_report import Assembly, report

Hold: TypeAlias = Sequence[str | tuple[str, str]]

# beyond this size a dense decomposition takes minutes; such systems are assembled by the sparse projection
LARGEST = 800

_STEPS = 100
_TOLERANCE = 1e-12  # of violations over their sizes
_CLOSED = 1e-9  # the same where rounding stops the steps
_STEADY = 1e-8  # of velocities
_TURN = 0.5  # rad, the largest turn of a body in one step


def check_hold(hold: object) -> Hold:
    """Names of bodies, or pairs of a name and a part; refuses everything else."""
    if not isinstance(hold, (list, tuple)):
        raise TypeError(
            f"hold must be a list of names of bodies, or of pairs (name, 'x'), got {_check.show(hold)}; pass e.g. "
            "hold=['crank']"
        )
    for item in hold:
        pair = isinstance(item, (list, tuple)) and len(item) == 2 and all(isinstance(part, str) for part in item)
        if not (isinstance(item, str) or pair):
            raise TypeError(
                f"hold: an item must be the name of a body, or a pair such as ('crank', 'x'), got {_check.show(item)}; "
                "correct it"
            )
    return hold


def held_columns(model: Model, hold: Hold) -> Bools:
    """Which of the 6 n displacements (x, rotation about the body's axes) are held."""
    out = np.zeros((model.n, 6), dtype=bool)
    parts = {"x": [0], "y": [1], "z": [2], "position": [0, 1, 2], "orientation": [3, 4, 5]}
    for item in check_hold(hold):
        name, part = (item, None) if isinstance(item, str) else item
        if name not in model.names:
            raise ValueError(f"hold: no body {name!r}; the bodies are {', '.join(map(repr, model.names))}")
        if part is not None and part not in parts:
            raise ValueError(f"hold: body {name!r} has no {part!r}; choose from {', '.join(map(repr, parts))}")
        out[model.names.index(name), slice(None) if part is None else parts[part]] = True
    return out.reshape(-1)


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
    violation: Callable[[BodyMotion], tuple[Vec, Vec]],
    joint_matrix: Callable[[Mat], Mat],
    hold: Hold = (),
) -> Assembly:
    """Assemble a model; `violation` gives g and gdot of the joints, `joint_matrix` their G at natural coordinates."""
    held = held_columns(model, hold)
    W = _weights(model, held)
    placed, gap, steps = _close_positions(model, violation, joint_matrix, W, bool(held.any()))
    x, p = placed.x, placed.p
    # the rotations have moved the body frames; velocities are kept in space, angular ones in the body frames
    _, rate = violation(BodyMotion(x, p, model.xd, model.om))
    change = _solve(joint_matrix(natural_coordinates(placed)), W, -rate).reshape(model.n, 6)
    out = BodyMotion(x, p, model.xd + change[:, :3], model.om + change[:, 3:])
    _, rest = violation(out)
    speeds = model.scales.sizes(model.scales.length)
    speed = model.scales.rate + float(np.max(np.abs(rate) / speeds, initial=0.0))
    if not float(np.max(np.abs(rest) / speeds, initial=0.0)) <= _STEADY * speed:
        worst = int(np.argmax(np.abs(rest) / speeds))
        raise ValueError(
            f"no velocities satisfy the constraints: {abs(rest[worst]):.3g} remains at {model.row_name(worst)}; check "
            "the drives and what is held"
        )
    return report(model, out, gap, steps)


def _close_positions(
    model: Model,
    violation: Callable[[BodyMotion], tuple[Vec, Vec]],
    joint_matrix: Callable[[Mat], Mat],
    W: Mat,
    held: bool,
) -> tuple[BodyMotion, float, int]:
    """Positions on the constraints, at rest; the largest gap before; the number of steps."""
    rest = np.zeros((model.n, 3))
    here = BodyMotion(model.x.copy(), model.p / np.linalg.norm(model.p, axis=1)[:, None], rest, rest)
    sizes = model.scales.sizes(model.scales.length)
    g, _ = violation(here)
    gap = float(np.max(np.abs(g), initial=0.0))
    size, steps = float(np.max(np.abs(g) / sizes, initial=0.0)), 0
    while size > _TOLERANCE and steps < _STEPS:
        steps += 1
        step = _solve(joint_matrix(natural_coordinates(here)), W, -g)
        turn = float(np.max(np.linalg.norm(step.reshape(-1, 6)[:, 3:], axis=1)))
        fraction = min(1.0, _TURN / turn) if turn > 0.0 else 1.0
        norm = float(np.linalg.norm(g / sizes))
        for _ in range(12):
            trial = BodyMotion(*_displaced(here.x, here.p, fraction * step), rest, rest)
            g_trial, _ = violation(trial)
            if float(np.linalg.norm(g_trial / sizes)) < (1.0 - 0.1 * fraction) * norm:
                break
            fraction *= 0.5
        else:
            break  # no descent: at the rounding level, or the loop cannot close
        here, g = trial, g_trial
        size = float(np.max(np.abs(g) / sizes))
    if not size <= _CLOSED * model.scales.reach / model.scales.length:
        worst = int(np.argmax(np.abs(g) / sizes))
        with_held = " with what is held" if held else ""
        raise ValueError(
            f"the joints cannot be closed{with_held}: at best a gap of {abs(g[worst]):.3g} remains at "
            f"{model.row_name(worst)} (before: {gap:.3g}); check lengths, points and axes, or start from another "
            "placement"
        )
    return here, gap, steps


__all__ = ["LARGEST", "Hold", "assemble_dense", "check_hold"]
