"""What SUNDIALS hands through to the functions of `_shims`: an array of addresses, whole numbers and doubles, whose
places have these names."""

from __future__ import annotations

(
    ARRAY,
    FUNCTION,
    CONTEXT,
    JACOBIAN,
    JACOBIAN_CONTEXT,
    N,
    DIRECTION,
    SCRATCH,
    BAD,
    BAD_T,
    FAILED,
    MATRIX_DATA,
    VALUES,
    PLACES,
    ENTRIES,
    INDEX_POINTERS,
    INDEX_VALUES,
    POINTER_TABLE,
    VALUE_TABLE,
    POINTER_BYTES,
    VALUE_BYTES,
    FACTORS,
    FACTORS_CONTEXT,
    FACTORS_MEMORY,
    SOLVE,
    SOLVE_CONTEXT,
    REPAIR,
    GAMMA,
    NEAR,
    NEAR_CONTEXT,
    INFO,
    PROJECTED,
    ANYWHERE,
    INTEGRATOR,
    STEP,
    STATE,
    RATES,
    TIME,
    DERIVATIVE,
    DERIVATIVE_VECTOR,
    ORDER,
    REINITIALISE,
    MESSAGE,
    ORDER_WORD,
    SIZE,
) = range(45)
"""Functions of SUNDIALS and machine functions are addresses; DIRECTION, BAD_T, GAMMA (1 / gamma, in the problem's own
time) and TIME are doubles; N, BAD, FAILED, ENTRIES and the two numbers of bytes are whole numbers; all else is where
memory begins."""

MESSAGE_BYTES = 512
"""Of SUNDIALS' last words."""

PIVOTS = 2
"""What factors say where pivots have to be chosen again."""

TAKE_STEP, TAKE_BACK, DERIVATIVES = 0.0, -1.0, 1.0
"""What `c` asks of the function of a loop: a step, another state, or, with k added, the k-th derivative."""
