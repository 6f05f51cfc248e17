"""The order in which the Newton equations of a step are eliminated.

A node is a body, or all joint equations between two bodies. Bodies are eliminated from the leaves, and a joint as soon
as the bodies are gone with which its block, -G A^-1 G^T of independent rows, has full rank. Trees get no blocks but
those of the joints and their bodies, and short loops few: the cost is linear in the number of bodies.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from rbdae._arrays import Ints
from rbdae.multibody.system.graph import elimination
from rbdae.multibody.system.model import spanning_tree

Node = tuple[int, ...]
"""A body (b,), or the two bodies of joint equations, the ground among them."""


def elimination_order(arrays: Any, n_internal: int) -> tuple[int, Ints]:
    """The number of unknowns of the bodies of a model, and its unknowns in order: (dx, b) of the bodies have the first
    numbers, then come the multipliers of the joint equations; without those of dropped rows."""
    bodies, primitives = arrays["bodies"], arrays["primitives"]
    begins = np.cumsum([0, *(bodies["nt"][:-1] + 3)]).tolist()
    unknowns: dict[Node, list[int]] = {(b,): [*range(*begins[b : b + 2])] for b in range(len(bodies) - 1)}
    beside: set[tuple[Node, Node]] = set()

    def moving(pair: Any) -> list[Node]:
        return [(int(b),) for b in pair if not bodies["fixed"][b]]

    for e in arrays["elements"]:
        beside.update(combinations(moving(e["body"]), 2))
    for p in primitives:
        kept = [begins[-1] + int(p["row"]) - n_internal + k for k in range(int(p["n"])) if p["keep"][k]]
        if not kept:
            continue
        one, two = sorted(int(b) for b in p["body"])
        unknowns.setdefault((one, two), []).extend(kept)
        beside.update(((one, two), body) for body in moving(p["body"]))
        if not p["linear"]:
            beside.update(combinations(moving(p["body"]), 2))
    nodes = sorted(unknowns, key=lambda node: (len(node) == 1, node))  # of equal degrees joints come first
    number = {node: k for k, node in enumerate(nodes)}
    edges = [(number[one], number[other]) for one, other in beside]
    first = {number[e]: [number[(b,)] for b in of] for e, of in _bodies_before(unknowns, bodies).items() if e in number}
    order = elimination(edges, first, len(nodes))
    return begins[-1], np.array([k for a in order for k in unknowns[nodes[a]]], dtype=np.int64)


def _bodies_before(nodes: Any, bodies: Any) -> dict[Node, set[int]]:
    """For each joint the bodies after whose elimination its block has full rank.

    The block is that of G A^-1 G^T on the bodies that are gone, with the joints among them; bodies that are still there
    count as fixed. A joint of the spanning tree takes the body to which it leads. A joint that closes a loop takes the
    bodies of the loop, but for that nearest to the root: its rows see what the joints of the tree leave free on them,
    so that rows that are independent in the model are independent there. A pivot is a joint of the tree, too.
    """
    ground = len(bodies) - 1
    edges: list[tuple[int, int]] = [(b, ground) for b in range(ground) if bodies["nt"][b] == 0]
    pivots = len(edges)
    edges += [(node[0], node[1]) for node in nodes if len(node) == 2]
    tree = spanning_tree(ground, [False] * ground, edges)
    place = {b: k for k, b in enumerate(tree.order)} | {ground: -1}
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
