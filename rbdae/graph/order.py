"""Orders in which nodes are computed."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from rbdae.graph.graph import LEAVES, Graph, operands


def few_alive(graph: Graph, outputs: Iterable[int]) -> list[int]:
    """The nodes needed for some outputs, in an order that keeps few values alive at a time, for registers are few.

    Next is the node that is the last user of most operands; among equals the one whose user waits for fewest others,
    then the one with the longest way to an output. Results of a call follow it at once.
    """
    nodes = graph.needed(outputs)
    leaves = [k for k in nodes if graph.nodes[k][0] in LEAVES]
    reads = {k: dict.fromkeys(operands(graph.nodes[k])) for k in nodes if graph.nodes[k][0] not in LEAVES}
    users: dict[int, list[int]] = {k: [] for k in nodes}
    for k, of in reads.items():
        for j in of:
            users[j].append(k)
    left = {k: len(users[k]) for k in nodes}
    waiting = {k: sum(j in reads for j in of) for k, of in reads.items()}
    height = dict.fromkeys(nodes, 0)
    for k in reversed(nodes):
        height[k] = 1 + max((height[user] for user in users[k]), default=0)

    def rank(k: int) -> tuple[int, int, int, int]:
        ended = sum(left[j] == 1 for j in reads[k] if j in reads)
        first = len(nodes) if graph.nodes[k][0] == "result" else 0
        near = min((waiting[user] for user in users[k]), default=0)
        return (left[k] > 0) - ended - first, near, -height[k], k

    queue = [rank(k) for k in reads if not waiting[k]]
    heapq.heapify(queue)
    done: dict[int, None] = dict.fromkeys(leaves)
    while queue:
        *_, k = heapq.heappop(queue)
        if k in done:  # ranks only improve, and improved nodes have been entered again
            continue
        done[k] = None
        better = set[int]()
        for j in reads[k]:
            left[j] -= 1
            if left[j] == 1:
                better.update(users[j])
        for user in users[k]:
            waiting[user] -= 1
            better.update(reads[user] if waiting[user] else (user,))
        for j in better:
            if j not in done and not waiting[j]:
                heapq.heappush(queue, rank(j))
    return [*done]
