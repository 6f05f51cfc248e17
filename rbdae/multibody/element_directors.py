"""Directors that bodies keep for the pairs they are in: R(a), and dR/da for Jacobians.

In charts where R(a) is expensive it is computed once for each body. A pair depends on the parameters of its bodies
through R alone, or nearly so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import final

from rbdae._arrays import Ints
from rbdae.graph.derivatives import tangents
from rbdae.graph.graph import Graph
from rbdae.graph.replacing import replaced
from rbdae.graph.symbols import NotStraight
from rbdae.multibody.element_groups import Group
from rbdae.multibody.recording import selected
from rbdae.multibody.workspace import Workspace

_NINE = 9
"""Coordinates of the directors."""


@final
class Directors:
    """The directors of the bodies of a kind, in the order of its first element, as one recording has them.

    Parameters
    ----------
    nodes : of the directors, (9,) for each body that moves
    """

    def __init__(self, workspace: Workspace, group: Group, graph: Graph, nodes: Sequence[Sequence[int]]) -> None:
        B, n = workspace.arrays["bodies"], workspace.model.n
        self._graph, self._nodes = graph, nodes
        self._bodies: list[Ints] = [bodies for bodies in group.bodies.T if bodies[0] != n]
        self._n = workspace.settings.chart.n
        first = [int(workspace.layout.q.start + B["iq"][of[0]] + B["nt"][of[0]]) for of in self._bodies]
        self._parameters = [[graph.node("input", "y", at + i) for i in range(self._n)] for at in first]

    def _computed(self) -> Iterator[tuple[int, int, int, dict[int, int]]]:
        """Body, coordinate, node, and the derivatives by the parameters, of all that is not constant."""
        one = self._graph.const(1.0)
        for k, (nodes, parameters) in enumerate(zip(self._nodes, self._parameters, strict=True)):
            found = tangents(self._graph, nodes, {a: {i: one} for i, a in enumerate(parameters)})
            for j, (node, changes) in enumerate(zip(nodes, found, strict=True)):
                if self._graph.nodes[node][0] not in ("const", "input"):
                    yield k, j, node, changes

    def _number(self, k: int, j: int, i: int | None = None) -> int:
        """The number of coordinate j of the k-th body, or of its derivative by parameter i."""
        return _NINE * (self._n + 1) * k + j + (0 if i is None else _NINE * (i + 1))

    def places(self, number: int, *, with_tangents: bool) -> Ints:
        """The places of a number in the vector ``"work"``, for each element."""
        k, at = divmod(number, _NINE * (self._n + 1))
        places: Ints = self._bodies[k] * (_NINE * (self._n + 1 if with_tangents else 1)) + at
        return places

    def lasting(self, *, with_tangents: bool) -> list[tuple[int, Ints]]:
        """Node and places of all that a body keeps."""
        found = []
        for k, j, node, changes in self._computed():
            found.append((node, self._number(k, j)))
            if with_tangents:
                found += [
                    (change, self._number(k, j, i)) for i, change in changes.items() if not self._constant(change)
                ]
        return [(node, self.places(number, with_tangents=with_tangents)) for node, number in found]

    def read(self, outputs: Sequence[int]) -> list[int]:
        """Results with the directors that bodies keep in place of those that are computed."""
        return replaced(self._graph, outputs, {node: self._work(k, j) for k, j, node, _ in self._computed()})

    def seeds(self, columns: dict[int, int]) -> dict[int, dict[int, int]]:
        """Derivatives of the directors that bodies keep, by the columns of their parameters' nodes."""
        out: dict[int, dict[int, int]] = {}
        for k, j, _, changes in self._computed():
            own = {i: change if self._constant(change) else self._work(k, j, i) for i, change in changes.items()}
            out[self._work(k, j)] = {columns[self._parameters[k][i]]: change for i, change in own.items()}
        return out

    def _work(self, k: int, j: int, i: int | None = None) -> int:
        return self._graph.node("input", "work", self._number(k, j, i))

    def _constant(self, node: int) -> bool:
        return self._graph.value(node) is not None


def places_of_reference(workspace: Workspace, group: Group, number: int) -> Ints:
    """The places of a number of the selection for each element.

    Raises NotStraight if it belongs to no reference rotation.
    """
    first = 1
    for name, array in selected(workspace).items():
        if name == "references":
            break
        first += array.size
    for bodies in group.bodies.T:
        at = number - first - _NINE * int(bodies[0])
        if 0 <= at < _NINE and bodies[0] < workspace.model.n:
            places: Ints = first + _NINE * bodies + at
            return places
    raise NotStraight(f"an element reads number {number} of the selection")
