"""How much of a product tests go through: a seeded sample in every run, all before a release (`tools/long`)."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from rbdae.rotations import CHARTS

LONG = os.environ.get("RBDAE_LONG", "") not in ("", "0")
"""Whether this is the long run."""


def count(usual: int, long: int) -> int:
    """The number of cases of a test marked ``sampled``; case k is the same in both runs."""
    return long if LONG else usual


# ---------------------------------------------------------------- charts

ALWAYS = ("quaternion", "directors", "euler-313")
"""The charts that every test of every chart runs with."""

DRAWN = tuple(name for name in CHARTS if name not in ALWAYS)
"""The charts that take turns."""


@cache
def charts(seed: str, k: int = 0) -> tuple[str, ...]:
    """The charts of case k of a test: those of `ALWAYS` and one drawn of the others, in any six cases on end each; all
    charts in the long run, where `conftest.py` marks what the usual run has left out as ``sampled``."""
    if LONG:
        return tuple(CHARTS)
    turns = np.random.default_rng(zlib.crc32(seed.encode())).permutation(len(DRAWN))
    return (*ALWAYS, DRAWN[turns[k % len(DRAWN)]])


@cache
def spatial_charts(seed: str, k: int = 0) -> tuple[str, ...]:
    """The charts that case k of a test has with spatial velocities: one, and all take turns; all in the long run."""
    names = tuple(CHARTS)
    if LONG:
        return names
    turns = np.random.default_rng(zlib.crc32(seed.encode())).permutation(len(names))
    return (names[turns[k % len(names)]],)


def with_charts(mechanisms: Iterable[str], seed: str = "") -> list[tuple[str, str]]:
    """Each mechanism with its charts."""
    return [(name, chart) for k, name in enumerate(mechanisms) for chart in charts(seed, k)]


def has_drawn_chart(value: Any) -> bool:
    """Whether a parameter of a test is, or has, a chart that takes turns, or spatial velocities, for which all do."""
    if isinstance(value, tuple):
        return any(has_drawn_chart(part) for part in value)
    return isinstance(value, str) and (value in DRAWN or value == "spatial")
