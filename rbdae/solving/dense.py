"""`DenseOutput`: y between the steps of a run, by what its problem says about the states at the steps.

Solvers' own dense output leaves the constraints and is of a lower order than their steps, so none is used. A solver
gives states at the ends of its steps, and steps of high order are long: a cubic through states and rates is far
less accurate than the states. So rates yd = f(t, y) are evaluated inside the step, too, at the points of the polynomial
of before, and the next polynomial has these rates (bootstrapping, [EJNT86]). Its error falls with every round until
y' = f(t, y) holds at the points. The difference to the state at the end, the solver's local error, is spread over the
step without a change of the rates at its ends.

Where the steps do not resolve the fast modes of a motion, rates are no guide: a state that is off by the tolerance has
rates that are off by the tolerance times the fast frequency. The states are smooth as long as the fast modes are
damped, and a polynomial through those at neighbouring steps is taken (`neighbours`).

Multipliers that no error test sees (`Method.untested`), whose noise BDF codes extrapolate from step to step, are made
again by elimination (`give_multipliers`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np
from numpy.polynomial import legendre

from rbdae import _check
from rbdae._arrays import ArrayLike, Bools, Ints, Mat, Vec
from rbdae.adapter import Method, Outcome
from rbdae.machine.function import MachineFunction
from rbdae.machine.loops import reading as native
from rbdae.machine.reading import call
from rbdae.multibody.choices.states import with_nearest_parameters
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.start import solve_unknowns
from rbdae.problem.timed import Segments


@final
class DenseOutput:
    """y(t) of a run between its accepted steps (m,), (m, n), in its order; a state at a change of selection is in the
    unknowns of the new one.

    Positions, velocities, internal states of forces and integrals of multipliers are polynomials over each step
    (`Piece`), which take the recorded values at its ends; where the motion has fast modes that the steps do not
    resolve, polynomials through the states of neighbouring steps. Unit quaternions are scaled to the norms that they
    have at the steps. Algebraic unknowns of forces solve their equations. Multipliers are those that belong to
    positions and velocities; multipliers of the kinematic correction vanish in the exact motion, and are zero.
    """

    def __init__(self, segments: Segments, t: Vec, y: Mat, rtol: float, atol: float | Vec) -> None:
        if not len(t):
            raise ValueError(
                "this run kept no states at its steps: solve without dense_output=False, without t_eval, or with "
                "another solver"
            )
        self._segments = segments
        rising = slice(None, None, 1 if segments.direction > 0.0 else -1)
        self._t, self._y = t[rising], y[rising]
        self._rtol = rtol
        self._atol = np.broadcast_to(np.asarray(atol, dtype=float), y.shape[1:])
        self._polynomials: dict[int, Piece] = {}
        self._interpretations = [Interpretation(problem.workspace) for problem in segments.problems]
        self._unit = [_unit_quaternions(problem) for problem in segments.problems]

    @property
    def steps(self) -> Vec:
        """The times of the steps, (m,), rising."""
        return self._t

    def __call__(self, t: ArrayLike) -> Mat:
        """y at a time, (n,), or at times (k,), (k, n)."""
        times = _check.times(t)
        flat = np.atleast_1d(times)
        outside = ~((flat >= self._t[0]) & (flat <= self._t[-1]))
        if outside.any():
            raise ValueError(
                f"t = {float(flat[outside][0])!r} is outside of this run; give times from {self._t[0]} to {self._t[-1]}"
            )
        out = np.empty((len(flat), self._y.shape[1]))
        steps = np.searchsorted(self._t, flat, side="right") - 1
        order = np.argsort(steps, kind="stable")
        of_rows = np.empty(len(flat), dtype=np.int64)  # the segment of each
        for rows in np.split(order, np.flatnonzero(np.diff(steps[order])) + 1) if len(flat) else ():
            k = int(steps[rows[0]])
            number = of_rows[rows] = self._number(k)
            out[rows] = self._in_step(k, number, flat[rows])
        for number in np.unique(of_rows):
            self._complete(int(number), flat, out, np.flatnonzero(of_rows == number), flat > self._t[steps])
        return out[0] if times.ndim == 0 else out

    def _complete(self, number: int, t: Vec, y: Mat, mine: Ints, inside: Bools) -> None:
        """Write algebraic unknowns and multipliers into the rows of a segment, in place; at the ends of steps the
        former are those that the solver has left."""
        problem: Problem = self._segments.problems[number]
        layout, between = problem.layout, mine[inside[mine]]
        if len(between):
            rows = y[between]
            solve_unknowns(self._interpretations[number], t[between], rows)
            y[between] = rows
        if _differential(problem) < layout.n:
            rows = y[mine]
            eliminated(self._segments, self._interpretations, t[mine], rows)
            rows[:, layout.mu] = 0.0
            y[mine] = rows

    def _in_step(self, k: int, number: int, t: Vec) -> Mat:
        """The polynomials at times from the k-th state on, up to the next one."""
        problem: Problem = self._segments.problems[number]
        d = _differential(problem)
        out = np.tile(self._y[k], (len(t), 1))
        inside = t > self._t[k]
        if inside.any():
            if k not in self._polynomials:
                self._polynomials[k] = self._piece(k, number, d)
            out[inside, :d] = self._polynomials[k](t[inside])
            if (where := self._unit[number]).size:
                u = (t - self._t[k]) / (self._t[k + 1] - self._t[k])
                ends, p = self._y[k : k + 2][:, where], out[:, where]  # norms between those at the ends
                norms, own = (np.sqrt(np.einsum("...k,...k->...", x, x)) for x in (ends, p))
                out[:, where] = p * ((norms[0] + u[:, None] * (norms[1] - norms[0])) / own)[..., None]
        return out

    def _number(self, k: int) -> int:
        """The segment of the step that begins at the k-th state, the last one for the last state."""
        t = self._t
        inside = k if k + 1 == len(t) or self._segments.direction > 0.0 else k + 1
        return self._segments.number(float(t[inside]))

    def _piece(self, k: int, number: int, d: int) -> Piece:
        problem: Problem = self._segments.problems[number]
        layout = problem.layout
        ends = [self._state(j, number) for j in (k, k + 1)]
        scale = self._atol[:d] + self._rtol * np.max(np.abs(ends), axis=0)[:d]
        scale[layout.n_differential :] = np.inf  # no other unknown depends on the integrals of multipliers
        scale[problem.algebraic[:d]] = np.inf  # they have no rates

        interpretation = self._interpretations[number]
        with_rates = d == layout.n_differential and not problem.algebraic.any()
        compiled = interpretation.compiled_rates if with_rates else None
        if compiled is not None:
            quick = compiled_piece(compiled[0], layout.n, compiled[1], self._t[k : k + 2], np.array(ends)[:, :d], scale)
            if quick is not None:
                return quick

        def rates(times: Vec, states: Mat) -> Mat:
            y = np.zeros((len(times), layout.n))
            y[:, :d] = states
            solve_unknowns(interpretation, times, y)
            out = np.zeros_like(states)
            out[:, : layout.n_differential], la = interpretation.rates_of_selection(times, y)
            if layout.la.stop > layout.la.start and d > layout.n_differential:
                out[:, layout.la] = layout.among_unknowns(la)
            out[:, problem.algebraic[:d]] = 0.0
            return out

        found = piece(rates, self._t[k : k + 2], np.array(ends)[:, :d], scale)
        if found.error < ENOUGH:
            return found
        first, last = (int(np.searchsorted(self._t, end, side="left")) for end in self._segments.span(number))
        there = range(max(first, k - _NEAR), min(last + 1, k + 2 + _NEAR, len(self._t)))
        states = np.array([self._state(j, number)[:d] for j in there])
        other = neighbours(self._t[there.start : there.stop], states, k - there.start, scale)
        return other if other.error < found.error else found

    def _state(self, k: int, number: int) -> Vec:
        """The k-th state in the unknowns of a segment: at a segment's end it is stored in the next one's."""
        owner = self._segments.number(float(self._t[k]))
        problems = self._segments.problems
        out: Vec = self._y[k]
        for j in range(owner, number, -1):
            out = problems[j].translated(float(self._t[k]), out, problems[j - 1])
        if owner == number:
            return out
        if problems[number].workspace.memory.model.forces.algebraic.any():  # they jump where inputs do
            out = problems[number].resumed_with_inputs(float(self._t[k]), out, {}).y0
        before = self._y[k - 1 if self._segments.direction > 0.0 else k + 1]
        return with_nearest_parameters(problems[number].workspace.settings, problems[number].layout, out, before)


def eliminated(segments: Segments, interpretations: Sequence[Interpretation], t: Vec, y: Mat) -> None:
    """Write the multipliers that belong to positions and velocities into rows (m, n) at times (m,), in place."""
    numbers = segments.numbers(t)
    for number, problem in enumerate(segments.problems):
        layout, mine = problem.layout, numbers == number if segments.times else slice(None)
        rows = y[mine]  # all of them without a copy
        if len(rows) and layout.la.stop > layout.la.start:
            rows[:, layout.la] = layout.among_unknowns(interpretations[number].rates_of_selection(t[mine], rows)[1])
            y[mine] = rows


def _differential(problem: Problem) -> int:
    """How many unknowns have rates."""
    integrals = problem.workspace.settings.formulation.unknown_multipliers == "integrals"
    return problem.layout.n if integrals else problem.layout.n_differential


def _unit_quaternions(problem: Problem) -> Ints:
    """The places of unit quaternions in y, (bodies, 4) or nothing."""
    chart, layout = problem.workspace.settings.chart, problem.layout
    if chart.name != "quaternion":
        return np.empty((0, 4), dtype=np.int64)
    ends = np.array([*layout.iq[1:], layout.q.stop])
    return np.asarray(ends[:, None] + np.arange(-chart.n, 0))


# ------------------------------------------------------------ rows made again


def give_multipliers(problem: Problem, method: Method, outcome: Outcome) -> None:
    """Replace multipliers that the method has not tested by eliminated ones, in place."""
    if problem.kind != "dae" or problem.index not in method.untested:
        return
    segments = problem._segments or Segments((problem,))
    views = [Interpretation(here.workspace) for here in segments.problems]
    steps = [] if outcome.steps is None else [(outcome.steps.t, outcome.steps.y)]
    for t, y in ((outcome.t, outcome.y), *steps, *zip(outcome.t_events, outcome.y_events, strict=True)):
        finite = np.isfinite(y).all(axis=1)
        rows = y[finite]
        eliminated(segments, views, t[finite], rows)
        y[finite] = rows


# ------------------------------------------------------------ polynomials over single steps


Rates = Callable[[Vec, Mat], Mat]
"""Rates (m, d) at times (m,) and states (m, d)."""

_LEVELS = (5, 9, 17)
"""Numbers of points; each set has the one before in it."""

_ROUNDS = 16
"""Most rounds on one level: if a step is too long for the rates, they do not settle."""

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
    """y over the step of length h from t and y (d,) on: `coefficients` (k, d) of the rates in Legendre polynomials of s
    = 2 (time - t) / h - 1, the `correction` (d,) that their integral lacks of the state at the end, and the estimated
    error in tolerances."""

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


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Points:
    """Chebyshev points u of (0, 1) with its ends; `fit` makes coefficients of rates there, `integrate` makes integrals
    from 0 to u of coefficients."""

    u: Vec
    rise: Vec
    fit: Mat
    integrate: Mat


@cache
def _points(n: int) -> _Points:
    s = -np.cos(np.pi * np.arange(n) / (n - 1))
    s = 0.5 * (s - s[::-1])  # symmetric to the last bit
    u, P = 0.5 * (1.0 + s), legendre.legvander(s, n)
    integrals = np.column_stack([u, 0.5 * (P[:, 2:] - P[:, :-2]) / (2 * np.arange(1, n) + 1)])
    return _Points(u, u * u * (3.0 - 2.0 * u), np.asarray(np.linalg.inv(legendre.legvander(s, n - 1))), integrals)


@cache
def _tables() -> Vec:
    """The tables of all levels, for machine code."""
    levels = [_points(n) for n in _LEVELS]
    return np.concatenate([x.ravel() for p in levels for x in (p.u, p.rise, p.fit, p.integrate)])


def compiled_piece(rates: MachineFunction, n: int, n_out: int, t: Vec, y: Mat, scale: Vec) -> Piece | None:
    """The polynomial of a step in machine code, where plain rounds settle; else None. `rates` is a machine function of
    (t, y), y of length n, whose n_out numbers begin with the rates; the others are as in `piece`."""
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
    """The polynomial of a step between t (2,) and y (2, d), by the rates of its segment and the tolerance (d,) of each
    unknown."""
    h = float(t[1] - t[0])
    ends = rates(t, y)
    coefficients: Mat | None = None
    best: Piece | None = None
    for n in _LEVELS:
        level = _points(n)
        if coefficients is None:  # the rates of the cubic through states and rates
            u, slope = level.u[:, None], (y[1] - y[0]) / h
            cubic = 6.0 * u * (1.0 - u) * slope + (1.0 - u) * (1.0 - 3.0 * u) * ends[0] + u * (3.0 * u - 2.0) * ends[1]
            coefficients = np.einsum("kn,nd->kd", level.fit, cubic)
        coefficients, correction, change = _settle(rates, t, y, ends, scale, level, coefficients)
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
    rounds: list[tuple[Mat, Mat]] = []
    change = first = np.inf
    for _ in range(_ROUNDS):
        values = np.concatenate([ends[:1], rates(times, states), ends[1:]])
        if not np.isfinite(values).all():
            return coefficients, correction, np.inf
        coefficients = np.einsum("kn,nd->kd", level.fit, values)
        found, correction = inner(coefficients)
        rounds.append((found, (found - states) / scale))
        change = float(np.max(np.abs(rounds[-1][1]), initial=0.0))
        first = min(first, change)
        if change < _SETTLED or not change < _HOPELESS * first:
            break
        states = _mixed(rounds[-_MEMORY:])
    return coefficients, correction, change


def _mixed(rounds: Sequence[tuple[Mat, Mat]]) -> Mat:
    """Anderson's mixing of rounds x -> g(x), given g(x) and its scaled changes: a few fast modes let rounds grow, and
    are solved for."""
    out, last = rounds[-1]
    if len(rounds) > 1:
        differences = np.array([(last - change).ravel() for _, change in rounds[:-1]])
        shares = np.linalg.lstsq(differences.T, last.ravel(), rcond=1e-10)[0]
        for share, (other, _) in zip(shares, rounds[:-1], strict=True):
            out = out - share * (rounds[-1][0] - other)
    return out


_MOST = 6
"""Most states of one polynomial."""

_NEAR = _MOST - 2
"""No polynomial needs states farther from a step than this number of steps."""


def neighbours(t: Vec, y: Mat, k: int, scale: Vec) -> Piece:
    """The polynomial over the step from t[k] to t[k + 1] through the states (m, d) of some steps of the segment around
    it: with the number of states whose difference to one state less is smallest, which is its error, in the tolerances
    (d,)."""
    h = t[k + 1] - t[k]
    between = t[k] + h * np.array([0.25, 0.5, 0.75])
    chosen = best = [k, k + 1]
    least, before = np.inf, _interpolate(t[chosen], y[chosen], between)
    while len(chosen) < min(_MOST, len(t)):
        below, above = chosen[0] - 1, chosen[-1] + 1
        left = t[k] - t[below] if below >= 0 else np.inf
        right = t[above] - t[k + 1] if above < len(t) else np.inf
        chosen = [below, *chosen] if left <= right else [*chosen, above]
        values = _interpolate(t[chosen], y[chosen], between)
        error = float(np.max(np.abs(values - before) / scale, initial=0.0))
        if error < least:
            best, least = chosen, error
        before = values
    level = _points(len(best))
    rates = legendre.legder(level.fit @ _interpolate(t[best], y[best], t[k] + h * level.u)) * (2.0 / h)
    return Piece(float(t[k]), float(h), y[k], rates, np.zeros(y.shape[1]), least)


def _interpolate(nodes: Vec, y: Mat, t: Vec) -> Mat:
    """The polynomial through (nodes, y) at t, by Lagrange's formula: few nodes, and t among them."""
    weights = np.ones((len(t), len(nodes)))
    for j, node in enumerate(nodes):
        for other in np.delete(nodes, j):
            weights[:, j] *= (t - other) / (node - other)
    out: Mat = np.einsum("mk,kd->md", weights, y)
    return out
