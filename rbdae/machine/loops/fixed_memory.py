"""The memory of a loop of fixed steps: whole numbers `s`, doubles `w`; what is where.

The k-th vector has m entries and begins at ``w[HEAD + k * m]``.
"""

from __future__ import annotations

# ---------------------------------------------------------------- s
N = 0
"""Number of unknowns of the problem."""
UNKNOWNS = 1
"""Number of unknowns of a step."""
M = 2
"""Length of a vector in memory."""
BUDGET = 3
"""Iterations until the loop pauses."""
STEPS = 4
MAX_STEPS = 5
ROOM = 6
"""Steps for which there are rows."""
ROWS = 7
"""Steps whose rows are written."""
TIMES = 8
"""Number of output times."""
OUTPUTS = 9
"""Output times whose rows are written."""
ITERATIONS = 10
"""Of Newton's method, in all steps."""
MOST = 11
"""Iterations in one step."""
KNOWN = 12
"""Whether the unknowns of a step of the same size are there, to begin the next one with."""
STAGES = 13
"""Number of steps of the scheme in a step."""
INTS = 16

# ---------------------------------------------------------------- w
T = 0
"""The start of the last step."""
T_NEW = 1
"""The end of the last step."""
T0 = 2
T_END = 3
H = 4
"""The step size."""
H_DONE = 5
"""The size of the last step: the last one of a run may be shorter."""
TOLERANCE = 6
"""Relative size of a correction at which the iteration ends."""
CORRECTION = 7
"""Relative size of the last correction."""
HEAD = 8

# ---------------------------------------------------------------- vectors
Y = 0
"""The state at the start of the last step."""
Y_NEW = 1
"""The state at its end."""
FURTHER = 2
"""Unknowns after the next iteration; what a function makes."""
BETWEEN = 3
"""The state between two stages."""
WEIGHTS = 4
"""The sizes of the stages, relative to that of the step."""
U = 5
"""The unknowns of the stages of the last step, a vector each, and then a number for `advance`; after them those of a
state within it."""


def vectors(stages: int) -> int:
    """How many there are."""
    return U + stages + 1


# ---------------------------------------------------------------- what the loop says
DONE = 0
FINISHED = 1
FULL = 2
PAUSED = 3
CALLBACK = 4
"""A function has left an exception."""
TOO_MANY = 5
NOT_CONVERGED = 6
NOT_FINITE = 7
"""A correction or a state is not finite."""
