"""Checks of arguments of the functions of quaternions."""

from __future__ import annotations

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.rotations import checks


def quaternions(owner: str, **given: ArrayLike) -> tuple[Vec, ...]:
    """Stacks (..., 4) of four numbers with broadcastable leading axes: an array for each, in order."""
    stacks = {name: checks.vectors(owner, name, value, 4) for name, value in given.items()}
    checks.together(owner, **{name: (value, 1) for name, value in stacks.items()})
    return tuple(stacks.values())


def inertia4(owner: str, inertia: ArrayLike) -> Mat:
    """J4 = diag(tr(J) / 2, J) from three principal moments or a matrix (3, 3), [BS09] above (32)."""
    matrix = _check.symmetric(owner, "inertia", inertia, (3,), (3, 3))
    J = np.diag(matrix) if matrix.ndim == 1 else matrix
    out = np.zeros((4, 4))
    out[0, 0], out[1:, 1:] = 0.5 * np.trace(J), J
    if not np.linalg.eigvalsh(J).min() > 0.0:
        raise ValueError(
            f"{owner}: inertia must be positive definite, got {_check.show(inertia)}; give moments above 0"
        )
    return out


def inverse4(owner: str, inertia: ArrayLike) -> Mat:
    """J4^-1."""
    return np.asarray(np.linalg.inv(inertia4(owner, inertia)), dtype=float)


def step_size(owner: str, step: float) -> float:
    """A nonzero step size, negative for steps back in time."""
    h = _check.number(owner, "step", step)
    if h == 0.0:
        raise ValueError(f"{owner}: step must not be zero, got {step!r}; give that of the run, in seconds")
    return h


def times(A: Mat, x: Vec) -> Vec:
    """A x for stacks of matrices and vectors."""
    out: Vec = (A @ x[..., None])[..., 0]
    return out


def transposed(A: Mat) -> Mat:
    """A^T of a stack."""
    out: Mat = np.swapaxes(A, -1, -2)
    return out
