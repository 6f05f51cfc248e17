"""Equations and what a state means."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Problem": "rbdae.problem.problem",
    "Callbacks": "rbdae.problem.problem",
    "Layout": "rbdae.problem.problem",
}

__all__ = ["Callbacks", "Layout", "Problem"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
