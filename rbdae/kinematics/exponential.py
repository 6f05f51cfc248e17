"""The exponential map from rotation vectors to rotations, and its inverse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Vec
from rbdae.rotations.quaternions.maps import of_rotation_vector, rotation_vector

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


@_stacks.finite
def exponential(vector: ArrayLike) -> Rotation:
    """R = exp(psi~), the rotation by |psi| rad about psi, [GR95] (53), (54), (165), (166).

    Parameters
    ----------
    vector : (..., 3) array_like
        The rotation vector psi = n phi; of any length.
    """
    return _stacks.to_rotation(of_rotation_vector(_stacks.vectors("exponential", "vector", vector)))


@_stacks.finite
def logarithm(rotation: Rotation | ArrayLike) -> Vec:
    """The rotation vector psi (..., 3), no longer than pi, with R = exp(psi~); the inverse of [GR95] (54).

    At half a turn psi and -psi are both right, and one of them is given.

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
    """
    return rotation_vector(_stacks.rotation_quaternions("logarithm", "rotation", rotation))


__all__ = ["exponential", "logarithm"]
