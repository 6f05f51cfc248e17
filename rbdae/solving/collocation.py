"""Polynomials of y over single steps of a run, from the states at the two ends and the rates yd = f(t, y).

A solver gives states at the ends of its steps, of which those of high order are long. A cubic through states and rates
is then far less accurate than the states. So the rates are evaluated inside the step, too, at the points of the
polynomial of before, and the next polynomial has these rates (bootstrapping, [EJNT86]): its error falls with every
round until y' = f(t, y) holds at the points. The difference to the state at the end, which is the solver's local error,
is spread over the step without a change of the rates at its ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np
from numpy.polynomial import legendre

from rbdae._arrays import Mat, Vec
from rbdae.machine.function import MachineFunction
from rbdae.machine.reading import collocation as native
from rbdae.machine.reading.host import call

Rates = Callable[[Vec, Mat], Mat]
"""Rates (m, d) at times (m,) and states (m, d)."""

_LEVELS = (5, 9, 17)
"""Numbers of points; each set has the one before in it."""

_ROUNDS = 16
"""Most rounds on one level: those of a step that is too long for the rates do not settle."""

_SETTLED = 0.01
"""A round that changes less than this, in tolerances, is the last one; the same of the last coefficients."""

_MEMORY = 10
"""Most rounds that are mixed."""

_LACK = 100.0
"""A rate that leads this many tolerances past the state at the end is one of a fast mode that the solver has damped."""

_HOPELESS = 1e4
"""Changes that have grown by this will not settle."""

ENOUGH = 1.0
"""Estimated errors up to this, in tolerances, are good."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """y over one step.

    Attributes
    ----------
    t, h : start and length
    y : (d,) at the start
    coefficients : (k, d), of the rates in Legendre polynomials of s = 2 (time - t) / h - 1
    correction : (d,) what the integral of the rates lacks of the state at the end
    error : the estimated error in tolerances
    """

    t: float
    h: float
    y: Vec
    coefficients: Mat
    correction: Vec
    error: float

    def __call__(self, t: Vec) -> Mat:
        """y (m, d) at times (m,) of the step."""
        k, d = self.coefficients.shape
        out = np.empty((len(t), d))
        numbers = (np.ascontiguousarray(part) for part in (self.y, self.coefficients, self.correction, t))
        call(native.along, len(t), k, d, self.t, self.h, *numbers, np.empty(k), out)
        return out


def _integrals(s: Vec, k: int) -> Mat:
    """Integrals of the first k Legendre polynomials from -1 to s over a step of length 1, (m, k)."""
    out = np.empty((len(s), k))
    out[:, 0] = 0.5 * (s + 1.0)
    before, here = np.ones_like(s), s
    for j in range(1, k):
        before, here, last = here, ((2 * j + 1) * s * here - j * before) / (j + 1), before
        out[:, j] = 0.5 * (here - last) / (2 * j + 1)
    return out


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Points:
    """Chebyshev points u of (0, 1) with its ends; `fit` makes coefficients of rates there, `integrate` makes integrals
    from 0 to u of coefficients, `last` the integral to 1."""

    u: Vec
    rise: Vec
    fit: Mat
    integrate: Mat


@cache
def _points(n: int) -> _Points:
    s = -np.cos(np.pi * np.arange(n) / (n - 1))
    s = 0.5 * (s - s[::-1])  # symmetric to the last bit
    u = 0.5 * (1.0 + s)
    return _Points(
        u, u * u * (3.0 - 2.0 * u), np.asarray(np.linalg.inv(legendre.legvander(s, n - 1))), _integrals(s, n)
    )


@cache
def _tables() -> Vec:
    """The tables of all levels, for machine code."""
    levels = [_points(n) for n in _LEVELS]
    return np.concatenate([x.ravel() for p in levels for x in (p.u, p.rise, p.fit, p.integrate)])


def compiled_piece(rates: MachineFunction, n: int, n_out: int, t: Vec, y: Mat, scale: Vec) -> Piece | None:
    """The polynomial of a step in machine code, where plain rounds settle; else None.

    Parameters
    ----------
    rates : n_out numbers, those of the rates first, as a machine function of (t, y), y of length n
    t, y, scale : see `piece`
    """
    d, most = y.shape[1], _LEVELS[-1]
    coefficients, correction = np.empty((most, d)), np.empty(d)
    memory = np.zeros(n + (2 + 2 * most) * d + n_out)
    t0, t1 = float(t[0]), float(t[1])
    states = np.ascontiguousarray(y)
    k = call(
        native.collocate, rates.address, rates.context, n, d, t0, t1, states, np.ascontiguousarray(scale), _tables(),
        coefficients, correction, memory,
    )  # fmt: skip
    if k < 0:
        rates.check()
    return Piece(t0, t1 - t0, states[0], coefficients[:k], correction, 0.0) if k > 0 else None


def piece(rates: Rates, t: Vec, y: Mat, scale: Vec) -> Piece:
    """The polynomial of a step.

    Parameters
    ----------
    rates : f(t, y) of the segment that the step belongs to
    t, y : (2,) and (2, d), the ends
    scale : (d,) the tolerance of each unknown
    """
    h = float(t[1] - t[0])
    ends = rates(t, y)
    coefficients: Mat | None = None
    best: Piece | None = None
    for n in _LEVELS:
        level = _points(n)
        first = _rates_of_cubic(h, y, ends, level) if coefficients is None else coefficients
        coefficients, correction, change = _settle(rates, t, y, ends, scale, level, first)
        tail = h * float(np.max(np.abs(coefficients[-2:]) / scale, initial=0.0)) / (2 * n)
        lack = float(np.max(np.abs(correction) / scale, initial=0.0)) / _LACK
        found = Piece(float(t[0]), h, y[0], coefficients, correction, max(change, tail, lack))
        if best is None or found.error < best.error:
            best = found
        if tail < (_SETTLED if change < _SETTLED else ENOUGH) and change < ENOUGH:
            break  # more points cannot be better than rounds that do not settle
        if not change < ENOUGH:
            coefficients = None  # more points may settle where few do not, but not from what these have made
    assert best is not None
    return best


def _rates_of_cubic(h: float, y: Mat, ends: Mat, level: _Points) -> Mat:
    """Coefficients of the rates of the cubic through states and rates."""
    u = level.u[:, None]
    slope = (y[1] - y[0]) / h
    rates = 6.0 * u * (1.0 - u) * slope + (1.0 - u) * (1.0 - 3.0 * u) * ends[0] + u * (3.0 * u - 2.0) * ends[1]
    out: Mat = np.einsum("kn,nd->kd", level.fit, rates)
    return out


def _settle(
    rates: Rates, t: Vec, y: Mat, ends: Mat, scale: Vec, level: _Points, coefficients: Mat
) -> tuple[Mat, Vec, float]:
    """Rounds from some coefficients on until they settle: coefficients, correction, and the last change of y, in
    tolerances."""
    h, times = float(t[1] - t[0]), t[0] + (t[1] - t[0]) * level.u[1:-1]

    def inner(c: Mat) -> tuple[Mat, Vec]:
        integral = h * np.einsum("mk,kd->md", level.integrate[:, : len(c)], c)
        correction = y[1] - y[0] - integral[-1]
        return (y[0] + integral + level.rise[:, None] * correction)[1:-1], correction

    states, correction = inner(coefficients)
    mixed = _Mixed(scale)
    change = first = np.inf
    for _ in range(_ROUNDS):
        values = np.concatenate([ends[:1], rates(times, states), ends[1:]])
        if not np.isfinite(values).all():
            return coefficients, correction, np.inf
        coefficients = np.einsum("kn,nd->kd", level.fit, values)
        found, correction = inner(coefficients)
        change = float(np.max(np.abs(found - states) / scale, initial=0.0))
        first = min(first, change)
        if change < _SETTLED or not change < _HOPELESS * first:
            break
        states = mixed.next(states, found)
    return coefficients, correction, change


@final
class _Mixed:
    """Anderson's mixing of rounds x -> g(x): a few fast modes, which alone let the rounds grow, are solved for."""

    def __init__(self, scale: Vec) -> None:
        self._scale = scale
        self._found: list[Mat] = []
        self._changes: list[Vec] = []

    def next(self, states: Mat, found: Mat) -> Mat:
        """The states of the next round."""
        self._found.append(found)
        self._changes.append(((found - states) / self._scale).reshape(-1))
        del self._found[:-_MEMORY], self._changes[:-_MEMORY]
        if len(self._found) < 2:
            return found
        last = self._changes[-1]
        differences = np.array([last - change for change in self._changes[:-1]])
        shares = np.linalg.lstsq(differences.T, last, rcond=1e-10)[0]
        out = found
        for share, other in zip(shares, self._found[:-1], strict=True):
            out = out - share * (found - other)
        return out


__all__ = ["ENOUGH", "Piece", "Rates", "compiled_piece", "piece"]
