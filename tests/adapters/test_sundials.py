"""SUNDIALS in machine code: every library that is there, its objects, its words, faults."""

from __future__ import annotations

import gc
import os

import numpy as np
import pytest
import toy
from inside import sundials_library
from toy_runs import error, solve

import rbdae
from rbdae.adapter import MissingSolver, Reason

if not os.environ.get("CI"):
    pytest.importorskip("sksundae")


def alive():
    """How many objects of SUNDIALS have not been freed."""
    runs = [each for each in gc.get_objects() if type(each) is sundials_library.Objects]
    return sum(len(each.frees) for each in runs)


def run(problem, solver, t_end=0.2, tol=1e-7, **options):
    return rbdae.solve(problem, (0.0, t_end), solver=solver, rtol=tol, atol=tol, **options)


@pytest.fixture(scope="module")
def linked():
    return {
        form: rbdae.formulate(rbdae.models.linked_bodies(), form) for form in ("index-3", "index-2", "index-1", "ggl")
    }


def test_a_library_that_is_not_as_its_headers_say(monkeypatch):
    """One whose operations are in other places is refused before anything is written there."""
    there = sundials_library.library()
    monkeypatch.setattr(sundials_library, "PLACES", (((7, 0), (there.places[0], there.places[1] - 1)),))
    with pytest.raises(MissingSolver, match="headers"):
        sundials_library.Library(there.files)
    gc.collect()
    assert alive() == 0


@pytest.mark.parametrize("form", ["index-3", "index-2", "index-1", "ggl"])
def test_dense_factors_give_the_bits_of_the_package_and_ours_its_motion(linked, form):
    """The same version of the same library: the same steps, and every number of every state."""
    one = run(linked[form], "sksundae:ida")
    other = run(linked[form], "sundials:ida", linsolver="dense")
    assert np.array_equal(one.t, other.t) and np.array_equal(one.y, other.y)
    assert one.stats.evaluations == other.stats.evaluations and one.stats.jacobians == other.stats.jacobians
    ours = run(linked[form], "sundials:ida", linsolver="factors")
    assert ours.success, ours.message
    # a chaotic motion: what rounds otherwise differs by up to 1.1e-4 at index 3, and by 1.6e-5
    apart = np.abs(ours.y[-1] - one.y[-1])[linked[form].layout.q].max()
    assert apart < (1e-3 if form == "index-3" else 1e-4)
    assert alive() == 0


@pytest.mark.parametrize("lmm", ["adams", "bdf"])
def test_cvode_gives_the_bits_of_the_package(lmm):
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-0")
    one, other = (run(problem, f"{package}:cvode", lmm=lmm, linsolver="dense") for package in ("sksundae", "sundials"))
    assert np.array_equal(one.t, other.t) and np.array_equal(one.y, other.y)


@pytest.mark.parametrize(
    "solver, options", [("sundials:ida", {}), ("sundials:cvode", {}), ("sundials:cvode", {"lmm": "bdf"})]
)
def test_steps_are_the_same_with_python_between_them(solver, options):
    """An event, a progress function, output times: other ways through the same steps."""
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-0" if "cvode" in solver else "index-2")
    plain = run(problem, solver, **options)
    watched = run(problem, solver, events=[lambda t, y: 1.0], progress=lambda t: None, **options)
    assert np.array_equal(plain.t, watched.t) and np.array_equal(plain.y, watched.y)
    times = np.linspace(0.0, 0.2, 31)
    sampled = run(problem, solver, t_eval=times, **options)
    assert np.array_equal(sampled.steps.t, plain.t) and np.array_equal(sampled.steps.y, plain.y)
    both = run(problem, solver, t_eval=times, events=[lambda t, y: 1.0], **options)
    np.testing.assert_array_equal(both.y, sampled.y)
    dense = (
        rbdae.solve(problem, (0.0, 0.2), solver="rbdae:dop853", rtol=1e-12, atol=1e-12) if "cvode" in solver else None
    )
    if dense is not None:
        assert np.abs(sampled.y - dense(times)).max() < 1e-2  # a chaotic motion


@pytest.mark.parametrize("lmm", ["adams", "bdf"])
@pytest.mark.parametrize("back", [False, True])
def test_cvode_with_factors_is_cvode(lmm, back):
    """The same steps but for rounding, also back in time."""
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    span = (0.0, -0.5) if back else (0.0, 0.5)
    runs = [
        rbdae.solve(problem, span, solver="sundials:cvode", lmm=lmm, linsolver=linsolver, rtol=1e-7, atol=1e-7)
        for linsolver in ("factors", "dense")
    ]
    assert abs(runs[0].stats.steps - runs[1].stats.steps) < 0.1 * runs[1].stats.steps
    exact = rbdae.solve(problem, span, solver="rbdae:dop853", rtol=1e-12, atol=1e-12).y[-1]
    for one in runs:
        assert one.success and np.abs(one.y[-1] - exact).max() < 1e-4


def test_bdf_is_projected_in_its_steps():
    """CVodeSetProjFn: no restart, drift at rounding, hardly more evaluations."""
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-0")
    plain = run(problem, "sundials:cvode", lmm="bdf")
    projected = run(problem, "sundials:cvode", lmm="bdf", projection=True)
    assert projected.success and projected.stats.restarts == 0
    assert projected.drift.position.max() < 1e-12 and projected.drift.velocity.max() < 1e-12
    assert projected.stats.evaluations < 1.05 * plain.stats.evaluations
    assert projected.stats.projections > 0.5 * projected.stats.steps


# ---------------------------------------------------------------- what can go wrong


def test_a_library_that_cannot_be_used_is_refused_by_name(tmp_path, monkeypatch):
    """It is not there, no path, no library, or too old; the one of a folder is taken."""
    (tmp_path / "libsundials_ida.so").write_bytes(b"no library")
    folder = os.path.dirname(sundials_library.library().files[0])
    assert run(toy.Pendulum("index-2"), "sundials:ida", library=folder).success
    for library, kind, words in (
        ("/nowhere", MissingSolver, "/nowhere"),
        (3, TypeError, "library must be .* got 3"),
        (tmp_path, MissingSolver, "cannot be used"),
        (os.path.join(folder, "."), MissingSolver, r"7\.0 or later"),
    ):
        if words.startswith("7"):
            monkeypatch.setattr(sundials_library, "OLDEST", (99, 0))
        with pytest.raises(kind, match=words):
            run(toy.Pendulum("index-2"), "sundials:ida", library=library)
    assert alive() == 0


def test_what_a_jacobian_raises_comes_out_as_itself():
    problem = toy.Pendulum("index-2")
    inner, count = problem.callbacks.jacobian_data, [0]

    def raising(*arguments):
        count[0] += 1
        if count[0] > 5:
            raise LookupError("five times")
        inner(*arguments)

    problem.callbacks.jacobian_data = raising
    with pytest.raises(LookupError, match="five times"):
        solve(problem, "sundials:ida")
    gc.collect()
    assert alive() == 0


def test_singular_factors_end_a_run_with_the_reason():
    problem = toy.Pendulum("index-2")

    def nothing(t, y, yd, c, data):
        data[:] = 0.0 if t > 0.3 else kept(t, y, yd, c, data) or data

    kept = problem.callbacks.jacobian_data
    problem.callbacks.jacobian_data = nothing
    solution = solve(problem, "sundials:ida")
    assert not solution.success and "return code" in solution.message and solution.t[-1] > 0.1


def test_an_error_in_making_factors_is_raised(monkeypatch):
    """Dense matrices serve where a form has no factors, not where something is wrong."""
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-2")
    monkeypatch.setattr("rbdae.problem.callbacks.factors_of", lambda *_: np.zeros(2) + np.zeros(3))
    with pytest.raises(ValueError, match="broadcast"):
        run(problem, "sundials:ida")


def test_many_runs_leave_nothing():
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-2")
    for _ in range(20):
        run(problem, "sundials:ida", t_end=0.01)
        assert alive() == 0


def test_options_are_suns_own():
    problem = toy.Pendulum("index-2")
    low, high = (run(problem, "sundials:ida", 1.0, 1e-5, **more) for more in ({"max_order": 1}, {}))
    assert low.stats.steps > 3 * high.stats.steps  # every digit costs ten times the steps
    assert solve(problem, "sundials:ida", suppress_alg=True).success


@pytest.mark.parametrize("solver", ["sundials:ida", "rbdae:dop853"])
def test_a_progress_function_that_need_not_see_each_step_leaves_runs_in_machine_code(solver):
    """A study's limit of time is one: with it asked after each step, short runs took six times as long."""
    form = "index-2" if solver == "sundials:ida" else "index-0"
    problem = rbdae.formulate(rbdae.models.linked_bodies(), form)
    called = {}
    for each in (True, False):
        times = []

        def seen(t, times=times):
            times.append(t)

        seen.now_and_then = not each
        solution = run(problem, solver, progress=seen)
        called[each] = len(times)
        assert solution.success
    assert called[True] >= solution.stats.steps > 10 * called[False]


@pytest.mark.parametrize("solver, form", [("sundials:ida", "index-3"), ("sundials:cvode", "index-0")])
def test_problems_without_machine_functions_run_back_in_time(solver, form):
    """Their Python functions are mirrored by the run, and were mirrored once more: another motion, without a word."""
    problem = toy.Pendulum(form)
    solution = rbdae.solve(problem, (0.0, -1.0), solver=solver, rtol=1e-8, atol=1e-8)
    assert solution.success and solution.t[-1] == -1.0
    assert error(solution) < 1e-4


@pytest.mark.parametrize("back", [False, True])
def test_the_time_at_which_something_is_not_finite_has_its_sign(back):
    sign = -1.0 if back else 1.0

    def trouble(t, y):
        return np.nan if sign * t > 0.5 else 1.0

    for problem in (toy.Pendulum("index-2", trouble=trouble), toy.Pendulum("index-0", trouble=trouble)):
        solver = "sundials:ida" if problem.kind == "dae" else "sundials:cvode"
        solution = rbdae.solve(problem, (0.0, sign), solver=solver, rtol=1e-6, atol=1e-6)
        assert solution.reason is Reason.NOT_FINITE, solution.message
        assert f"not finite at t = {0.5 * sign:.1g}" in solution.message
        assert 0.3 < sign * solution.t[-1] <= 0.5


def test_what_a_callback_keeps_is_its_own():
    """SUNDIALS' memory ends with the run; arrays that a user has kept stay as they were."""
    problem = toy.Pendulum("index-2")
    inner, seen = problem.callbacks.residual, []

    def keeping(t, y, yd, out):
        inner(t, y, yd, out)
        seen.append((y, y.copy(), out, out.copy()))

    problem.callbacks.residual = keeping
    assert solve(problem, "sundials:ida", tol=1e-5).success
    gc.collect()
    for y, y_then, out, out_then in seen:
        assert np.array_equal(y, y_then) and np.array_equal(out, out_then)


@pytest.mark.parametrize("method, form", [("ida", "index-1"), ("cvode", "index-0")])
def test_a_projected_run_is_corrected_as_a_stepwise_one_is(method, form):
    """Progress after each step comes back to Python, which then hands the state back."""
    problem = rbdae.formulate(rbdae.models.chain(1), form)
    inside, stepwise = (
        rbdae.solve(
            problem, (0.0, 10.0), solver=f"sundials:{method}", rtol=1e-5, atol=1e-5, projection=True, progress=p
        )
        for p in (False, lambda t: None)
    )
    assert inside.stats.restarts == stepwise.stats.restarts == 0
    assert abs(inside.stats.steps / stepwise.stats.steps - 1.0) < 0.1  # rounding decides about some of them
    first = int(np.argmax(inside.t[:200] != stepwise.t[:200])) or 200
    np.testing.assert_allclose(inside.y[:first], stepwise.y[:first], rtol=1e-11, atol=1e-11)
    assert inside.drift.position.max() < 1e-12 and inside.drift.velocity.max() < 1e-12
    np.testing.assert_allclose(inside.y[-1, :6], stepwise.y[-1, :6], atol=1e-2)
