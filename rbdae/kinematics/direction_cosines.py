"""Rotations between two orthonormal bases, and the cosines of the angles between their vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Mat

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


@_stacks.finite
def direction_cosines(fixed: Rotation | ArrayLike, moved: Rotation | ArrayLike) -> Mat:
    """r_ij = E_i . e_j, (..., 3, 3), [GR95] (34), (35): the rotation from E to e in components along E.

    Parameters
    ----------
    fixed, moved : Rotation or (..., 3, 3) array_like
        The bases [E1 E2 E3] and [e1 e2 e3] as columns, orthonormal and right-handed.
    """
    A, B = _bases("direction_cosines", fixed, moved)
    out: Mat = np.swapaxes(A, -1, -2) @ B
    return out


@_stacks.finite
def rotation_between(fixed: Rotation | ArrayLike, moved: Rotation | ArrayLike) -> Rotation:
    """R = sum_i e_i E_i^T, with e_i = R E_i, [GR95] (4), (13), (32).

    Parameters
    ----------
    fixed, moved : Rotation or (..., 3, 3) array_like
        The bases [E1 E2 E3] and [e1 e2 e3] as columns, orthonormal and right-handed.
    """
    A, B = _bases("rotation_between", fixed, moved)
    return _stacks.to_rotation(_stacks.spurrier_klumpp(B @ np.swapaxes(A, -1, -2)))


def _bases(owner: str, fixed: Rotation | ArrayLike, moved: Rotation | ArrayLike) -> tuple[Mat, Mat]:
    A, B = _stacks.rotation_matrices(owner, "fixed", fixed), _stacks.rotation_matrices(owner, "moved", moved)
    _stacks.together(owner, fixed=(A, 2), moved=(B, 2))
    return A, B


__all__ = ["direction_cosines", "rotation_between"]
