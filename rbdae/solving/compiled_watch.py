"""The measures that switches watch, for loops in machine code: the loops come back where a switch may be due,
and it decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, cast, final

import numpy as np

from rbdae._arrays import Vec
from rbdae._frozen import refuse_copies
from rbdae.machine.loops import watching as at
from rbdae.machine.quantity_events import in_turn
from rbdae.problem.contract import CompiledFunction, Quiet


@final
class CompiledWatch:
    """The function and the memory of `rbdae.machine.loops.watching`, of one run.

    Attributes
    ----------
    measure : CompiledFunction
    n_measured : int
    memory : (4 n_measured,)
    """

    def __init__(self, measure: CompiledFunction, low: Vec, high: Vec) -> None:
        self.measure, self.n_measured = measure, len(low)
        self.memory = np.zeros(at.size(self.n_measured))
        places = at.places(self.memory, self.n_measured)
        places.low[:], places.high[:] = low, high

    def __reduce__(self) -> NoReturn:
        refuse_copies()


def compiled_watch(quiets: Sequence[Quiet | None]) -> CompiledWatch | None:
    """The watch of some switches; None where one has to be asked after every step."""
    known = [quiet for quiet in quiets if quiet is not None]
    if not known or len(known) < len(quiets):
        return None
    starts = np.cumsum([0, *(quiet.n for quiet in known)]).tolist()
    calls = [(cast(Any, quiet.measure), None, None, k) for quiet, k in zip(known, starts, strict=False)]
    measure = known[0].measure if len(known) == 1 else in_turn(calls)
    low, high = (np.concatenate([np.full(q.n, getattr(q, name)) for q in known]) for name in ("low", "high"))
    return CompiledWatch(measure, low, high)


__all__ = ["CompiledWatch", "compiled_watch"]
