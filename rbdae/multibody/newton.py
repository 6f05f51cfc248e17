"""The Newton equations of a step by blocks: their places in memory, and the order of their elimination.

A node is a body, or all joint equations between two bodies. Bodies are eliminated from the leaves, and a joint as soon
as the bodies are gone with which its block, -G A^-1 G^T of independent rows, has full rank. Trees get no blocks beside
those of the joints and their bodies, and short loops few: the cost is linear in the number of bodies.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from rbdae.kernels import records as kb
from rbdae.kernels.conserving.elimination import FACTOR, SOLVE, UPDATE
from rbdae.multibody.graph import Tree, spanning_tree

Node = tuple[int, ...]
"""A body (b,), or the two bodies of joint equations, the ground among them."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class NewtonEquations:
    """Tables for the kernels, see `rbdae.kernels.records`; `n` numbers of memory."""

    n: int
    n_body_unknowns: int
    bodies: Any
    joints: Any
    forces: Any
    operations: Any


@final
@dataclass(slots=True)
class _Graph:
    """The sizes of the nodes, and which share a block."""

    size: dict[Node, int] = field(default_factory=dict)
    beside: dict[Node, set[Node]] = field(default_factory=dict)

    def add(self, node: Node, size: int) -> None:
        self.size[node] = self.size.get(node, 0) + size
        self.beside.setdefault(node, set())

    def join(self, one: Node, two: Node) -> None:
        if one != two:
            self.beside[one].add(two)
            self.beside[two].add(one)


def newton_equations(arrays: Any) -> NewtonEquations:
    """The equations of a model with the kept rows of a selection."""
    bodies, primitives = arrays["bodies"], arrays["primitives"]
    pairs = [tuple(e["body"].tolist()) for name in ("elements", "bushings") for e in arrays[name]]
    graph = _graph(bodies, primitives, pairs)
    order, later = _eliminated(graph, _bodies_before(graph, bodies))
    places, n = _places(graph, later)
    right = {}
    for node in order:
        right[node] = n
        n += graph.size[node]
    n_moving = len(bodies) - 1
    at = np.zeros(n_moving, dtype=kb.NEWTON_BODY)
    unknowns = np.cumsum([0, *(bodies["nt"][:n_moving] + 3)])
    for b in range(n_moving):
        at[b] = (unknowns[b], places[(b,), (b,)], right[(b,)])
    joints = _joints(bodies, primitives, graph, places, right)
    forces = _forces(pairs, bodies, graph, places)
    operations = np.array(list(_operations(graph, order, later, places, right)), dtype=kb.NEWTON_OPERATION)
    return NewtonEquations(n, int(unknowns[-1]), at, joints, forces, operations)


def _node(primitive: Any) -> Node:
    one, two = sorted(int(b) for b in primitive["body"])
    return one, two


def _graph(bodies: Any, primitives: Any, forces: Sequence[Node]) -> _Graph:
    graph = _Graph()
    for b in range(len(bodies) - 1):
        graph.add((b,), int(bodies["nt"][b]) + 3)
    for one, two in forces:
        if not bodies["fixed"][one] and not bodies["fixed"][two]:
            graph.join((one,), (two,))
    for p in primitives:
        kept = int(p["keep"][: p["n"]].sum())
        if not kept:
            continue
        node = _node(p)
        graph.add(node, kept)
        moving = [(b,) for b in node if not bodies["fixed"][b]]
        for body in moving:
            graph.join(node, body)
        if len(moving) == 2 and not p["linear"]:
            graph.join(*moving)
    return graph


def _bodies_before(graph: _Graph, bodies: Any) -> dict[Node, set[int]]:
    """For each joint the bodies after whose elimination its block has full rank.

    The block is that of G A^-1 G^T on the bodies that are gone, with the joints among them; bodies that are still there
    count as fixed. A joint of the spanning tree takes the body to which it leads. A joint that closes a loop takes the
    bodies of the loop, but for that nearest to the root: its rows see what the joints of the tree leave free on them,
    so that rows that are independent in the model are independent there. A pivot is a joint of the tree, too.
    """
    ground = len(bodies) - 1
    edges: list[tuple[int, int]] = [(b, ground) for b in range(ground) if bodies["nt"][b] == 0]
    pivots = len(edges)
    edges += [(node[0], node[1]) for node in graph.size if len(node) == 2]
    tree = spanning_tree(ground, [False] * ground, edges)
    place = {b: k for k, b in enumerate(_from_the_root(tree))} | {ground: -1}
    out: dict[Node, set[int]] = {edges[k]: {b} for b, k in enumerate(tree.joint) if k >= pivots}
    for k in tree.closing:
        one, other = edges[k]
        loop = out[edges[k]] = set[int]()
        while one != other:
            if place[one] < place[other]:
                one, other = other, one
            loop.add(one)
            one = tree.parent[one]
    return out


def _from_the_root(tree: Tree) -> list[int]:
    """The bodies, parents first."""
    order, roots = list[int](), list[int]()
    children: dict[int, list[int]] = {}
    for b, parent in enumerate(tree.parent):
        (roots if tree.joint[b] < 0 or parent == len(tree.parent) else children.setdefault(parent, [])).append(b)
    while roots:
        b = roots.pop()
        order.append(b)
        roots += children.get(b, [])
    return order


def _eliminated(graph: _Graph, before: dict[Node, set[int]]) -> tuple[list[Node], dict[Node, list[Node]]]:
    """The order, and the nodes that share a block with each when its turn comes. Few neighbours come first; a joint
    waits for the bodies `before` it."""
    beside = {node: set(others) for node, others in graph.beside.items()}
    left = {node: len(before.get(node, ())) for node in beside}
    waiting_for: dict[Node, list[Node]] = {}
    for node, bodies in before.items():
        for b in bodies:
            waiting_for.setdefault((b,), []).append(node)
    gone: set[Node] = set()
    order, later = [], {}
    waiting = [(len(others), len(node) == 1, node) for node, others in beside.items()]
    heapq.heapify(waiting)
    while waiting:
        degree, _, node = heapq.heappop(waiting)
        if node in gone or degree != len(beside[node]) or left[node]:
            continue  # a joint is asked again when the last body before it is eliminated
        order.append(node)
        gone.add(node)
        others = later[node] = sorted(beside[node])
        for other in others:
            beside[other].discard(node)
            beside[other].update(o for o in others if o != other)
        for joint in waiting_for.get(node, ()):
            left[joint] -= 1
        for other in {*others, *(o for o in waiting_for.get(node, ()) if o not in gone)}:
            heapq.heappush(waiting, (len(beside[other]), len(other) == 1, other))
    return order, later


def _places(graph: _Graph, later: dict[Node, list[Node]]) -> tuple[dict[tuple[Node, Node], int], int]:
    """The place at which each block begins, and the length of all together."""
    places, n = {}, 0
    for node, others in later.items():
        for row, column in [(node, node), *((node, o) for o in others), *((o, node) for o in others)]:
            places[row, column] = n
            n += graph.size[row] * graph.size[column]
    return places, n


def _joints(bodies: Any, primitives: Any, graph: _Graph, places: Any, right: Any) -> Any:
    """The places of the equations of each primitive."""
    out = np.zeros(len(primitives), dtype=kb.NEWTON_JOINT)
    counted: dict[Node, int] = {}
    for p, to in zip(primitives, out, strict=True):
        node = _node(p)
        for k in range(int(p["n"])):
            if not p["keep"][k]:
                continue
            own = counted.get(node, 0)
            counted[node] = own + 1
            to["row"][k] = right[node] + own
            for side, b in enumerate(p["body"].tolist()):
                if not bodies["fixed"][b]:
                    to["gradient"][side, k] = places[node, (b,)] + own * graph.size[(b,)]
                    to["force"][side, k] = places[(b,), node] + own
                    to["force_stride"][side] = graph.size[node]
        _stiffness(tuple(p["body"].tolist()), bodies, graph, places, to["stiffness"], to["stiffness_stride"])
    return out


def _forces(forces: Sequence[Node], bodies: Any, graph: _Graph, places: Any) -> Any:
    """The places of the blocks of each force."""
    out = np.zeros(len(forces), dtype=kb.NEWTON_FORCE)
    for pair, to in zip(forces, out, strict=True):
        _stiffness(pair, bodies, graph, places, to["stiffness"], to["stride"])
    return out


def _stiffness(pair: Node, bodies: Any, graph: _Graph, places: Any, blocks: Any, strides: Any) -> None:
    """The blocks of a pair of bodies by sides."""
    for one, b in enumerate(pair):
        for two, c in enumerate(pair):
            if not bodies["fixed"][b] and not bodies["fixed"][c] and ((b,), (c,)) in places:
                blocks[one, two] = places[(b,), (c,)]
                strides[two] = graph.size[(c,)]


def _operations(graph: _Graph, order: list[Node], later: Any, places: Any, right: Any) -> Any:
    """Elimination and back substitution as rows of `NEWTON_OPERATION`."""
    size = graph.size
    for node in order:
        n, d = size[node], places[node, node]
        yield FACTOR, d, 0, 0, n, 0, 0
        yield SOLVE, d, right[node], 0, n, 1, 0
        for other in later[node]:
            yield SOLVE, d, places[node, other], 0, n, size[other], 0
        for row in later[node]:
            left = places[row, node]
            yield UPDATE, left, right[node], right[row], size[row], 1, n
            for column in later[node]:
                yield UPDATE, left, places[node, column], places[row, column], size[row], size[column], n
    for node in reversed(order):
        for other in later[node]:
            yield UPDATE, places[node, other], right[other], right[node], size[node], 1, size[other]
