"""The comparison of formulations, rotations and solvers."""

from __future__ import annotations

import multiprocessing
import pickle
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import rbdae
from rbdae import study
from rbdae.study import Case, Comparison, Errors

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
        repeats=1,
    )


def test_errors_are_small_and_follow_the_tolerance(comparison):
    # two of the forms in three kinds of velocities
    assert len(comparison.rows) == (3 + 2 + 1) * 2 * 2 * 3
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
    assert reference.agreement.largest < 1e-11
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
    found = Comparison(reference, (row, singular))
    assert "  1: given up after its limit" in str(found) and "2 runs, 2 failed" in str(found)
    with pytest.raises(ValueError, match="no run reached the end"):
        found.plot()


def test_functions_without_a_name_reach_other_processes():
    """The model has a lambda, which pickle alone cannot send."""
    case = Case("null-space", "quaternion", "angular", "rbdae:dopri5", 1e-4)
    system = rbdae.models.driven_pendulum()
    given = {"reference": study.reference(system, 0.05), "repeats": 1}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        theirs = study.compare(system, 0.05, [case], executor=executor, **given)
    mine = study.compare(system, 0.05, [case], **given)
    assert theirs.rows[0].failure == "" and theirs.rows[0].errors == mine.rows[0].errors


def test_every_case_makes_sense_and_none_is_missing():
    cases = study.cases(solvers=["scipy:RK45"])
    forms = {f for f, _, _ in rbdae.pairings()}
    assert (
        {c.formulation for c in cases}
        == {"index-0", "baumgarte-ode", "projected-0", "null-space", "hamiltonian-eliminated"}
        <= forms
    )
    assert len(study.cases(["ind0"], ["quaternion"], solvers=["scipy:RK45"])) == 3
    every = study.cases(["index-0"], ["quaternion"], ["angular"])
    assert {"scipy:RK45", "scipy:BDF"} <= {c.solver for c in every}
    assert not any("Euler" in c.solver for c in every)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"formulations": ["indx-0"]}, "unknown formulation 'indx-0'; did you mean 'index-0'"),
        ({"solvers": ["scipy:RK54"]}, "did you mean 'scipy:RK45'"),
    ],
)
def test_unknown_names_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        study.cases(**arguments)


def test_a_reference_of_another_end_time_is_refused(reference):
    with pytest.raises(ValueError, match=r"0\.4.*1\.0"):
        study.compare(rbdae.models.heavy_top(), 1.0, [], reference=reference)


# ---------------------------------------------------------------- what a study says, and what it refuses


class Loads:
    """A torque whose first evaluation in a run takes as long as the loading of a package."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.loaded = False

    def __call__(self, t: float) -> tuple[float, float, float]:
        if t > 0.02 and not self.loaded:
            self.loaded = True
            busy_until = time.thread_time() + self.seconds
            while time.thread_time() < busy_until:
                pass
        return (0.0, 0.0, 0.0)


def test_times_are_without_loading():
    law = Loads(0.5)
    system = rbdae.models.heavy_top()
    system.add_force(rbdae.forces.Torque(system.bodies[0], law))
    exact = study.reference(rbdae.models.heavy_top(), 0.1)
    rbdae.formulate(system, "null-space")
    assert not law.loaded
    row = study.run(system, Case("null-space", "quaternion", "angular", "scipy:DOP853", 1e-6), exact)
    assert law.loaded and row.errors is not None
    assert row.stats.seconds < 0.5 / 3 and 3 <= row.timed <= 9


def test_references_that_disagree_are_refused_with_the_remedy():
    chosen = {"formulations": ["index-0"], "rotations": ["quaternion"], "solvers": ["scipy:RK45"]}
    with pytest.raises(ValueError, match=r"differ by .* more than .*chaotic.*shorten t_end.*pass a reference="):
        rbdae.compare(rbdae.models.linked_bodies(), 1.5, tolerances=[1e-8], **chosen)


def test_redundant_joints_and_options_belong_to_the_cases():
    chosen = {"formulations": ["index-0"], "rotations": ["quaternion"], "velocities": ["angular"], "repeats": 1}
    chosen |= {"solvers": ["scipy:DOP853"], "tolerances": [1e-6], "options": {"scipy:DOP853": {"max_step": 0.01}}}
    with pytest.raises(ValueError, match="redundant='minimum-norm'"):
        rbdae.compare(rbdae.models.bricard(), 0.05, **chosen)
    found = rbdae.compare(
        rbdae.models.bricard(), 0.05, redundant="minimum-norm", hold=["rod1"], projection=True, **chosen
    )
    (row,) = found.rows
    assert row.errors is not None and row.errors.largest < 1e-8 and row.stats.steps >= 5
    assert row.case.options == (("max_step", 0.01),) and row.case.projection == rbdae.Projection()
    assert row.case.hold == ("rod1",) and hash(row.case) == hash(pickle.loads(pickle.dumps(row.case)))
    assert "scipy:DOP853 (max_step=0.01, projected)" in str(found)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"formulations": "index-1"}, r"formulations must be a list, got 'index-1'; pass \['index-1'\]"),
        ({"solvers": []}, "solvers must not be empty"),
        (
            {"rotations": ["euler-313"], "velocities": ["coordinate"]},
            "no form has rotation euler-313 with velocity coordinate",
        ),
        (
            {"formulations": ["index-3"], "solvers": ["scipy:RK45"]},
            r"index-3 \(dae, index 3\): scipy:RK45 takes ode",
        ),
        ({"solvers": ["scipy:RK45"], "options": {"scipy:RK23": {}}}, "'scipy:RK23', which is not among the solvers"),
        ({"options": {"scipy:RK45": {"jac": print}}, "solvers": ["scipy:RK45"]}, "option jac of scipy:RK45 must be"),
        ({"redundant": "yes"}, "unknown value of redundant 'yes'"),
    ],
)
def test_a_selection_of_nothing_or_of_a_wrong_kind_is_refused(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        rbdae.compare(rbdae.models.heavy_top(), 0.1, **arguments)


def test_an_option_that_a_solver_does_not_have_is_refused_before_any_run(tmp_path):
    path = tmp_path / "run.jsonl"
    chosen = {"formulations": ["index-0"], "solvers": ["scipy:RK45"], "resume": path}
    with pytest.raises(ValueError, match="option of scipy:RK45 'max_stp'; did you mean 'max_step'"):
        rbdae.compare(rbdae.models.heavy_top(), 0.1, options={"scipy:RK45": {"max_stp": 1.0}}, **chosen)
    assert not path.exists()


def test_one_case_that_raises_costs_no_other(reference):
    def law(t: float) -> tuple[float, float, float]:
        if t > 0.1:
            raise ZeroDivisionError("my law")
        return (0.0, 0.0, 0.0)

    system = rbdae.models.heavy_top()
    system.add_force(rbdae.forces.Torque(system.bodies[0], law))
    chosen = {"formulations": ["null-space"], "rotations": ["quaternion"], "solvers": ["scipy:RK45"]}
    chosen["velocities"] = ["angular"]
    found = rbdae.compare(system, T_END, reference=reference, tolerances=[1e-4, 1e-6], **chosen)
    assert [row.reason for row in found.rows] == ["ZeroDivisionError: my law"] * 2
    assert str(found).count("my law") == 1 and "  2: ZeroDivisionError" in str(found)


# ---------------------------------------------------------------- singular sets


def spinning() -> rbdae.System:
    """A body that begins in the gimbal lock of Euler's angles, and turns by more than half a turn."""
    system = rbdae.System(gravity=(0, 0, -9.81))
    system.add_body("a", mass=1.0, inertia=(0.8, 0.6, 0.5), angular_velocity=(5.0, 6.0, 0.3))
    return system


ONE = {"formulations": ["index-0"], "solvers": ["scipy:DOP853"], "tolerances": [1e-8], "velocities": ["angular"]}


def test_every_rotation_can_be_compared_from_any_start(tmp_path):
    rotations = ["quaternion", "euler-313", "bryant-321"]
    stopped = rbdae.compare(spinning(), 1.0, rotations=rotations, **ONE)
    failures = {row.case.rotation: row.failure for row in stopped.rows}
    assert "reference='start'" in failures["euler-313"] and not failures["quaternion"]
    found = rbdae.compare(spinning(), 1.0, rotations=rotations, on_singularity="switch", **ONE)
    assert all(row.errors is not None and row.errors.largest < 1e-6 for row in found.rows), str(found)
    assert [row.case.reference for row in found.rows] == ["space", "start", "start"]
    found.to_json(tmp_path / "study.json")
    again = study.Comparison.from_json(tmp_path / "study.json")
    assert [row.case for row in again.rows] == [row.case for row in found.rows]


def test_singular_positions_of_loops_are_counted(tmp_path):
    """There a run may take another branch, and two forms may differ."""
    mechanism, end = rbdae.models.n_four_bar(), 1.0
    problem = rbdae.formulate(mechanism, "index-0", redundant="minimum-norm")
    run = rbdae.solve(problem, (0.0, end), solver="scipy:DOP853", rtol=1e-6, atol=1e-6)
    last = study.final_state(problem, end, run.y[-1])  # no reference: the count alone is asked for
    case = study.Case("index-0", "quaternion", "angular", "scipy:DOP853", 1e-6, redundant="minimum-norm")
    exact = study.Reference(end, (last, last), study.Errors(1e-12, 1e-12, 1e-12))
    row = study.run(mechanism, case, exact, repeats=1)
    assert row.singular == len(run.singular_times) > 0
    study.Comparison(exact, (row,)).to_json(tmp_path / "study.json")
    assert study.Comparison.from_json(tmp_path / "study.json").frame["singular"][0] == row.singular
