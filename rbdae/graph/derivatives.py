"""Derivatives of graphs, as nodes of the same graph.

They are found forwards, from inputs to all outputs at once, and hold where the guards of the graph hold. |x| and
choices have the derivative of the active branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rbdae.graph.graph import CONDITIONS, LEAVES, Graph, Node, operands

_CONSTANT = frozenset({*LEAVES, *CONDITIONS, "not", "floor"})
"""Nodes that are piecewise constant in their operands."""


_ARITHMETIC = frozenset({"add", "sub", "mul"})


class NoDerivative(Exception):
    """A result depends on the inputs through a user's function without a derivative."""


def inputs_of(graph: Graph, name: str, n: int) -> list[int]:
    """The nodes of an input vector of n numbers."""
    return [graph.node("input", name, i) for i in range(n)]


def tangents(graph: Graph, outputs: Sequence[int], seeds: Mapping[int, Mapping[int, int]]) -> list[dict[int, int]]:
    """Derivatives of the outputs in several directions at once.

    Parameters
    ----------
    graph : receives the nodes of the derivatives
    outputs : nodes
    seeds : for inputs and other nodes with known derivatives, these derivatives as nodes, by number of the direction.
        Operands of such a node are ignored.

    Returns
    -------
    For each output, its derivatives as nodes, by number of the direction; omitted ones are zero.

    Raises
    ------
    NoDerivative
        if a user's function without a derivative is in the way
    """
    tangents_of: dict[int, dict[int, int]] = {}
    nodes = graph.nodes
    for k in graph.needed(outputs, seeds):
        kind = nodes[k][0]
        if k in seeds:
            tangent = dict(seeds[k])
        elif kind in _ARITHMETIC:
            tangent = _of_two(graph, nodes[k], tangents_of)
        elif kind == "select":
            tangent = _of_choice(graph, k, tangents_of)
        else:
            tangent = {}
            for j, factor in _partials(graph, k, lambda j: bool(tangents_of.get(j))):
                for direction, change in tangents_of[j].items():
                    step = graph.mul(factor, change)
                    tangent[direction] = graph.add(tangent[direction], step) if direction in tangent else step
        if not tangent:
            continue
        tangent = {d: node for d, node in tangent.items() if nodes[node][0] != "const" or nodes[node][1] != 0.0}
        if tangent:
            tangents_of[k] = tangent
    return [tangents_of.get(k, {}) for k in outputs]


def _of_two(graph: Graph, node: Node, known: Mapping[int, Mapping[int, int]]) -> dict[int, int]:
    """Derivatives of a sum, a difference or a product."""
    kind, a, b = node
    first_tangent, second_tangent = known.get(a), known.get(b)
    if not first_tangent and not second_tangent:
        return {}
    unit = graph.const(1.0)
    if kind == "mul":
        first, second = b, a
    else:
        first, second = unit, unit if kind == "add" else graph.const(-1.0)
    mul, add = graph.mul, graph.add
    tangent = {d: mul(first, change) for d, change in first_tangent.items()} if first_tangent else {}
    if second_tangent:
        for d, change in second_tangent.items():
            step = mul(second, change)
            tangent[d] = add(tangent[d], step) if d in tangent else step
    return tangent


def _of_choice(graph: Graph, k: int, known: Mapping[int, Mapping[int, int]]) -> dict[int, int]:
    """Derivatives of a choice, again by choice, since the other branch may have NaN."""
    _, condition, chosen, otherwise = graph.nodes[k]
    zero = graph.const(0.0)
    sides = known.get(chosen, {}), known.get(otherwise, {})
    return {d: graph.select(condition, *(side.get(d, zero) for side in sides)) for d in {**sides[0], **sides[1]}}


def jacobian(graph: Graph, outputs: Sequence[int], inputs: Sequence[int]) -> list[dict[int, int]]:
    """d outputs / d inputs, forwards: for each output the nodes of its entries by column; omitted ones are zero."""
    one = graph.const(1.0)
    return tangents(graph, outputs, {node: {column: one} for column, node in enumerate(inputs)})


def _partials(graph: Graph, k: int, moves: Callable[[int], bool]) -> list[tuple[int, int]]:
    """(operand, derivative of node k with respect to it), as nodes, for operands that vary; k is no sum, product or
    choice."""
    node = graph.nodes[k]
    kind = node[0]
    if kind == "result":
        return _of_call(graph, node, moves)
    moving = [j for j in operands(node) if moves(j)]
    if kind in _CONSTANT or kind == "call" or not moving:
        return []
    one = graph.const(1.0)
    if kind == "arctan2":
        y, x = node[1], node[2]
        scale = graph.node("rcp", graph.add(graph.mul(x, x), graph.mul(y, y)))
        return [*_one(moving, y, graph.mul(x, scale)), *_one(moving, x, graph.neg(graph.mul(y, scale)))]
    if kind == "power":
        x, p = node[1], node[2]
        slope = graph.mul(p, graph.of_two("power", x, graph.sub(p, one)))
        return [*_one(moving, x, slope), *_one(moving, p, graph.mul(k, graph.function("log", x)))]
    if kind == "fmod":
        return [*_one(moving, node[1], one), *_one(moving, node[2], graph.div(graph.sub(k, node[1]), node[2]))]
    if kind not in _SLOPES:
        raise ValueError(f"no derivative of {kind!r} is known")
    return _one(moving, node[1], _SLOPES[kind](graph, k, node[1]))


def _of_call(graph: Graph, node: Node, moves: Callable[[int], bool]) -> list[tuple[int, int]]:
    """`_partials` of a result of a user's function: entries of its Jacobian (`Graph.slopes`)."""
    _, call, i = node
    _, function, n_in, n_out, t, *numbers = graph.nodes[call]
    x = numbers[:n_in]
    moving = [(j, operand) for j, operand in enumerate(x) if moves(operand)]
    if not moving:
        return []
    if function not in graph.slopes:
        raise NoDerivative("a function of the user depends on it")
    zeros = [graph.const(0.0)] * (n_in * n_out)
    slope = graph.node("call", graph.slopes[function], n_in, n_in * n_out, t, *x, *zeros)
    return [(operand, graph.node("result", slope, n_in * i + j)) for j, operand in moving]


def _one(moving: list[int], operand: int, factor: int) -> list[tuple[int, int]]:
    return [(operand, factor)] if operand in moving else []


def _root(graph: Graph, square: int) -> int:
    """1 / sqrt(square)."""
    return graph.node("rcp", graph.function("sqrt", square))


def _squared(graph: Graph, x: int, *, below: bool = False, above: bool = False) -> int:
    """1 + x^2, 1 - x^2 (`below`), x^2 - 1 (`above`)."""
    one, square = graph.const(1.0), graph.mul(x, x)
    return graph.sub(one, square) if below else graph.sub(square, one) if above else graph.add(one, square)


def _sign(graph: Graph, x: int) -> int:
    """-1 below zero, else 1."""
    return graph.select(graph.condition("<", x, graph.const(0.0)), graph.const(-1.0), graph.const(1.0))


_SLOPES: dict[str, Callable[[Graph, int, int], int]] = {
    "neg": lambda graph, k, x: graph.const(-1.0),
    "rcp": lambda graph, k, x: graph.neg(graph.mul(k, k)),
    "sqrt": lambda graph, k, x: graph.mul(graph.const(0.5), graph.node("rcp", k)),
    "abs": lambda graph, k, x: _sign(graph, x),
    "sin": lambda graph, k, x: graph.function("cos", x),
    "cos": lambda graph, k, x: graph.neg(graph.function("sin", x)),
    "tan": lambda graph, k, x: _squared(graph, k),
    "exp": lambda graph, k, x: k,
    "expm1": lambda graph, k, x: graph.add(k, graph.const(1.0)),
    "log": lambda graph, k, x: graph.node("rcp", x),
    "log1p": lambda graph, k, x: graph.node("rcp", graph.add(x, graph.const(1.0))),
    "sinh": lambda graph, k, x: graph.function("cosh", x),
    "cosh": lambda graph, k, x: graph.function("sinh", x),
    "tanh": lambda graph, k, x: _squared(graph, k, below=True),
    "arcsin": lambda graph, k, x: _root(graph, _squared(graph, x, below=True)),
    "arccos": lambda graph, k, x: graph.neg(_root(graph, _squared(graph, x, below=True))),
    "arctan": lambda graph, k, x: graph.node("rcp", _squared(graph, x)),
    "arcsinh": lambda graph, k, x: _root(graph, _squared(graph, x)),
    "arccosh": lambda graph, k, x: _root(graph, _squared(graph, x, above=True)),
    "arctanh": lambda graph, k, x: graph.node("rcp", _squared(graph, x, below=True)),
}
"""Derivatives of functions of one number, from the nodes of the function and its argument."""
