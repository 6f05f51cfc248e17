"""Derivatives of graphs, as nodes of the same graph.

They are found forwards, from inputs to all outputs at once, and hold where the guards of the graph hold. |x| and
choices have the derivative of the active branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from rbdae.graph.graph import CONDITIONS, LEAVES, SUMS, Graph, Node, operands

_CONSTANT = frozenset({*LEAVES, *CONDITIONS, "not", "floor"})
"""Nodes that are piecewise constant in their operands."""


Slopes: TypeAlias = dict[int, dict[int, int]]
"""Of nodes that vary, their derivatives as nodes: by operands, and, as ~d, by direction d."""

_LEAST, _PAYS = 1000, 0.7
"""Products of derivatives from which an order of elimination is searched, and the part of them that pays."""


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
    slopes: Slopes = {}
    choices = set[int]()
    for k in graph.needed(outputs, seeds):
        if k in seeds:
            partials = [(~d, change) for d, change in seeds[k].items()]
        elif graph.nodes[k][0] != "select":
            partials = _partials(graph, k, slopes.__contains__)
        elif not (partials := _of_one_number(graph, k, seeds, slopes)):
            choices.add(k)
            partials = _partials(graph, k, slopes.__contains__)
        slope = dict[int, int]()
        for j, factor in partials:
            if graph.value(factor) != 0.0:
                slope[j] = graph.add(slope[j], factor) if j in slope else factor
        if slope:
            slopes[k] = slope
    choices &= slopes.keys()
    order, one, first = list(slopes), graph.const(1.0), len(graph.nodes)
    slopes |= {first + i: {k: one} for i, k in enumerate(outputs) if k in slopes}
    users: dict[int, dict[int, None]] = {k: {} for k in order}
    for k, slope in slopes.items():
        for j in slope.keys() & users.keys():
            users[j][k] = None
    if not choices:  # what is not chosen may have no number
        order = _by_fill(slopes, users, order) or order
    for k in order:
        own = slopes.pop(k)
        for user in users.pop(k):
            slope = slopes[user]
            factor = slope.pop(k)
            for j, change in own.items():
                if user in choices:  # again by choice, since the other branch may have NaN
                    _, condition, chosen, _ = graph.nodes[user]
                    here = slope.get(j, graph.const(0.0))
                    slope[j] = graph.select(condition, *((change, here) if k == chosen else (here, change)))
                    continue
                step = graph.mul(factor, change)
                slope[j] = graph.add(slope[j], step) if j in slope else step
                if j >= 0:
                    users[j][user] = None
        for j in own.keys() & users.keys():
            del users[j][k]
    zero, found = graph.const(0.0), [slopes.get(first + i, {}) for i in range(len(outputs))]
    return [{~j: change for j, change in slope.items() if change != zero} for slope in found]


def _by_fill(slopes: Slopes, users: Mapping[int, Iterable[int]], nodes: Sequence[int]) -> list[int] | None:
    """An order of elimination: always the node that leaves the fewest new products (as Markowitz has it for matrices;
    Griewank and Walther, Evaluating Derivatives, 2008, 10.1). None where it saves little beside forwards."""
    directions, forwards = dict[int, int](), 0
    for k, slope in slopes.items():
        directions[k] = 0
        for j in slope:
            directions[k] |= directions[j] if j >= 0 else 1 << ~j
            forwards += directions[j].bit_count() if j >= 0 else 0
    if forwards < _LEAST:
        return None
    above, below = ({k: set(near) for k, near in of.items()} for of in (slopes, users))

    def fill(k: int) -> tuple[int, int]:
        n, m = len(above[k]), len(below[k])
        return n * m - n - m, place[k]

    place = {k: i for i, k in enumerate(nodes)}
    queue, order, products = [fill(k) for k in nodes], list[int](), 0
    heapify(queue)
    while queue:
        least = heappop(queue)
        k = nodes[least[1]]
        if k not in below or least != fill(k):
            continue
        order.append(k)
        own, of = above.pop(k), below.pop(k)
        products += len(own) * len(of)
        for j in own & below.keys():
            below[j] ^= {k}
            below[j] |= of
        for user in of:
            above[user] ^= {k}
            above[user] |= own
        for near in (own | of) & below.keys():
            heappush(queue, fill(near))
    return order if products <= _PAYS * forwards else None


def _of_one_number(
    graph: Graph, k: int, seeds: Mapping[int, Mapping[int, int]], slopes: Slopes
) -> list[tuple[int, int]]:
    """`_partials` of a choice between functions of the number that it depends on: the choice of their derivatives."""
    _, condition, *sides = graph.nodes[k]
    kind, t = graph.nodes[condition][:2]
    if kind not in CONDITIONS or t not in slopes or any(j != t and j in seeds for j in graph.needed(sides, {t})):
        return []
    zero = graph.const(0.0)
    one, other = tangents(graph, sides, {t: {0: graph.const(1.0)}})
    slope = graph.select(condition, one.get(0, zero), other.get(0, zero))
    return [(t, slope)]


def jacobian(graph: Graph, outputs: Sequence[int], inputs: Sequence[int]) -> list[dict[int, int]]:
    """d outputs / d inputs, forwards: for each output the nodes of its entries by column; omitted ones are zero."""
    one = graph.const(1.0)
    return tangents(graph, outputs, {node: {column: one} for column, node in enumerate(inputs)})


def _partials(graph: Graph, k: int, moves: Callable[[int], bool]) -> list[tuple[int, int]]:
    """(operand, derivative of node k with respect to it), as nodes, for operands that vary."""
    node = graph.nodes[k]
    kind = node[0]
    if kind == "result":
        return _of_call(graph, node, moves)
    moving = [j for j in operands(node) if moves(j)]
    if kind in _CONSTANT or kind == "call" or not moving:
        return []
    one = graph.const(1.0)
    if kind in SUMS:
        a, b = node[1:]
        factors = (b, a) if kind == "mul" else (one, one if kind == "add" else graph.const(-1.0))
        return [(j, factor) for j, factor in zip((a, b), factors, strict=True) if j in moving]
    if kind == "select":
        return [(j, one) for j in moving if j != node[1]]
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
    return graph.node("rcp", graph.function("sqrt", square))


def _squared(graph: Graph, x: int, *, below: bool = False, above: bool = False) -> int:
    """1 + x^2, 1 - x^2 (`below`), x^2 - 1 (`above`)."""
    one, square = graph.const(1.0), graph.mul(x, x)
    return graph.sub(one, square) if below else graph.sub(square, one) if above else graph.add(one, square)


def _sign(graph: Graph, x: int) -> int:
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
