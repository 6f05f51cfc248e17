"""The memory of a one-step loop: whole numbers `s`, doubles `w`; what is where.

Vectors have m entries, n rounded up to whole vector registers; the entries beyond n stay zero. The k-th vector begins
at ``w[HEAD + k * m]``.
"""

from __future__ import annotations

from rbdae.machine.loops.shared import ASKED as ASKED
from rbdae.machine.loops.shared import BAD as BAD
from rbdae.machine.loops.shared import BUDGET as BUDGET
from rbdae.machine.loops.shared import CALLBACK as CALLBACK
from rbdae.machine.loops.shared import DIRECTION as DIRECTION
from rbdae.machine.loops.shared import DONE as DONE
from rbdae.machine.loops.shared import FINISHED as FINISHED
from rbdae.machine.loops.shared import FULL as FULL
from rbdae.machine.loops.shared import H_DONE as H_DONE
from rbdae.machine.loops.shared import MAX_STEPS as MAX_STEPS
from rbdae.machine.loops.shared import OUTPUTS as OUTPUTS
from rbdae.machine.loops.shared import OWN_INTS as OWN_INTS
from rbdae.machine.loops.shared import OWN_REALS as OWN_REALS
from rbdae.machine.loops.shared import OWN_WORDS as OWN_WORDS
from rbdae.machine.loops.shared import PAUSED as PAUSED
from rbdae.machine.loops.shared import ROOM as ROOM
from rbdae.machine.loops.shared import ROWS as ROWS
from rbdae.machine.loops.shared import STEPS as STEPS
from rbdae.machine.loops.shared import T_END as T_END
from rbdae.machine.loops.shared import T_NEW as T_NEW
from rbdae.machine.loops.shared import TIMES as TIMES
from rbdae.machine.loops.shared import TOO_MANY as TOO_MANY
from rbdae.machine.loops.shared import H as H
from rbdae.machine.loops.shared import M as M
from rbdae.machine.loops.shared import N as N
from rbdae.machine.loops.shared import T as T

LANES = 4
"""m is a multiple of this."""

# ---------------------------------------------------------------- s
BEGUN = OWN_INTS
"""Whether the first stage and the first step size are there."""
STALE = OWN_INTS + 1
"""Whether the state at the end of the last step was changed from outside, so that its rates are to be had again."""
MOVED = OWN_INTS + 2
"""Whether there is a last step, whose end is the start of the next one."""
AFTER_REJECTION = OWN_INTS + 3
"""Whether the last attempt was rejected: the step after it does not grow."""
EVALUATIONS = OWN_INTS + 4
REJECTED = OWN_INTS + 5
STALLED = OWN_INTS + 6
"""Steps in a row that did not move the time."""
MAX_STALLED = OWN_INTS + 7
SHRINK = OWN_INTS + 8
"""Whether the caller rejects the last attempt: a callback has failed where its arguments were not finite."""
EVER_BAD = OWN_INTS + 9
"""Whether something was not finite at any time."""
PROJECTS = OWN_INTS + 10
"""Whether states are projected, see `rbdae.machine.loops.correction`."""
RESULT = OWN_INTS + 11
"""Where the result of a projection is in its memory."""
MEASURED = OWN_INTS + 12
"""How many measures are watched, see `rbdae.machine.loops.watching`."""
MOVING = OWN_INTS + 13
"""How many positions are."""
ORDER = OWN_INTS + 14
"""Of the last step of a library's code, see `rbdae.machine.loops.multistep`."""
CODE = OWN_INTS + 15
"""The library's last word."""
TAKES_BACK = OWN_INTS + 16
"""Whether a library continues from states that were changed after a step."""
DRIFTED = OWN_INTS + 17
"""Whether a library is to be told of the last state, since it was projected from too far off."""
EVENTS = OWN_INTS + 18
"""How many of the measures are events, which are watched up to the end."""
INTS = 30

# ---------------------------------------------------------------- w
H_MAX = OWN_REALS
RTOL = OWN_REALS + 1
LEAST_STEP = OWN_REALS + 2
"""Steps that are not longer do not move the time."""
SAFE = OWN_REALS + 3
SHRINKS = OWN_REALS + 4
"""A step is divided by this at most."""
GROWS = OWN_REALS + 5
"""A step is divided by this at least."""
BETA = OWN_REALS + 6
EXPONENT = OWN_REALS + 7
"""Of the error, in the next step size."""
OLD_ERROR = OWN_REALS + 8
BAD_T = OWN_REALS + 9
"""Where something was not finite."""
T_TRIED = OWN_REALS + 10
"""Where a projection has failed."""
RESTART_DRIFT = OWN_REALS + 11
"""Drift beyond which a library that takes states back is told of the projected one: the caller does it."""
HEAD = 20

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
UNPROJECTED = 26
"""The state at `Y_NEW` before it was projected, where there are events: the dense output ends there."""
VECTORS = 27

# ---------------------------------------------------------------- what the loop says
REJECTION = OWN_WORDS
CALLBACK_NOT_FINITE = OWN_WORDS + 1
"""The same, at an argument that is not finite."""
TOO_SMALL = OWN_WORDS + 2
RATES_NOT_FINITE = OWN_WORDS + 3
"""At a state that was reached: nothing can be continued from there."""
DENSE_NOT_FINITE = OWN_WORDS + 4
STANDS_STILL = OWN_WORDS + 5
NOT_PROJECTED = OWN_WORDS + 6
"""A projection has left an exception. This and the next word take the step back."""
PROJECTED_NOT_FINITE = OWN_WORDS + 7
GAVE_UP = OWN_WORDS + 8
"""A library has said a word that is no success."""
STATE_NOT_FINITE = OWN_WORDS + 9
"""What a library took for a success."""
TO_RESTART = OWN_WORDS + 10
"""A library is to begin again from the last state."""
