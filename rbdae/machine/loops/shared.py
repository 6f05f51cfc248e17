"""The part of the memory that loops of both kinds have at the same places: whole numbers `s`, doubles `w`; and what
they say.

Vectors have m entries. The k-th vector begins at ``w[HEAD + k * m]``.
"""

from __future__ import annotations

# ---------------------------------------------------------------- s
N = 0
"""Number of unknowns."""
M = 1
"""Length of a vector in memory."""
BUDGET = 2
"""Evaluations, or iterations, until the loop pauses."""
STEPS = 3
MAX_STEPS = 4
ROOM = 5
"""Steps for which there are rows."""
ROWS = 6
"""Steps whose rows are written."""
TIMES = 7
"""Number of output times."""
OUTPUTS = 8
"""Output times whose rows are written."""
BAD = 9
"""Whether something was not finite since the last accepted step; never in loops of fixed steps, which end there."""
OWN_INTS = 10
"""Where the numbers of one kind begin."""

# ---------------------------------------------------------------- w
T = 0
"""The start of the present step."""
T_NEW = 1
"""The end of the last accepted step."""
T_END = 2
H = 3
"""The size of the next step."""
H_DONE = 4
"""The size of the last accepted step."""
DIRECTION = 5
"""1, or -1 in runs back in time: T and all else here is the time of machine functions times this number."""
OWN_REALS = 6
"""Where those of one kind begin."""

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
