"""Every kernel in one process as machine code and as plain Python, which takes any numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import cases
import inside
import numpy as np
import pytest
from cases import Pairing

from rbdae.formulations import FORMULATIONS

CASES = [
    ("C", Pairing("index-2", "quaternion", "angular")),
    ("C", Pairing("null-space", "quaternion", "angular")),
    ("tied", Pairing("index-0", "directors", "coordinate")),
    ("skew-top", Pairing("ggl", "euler-313", "angular")),
]
IDS = [f"{s}-{p}" for s, p in CASES]


def _entries(problem: Any) -> list[Any]:
    kernels = problem.workspace.settings.kernels
    return [kernels.residual, kernels.rates, inside.constraints, inside.natural, inside.log_determinant, inside.project]


def _arguments(problem: Any, entry: Any, rng: np.random.Generator) -> tuple[list[Any], int]:
    """Arguments of an entry, beside the memory, and the number of the first one that it writes to."""
    n, m = problem.n, problem.n_equations
    y = problem.y0 + 0.01 * rng.standard_normal(n)
    if entry is inside.project:
        weights = problem.callbacks._violation_scales.weights
        wanted = (1e-12, 1e-12, 50.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1e-9)
        return [problem.t0, y, np.concatenate([wanted, weights])], 1
    arguments: list[Any] = []
    for k, sign in enumerate(entry.signs[1:]):
        if sign == "t":
            arguments.append(problem.t0 if k == 0 else 1.5)
        elif sign == "y":
            arguments.append(y if k == 1 else rng.standard_normal(n))
        else:
            arguments.append(np.zeros((m, n)) if sign == "M" else np.zeros(24 * (n + m)))
    return arguments, len(arguments) - 1


@pytest.mark.parametrize("system, pairing", CASES, ids=IDS)
def test_compiled_and_plain_kernels_give_the_same(system, pairing, rng):
    problem = cases.problem(system, pairing)
    workspace = inside.workspace(problem)
    workspace.make_null_space()
    for entry in _entries(problem):
        arguments, first = _arguments(problem, entry, rng)
        results = []
        for kernel in (workspace.compiled(entry), workspace.plain(entry)):
            copies = [a.copy() if k >= first else a for k, a in enumerate(arguments)]
            kernel(*copies)
            results.append(copies[first:])
        for machine, python in zip(*results, strict=True):
            size = max(1.0, np.abs(machine[np.isfinite(machine)]).max())
            np.testing.assert_allclose(python, machine, rtol=0, atol=1e-12 * size, err_msg=entry.name)


@pytest.mark.generic  # complex steps are steps of plain kernels
@pytest.mark.parametrize("system, pairing", CASES, ids=IDS)
def test_complex_steps_give_the_jacobian(system, pairing, rng):
    problem = cases.problem(system, pairing)
    workspace = inside.workspace(problem, complex)
    residual = workspace.plain(FORMULATIONS[pairing.formulation].kernels.residual)
    yd = problem.yd0 + rng.standard_normal(problem.n)
    exact = problem.jacobian(problem.t0, problem.y0, yd, 0.0)
    # an entry that is wrong shows in any direction
    for direction in rng.standard_normal((3, problem.n)):
        out = np.zeros(problem.n_equations, dtype=complex)
        residual(problem.t0, problem.y0 + 1e-30j * direction, yd, out)
        np.testing.assert_allclose(out.imag / 1e-30, exact @ direction, rtol=0, atol=1e-11 * np.abs(exact).max())


CODE = """
import json
import numpy as np
import rbdae
problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-2")
y = problem.y0 + 0.01 * np.arange(problem.n)
print(json.dumps([problem.residual(0.0, y, y).tolist(), problem.jacobian(0.0, y, y, 2.0).tolist()]))
"""


@pytest.mark.parametrize("disabled", ["0", "1"])
def test_with_and_without_the_jit(disabled):
    """Other processes with and without the JIT give what this one gives."""
    environment = os.environ | {"RBDAE_PLAIN": disabled, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr[-3000:]
    problem = cases.problem("C", CASES[0][1])
    y = problem.y0 + 0.01 * np.arange(problem.n)
    here = (problem.residual(0.0, y, y), problem.jacobian(0.0, y, y, 2.0))
    for there, values in zip(json.loads(run.stdout), here, strict=True):
        np.testing.assert_allclose(there, values, rtol=0, atol=1e-13 * np.abs(values).max())
