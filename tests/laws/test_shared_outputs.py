"""An output may share memory with an input, in any overlap: the result is that of arrays apart, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import cases
import numpy as np
import pytest

import rbdae

MODELS = {
    "linked_bodies": (rbdae.models.linked_bodies, ("index-0", "index-2")),
    "heavy_top": (rbdae.models.heavy_top, ("null-space",)),
}
CASES = [(model, form) for model, (_, forms) in MODELS.items() for form in forms]


class Evaluation(NamedTuple):
    """A callback with its inputs, the shape of its output, and how it is called with them."""

    inputs: dict[str, Any]
    shape: tuple[int, ...]
    checked: Callable[..., Any]
    bare: Callable[..., Any]


def evaluations(problem: rbdae.Problem, rng: np.random.Generator) -> dict[str, Evaluation]:
    """All that have an `out`."""
    n, rows, nnz = problem.n, problem.n_equations, problem.sparsity.nnz
    y, yd = problem.y0 + 1e-3 * rng.standard_normal(n), rng.standard_normal(n)
    p, bare = problem, problem.callbacks
    both = {"y": y, "yd": yd}
    found = {
        "residual": Evaluation(
            both, (rows,), lambda y, yd, out: p.residual(0.1, y, yd, out), lambda *a: bare.residual(0.1, *a)
        ),
        "jacobian": Evaluation(
            both,
            (rows, n),
            lambda y, yd, out: p.jacobian(0.1, y, yd, 2.0, out),
            lambda y, yd, out: bare.jacobian(0.1, y, yd, 2.0, out),
        ),
        "sparse_jacobian": Evaluation(
            both,
            (nnz,),
            lambda y, yd, out: p.sparse_jacobian(0.1, y, yd, 2.0, out),
            lambda y, yd, out: bare.jacobian_data(0.1, y, yd, 2.0, out),
        ),
    }
    if problem.kind == "ode":
        found["rhs"] = Evaluation({"y": y}, (n,), lambda y, out: p.rhs(0.1, y, out), lambda *a: bare.rhs(0.1, *a))
        found["rhs_jacobian"] = Evaluation(
            {"y": y}, (n, n), lambda y, out: p.rhs_jacobian(0.1, y, out), lambda *a: bare.rhs_jacobian(0.1, *a)
        )
    return found


def overlapping(one: Evaluation, name: str, k: int) -> tuple[dict[str, Any], Any]:
    """Inputs and an output in one block, in which the input `name` begins k numbers after the output."""
    size, length = int(np.prod(one.shape)), len(one.inputs[name])
    block = np.zeros(size + 2 * length)
    out = block[length : length + size].reshape(one.shape)
    shared = block[length + k : 2 * length + k]
    shared[:] = one.inputs[name]
    return {**one.inputs, name: shared}, out


@pytest.mark.parametrize(("model", "form"), CASES)
def test_results_do_not_depend_on_where_the_output_is(model, form, code, rng):
    """`rhs(t, y, out=y)` was wrong by 1675 for code of one model; Jacobians and residuals of all kernels were, too."""
    problem = cases.formulated(MODELS[model][0](), form, code=code)
    found = evaluations(problem, rng)
    assert set(found) >= {"residual", "jacobian", "sparse_jacobian"}
    for one in found.values():
        wanted = np.empty(one.shape)
        one.bare(*one.inputs.values(), wanted)
        size = int(np.prod(one.shape))
        # plain callbacks trust their arguments, as their text says
        calls = [one.checked] if code == "plain" else [one.checked, one.bare]
        for name, value in one.inputs.items():
            ends = (-len(value), size - len(value), 0, -1, 1, size - 1, size)
            for k in {*ends, *rng.integers(-len(value), size + 1, 12).tolist()}:
                for call in calls:
                    inputs, out = overlapping(one, name, k)
                    call(*inputs.values(), out)
                    np.testing.assert_array_equal(out, wanted, err_msg=f"{name} begins {k} after the output")


def test_an_output_among_rows_and_columns_of_a_larger_matrix(rng):
    """Strided outputs, between whose rows the unknowns are: no number is shared, and nothing is refused."""
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-2")
    n, rows = problem.n, problem.n_equations
    y, yd = problem.y0 + 1e-3 * rng.standard_normal(n), rng.standard_normal(n)
    wanted = problem.jacobian(0.1, y, yd, 2.0).copy()
    for order in ("C", "F"):
        block = np.zeros((2 * rows, 2 * n), order=order)
        between = block[1::2, :][:1, :n].T[:, 0] if order == "C" else block[:n, 1]
        assert between.shape == (n,)
        for call in (problem.jacobian, problem.callbacks.jacobian):
            for place in (np.s_[::2, ::2], np.s_[:rows, :n]):
                block[:] = 0.0
                between[:] = y
                out = block[place]
                call(0.1, between, yd, 2.0, out)
                np.testing.assert_array_equal(out, wanted)


def test_arrays_that_are_not_aligned_are_copied_and_outputs_refused_by_name():
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    n = problem.n
    y = np.frombuffer(bytearray(8 * n + 1), dtype=np.float64, offset=1, count=n)
    y[:] = problem.y0
    assert not y.flags.aligned
    np.testing.assert_array_equal(problem.rhs(0.1, y), problem.rhs(0.1, problem.y0))
    np.testing.assert_array_equal(problem.residual(0.1, y, y), problem.residual(0.1, problem.y0, problem.y0))
    with pytest.raises(ValueError, match="out must be contiguous and aligned; give a copy"):
        problem.rhs(0.1, problem.y0, out=y)
    matrix = np.frombuffer(bytearray(8 * n * n + 1), dtype=np.float64, offset=1).reshape(n, n)
    np.testing.assert_array_equal(problem.rhs_jacobian(0.1, y, out=matrix), problem.rhs_jacobian(0.1, problem.y0))
