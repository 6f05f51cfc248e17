"""Values of nodes: what each kind computes, on numbers and on arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from rbdae.graph.functions import arctan2, select
from rbdae.graph.graph import FUNCTIONS, OF_TWO, Node, operands
from rbdae.graph.loaded import value_of

_ONE = np.float64(1.0)  # divides by zero


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "rcp": lambda x: _ONE / x,
    "<": lambda a, b: (a.real < b.real) * 1.0,  # NumPy's Booleans have another sum and no difference
    "<=": lambda a, b: (a.real <= b.real) * 1.0,
    "==": lambda a, b: (a == b) * 1.0,
    "not": lambda c: 1.0 - c,
    "select": select,
    **{name: getattr(np, name) for name in (*FUNCTIONS, *OF_TWO)},
    "floor": lambda x: np.floor(x.real),
    "arctan2": arctan2,
}
"""By the kinds of nodes. Python's operators: on NumPy's scalars they are quicker than NumPy's functions."""


def _called(function: Callable[..., None], n_in: int, *numbers: Any) -> Any:
    values = np.array(numbers)
    out = values[1 + n_in :]
    function(values[0], values[1 : 1 + n_in], out)
    return out


def operation(node: Node, functions: Sequence[Callable[..., None]]) -> Callable[..., Any]:
    """What computes a node from the values of its operands; users' functions are f(t, x, out), of numbers alone."""
    kind = node[0]
    if kind == "call":
        return partial(_called, functions[node[1]], node[2])
    return itemgetter(node[2]) if kind == "result" else OPERATIONS[kind]


def computed(node: Node, known: Any, inputs: Mapping[str, Any], functions: Sequence[Callable[..., None]]) -> Any:
    """The value of a node from those that are known; a call's vector."""
    if node[0] == "const":
        return value_of(node[1])
    if node[0] == "input":
        return inputs[node[1]][node[2]]
    return operation(node, functions)(*[known[k] for k in operands(node)])
