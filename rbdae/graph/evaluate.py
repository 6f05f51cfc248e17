"""Values of nodes, computed in Python: slow, for checks and for conditions at a point."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rbdae.graph.graph import CONDITIONS, FUNCTIONS, OF_TWO, Graph, Node
from rbdae.graph.loaded import value_of

_SUMS: dict[str, Callable[[Any, Any], Any]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}


def evaluate(
    graph: Graph,
    outputs: Sequence[int],
    inputs: dict[str, Any],
    functions: Sequence[Callable[..., None]] = (),
) -> list[float]:
    """Values of some nodes. Users' functions are ``f(t, x, out)``."""
    values: dict[int, Any] = {}
    nodes = graph.nodes
    for k in graph.needed(outputs):
        node = nodes[k]
        of = _SUMS.get(node[0])
        if of is not None and type(x := values[node[1]]) is not tuple:  # most of them, and no pairs
            values[k] = of(x, values[node[2]])
        else:
            values[k] = computed(node, values, inputs, functions)
    return [values[k] for k in outputs]


def computed(
    node: Node,
    known: Any,
    inputs: dict[str, Any],
    functions: Sequence[Callable[..., None]],
) -> Any:
    """The value of a node from its operands' values; a call's vector."""
    kind = node[0]
    if kind == "const":
        return value_of(node[1])
    if kind == "input":
        return inputs[node[1]][node[2]]
    if kind == "call":
        values = np.array([known[k] for k in node[4:]], dtype=float)
        out = values[1 + node[2] :]
        functions[node[1]](values[0], values[1 : 1 + node[2]], out)
        return out.tolist()
    if kind in ("result", "lane"):
        return known[node[1]][node[2]]
    if kind == "pair":
        return known[node[1]], known[node[2]]
    arguments = [known[k] for k in node[1:]]
    if isinstance(arguments[0], tuple):
        return tuple(_of_numbers(kind, *numbers) for numbers in zip(*arguments, strict=True))
    return _of_numbers(kind, *arguments)


def _of_numbers(kind: str, x: float, *others: float) -> float:
    if kind in FUNCTIONS:
        try:
            return FUNCTIONS[kind](x)
        except (ValueError, OverflowError):
            return math.nan
    return _arithmetic(kind, x, *others)


def _arithmetic(kind: str, x: float, *others: float) -> float:
    if kind == "neg":
        return -x
    if kind == "rcp":
        return 1.0 / x if x else math.copysign(math.inf, x)
    if kind == "not":
        return 1.0 - x
    if kind in CONDITIONS:
        return float(CONDITIONS[kind](x, others[0]))
    if kind == "select":
        return others[0] if x else others[1]
    y = others[0]
    if kind in OF_TWO:
        try:
            return OF_TWO[kind](x, y)
        except (ValueError, OverflowError):
            return math.nan
    return x + y if kind == "add" else x - y if kind == "sub" else x * y
