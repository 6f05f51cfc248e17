"""The square system [G; S] of loops: its rows, in an order of elimination of its normal equations.

It belongs to a selection: S says which bodies have independent velocities. An order of minimum degree is that of the
graph of primitive constraints and independent velocities, which are neighbours where they share a body.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Ints, Mat
from rbdae.multibody.system.graph import eliminate


def square_pattern(primitives: Any, bodies: Any, S: Mat, spatial: int) -> dict[str, Ints]:
    """The pattern of [G; S] for the records of a memory, without the rows that are dropped, by the names of
    `rbdae.kernels.memory`. Where S picks components, a row has one column; else the three of a body, or its three
    rotations."""
    n_bodies = len(bodies) - 1
    columns = [np.arange(iv, iv + nt + 3) for iv, nt in zip(bodies["iv"], bodies["nt"][:n_bodies], strict=False)]
    blocks: list[tuple[int, Ints]] = []  # rows and columns of each primitive, then of each row of S
    for p in primitives:
        moving = [columns[b] for b in p["body"] if b < n_bodies]
        blocks.append((int(np.count_nonzero(p["keep"][: p["n"]])), np.concatenate(moving)))
    thirds = np.arange(S.shape[1]).reshape(-1, 3)
    picks = not spatial and bool(((S != 0.0).sum(axis=1) == 1).all() and (S.max(axis=1, initial=0.0) == 1.0).all())
    for row, used in zip(S, np.any(S.reshape(len(S), len(thirds), 3) != 0.0, axis=2), strict=True):
        blocks.append((1, np.flatnonzero(row) if picks else thirds[used].ravel()))
    blocks = [block for block in blocks if block[0]]
    sizes = np.array([size for size, _ in blocks])
    near: set[tuple[int, int]] = set()
    at_third: dict[int, list[int]] = {}
    for k, (_, at) in enumerate(blocks):
        for others in [at_third.setdefault(third, []) for third in {*(at // 3).tolist()}]:
            near.update((other, k) for other in others)
            others.append(k)
    place = np.concatenate(eliminate(sizes.tolist(), sorted(near)))
    of = np.repeat(np.arange(len(blocks)), sizes)[np.argsort(place)]  # the block of each place
    rows = [blocks[k][1] for k in of]
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    column = np.concatenate(rows)
    arrays = {"square_start": start, "square_column": column, "square_place": place}
    return {name: np.ascontiguousarray(x, dtype=np.int64) for name, x in arrays.items()}
