"""Coordinates of all joints and forces of a model, with rates, in one loop over rows of Z."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.machine.reading import coordinates as native
from rbdae.machine.reading.host import call
from rbdae.multibody.model import Model
from rbdae.quantities.coordinate import Coordinate

_SHAPES = {"identity": native.IDENTITY, "root": native.ROOT, "angle": native.ANGLE}

OnBodies: TypeAlias = tuple[Coordinate, tuple[int, int]]
"""A coordinate and its two bodies by their numbers; that of the ground is the last."""


@final
class CoordinateReader:
    """Reads coordinates from rows of Z (m, 24 bodies), with the bodies as they are in memory.

    Parameters
    ----------
    model : its bodies are the reference points of Z
    places : where each body is in Z
    found : what is read

    Attributes
    ----------
    n : how many coordinates
    heads, at, c : the arguments of `rbdae.machine.reading.coordinates`
    """

    def __init__(self, model: Model, places: Sequence[int], found: Sequence[OnBodies]) -> None:
        self.n, self._width = len(found), 24 * model.n
        heads: list[tuple[int, int, int, int]] = []
        entries: list[tuple[int, int, float]] = []
        shift = [body.reference for body in model.system.bodies] + [np.zeros(3)]
        for coordinate, pair in found:
            bounds = [len(entries)]
            for H in coordinate.referred(shift[pair[0]], shift[pair[1]]).forms:
                entries += _entries(H, [_place(places, b) for b in pair])
                bounds.append(len(entries))
            heads.append((_SHAPES[coordinate.shape], bounds[0], bounds[1], bounds[-1]))
        self.heads: Ints = np.array(heads, dtype=np.int64).reshape(-1, native.HEAD)
        self.at: Ints = np.array([each[:2] for each in entries], dtype=np.int64).reshape(-1, 2)
        self.c: Vec = np.array([each[2] for each in entries], dtype=float)

    def read(self, Z: Mat, out: Any, first: int) -> None:
        """s and sdot of rows Z into `out` (n, 2, rows) from the row `first` on."""
        numbers = len(Z), first, out.shape[2], self.n, self._width
        call(native.coordinates, *numbers, self.heads, self.at, self.c, Z, out)


def _place(places: Sequence[int], body: int) -> int | None:
    return 24 * places[body] if body < len(places) else None


_GROUND = np.concatenate([np.zeros(3), np.eye(3).reshape(9)])


def _entries(H: Mat, starts: Sequence[int | None]) -> list[tuple[int, int, float]]:
    """Entries of Z . H Z / 2: places of two numbers in a row, -1 for 1, and the factor."""
    out: dict[tuple[int, int], float] = {}
    for i, j in np.argwhere(H):
        if i > j:
            continue  # H is symmetric
        c, places = (0.5 if i == j else 1.0) * float(H[i, j]), []
        for k in (i, j):
            side, local = divmod(int(k), 12)
            start = starts[side]
            if start is None:
                c *= float(_GROUND[local])
            places.append(-1 if start is None else start + local)
        key = (max(places), min(places))
        out[key] = out.get(key, 0.0) + c
    return [(*key, c) for key, c in out.items() if c]
