"""Explicit Runge-Kutta methods: their tableaux, and the functions that are written from them.

Those are text in the part of Python that `rbdae.machine.language` translates, as one would write them by hand: a sum
without zeros for each stage, with names for the coefficients. `print(Writer(DOPRI5).text)` shows them.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isclose, sqrt
from typing import Any, TypeAlias, final

from rbdae.machine.language.words import each
from rbdae.machine.loops import control, memory
from rbdae.machine.loops.control import rates, total
from rbdae.machine.loops.memory import CONT, K1, UNPROJECTED

Row: TypeAlias = Sequence[float]
"""The weights of the stages, from the first one on; zeros at the end may be left out."""

Stages: TypeAlias = list[tuple[int, Row, float]]
"""Numbers, rows and times of stages."""

STAGES = CONT - K1
"""The vectors that there are for stages at one time."""

COEFFICIENTS = UNPROJECTED - CONT
"""The vectors that there are for dense output."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Stepper:
    """What makes the steps of a loop.

    Parameters
    ----------
    name, summary : the name as a solver, and what lists call it
    order : of the end of a step
    shrinks, grows : a step has at least, and at most, these times the length of the one before, Hairer's FAC1 and FAC2
    beta, beta_in_exponent : of the stabilised controller: the next step size has the error to the power of
        1 / order - beta_in_exponent beta
    vectors : of memory
    module : has `attempt`, `interpolate`, and `dense` if something is to be prepared
    numbers : by the names that these leave open
    """

    name: str
    summary: str
    order: float = inf
    shrinks: float = 1.0
    grows: float = 1.0
    beta: float = 0.0
    beta_in_exponent: float = 0.0
    vectors: int = memory.VECTORS
    module: Any = None
    numbers: tuple[tuple[str, int], ...] = ()

    def exponent(self, beta: float) -> float:
        """The exponent of the error in the next step size."""
        return 1.0 / self.order - self.beta_in_exponent * beta

    @property
    def made_of(self) -> str:
        """All that `bindings` depend on beside the files of this folder."""
        return repr(self)

    def bindings(self) -> dict[str, Any]:
        """`attempt`, `dense` and `interpolate`, and what these leave open, by name."""
        names = ("attempt", "dense", "interpolate")
        return {name: vars(self.module)[name] for name in names if name in vars(self.module)} | dict(self.numbers)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Tableau(Stepper):
    """An explicit method with an error estimate and dense output, in numbers.

    With s stages, the rates at the end of a step are stage s + 1, the first one of the next step. They belong to each
    attempt if the error estimate needs them, else to accepted steps.

    Parameters
    ----------
    c, a : times and rows of the stages 2 to s
    b : the row of the end of a step
    error : the row of the error estimate, a difference of two solutions
    correction : rows whose sum is a second estimate, of lower order; the error is then the first one times its ratio to
        both ([HNW93], page 254)
    dense : rows of c3, c4, ... in the dense output y + x (c0 + z (c1 + x (c2 + z (c3 + x (c4 + ...))))) with z = 1 - x.
        c0, c1 and c2 make it the cubic through states and rates at both ends
    later_c, later_a : of the stages from s + 2 on, which dense output alone needs
    chain : how many products are added one after the other before another such sum begins; one alone joins the first
    """

    c: Row
    a: tuple[Row, ...]
    b: Row
    error: Row
    correction: tuple[Row, ...] = ()
    dense: tuple[Row, ...] = ()
    later_c: Row = ()
    later_a: tuple[Row, ...] = ()
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

    def bindings(self) -> dict[str, Any]:
        numbers = {"RATES_NEW": self.places[self.end], "ORDER": self.order}
        return {"attempt": control.attempt, **functions(self, "rbdae.machine.loops.loop"), **numbers}

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


_CALLBACK = "rhs: Function, context: Address, s: StepMemory"
_VECTORS = {
    "y": memory.Y,
    "x": memory.ARGUMENT,
    "end": memory.Y_NEW,
    "scaled": memory.SCALED,
    "further": memory.FURTHER,
    "atol": memory.ATOL,
}
"""Names of vectors and where they are; k1, k2, ... are stages, c0, c1, ... coefficients of the dense output."""


@final
class Writer:
    """The text of a method's functions, and the numbers that it names."""

    def __init__(self, tableau: Tableau) -> None:
        self._of = tableau
        self.numbers: dict[str, float] = {}
        k = {f"k{i}": place for i, place in tableau.places.items()}
        c = {f"c{i}": memory.CONT + i for i in range(len(tableau.dense) + 3)}
        self._places = _VECTORS | k | c
        functions = (self._stages, self._error, self._complete, self._dense, self._interpolate)
        self.text = "\n\n".join(["from __future__ import annotations\n", *(write() for write in functions)])

    def _function(self, name: str, parameters: str, result: str, body: Sequence[str]) -> str:
        """A function whose body may name vectors."""
        named = {*re.findall(r"\b(\w+)\[i\]", "\n".join(body))}
        vectors = [f"{v} = s.vectors[{place} * m :]" for v, place in self._places.items() if v in named]
        lines = ["m = s.m", *vectors] if vectors else []
        return "\n".join([f"def {name}({parameters}) -> {result}:", *(f"    {line}" for line in (*lines, *body)), ""])

    def _sum(self, letters: str, weights: Row) -> str:
        """The sum of the stages by these weights, whose names begin with the letters."""
        self.numbers |= {f"{letters}{j}": float(value) for j, value in enumerate(weights, 1) if value}
        terms = [f"{letters}{j} * k{j}[i]" for j, value in enumerate(weights, 1) if value]
        n = self._of.chain
        first = n + 1 if len(terms) % n == 1 else n
        sums = [" + ".join(terms[:first]), *(" + ".join(terms[j : j + n]) for j in range(first, len(terms), n))]
        return sums[0] if len(sums) == 1 else " + ".join(f"({one})" for one in sums)

    def _evaluated(self, stages: Stages) -> list[str]:
        """The rates of some stages, each at a sum of those before it."""
        lines = []
        for i, weights, time in stages:
            self.numbers[f"C{i}"] = float(time)
            at = "t + h" if time == 1.0 else f"t + C{i} * h"
            lines += [
                "for i in each(m):",
                f"    x[i] = y[i] + h * ({self._sum(f'A{i}_', weights)})",
                f"status = rates(rhs, context, s, {at}, ARGUMENT, {self._of.places[i]})",
                "if status != DONE:",
                "    return status",
            ]
        return lines

    def _rates_at_the_end(self) -> str:
        return f"return rates(rhs, context, s, s.t + s.h, Y_NEW, {self._of.places[self._of.end]})"

    def _stages(self) -> str:
        of = self._of
        step = ["for i in each(m):", f"    end[i] = y[i] + h * ({self._sum('B', of.b)})"]
        end = self._rates_at_the_end() if of.ends_in_attempts else "return DONE"
        return self._function(
            "stages", _CALLBACK, "int", ["t = s.t", "h = s.h", *self._evaluated(of.stages), *step, end]
        )

    def _complete(self) -> str:
        """Without outputs and events the next step alone needs the rates: at the state that a projection leaves."""
        alone = "if s.projects != 0 and s.events == 0 and s.outputs >= s.times:"
        body = [alone, "    s.stale = 1", "    return DONE", self._rates_at_the_end()]
        return self._function("complete", _CALLBACK, "int", ["return DONE"] if self._of.ends_in_attempts else body)

    def _error(self) -> str:
        """In tolerances, root mean square; not finite where the end of the step is not."""
        of = self._of
        scale = "scale = atol[i] + rtol * max(abs(y[i]), abs(end[i]))"
        first = self._sum("E", of.error)
        squared = "scaled[i] = (e / scale) ** 2 + 0.0 * end[i]"
        if of.correction:
            rows = [self._sum(f"F{k}_", weights) for k, weights in enumerate(of.correction)]
            second = ["f = " + " + ".join(f"({one})" for one in rows), "further[i] = (f / scale) ** 2"]
            body = [scale, f"e = {first}", *second, squared]
            after = ["err = total(scaled, m)", "both = err + 0.01 * total(further, m)"]
            after += ["if both <= 0.0:", "    both = 1.0", "return s.h * err * sqrt(1.0 / (s.n * both))"]
        else:
            body = [scale, f"e = h * ({first})", squared]
            after = ["return sqrt(total(scaled, m) / s.n)"]
        loop = ["h = s.h", "rtol = s.rtol", "for i in each(m):", *(f"    {line}" for line in body)]
        return self._function("error", "s: StepMemory", "float", [*loop, *after])

    def _dense(self) -> str:
        """The later stages, and the coefficients of the dense output."""
        of = self._of
        body = [
            "difference = end[i] - y[i]",
            "slope = h * k1[i] - difference",
            "c0[i] = difference",
            "c1[i] = slope",
            f"c2[i] = difference - h * k{of.end}[i] - slope",
        ]
        body += [f"c{k}[i] = h * ({self._sum(f'D{k}_', weights)})" for k, weights in enumerate(of.dense, 3)]
        loop = ["for i in each(m):", *(f"    {line}" for line in body)]
        stages = ["t = s.t", "h = s.h_done", *self._evaluated(of.later)]
        return self._function("dense", _CALLBACK, "int", [*stages, *loop, "return DONE"])

    def _interpolate(self) -> str:
        n = len(self._of.dense) + 2
        inner = f"c{n}[i]"
        for k in range(n - 1, -1, -1):
            inner = f"c{k}[i] + {'rest' if k % 2 == 0 else 'theta'} * " + (f"({inner})" if k < n - 1 else inner)
        body = ["rest = 1.0 - theta", "for i in range(s.n):", f"    out[i] = y[i] + theta * ({inner})", "return DONE"]
        return self._function("interpolate", "s: StepMemory, theta: float, out: Vec", "int", body)


def functions(tableau: Tableau, module: str) -> dict[str, Callable[..., Any]]:
    """`stages`, `error`, `complete`, `dense` and `interpolate` of a method in Python, as functions of a module."""
    writer = Writer(tableau)
    file = f"<{tableau.name}>"
    names: dict[str, Any] = {
        **{name: getattr(memory, name) for name in ("ARGUMENT", "DONE", "StepMemory", "Y_NEW")},
        **{"each": each, "rates": rates, "sqrt": sqrt, "total": total, "__name__": module},
        **writer.numbers,
    }
    known = set(names)
    # tracebacks and the compiler read it there
    linecache.cache[file] = (len(writer.text), None, writer.text.splitlines(keepends=True), file)
    exec(compile(writer.text, file, "exec"), names)
    return {name: value for name, value in names.items() if callable(value) and name not in known}
