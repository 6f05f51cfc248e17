"""Nodes of a graph as a function, evaluated in Python: what runs where there is no machine code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

from rbdae.graph.evaluate import operation
from rbdae.graph.graph import Graph, operands
from rbdae.graph.loaded import value_of


@final
class InPython:
    """Nodes of a graph as a function of numbers, complex ones for complex steps, and of arrays of them.

    Parameters
    ----------
    graph : its vectors of inputs are given by name
    outputs : nodes
    functions : those of the user, f(t, x, out), of numbers alone
    """

    def __init__(self, graph: Graph, outputs: Sequence[int], functions: Sequence[Callable[..., None]] = ()) -> None:
        self._outputs = tuple(outputs)
        self._constants: dict[int, float] = {}
        self._inputs: list[tuple[int, str, int]] = []
        self._steps: list[tuple[int, Callable[..., Any], tuple[int, ...], tuple[int, ...]]] = []
        needed_later = set(outputs)
        for k in reversed(graph.needed(outputs)):
            kind, *rest = node = graph.nodes[k]
            if kind == "const":
                self._constants[k] = np.float64(value_of(rest[0]))  # allows division by zero
            elif kind == "input":
                self._inputs.append((k, *rest))
            else:
                of = operands(node)
                last = tuple({*of} - needed_later)
                needed_later.update(of)
                self._steps.append((k, operation(node, functions), of, last))
        self._steps.reverse()

    def __call__(self, inputs: Mapping[str, Any]) -> list[Any]:
        """The values of the outputs: numbers, or arrays where they depend on arrays."""
        values: dict[int, Any] = {**self._constants, **{k: inputs[name][i] for k, name, i in self._inputs}}
        with np.errstate(all="ignore"):  # both branches of a choice are computed
            for k, compute, of, last in self._steps:
                values[k] = compute(*[values[j] for j in of])
                for j in last:  # its memory is in the cache, for the next result
                    del values[j]
        return [values[k] for k in self._outputs]
