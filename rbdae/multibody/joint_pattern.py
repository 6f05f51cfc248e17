"""The joint graph laid out for the factorisation of G M^-1 G^T: rows, places in the factor, pairs of primitives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints, copied
from rbdae.kernels import records as kb
from rbdae.multibody.graph import Elimination, eliminate
from rbdae.multibody.layout import Layout
from rbdae.multibody.model import Model

Incident = list[list[tuple[int, int]]]
"""For each body the primitives at it, with the side (0 or 1) that it is on."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class JointPattern:
    """The static pattern of the joints.

    Attributes
    ----------
    primitives : rows of the model's primitives with bodies by place, constraint rows and places in the factor
    pairs : pairs of primitives that share a body, with their places in the factor
    row_start : (rows + 1,) int, where the rows of the factor begin
    column : the columns of the factor, then the constraint row of each place
    n_factor : entries of the factor
    """

    primitives: Any
    pairs: Any
    row_start: Ints
    column: Ints
    n_factor: int


def joint_pattern(model: Model, layout: Layout) -> JointPattern:
    """The pattern of a model; the elimination order is one of minimum degree."""
    primitives = copied(model.primitives)
    primitives["body"] = layout.rank[primitives["body"]]
    sizes = primitives["n"]
    primitives["row"] = layout.n_internal + np.cumsum(sizes) - sizes
    primitives["keep"] = 1
    primitives["whole"] = 1
    incident = _incident(model.n, primitives["body"])
    edges = {(p, r) if p <= r else (r, p) for at in incident for i, (p, _) in enumerate(at) for r, _ in at[i:]}
    elimination = eliminate([int(s) for s in sizes], sorted(edges))
    places = np.zeros(int(sizes.sum()) if len(sizes) else 0, dtype=np.int64)
    for k, place in enumerate(elimination.place):
        primitives["slot"][k, : len(place)] = place
        places[place] = primitives["row"][k] - layout.n_internal + np.arange(len(place))
    return JointPattern(
        primitives,
        _pairs(incident, elimination),
        elimination.start,
        np.concatenate([elimination.column, places]).astype(np.int64),
        len(elimination.column),
    )


def _incident(n: int, bodies: Any) -> Incident:
    out: Incident = [[] for _ in range(n)]
    for k, pair in enumerate(bodies.tolist()):
        for side, body in enumerate(pair):
            if body < n:
                out[body].append((k, side))
    return out


def _pairs(incident: Incident, elimination: Elimination) -> Any:
    start, column = elimination.start.tolist(), elimination.column.tolist()
    slots = {(i, column[e]): e for i in range(len(start) - 1) for e in range(start[i], start[i + 1])}
    places = [place.tolist() for place in elimination.place]
    pairs = np.zeros(sum(len(at) * (len(at) + 1) // 2 for at in incident), dtype=kb.PAIR)
    e = 0
    for body, at in enumerate(incident):
        for i, (p, first_side) in enumerate(at):
            for r, second_side in at[i:]:
                pair = pairs[e]
                e += 1
                pair["body"], pair["first"], pair["second"] = body, p, r
                pair["first_side"], pair["second_side"] = first_side, second_side
                slot = pair["slot"]
                slot[...] = -1
                for u, row in enumerate(places[p]):
                    for v, col in enumerate(places[r]):
                        if p != r or v <= u:
                            slot[u, v] = slots[max(row, col), min(row, col)]
    return pairs
