"""Solvers by name, runs, and their solutions."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "SolverInfo": "rbdae.solving.run",
    "SolverTable": "rbdae.solving.run",
    "adapter": "rbdae.solving.run",
    "find_method": "rbdae.solving.run",
    "solve": "rbdae.solving.run",
    "solvers": "rbdae.solving.run",
    "solvers_for": "rbdae.solving.run",
}

__all__ = ["SolverInfo", "SolverTable", "adapter", "find_method", "solve", "solvers", "solvers_for"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
