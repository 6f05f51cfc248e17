"""The steps of an elimination in blocks on symbols, told apart by the sizes of the blocks alone.

Blocks have names of two words. ``own`` is the joint that is eliminated, with its block D of the matrix (the lower
triangle, row by row), the diagonal as it was at first, and its right side g; ``pair`` the block E between it and
another joint, with Y = D^-1 E; ``other`` that joint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.order import deepest_first
from rbdae.graph.symbols import Condition, Recorder
from rbdae.machine.elements import Kind, Place, Result

_LEAST = 1e-13
"""A pivot that is smaller than this fraction of what it was at first: the equations are dependent, see
`rbdae.kernels.linear.schur`."""


@final
class Block:
    """One kind of steps: named blocks of numbers on symbols, and what is made of them.

    Parameters
    ----------
    sizes : of the blocks that it reads, by names: the first word is the same for blocks whose distance is the same for
        all elements
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.recorder = Recorder({name: np.linspace(1.0, 2.0, size) for name, size in sizes.items()}, 100_000)
        self.inputs = {name: self.recorder.inputs(name) for name in sizes}
        self.results: list[tuple[str, int, int, bool]] = []
        self.guards: dict[int, bool] = {}

    def gives(self, name: str, values: Any, *, adds: bool = False) -> None:
        """Numbers of a block."""
        nodes = [self.recorder.number(value) for value in np.ravel(values)]
        self.results += [(name, i, node, adds) for i, node in enumerate(nodes)]

    def rely(self, condition: Any) -> None:
        """A condition of the call."""
        if isinstance(condition, Condition):
            self.guards[condition.node] = True

    def kind(self, places: dict[str, Ints]) -> Kind:
        """The elements; `places` has where each block begins."""
        graph = self.recorder.graph
        order = deepest_first(graph, [*self.guards, *(node for _, _, node, _ in self.results)])
        inputs = {}
        for k in order:
            if graph.nodes[k][0] == "input":
                _, name, i = graph.nodes[k]
                inputs[k] = _at(name, places[name] + i)
        results = [Result(node, _at(name, places[name] + i), adds) for name, i, node, adds in self.results]
        return Kind(graph, order, len(next(iter(places.values()))), inputs, results, self.guards)


def _at(name: str, places: Ints) -> Place:
    return Place("work", name.partition(".")[0], places)


def _lower(n: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(n) for j in range(i + 1)]


def _factors(block: Block, n: int) -> tuple[Any, list[Any]]:
    """L and the inverse pivots of D."""
    A = np.zeros((n, n), dtype=object)
    for value, (i, j) in zip(block.inputs["own.D"], _lower(n), strict=True):
        A[i, j] = value
    L, d = np.eye(n, dtype=object), list[Any]()
    for j in range(n):
        block.rely(_LEAST * block.inputs["own.start"][j] < abs(A[j, j]))
        d.append(1.0 / A[j, j])
        for i in range(j + 1, n):
            L[i, j] = A[i, j] * d[j]
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                A[i, k] = A[i, k] - L[i, j] * A[k, j]
    return L, d


def _solved(L: Any, d: Sequence[Any], x: Any) -> Any:
    """(L D L^T)^-1 x."""
    n, x = len(d), list(x)
    for i in range(n):
        for j in range(i):
            x[i] = x[i] - L[i, j] * x[j]
    x = [value * share for value, share in zip(x, d, strict=True)]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            x[i] = x[i] - L[j, i] * x[j]
    return np.array(x, dtype=object)


def last(n: int) -> Block:
    """The last joint of a component: la."""
    block = Block({"own.D": n * (n + 1) // 2, "own.start": n, "own.g": n})
    L, d = _factors(block, n)
    block.gives("own.g", _solved(L, d, block.inputs["own.g"]))
    return block


def into_one(n: int, m: int) -> Block:
    """A joint with one neighbour."""
    block = Block({"own.D": n * (n + 1) // 2, "own.start": n, "own.g": n, "pair.E": n * m})
    L, d = _factors(block, n)
    E = block.inputs["pair.E"].reshape(n, m)
    z, Y = _solved(L, d, block.inputs["own.g"]), np.column_stack([_solved(L, d, E[:, j]) for j in range(m)])
    block.gives("own.g", z)
    block.gives("pair.Y", Y)
    block.gives("other.D", [-(E[:, i] @ Y[:, j]) for i, j in _lower(m)], adds=True)
    block.gives("other.g", -(E.T @ z), adds=True)
    return block


def factor(n: int) -> Block:
    """A joint with several neighbours: L and inverse pivots in place of D, z = D^-1 g."""
    block = Block({"own.D": n * (n + 1) // 2, "own.start": n, "own.g": n})
    L, d = _factors(block, n)
    block.gives("own.D", [d[i] if i == j else L[i, j] for i, j in _lower(n)])
    block.gives("own.g", _solved(L, d, block.inputs["own.g"]))
    return block


def neighbour(n: int, m: int) -> Block:
    """Such a joint, and one of its neighbours: Y = D^-1 E, and the neighbour's D and g."""
    block = Block({"own.D": n * (n + 1) // 2, "own.g": n, "pair.E": n * m})
    L, d = np.eye(n, dtype=object), list[Any]([0.0] * n)
    for value, (i, j) in zip(block.inputs["own.D"], _lower(n), strict=True):
        if i == j:
            d[i] = value
        else:
            L[i, j] = value
    E, z = block.inputs["pair.E"].reshape(n, m), block.inputs["own.g"]
    Y = np.column_stack([_solved(L, d, E[:, j]) for j in range(m)])
    block.gives("pair.Y", Y)
    block.gives("other.D", [-(E[:, i] @ Y[:, j]) for i, j in _lower(m)], adds=True)
    block.gives("other.g", -(E.T @ z), adds=True)
    return block


def two_neighbours(n: int, m: int, k: int) -> Block:
    """Such a joint, and two of its neighbours: E between these."""
    block = Block({"first.E": n * m, "second.Y": n * k})
    E, Y = block.inputs["first.E"].reshape(n, m), block.inputs["second.Y"].reshape(n, k)
    block.gives("both.E", -(E.T @ Y), adds=True)
    return block


def back(n: int, m: int) -> Block:
    """la of a joint, from that of one that was eliminated later."""
    block = Block({"pair.Y": n * m, "other.g": m})
    block.gives("own.g", -(block.inputs["pair.Y"].reshape(n, m) @ block.inputs["other.g"]), adds=True)
    return block
