"""Pictures."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "plot_solution": "rbdae.plotting.pictures",
}

__all__ = ["plot_solution"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
