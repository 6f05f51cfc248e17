"""The side of an axis that a joint means, where its equations hold for opposite directions, too.

Welds, slides and driven angles fix a rotation by directions at right angles: the equations also hold half a turn away.
The search for a start keeps the directions that agree less than 60 degrees apart, from where the equations lead to the
rotation that is meant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec, cross
from rbdae.kernels.constraints.drives import ANGLE
from rbdae.multibody.model import Model
from rbdae.rotations.euler_map import rotation_matrices

_NEAR = 0.5
"""Cosine of the angle between directions from which on the equations are trusted."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Directions of two bodies, by their numbers, that agree; the primitives whose equations hold for opposite ones,
    too; and what to say of those."""

    bodies: tuple[int, int]
    primitives: tuple[int, ...]
    a: Vec
    b: Vec
    wrong: str

    def cosine(self, R: Mat) -> float:
        """The cosine of the angle between the directions at rotations (n + 1, 3, 3), the ground's last."""
        return float((R[self.bodies[0]] @ self.a) @ (R[self.bodies[1]] @ self.b))


@final
class Sides:
    """All directions of a model that agree; `rows` (joint rows,) bool are the equations that they stand for."""

    rows: Bools

    def __init__(self, model: Model, t0: float) -> None:
        self._sides: list[Side] = []
        for joint, packed in zip(model.system.joints, model.joints, strict=True):
            wrong = (
                f"joint {packed.name!r}: the bodies are placed nearer to half a turn beyond the rotation in which axes "
                "and normals agree than to that rotation; place them less than a quarter turn from it"
            )
            for a, b in joint.agreements():
                self._sides.append(Side(packed.bodies, _turning(model, packed.primitives), a, b, wrong))
        for k, law in model.rheonomic.items():
            if law.kind != ANGLE or law.e1 is None or law.e2 is None:
                continue
            angle = float(law.motion(t0)[0][0])
            primitive = model.primitives[k]
            wrong = (
                f"{law.motion.owner}: the bodies are placed nearer to half a turn beyond the angle than to the angle, "
                f"{angle:.4g} rad at t = {t0:g}; place them less than a quarter turn from it"
            )
            across = np.cos(angle) * law.e2 - np.sin(angle) * law.e1
            pair = int(primitive["body"][0]), int(primitive["body"][1])
            self._sides.append(Side(pair, (k,), across, primitive["B"][5:8].copy(), wrong))
        sizes = model.primitives["n"]
        of_sides = np.zeros(len(sizes), dtype=bool)
        of_sides[[k for side in self._sides for k in side.primitives]] = True
        self.rows = np.repeat(of_sides, sizes)

    def gaps(self, p: Mat) -> Vec:
        """How far the cosines are from where the equations are trusted, at quaternions (n, 4); zero beyond."""
        if not self._sides:
            return np.zeros(0)
        R = _rotations(p)
        return np.array([max(0.0, _NEAR - side.cosine(R)) for side in self._sides])

    def slopes(self, p: Mat) -> Mat:
        """The derivatives of `gaps`, (sides, n, 6), with respect to displacements and turns of the bodies."""
        out = np.zeros((len(self._sides), len(p) + 1, 6))
        R = _rotations(p)
        for row, side in zip(out, self._sides, strict=True):
            if side.cosine(R) >= _NEAR:
                continue
            first, second = side.bodies
            relative = R[first].T @ R[second]
            row[first, 3:] -= cross(side.a, relative @ side.b)
            row[second, 3:] -= cross(side.b, relative.T @ side.a)
        return out[:, :-1]

    def right(self, p: Mat) -> bool:
        """Whether all directions are nearer to each other than to their opposites."""
        if not self._sides:
            return True
        R = _rotations(p)
        return all(side.cosine(R) >= 0.0 for side in self._sides)

    def check(self, p: Mat) -> None:
        """Raise ValueError for the first directions that are opposite."""
        if not self._sides:
            return
        R = _rotations(p)
        for side in self._sides:
            if side.cosine(R) < 0.0:
                raise ValueError(side.wrong)


def _turning(model: Model, primitives: range) -> tuple[int, ...]:
    """The primitives of a joint that concern directions alone."""
    return tuple(
        k
        for k in primitives
        if not model.primitives[k]["A"][[0, 4]].any() and not model.primitives[k]["B"][[0, 4]].any()
    )


def _rotations(p: Mat) -> Mat:
    return np.concatenate([rotation_matrices(p), np.eye(3)[None]])


__all__ = ["Sides"]
