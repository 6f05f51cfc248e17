"""Nodes of a graph as a function, evaluated in Python: what runs where there is no machine code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, final

import numpy as np

from rbdae.graph.evaluate import OPERATIONS
from rbdae.graph.graph import Graph, Node, operands
from rbdae.graph.loaded import value_of


def _called(function: Callable[..., None], n_in: int, *numbers: Any) -> Any:
    """The vector that a function of the user has filled."""
    values = np.array(numbers)
    out = values[1 + n_in :]
    function(values[0], values[1 : 1 + n_in], out)
    return out


def _operation(node: Node, functions: Sequence[Callable[..., None]]) -> Callable[..., Any]:
    """What computes a node from its operands."""
    kind = node[0]
    if kind == "call":
        return partial(_called, functions[node[1]], node[2])
    return itemgetter(node[2]) if kind == "result" else OPERATIONS[kind]


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
                self._steps.append((k, _operation(node, functions), of, last))
        self._steps.reverse()

    def __call__(self, inputs: Mapping[str, Any]) -> list[Any]:
        """The values of the outputs: numbers, or arrays where they depend on arrays."""
        values: dict[int, Any] = {**self._constants, **{k: inputs[name][i] for k, name, i in self._inputs}}
        with np.errstate(all="ignore"):  # both branches of a choice are computed
            for k, operation, of, last in self._steps:
                values[k] = operation(*[values[j] for j in of])
                for j in last:  # its memory is in the cache, for the next result
                    del values[j]
        return [values[k] for k in self._outputs]
