"""Sums with the same products for two bodies are computed together, two numbers at a time.

The correspondence of the two bodies' unknowns is given. Sums correspond if their products do, with any constants, and
so do results computed from them. A sum with such products of both bodies, such as a row of their joint, is split into a
sum of the first, a sum of the second, and the rest.
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
"""Functions computed for two numbers in the time of one."""

_LEAST_TERMS = 2
"""Least number of terms of each body for which a sum is split."""


@final
@dataclass(slots=True, eq=False)
class Correspondence:
    """The pairs of numbers that are computed together.

    Attributes
    ----------
    partner : dict
        The partner of each number, both ways.
    lane : dict
        The place of each, 0 or 1.
    single : dict
        Sums computed individually.
    together : dict
        Sums computed together, by the number of the first: its products, with the constants of both.
    """

    partner: dict[int, int]
    lane: dict[int, int]
    single: dict[int, Sum]
    together: dict[int, Sum] = field(default_factory=dict)

    def image(self, product: Product) -> Product:
        """The corresponding product."""
        return tuple(sorted(self.partner.get(a, a) for a in product))

    def join(self, first: int, second: int) -> None:
        """Let two numbers correspond."""
        self.partner[first], self.partner[second] = second, first
        self.lane[first], self.lane[second] = 0, 1

    def pure(self, product: Product) -> bool:
        """Whether all factors with a partner are at the first place."""
        return all(not self.lane.get(a, 0) for a in product) and any(a in self.lane for a in product)


def corresponding(
    graph: Graph, sums: Mapping[int, Sum], outputs: Sequence[int], unknowns: Mapping[int, int], first: int
) -> Correspondence:
    """Find corresponding sums. `unknowns` maps input nodes to their partners; new numbers begin at `first`."""
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
        # a partner comes later, so that operands of both have been visited and no cycle can arise
        partner = next(
            (j for j in waiting.get(_image(out, k, graph), ()) if j not in visited and j not in out.partner), None
        )
        if k not in sums:
            if partner is not None:
                out.join(k, partner)
        elif any(a in out.lane for p in sums[k] for a in p):
            if partner is not None:
                _join_sums(out, k, partner)
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
    """Join two sums, the one leaning more to first places first."""
    lane = found.lane
    if sum(1 - 2 * lane[a] for p in found.single[k] for a in p if a in lane) < 0:
        k, other = other, k
    mine, others = found.single.pop(k), found.single.pop(other)
    found.join(k, other)
    found.together[k] = {p: _two(c, others[found.image(p)]) for p, c in mine.items()}


def _parted(found: Correspondence, k: int, new: int) -> bool:
    """Split corresponding terms off a sum as two new sums, if there are enough."""
    whole = found.single[k]
    terms = [p for p in whole if len(p) > 1 and found.pure(p) and found.image(p) in whole]
    if len(terms) < _LEAST_TERMS:
        return False
    images = [found.image(p) for p in terms]
    sign = 1.0 if whole[terms[0]] > 0.0 else -1.0
    two = 1.0 if whole[images[0]] > 0.0 else -1.0
    found.together[new] = {p: _two(sign * whole[p], two * whole[q]) for p, q in zip(terms, images, strict=True)}
    found.join(new, new + 1)
    gone = {*terms, *images}
    found.single[k] = {p: c for p, c in whole.items() if p not in gone} | {(new,): sign, (new + 1,): two}
    return True


def _two(first: Constant, second: Constant) -> Two:
    return Two(both(first)[0], both(second)[0])
