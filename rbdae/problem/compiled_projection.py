"""A projection for loops in machine code: near the constraints without Python, elsewhere by the projector itself."""

from __future__ import annotations

from typing import Any, NoReturn, final

import numpy as np

from rbdae._arrays import Vec
from rbdae._frozen import refuse_copies
from rbdae.kernels.near_projection import N_MORE
from rbdae.machine.function import PROTOTYPE, MachineFunction, Shapes, trampoline
from rbdae.machine.loops import correction as at
from rbdae.machine.loops.memory import NOT_PROJECTED


@final
class CompiledProjection:
    """The two functions of `rbdae.machine.loops.correction`, and the memory that goes with them; of one run.

    Attributes
    ----------
    near, anywhere : machine functions
    memory : (k,)
    result : int
        Where results are in it.
    """

    def __init__(self, projector: Any, near: MachineFunction, info: Vec, n: int) -> None:
        self.near = near
        self._projector = projector
        self.result = at.INFO + len(info)
        self.memory = np.zeros(self.result + n + N_MORE)
        self.memory[at.INFO : self.result] = info

        def anywhere(t: float, y: Vec, _: Vec, out: Vec) -> None:
            out[:n] = y
            out[n] = projector(t, out[:n])

        shapes: Shapes = {"y": (n,), "yd": (len(info),), "out": (n + N_MORE,)}
        self.anywhere = trampoline(anywhere, "tyyo", shapes)

    def start(self, t: float, y: Vec) -> None:
        """Project y (n,) in place from Python, as the loop does, and count it.

        Raises `ProjectionError` where the constraints cannot be satisfied.
        """
        near, anywhere = _called(self.near), _called(self.anywhere)
        if at.project(near, self.near.context, anywhere, len(y), self.result, self.memory, t, y) == NOT_PROJECTED:
            self.anywhere.check()
        self.collect()

    def __reduce__(self) -> NoReturn:
        refuse_copies()

    def collect(self) -> None:
        """Add what the loop has counted since the last time to the projector's statistics."""
        p, projector = self.memory, self._projector
        projector.count += int(p[at.COUNT])
        projector.skipped += int(p[at.SKIPPED])
        projector.iterations += int(p[at.NEWTON])
        projector.largest = max(projector.largest, float(p[at.LARGEST]))
        projector.total += float(p[at.TOTAL])
        p[: at.INFO] = 0.0


def _called(function: MachineFunction) -> Any:
    """A machine function that takes arrays."""
    call = PROTOTYPE(function.address)

    def called(context: int, t: float, y: Vec, yd: Vec, c: float, out: Vec) -> int:
        status: int = call(context, t, y.ctypes.data, yd.ctypes.data, c, out.ctypes.data)
        return status

    return called
