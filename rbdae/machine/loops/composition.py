"""Composition of a symmetric scheme of order two to higher order: several of its steps, of sizes w_i h, in one.

From a symmetric method of even order p, steps of sizes with sum w_i = 1 and sum w_i^(p + 1) = 0 make one of order p + 2
([HLW06], II.4): Suzuki's five, (a, a, 1 - 4 a, a, a) with a = 1 / (4 - 4^(1 / (p + 1))), or Yoshida's three,
(b, 1 - 2 b, b) with b = 1 / (2 - 2^(1 / (p + 1))). Both are symmetric, so that order six is made in the same way from
order four. What a step keeps, one of negative size keeps, too.
"""

from __future__ import annotations

COMPOSITIONS = ("suzuki", "yoshida")
"""The first one is the default: for 5 / 3 of the cost it is much more accurate, as |w_i| < 0.66 and not 1.71."""

ORDERS = (2, 4, 6)


def weights(kind: str, order: int) -> tuple[float, ...]:
    """w_i of one of `COMPOSITIONS`, of an order of `ORDERS`.

    >>> len(weights("suzuki", 4)), len(weights("yoshida", 6))
    (5, 9)
    """
    out: tuple[float, ...] = (1.0,)
    for power in range(3, order + 1, 2):
        n = 4 if kind == "suzuki" else 2
        part = 1.0 / (n - n ** (1.0 / power))
        half = (part,) * (n // 2)
        out = tuple(a * b for a in (*half, 1.0 - n * part, *half) for b in out)
    return out
