"""A term in the equations of all bodies that rbdae does not have, in one file: drag on their reference points."""

from __future__ import annotations

import numpy as np

from rbdae.kernels import readings
from rbdae.kernels.conserving import forces as in_steps
from rbdae.kernels.forces import elements

RATE = 0.2
"""Of the decay of velocities, 1/s."""

_OTHERS = elements.all_forces


class Drag(elements.Force):
    """F = -RATE m xdot on one body; it has no potential."""

    def __init__(self, m, b):
        super().__init__(m, (b,))
        self._mass = m.bodies[b].mass

    def natural(self):
        """On x, and nothing on the directors."""
        return np.vstack([self.zd[:1] * (-RATE * self._mass), 0.0 * self.zd[1:]])


def _with_drag(m, *laws):
    yield from _OTHERS(m, *laws)
    for b in range(m.head.n_bodies):
        yield Drag(m, b)


def add(monkeypatch):
    """Have the term, as if it stood in `all_forces`."""
    for module in (elements, readings, in_steps):
        monkeypatch.setattr(module, "all_forces", _with_drag)
