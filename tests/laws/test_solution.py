"""`Solution`: it can be kept, projected, drawn and reported."""

from __future__ import annotations

import numpy as np
import pytest
import toy

import rbdae
import rbdae.solving as solving
from rbdae import Solution, load
from rbdae.adapter import Reason


@pytest.fixture(scope="module")
def solution() -> Solution:
    return solving.solve(
        toy.Pendulum(),
        (0.0, 2.0),
        solver="scipy:RK45",
        rtol=1e-7,
        atol=np.full(6, 1e-7),
        events=lambda t, y: y[:3] @ toy.ACROSS,
    )


def test_plot_has_the_default_panels(solution):
    pytest.importorskip("matplotlib")
    place, energy, balance, drift, steps = solution.plot(quantities=["position", "energy", "drift", "steps"]).axes
    assert np.array_equal(place.lines[0].get_ydata(), solution.y[:, 0])
    assert np.array_equal(energy.lines[2].get_ydata(), solution.energy.total)
    # this pendulum of the tests is no rbdae.Problem, so nobody knows the work
    assert np.array_equal(balance.lines[0].get_ydata(), solution.energy.total - solution.energy.total[0])
    assert np.nanmax(drift.lines[0].get_ydata()) == solution.drift.position.max()
    assert np.array_equal(steps.lines[0].get_ydata(), np.diff(solution.t))


def test_a_report_is_written(solution, tmp_path):
    for package in ("plotly", "jinja2", "itables"):
        pytest.importorskip(package)
    run = rbdae.solve(rbdae.formulate(rbdae.models.pendulum(), "index-0"), (0.0, 0.1))
    assert run.message in run.report(tmp_path / "run.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"report: .*Pendulum.*rbdae\.load"):  # it has no bodies
        solution.report(tmp_path / "other.html")


@pytest.mark.parametrize("name", ["run", "run.v2"])
def test_save_and_load(solution, tmp_path, name):
    path = solution.save(tmp_path / name)
    assert path.exists() and path.suffix == ".npz"
    again = load(path, toy.Pendulum())
    assert np.array_equal(again.t, solution.t) and np.array_equal(again.y, solution.y)
    assert again.stats == solution.stats and again.message == solution.message
    assert again.reason is Reason.FINISHED and again.success
    assert again.rtol == solution.rtol and np.array_equal(again.atol, solution.atol)
    assert np.array_equal(again.events[0].t, solution.events[0].t) and len(again.events[0].t) > 0
    assert np.array_equal(again.events[0].y, solution.events[0].y)
    assert np.array_equal(again.drift.position, solution.drift.position)


def test_a_file_without_its_problem_keeps_the_arrays(solution, tmp_path):
    alone = load(solution.save(tmp_path / "run"))
    assert np.array_equal(alone.y, solution.y)
    with pytest.raises(ValueError, match=r"rbdae.load\(path, problem\)"):
        _ = alone.energy
    assert load(alone.save(tmp_path / "twice")).success


def test_a_file_of_another_problem_is_refused(solution, tmp_path):
    path = solution.save(tmp_path / "run")
    with pytest.raises(ValueError, match=r"formulation 'index-0', but the problem has 'index-2'"):
        load(path, toy.Pendulum("index-2"))
    np.savez(tmp_path / "foreign.npz", t=solution.t)
    with pytest.raises(ValueError, match=r"not written by Solution.save"):
        load(tmp_path / "foreign.npz")
