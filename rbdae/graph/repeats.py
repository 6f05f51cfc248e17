"""What repeats in a graph: stretches of nodes that do the same with other numbers, as the bodies of a chain make them.

Nodes are compared by operation and by where their operands are: near ones by distance, so that stretches have the same
inner structure. Stretches need not begin where a body begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.graph import Graph, operands

CONST, TIME, INPUT = -1, -2, -3
"""Operands that are no nodes of the list: constants; t and c; other inputs."""

NOTHING = -4
"""No operand."""

_NEAR = 256
_WORD = 6
_HOPS = 80
_LEAST_TIMES, _LEAST_NODES = 3, 48


@final
@dataclass(frozen=True, eq=False)
class Listing:
    """Nodes in their order as arrays.

    Parameters
    ----------
    nodes : (n,) the numbers of the nodes in the graph
    operation : (n,) a number for each operation, and for what is done with the result (`marks`)
    operand : (n, 3) places of the operands in the list, or `CONST`, `TIME`, `INPUT`, `NOTHING`
    number : (n, 3) the operands' numbers in the graph
    single : (n,) whether a node must not be in a loop: calls
    """

    nodes: Ints
    operation: Ints
    operand: Ints
    number: Ints
    single: Ints


@final
@dataclass(frozen=True, slots=True)
class Stretch:
    """`times` stretches of `length` nodes that do the same, from `first` on."""

    first: int
    length: int
    times: int


def listing(graph: Graph, nodes: Sequence[int], marks: dict[int, int]) -> Listing:
    """The nodes of a list that contains all operands but leaves; `marks` are numbers that tell nodes apart."""
    place = {k: i for i, k in enumerate(nodes)}
    kinds: dict[tuple[str, int], int] = {}
    n = len(nodes)
    operation = np.empty(n, dtype=np.int64)
    operand = np.full((n, 3), NOTHING, dtype=np.int64)
    number = np.full((n, 3), -1, dtype=np.int64)
    single = np.zeros(n, dtype=bool)
    leaves = {"const": CONST, "input": INPUT}
    for i, k in enumerate(nodes):
        node = graph.nodes[k]
        operation[i] = kinds.setdefault((node[0], marks.get(k, 0)), len(kinds))
        if node[0] in ("call", "result"):
            single[i] = True
            continue
        for j, other in enumerate(operands(node)):
            where = place.get(other)
            if where is None:
                leaf = graph.nodes[other]
                where = TIME if leaf[0] == "input" and leaf[1] in ("t", "c") else leaves[leaf[0]]
            operand[i, j], number[i, j] = where, other
    return Listing(np.asarray(nodes), operation, operand, number, single)


def stretches(found: Listing) -> list[Stretch]:
    """The list cut into stretches; what does not repeat has `times` = 1."""
    n = len(found.nodes)
    word = _words(found)
    following = _following(word)
    letters = _letters(found)
    out: list[Stretch] = []
    begin = i = 0
    while i < n:
        best = _best(letters, following, i)
        if best is None:
            i += 1
            continue
        exact = _exact(found, best)
        if exact is None:
            i += 1
            continue
        if i > begin:
            out.append(Stretch(begin, i - begin, 1))
        out.append(exact)
        begin = i = exact.first + exact.length * exact.times
    if n > begin:
        out.append(Stretch(begin, n - begin, 1))
    return out


def _letters(found: Listing) -> Ints:
    """A number for each node that is the same for nodes that look the same; one of its own where it must not repeat."""
    places = np.arange(len(found.nodes))[:, None]
    near = np.where(found.operand >= 0, np.minimum(places - found.operand, _NEAR), found.operand)
    columns = np.column_stack([found.operation, near + 8])
    weights = np.array([1, 100_003, 1_000_003**2 % (1 << 40), 998_244_353], dtype=np.int64)
    mixed = (columns * weights).sum(axis=1)
    letters = np.unique(mixed, return_inverse=True)[1]
    return np.where(found.single, len(letters) + places[:, 0], letters)


def _words(found: Listing) -> Ints:
    """A number for each place that is the same for places at which the same few letters follow."""
    letters = _letters(found).astype(np.uint64)
    out = np.zeros(len(letters), dtype=np.uint64)
    for k in range(_WORD):
        shifted, rest = np.zeros_like(letters), letters[k:]
        shifted[: len(rest)] = rest
        out = out * np.uint64(1_000_003) + shifted
    return out.view(np.int64)


def _following(words: Ints) -> Ints:
    """The next place with the same word; -1 for none."""
    order = np.argsort(words, kind="stable")
    out = np.full(len(words), -1, dtype=np.int64)
    same = words[order[:-1]] == words[order[1:]]
    out[order[:-1][same]] = order[1:][same]
    return out


def _best(letters: Ints, following: Ints, i: int) -> Stretch | None:
    """The repetition from place i on that covers most."""
    best, covered, j = None, 0, i
    for _ in range(_HOPS):
        j = int(following[j])
        if j < 0:
            break
        length = j - i
        if length * _LEAST_TIMES + i > len(letters):
            break
        if covered and length > covered:
            break
        twice = (_LEAST_TIMES - 1) * length
        if (letters[i : i + twice] != letters[j : j + twice]).any():
            continue
        different = np.flatnonzero(letters[i : len(letters) - length] != letters[j:])
        agreed = int(different[0]) if len(different) else len(letters) - j
        times = agreed // length + 1
        enough = times >= _LEAST_TIMES and times * length >= _LEAST_NODES
        if enough and times * length > covered:
            best, covered = Stretch(i, length, times), times * length
    return best


def _exact(found: Listing, stretch: Stretch) -> Stretch | None:
    """As many of the stretches as do the same to the letter: the same operations, and the same operands inside."""
    s, p, r = stretch.first, stretch.length, stretch.times
    operation = found.operation[s : s + p * r].reshape(r, p)
    operand = found.operand[s : s + p * r].reshape(r, p, 3)
    start = (s + p * np.arange(r))[:, None, None]
    inside = operand >= start
    offset = np.where(inside, operand - start, np.where(operand < 0, operand, NOTHING - 1))
    same = (operation == operation[0]).all(axis=1) & (offset == offset[0]).all(axis=(1, 2))
    times = r if same.all() else int(np.argmin(same))
    if times < _LEAST_TIMES or times * p < _LEAST_NODES:
        return None
    return Stretch(s, p, times)


__all__ = ["CONST", "INPUT", "NOTHING", "TIME", "Listing", "Stretch", "listing", "stretches"]
