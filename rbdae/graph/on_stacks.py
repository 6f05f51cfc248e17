"""Functions of a vector and their derivatives on stacks of vectors: recorded once, then evaluated by NumPy only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.graph.derivatives import inputs_of, jacobian
from rbdae.graph.graph import Graph
from rbdae.graph.in_python import InPython
from rbdae.graph.symbols import Recorder

Symbols: TypeAlias = Any
"""An array of symbols and numbers."""

_ROWS = 1024
"""Rows that are evaluated together, so that intermediate results stay in the cache."""

_MOST_NODES = 100_000


def stacked(graph: Graph, outputs: Sequence[int], first: Mapping[str, int]) -> Callable[[Mat], Mat]:
    """Nodes of a graph as a function of rows (m, n), (m, outputs); the inputs of each name begin at `first` in a row.
    Users' functions are not supported."""
    function = InPython(graph, outputs)

    def inputs(x: Any) -> dict[str, Any]:
        return {name: x[begin:] for name, begin in first.items()}

    def evaluated(rows: Mat) -> Mat:
        if len(rows) == 1:  # on numbers
            return np.array([function(inputs(rows[0]))], dtype=float)
        out = np.empty((len(rows), len(outputs)))
        for k in range(0, len(rows), _ROWS):
            for j, values in enumerate(function(inputs(rows[k : k + _ROWS].T))):
                out[k : k + _ROWS, j] = values
        return out

    return evaluated


@final
class Recording:
    """A vector of symbols, and functions recorded on it.

    Attributes
    ----------
    x : symbols (n,)
    """

    def __init__(self, n: int) -> None:
        self._recorder = Recorder({"x": np.ones(n)}, _MOST_NODES)
        self.x: Symbols = self._recorder.inputs("x")

    def _nodes(self, symbols: Symbols) -> list[int]:
        if self._recorder.guards:
            raise TypeError(
                "a function on stacks must not branch on its numbers: the branch would be that of one of them; choose "
                "by rbdae.graph.functions.select"
            )
        return [self._recorder.number(value) for value in symbols.ravel()]

    def derivative(self, symbols: Symbols) -> Symbols:
        """d symbols / dx, the derivatives along the last axis."""
        graph, n = self._recorder.graph, len(self.x)
        rows = jacobian(graph, self._nodes(symbols), inputs_of(graph, "x", n))
        out = np.zeros((len(rows), n), dtype=object)
        for i, row in enumerate(rows):
            for j, node in row.items():
                out[i, j] = self._recorder.result(node)
        return out.reshape(*symbols.shape, n)

    def on_stacks(self, symbols: Symbols) -> Callable[[Vec], Mat]:
        """Symbols as a function of vectors (..., n), their own axes last."""
        function, shape = stacked(self._recorder.graph, self._nodes(symbols), {"x": 0}), symbols.shape
        return lambda x: function(x.reshape(-1, x.shape[-1])).reshape(*x.shape[:-1], *shape)


@final
class OnStacks:
    """A function of vectors (..., n), and its derivative.

    Parameters
    ----------
    n : int
    function : callable
        Symbols of a `Recording`; called when the function or the derivative is first needed.
    """

    def __init__(self, n: int, function: Callable[[Recording], Symbols]) -> None:
        self._n, self._function = n, function

    def __call__(self, x: Vec) -> Mat:
        """The function, its own axes last."""
        return self._value(x)

    @cached_property
    def _value(self) -> Callable[[Vec], Mat]:
        recording = Recording(self._n)
        return recording.on_stacks(self._function(recording))

    @cached_property
    def derivative(self) -> Callable[[Vec], Mat]:
        """Its derivative, along the last axis."""
        recording = Recording(self._n)
        return recording.on_stacks(recording.derivative(self._function(recording)))
