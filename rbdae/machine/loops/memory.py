"""The memory of a one-step loop: numbers by their names, and the places of its vectors; what loops say.

Vectors have m entries, n rounded up to whole vector registers; the entries beyond n stay zero.
"""

from __future__ import annotations

from rbdae.machine.language.words import Address, Fields, Function, Vec

LANES = 4
"""m is a multiple of this."""


class StepMemory(Fields):
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
    h_max: float
    rtol: float
    least_step: float
    """Steps that are not longer do not move the time."""
    safe: float
    shrinks: float
    """A step is divided by this at most."""
    grows: float
    """A step is divided by this at least."""
    beta: float
    exponent: float
    """Of the error, in the next step size."""
    old_error: float
    margin: float
    """How long after the end of the run events are looked for, along the slope of the last step."""
    bad_t: float
    """Where something was not finite."""
    t_tried: float
    """Where a projection has failed."""
    begun: int
    """Whether the first stage and the first step size are there."""
    stale: int
    """Whether the state at the end of the last step was changed from outside, so that its rates are to be had again."""
    moved: int
    """Whether there is a last step, whose end is the start of the next one."""
    after_rejection: int
    """Whether the last attempt was rejected: the step after it does not grow."""
    evaluations: int
    rejected: int
    stalled: int
    """Steps in a row that did not move the time."""
    max_stalled: int
    shrink: int
    """Whether the caller rejects the last attempt: a callback has failed where its arguments were not finite."""
    ever_bad: int
    """Whether something was not finite at any time."""
    projects: int
    """Whether states are projected, see `rbdae.machine.loops.correction`."""
    measured: int
    """How many measures are watched, see `rbdae.machine.loops.watching`."""
    order: int
    """Of the last step of a library's code, see `rbdae.machine.loops.multistep`."""
    code: int
    """The library's last word."""
    takes_back: int
    """Whether a library continues from states that were changed after a step."""
    events: int
    """How many of the measures are events, which are watched up to the end."""

    # rows, and what is done after steps
    output_times: Vec
    output_rows: Vec
    """Output times and their states, (k,) and (k, n)."""
    steps_t: Vec
    steps_y: Vec
    """Where accepted steps are written, with space for `room` of them."""
    correct: Function
    """Of the projection, see `rbdae.machine.loops.correction`."""
    measure: Function
    measure_context: Address
    watched: Vec
    """See `rbdae.machine.loops.watching`."""

    # of steps of fixed size, see `rbdae.machine.loops.fixed`: the machine functions of a scheme with their contexts
    newton: Function
    newton_context: Address
    advance: Function
    advance_context: Address
    predict: Function
    predict_context: Address
    step: Function
    """All of a step; 0 where there is no such function."""
    step_context: Address
    work_of: Function
    work_of_context: Address
    unknowns: int
    """Number of unknowns of a step."""
    most: int
    """Iterations in one step."""
    known: int
    """Whether the unknowns of a step of the same size are there, to begin the next one with."""
    stages: int
    """Number of steps of the scheme in a step."""
    t0: float
    tolerance: float
    """Relative size of a correction, and of what the balances lack, at which the iteration may end."""
    correction: float
    """Relative size of the last correction, or of what the balances lacked before it if that is more."""
    first: float
    """Relative size of the first correction of the last step."""
    work: float
    """Of what has no potential, in the step at hand, where `work_of` is asked."""
    total: float
    """The same up to its start."""


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
DONE = 0
FINISHED = 1
FULL = 2
PAUSED = 3
CALLBACK = 4
"""A function has left an exception."""
TOO_MANY = 5
ASKED = 6
"""The caller is to be asked about the last state."""
REJECTION = 7
CALLBACK_NOT_FINITE = 8
"""The same as `CALLBACK`, at an argument that is not finite."""
TOO_SMALL = 9
RATES_NOT_FINITE = 10
"""At a state that was reached: nothing can be continued from there."""
DENSE_NOT_FINITE = 11
STANDS_STILL = 12
NOT_CONVERGED = 13
"""Newton's method for an implicit step."""
STEP_NOT_FINITE = 14
"""A correction or a state of an implicit step."""
NOT_PROJECTED = 15
"""A projection has left an exception. This and the next word take the step back."""
PROJECTED_NOT_FINITE = 16
GAVE_UP = 17
"""A library has said a word that is no success."""
STATE_NOT_FINITE = 18
"""What a library took for a success."""
