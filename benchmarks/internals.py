"""The one place where the benchmarks reach inside rbdae: its kernels without their callbacks, and their memory."""

from __future__ import annotations

from typing import Any

import rbdae
from rbdae.formulations import FORMULATIONS

_KERNELS = {"rhs": "rates"}
"""Callbacks whose kernel has another name."""


def kernel(problem: rbdae.Problem, callback: str) -> tuple[Any, str]:
    """The compiled function behind a callback, and its signature as a word of one letter per argument."""
    entry = getattr(FORMULATIONS[problem.formulation].kernels, _KERNELS.get(callback, callback))
    return entry.kernel, entry.signs


def memory_address(problem: rbdae.Problem) -> int:
    """The first argument of every kernel: the address of the memory that the problem's kernels share."""
    return int(problem.workspace.m)


def memory_bytes(problem: rbdae.Problem) -> int:
    """Bytes of the arrays that the kernels work on."""
    return problem.workspace.n_bytes
