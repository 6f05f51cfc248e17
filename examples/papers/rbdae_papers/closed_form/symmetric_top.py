"""The heavy symmetric top on a fixed point: tilt and precession from its first integrals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, final

from rbdae import _check
from rbdae._arrays import ArrayLike
from rbdae._frozen import fill
from rbdae.rotations import checks
from rbdae.rotations.quaternions import to_matrix
from rbdae_papers.closed_form.elliptic import DIGITS, decimal, with_digits

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

# relative rounding of the integrals, within which a steady precession may miss its double root
_ROUNDING = 1e-13


class Integrals(NamedTuple):
    """The constants of the motion of a symmetric top.

    Attributes
    ----------
    energy : J, with the potential moment cos(theta)
    L_z : angular momentum about the vertical, kg m^2/s
    L_3 : angular momentum about the axis of symmetry, kg m^2/s
    """

    energy: float
    L_z: float
    L_3: float


class Precession(NamedTuple):
    """The two rates of steady precession at a tilt, rad/s; `fast` is infinite at a right angle."""

    slow: float
    fast: float


@final
@dataclass(frozen=True, init=False)
class SymmetricTop:
    """A top on a fixed point, symmetric about d3, with gravity along -e3; theta is the angle between d3 and e3.

    Parameters
    ----------
    transverse, axial : float
        Moments of inertia about the fixed point, across and along the axis, kg m^2; positive.
    moment : float
        Weight times distance of the centre of mass from the fixed point, m g l, N m; negative if it lies along -d3.
    """

    transverse: float
    axial: float
    moment: float

    def __init__(self, transverse: float, axial: float, moment: float) -> None:
        owner, remedy = "SymmetricTop", "give moments of inertia about the fixed point"
        fill(
            self,
            transverse=_check.positive(owner, "transverse", transverse, remedy),
            axial=_check.positive(owner, "axial", axial, remedy),
            moment=_check.number(owner, "moment", moment),
        )

    def integrals(self, rotation: Rotation | ArrayLike, angular_velocity: ArrayLike) -> Integrals:
        """Energy, L_z and L_3 of a state.

        Parameters
        ----------
        rotation : Rotation or (3, 3) array_like
            From body to space.
        angular_velocity : (3,) array_like
            Omega, components in the body, rad/s.
        """
        owner = "SymmetricTop.integrals"
        Omega = _check.array(owner, "angular_velocity", angular_velocity, (3,))
        q = checks.rotation_quaternions(owner, "rotation", rotation)
        if q.ndim > 1:
            raise ValueError(f"{owner}: rotation must be one, got a stack of shape {q.shape[:-1]}; pick one of them")
        up = to_matrix(q)[2]  # e3 in the body
        L = Omega * (self.transverse, self.transverse, self.axial)
        return Integrals(0.5 * float(L @ Omega) + self.moment * float(up[2]), float(L @ up), float(L[2]))

    def nutation_limits(self, energy: float, L_z: float, L_3: float) -> tuple[float, float]:
        """The least and the largest tilt theta, rad, between which the axis nutates.

        They are roots u = cos(theta) in [-1, 1] of the cubic udot^2 = (alpha - beta u) (1 - u^2) - (b - a u)^2 with
        alpha = (2 energy - L_3^2 / axial) / transverse, beta = 2 moment / transverse, a = L_3 / transverse,
        b = L_z / transverse. Near a steady precession, where both coincide, their uncertainty is the square root of the
        integrals' rounding.

        Parameters
        ----------
        energy, L_z, L_3 : float
            As returned by `integrals`.

        Raises
        ------
        ValueError
            if no motion has these integrals
        """
        owner = "SymmetricTop.nutation_limits"
        constants = [_check.number(owner, *named) for named in (("energy", energy), ("L_z", L_z), ("L_3", L_3))]
        limits = with_digits(self._limits, *map(Fraction, constants))
        if limits is None:
            raise ValueError(
                f"{owner}: energy {energy!r}, L_z {L_z!r} and L_3 {L_3!r} must belong to a motion, but the cubic for "
                "cos(theta) is negative between -1 and 1; take them from one state, by `integrals`"
            )
        return limits

    def _limits(self, energy: Fraction, L_z: Fraction, L_3: Fraction) -> tuple[float, float] | None:
        A = Fraction(self.transverse)
        alpha, beta = (2 * energy - L_3**2 / Fraction(self.axial)) / A, 2 * Fraction(self.moment) / A
        a, b = L_3 / A, L_z / A
        c3, c2, c1, c0 = (decimal(c) for c in (beta, -(alpha + a * a), 2 * a * b - beta, alpha - b * b))

        def f(u: Decimal) -> Decimal:
            return ((c3 * u + c2) * u + c1) * u + c0

        root = c2 * c2 - 3 * c1 * c3
        if root < 0 or not (c2 or c1 or c3):
            return (0.0, math.pi) if not (c2 or c1 or c3 or c0) else None
        # the local maximum of the cubic, with the denominator that does not cancel
        top = c1 / (-c2 + root.sqrt()) if c2 < 0 or not c3 else (-c2 - root.sqrt()) / (3 * c3)
        top = min(max(top, Decimal(-1)), Decimal(1))
        highest, rounding = f(top), Decimal(_ROUNDING) * sum(abs(c) for c in (c3, c2, c1, c0))
        if highest < -rounding or decimal(alpha) - decimal(beta) * top < -rounding:
            return None  # at +-1, where f may be zero without a motion, the second one decides
        if highest < 0:
            return _tilt(top), _tilt(top)
        return _tilt(_root(f, top, Decimal(1))), _tilt(_root(f, top, Decimal(-1)))

    def steady_precession(self, tilt: float, L_3: float) -> Precession:
        """The rates psidot of steady precession at a tilt: roots of A cos(theta) psidot^2 - L_3 psidot + moment = 0.

        Parameters
        ----------
        tilt : float
            theta, rad, between 0 and pi; at 0 and pi the limit of the equation for a tilted axis.
        L_3 : float
            Angular momentum about the axis of symmetry, kg m^2/s.

        Raises
        ------
        ValueError
            if the top spins too slowly for a steady precession
        """
        owner = "SymmetricTop.steady_precession"
        theta, L = _check.number(owner, "tilt", tilt), _check.number(owner, "L_3", L_3)
        if not 0.0 <= theta <= math.pi:
            raise ValueError(f"{owner}: tilt must lie between 0 and pi, got {tilt!r}; give it in radians")
        across = self.transverse * (math.cos(theta) if theta != 0.5 * math.pi else 0.0)
        discriminant = L * L - 4.0 * across * self.moment
        if discriminant < 0.0:
            least = math.sqrt(4.0 * across * self.moment)
            raise ValueError(
                f"{owner}: L_3 must be at least {least:.9g} in size for a steady precession at this tilt, got {L_3!r}; "
                "spin the top faster"
            )
        both = L + math.copysign(math.sqrt(discriminant), L)
        slow = 2.0 * self.moment / both if both else 0.0
        return Precession(slow, both / (2.0 * across) if across else math.copysign(math.inf, both))


def _root(f: Callable[[Decimal], Decimal], inside: Decimal, outside: Decimal) -> Decimal:
    """The zero of f by bisection; f is nonnegative at one end and nonpositive at the other."""
    if f(outside) >= 0 and f(outside + (inside - outside) * Decimal("1e-30")) >= 0:
        return outside  # the end of the interval itself, unless f is negative before it
    for _ in range(4 * DIGITS):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        if f(middle) >= 0:
            inside = middle
        else:
            outside = middle
    return inside


def _tilt(u: Decimal) -> float:
    """arccos u, accurate near +-1."""
    return 2.0 * math.atan2(float((1 - u).sqrt()), float((1 + u).sqrt()))
