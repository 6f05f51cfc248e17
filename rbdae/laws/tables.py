"""Tables and splines as functions of a symbol: the segment is chosen, by halves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rbdae.laws.arrays import OF_ARRAYS, again, bare, each, numbers, refuse
from rbdae.laws.numbers import Number, choice


def _of_segment(x: Any, places: Any, of: Callable[[int], Any]) -> Any:
    """What there is in the segment of x, by its number, between places in order."""

    def among(first: int, last: int) -> Any:
        if last - first == 1:
            return of(first)
        middle = (first + last) // 2
        return choice(x < places[middle], among(first, middle), among(middle, last))

    return among(0, len(places) - 1)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """`numpy.interp` in a table of known numbers."""
    if period is not None:
        refuse(x, "it calls numpy.interp with period=")
    places, values = np.asarray(xp, dtype=float), np.asarray(fp, dtype=float)
    slopes = np.diff(values) / np.diff(places)

    def segment(s: Any) -> Any:
        return _of_segment(s, places, lambda k: slopes[k] * (s - places[k]) + values[k])

    def one(s: Any) -> Any:
        if not isinstance(s, Number):
            return float(np.interp(s, places, values, left, right))
        inside = segment(s) if len(places) > 1 else values[0]
        beyond = values[-1] if right is None else right
        above = choice(s >= places[-1], choice(s > places[-1], beyond, values[-1]), inside)
        out = choice(s < places[0], values[0] if left is None else left, above)
        return choice(s == s, out, s) if len(places) < 2 or slopes[-1] == 0.0 else out

    return again(each(one, [bare(x)]))


def piecewise(spline: Any) -> Callable[..., Any]:
    """A spline of scipy as a function of a symbol: the coefficients are chosen, and one polynomial is evaluated."""

    def call(x: Any, *others: Any, **options: Any) -> Any:
        if not isinstance(x, Number):
            return spline(x, *others, **options)
        from scipy.interpolate import PPoly

        own = spline if isinstance(spline, PPoly) else PPoly.from_spline(spline)
        order = int(others[0] if others else options.get("nu", 0))
        for _ in range(order):
            own = own.derivative()
        if own.extrapolate is not True and own.extrapolate != 1:
            x.tape.refuse(f"it calls a spline with extrapolate={spline.extrapolate!r}")
        places, table = own.x, own.c.reshape(*own.c.shape[:2], -1)

        def chosen(values: Any) -> Any:
            return _of_segment(x, places, lambda k: float(values[k]))

        s = x - chosen(places)
        out = []
        for column in range(table.shape[2]):
            value: Any = 0.0
            for row in table[:, :, column]:
                value = value * s + chosen(row)
            out.append(value)
        return out[0] if own.c.ndim == 2 else numbers(out).reshape(own.c.shape[2:])

    return call


OF_ARRAYS["interp"] = interp
