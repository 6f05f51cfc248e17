"""Coefficients of the rotation vector as functions of t = phi^2.

    alpha = sin(phi) / phi                  beta = (1 - cos(phi)) / phi^2
    kappa = (phi / 2) cot(phi / 2)          gamma = (1 - kappa) / t

All are analytic in t, so the argument is t, not phi. Below `SERIES`, where the closed forms subtract nearly equal
numbers, they are power series, exact to rounding there, as are their derivatives. 1 - cos(phi) is computed as
2 sin(phi / 2)^2, which also keeps its digits near 2 pi.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import Any

from rbdae.graph.functions import cos, sin, sqrt

SERIES = 4.0
"""The series hold below this t, the closed forms from there on."""

# terms of the series: the first omitted one is below 1e-17 of the value at t = SERIES
_SINES = 14
_COTANGENTS = 20


def _bernoulli(n: int) -> list[Fraction]:
    """|B_2|, |B_4|, ..., |B_2n| = 2 k T_k / (4^k (4^k - 1)), from the tangent numbers T_k (R. P. Brent, D. Harvey,
    Fast computation of Bernoulli, tangent and secant numbers, arXiv:1108.0286)."""
    T = [0] + [factorial(k) for k in range(n)]
    for k in range(2, n + 1):
        for j in range(k, n + 1):
            T[j] = (j - k) * T[j - 1] + (j - k + 2) * T[j]
    return [Fraction(2 * k * T[k], 4**k * (4**k - 1)) for k in range(1, n + 1)]


def _floats(c: list[Fraction]) -> tuple[float, ...]:
    return tuple(float(x) for x in c)


ALPHA = _floats([Fraction((-1) ** k, factorial(2 * k + 1)) for k in range(_SINES)])
BETA = _floats([Fraction((-1) ** k, factorial(2 * k + 2)) for k in range(_SINES)])
GAMMA = _floats([b / factorial(2 * k + 2) for k, b in enumerate(_bernoulli(_COTANGENTS))])


def polynomial(c: tuple[float, ...], t: Any) -> Any:
    """sum_k c[k] t^k."""
    out = 0.0 * t + c[len(c) - 1]
    for k in range(len(c) - 2, -1, -1):
        out = out * t + c[k]
    return out


def closed_sines(t: Any) -> Any:
    """(alpha, beta) from `SERIES` on."""
    phi = sqrt(t)
    s = sin(0.5 * phi)
    return 2.0 * s * cos(0.5 * phi) / phi, 2.0 * s * s / t


def series_cotangents(t: Any) -> Any:
    """(kappa, gamma) below `SERIES`."""
    gamma = polynomial(GAMMA, t)
    return 1.0 - t * gamma, gamma


def closed_cotangents(t: Any) -> Any:
    """(kappa, gamma) from `SERIES` on."""
    phi = sqrt(t)
    kappa = 0.5 * phi * cos(0.5 * phi) / sin(0.5 * phi)
    return kappa, (1.0 - kappa) / t


def _either(series: Any, closed: Any) -> Any:
    """The function that takes a branch for a number, and for a symbol chooses between both."""

    def chosen(t: Any) -> Any:
        small = t < SERIES
        if hasattr(small, "select"):
            return tuple(small.select(x, y) for x, y in zip(series(t), closed(t), strict=True))
        return series(t) if small else closed(t)

    return chosen


sines = _either(lambda t: (polynomial(ALPHA, t), polynomial(BETA, t)), closed_sines)
"""(alpha, beta)."""

cotangents = _either(series_cotangents, closed_cotangents)
"""(kappa, gamma)."""
