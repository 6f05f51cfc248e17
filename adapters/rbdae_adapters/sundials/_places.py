"""The array that SUNDIALS hands through to the functions of `_shims`: addresses, whole numbers and doubles, whose
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
    MATRIX_DATA,
    VALUES,
    PLACES,
    ENTRIES,
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
    HISTORY,
    ORDER_WORD,
    SIZE,
) = range(37)
"""Functions of SUNDIALS and machine functions are addresses; DIRECTION, BAD_T, GAMMA (1 / gamma, in the problem's own
time) and TIME are doubles; N, BAD and ENTRIES are whole numbers; all else is where
memory begins."""

MESSAGE_BYTES = 512
"""Of SUNDIALS' last words."""
