"""The one place from which tests reach inside rbdae.

Tests go through public names; what has none is asked here, by a function that says what it is. If the inside changes,
this file changes and no test does. `tests/house/test_public_names_only.py` holds the others to it.
"""

from __future__ import annotations

import numpy as np

import rbdae
from rbdae._arrays import Mat, Vec
from rbdae._check import nearest, unknown
from rbdae._frozen import fill, twin
from rbdae.compiler.options import ENABLED as JIT
from rbdae.initial.assembly import LARGEST as LARGEST_ASSEMBLY
from rbdae.multibody import constraint_matrix

__all__ = [
    "JIT",
    "LARGEST_ASSEMBLY",
    "Mat",
    "Vec",
    "constraint_gradient",
    "features",
    "fill",
    "internal_constraints",
    "memory",
    "n_quasi_velocities",
    "n_velocities",
    "nearest",
    "omitted_rows",
    "twin",
    "unknown",
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


def memory(problem: rbdae.Problem) -> dict[str, Vec]:
    """The arrays that the kernels work in, by name."""
    return dict(problem._workspace._arrays)
