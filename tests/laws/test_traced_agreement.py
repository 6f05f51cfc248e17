"""Code of one model and the kernels of all models compute the same numbers, but for rounding, over all registries.

Differences are below 1e-13 of the largest entry.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import cases
import force_cases
import numpy as np
import pytest
import traced_cases
from cases import Pairing, count
from traced_cases import Case

# four indices, of little code; redundant systems have a law of their own
SMALL = {"A": "index-0/rodrigues/angular", "model-pendulum": "index-2/rotation-vector/angular"}
SMALL |= {"skew-top": "index-1/rotation-vector/spatial", "B": "index-3/linear/spatial"}
USUAL = [Case(system, Pairing(*pairing.split("/"))) for system, pairing in SMALL.items()]
CASES = [*dict.fromkeys([*USUAL, *traced_cases.drawn(15)])][: count(4, 1500)]


@pytest.mark.sampled
@pytest.mark.parametrize("case", CASES, ids=str)
def test_machine_code_and_plain_python_agree(case):
    try:
        problems = case.problems()
    except ValueError as error:
        assert "singular" in str(error)  # a chart or a director mass that does not fit the system
        return
    rng = np.random.default_rng(zlib.crc32(str(case).encode()))
    assert (problems[0].code, problems[1].code) == ("machine", "plain")
    traced_cases.ask_for_everything(problems[0])
    for state, at in traced_cases.states(problems[1], rng):
        found = traced_cases.differences(problems, at)
        assert {"natural", "constraints"} <= set(found)
        assert max(found.values()) <= traced_cases.ROUNDINGS, (state, found)


@pytest.mark.parametrize("case", traced_cases.of_redundant_systems()[: count(1, 12)], ids=str)
def test_forces_of_redundant_joints_agree(case):
    """How joints share a load is a choice, of least norm, and NumPy's; what they do to the bodies together is not."""
    problems = case.problems()
    t, y, first = problems[0].t0, problems[1].y0, problems[1].layout.n_internal
    together = []
    for problem in problems:
        G = problem.interpretation.joint_matrix(t, y)
        together.append(G.T @ problem.multipliers(t, y)[first:])
    size = np.abs(G).T @ traced_cases.size_of_multipliers(problems[1], t, y)
    # the singular value decomposition mixes all rows
    assert np.abs(together[0] - together[1]).max() <= traced_cases.ROUNDINGS * 2.0**-53 * size.max()


FORCES = [kind for kind in force_cases.FORCES if kind != "user"]


@pytest.mark.parametrize("kinds", [*(" + ".join(FORCES[k : k + 5]) for k in range(0, len(FORCES), 5)), "user"])
def test_every_kind_of_force_is_recorded(kinds, rng):
    """With its potential; what cannot be recorded would warn."""
    system, pairing = force_cases.system_of(kinds, jointed=True), Pairing("index-2", "quaternion", "angular")
    problems = tuple(cases.formulate(system, pairing, code=code) for code in ("auto", "plain"))
    assert problems[0].callbacks.code("residual") == "machine"
    y = problems[1].y0 + 0.01 * rng.standard_normal(problems[1].n)
    problems[0].energy(problems[0].t0, y)
    found = traced_cases.differences(problems, (0.1, y, problems[1].yd0))
    assert {"residual", "energies"} <= set(found) and max(found.values()) <= traced_cases.ROUNDINGS, found


LAYOUTS: dict[str, Callable[[int, int], Any]] = {
    "C": lambda m, n: np.full((m, n), np.nan),
    "Fortran": lambda m, n: np.full((m, n), np.nan, order="F"),
    "wide rows": lambda m, n: np.full((m, n + 3), np.nan)[:, :n],
    "every other": lambda m, n: np.full((2 * m, 3 * n), np.nan)[::2, ::3],
    "turned": lambda m, n: np.full((2 * n, 3 * m), np.nan)[1::2, ::3].T,
}


# the last one is constant in all entries but a few
STRIDED = [Pairing(form, "quaternion", "angular") for form in ("index-2", "index-0", "overdetermined")]
STRIDED.append(Pairing("index-2", "directors", "coordinate"))


@pytest.mark.parametrize("pairing", STRIDED, ids=str)
def test_matrices_of_any_strides_get_the_same_entries(pairing):
    problem = Case("C", pairing).problem("auto")
    assert problem.callbacks.code("jacobian") == "machine"
    t, y, yd = problem.t0, problem.y0, problem.yd0
    filled = [(partial(problem.jacobian, t, y, yd, 2.0), problem.sparse_jacobian(t, y, yd, 2.0).toarray())]
    if problem.kind == "ode":
        filled.append((partial(problem.rhs_jacobian, t, y), problem.rhs_jacobian(t, y)))
    for (fill, wanted), (name, make) in itertools.product(filled, LAYOUTS.items()):
        out = make(*wanted.shape)
        assert fill(out) is out
        np.testing.assert_allclose(out, wanted, rtol=1e-13, atol=1e-13, err_msg=name)
        whole = out if out.base is None else out.base
        assert np.isnan(whole).sum() == whole.size - out.size, name


@pytest.mark.parametrize("chart", ["rotation-vector", "linear", "conformal"])
def test_both_sides_of_the_series_of_a_chart(chart):
    """Below and above the size of the parameters at which series give way to closed forms: one code has both."""
    problems = Case("skew-top", Pairing("index-0", chart, "angular")).problems()
    assert {problems[0].callbacks.code(name) for name in ("rhs", "rhs_jacobian")} == {"machine"}
    rng = np.random.default_rng(5)
    for length in (0.0, 1e-9, 1e-3, 0.5, 0.9, 1.9999, 2.0001, 3.0, 5.5):
        if chart == "linear" and length >= 1.0:
            continue
        y = problems[0].y0.copy()
        axis = rng.standard_normal(3)
        y[problems[0].layout.q] = length * axis / np.linalg.norm(axis)
        found = traced_cases.differences(problems, (0.0, y, rng.standard_normal(problems[0].n)))
        assert max(found.values()) <= traced_cases.ROUNDINGS, (length, found)
    assert problems[0].callbacks._fallbacks == 0
