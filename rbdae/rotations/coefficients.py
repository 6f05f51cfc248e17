"""Coefficients of the rotation vector as functions of t = phi^2, with their derivatives with respect to t.

    alpha = sin(phi) / phi                  beta = (1 - cos(phi)) / phi^2        delta = (1 - alpha) / t
    kappa = (phi / 2) cot(phi / 2)          gamma = (1 - kappa) / t

All are analytic in t, so t and not phi is the argument: a derivative with respect to a component a_j is 2 a_j times the
derivative with respect to t. Below `SERIES`, where the closed forms subtract nearly equal numbers, they are power
series, exact to rounding there, and so are their derivatives. 1 - cos(phi) is 2 sin(phi / 2)^2, which keeps its digits
near 2 pi as well.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial
from typing import Any

import numpy as np

from rbdae.compiler.access import cos, sin, sqrt
from rbdae.compiler.jit import jit, two_sided

SERIES = 4.0
"""The series hold below this t, the closed forms from there on."""

# terms of the series: the first one left out is below 1e-17 of the value at t = SERIES
_SINES = 14
_COTANGENTS = 20


def _bernoulli(n: int) -> list[Fraction]:
    """B_0, ..., B_n."""
    B = [Fraction(1)]
    for m in range(1, n + 1):
        B.append(-sum((comb(m + 1, k) * B[k] for k in range(m)), Fraction(0)) / (m + 1))
    return B


def _floats(c: list[Fraction]) -> tuple[float, ...]:
    return tuple(float(x) for x in c)


def _derivative(c: list[Fraction]) -> tuple[float, ...]:
    return _floats([k * x for k, x in enumerate(c)][1:])


_alpha = [Fraction((-1) ** k, factorial(2 * k + 1)) for k in range(_SINES)]
_beta = [Fraction((-1) ** k, factorial(2 * k + 2)) for k in range(_SINES)]
_delta = [Fraction((-1) ** k, factorial(2 * k + 3)) for k in range(_SINES)]
_gamma = [abs(b) / factorial(2 * k + 2) for k, b in enumerate(_bernoulli(2 * _COTANGENTS)[2::2])]

ALPHA, ALPHA_SLOPE = _floats(_alpha), _derivative(_alpha)
BETA, BETA_SLOPE = _floats(_beta), _derivative(_beta)
DELTA, DELTA_SLOPE = _floats(_delta), _derivative(_delta)
GAMMA, GAMMA_SLOPE = _floats(_gamma), _derivative(_gamma)


@jit
def polynomial(c: tuple[float, ...], t: Any) -> Any:
    """sum_k c[k] t^k."""
    out = 0.0 * t + c[len(c) - 1]
    for k in range(len(c) - 2, -1, -1):
        out = out * t + c[k]
    return out


@jit
def series_sines(t: Any) -> Any:
    """(alpha, beta, alpha', beta') below `SERIES`."""
    return polynomial(ALPHA, t), polynomial(BETA, t), polynomial(ALPHA_SLOPE, t), polynomial(BETA_SLOPE, t)


@jit
def closed_sines(t: Any) -> Any:
    """(alpha, beta, alpha', beta') from `SERIES` on."""
    phi = sqrt(t)
    s = sin(0.5 * phi)
    c = cos(0.5 * phi)
    alpha = 2.0 * s * c / phi
    beta = 2.0 * s * s / t
    return alpha, beta, 0.5 * (1.0 - beta * t - alpha) / t, 0.5 * (alpha - 2.0 * beta) / t


@jit
def series_cotangents(t: Any) -> Any:
    """(kappa, gamma, kappa', gamma') below `SERIES`."""
    gamma = polynomial(GAMMA, t)
    slope = polynomial(GAMMA_SLOPE, t)
    return 1.0 - t * gamma, gamma, -gamma - t * slope, slope


@jit
def closed_cotangents(t: Any) -> Any:
    """(kappa, gamma, kappa', gamma') from `SERIES` on."""
    phi = sqrt(t)
    s = sin(0.5 * phi)
    kappa = 0.5 * phi * cos(0.5 * phi) / s
    gamma = (1.0 - kappa) / t
    slope = 0.5 * kappa / t - 0.125 / (s * s)
    return kappa, gamma, slope, -(slope + gamma) / t


def _by_rows(series: Any, closed: Any, t: Any) -> Any:
    """The branch taken for each t of an array."""
    small = t.real < SERIES
    low, high = series(np.where(small, t, 0.0)), closed(np.where(small, SERIES, t))
    return tuple(np.where(small, x, y) for x, y in zip(low, high, strict=True))


def _either(series: Any, closed: Any, t: Any) -> Any:
    """The branch taken for a number; for a symbol both."""
    small = t < SERIES
    if hasattr(small, "select"):
        return tuple(small.select(x, y) for x, y in zip(series(t), closed(t), strict=True))
    return series(t) if small else closed(t)


def _plain_sines(t: Any) -> Any:
    if isinstance(t, np.ndarray):
        return _by_rows(series_sines, closed_sines, t)
    return _either(series_sines, closed_sines, t)


def _plain_cotangents(t: Any) -> Any:
    if isinstance(t, np.ndarray):
        return _by_rows(series_cotangents, closed_cotangents, t)
    return _either(series_cotangents, closed_cotangents, t)


@two_sided(_plain_sines)
@jit
def sines(t: Any) -> Any:
    """(alpha, beta, alpha', beta')."""
    if t < SERIES:
        return series_sines(t)
    return closed_sines(t)


@two_sided(_plain_cotangents)
@jit
def cotangents(t: Any) -> Any:
    """(kappa, gamma, kappa', gamma')."""
    if t < SERIES:
        return series_cotangents(t)
    return closed_cotangents(t)


def cubics(t: Any) -> tuple[Any, Any]:
    """(delta, delta'), of arrays; kernels do not need it."""
    small = t < SERIES
    low, high = np.where(small, t, 0.0), np.where(small, SERIES, t)
    phi = np.sqrt(high)
    alpha = np.sin(phi) / phi
    value = (1.0 - alpha) / high
    slope = (0.5 * (alpha - np.cos(phi)) / high - value) / high
    series = [np.polynomial.polynomial.polyval(low, c) for c in (DELTA, DELTA_SLOPE)]
    return np.where(small, series[0], value), np.where(small, series[1], slope)
