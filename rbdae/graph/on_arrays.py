"""The values of nodes on arrays: one operation of NumPy a node, for functions that are evaluated on stacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from rbdae.graph.graph import FUNCTIONS, OF_TWO, Graph

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "rcp": np.reciprocal,
    "<": np.less,
    "<=": np.less_equal,
    "==": np.equal,
    "not": np.logical_not,
    "select": np.where,
    **{name: getattr(np, name) for name in (*FUNCTIONS, *OF_TWO)},
}


@final
class OnArrays:
    """Nodes of a graph as a function of one input vector whose numbers are arrays.

    Parameters
    ----------
    graph : without functions of the user
    outputs : nodes
    """

    def __init__(self, graph: Graph, outputs: Sequence[int]) -> None:
        self._outputs = tuple(outputs)
        self._constants: dict[int, float] = {}
        self._inputs: list[tuple[int, int]] = []
        self._steps: list[tuple[int, Callable[..., Any], tuple[int, ...], tuple[int, ...]]] = []
        needed_later = set(outputs)
        for k in reversed(graph.needed(outputs)):
            kind, *operands = graph.nodes[k]
            if kind == "const":
                self._constants[k] = operands[0]
            elif kind == "input":
                self._inputs.append((k, operands[1]))
            else:
                last = tuple({*operands} - needed_later)
                needed_later.update(operands)
                self._steps.append((k, _OPERATIONS[kind], tuple(operands), last))
        self._steps.reverse()

    def __call__(self, x: Any) -> list[Any]:
        """The values of the outputs for x (n, ...): arrays, and numbers where they are constant."""
        known: dict[int, Any] = {**self._constants, **{k: x[i] for k, i in self._inputs}}
        with np.errstate(all="ignore"):  # of a choice both sides are computed
            for k, operation, operands, last in self._steps:
                known[k] = operation(*[known[j] for j in operands])
                for j in last:  # its memory is in the cache: the next result takes it
                    del known[j]
        return [known[k] for k in self._outputs]


__all__ = ["OnArrays"]
