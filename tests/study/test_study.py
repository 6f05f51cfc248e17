"""The comparison of formulations, rotations and solvers."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rbdae
from rbdae import study
from rbdae.adapter import MissingSolver, Stats
from rbdae.study import Case, Comparison, Errors, Row

T_END = 0.4


@pytest.fixture(scope="module")
def reference():
    return study.reference(rbdae.models.heavy_top(), T_END)


@pytest.fixture(scope="module")
def comparison(reference):
    return study.compare(
        rbdae.models.heavy_top(),
        T_END,
        formulations=["index-0", "null-space", "hamiltonian-eliminated"],
        rotations=["quaternion", "directors"],
        solvers=["scipy:DOP853", "scipy:LSODA"],
        tolerances=[1e-5, 1e-7, 1e-9],
        reference=reference,
    )


def test_the_two_references_agree(reference):
    assert reference.agreement.largest < 1e-11


def test_each_row_is_measured_against_another_formulation(reference):
    first, second = reference.states
    assert reference.against("null-space") is second
    assert reference.against("hamiltonian-eliminated") is first
    assert reference.against("index-2") is first


def test_errors_are_small_and_follow_the_tolerance(comparison):
    # index-0 in angular velocities is the null-space form: 3 forms in two rotations
    assert len(comparison.rows) == 3 * 2 * 2 * 3
    for row in comparison.rows:
        assert row.failure == ""
        assert row.errors.largest < 3e3 * row.case.tolerance, row
        assert 0.0 < row.energy_error < 3e3 * row.case.tolerance
        assert row.stats.steps > 0 and row.stats.seconds > 0
    for form in {(r.case.form, r.case.solver) for r in comparison.rows}:
        work = [r.stats.evaluations for r in comparison.rows if (r.case.form, r.case.solver) == form]
        assert work == sorted(work)


def test_errors_measure_what_they_say(reference):
    exact = reference.states[0]
    turned = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    y = turned.y0.copy()
    initial = study.final_state(turned, 0.0, y)
    assert study.errors(initial, initial) == Errors(0.0, 0.0, 0.0)
    y[4:7] *= 1.0 + 1e-3
    faster = study.errors(study.final_state(turned, 0.0, y), initial)
    assert np.isclose(faster.velocity, 1e-3, rtol=1e-9) and faster.position == 0.0
    y[:4] = [np.cos(0.5), np.sin(0.5), 0.0, 0.0]
    assert np.isclose(study.errors(study.final_state(turned, 0.0, y), initial).orientation, np.pi / 3 - 1.0, rtol=1e-9)
    assert exact.position.shape == (1, 3) and exact.orientation.shape == (1, 4)
    assert np.isclose(np.linalg.norm(exact.position), 0.1)


def test_the_table_has_a_line_for_each_run(comparison):
    lines = str(comparison).splitlines()
    assert "null-space (quaternion) and hamiltonian-eliminated (quaternion)" in lines[0]
    assert sum(line.startswith("  scipy:") for line in lines) == len(comparison.rows)
    assert sum(line.startswith("index-0, directors, coordinate") for line in lines) == 1
    assert f"{len(comparison.rows)} runs, 0 failed" in lines


def test_a_failed_run_becomes_a_row_with_the_reason(reference):
    case = Case("index-0", "quaternion", "angular", "scipy:RK23", 1e-10)
    row = study.run(rbdae.models.heavy_top(), case, reference, limit=1e-3)
    assert row.errors is None
    assert "given up at t = " in row.failure
    upright = rbdae.models.heavy_top(tilt=0.0)
    singular = study.run(upright, Case("index-0", "euler-313", "angular", "scipy:RK45", 1e-6), reference, limit=10.0)
    assert "gimbal lock" in singular.failure
    text = study.table(Comparison(reference, (row, singular)))
    assert "  1: given up after its limit" in text and "2 runs, 2 failed" in text
    with pytest.raises(ValueError, match="no run got to the end"):
        study.work_precision(Comparison(reference, (row, singular)))


def test_counts_that_a_package_does_not_report_are_dashes(reference):
    case = Case("index-0", "quaternion", "angular", "scipy:RK45", 1e-6)
    row = Row(case, Errors(1e-3, 1e-4, 1e-5), 0.0, 0.0, 0.0, Stats(evaluations=7, jacobians=-1))
    line = study.table(Comparison(reference, (row,))).splitlines()[-2]
    assert line.split()[5:8] == ["7", "-", "0"]


def test_the_picture_has_a_curve_for_each_form_and_solver(comparison):
    pytest.importorskip("matplotlib")
    figure = comparison.plot()
    curves = {(r.case.form, r.case.solver) for r in comparison.rows}
    for axis in figure.axes:
        assert len(axis.lines) == min(len(curves), 10)
        assert all(len(line.get_xdata()) == 3 for line in axis.lines)
        assert len({(line.get_color(), line.get_marker()) for line in axis.lines}) == len(axis.lines)


def test_all_kernels_are_compiled_once():
    study.compile_kernels()
    assert not any(entry.missing(None) for entry in study.entries())


def test_an_executor_gives_the_same_rows(reference):
    case = Case("null-space", "quaternion", "angular", "scipy:DOP853", 1e-6)
    with ThreadPoolExecutor(1) as executor:
        theirs = study.compare_cases(
            rbdae.models.heavy_top(), T_END, [case, case], reference=reference, executor=executor
        )
    mine = study.compare_cases(rbdae.models.heavy_top(), T_END, [case], reference=reference)
    assert [row.errors for row in theirs.rows] == [mine.rows[0].errors]  # equal cases are one


def test_what_goes_to_another_process_can_be_pickled(reference):
    system, exact = pickle.loads(pickle.dumps((rbdae.models.linked_bodies(), reference)))
    assert [body.name for body in system.bodies] == ["first", "second"]
    assert exact.t_end == T_END
    assert len(pickle.loads(pickle.dumps(study.run)).__name__)
    problem = rbdae.formulate(system, "index-2")
    assert np.array_equal(problem.y0, rbdae.formulate(rbdae.models.linked_bodies(), "index-2").y0)


def test_every_case_makes_sense_and_none_is_missing():
    cases = study.cases(solvers=["scipy:RK45"])
    forms = {f for f, _, _ in rbdae.pairings()}
    assert (
        {c.formulation for c in cases} == {"index-0", "baumgarte-ode", "null-space", "hamiltonian-eliminated"} <= forms
    )
    assert len(study.cases(["ind0"], ["quaternion"], solvers=["scipy:RK45"])) == 2
    every = study.cases(["index-0"], ["quaternion"], ["angular"])
    assert {"scipy:RK45", "scipy:BDF"} <= {c.solver for c in every}
    assert not any("Euler" in c.solver for c in every)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"formulations": ["indx-0"]}, "unknown formulation 'indx-0'; did you mean 'index-0'"),
        ({"rotations": ["quaternions"]}, "unknown rotation 'quaternions'; did you mean 'quaternion'"),
        ({"velocities": ["momenta"]}, "unknown velocity 'momenta'; did you mean 'momentum'"),
        ({"solvers": ["scipy:RK54"]}, "did you mean 'scipy:RK45'"),
    ],
)
def test_unknown_names_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        study.cases(**arguments)


def test_a_reference_of_another_end_time_is_refused(reference):
    with pytest.raises(ValueError, match=r"belongs to t = 0\.4, the runs end at 1"):
        study.compare_cases(rbdae.models.heavy_top(), 1.0, [], reference=reference)


def test_a_missing_package_is_named(monkeypatch):
    from rbdae_adapters import sksundae

    monkeypatch.setattr(sksundae.SksundaeAdapter, "version", lambda self: None)
    with pytest.raises(MissingSolver, match="pip install scikit-sundae"):
        study.cases(solvers=["sksundae:ida"])
    assert "sksundae:ida" not in study.installed_solvers()
