"""Random driven, looped and redundant models through DAE solvers and forms: a run reaches its end, or says that the
position or the chart is singular where it stops."""

from __future__ import annotations

import cases
import numpy as np
import pytest
from random_runs import KINDS, cases_of, complaint, dae_solvers, formulated, run
from samples import LONG, count


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(count(60, 1000)))
def test_a_random_model_runs_through_dae_solvers(seed):
    """One solver and form in turn; all of them in the long run."""
    every = cases_of(seed)
    taken = every if LONG else [every[int(np.random.default_rng((seed, 5)).integers(len(every)))]]
    problems = {form: formulated(seed, form) for form in dict.fromkeys(case.formulation for case in taken)}
    found = {}
    for case in taken:
        cases.need(case.solver)
        found[str(case)] = complaint(run(case, problems[case.formulation]))
    assert {case: said for case, said in found.items() if said} == {}


def test_every_dae_solver_and_form_is_among_them():
    every = cases_of(0)
    assert {case.solver for case in every} == set(dae_solvers()) and len({case.formulation for case in every}) > 10
    assert {case.kind for seed in range(3) for case in cases_of(seed)} == set(KINDS)
