"""The instantaneous screw axis of a moving body."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Vec


class InstantaneousScrew(NamedTuple):
    """The velocities of a body as a rotation about a line and a translation along it.

    Attributes
    ----------
    point : (..., 3) array, x_M, the point of the line nearest to the origin of space
    omega : (..., 3) array, the spatial angular velocity, along the line, rad/s
    sliding : (...) array, u, the velocity along the line
    pitch : (...) array, the translation per turn, 2 pi u / |omega|; infinite without rotation, zero at rest
    direction : (..., 3) array, the unit vector along the line
    """

    point: Vec
    omega: Vec
    sliding: Vec
    pitch: Vec
    direction: Vec


@_stacks.finite
def instantaneous_screw(position: ArrayLike, velocity: ArrayLike, omega: ArrayLike) -> InstantaneousScrew:
    """x_M = omega x v_0 / |omega|^2 + (I - f f^T) x_0, f = omega / |omega|, u = f . v_0, [GR95] (113), (119), (120).

    The line is x_M + s omega, (115). A body that translates has the direction of v_0, sliding |v_0| and, by
    convention, the point of the line through x_0; at rest the direction is (1, 0, 0).

    Parameters
    ----------
    position, velocity : (..., 3) array_like
        x_0 and v_0 of one point of the body, spatial components.
    omega : (..., 3) array_like
        The spatial angular velocity, rad/s.
    """
    owner = "instantaneous_screw"
    named = (("position", position), ("velocity", velocity), ("omega", omega))
    x0, v0, given = (_stacks.vectors(owner, what, value) for what, value in named)
    _stacks.together(owner, position=(x0, 1), velocity=(v0, 1), omega=(given, 1))
    x0, v0, given = np.broadcast_arrays(x0, v0, given)
    speed, rate = _stacks.norm(v0), _stacks.norm(given)
    turns = (rate > 0.0)[..., None]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        moving = np.where((speed > 0.0)[..., None], v0 / speed[..., None], (1.0, 0.0, 0.0))
        f = np.where(turns, given / rate[..., None], moving)
        u = (f * v0).sum(-1)
        arm = np.where(turns, np.cross(f, v0) / rate[..., None], 0.0)
        turning = 2.0 * math.pi * u / rate
        turning = np.where(np.isfinite(turning), turning, np.nan)  # infinite only without rotation
        pitch = np.where(rate > 0.0, turning, np.where(speed > 0.0, np.inf, 0.0))
    return InstantaneousScrew(arm + x0 - (f * x0).sum(-1, keepdims=True) * f, given.copy(), u, pitch, f)


@_stacks.finite
def screw_velocity(motion: InstantaneousScrew, point: ArrayLike) -> Vec:
    """v_P = u f + omega x (x_P - x_M), (..., 3), [GR95] (112), (121).

    Parameters
    ----------
    motion : InstantaneousScrew
    point : (..., 3) array_like
        x_P, spatial components.
    """
    x = _stacks.vectors("screw_velocity", "point", point)
    _stacks.together("screw_velocity", motion=(motion.omega, 1), point=(x, 1))
    out: Vec = motion.sliding[..., None] * motion.direction + np.cross(motion.omega, x - motion.point)
    return out


__all__ = ["InstantaneousScrew", "instantaneous_screw", "screw_velocity"]
