"""Comparing formulations, rotations and solvers on one system."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Case": "rbdae.study.comparison",
    "Comparison": "rbdae.study.comparison",
    "Errors": "rbdae.study.comparison",
    "Reference": "rbdae.study.comparison",
    "Row": "rbdae.study.comparison",
    "cases": "rbdae.study.comparison",
    "compare": "rbdae.study.comparison",
    "compare_cases": "rbdae.study.comparison",
    "compile_kernels": "rbdae.study.comparison",
    "errors": "rbdae.study.comparison",
    "final_state": "rbdae.study.comparison",
    "installed_solvers": "rbdae.study.comparison",
    "reference": "rbdae.study.comparison",
    "run": "rbdae.study.comparison",
}

__all__ = [
    "Case",
    "Comparison",
    "Errors",
    "Reference",
    "Row",
    "cases",
    "compare",
    "compare_cases",
    "compile_kernels",
    "errors",
    "final_state",
    "installed_solvers",
    "reference",
    "run",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
