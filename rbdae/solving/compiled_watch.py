"""The measures that switches watch, for loops in machine code: the loops come back where a switch may be due,
and it decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, final

import numpy as np

from rbdae._arrays import Vec
from rbdae._frozen import refuse_copies
from rbdae.machine.loops import watching as at
from rbdae.problem.contract import CompiledFunction, Quiet


@final
class CompiledWatch:
    """The function and the memory of `rbdae.machine.loops.watching`, of one run.

    Attributes
    ----------
    measure : CompiledFunction or None
    n_measured, n_moving : int
        Measures, and positions that are compared.
    memory : (k,)
    """

    def __init__(self, measured: Quiet | None, moving: Quiet | None) -> None:
        self.measure: CompiledFunction | None = None if measured is None else measured.measure
        self.n_measured = 0 if measured is None else measured.n
        units = np.empty(0) if moving is None else moving.units
        self.n_moving = len(units)
        self._seen: Callable[[], Vec] | None = None if moving is None else moving.seen
        self.memory = np.zeros(at.size(self.n_measured, self.n_moving))
        self._places = at.places(self.memory, self.n_measured, self.n_moving)
        if measured is not None:
            self._places.low[:], self._places.high[:] = measured.low, measured.high
        if moving is not None:
            self.memory[at.FAR] = moving.far
            self._places.units[:] = units
        self.refresh()

    def __reduce__(self) -> NoReturn:
        refuse_copies()

    def refresh(self) -> None:
        """The positions that the switch has seen; after it was asked."""
        if self._seen is not None:
            self._places.seen[:] = self._seen()


def compiled_watch(quiets: Sequence[Quiet | None]) -> CompiledWatch | None:
    """The watch of some switches; None where one has to be asked after every step, or two have measures."""
    known = [quiet for quiet in quiets if quiet is not None]
    measured = [quiet for quiet in known if quiet.measure is not None]
    moving = [quiet for quiet in known if quiet.measure is None]
    if len(known) < len(quiets) or len(measured) > 1 or len(moving) > 1:
        return None
    return CompiledWatch(measured[0] if measured else None, moving[0] if moving else None)


__all__ = ["CompiledWatch", "compiled_watch"]
