"""Values of events on quantities: quantities less what the events wait for, for the loops that watch them.

Angles count full turns: a value is the one next to what the rates at both ends of a step say. The memory `v` has the
last two accepted times with value and rate, which change when a later time is asked for; a time between them is read
from the earlier one. So it belongs to one run.

Beside each value there is its reach: how far towards zero it may have been between the last two times, by the slopes at
both. A cubic with these slopes stays between lines of the slopes over a third of the step; two thirds are left to what
is no cubic.
"""

from __future__ import annotations

from math import nan, pi

import numpy as np

from rbdae.machine.language.words import Address, Function, Ints, Vec, evaluate

EVENTS, OTHERS, UNKNOWNS, MOVING, KINDS = range(5)
"""Whole numbers: events, those of them that have no rates, unknowns, those that have rates; then the events' kinds."""
VALUE, ANGLE, OTHER = range(3)
"""Kinds of events: a number, one that counts turns, one without a rate."""

SENSE, LITTLE, FIRST = range(3)
"""1, or -1 in a run back in time; the time that is little at the start. Then each event has the numbers below."""
TARGET, T_BEFORE, S_BEFORE, W_BEFORE, T_LAST, S_LAST, W_LAST, BEGUN, NUMBERS = range(9)

REACH = 2.0 / 3.0
"""Of a step, over which a slope is prolonged."""


def followed(s: Ints, v: Vec, w: Vec, t: float, out: Vec) -> int:
    """Values of the events at time t, then their reaches; w has the numbers, then their rates."""
    n = s[EVENTS]
    for k in range(n):
        u = v[FIRST + NUMBERS * k :]
        q = w[k]
        rate = w[n + k]
        if u[BEGUN] == 0.0:
            u[BEGUN] = 1.0
            u[T_LAST] = t
            u[S_LAST] = q
            u[W_LAST] = rate
            u[T_BEFORE] = t
            u[S_BEFORE] = q
            u[W_BEFORE] = rate
        later = v[SENSE] * (t - u[T_LAST])
        if s[KINDS + k] == ANGLE:
            expected = u[S_BEFORE] + 0.5 * (u[W_BEFORE] + rate) * (t - u[T_BEFORE])
            if later >= 0.0:
                expected = u[S_LAST] + 0.5 * (u[W_LAST] + rate) * (t - u[T_LAST])
            q += 2.0 * pi * np.floor((expected - q) / (2.0 * pi) + 0.5)
        if later > 0.0:
            u[T_BEFORE] = u[T_LAST]
            u[S_BEFORE] = u[S_LAST]
            u[W_BEFORE] = u[W_LAST]
            u[T_LAST] = t
            u[S_LAST] = q
            u[W_LAST] = rate
        out[k] = q - u[TARGET]
        last = u[S_LAST] - u[TARGET]
        first = u[S_BEFORE] - u[TARGET] + REACH * u[W_BEFORE] * (u[T_LAST] - u[T_BEFORE])
        second = last - REACH * u[W_LAST] * (u[T_LAST] - u[T_BEFORE])
        reach = last
        if last > 0.0 and min(first, second) < reach:
            reach = min(first, second)
        if last < 0.0 and max(first, second) > reach:
            reach = max(first, second)
        out[n + k] = reach
    return 0


def measured(
    here: Function, context: Address, beside: Function, beside_context: Address, s: Ints, v: Vec, w: Vec, rates: Vec,
    t: float, y: Vec, out: Vec,
) -> int:  # fmt: skip
    """The same at a state y; 1 if a function fails.

    A function fills the beginning of `w` with the numbers and their rates, and the rates of y; another one the numbers
    a little later along the motion, behind them: so those without a rate have one. Then there is place for y.
    """
    n = s[EVENTS]
    for k in range(n):
        out[k] = nan
    if evaluate(here, context, t, y, v, 0.0, w) != 0:
        return 1
    n_y = s[UNKNOWNS]
    later = w[2 * n :]
    begun = v[FIRST + BEGUN]
    step = t - v[FIRST + T_LAST]
    moves = s[OTHERS] > 0 and (begun == 0.0 or v[SENSE] * step > 0.0)
    little = 1e-6 * step if begun != 0.0 else v[LITTLE]
    if moves:
        moved = w[4 * n :]
        for i in range(n_y):
            moved[i] = y[i]
        for i in range(s[MOVING]):
            moved[i] += little * rates[i]
        if evaluate(beside, beside_context, t + little, moved, v, 0.0, later) != 0:
            return 1
    for k in range(n):
        if s[KINDS + k] == OTHER:
            w[n + k] = (later[k] - w[k]) / little if moves else v[FIRST + NUMBERS * k + W_LAST]
    return followed(s, v, w, t, out)


def in_turn(n: int, calls: Ints, t: float, y: Vec, c: float, out: Vec) -> int:
    """Call n machine functions until one fails; of each there is (function, context, y, yd, out, first): without an
    address the own y is given, and the numbers from `first` on in the own `out` are filled."""
    for k in range(n):
        call = calls[6 * k :]
        if call[4] == 0:
            status = evaluate(call[0], call[1], t, y, call[3], c, out[call[5] :])
        elif call[2] == 0:
            status = evaluate(call[0], call[1], t, y, call[3], c, call[4])
        else:
            status = evaluate(call[0], call[1], t, call[2], call[3], c, call[4])
        if status != 0:
            return 1
    return 0
