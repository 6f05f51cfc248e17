"""Which form wins, by how much, and whether the paper agrees: all of it follows from the numbers of the runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rbdae.adapter import Stats
from rbdae.study import Case, Comparison, Errors, FinalState, Reference, Row
from rbdae_papers.null_space.claims import conclusions
from rbdae_papers.null_space.multiples import mean_ratio, multiples, ratios, winners

NULL, ZERO = ("null-space", "quaternion", "angular"), ("index-0", "quaternion", "coordinate")
DIRECTORS = ("null-space", "directors", "angular"), ("index-0", "directors", "coordinate")
SOLVERS = ("scipy:RK45", "scipy:DOP853")


def runs(form, evaluations, energy=1e-7, solvers=SOLVERS, errors=(1e-2, 1e-6)):
    """A curve with each solver; its middle, at an error of 1e-4, takes `evaluations`."""
    return [
        Row(
            Case(*form, solver, 10.0 ** -(3 + 2 * k)),
            Errors(error, 0.0, 0.0),
            1e-9,
            0.0,
            energy,
            Stats(evaluations=round(evaluations * scale), steps=5, seconds=3e-3 * scale),
        )
        for solver in solvers
        for k, (error, scale) in enumerate(zip(errors, (0.5, 2.0), strict=True))
    ]


def compared(*rows):
    state = FinalState(np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)), np.zeros((1, 3)))
    return Comparison(Reference(1.0, (state, state), Errors(1e-12, 1e-12, 1e-12)), tuple(rows))


def sentences(null, zero, directors=(300, 900)):
    """The sentences of Example A on these evaluations."""
    pairs = zip((NULL, ZERO, *DIRECTORS), (null, zero, *directors), strict=True)
    rows = [row for form, work in pairs for row in runs(form, work, energy=1e-9 * work**2)]
    return conclusions("A", compared(*rows), 1e-4)


def test_what_is_said_of_the_paper_follows_from_the_runs():
    said = sentences(200, 500)
    first = said[said.index("superior") : said.index("slightly better")]
    assert "-> agrees. The index-0 form in quaternions takes 2.5 times the evaluations of the null" in first
    assert "has 6.2 times the error of energy" in " ".join(said.split())
    # no run in Euler angles
    assert "not judged: no solver has run both" in said
    swapped = sentences(500, 200)
    first = swapped[swapped.index("superior") : swapped.index("slightly better")]
    assert "-> agrees in part, in 2 of 4 ratios" in first and "takes 0.4 times" in first
    worse = sentences(500, 200, (900, 300))
    assert "-> differs." in worse[worse.index("superior") : worse.index("slightly better")]


def test_a_form_that_does_not_reach_the_error_is_said():
    rows = runs(NULL, 200) + runs(ZERO, 300, errors=(1.0, 1e-1)) + runs(DIRECTORS[0], 250)
    said = " ".join(conclusions("B", compared(*rows), 1e-4).split())
    assert "-> agrees. The index-0 form in quaternions does not reach the error with 2 of 2 solvers." in said
    reached = runs(NULL, 200) + runs(ZERO, 300) + runs(DIRECTORS[0], 250)
    said = " ".join(conclusions("B", compared(*reached), 1e-4).split())
    assert 'completely fail" -> differs: a disturbance a hundred times that of the figure' in said


def test_ratios_are_solver_by_solver_at_one_error():
    rows = runs(NULL, 200) + runs(ZERO, 500, solvers=SOLVERS[:1]) + runs(DIRECTORS[0], 100, errors=(1.0, 1e-1))
    target = compared(*rows).ranking([1e-4])
    null, zero, lost = (", ".join(form) for form in (NULL, ZERO, DIRECTORS[0]))
    work = ratios(target, zero, null)
    assert list(work) == ["scipy:RK45"] and math.isclose(work["scipy:RK45"], 2.5)
    assert ratios(target, null, zero) == {"scipy:RK45": pytest.approx(0.4)}
    assert ratios(target, lost, null) == dict.fromkeys(SOLVERS, math.inf)
    assert ratios(target, null, lost) == dict.fromkeys(SOLVERS, 0.0) and ratios(target, lost, zero) != {}
    assert ratios(target, "index-3, quaternion, angular", null) == {}
    assert winners(target) == dict.fromkeys(SOLVERS, null)
    assert math.isclose(mean_ratio({"a": 2.0, "b": 8.0, "c": math.inf, "d": 0.0}), 4.0)
    assert math.isnan(mean_ratio({}))
    above, head, *lines = multiples(target, null, {null: 53}).splitlines()
    assert above.split() == ["scipy:", "scipy:"] and head.split() == ["DOP853", "RK45", "mean", "seconds", "operations"]
    assert lines[0].split()[-7:] == ["200", "200", "x", "1.00", "x", "1.00", "53"] and lines[0].startswith(null)
    assert lines[1].startswith(zero) and lines[1].split()[3:7] == ["-", "x", "2.50", "x"]
    assert lines[2].startswith(lost) and lines[2].split()[3:] == ["-"] * 5
