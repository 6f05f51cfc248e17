"""The places of elements as data: those that keep their distance from each other share an entry of a table."""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from rbdae._arrays import Ints


class Column(NamedTuple):
    """The entry that some places share, and how far they are from it."""

    group: int
    distance: int


NEAR = 32
"""Places that are nearer than this share an entry. Those of positions, velocities and multipliers do not: how far they
are from each other depends on the number of bodies."""


@final
class Columns:
    """The places of one kind: for each group the first place and the step, or a column of a table."""

    def __init__(self) -> None:
        self.groups: list[Ints] = []
        self._known: dict[tuple[str, bytes], list[int]] = {}

    def column(self, places: Ints, block: str = "", near: float = NEAR) -> Column:
        """The entry of these places, which they share with those of the same block that are nearer than `near`."""
        alike = self._known.setdefault((block, (places - places[0]).tobytes()), [])
        for group in alike:
            distance = int(places[0] - self.groups[group][0])
            if abs(distance) < near:
                return Column(group, distance)
        alike.append(len(self.groups))
        self.groups.append(places)
        return Column(alike[-1], 0)

    def steps(self) -> list[int | None]:
        """The step of each group; None for those that are in the table."""
        found: list[int | None] = []
        for places in self.groups:
            steps = np.diff(places)
            found.append(0 if not len(steps) else int(steps[0]) if (steps == steps[0]).all() else None)
        return found

    def data(self) -> Ints:
        """The first place of each group, and the table, element by element."""
        tabled = [places for places, step in zip(self.groups, self.steps(), strict=True) if step is None]
        table = np.array(tabled, dtype=np.int32).T.ravel() if tabled else np.zeros(0, dtype=np.int32)
        return np.concatenate([np.array([places[0] for places in self.groups], dtype=np.int32), table])
