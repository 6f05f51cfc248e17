"""Times to reach an error: a scan over tolerances, then rounds in which all methods take turns.

Times are those of the processor for this process, so that other processes on the machine count little.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import c_library
from .mechanisms import Array, Mechanism
from .method import Compiled, Method
from .reference import error

SHORTEST = 2e-2
"""Runs that take less are repeated until they take so long together, s: a study makes many. Right after another peer's
runs the first ones find cold caches, and take up to four times as long where they go through Python."""


@dataclass
class Point:
    """One method with one knob: its error, seconds of the first run, and those of the rounds."""

    knob: float
    error: float
    run: Callable[[], Any] = field(repr=False)
    first: float = math.nan
    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Seconds of a run."""
        return float(np.median(self.seconds)) if self.seconds else self.first


@dataclass
class Row:
    """A method of a peer with the points that were tried."""

    peer: str
    method: str
    points: list[Point]
    note: str = ""


def scan(mechanism: Mechanism, peer: str, method: Method, expected: Array, longest: float) -> Row:
    """One run with each knob, from coarse to fine, until all targets are reached twice or a run takes `longest`."""
    row, reached = Row(peer, method.name, []), 0
    for knob in method.knobs:
        try:
            run = method.prepare(knob)
            run()  # the first one may compile
            seconds, result = once(run)
            found = error(mechanism, method.centres(result), expected)
        except (ArithmeticError, RuntimeError) as failure:
            row.note = str(failure).strip().splitlines()[0] if str(failure).strip() else type(failure).__name__
            continue
        if not math.isfinite(found):
            continue
        row.points.append(Point(knob, found, run, seconds))
        reached = reached + 1 if found < min(mechanism.targets) else 0
        if reached == 2 or seconds > longest:
            break
    return row


def once(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a run, and what it returned."""
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def around(points: Sequence[Point], target: float) -> tuple[Point, ...]:
    """The two points between which the error becomes smaller than the target for good; one, if the first one has it;
    none, if no one has."""
    below = len(points)
    while below and points[below - 1].error <= target:
        below -= 1
    if below == len(points):
        return ()
    return (points[0],) if below == 0 else (points[below - 1], points[below])


def interpolated(points: Sequence[Point], target: float) -> float | None:
    """Seconds to reach the target: the line between the logarithms. None, if it is not reached."""
    found = around(points, target)
    if len(found) < 2:
        return found[0].median if found else None
    a, b = found
    if a.error <= b.error:  # not to be had from a line
        return b.median
    share = math.log(a.error / target) / math.log(a.error / b.error)
    return math.exp((1.0 - share) * math.log(a.median) + share * math.log(b.median))


def rounds(rows: Sequence[Row], targets: Sequence[float], repeats: int, budget: float) -> None:
    """Fill in `seconds` of the points that count, in turns; after three rounds, none takes over `budget` seconds."""
    points = {id(p): p for row in rows for target in targets for p in around(row.points, target)}
    used = dict.fromkeys(points, 0.0)
    for turn in range(repeats):
        for key, point in points.items():
            if turn >= 3 and used[key] > budget:
                continue
            n = max(1, math.ceil(SHORTEST / max(point.first, 1e-7)))
            start = time.process_time()
            for _ in range(n):
                point.run()
            passed = time.process_time() - start
            used[key] += passed
            point.seconds.append(passed / n)


def inside(mechanism: Mechanism, functions: Sequence[Compiled], repeats: int) -> list[float]:
    """Seconds of a call of each function in a compiled loop, in turns; medians."""
    call = c_library.library().call_many
    y, double = (
        np.concatenate((mechanism.y0, np.ones(3))),
        ctypes.c_double,
    )  # with multipliers, where a function has them
    found: list[list[float]] = [[] for _ in functions]
    for turn in range(repeats + 1):
        for function, seconds in zip(functions, found, strict=True):
            out = np.empty(function.shape)
            yd = np.ones_like(y)
            n = 1 if turn == 0 else max(1, math.ceil(SHORTEST / max(seconds[0], 1e-9)))
            arguments = (ctypes.c_void_p(function.address), ctypes.c_void_p(function.context), double(0.0))
            arrays = (c_library.pointer(y), c_library.pointer(yd), double(7.0), c_library.pointer(out))
            start = time.process_time()
            if call(*arguments, *arrays, ctypes.c_long(n)):
                raise ArithmeticError(f"{function.name} of {mechanism.name} failed")
            seconds.append((time.process_time() - start) / n)
    return [float(np.median(s[1:])) for s in found]
