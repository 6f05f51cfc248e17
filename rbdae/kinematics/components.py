"""Vectors in the two frames: material components (in the body) and spatial ones, and skew matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.rotations.quaternions.algebra import conjugated, rotated

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


class Components(NamedTuple):
    """One vector in two frames: spatial = R material.

    Attributes
    ----------
    material : (..., 3) array, in the frame of the body
    spatial : (..., 3) array, in the frame of space
    """

    material: Vec
    spatial: Vec


@_stacks.finite
def to_spatial(rotation: Rotation | ArrayLike, vector: ArrayLike) -> Vec:
    """x = R X, (..., 3), of material components X (..., 3), [GR95] (3); (143), (145) for infinitesimal rotations.

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
        From body to space.
    vector : (..., 3) array_like
    """
    q, x = turned_vector("to_spatial", rotation, vector)
    return rotated(q, x)


@_stacks.finite
def to_material(rotation: Rotation | ArrayLike, vector: ArrayLike) -> Vec:
    """X = R^T x, (..., 3), of spatial components x (..., 3), [GR95] (79), (108), (125)."""
    q, x = turned_vector("to_material", rotation, vector)
    return rotated(conjugated(q), x)


def turned_vector(owner: str, rotation: Rotation | ArrayLike, vector: ArrayLike) -> tuple[Vec, Vec]:
    """The quaternion of a rotation, and a vector, checked."""
    q, x = _stacks.rotation_quaternions(owner, "rotation", rotation), _stacks.vectors(owner, "vector", vector)
    _stacks.together(owner, rotation=(q, 1), vector=(x, 1))
    return q, x


@_stacks.finite
def spin(u: ArrayLike) -> Mat:
    """u~, (..., 3, 3), with u~ v = u x v, of u (..., 3), [GR95] (360)."""
    return skew(_stacks.vectors("spin", "u", u))


@_stacks.finite
def vect(A: ArrayLike) -> Vec:
    """The vector part (..., 3) of matrices A (..., 3, 3), [GR95] (357): vect(u~) = u, and zero if A is symmetric."""
    return vector_part(_stacks.matrices("vect", "A", A))


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


__all__ = ["Components", "spin", "to_material", "to_spatial", "vect"]
