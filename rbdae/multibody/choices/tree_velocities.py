"""Trees of joints whose velocity rows are known: which components of a body's twist are its quasi-velocities.

A body that hangs from its parent by a joint with c equations has 6 - c quasi-velocities, fixed rows on its twist in its
own frame (`AbstractJoint.velocity_rows`): none of them ever has to be changed, and the system is solved body by body
(`rbdae.kernels.null_space.trees`). Drives of such a joint take the freedom that they prescribe away.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae.multibody.system.model import Model

_ALIGNED = 1e-6


@final
@dataclass(frozen=True, slots=True, eq=False)
class TreeVelocity:
    """The primitives that tie a body to its parent, and the rows S (k, 6) on the twist (R^T xdot, Omega) of its
    reference point; a root has no primitives, and (xdot, Omega) itself."""

    primitives: tuple[int, ...]
    S: Mat

    def places(self, model: Model, b: int) -> list[int]:
        """The places of the six equations of body b, joints first, in its factors (`rbdae.kernels.null_space.trees`).
        The rows S lead, since the determinant of a hinge is then one cofactor; drives come last, since of more than
        three that move the body they are last."""
        driven = [k in model.rheonomic for k in self.primitives for _ in range(int(model.primitives["n"][k]))]
        moves = _moving(model, b, self.primitives, self.S)
        order = np.lexsort((np.array([*driven, *[-1] * len(self.S)]), ~moves))
        out = np.empty(6, dtype=np.int64)
        out[order] = np.arange(6)
        return out.tolist()


def _moving(model: Model, b: int, primitives: Sequence[int], S: Mat) -> Bools:
    """Which of the equations of body b, and of its rows S, have its xdot."""
    records = model.primitives[list(primitives)]
    side = (records["body"][:, 1] == b).astype(np.int64)
    each = np.arange(len(records))
    of_point = (records["A"][each, 4 * side] != 0.0) | (
        (records["linear"] == 0) & (records["B"][each, 4 * side] != 0.0)
    )
    return np.concatenate([np.repeat(of_point, records["n"]), S[:, :3].any(axis=1)])


def is_spherical_tree(model: Model) -> bool:
    """Whether T is known in closed form: spherical joints of free bodies, no loop, nothing that moves by itself."""
    tree = model.tree
    return (
        not tree.closing
        and not len(model.drives)
        and all(
            [bool(model.primitives[i]["linear"]) for i in model.joints[k].primitives] == [True]
            and model.bodies["nt"][b] == 3
            for b, k in enumerate(tree.joint)
            if k >= 0
        )
    )


def tree_velocities(model: Model, R: Mat, joint_matrix: Callable[[], Mat]) -> tuple[TreeVelocity, ...] | None:
    """One for each body; None where the system is no such tree. R (n, 3, 3) are the rotations of a state, and
    `joint_matrix` gives G (rows, 6 n) there, by which drives find what they prescribe."""
    tree = model.tree
    between: dict[frozenset[int], list[int]] = {}
    for k, joint in enumerate(model.joints):
        between.setdefault(frozenset(joint.bodies), []).append(k)
    used = 0
    out = []
    for b, parent in enumerate(tree.parent):
        if parent < 0:
            out.append(TreeVelocity((), np.zeros((0, 6))))
            continue
        joints = between[frozenset((b, parent))]
        used += len(joints)
        found = _of_body(model, R[b], joint_matrix, b, joints) if model.bodies["nt"][b] == 3 else None
        if found is None:
            return None
        out.append(found)
    return tuple(out) if used == len(model.joints) else None


def spanning_freedoms(model: Model) -> int:
    """The freedoms of a spanning tree of joints with known velocity rows: few freedoms first, then short ways."""
    n, sizes = model.n, model.primitives["n"]
    at: list[list[tuple[int, int]]] = [[] for _ in range(n + 1)]
    for joint in model.joints:
        primitives = tuple(joint.primitives)
        equations = int(sizes[list(primitives)].sum())
        for side, (b, S) in enumerate(zip(joint.bodies, joint.velocity_rows, strict=True)):
            if S is None or b == n or model.bodies["nt"][b] != 3 or len(S) + equations != 6:
                continue
            if np.count_nonzero(_moving(model, b, primitives, S)) == 3:
                at[joint.bodies[1 - side]].append((len(S), b))
    total, met = 0, {n}
    for root in (n, *range(n)):
        if root in met and root != n:
            continue
        met.add(root)
        total += int(model.bodies["nt"][root]) + 3 if root != n else 0
        ways = [(free, 1, k, root, b) for k, (free, b) in enumerate(at[root])]
        heapq.heapify(ways)
        while ways:
            free, depth, _, _, b = heapq.heappop(ways)
            if b not in met:
                met.add(b)
                total += free
                for k, (more, c) in enumerate(at[b]):
                    heapq.heappush(ways, (more, depth + 1, k, b, c))
    return total


def _of_body(model: Model, R: Mat, joint_matrix: Callable[[], Mat], b: int, joints: list[int]) -> TreeVelocity | None:
    """The tree velocity of a body with these joints to its parent: one joint, and drives of it."""
    drives = [k for k in joints if model.joints[k].primitives.start in model.rheonomic]
    rest = [k for k in joints if k not in drives]
    if not rest:
        rest, drives = joints[:1], joints[1:]
    if len(rest) != 1:
        return None
    joint = model.joints[rest[0]]
    S = joint.velocity_rows[joint.bodies.index(b)]
    primitives = tuple(joint.primitives)
    equations = int(model.primitives["n"][list(primitives)].sum())
    if S is None or len(S) + equations != 6 or np.count_nonzero(_moving(model, b, primitives, S)) != 3:
        return None
    for k in drives:
        drive = model.joints[k]
        if len(drive.primitives) != 1:
            return None
        taken = _taken(model, R, joint_matrix(), b, S, primitives, drive.primitives.start)
        if taken is None:
            return None
        primitives += tuple(drive.primitives)
        S = np.delete(S, taken, axis=0)
    return TreeVelocity(primitives, S)


def _taken(model: Model, R: Mat, matrix: Mat, b: int, S: Mat, primitives: tuple[int, ...], drive: int) -> int | None:
    """The freedom that a drive prescribes: its equation, on the motions that the others leave, is that one alone."""
    if model.primitives["n"][drive] != 1:
        return None
    sizes = model.primitives["n"]
    first = np.cumsum(sizes) - sizes
    own = matrix[:, 6 * b : 6 * b + 6]
    G = np.concatenate([own[first[k] : first[k] + sizes[k]] for k in primitives])
    # velocities over the model's length, so that slides and turns compare
    over = np.repeat((model.scales.length, 1.0), 3)
    A = np.concatenate([G, np.hstack([S[:, :3] @ R.T, S[:, 3:]])]) * over
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    if len(A) != 6 or np.linalg.matrix_rank(A) < 6:
        return None
    motions = np.linalg.inv(A)[:, len(G) :]
    row: Vec = own[first[drive]] * over @ motions
    size = np.abs(row)
    k = int(np.argmax(size)) if len(row) else 0
    if not len(row) or size[k] == 0.0 or np.any(np.delete(size, k) > _ALIGNED * size[k]):
        return None
    return k
