"""Arrays of results belong to the user, who writes in them and hands them to SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import splu

import rbdae


def arrays(value: Any) -> list[np.ndarray]:
    """All arrays in a result: of mappings, dataclasses, sparse matrices."""
    if isinstance(value, np.ndarray):
        return [value]
    if hasattr(value, "indptr"):
        return [value.data, value.indices, value.indptr]
    if hasattr(value, "items"):
        return [array for each in value.values() for array in arrays(each)]
    if not type(value).__module__.startswith("rbdae"):  # numbers, rotations
        return []
    names = [name for name in dir(value) if name[0] != "_" and name not in ("units", "reduced_mass")]
    return [array for name in names for array in arrays(getattr(value, name))]


def test_results_of_problems_can_be_written_and_are_taken_by_scipy():
    problem = rbdae.formulate(rbdae.models.planar_slider_crank(), "index-2")
    y, yd = problem.y0, problem.yd0
    sparse = problem.sparse_jacobian(0.0, y, yd, 1.0)
    found = [y, yd, problem.residual(0.0, y, yd), problem.jacobian(0.0, y, yd, 1.0), *arrays(sparse)]
    found += [problem.differential, problem.variable_index, *arrays(problem.sparsity), problem.natural(0.0, y)]
    found += [array for each in ("states", "constraints") for array in arrays(getattr(problem, each)(0.0, y))]
    matrices = problem.matrices(0.0, y, sparse=True)
    found += arrays(matrices)
    assert len(found) > 30 and all(array.flags.writeable for array in found)
    splu(sparse).solve(y)
    matrices.G.eliminate_zeros()
    assert np.isfinite(problem.matrices(0.0, y, sparse=True).G.data).all()
