"""The one place from which tests reach inside rbdae.

Tests go through public names; what has none is asked here, by a function that says what it is. If the inside changes,
this file changes and no test does. `tests/house/test_public_names_only.py` holds the others to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rbdae
from rbdae._arrays import Mat, Vec
from rbdae._check import nearest, unknown
from rbdae._frozen import fill, twin
from rbdae.compiler import ahead, cache
from rbdae.compiler import jit as compiler
from rbdae.compiler.access import address, vector_at
from rbdae.compiler.ahead import LIMIT as LIMIT_OF_WORKERS
from rbdae.compiler.ahead import wait_for as wait_for_workers
from rbdae.compiler.fingerprint import fingerprint
from rbdae.compiler.jit import add_member, entry, family, jit, stage
from rbdae.compiler.options import ENABLED as JIT
from rbdae.compiler.plain import plain
from rbdae.forces.packing import pack
from rbdae.initial.assembly import LARGEST as LARGEST_ASSEMBLY
from rbdae.kernels.log_determinant import log_determinant
from rbdae.kernels.outputs import constraints, natural
from rbdae.kernels.projection import project
from rbdae.multibody import constraint_matrix
from rbdae.multibody.workspace import Workspace

__all__ = [
    "JIT",
    "LARGEST_ASSEMBLY",
    "LIMIT_OF_WORKERS",
    "Mat",
    "Vec",
    "add_member",
    "address",
    "cache_in",
    "constraint_gradient",
    "constraints",
    "entry",
    "family",
    "features",
    "fill",
    "fingerprint",
    "forbid_new_workers",
    "forget_workers",
    "given_up",
    "has_workers",
    "idle_workers",
    "internal_constraints",
    "jit",
    "log_determinant",
    "memory",
    "n_quasi_velocities",
    "n_velocities",
    "natural",
    "nearest",
    "omitted_rows",
    "pack",
    "plain",
    "possible_workers",
    "project",
    "sizes_of_groups",
    "stage",
    "stages",
    "twin",
    "unknown",
    "vector_at",
    "wait_for_workers",
    "workspace",
]


def constraint_gradient(problem: rbdae.Problem, t: float | Vec, y: Vec) -> Mat:
    """G of all joint equations with respect to (xdot, Omega) of the bodies, at a state or at rows of states."""
    return constraint_matrix.gradient(problem.model, np.asarray(t), problem.natural(t, y))


def omitted_rows(problem: rbdae.Problem) -> list[int]:
    """The joint equations without a multiplier, in the order of the joints."""
    return list(problem._workspace.settings.dropped)


def internal_constraints(problem: rbdae.Problem) -> int:
    """Constraints of all rotations together: unit norms, orthonormality."""
    return problem.model.n * len(problem._chart.internal)


def n_velocities(problem: rbdae.Problem) -> int:
    """Velocities of all bodies, before constraints of joints."""
    return int(problem._sizes["n_v"])


def n_quasi_velocities(problem: rbdae.Problem) -> int:
    """Independent quasi-velocities nu of a null-space form."""
    return int(problem._sizes["n_nu"])


def features(problem: rbdae.Problem) -> set[str]:
    """What the problem needs of the kernels' stages."""
    return set(problem._workspace.features)


def workspace(problem: rbdae.Problem, scalar: Any = np.float64) -> Workspace:
    """A workspace of its own for the problem's model and settings, for numbers of any kind."""
    return Workspace(problem.model, problem._workspace.settings, scalar=scalar)


def memory(problem: rbdae.Problem) -> dict[str, Vec]:
    """The arrays that the kernels work in, by name."""
    return dict(problem._workspace._arrays)


# ---------------------------------------------------------------- compiling


def stages() -> list[compiler.Stage]:
    """All stages that this process has imported."""
    return [kernel for kernel in compiler._KERNELS.values() if isinstance(kernel, compiler.Stage)]


def sizes_of_groups() -> list[int]:
    """A list that gets the number of workers whenever some are started."""
    sizes = []

    class Workers(ahead._Workers):
        def __init__(self, kernels: Sequence[ahead.Kernel], size: int) -> None:
            super().__init__(kernels, size)
            sizes.append(size)

    ahead._Workers = Workers  # type: ignore[misc]
    return sizes


def has_workers() -> bool:
    return ahead._workers is not None


def given_up() -> set[str]:
    """Names of kernels that no worker will be asked for again."""
    return ahead._given_up


def possible_workers() -> int:
    return ahead._processes()


def forget_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_workers", None)
    monkeypatch.setattr(ahead, "_given_up", set())


def forbid_new_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """To start some is an error."""
    monkeypatch.setattr(ahead, "_Workers", None)


def idle_workers(monkeypatch: pytest.MonkeyPatch, patience: float) -> None:
    """Workers that do nothing, and a process that waits for that many seconds."""
    monkeypatch.setattr(ahead, "_CHILD", "import time; time.sleep(100.0)  # {path}")
    monkeypatch.setattr(ahead, "_PATIENCE", patience)


def cache_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(cache, "directory", lambda: folder)
