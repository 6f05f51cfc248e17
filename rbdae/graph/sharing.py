"""Extraction of common parts from sums of products, always the one that saves most, until nothing more is saved.

Constants are compared exactly: two that differ in the last digit are different. Two kinds of divisors are extracted:

* `TwoTerms`:  c g p + c r g q  =  c g (p + r q),  with p + r q as a new factor,
* `OneTerm`:  a b, or c a, as a new factor.

The first are the double-cube divisors, a b the single-cube divisors of Rajski and Vasudevamurthy (IEEE Trans.
CAD 11, 1992) for logic functions.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import NamedTuple, TypeAlias, final

from rbdae.graph.sums import Product, Sum, multiplications
from rbdae.graph.twos import Constant, is_finite, is_one, size

_LONGEST = 40
"""Longest sum in which pairs of terms are examined."""


class Place(NamedTuple):
    """The place of a divisor in a sum: the terms that it replaces, their rest, and their constant."""

    terms: tuple[Product, ...]
    rest: Product
    constant: Constant


class TwoTerms(NamedTuple):
    """p + r q. Without a rest both must be products, or factors from `first` on: the order of additions of single
    numbers of the original graph, such as positions, is kept."""

    p: Product
    q: Product
    ratio: Constant
    first: int

    def places(self, found: Sum) -> list[Place]:
        """Its places in a sum, without overlap."""
        out: list[Place] = []
        taken: set[Product] = set()
        for p, c in found.items():
            rest = None if p in taken else without(p, self.p)
            if rest is None or not (rest or may_pair(self.p, self.q, self.first)):
                continue
            q = merged(rest, self.q)
            if q != p and q not in taken and q in found and found[q] / c == self.ratio:
                taken |= {p, q}
                out.append(Place((p, q), rest, c))
        return out

    def cost(self) -> int:
        """Operations that it costs."""
        begins = len(self.p) == 1 or (len(self.q) == 1 and is_one(self.ratio))
        return multiplications(len(self.p), 1.0) + multiplications(len(self.q), self.ratio) - begins

    def saved(self, place: Place, found: Sum) -> int:
        """Operations saved at a place."""
        before = sum(multiplications(len(p), found[p]) for p in place.terms)
        return before - multiplications(len(place.rest) + 1, place.constant)

    def made(self, place: Place, found: Sum) -> Sum:
        """The divisor as a sum, with its constants at a place."""
        return {self.p: 1.0, self.q: found[place.terms[1]] / place.constant}

    def constant(self, place: Place) -> Constant:
        """The constant of the replacing term."""
        return place.constant


class OneTerm(NamedTuple):
    """a b, or c a for a positive number c, in terms with more factors."""

    c: Constant
    factors: Product

    def _rest(self, p: Product, c: Constant) -> Product | None:
        """The rest of a term; None if it does not contain this divisor."""
        several = len(self.factors) > 1
        there = _is_long(p, c) if several else _has_constant(p, c) and size(c) == self.c
        return without(p, self.factors) if there else None

    def places(self, found: Sum) -> list[Place]:
        """Its places in a sum."""
        rests = ((p, self._rest(p, c), c) for p, c in found.items())
        return [Place((p,), rest, c) for p, rest, c in rests if rest is not None]

    def cost(self) -> int:
        """It costs one operation."""
        return 1

    def saved(self, place: Place, found: Sum) -> int:
        """It saves one at each place."""
        return 1

    def made(self, place: Place, found: Sum) -> Sum:
        """The divisor as a sum."""
        return {self.factors: 1.0 if len(self.factors) > 1 else size(place.constant)}

    def constant(self, place: Place) -> Constant:
        """The constant of the replacing term."""
        if len(self.factors) > 1:
            return place.constant
        return 1.0 if place.constant > 0.0 else -1.0


Divisor: TypeAlias = TwoTerms | OneTerm


def gains(found: Sum, first: int) -> dict[Divisor, int]:
    """The divisors of a sum, with the operations saved at all their places in it, without their own cost; factors from
    `first` on are extracted sums."""
    out: dict[Divisor, int] = {}
    terms = [(p, c, multiplications(len(p), c)) for p, c in found.items()]
    for p, c, _ in terms:
        if _has_constant(p, c):
            for a in dict.fromkeys(p):
                multiple = OneTerm(size(c), (a,))
                out[multiple] = out.get(multiple, 0) + 1
        if _is_long(p, c):
            for a, b in dict.fromkeys((a, b) for i, b in enumerate(p) for a in p[:i]):
                factors = OneTerm(1.0, (a, b))
                out[factors] = out.get(factors, 0) + 1
    if len(terms) > _LONGEST:
        return out
    several = set()  # their places may overlap
    for i, (p, c, cost) in enumerate(terms):
        for q, d, other in terms[:i]:
            rest, u, v = _parted(p, q)
            if not u or not v or not (rest or may_pair(u, v, first)):
                continue
            swapped = (len(u), u) > (len(v), v)
            ratio = c / d if swapped else d / c
            if not is_finite(ratio):  # a sum of numbers of the model that happens to vanish
                continue
            divisor = TwoTerms(v, u, ratio, first) if swapped else TwoTerms(u, v, ratio, first)
            if divisor in out:
                several.add(divisor)
                continue
            out[divisor] = cost + other - multiplications(len(rest) + 1, d if swapped else c)
    for divisor in several:
        out[divisor] = sum(divisor.saved(place, found) for place in divisor.places(found))
    return out


def may_pair(p: Product, q: Product, first: int) -> bool:
    """Whether two terms without a common factor may be added first."""
    return not ((len(p) == 1 and p[0] < first) or (len(q) == 1 and q[0] < first))


def _has_constant(p: Product, c: Constant) -> bool:
    return len(p) > 1 and not is_one(c)


def _is_long(p: Product, c: Constant) -> bool:
    """Whether a term has more than one multiplication, or one that is not fused with an addition."""
    return len(p) > 2 or _has_constant(p, c)


def without(product: Product, factors: Product) -> Product | None:
    """The rest of a product; None if it does not have these factors."""
    for a in factors:
        if a not in product:
            return None
        k = product.index(a)
        product = product[:k] + product[k + 1 :]
    return product


def merged(p: Product, q: Product) -> Product:
    """The product of both."""
    return tuple(sorted(p + q))


def _parted(p: Product, q: Product) -> tuple[Product, Product, Product]:
    """The common factors, and the rest of each."""
    for a in p:
        if a in q:
            break
    else:
        return (), p, q
    left, common, rest = list(q), [], []
    for a in p:
        if a in left:
            left.remove(a)
            common.append(a)
        else:
            rest.append(a)
    return tuple(common), tuple(rest), tuple(left)


def shared(sums: dict[int, Sum], first: int) -> dict[int, Sum]:
    """The same sums in terms of new factors, which are sums with numbers from `first` on."""
    return _Sharing(sums, first).run()


@final
class _Sharing:
    """The sums, their divisors, and the savings of these."""

    def __init__(self, sums: dict[int, Sum], first: int) -> None:
        self.sums = {k: dict(found) for k, found in sums.items()}
        self._first = self._next = first
        self._gains: dict[int, dict[Divisor, int]] = {}
        self._total: dict[Divisor, int] = {}
        self._where: dict[Divisor, set[int]] = defaultdict(set)
        self._queue: list[tuple[int, int, Divisor]] = []
        self._entered = 0

    def run(self) -> dict[int, Sum]:
        """Take out divisors until no divisor saves operations."""
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
        return self.sums

    def _enter(self, divisor: Divisor) -> None:
        saved = self._saved(divisor)
        if saved > 0:
            self._entered += 1  # ties are broken by order of entry, for reproducible results
            heapq.heappush(self._queue, (-saved, self._entered, divisor))

    def _saved(self, divisor: Divisor) -> int:
        return self._total[divisor] - divisor.cost()

    def _look_at(self, k: int) -> list[Divisor]:
        """Note the divisors of a sum; returns its new ones."""
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
        new, self._next = self._next, self._next + 1
        touched = sorted(self._where[divisor])
        factor: Sum = {}
        for k in touched:
            terms = self.sums[k]
            for place in divisor.places(terms):
                factor = factor or divisor.made(place, terms)
                term = merged(place.rest, (new,))
                self.sums[k] = _replaced(self.sums[k], place.terms, term, divisor.constant(place))
        self.sums[new] = factor
        for changed in dict.fromkeys(d for k in (*touched, new) for d in self._look_at(k)):
            self._enter(changed)


def _replaced(found: Sum, gone: tuple[Product, ...], new: Product, c: Constant) -> Sum:
    """A sum with a new term in place of the first of the replaced ones."""
    out: Sum = {}
    for p, d in found.items():
        if p == gone[0]:
            out[new] = out.get(new, 0.0) + c
        elif p not in gone:
            out[p] = out.get(p, 0.0) + d
    return out
