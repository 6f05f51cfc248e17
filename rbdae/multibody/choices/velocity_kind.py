"""The kinds of rotational velocity w: the material angular velocity, or the spatial one in its place, the rates of
quaternions, those of directors.

For each kind: how many numbers w has, how many internal constraints its unknowns carry, and how w, or its conjugate
momentum, is written for a body that rotates with Omega.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from rbdae._arrays import Mat, Vec
from rbdae.rotations import chart
from rbdae.rotations.quaternion import QUATERNION
from rbdae.rotations.vectors import skew, stacked


@final
@dataclass(frozen=True, slots=True, eq=False)
class VelocityKind:
    """A kind of rotational velocity.

    Parameters
    ----------
    number : by which the kernels know it; the angular velocities have one number
    size : numbers in w
    internal : internal constraints on (a, w)
    spatial : whether the unknown is R w
    write : (body, p, R, Omega, momenta) -> w, or its conjugate momentum; `body` is a row of `Model.bodies`
    """

    number: int
    size: int
    internal: int
    write: Callable[[Any, Vec, Mat, Vec, bool], Vec]
    spatial: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """There is one of each number, material or spatial."""
        return _found, (self.number, self.spatial)


def _quaternion_rate(body: Any, p: Vec, R: Mat, om: Vec, momenta: bool) -> Vec:
    """pdot = p o (0, Omega) / 2; the momentum M4 pdot = 2 p o (0, J Omega)."""
    out: Vec = QUATERNION.rate(p, 4.0 * body["inertia"] @ om if momenta else om)
    return out


def _director_rate(body: Any, p: Vec, R: Mat, om: Vec, momenta: bool) -> Vec:
    """ddot, the columns of R Omega^; the momentum E ddot."""
    rate = R @ skew(om)
    out: Vec = stacked(rate @ body["euler"] if momenta else rate)
    return out


ANGULAR = VelocityKind(chart.ANGULAR, 3, 0, lambda body, p, R, om, momenta: om)
SPATIAL = VelocityKind(chart.ANGULAR, 3, 0, lambda body, p, R, om, momenta: R @ om, spatial=True)
QUATERNION_RATES = VelocityKind(chart.QUATERNION_RATE, 4, 1, _quaternion_rate)
DIRECTOR_RATES = VelocityKind(chart.DIRECTOR_RATE, 9, 6, _director_rate)

KINDS: dict[int, VelocityKind] = {kind.number: kind for kind in (ANGULAR, QUATERNION_RATES, DIRECTOR_RATES)}


def _found(number: int, spatial: bool = False) -> VelocityKind:
    return SPATIAL if spatial else KINDS[number]
