"""Sums that have the same products, of one body and of another: they are computed together, two numbers at a time.

Which unknowns correspond is given: those of two bodies. Then sums correspond whose products do, with whatever
constants, and what is computed from them. A sum that contains such products of both bodies, as the rows of their joint
do, is that of the first, that of the second, and the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from rbdae.graph.graph import Graph
from rbdae.graph.sums import Product, Sum
from rbdae.graph.twos import Constant, Two, both

ALIKE = frozenset({"rcp", "sqrt"})
"""Functions that are computed for two numbers in the time of one."""

_LEAST_TERMS = 2
"""Terms of each body from which a sum is parted."""


@final
@dataclass(slots=True, eq=False)
class Correspondence:
    """The pairs of numbers that are computed together.

    Attributes
    ----------
    partner : dict
        Of each such number the other one, both ways.
    lane : dict
        0 or 1, the place of each.
    single : dict
        The sums that are computed alone.
    together : dict
        Those that are computed together, by the number of the first: with its products, and the constants of both.
    """

    partner: dict[int, int]
    lane: dict[int, int]
    single: dict[int, Sum]
    together: dict[int, Sum] = field(default_factory=dict)

    def image(self, product: Product) -> Product:
        """The corresponding product."""
        return tuple(sorted(self.partner.get(a, a) for a in product))

    def join(self, first: int, second: int) -> None:
        """Two numbers correspond."""
        self.partner[first], self.partner[second] = second, first
        self.lane[first], self.lane[second] = 0, 1

    def leaning(self, product: Product) -> int:
        """How many factors are at the first place, less those at the second."""
        return sum(1 - 2 * self.lane[a] for a in product if a in self.lane)

    def pure(self, product: Product) -> bool:
        """Whether all factors that correspond to others are at the first place."""
        return all(not self.lane.get(a, 0) for a in product) and any(a in self.lane for a in product)


def corresponding(
    graph: Graph, sums: Mapping[int, Sum], outputs: Sequence[int], unknowns: Mapping[int, int], first: int
) -> Correspondence:
    """Find the sums that correspond. `unknowns` are nodes of inputs, each with its partner; `first` is the number from
    which new ones are free."""
    out = Correspondence({}, {}, dict(sums))
    for one, another in unknowns.items():
        out.join(one, another)
    waiting: dict[object, list[int]] = defaultdict(list)
    needed = [k for k in graph.needed(outputs) if k in sums or graph.nodes[k][0] in ALIKE]
    for k in needed:
        waiting[frozenset(sums[k]) if k in sums else graph.nodes[k]].append(k)
    visited: set[int] = set()
    for k in needed:
        visited.add(k)
        if k in out.partner:
            continue
        # a partner comes later, so that what both need has been visited and no circle can be
        other = next(
            (j for j in waiting.get(_image(out, k, graph), ()) if j not in visited and j not in out.partner), None
        )
        if k not in sums:
            if other is not None:
                out.join(k, other)
        elif any(a in out.lane for p in sums[k] for a in p):
            if other is not None:
                _join_sums(out, k, other)
            elif _parted(out, k, first):
                first += 2
    return out


def _image(found: Correspondence, k: int, graph: Graph) -> object:
    """The content of the corresponding number."""
    if k in found.single:
        return frozenset(found.image(p) for p in found.single[k])
    kind, a = graph.nodes[k]
    return kind, found.partner.get(a, a)


def _join_sums(found: Correspondence, k: int, other: int) -> None:
    """Two sums, the one that is more of first places first."""
    if sum(found.leaning(p) for p in found.single[k]) < 0:
        k, other = other, k
    mine, others = found.single.pop(k), found.single.pop(other)
    found.join(k, other)
    found.together[k] = {p: _two(c, others[found.image(p)]) for p, c in mine.items()}


def _parted(found: Correspondence, k: int, new: int) -> bool:
    """Take the terms out of a sum that correspond to others of it, as two new sums, if there are enough."""
    whole = found.single[k]
    terms = [p for p in whole if len(p) > 1 and found.pure(p) and found.image(p) in whole]
    if len(terms) < _LEAST_TERMS:
        return False
    images = [found.image(p) for p in terms]
    one = 1.0 if whole[terms[0]] > 0.0 else -1.0
    two = 1.0 if whole[images[0]] > 0.0 else -1.0
    found.together[new] = {p: _two(one * whole[p], two * whole[q]) for p, q in zip(terms, images, strict=True)}
    found.join(new, new + 1)
    gone = {*terms, *images}
    found.single[k] = {p: c for p, c in whole.items() if p not in gone} | {(new,): one, (new + 1,): two}
    return True


def _two(first: Constant, second: Constant) -> Two:
    """Constants of sums that were single."""
    return Two(both(first)[0], both(second)[0])
