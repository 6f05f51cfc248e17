"""The free rigid body: angular velocity and attitude by elliptic functions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec
from rbdae._frozen import fill
from rbdae.rotations import checks
from rbdae.rotations.quaternions import conjugated, from_rotation_vector, multiplied, rotated
from rbdae.rotations.vectors import spurrier_klumpp
from rbdae_papers.closed_form.elliptic import with_digits
from rbdae_papers.closed_form.polhode import Polhode, is_steady, polhode

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

_RANGE = 1e60
"""Largest number whose squares and products stay in the range of floating-point numbers."""

Regime = Literal["steady", "largest", "smallest", "separatrix"]


@final
@dataclass(frozen=True, init=False, eq=False)
class FreeBody:
    """The rotation of a body without torques, J Omegadot + Omega x J Omega = 0, in closed form.

    Omega by Jacobi's elliptic functions; the attitude by the frame of the angular momentum, which is constant in space:
    R(t) = C R_3(chi) B(Omega), with B the shortest rotation from J Omega to its axis and chi an integral of the third
    kind, as a sum of arctans without jumps between branches. The case is decided without rounding, and the constants
    for whole half periods have 80 digits. So spheres, symmetric bodies and the separatrix are limits without loss, and
    the error does not grow with time, within 2^27 half periods. Only the condition remains: a relative change eps of
    the data changes the attitude by some eps |Omega| t, and each half period near the separatrix by eps / m1 of 1 /
    lambda, with the rate lambda of the unstable rotation and the complementary parameter m1.

    Parameters
    ----------
    moments : (3,) array_like
        Principal moments of inertia about the centre of mass or a fixed point, kg m^2, in any order; positive. Nonzero
        values, also of Omega, lie between 1e-60 and 1e60.
    angular_velocity : (3,) array_like
        Omega at t = 0, components in the body along the principal axes, rad/s.
    orientation : Rotation or (3, 3) array_like, optional
        R at t = 0, from body to space; by default the identity.

    Attributes
    ----------
    regime : "largest" or "smallest", the moment whose axis Omega encircles in the body; "separatrix" between them,
        2 T I = L^2 with the medial moment I; "steady" if Omega is constant
    half_period : time in which Omega turns half around this axis, s: the time of one turnover; infinite on the
        separatrix and in steady rotation
    """

    moments: Vec
    initial_velocity: Vec
    initial_quaternion: Vec
    regime: Regime
    half_period: float
    _constants: Polhode | None = field(repr=False)

    def __init__(
        self, moments: ArrayLike, angular_velocity: ArrayLike, orientation: Rotation | ArrayLike | None = None
    ) -> None:
        owner = "FreeBody"
        J = _check.array(owner, "moments", moments, (3,))
        if not (J > 0.0).all():
            raise ValueError(f"{owner}: moments must be positive, got {_check.show(J)}; give the principal moments")
        Omega = _check.array(owner, "angular_velocity", angular_velocity, (3,))
        for what, value in (("moments", J), ("angular_velocity", Omega)):
            sizes = np.abs(value[value != 0.0])
            if ((sizes < 1.0 / _RANGE) | (sizes > _RANGE)).any():
                raise ValueError(
                    f"{owner}: {what} must lie between {1.0 / _RANGE:g} and {_RANGE:g} in size unless they are zero, "
                    f"got {_check.show(value)}; choose other units"
                )
        q = np.array((1.0, 0.0, 0.0, 0.0))
        if orientation is not None:
            q = checks.rotation_quaternions(owner, "orientation", orientation)
            if q.ndim > 1:
                raise ValueError(
                    f"{owner}: orientation must be one rotation, got a stack of shape {q.shape[:-1]}; pick one"
                )
        constants = None if is_steady(J, Omega) else with_digits(polhode, J, Omega)
        regime: Regime = "steady"
        if constants is not None:
            regime = "largest" if constants.sign > 0.0 else "smallest"
            regime = regime if constants.functions.m1 else "separatrix"
        fill(
            self,
            moments=J,
            initial_velocity=Omega,
            initial_quaternion=_check.frozen(q),
            regime=regime,
            half_period=sum(constants.half_period) if constants else math.inf,
            _constants=constants,
        )

    def __reduce__(self) -> tuple[object, ...]:
        R = checks.to_rotation(self.initial_quaternion)
        return type(self), (self.moments, self.initial_velocity, R)

    def angular_velocity(self, t: ArrayLike) -> Vec:
        """Omega(t), (..., 3), components in the body, rad/s.

        Parameters
        ----------
        t : (...) array_like
            s, of any sign.
        """
        times = checks.numbers("FreeBody.angular_velocity", "t", t)
        if self._constants is None:
            return np.broadcast_to(self.initial_velocity, (*times.shape, 3)).copy()
        out: Vec = _in_frame(self._constants, _reduced(self._constants, times)) @ self._constants.frame
        return out

    def orientation(self, t: ArrayLike) -> Rotation:
        """R(t), from body to space; t (...) in s."""
        return checks.to_rotation(self._attitude(checks.numbers("FreeBody.orientation", "t", t)))

    def quaternion(self, t: ArrayLike) -> Vec:
        """R(t) as unit quaternions (..., 4), scalar first and nonnegative; t (...) in s."""
        q = self._attitude(checks.numbers("FreeBody.quaternion", "t", t))
        return np.where(q[..., :1] < 0.0, -q, q)

    @property
    def energy(self) -> float:
        """T = Omega . J Omega / 2, J."""
        return 0.5 * float(self.initial_velocity @ (self.moments * self.initial_velocity))

    @property
    def angular_momentum(self) -> Vec:
        """R J Omega, (3,), constant in space, kg m^2/s."""
        return rotated(self.initial_quaternion, self.moments * self.initial_velocity)

    def _attitude(self, t: Vec) -> Vec:
        constants = self._constants
        if constants is None:
            return multiplied(self.initial_quaternion, from_rotation_vector(t[..., None] * self.initial_velocity))
        start, now = _turned(constants, np.zeros(())), _turned(constants, t)
        return multiplied(self.initial_quaternion, multiplied(conjugated(start), now))


class _Reduced(NamedTuple):
    """Times reduced to one half period.

    Attributes
    ----------
    u, low : the argument in [-K, K] is u + low, where low is the rounding error of u
    side : 1 after an even number of half periods, else -1
    rest : the time without the half periods in `turns`
    turns, steps : chi / (2 pi) of these half periods, and the number of 2 K subtracted from u in addition
    """

    u: Vec
    low: Vec
    side: Vec
    rest: Vec
    turns: Vec
    steps: Vec


def _reduced(constants: Polhode, t: Vec) -> _Reduced:
    period, none = constants.half_period, np.zeros_like(t)
    if math.isinf(period[0]):
        u, low = _sum(constants.rate * t, constants.u0)
        return _Reduced(u, low, none + 1.0, t, none, none)
    # on the time, not on u, so that t is exact within the first half period, however long it is
    n = np.rint(t / sum(period))
    rest = ((t - n * period[0]) - n * period[1]) - n * period[2]
    turns = none
    for part in constants.turns:
        turns = turns + np.remainder(n * part, 1.0)
    u, low = _sum(constants.rate * rest, constants.u0)
    twice_K = 2.0 * constants.functions.K
    steps = np.rint(u / twice_K)
    u, lost = _sum(u, -twice_K * steps)
    side = np.where(np.remainder(n + steps, 2.0) == 0.0, 1.0, -1.0)
    return _Reduced(u, low + lost - 2.0 * constants.K_low * steps, side, rest, turns, steps)


def _sum(a: Vec, b: Vec | float) -> tuple[Vec, Vec]:
    """a + b and its rounding error."""
    out = a + b
    part = out - a
    return out, (a - (out - part)) + (b - part)


def _in_frame(constants: Polhode, at: _Reduced) -> Vec:
    """Omega along the axes a, b, c."""
    sn, cn, dn = constants.functions.jacobi(at.u)
    return constants.amplitudes * np.stack((at.side * cn, at.side * sn, dn), axis=-1)


def _turned(constants: Polhode, t: Vec) -> Vec:
    """R_3(chi) B(Omega) in body axes, (..., 4): from the body to a frame whose third axis is the angular momentum."""
    reduced = _reduced(constants, t)
    sn, cn, dn = constants.functions.jacobi(reduced.u)
    chi = 2.0 * math.pi * reduced.turns + constants.advance * reduced.rest + constants.step * reduced.steps
    chi = chi + constants.arc * constants.functions.arcs(reduced.u)
    chi = chi - constants.sign * np.arctan2(constants.tilt[1] * sn, constants.tilt[0] * cn)
    # if the half period is long, the rounding of u would be an error of time; the rate of chi corrects it
    spin = constants.amplitudes[2] * dn
    rate = (constants.twice_energy + constants.L * spin) / (constants.L + constants.moments[2] * spin)
    chi = chi + (rate - constants.advance) / constants.rate * reduced.low
    zero = np.zeros_like(chi)
    about = np.stack((np.cos(0.5 * chi), zero, zero, np.sin(0.5 * chi)), axis=-1)
    momentum = _in_frame(constants, reduced) * (constants.moments / constants.L)
    shortest = np.stack((1.0 + momentum[..., 2], momentum[..., 1], -momentum[..., 0], zero), axis=-1)
    shortest /= checks.norm(shortest)[..., None]
    return multiplied(multiplied(about, shortest), spurrier_klumpp(constants.frame))
