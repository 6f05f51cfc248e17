"""Factors of dF/dy + c dF/dyd for one problem: two C functions, one for the factors, one that solves with them.

Pivots are chosen on numbers (`rbdae.graph.pivots`), near the start and at several sizes of c, and stay: `Factors` is
the same for every run of a problem. The pattern is that of the structure. Where pivots do not serve, the function of
the factors says so, and `Factors.again` makes others for the state where that was, for the run that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Ints, Vec, address_of
from rbdae.graph.elimination import LARGEST
from rbdae.graph.pivots import Place, Plan, plan
from rbdae.machine.entries import loads
from rbdae.machine.function import MachineFunction
from rbdae.machine.language.program import Program, module_of, symbol
from rbdae.machine.loops import elimination as at
from rbdae.machine.module import Module
from rbdae.machine.straight import real

PIVOTS = 2
"""What the function of the factors says where pivots do not serve."""

_SIZES = (10.0, 1e4)
"""Of c, times the largest relative rate at the start."""

_TEXT = f"""
define i32 @factors(ptr %context, double %t, ptr %y, ptr %yd, double %c, ptr %out) nounwind {{
{loads("context", f=0, x=1, head=2, steps=3)}  %mp = getelementptr i64, ptr %head, i64 {at.MATRIX}
  %m = load i64, ptr %mp
  %matrix = getelementptr double, ptr %out, i64 %m
  %s = call i32 %f(ptr %x, double %t, ptr %y, ptr %yd, double %c, ptr %matrix)
  %bad = icmp ne i32 %s, 0
  br i1 %bad, label %raised, label %go
raised:
  ret i32 1
go:
  %r = call i64 @{symbol(at.factorise)}(ptr %head, ptr %steps, ptr %out, double {real(LARGEST**2)})
  %small = icmp ne i64 %r, 0
  %word = select i1 %small, i32 {PIVOTS}, i32 0
  ret i32 %word
}}

define i32 @guarded(ptr %context, double %t, ptr %y, ptr %yd, double %c, ptr %out) nounwind {{
{loads("context", f=0, x=1)}  %s = call i32 %f(ptr %x, double %t, ptr %y, ptr %yd, double %c, ptr %out)
  %bad = icmp ne i32 %s, 0
  %word = select i1 %bad, i32 {PIVOTS}, i32 0
  ret i32 %word
}}

define i32 @solve(ptr %context, double %t, ptr %factors, ptr %b, double %c, ptr %x) nounwind {{
{loads("context", head=2, forth=4, back=5)}  %wp = getelementptr i64, ptr %head, i64 {at.FREE}
  %w = load i64, ptr %wp
  %work = getelementptr double, ptr %factors, i64 %w
  call void @{symbol(at.substitute)}(ptr %head, ptr %forth, ptr %back, ptr %factors, ptr %b, ptr %work, ptr %x)
  ret i32 0
}}
"""


@cache
def _code() -> Module:
    return module_of(Program((at.factorise, at.substitute)), more=_TEXT)


class NoFactors(ValueError):
    """A problem has no factors of its own; the message says why."""


class NotFinite(ArithmeticError):
    """The Jacobian is not finite at a state."""


Places = tuple[Place, ...]
Fill = Callable[[float, Vec, Vec, float, Vec], None]


class Tables(NamedTuple):
    """A plan, and its streams of numbers: see `rbdae.machine.loops.elimination`."""

    order: Plan
    head: Ints
    steps: Ints
    forth: Ints
    back: Ints
    places: tuple[int, ...]  # addresses of these arrays


class BoundFactors(NamedTuple):
    """Code of a model for one selection: the two functions, of which the first returns 1 where a guard does not hold,
    how many numbers go from one to the other, and the pivots."""

    functions: tuple[MachineFunction, MachineFunction]
    size: int
    order: Plan


@final
class Factors:
    """The two functions.

    Parameters
    ----------
    n : unknowns
    rows, columns : the places of the entries
    jacobian : gives the machine function that fills the data at these places
    fill : the same for Python
    start : (t, y, yd), near which pivots are chosen
    known : code of the model, or tables, where they are known

    Attributes
    ----------
    factors : ``f(context, t, y, yd, c, out)`` fills `out` (size,); it returns 0, 1 where the Jacobian has failed, and
        `PIVOTS` where pivots have to be chosen again
    solve : ``f(context, 0, factors, b, 0, x)`` solves with them; the end of `factors` is its memory
    size : of the memory of the factors
    recorded : whether they are code of the model, else loops over tables
    """

    def __init__(
        self,
        n: int,
        rows: Ints,
        columns: Ints,
        jacobian: Callable[[], Any],
        fill: Fill,
        start: tuple[float, Vec, Vec],
        known: BoundFactors | Tables | None = None,
    ) -> None:
        self.n = n
        self._jacobian, self._fill = jacobian, fill
        self._pattern = rows, columns
        self._start = start
        if known is None:
            known = _planned(n, self._places, self.samples())
        if isinstance(known, Tables):
            self._bind(known)
        else:
            self._code(known)

    @cached_property
    def _places(self) -> Places:
        rows, columns = self._pattern
        return tuple(zip(rows.tolist(), columns.tolist(), strict=True))

    def samples(self) -> list[Vec]:
        """The entries at the start, whose zeros must be no pivots, and beside it, where others may not be zero."""
        t, y, yd = self._start
        rng = np.random.default_rng(5)
        rate = max(1.0, float(np.max(np.abs(yd) / (1.0 + np.abs(y)), initial=0.0)))
        samples = [self._sample(t, y, yd, _SIZES[-1] * rate)]
        for size in _SIZES:
            beside = y + 1e-2 * rng.standard_normal(self.n), yd + rng.standard_normal(self.n)
            samples.append(self._sample(t, *beside, size * rate))
        return samples

    def _code(self, found: BoundFactors) -> None:
        self.order, self.size = found.order, found.size
        factors, self.solve = found.functions
        code = _code()
        context = np.array([factors.address, factors.context], dtype=np.int64)
        self.factors = MachineFunction(code["guarded"], address_of(context), (code, factors, context), [])
        self.recorded = True

    def _sample(self, t: float, y: Vec, yd: Vec, c: float) -> Vec:
        data = np.empty(len(self._pattern[0]))
        self._fill(t, y, yd, c, data)
        if not np.isfinite(data).all():
            raise NotFinite("the Jacobian is not finite")
        return data

    def again(self, t: float, y: Vec, yd: Vec, c: float) -> Factors:
        """Factors with pivots for this state.

        Raises
        ------
        ArithmeticError
            if the matrix is singular there, or not finite
        """
        found = _planned(self.n, self._places, [self._sample(t, y, yd, c)])
        out = copy(self)
        out._bind(found)
        return out

    def _bind(self, found: Tables) -> None:
        self.order, self.recorded, jacobian = found.order, False, self._jacobian()
        self.size = int(found.head[at.FREE]) + self.n
        code = _code()
        context = np.array([jacobian.address, jacobian.context, *found.places], dtype=np.int64)
        owner = (code, found, jacobian, context)
        errors: list[BaseException] = getattr(jacobian, "errors", [])
        place = address_of(context)
        self.factors = MachineFunction(code["factors"], place, owner, errors)
        self.solve = MachineFunction(code["solve"], place, owner, [])


def _planned(n: int, places: Places, samples: Sequence[Vec]) -> Tables:
    """The tables of the plan for some samples; a run that is repeated finds those of its repairs."""
    return _by_bits(n, places, tuple(sample.tobytes() for sample in samples))


@lru_cache(maxsize=32)
def _by_bits(n: int, places: Places, samples: tuple[bytes, ...]) -> Tables:
    values = [np.frombuffer(sample).tolist() for sample in samples]
    return tables(n, places, plan(n, [dict(zip(places, each, strict=True)) for each in values]))


def tables(n: int, places: Sequence[Place], order: Plan) -> Tables:
    """The tables of a plan."""
    slot = {place: k for k, place in enumerate(places)}
    steps: list[int] = []
    forth: list[int] = []
    back: list[int] = []
    lower = upper = 0
    for (i, j), below, right in zip(order.pivots, order.lower, order.upper, strict=True):
        steps += [slot[i, j], len(below), len(right)]
        steps += [slot[i, k] for k in right]
        for r in below:
            steps.append(slot[r, j])
            steps += [slot.setdefault((r, k), len(slot)) for k in right]
        forth += [i, len(below), *below]
        lower += len(below)
        upper += 1 + len(right)
    for (i, j), right in zip(reversed(order.pivots), reversed(order.upper), strict=True):
        back += [i, j, len(right), *right]
    head = np.zeros(at.HEAD, dtype=np.int64)
    first = at.FIRST + len(slot)
    head[[at.N, at.ENTRIES, at.FILLED, at.MATRIX, at.LOWER]] = n, len(places), len(slot), at.FIRST, first
    head[[at.UPPER, at.N_UPPER, at.FREE]] = first + lower, upper, first + lower + upper
    one, two, three = (np.array(stream, dtype=np.int64) for stream in (steps, forth, back))
    return Tables(order, head, one, two, three, tuple(map(address_of, (head, one, two, three))))
