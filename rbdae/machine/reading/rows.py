"""A machine function for every row."""

from __future__ import annotations

from rbdae.machine.language.words import Address, Function, Vec, evaluate


def each_row(
    function: Function, context: Address, m: int, t: Vec, y: Vec, n_y: int, yd: Vec, n_yd: int, out: Vec, n: int
) -> int:
    """out (m, n) = function(t, y, yd) row by row, y (m, n_y) and yd (m, n_yd); the number of rows done, which is less
    than m if the function has failed."""
    for i in range(m):
        if evaluate(function, context, t[i], y[i * n_y :], yd[i * n_yd :], 0.0, out[i * n :]) != 0:
            return i
    return m
