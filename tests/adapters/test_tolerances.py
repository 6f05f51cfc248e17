"""The tolerances that a solution reports are those of its run."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import toy
from cases import INFOS, need

import rbdae
from rbdae_adapters.toolkit import loosened

SOLVERS = [s for s in INFOS.values() if "dae" in s.kinds]
LEAST = {
    ("solve_dae", 3): 1e-11,
    ("assimulo", 3): 1e-10,
    ("sksundae", 1): 1e-12,
    ("sksundae", 3): 1e-10,
    ("scikits.odes", 1): 1e-12,
    ("scikits.odes", 3): 1e-10,
}


def _run(solver: Any, form: str, rtol: float, atol: Any) -> rbdae.Solution:
    need(solver.name)
    return rbdae.solve(toy.Pendulum(form), (0.0, 0.3), solver=solver.name, rtol=rtol, atol=atol)


@pytest.mark.parametrize("form", ["index-3", "index-2", "index-1"])
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: s.name)
def test_tolerances_that_cannot_be_used_are_not_reported(solver, form):
    """Runs at 1e-10 and 1e-13 were the same at index 3, and did not say so."""
    index = toy.INDICES[form]
    if index not in solver.indices:
        return
    least = LEAST.get((solver.package, index), 0.0)
    asked = 0.1 * least if least else 1e-10
    run = _run(solver, form, asked, asked)
    assert run.rtol == pytest.approx(max(asked, least), rel=1e-14) and run.atol == pytest.approx(run.rtol, rel=1e-14)
    again = _run(solver, form, run.rtol, run.atol)
    assert np.array_equal(again.y, run.y) and np.array_equal(again.t, run.t)
    assert "in place of" not in again.message and again.rtol == run.rtol
    if least:
        said = f"rtol = {least:.3g} in place of {asked:.3g} and atol = {least:.3g} in place of {asked:.3g}"
        assert said in run.message
    else:
        assert run.message == again.message
    coarse = _run(solver, form, 1e-6, 1e-6)
    assert (coarse.rtol, coarse.atol) == (1e-6, 1e-6) and "in place of" not in coarse.message


def test_tolerances_of_single_unknowns_keep_their_proportions():
    """Those of small momenta are small for a reason: they are not raised to what is the least for positions."""
    pendulum = toy.Pendulum("index-3")
    atol = np.array([1e-6] * 3 + [1e-14] * 3 + [1e4])
    assert loosened(pendulum, 1e-8, atol, 1e-10) == (1e-8, atol)
    rtol, raised = loosened(pendulum, 1e-12, 1e-6 * atol, 1e-10)
    assert rtol == 1e-10
    np.testing.assert_allclose(raised, 1e-4 * atol, rtol=1e-14)
    assert loosened(pendulum, 1e-8, 1e-12, 1e-10) == (1e-8, 1e-10)


def test_the_message_names_the_range_of_absolute_tolerances():
    if "CI" not in os.environ:
        pytest.importorskip("assimulo")
    run = rbdae.solve(
        toy.Pendulum("index-3"),
        (0.0, 0.1),
        solver="assimulo:Radau5DAE",
        rtol=1e-8,
        atol=[1e-11] * 3 + [1e-12] * 3 + [1e-9],
    )
    assert "atol = 1e-11 to 1e-08 in place of 1e-12 to 1e-09" in run.message and run.rtol == 1e-8
