"""Incremental rotations from a reference that stays where it is: R = R_0 R_inc."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Vec
from rbdae.kinematics.angular_velocity import rotation_and_rate
from rbdae.kinematics.components import vector_part
from rbdae.rotations.quaternions.algebra import conjugated, multiplied
from rbdae.rotations.quaternions.maps import of_rotation_vector, rotation_vector

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


@_stacks.finite
def incremented(reference: Rotation | ArrayLike, vector: ArrayLike) -> Rotation:
    """R = R_0 exp(Psi_inc~), [GR95] (159): the increment is material, that is, in the axes of the body.

    Parameters
    ----------
    reference : Rotation or (..., 3, 3) array_like
        R_0.
    vector : (..., 3) array_like
        The rotation vector of the increment.
    """
    owner = "incremented"
    q, w = _stacks.rotation_quaternions(owner, "reference", reference), _stacks.vectors(owner, "vector", vector)
    _stacks.together(owner, reference=(q, 1), vector=(w, 1))
    return _stacks.to_rotation(multiplied(q, of_rotation_vector(w)))


@_stacks.finite
def increment(reference: Rotation | ArrayLike, rotation: Rotation | ArrayLike) -> Vec:
    """The rotation vector (..., 3), no longer than pi, of R_inc = R_0^T R, [GR95] (159).

    Parameters
    ----------
    reference, rotation : Rotation or (..., 3, 3) array_like
        R_0 and R.
    """
    owner = "increment"
    q0 = _stacks.rotation_quaternions(owner, "reference", reference)
    q = _stacks.rotation_quaternions(owner, "rotation", rotation)
    _stacks.together(owner, reference=(q0, 1), rotation=(q, 1))
    return rotation_vector(multiplied(conjugated(q0), q))


@_stacks.finite
def incremental_angular_velocity(increment: Rotation | ArrayLike, rate: ArrayLike) -> Vec:
    """Omega = Omega_inc = vect(R_inc^T Rdot_inc), (..., 3), [GR95] (160): the reference has no influence.

    With a variation in place of the rate this is dTheta = dTheta_inc.

    Parameters
    ----------
    increment : Rotation or (..., 3, 3) array_like
        R_inc.
    rate : (..., 3, 3) array_like
        Its time derivative, 1/s.
    """
    R, A = rotation_and_rate("incremental_angular_velocity: increment", increment, "rate", rate)
    return vector_part(np.swapaxes(R, -1, -2) @ A)


__all__ = ["increment", "incremental_angular_velocity", "incremented"]
