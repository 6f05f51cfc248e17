"""Jacobians, which nobody has written, are the same by recordings and by complex steps of the kernels."""

from __future__ import annotations

import zlib

import cases
import inside
import numpy as np
import pytest
import traced_cases

import rbdae

TOLERANCE = 1e-12
CASES = traced_cases.drawn(25)[: cases.count(5, 4000)]


def derived(problem, kernel, names, y, yd, c):
    """(values by row and column, nodes that are not zero, the recording) of a derived Jacobian at a state."""
    n, rows = problem.n, problem.n_equations
    shapes = {name: (n,) for name in names} | {"out": (rows, n)}
    made = inside.derived.recorded_kernel(problem.workspace, kernel, shapes, (problem.t0, y, yd, c), 2_000_000)
    numbers = {"t": [problem.t0], "y": y, "yd": yd, "c": [c]}
    numbers["selection"] = problem.workspace.numbers
    guards = inside.evaluate(made.graph, [*made.guards], numbers)
    assert [bool(x) for x in guards] == [*made.guards.values()]
    functions = [function.plain for function in made.functions]
    values = np.reshape(inside.evaluate(made.graph, made.outputs, numbers, functions), (rows, n))
    there = np.reshape([made.graph.value(node) != 0.0 for node in made.outputs], (rows, n))
    return values, there, made


@pytest.mark.sampled
@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives_of_recordings_are_those_by_complex_steps(case):
    """On the constraints and off, with no number beside the pattern."""
    try:
        problem = case.problem("auto")
    except ValueError as error:
        assert "singular" in str(error)  # a chart or a director mass that does not fit the system
        return
    kernels, t = problem.workspace.settings.kernels, problem.t0
    rng = np.random.default_rng(zlib.crc32(str(case).encode()))
    for off in (0.0, 0.01):
        y = problem.y0 + off * rng.standard_normal(problem.n)
        yd, c = problem.yd0 + rng.standard_normal(problem.n), 37.5
        found = {"jacobian": derived(problem, kernels.jacobian, ("y", "yd"), y, yd, c)}
        if problem.kind == "ode":
            found["rhs_jacobian"] = derived(problem, kernels.rhs_jacobian, ("y",), y, yd, c)
        for name, (values, there, made) in found.items():
            D = rng.standard_normal((problem.n, 4))  # an entry that is wrong shows in any direction
            wanted = inside.along(problem, name, t, y, yd, c, D)
            error = np.abs(values @ D - wanted).max() / np.abs(wanted).max()
            assert error <= TOLERANCE, (name, off, error)
            in_python = np.empty_like(values)
            pattern = problem._block_pattern if name == "jacobian" else None
            given = (t, y, yd, c) if name == "jacobian" else (t, y)
            inside.in_python(problem.workspace, getattr(kernels, name), pattern)(*given, in_python)
            np.testing.assert_allclose(in_python, values, rtol=0.0, atol=TOLERANCE * np.abs(values).max())
            if name == "jacobian" and not made.functions:
                beside = there & (problem.sparsity.toarray() == 0.0)  # sums of numbers that cancel but for rounding
                assert np.abs(values[beside]).max(initial=0.0) <= 1e-16 * np.abs(values).max()


def test_a_jacobian_in_python_is_as_short_as_its_function():
    """Where a guard fails in a run, the run waits for the recording."""
    problem = rbdae.formulate(rbdae.models.andrews(), "null-space")
    kernels, n = problem.workspace.settings.kernels, problem.n
    point, shapes = (0.0, problem.y0, problem.yd0, 1.0), {"y": (n,), "out": (n,)}
    lengths = [
        len(made(problem.workspace, kernel, shapes, point, 100_000).graph.nodes)
        for made, kernel in (
            (inside.derived.recorded_kernel, kernels.rates),
            (inside.derived.along_directions, kernels.rhs_jacobian),
        )
    ]
    assert lengths[0] > 3000
    assert lengths[1] < 3 * lengths[0]  # with nodes of its own for each column it is 22 times as long


@pytest.mark.parametrize("form", ["index-2", "overdetermined", "index-0"])
def test_columns_of_a_group_share_no_row(form):
    problem = rbdae.formulate(rbdae.models.chain(), form)
    groups, there = problem._block_pattern.groups(problem.n), problem.sparsity.toarray()
    of_group = np.eye(groups.max() + 1)[groups]
    assert (there @ of_group <= 1.0).all()
    assert form == "index-0" or groups.max() < problem.n // 3
