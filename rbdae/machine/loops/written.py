"""The functions of a one-step method, written from its tableau.

They are text in the part of Python that `rbdae.machine.language` translates, as one would write them by hand: a sum
without zeros for each stage, with names for the coefficients. `print(METHODS["dopri5"].text)` shows them.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any, final

from rbdae.machine.language.words import each
from rbdae.machine.loops import memory
from rbdae.machine.loops.control import rates, total
from rbdae.machine.loops.tableau import Row, Stages, Tableau

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
        end = "return DONE" if self._of.ends_in_attempts else self._rates_at_the_end()
        return self._function("complete", _CALLBACK, "int", [end])

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
        body = ["rest = 1.0 - theta", "for i in range(s.n):", f"    out[i] = y[i] + theta * ({inner})"]
        return self._function("interpolate", "s: StepMemory, theta: float, out: Vec", "None", body)


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
