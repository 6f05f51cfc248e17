"""A long graph as machine code: pieces of straight code, one function each, as elements of which there is one.

Values that later pieces read go through the work vector. LLVM's passes take longer than in proportion to the length of
a function, and with the square of the number of its stores; code in pieces runs as long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rbdae.graph.graph import LEAVES, Graph, operands
from rbdae.graph.loaded import Loaded, LoadedNumbers
from rbdae.machine.data import Table
from rbdae.machine.elements import Elements, Kind, Place, Result, Run
from rbdae.machine.straight import LONGEST

_PIECE = 1000
"""Nodes of one piece."""

MOST_STORES = 700
"""Results of one function."""


def is_long(needed: Sequence[int], outputs: Sequence[int]) -> bool:
    """Whether a graph is too long for one function."""
    return len(needed) > LONGEST or len(outputs) > MOST_STORES


def in_pieces(
    graph: Graph,
    needed: Sequence[int],
    outputs: Sequence[int],
    guards: Mapping[int, bool],
    loaded: LoadedNumbers | None,
) -> Elements:
    """The elements that compute the nodes `needed`, give the `outputs` in their order, and rely on the conditions
    `guards` to fall as they should. `loaded` are the constants that are loaded, if there are any."""
    given: dict[int, list[int]] = {}
    for i, k in enumerate(outputs):
        given.setdefault(k, []).append(i)
    pieces = _cut(graph, needed, given)
    piece_of = {k: p for p, piece in enumerate(pieces) for k in piece if graph.nodes[k][0] not in LEAVES}
    read = [_read(graph, piece, p, piece_of) for p, piece in enumerate(pieces)]
    numbers, kept = Table(), Table()
    elsewhere = {k for own in read for k in own if k in piece_of}

    def places(nodes: Sequence[int]) -> dict[int, Place]:
        """Where leaves, and values that other pieces read, are; numbers in the text are nowhere."""
        found: dict[int, Place] = {}
        for k in nodes:
            kind, *rest = graph.nodes[k]
            if k in elsewhere:
                found[k] = Place("work", "kept", np.array([kept.place(k)]))
            elif kind == "const" and isinstance(rest[0], Loaded):
                found[k] = Place("numbers", "numbers", np.array([numbers.place(rest[0])]))
            elif kind == "input" and rest[0] not in ("t", "c"):
                found[k] = Place(rest[0], "", np.array([rest[1]]))
        return found

    kinds = list[Kind]()
    for piece, own in zip(pieces, read, strict=True):
        results = [Result(k, Place("out", "", np.array([i]))) for k, at in piece.items() for i in at]
        results += [Result(k, place) for k, place in places([k for k in piece if k in elsewhere]).items()]
        order = [*own, *(k for k in piece if k in piece_of)]
        kinds.append(Kind(graph, order, 1, places(own), results, {k: guards[k] for k in piece if k in guards}))
    runs = [Run(k, 0, 1) for k in range(len(kinds))]
    tape = (loaded or LoadedNumbers(np.zeros(0))).tape(numbers.entries)
    return Elements(kinds, runs, (0, 0), len(kept.entries), tape)


Piece = dict[int, list[int]]
"""What one function computes or copies, and the places of the results that it is."""


def _cut(graph: Graph, needed: Sequence[int], given: Piece) -> list[Piece]:
    """The pieces, then leaves that are results. The results of a call stay with it."""
    pieces, stores = [Piece()], 0
    items = [(k, given.get(k, [])) for k in needed if graph.nodes[k][0] not in LEAVES]
    items += [(k, [i]) for k in given if graph.nodes[k][0] in LEAVES for i in given[k]]
    for k, places in items:
        full = len(pieces[-1]) >= _PIECE or stores + len(places) > MOST_STORES
        if full and graph.nodes[k][0] != "result":
            pieces.append({})
            stores = 0
        pieces[-1].setdefault(k, []).extend(places)
        stores += len(places)
    return pieces


def _read(graph: Graph, piece: Piece, number: int, piece_of: Mapping[int, int]) -> list[int]:
    """The leaves of a piece, and the values that it reads from pieces before."""
    read = [k for k in piece if k not in piece_of]
    read += (j for k in piece for j in operands(graph.nodes[k]) if piece_of.get(j) != number)
    return list(dict.fromkeys(read))
