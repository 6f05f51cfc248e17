"""Random driven, looped and redundant models through DAE solvers and forms: a run reaches its end, or says that the
position or the chart is singular where it stops."""

from __future__ import annotations

from collections import Counter

import cases
import numpy as np
import pytest
from cases import NIGHTLY, count
from random_runs import KINDS, cases_of, complaint, dae_solvers, formulated, run, verdict

VERDICTS: Counter[tuple[str, str, str]] = Counter()
"""Of the runs that this process has made: solver, form, verdict."""


LONG = 4
"""A seed whose run takes nine seconds."""


@pytest.fixture(scope="module", autouse=True)
def table():
    """Prints what became of the runs (``-s`` shows it)."""
    yield
    for (solver, form, said), number in sorted(VERDICTS.items()):
        print(f"{solver:20} {form:27} {said:9} {number}")


@pytest.mark.generic
@pytest.mark.sampled
@pytest.mark.parametrize("seed", [seed for seed in range(count(26, 1000)) if NIGHTLY or seed != LONG])
def test_a_random_model_runs_through_dae_solvers(seed):
    """One solver and form in turn; all of them at night."""
    every = cases_of(seed)
    taken = every if NIGHTLY else [every[int(np.random.default_rng((seed, 5)).integers(len(every)))]]
    problems, found = {}, {}
    for case in taken:
        cases.need(case.solver)
        if case.formulation not in problems:
            problems[case.formulation] = formulated(case)
        ended = run(case, problems[case.formulation])
        VERDICTS[case.solver, case.formulation, verdict(ended)] += 1
        found[str(case)] = complaint(ended)
    assert {case: said for case, said in found.items() if said} == {}


def test_every_dae_solver_and_form_is_among_them():
    every = cases_of(0)
    assert {case.solver for case in every} == set(dae_solvers()) and len({case.formulation for case in every}) > 10
    assert {case.kind for seed in range(3) for case in cases_of(seed)} == set(KINDS)
    assert len({case.rotation for seed in range(20) for case in cases_of(seed)}) > 5
