"""Jacobians of recorded code, which nobody has written, are those of the kernels that people have written."""

from __future__ import annotations

import zlib

import cases
import inside
import numpy as np
import pytest
import samples
import traced_cases
from inside import JIT
from toy_formulation import StiffJoints, StiffJointsAlone

import rbdae
from rbdae.graph.evaluate import evaluate

TOLERANCE = 1e-12
CASES = traced_cases.drawn(25)[: samples.count(12, 4000)]


def derived(problem, kernel, names, y, yd, c):
    """(values by row and column, nodes that are not zero, the recording) of a derived Jacobian at a state."""
    n, rows = problem.n, problem.n_equations
    shapes = {name: (n,) for name in names} | {"out": (rows, n)}
    made = inside.derived.recorded_kernel(problem.workspace, kernel, shapes, (problem.t0, y, yd, c), 2_000_000)
    numbers = {"t": [problem.t0], "y": y, "yd": yd, "c": [c]}
    numbers["selection"] = inside.recording.selection_numbers(problem.workspace)
    guards = evaluate(made.graph, [*made.guards], numbers)
    assert [bool(x) for x in guards] == [*made.guards.values()]
    functions = [function.plain for function in made.functions]
    values = np.reshape(evaluate(made.graph, made.outputs, numbers, functions), (rows, n))
    there = np.reshape([made.graph.value(node) != 0.0 for node in made.outputs], (rows, n))
    return values, there, made


def written(problem, kernel, *arguments):
    out, workspace = np.zeros((problem.n_equations, problem.n)), inside.workspace(problem)
    workspace.make_rhs_tangent()
    workspace.plain(kernel)(*arguments, out)
    return out


@pytest.mark.sampled
@pytest.mark.parametrize("case", CASES, ids=str)
def test_derived_jacobians_are_the_written_ones(case):
    """On the constraints and off, with no entry beside the pattern."""
    try:
        problem = case.problem("traced")
    except ValueError as error:
        assert "singular" in str(error)  # a chart or a director mass that does not fit the system
        return
    kernels, t = problem.workspace.settings.kernels, problem.t0
    rng = np.random.default_rng(zlib.crc32(str(case).encode()))
    for off in (0.0, 0.01):
        y = problem.y0 + off * rng.standard_normal(problem.n)
        yd, c = problem.yd0 + rng.standard_normal(problem.n), 37.5
        found = {"jacobian": (*derived(problem, kernels.jacobian, ("y", "yd"), y, yd, c), (t, y, yd, c))}
        if problem.kind == "ode":
            found["rhs_jacobian"] = (*derived(problem, kernels.rhs_jacobian, ("y",), y, yd, c), (t, y))
        for name, (values, there, made, at) in found.items():
            wanted = written(problem, getattr(kernels, name), *at)
            error = np.abs(values - wanted).max() / np.abs(wanted).max()
            assert error <= TOLERANCE, (name, off, error, np.argmax(np.abs(values - wanted)))
            if name == "jacobian" and not made.functions:
                assert not (there & (problem.sparsity.toarray() == 0.0)).any()


@pytest.mark.users
@pytest.mark.skipif(not JIT, reason="without the JIT there is no code of one model")
def test_a_formulation_of_its_equations_alone_has_jacobians():
    """In code of the model; elsewhere, where guards do not hold, they are derived at the state."""
    with_kernels = rbdae.formulate(cases.built("C"), StiffJoints(alpha=0.5, beta=3.0))
    alone = rbdae.formulate(cases.built("C"), StiffJointsAlone(alpha=0.5, beta=3.0))
    t, y, yd = alone.t0, alone.y0 + 0.01, alone.yd0 + 1.0
    assert {alone.callbacks.code(name) for name in ("jacobian", "jacobian_data", "rhs_jacobian")} == {"traced"}
    for name, at in (("jacobian", (t, y, yd, 3.0)), ("rhs_jacobian", (t, y))):
        wanted = getattr(with_kernels, name)(*at)
        found, slowly = getattr(alone, name)(*at), np.full_like(wanted, np.nan)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
        inside.generic_callback(alone, name)(*at, slowly)
        np.testing.assert_allclose(slowly, wanted, rtol=1e-12, atol=1e-12)
    assert not (alone.sparsity.toarray() > with_kernels.sparsity.toarray()).any()
    data = alone.sparsity
    alone.callbacks.jacobian_data(t, y, yd, 3.0, data.data)
    np.testing.assert_allclose(data.toarray(), with_kernels.jacobian(t, y, yd, 3.0), rtol=1e-12, atol=1e-12)
    runs = [rbdae.solve(problem, (0.0, 0.3), solver="scipy:BDF", rtol=1e-6) for problem in (alone, with_kernels)]
    np.testing.assert_allclose(runs[0].y[-1], runs[1].y[-1], rtol=1e-4, atol=1e-4)


def test_generic_code_refuses_a_formulation_of_its_equations_alone():
    with pytest.raises(ValueError, match="'stiff-joints-alone' has no kernel of its Jacobian"):
        rbdae.formulate(cases.built("C"), StiffJointsAlone(), code="generic")
