"""Numbers that follow from others, row by row of a tape (`rbdae.graph.loaded.Tape`)."""

from __future__ import annotations

from math import sqrt

from rbdae.graph.loaded import ADD, DIVIDE, MULTIPLY
from rbdae.machine.language.words import Ints, Vec


def follow(n: int, first: int, rows: Ints, values: Vec, m: int, results: Ints, places: Ints, out: Vec) -> bool:
    """values[first + k] = the number of row k, for n rows (operation, i, j) of `rows`; then the m `results` among the
    values to their places in `out`. Whether those that rows have made are finite."""
    for k in range(n):
        row = rows[3 * k :]
        x = values[row[1]]
        y = values[row[2]]
        if row[0] == ADD:
            values[first + k] = x + y
        elif row[0] == MULTIPLY:
            values[first + k] = x * y
        elif row[0] == DIVIDE:
            values[first + k] = x / y
        else:
            values[first + k] = sqrt(x)
    zero = 0.0
    for k in range(m):
        x = values[results[k]]
        out[places[k]] = x
        if results[k] >= first:
            zero += 0.0 * x
    return zero == 0.0
