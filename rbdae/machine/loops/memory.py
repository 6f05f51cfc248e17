"""The memory of a one-step loop: whole numbers `s`, doubles `w`; what is where.

Vectors have m entries, n rounded up to whole vector registers; the entries beyond n stay zero. The k-th vector begins
at ``w[HEAD + k * m]``.
"""

from __future__ import annotations

LANES = 4
"""m is a multiple of this."""

# ---------------------------------------------------------------- s
N = 0
"""Number of unknowns."""
M = 1
"""Length of a vector in memory."""
BEGUN = 2
"""Whether the first stage and the first step size are there."""
STALE = 3
"""Whether the state at the end of the last step was changed from outside, so that its rates are to be had again."""
MOVED = 4
"""Whether there is a last step, whose end is the start of the next one."""
AFTER_REJECTION = 5
"""Whether the last attempt was rejected: the step after it does not grow."""
BAD = 6
"""Whether something was not finite since the last accepted step."""
BUDGET = 7
"""Evaluations until the loop pauses."""
EVALUATIONS = 8
STEPS = 9
REJECTED = 10
STALLED = 11
"""Steps in a row that did not move the time."""
MAX_STEPS = 12
MAX_STALLED = 13
ROOM = 14
"""Steps for which there are rows."""
ROWS = 15
"""Steps whose rows are written."""
TIMES = 16
"""Number of output times."""
OUTPUTS = 17
"""Output times whose rows are written."""
SHRINK = 18
"""Whether the caller rejects the last attempt: a callback has failed where its arguments were not finite."""
EVER_BAD = 19
"""Whether something was not finite at any time."""
INTS = 24

# ---------------------------------------------------------------- w
T = 0
"""The start of the present step."""
T_NEW = 1
"""The end of the last accepted step."""
T_END = 2
H = 3
"""The size of the next step."""
H_MAX = 4
RTOL = 5
LEAST_STEP = 6
"""Steps that are not longer do not move the time."""
SAFE = 7
SHRINKS = 8
"""A step is divided by this at most."""
GROWS = 9
"""A step is divided by this at least."""
BETA = 10
EXPONENT = 11
"""Of the error, in the next step size."""
OLD_ERROR = 12
BAD_T = 13
"""Where something was not finite."""
H_DONE = 14
"""The size of the last accepted step."""
HEAD = 16

# ---------------------------------------------------------------- vectors
ATOL = 0
Y = 1
"""The state at the start of the present step."""
Y_NEW = 2
"""The state at the end of the last accepted step, or of the present attempt."""
ARGUMENT = 3
"""What a stage is evaluated at."""
SCALED = 4
"""Squares of errors in tolerances."""
FURTHER = 5
"""A second estimate of the error, and what else is needed for a moment."""
K1 = 6
"""Stages K1 to K12; the last one of each method holds the rates at `Y_NEW`."""
CONT = 18
"""Eight coefficients of the dense output."""
VECTORS = 26

# ---------------------------------------------------------------- what the loop says
DONE = 0
FINISHED = 1
FULL = 2
PAUSED = 3
REJECTION = 4
CALLBACK = 5
"""A function has left an exception."""
CALLBACK_NOT_FINITE = 6
"""The same, at an argument that is not finite."""
TOO_SMALL = 7
TOO_MANY = 8
RATES_NOT_FINITE = 9
"""At a state that was reached: nothing can be continued from there."""
DENSE_NOT_FINITE = 10
STANDS_STILL = 11
