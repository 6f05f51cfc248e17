"""`Law`: a computation of the time t and of a vector x."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae.graph import derivatives
from rbdae.graph.graph import Graph
from rbdae.graph.in_python import InPython
from rbdae.graph.on_stacks import stacked
from rbdae.graph.replacing import replaced


@final
class Law:
    """Results and a condition as functions of inputs.

    Attributes
    ----------
    graph : with the inputs ``("t", 0)`` and ``("x", i)``
    outputs : its results, as nodes
    regular : a condition, as a node: 0 where the law raises an exception
    n_in : length of x
    """

    def __init__(self, graph: Graph, outputs: list[int], regular: int, n_in: int) -> None:
        self.graph, self.outputs, self.regular, self.n_in = graph, outputs, regular, n_in

    @property
    def always_regular(self) -> bool:
        """Whether it never raises an exception."""
        return self.graph.value(self.regular) == 1.0

    @cached_property
    def digest(self) -> str:
        """A hash of the computation."""
        text = repr((self.graph.nodes, self.outputs, self.regular))
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def _on_rows(self) -> Callable[[Mat], Mat]:
        return stacked(self.graph, [*self.outputs, self.regular], {"t": 0, "x": 1})

    @cached_property
    def _on_numbers(self) -> InPython:
        return InPython(self.graph, [*self.outputs, self.regular])

    def at_rows(self, t: Vec, x: Mat) -> tuple[Mat, Bools]:
        """Values (m, n_out) at times (m,) and rows x (m, n_in), and whether they are regular, (m,)."""
        values = self._on_rows(np.concatenate([t[:, None], x], axis=1))
        return values[:, :-1], values[:, -1] != 0.0

    def at(self, t: float, x: Vec) -> tuple[Vec, bool]:
        """Its values at one time and x (n_in,), and whether they are regular."""
        *values, regular = self._on_numbers({"t": [t], "x": x})
        return np.array(values), bool(regular)

    def inlined(self, graph: Graph, t: int, x: Sequence[int]) -> tuple[list[int], int]:
        """Its results and its condition as nodes of another graph, for arguments at the nodes t and x."""
        nodes = enumerate(self.graph.nodes)
        given = {k: t if node[1] == "t" else x[node[2]] for k, node in nodes if node[0] == "input"}
        *results, regular = replaced(self.graph, [*self.outputs, self.regular], given, graph)
        return results, regular

    def reads(self, places: range) -> bool:
        """Whether it depends on x at some places."""
        nodes = (self.graph.nodes[k] for k in self.graph.needed([*self.outputs, self.regular]))
        return any(node[:2] == ("input", "x") and node[2] in places for node in nodes)

    def by(self, columns: Sequence[tuple[str, int]]) -> Law:
        """The law of its derivatives by some inputs, row by row: d out[i] / d column[j]."""
        inputs = [self.graph.node("input", name, i) for name, i in columns]
        rows = derivatives.jacobian(self.graph, self.outputs, inputs)
        zero = self.graph.const(0.0)
        entries = [row.get(j, zero) for row in rows for j in range(len(inputs))]
        return Law(self.graph, entries, self.regular, self.n_in)

    @cached_property
    def by_x(self) -> Law:
        """The law of its derivatives by all x."""
        return self.by([("x", i) for i in range(self.n_in)])
