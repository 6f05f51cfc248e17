"""The memory that loops of both kinds have, and what they say."""

from __future__ import annotations

from rbdae.machine.language.words import Fields


class LoopMemory(Fields):
    """Numbers of a loop, then vectors of `m` entries: the k-th one begins at ``vectors[k * m]``."""

    n: int
    """Number of unknowns."""
    m: int
    """Length of a vector in memory."""
    budget: int
    """Evaluations, or iterations, until the loop pauses."""
    steps: int
    max_steps: int
    room: int
    """Steps for which there are rows."""
    rows: int
    """Steps whose rows are written."""
    times: int
    """Number of output times."""
    outputs: int
    """Output times whose rows are written."""
    bad: int
    """Whether something was not finite since the last accepted step; never in loops of fixed steps, which end there."""
    t: float
    """The start of the present step."""
    t_new: float
    """The end of the last accepted step."""
    t_end: float
    h: float
    """The size of the next step."""
    h_done: float
    """The size of the last accepted step."""
    direction: float
    """1, or -1 in runs back in time: t and all else here is the time of machine functions times this number."""


# ---------------------------------------------------------------- what the loop says
DONE = 0
FINISHED = 1
FULL = 2
PAUSED = 3
CALLBACK = 4
"""A function has left an exception."""
TOO_MANY = 5
ASKED = 6
"""The caller is to be asked about the last state."""
OWN_WORDS = 7
"""Where the words of one kind begin."""
