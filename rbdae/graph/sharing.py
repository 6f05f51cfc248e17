"""Takes out of sums of products what they have in common, until nothing more is saved: each time what saves most."""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import final

from rbdae.graph.divisors import Divisor, gains, merged
from rbdae.graph.sums import Product, Sum
from rbdae.graph.twos import Constant


def shared(sums: dict[int, Sum], first: int) -> dict[int, Sum]:
    """The same sums, written with new factors, which are sums with numbers from `first` on."""
    sharing = _Sharing(sums, first)
    sharing.run()
    return sharing.sums


@final
class _Sharing:
    """The sums, which of them have which divisors, and what those save."""

    def __init__(self, sums: dict[int, Sum], first: int) -> None:
        self.sums = {k: dict(found) for k, found in sums.items()}
        self._first = self._next = first
        self._gains: dict[int, dict[Divisor, int]] = {}
        self._total: dict[Divisor, int] = {}
        self._where: dict[Divisor, set[int]] = defaultdict(set)
        self._queue: list[tuple[int, int, Divisor]] = []
        self._entered = 0

    def run(self) -> None:
        """Take out divisors until none saves anything."""
        for k in self.sums:
            self._look_at(k)
        for divisor in list(self._where):
            self._enter(divisor)
        while self._queue:
            saved, _, divisor = heapq.heappop(self._queue)
            now = self._saved(divisor)
            if now == -saved:
                self._take_out(divisor)
            elif now > 0:
                self._enter(divisor)

    def _enter(self, divisor: Divisor) -> None:
        saved = self._saved(divisor)
        if saved > 0:
            self._entered += 1  # equal ones in the order in which they came, so that the result is always the same
            heapq.heappush(self._queue, (-saved, self._entered, divisor))

    def _saved(self, divisor: Divisor) -> int:
        """Operations less, if a divisor is taken out wherever it is."""
        return self._total[divisor] - divisor.cost()

    def _look_at(self, k: int) -> list[Divisor]:
        """Note the divisors of a sum. Returns those that are new in it."""
        total, where = self._total, self._where
        before, now = self._gains.get(k, {}), gains(self.sums[k], self._first)
        self._gains[k] = now
        for divisor, gain in before.items():
            total[divisor] -= gain
            if divisor not in now:
                where[divisor].discard(k)
        new = []
        for divisor, gain in now.items():
            total[divisor] = total.get(divisor, 0) + gain
            if divisor not in before:
                where[divisor].add(k)
                new.append(divisor)
        return new

    def _take_out(self, divisor: Divisor) -> None:
        """Make a new factor of a divisor."""
        new, self._next = self._next, self._next + 1
        touched = sorted(self._where[divisor])
        made: Sum = {}
        for k in touched:
            found = self.sums[k]
            for place in divisor.places(found):
                made = made or divisor.made(place, found)
                term = merged(place.rest, (new,))
                self.sums[k] = _replaced(self.sums[k], place.terms, term, divisor.constant(place))
        self.sums[new] = made
        for other in dict.fromkeys(d for k in (*touched, new) for d in self._look_at(k)):
            self._enter(other)


def _replaced(found: Sum, gone: tuple[Product, ...], new: Product, c: Constant) -> Sum:
    """A sum with another term in place of the first of some."""
    out: Sum = {}
    for p, d in found.items():
        if p == gone[0]:
            out[new] = out.get(new, 0.0) + c
        elif p not in gone:
            out[p] = out.get(p, 0.0) + d
    return out
