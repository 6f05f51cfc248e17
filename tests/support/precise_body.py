"""The free rigid body by Taylor series of order 40 with 200 bits: an independent reference for closed forms.

The equations themselves are integrated, J Omegadot = -Omega x J Omega and qdot = q (0, Omega / 2), in whole numbers
that stand for multiples of 2^-200. Energy and momentum show how many digits are right.
"""

from __future__ import annotations

from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np

BITS = 200
ORDER = 40


def whole(x: float | Fraction) -> int:
    return round(Fraction(x) * (1 << BITS))


def number(x: int) -> float:
    return float(Fraction(x, 1 << BITS))


def free_body(moments: Any, Omega: Any, t_end: float, samples: int = 8, angle: float = 0.6) -> tuple[Any, ...]:
    """(t, Omega, q, defect): the motion at `samples` times up to t_end, with q = 1 at the start.

    The defect is the relative change of energy and of |q|; a step turns the body by about `angle`.
    """
    I = [Fraction(float(x)) for x in moments]
    Omega_now = [whole(Fraction(float(x))) for x in Omega]
    q = [whole(1), 0, 0, 0]
    rates = [whole((I[1] - I[2]) / I[0]), whole((I[2] - I[0]) / I[1]), whole((I[0] - I[1]) / I[2])]
    energy = _energy(I, Omega_now)
    times, velocities, quaternions = [], [], []
    for sample in range(1, samples + 1):
        end = float(t_end) * sample / samples
        left = whole(end) - (whole(times[-1]) if times else 0)
        while left:
            size = float(np.linalg.norm([number(x) for x in Omega_now]))
            h = left
            assert size < 1e6 * (1.0 + float(np.linalg.norm(Omega))), "the series diverges: take a smaller angle"
            if size:
                h = max(-whole(angle / size), min(left, whole(angle / size)))
            Omega_now, q = _step(rates, Omega_now, q, h)
            left -= h
        times.append(end)
        velocities.append([number(x) for x in Omega_now])
        quaternions.append([number(x) for x in q])
    norm = sum(Fraction(x, 1 << BITS) ** 2 for x in q)
    defect = max(abs(float(_energy(I, Omega_now) / energy - 1)) if energy else 0.0, abs(float(norm - 1)))
    return np.array(times), np.array(velocities), np.array(quaternions), defect


def _energy(I: list[Fraction], w: list[int]) -> Fraction:
    return sum((i * Fraction(x, 1 << BITS) ** 2 for i, x in zip(I, w, strict=True)), Fraction(0))


def _step(rates: list[int], Omega: list[int], q: list[int], h: int) -> tuple[list[int], list[int]]:
    """A step h by the Taylor series, whose coefficients, times powers of h, follow from products of series."""
    a, b, c = ([x] for x in Omega)
    p = [[x] for x in q]
    for k in range(ORDER):
        ra, rb, rc = a[::-1], b[::-1], c[::-1]
        half = 2 * (k + 1) << BITS
        p0, p1, p2, p3 = p

        def times(x: list[int], y: list[int]) -> int:
            return sum(map(mul, x, y))

        new = (
            -times(p1, ra) - times(p2, rb) - times(p3, rc),
            times(p0, ra) + times(p2, rc) - times(p3, rb),
            times(p0, rb) + times(p3, ra) - times(p1, rc),
            times(p0, rc) + times(p1, rb) - times(p2, ra),
        )
        products = (times(b, rc), times(c, ra), times(a, rb))
        for series, value in zip(p, new, strict=True):
            series.append((value >> BITS) * h // half)
        for series, rate, value in zip((a, b, c), rates, products, strict=True):
            series.append(((rate * (value >> BITS)) >> BITS) * h // (half >> 1))
    return [sum(a), sum(b), sum(c)], [sum(series) for series in p]
