"""The kinds of rotational velocity w: the material angular velocity, or the spatial one in its place, the rates of
quaternions, those of directors.

For each kind: how many numbers w has, how many internal constraints its unknowns carry, and how w, or its conjugate
momentum, is written for a body that rotates with Omega.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec, cross
from rbdae.rotations import velocities


@final
@dataclass(frozen=True, slots=True, eq=False)
class VelocityKind:
    """A kind of rotational velocity.

    Parameters
    ----------
    number : by which the kernels know it; the angular velocities have one number
    feature : the word by which stages of kernels name it
    size : numbers in w
    internal : internal constraints on (a, w)
    spatial : whether the unknown is R w
    write : (body, p, R, Omega, momenta) -> w, or its conjugate momentum; `body` is a row of `Model.bodies`
    """

    number: int
    feature: str
    size: int
    internal: int
    write: Callable[[Any, Vec, Mat, Vec, bool], Vec]
    spatial: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """There is one of each number, material or spatial."""
        return _found, (self.number, self.spatial)


def _angular(body: Any, p: Vec, R: Mat, om: Vec, momenta: bool) -> Vec:
    return om


def _spatial(body: Any, p: Vec, R: Mat, om: Vec, momenta: bool) -> Vec:
    """omega = R Omega."""
    return R @ om


def _quaternion_rate(body: Any, p: Vec, R: Mat, om: Vec, momenta: bool) -> Vec:
    """pdot = p o (0, Omega) / 2; the momentum M4 pdot = 2 p o (0, J Omega)."""
    w, scale = (body["inertia"] @ om, 2.0) if momenta else (om, 0.5)
    return np.asarray(scale * np.concatenate([[-p[1:] @ w], p[0] * w + cross(p[1:], w)]))


def _director_rate(body: Any, p: Vec, R: Mat, om: Vec, momenta: bool) -> Vec:
    """ddot, the columns of R Omega^; the momentum E ddot."""
    skew = np.array([[0.0, -om[2], om[1]], [om[2], 0.0, -om[0]], [-om[1], om[0], 0.0]])
    rate = R @ skew
    if momenta:
        rate = rate @ body["euler"]
    return np.asarray(rate.T.reshape(9))


ANGULAR = VelocityKind(velocities.ANGULAR, "angular", 3, 0, _angular)
SPATIAL = VelocityKind(velocities.ANGULAR, "angular", 3, 0, _spatial, spatial=True)
QUATERNION_RATES = VelocityKind(velocities.QUATERNION_RATE, "quaternion-rate", 4, 1, _quaternion_rate)
DIRECTOR_RATES = VelocityKind(velocities.DIRECTOR_RATE, "director-rate", 9, 6, _director_rate)

KINDS: dict[int, VelocityKind] = {kind.number: kind for kind in (ANGULAR, QUATERNION_RATES, DIRECTOR_RATES)}


def _found(number: int, spatial: bool = False) -> VelocityKind:
    return SPATIAL if spatial else KINDS[number]
