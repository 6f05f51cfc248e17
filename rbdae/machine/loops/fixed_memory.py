"""The memory of a loop of fixed steps: whole numbers `s`, doubles `w`; what is where.

The k-th vector has m entries and begins at ``w[HEAD + k * m]``.
"""

from __future__ import annotations

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

ALMOST = 1e-9
"""A last step whose size differs by less than this part of a step is a whole one."""

# ---------------------------------------------------------------- s
UNKNOWNS = OWN_INTS
"""Number of unknowns of a step."""
ITERATIONS = OWN_INTS + 1
"""Of Newton's method, in all steps."""
MOST = OWN_INTS + 2
"""Iterations in one step."""
KNOWN = OWN_INTS + 3
"""Whether the unknowns of a step of the same size are there, to begin the next one with."""
STAGES = OWN_INTS + 4
"""Number of steps of the scheme in a step."""
END = OWN_INTS + 5
"""Which of the first two vectors has the state at the end of the last step; the other one has that at its start."""
INTS = 16

# ---------------------------------------------------------------- w
T0 = OWN_REALS
TOLERANCE = OWN_REALS + 1
"""Relative size of a correction, and of what the balances lack, at which the iteration may end."""
CORRECTION = OWN_REALS + 2
"""Relative size of the last correction, or of what the balances lacked before it if that is more."""
WORK = OWN_REALS + 3
"""Of what has no potential, up to the start of the step at hand (`rbdae.machine.loops.fixed_work`)."""
HEAD = 12

# ---------------------------------------------------------------- vectors
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
NOT_CONVERGED = OWN_WORDS
NOT_FINITE = OWN_WORDS + 1
"""A correction or a state is not finite."""
