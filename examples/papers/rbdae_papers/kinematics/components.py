"""Vectors in the two frames: material components (in the body) and spatial ones; skew matrices; checked arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.rotations import checks
from rbdae.rotations.quaternions import conjugated, rotated

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

Rotations: TypeAlias = "Rotation | ArrayLike"
"""A `Rotation`, or matrices (..., 3, 3)."""


class Components(NamedTuple):
    """One vector in two frames: spatial = R material.

    Attributes
    ----------
    material : (..., 3) array, in the frame of the body
    spatial : (..., 3) array, in the frame of space
    """

    material: Vec
    spatial: Vec


def to_spatial(rotation: Rotations, vector: ArrayLike) -> Vec:
    """x = R X, (..., 3), of material components X, [GR95] (3); (143), (145) for infinitesimal rotations."""
    q, x = checked("to_spatial", {"rotation": rotation}, vector=vector)
    return rotated(q, x)


def to_material(rotation: Rotations, vector: ArrayLike) -> Vec:
    """X = R^T x, (..., 3), of spatial components x, [GR95] (79), (108), (125)."""
    q, x = checked("to_material", {"rotation": rotation}, vector=vector)
    return rotated(conjugated(q), x)


def spin(u: ArrayLike) -> Mat:
    """u~, (..., 3, 3), with u~ v = u x v, of u (..., 3), [GR95] (360)."""
    return skew(checks.vectors("spin", "u", u))


def vect(A: ArrayLike) -> Vec:
    """The vector part (..., 3) of matrices A (..., 3, 3), [GR95] (357): vect(u~) = u, and zero if A is symmetric."""
    return vector_part(checks.matrices("vect", "A", A))


def skew(u: Vec) -> Mat:
    """u~ of checked vectors."""
    out = np.zeros((*u.shape, 3))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[..., k, j] = u[..., i]
        out[..., j, k] = -u[..., i]
    return out


def vector_part(A: Mat) -> Vec:
    """vect of checked matrices."""
    B = 0.5 * A
    out: Vec = np.stack([B[..., (i + 2) % 3, (i + 1) % 3] - B[..., (i + 1) % 3, (i + 2) % 3] for i in range(3)], -1)
    return out


def checked(owner: str, rotations: Mapping[str, Rotations], **vectors: ArrayLike) -> list[Vec]:
    """Unit quaternions (..., 4) of rotations, then vectors (..., 3), by name, with broadcastable leading axes."""
    out = {name: checks.rotation_quaternions(owner, name, value) for name, value in rotations.items()}
    out |= {name: checks.vectors(owner, name, value) for name, value in vectors.items()}
    checks.together(owner, **{name: (value, 1) for name, value in out.items()})
    return list(out.values())


def of_rate(owner: str, rotation: Rotations, what: str, rate: ArrayLike, named: str = "rotation") -> Components:
    """vect(R^T A) and vect(A R^T) of a rotation and its derivative or variation A."""
    R, A = checks.rotation_matrices(owner, named, rotation), checks.matrices(owner, what, rate)
    checks.together(owner, **{named: (R, 2), what: (A, 2)})
    Rt = np.swapaxes(R, -1, -2)
    return Components(vector_part(Rt @ A), vector_part(A @ Rt))
