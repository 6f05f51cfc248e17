"""The rows of a run in machine code, in memory that grows in place: no run has to be joined when it ends.

Little memory is an array, kept from run to run by who lends it. Beyond it rows are in memory mappings of their own.
These grow where the system moves pages in place of bytes (``mremap`` of Linux); elsewhere each growth copies.
"""

from __future__ import annotations

import mmap
import sys
from typing import final

import numpy as np

from rbdae._arrays import Mat, Vec

CHUNK = 1 << 22
"""Numbers by which large memory grows."""


def _mapping(size: int) -> mmap.mmap:
    """Memory of this process alone; it is not there before it is written to."""
    try:
        if sys.platform == "win32":
            return mmap.mmap(-1, size)
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"{size} bytes for the rows of a run: {error}") from error


def _larger(memory: mmap.mmap | Vec, used: int, size: int) -> mmap.mmap:
    """Memory of `size` bytes with the first `used` bytes of another, which is gone."""
    if isinstance(memory, mmap.mmap):
        try:
            memory.resize(size)
            return memory
        except OSError as error:
            raise MemoryError(f"{size} bytes for the rows of a run: {error}") from error
        except SystemError:  # a system that cannot
            pass
    out = _mapping(size)
    np.frombuffer(out, dtype=np.uint8)[:used] = np.frombuffer(memory, dtype=np.uint8, count=used)
    return out


def _address(memory: mmap.mmap) -> int:
    address: int = np.frombuffer(memory, dtype=np.uint8).ctypes.data
    return address


@final
class Rows:
    """Times and states of a run.

    Parameters
    ----------
    n : unknowns
    t, y : the first memory: (room,) and (room, n)
    own : whether it may be handed out as the rows of a run; else it is lent

    Attributes
    ----------
    room : how many rows there is space for
    """

    __slots__ = ("_n", "_own", "_t", "_y", "room")

    def __init__(self, n: int, t: Vec, y: Mat, *, own: bool = False) -> None:
        self._n, self._own, self.room = n, own, len(t)
        self._t: mmap.mmap | Vec = t
        self._y: mmap.mmap | Vec = y.reshape(-1)

    def grow(self, used: int) -> tuple[int, int]:
        """Make space for further rows beyond `used` ones; the addresses of times and states."""
        self.room += min(self.room, max(CHUNK // (self._n + 1), 16))
        self._t = _larger(self._t, 8 * used, 8 * self.room)
        self._y = _larger(self._y, 8 * used * self._n, 8 * self.room * self._n)
        return _address(self._t), _address(self._y)

    def replace(self, k: int, y: Vec, t: float | None = None) -> None:
        """Write another state in a row, and another time."""
        own = np.frombuffer(self._y, dtype=float) if isinstance(self._y, mmap.mmap) else self._y
        own[k * self._n : (k + 1) * self._n] = y
        if t is not None:
            (np.frombuffer(self._t, dtype=float) if isinstance(self._t, mmap.mmap) else self._t)[k] = t

    def taken(self, k: int) -> tuple[Vec, Mat]:
        """The first k rows. Those that have grown, and those that fill their own memory, are handed out as they are,
        without a copy: nothing may grow then."""
        if not isinstance(self._t, mmap.mmap) and not isinstance(self._y, mmap.mmap):
            if self._own and k == self.room:
                return self._t, self._y.reshape(k, self._n)
            return self._t[:k].copy(), self._y[: k * self._n].reshape(k, self._n).copy()
        t = np.frombuffer(self._t, dtype=float, count=k)
        return t, np.frombuffer(self._y, dtype=float, count=k * self._n).reshape(k, self._n)
