"""Elliptic functions and integrals for motions over any number of periods and for any modulus, one included.

Complete integrals are computed with 80 decimal digits from exact data, because they are multiplied by the number of
periods. The functions themselves are in double precision on one half period. For m <= 1/2 the Jacobi functions are
scipy's. Beyond, they are sums of hyperbolic pulses, one for each half period, in terms of the complementary parameter
m1 = 1 - m: at m1 = 0, the separatrix, one pulse is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple, TypeVar

import numpy as np

from rbdae._arrays import Vec

T = TypeVar("T")

DIGITS = 80
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
_ENOUGH = 40.0
"""exp(-40) is below rounding."""


class Complete(NamedTuple):
    """Complete integrals: K(m), K'(m) = K(m1), and G_K, the integral of cn^2 / (1 + nu sn^2) from 0 to K."""

    K: Decimal
    K_dual: Decimal
    G_K: Decimal


class Jacobi(NamedTuple):
    """Jacobi's elliptic functions, each of the shape of the argument."""

    sn: Vec
    cn: Vec
    dn: Vec


def decimal(x: Fraction) -> Decimal:
    """The quotient, with the digits of the context."""
    return Decimal(x.numerator) / Decimal(x.denominator)


def with_digits(function: Callable[..., T], *arguments: object) -> T:
    """The value of a function under `DIGITS` digits."""
    with localcontext() as context:
        context.prec = DIGITS
        return function(*arguments)


def complete(m: Decimal, m1: Decimal, nu: Decimal) -> Complete:
    """The complete integrals by the arithmetic-geometric mean; at m1 = 0 with infinite K and an unused G_K.

    G_K = K (1 - sum Q_n / 2), with Q_n as in the algorithm for Pi(-nu | m) of NIST's Digital Library of Mathematical
    Functions, 19.8.6 and 19.8.7.
    """
    dual = _PI / (2 * _mean(Decimal(1), m.sqrt())) if m else Decimal("Infinity")
    if not m1:
        return Complete(Decimal("Infinity"), dual, Decimal(0))
    K = _PI / (2 * _mean(Decimal(1), m1.sqrt()))
    a, g, p = Decimal(1), m1.sqrt(), (1 + nu).sqrt()
    Q = total = Decimal(1)
    while abs(Q) > Decimal(10) ** (5 - DIGITS):
        both = a * g
        Q *= (p * p - both) / (p * p + both) / 2
        total += Q
        p = (p * p + both) / (2 * p)
        a, g = (a + g) / 2, both.sqrt()
    return Complete(K, dual, K * (1 - total / 2))


def _mean(a: Decimal, g: Decimal) -> Decimal:
    while abs(a - g) > a * Decimal(10) ** (5 - DIGITS):
        a, g = (a + g) / 2, (a * g).sqrt()
    return a


def in_parts(x: Decimal) -> tuple[float, float, float]:
    """x as a sum of three numbers, the first two with at most 26 bits, so that their integer multiples below 2^27 are
    exact."""
    out = []
    for _ in range(2):
        exponent = 26 - math.frexp(float(x))[1]
        out.append(math.ldexp(float(round(math.ldexp(float(x), exponent))), -exponent))
        x -= Decimal(out[-1])
    return out[0], out[1], float(x)


class Functions(NamedTuple):
    """Constants of the functions on one half period, in double precision.

    Attributes
    ----------
    m, m1 : the parameter and its complement
    K, K_dual : K(m), infinite at m1 = 0, and K(m1), infinite at m = 0
    alpha : the distance of the poles of 1 / (1 + nu sn^2) from the real axis, times pi / (2 K) or pi / (2 K')
    """

    m: float
    m1: float
    K: float
    K_dual: float
    alpha: float

    @classmethod
    def of(cls, m: Decimal, m1: Decimal, nu: Decimal, integrals: Complete) -> Functions:
        """The constants for 0 <= m <= 1 and nu >= 0."""
        from scipy.special import elliprf

        K, dual = float(integrals.K), float(integrals.K_dual)
        # sc(a | m1) = 1 / sqrt(nu)
        a = float(elliprf(float(nu), float(nu + m), float(1 + nu))) if nu + m else math.inf
        return cls(float(m), float(m1), K, dual, 0.5 * math.pi * a / (K if m <= m1 else dual))

    def jacobi(self, u: Vec) -> Jacobi:
        """sn, cn and dn of u in [-K, K]."""
        if self.m <= self.m1:
            from scipy.special import ellipj

            return Jacobi(*ellipj(u, self.m)[:3])
        z, step = self._pulse(u)
        sn, cn, dn = np.tanh(z), _sech(z), _sech(z)
        for n in range(1, self._terms() + 1):
            sign, left, right = (-1.0) ** n, z + n * step, z - n * step
            pair = _sech(left) + _sech(right)
            cn, dn, sn = cn + sign * pair, dn + pair, sn + sign * (np.tanh(left) + np.tanh(right))
        scale = 0.5 * math.pi / self.K_dual
        k = math.sqrt(self.m)
        return Jacobi(scale / k * sn, scale / k * cn, scale * dn)

    def arcs(self, u: Vec) -> Vec:
        """S(u), with G(u) = gamma u + S(u) sqrt((1 + nu) / (nu (nu + m))) for the integral G of cn^2 / (1 + nu sn^2).

        1 / (1 + nu sn^2) is a sum over its simple poles, +-i a and periods; each pair integrates to an arctan.
        """
        if self.m <= self.m1:
            z, step = 0.5 * math.pi * u / self.K, math.pi * self.K_dual / self.K
            s, c = np.sin(z), np.cos(z)
            out: Vec = np.arctan2(s, c * math.tanh(self.alpha))
            for n in range(1, int(_ENOUGH / step) + 2 if math.isfinite(step) else 1):
                out = out + _beyond(s, c, n * step + self.alpha) - _beyond(s, c, n * step - self.alpha)
            return out
        z, step = self._pulse(u)
        cos, sin = math.cos(self.alpha), math.sin(self.alpha)
        out = _arc(cos, sin, z)
        for n in range(1, self._terms() + 1):
            out = out + _arc(cos, sin, z - n * step) + _arc(cos, sin, z + n * step)
        return out

    def _pulse(self, u: Vec) -> tuple[Vec, float]:
        """The argument of a pulse, and the distance of pulses."""
        return 0.5 * math.pi * u / self.K_dual, math.pi * self.K / self.K_dual

    def _terms(self) -> int:
        """Number of pulses on either side that count on [-K, K]."""
        h = math.pi * self.K / self.K_dual
        return int(_ENOUGH / h) + 1 if math.isfinite(h) else 0


def _sech(x: Vec) -> Vec:
    e = np.exp(-np.abs(x))
    out: Vec = 2.0 * e / (1.0 + e * e)
    return out


def _arc(cos: float, sin: float, z: Vec) -> Vec:
    """arctan(cot alpha tanh z)."""
    out: Vec = np.arctan2(cos * np.tanh(z), sin)
    return out


def _beyond(s: Vec, c: Vec, b: float) -> Vec:
    """arctan(tan z coth b) - z, with tangent e sin 2z / (1 - e cos 2z), e = exp(-2 b); s and c belong to z."""
    e = math.exp(-2.0 * b)
    out: Vec = np.arctan2(2.0 * e * s * c, 1.0 - e * (c - s) * (c + s))
    return out
