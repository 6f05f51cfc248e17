"""`DenseOutput`: y between the steps of a run, by what its problem says about the states at the steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Bools, Ints, Mat, Vec
from rbdae.adapter import Steps
from rbdae.machine.function import MachineFunction
from rbdae.multibody.layout import with_nearest_parameters
from rbdae.problem.algebraic import AlgebraicUnknowns
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.solving.collocation import ENOUGH, Piece, compiled_piece, piece
from rbdae.solving.neighbours import NEAR, Neighbours, neighbours
from rbdae.solving.segments import Segments


@final
class DenseOutput:
    """y(t) of a run between its accepted steps.

    Positions, velocities, internal states of forces and integrals of multipliers are polynomials over each step
    (`rbdae.solving.collocation`), which take the recorded values at its ends; where the motion has fast modes that the
    steps do not resolve, polynomials through the states of neighbouring steps. Unit quaternions are scaled to the norms
    that they have at the steps. Algebraic unknowns of forces solve their equations. Multipliers are those that belong
    to positions and velocities; those of the kinematic correction, which vanish in the exact motion, are zero.

    Parameters
    ----------
    segments : the problems of the run
    t, y : (m,) and (m, n), the accepted steps in the order of the run; a state at a change of selection in the unknowns
        of the new one
    rtol, atol : of the run
    """

    def __init__(self, segments: Segments, t: Vec, y: Mat, rtol: float, atol: float | Vec) -> None:
        if not len(t):
            raise ValueError(
                "this run kept no states at its steps: solve without dense_output=False, without t_eval, or with "
                "another solver"
            )
        self._segments = segments
        self._order = slice(None, None, 1 if segments.direction > 0.0 else -1)
        self._t, self._y = t[self._order], y[self._order]  # rising
        self._rtol = rtol
        self._atol = np.broadcast_to(np.asarray(atol, dtype=float), y.shape[1:])
        self._polynomials: dict[int, Piece | Neighbours] = {}
        self._interpretations = [Interpretation(problem.workspace) for problem in segments.problems]
        self._algebraic = [AlgebraicUnknowns(problem) for problem in segments.problems]
        self._rates: dict[int, tuple[MachineFunction, int] | None] = {}
        self._unit = [_unit_quaternions(problem) for problem in segments.problems]

    @property
    def steps(self) -> Vec:
        """The times of the steps, (m,), rising."""
        return self._t

    @property
    def recorded(self) -> Steps:
        """The steps."""
        return Steps(self._t[self._order], self._y[self._order])

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
        layout, algebraic = problem.layout, self._algebraic[number]
        between = mine[inside[mine]]
        if len(algebraic.places) and len(between):
            rows = y[between]
            algebraic.solve(t[between], rows)
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
                out[:, where] = _rescaled(out[:, where], u, self._y[k : k + 2][:, where])
        return out

    def _number(self, k: int) -> int:
        """The segment of the step that begins at the k-th state, the last one for the last state."""
        t = self._t
        inside = k if k + 1 == len(t) or self._segments.direction > 0.0 else k + 1
        return self._segments.number(float(t[inside]))

    def _piece(self, k: int, number: int, d: int) -> Piece | Neighbours:
        """The polynomial of the k-th step."""
        problem: Problem = self._segments.problems[number]
        layout = problem.layout
        ends = [self._state(j, number) for j in (k, k + 1)]
        scale = self._atol[:d] + self._rtol * np.max(np.abs(ends), axis=0)[:d]
        scale[layout.n_differential :] = np.inf  # no other unknown depends on the integrals of multipliers
        algebraic = self._algebraic[number]
        scale[algebraic.places] = np.inf  # they have no rates

        interpretation = self._interpretations[number]
        compiled = self._compiled_rates(number) if d == layout.n_differential else None
        if compiled is not None:
            quick = compiled_piece(compiled[0], layout.n, compiled[1], self._t[k : k + 2], np.array(ends)[:, :d], scale)
            if quick is not None:
                return quick

        def rates(times: Vec, states: Mat) -> Mat:
            y = np.zeros((len(times), layout.n))
            y[:, :d] = states
            algebraic.solve(times, y)
            out = np.zeros_like(states)
            for row, time, state in zip(out, times, y, strict=True):
                row[: layout.n_differential], la = interpretation.rates_of_selection(float(time), state)
                if layout.la.stop > layout.la.start and d > layout.n_differential:
                    row[layout.la] = layout.among_unknowns(la)
            out[:, algebraic.places] = 0.0
            return out

        found = piece(rates, self._t[k : k + 2], np.array(ends)[:, :d], scale)
        if found.error < ENOUGH:
            return found
        first, last = (int(np.searchsorted(self._t, end, side="left")) for end in self._segments.span(number))
        there = range(max(first, k - NEAR), min(last + 1, k + 2 + NEAR, len(self._t)))
        states = np.array([self._state(j, number)[:d] for j in there])
        other = neighbours(self._t[there.start : there.stop], states, k - there.start, scale)
        return other if other.error < found.error else found

    def _compiled_rates(self, number: int) -> tuple[MachineFunction, int] | None:
        """The rates of a segment as a machine function of (t, y), and how many numbers it gives."""
        if number not in self._rates:
            found, algebraic = self._interpretations[number].compiled_rates, self._algebraic[number]
            if found is not None and len(algebraic.places):
                of_solved = algebraic.rates(found[0])
                found = None if of_solved is None else (of_solved, found[1])
            self._rates[number] = found
        return self._rates[number]

    def _state(self, k: int, number: int) -> Vec:
        """The k-th state in the unknowns of a segment: at the end of a segment it is stored in those of the next."""
        owner = self._segments.number(float(self._t[k]))
        problems = self._segments.problems
        out: Vec = self._y[k]
        for j in range(owner, number, -1):
            out = problems[j].translated(float(self._t[k]), out, problems[j - 1])
        if owner == number:
            return out
        if problems[number].workspace.memory.filled.like.forces.algebraic.any():  # they jump where inputs do
            out = problems[number].resumed_with_inputs(float(self._t[k]), out, {}).y0
        before = self._y[k - 1 if self._segments.direction > 0.0 else k + 1]
        return with_nearest_parameters(problems[number].workspace.settings, problems[number].layout, out, before)


def eliminated(segments: Segments, interpretations: Sequence[Interpretation], t: Vec, y: Mat) -> None:
    """Write the multipliers that belong to positions and velocities into rows (m, n) at times (m,), in place."""
    numbers = segments.numbers(t)
    for number, problem in enumerate(segments.problems):
        layout, mine = problem.layout, numbers == number if segments.times else slice(None)
        rows = y[mine]  # those of all times without a copy
        if len(rows) and layout.la.stop > layout.la.start:
            rows[:, layout.la] = layout.among_unknowns(interpretations[number].multipliers_of_selection(t[mine], rows))
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


def _rescaled(p: Mat, u: Vec, ends: Mat) -> Mat:
    """Quaternions p (m, bodies, 4) with the norms between those at the ends of the step (2, bodies, 4)."""
    norms, own = (np.sqrt(np.einsum("...k,...k->...", x, x)) for x in (ends, p))
    wanted = norms[0] + u[:, None] * (norms[1] - norms[0])
    out: Mat = p * (wanted / own)[..., None]
    return out


__all__ = ["DenseOutput", "eliminated"]
