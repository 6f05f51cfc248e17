"""Explicit Runge-Kutta methods as their tableaux; `rbdae.machine.loops.written` has their functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isclose
from typing import Any, TypeAlias, final

from rbdae.machine.loops.memory import CONT, K1, UNPROJECTED

Row: TypeAlias = Sequence[float]
"""The weights of the stages, from the first one on; zeros at the end may be left out."""

Stages: TypeAlias = list[tuple[int, Row, float]]
"""Numbers, rows and times of stages."""

STAGES = CONT - K1
"""The vectors that there are for stages at one time."""

COEFFICIENTS = UNPROJECTED - CONT
"""The vectors that there are for dense output."""


def row(names: Mapping[str, Any], letters: str, n: int) -> Row:
    """A row of n weights from numbers with names, such as A7_1 and A7_4 for the letters "A7_"; others are zero."""
    return tuple(float(names.get(f"{letters}{j}", 0.0)) for j in range(1, n + 1))


@final
@dataclass(frozen=True, eq=False)
class Tableau:
    """An explicit method with an error estimate and dense output, in numbers.

    With s stages, the rates at the end of a step are stage s + 1, the first one of the next step. They belong to each
    attempt if the error estimate needs them, else to accepted steps.

    Parameters
    ----------
    name, summary : the solver's name, and what lists call the method
    order : of the end of a step; the next step size has the error to the power of its inverse
    c, a : times and rows of the stages 2 to s
    b : the row of the end of a step
    error : the row of the error estimate, a difference of two solutions
    correction : rows whose sum is a second estimate, of lower order; the error is then the first one times its ratio to
        both ([HNW93], page 254)
    dense : rows of c3, c4, ... in the dense output y + x (c0 + z (c1 + x (c2 + z (c3 + x (c4 + ...))))) with z = 1 - x.
        c0, c1 and c2 make it the cubic through states and rates at both ends
    later_c, later_a : of the stages from s + 2 on, which dense output alone needs
    beta, beta_in_exponent : of the stabilised controller, and the part of it by which that power is smaller
    shrinks, grows : the factors by which a step changes at most, Hairer's FAC1 and FAC2
    chain : how many products are added one after the other before another such sum begins; one alone joins the first
    """

    name: str
    summary: str
    order: int
    c: Row
    a: tuple[Row, ...]
    b: Row
    error: Row
    correction: tuple[Row, ...] = ()
    dense: tuple[Row, ...] = ()
    later_c: Row = ()
    later_a: tuple[Row, ...] = ()
    beta: float = 0.0
    beta_in_exponent: float = 0.75
    shrinks: float = 0.2
    grows: float = 10.0
    chain: int = 4

    def __post_init__(self) -> None:
        counts = [len(self.c), len(self.a), len(self.later_c), len(self.later_a), len(self.dense)]
        if counts[0] != counts[1] or counts[2] != counts[3] or counts[4] > COEFFICIENTS - 3:
            raise ValueError(
                f"{self.name}: c and a must have an entry for each stage from the second one on, later_c and later_a "
                f"too, and dense at most {COEFFICIENTS - 3} rows; got {', '.join(map(str, counts))} of them"
            )
        sums = [(f"the row of stage {i}", weights, time) for i, weights, time in (*self.stages, *self.later)]
        for what, weights, wanted in (*sums, ("b", self.b, 1.0), ("error", self.error, 0.0)):
            if not isclose(sum(weights), wanted, rel_tol=0.0, abs_tol=1e-12 * sum(map(abs, weights))):
                raise ValueError(f"{self.name}: {what} must add up to {wanted!r}, got {sum(weights)!r}; correct it")

    @property
    def stages(self) -> Stages:
        """The stages 2 to s."""
        return [(i, *both) for i, both in enumerate(zip(self.a, self.c, strict=True), 2)]

    @property
    def end(self) -> int:
        """The number of the stage at the end of a step."""
        return len(self.a) + 2

    @property
    def later(self) -> Stages:
        """The stages after it."""
        return [(i, *both) for i, both in enumerate(zip(self.later_a, self.later_c, strict=True), self.end + 1)]

    @property
    def ends_in_attempts(self) -> bool:
        """Whether the error estimate needs the rates at the end of the step."""
        return any(any(weights[self.end - 1 :]) for weights in (self.error, *self.correction))

    @cached_property
    def places(self) -> dict[int, int]:
        """The vectors of the stages. If none is left, a stage takes that of one which nothing needs any more."""
        last = self.end + len(self.later) + 1
        rows = [(i, weights) for i, weights, _ in (*self.stages, *self.later)]
        rows += [(self.end, weights) for weights in (self.b, self.error, *self.correction)]
        rows += [(last, weights) for weights in self.dense]
        needed = {i: [i] for i in range(1, last)}
        needed[1].append(last)
        needed[self.end].append(last)  # the next step begins with it
        for i, weights in rows:
            for j in range(1, len(weights) + 1):
                needed[j] += [i] if weights[j - 1] else []
        places, holders = {1: K1}, {K1: 1}
        for i in range(2, last):
            free = [K1 + len(holders)] if len(holders) < STAGES else []
            free += [place for place, j in holders.items() if j != self.end and max(needed[j]) <= i]
            if not free:
                raise ValueError(f"{self.name}: stage {i} finds no vector, {STAGES} stages before it are still needed")
            places[i] = free[0]
            holders[free[0]] = i
        return places
