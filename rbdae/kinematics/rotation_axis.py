"""The direction of the instantaneous rotation axis, and how fast it changes."""

from __future__ import annotations

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Vec


@_stacks.finite
def rotation_axis(omega: ArrayLike) -> Vec:
    """f = omega / |omega|, (..., 3), [GR95] (132), of angular velocities (..., 3) that are not zero.

    Raises
    ------
    ValueError
        where omega is zero
    """
    return _stacks.axes("rotation_axis", "omega", omega)


@_stacks.finite
def rotation_axis_rate(omega: ArrayLike, omega_rate: ArrayLike) -> Vec:
    """fdot = (I - f f^T) omegadot / |omega|, (..., 3), [GR95] (138), the solution of (135); 1/s.

    Parameters
    ----------
    omega, omega_rate : (..., 3) array_like
        The angular velocity, not zero, and its rate, rad/s and rad/s^2. With material components the result is the
        change relative to the body.

    Raises
    ------
    ValueError
        where omega is zero
    """
    owner = "rotation_axis_rate"
    f = _stacks.axes(owner, "omega", omega)
    size = _stacks.norm(_stacks.vectors(owner, "omega", omega))
    change = _stacks.vectors(owner, "omega_rate", omega_rate)
    _stacks.together(owner, omega=(f, 1), omega_rate=(change, 1))
    out: Vec = (change - (f * change).sum(-1, keepdims=True) * f) / size[..., None]
    return out


__all__ = ["rotation_axis", "rotation_axis_rate"]
