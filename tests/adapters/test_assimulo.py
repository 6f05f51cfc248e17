"""Assimulo on the toy pendulum in every form that its solvers take."""

from __future__ import annotations

import importlib.metadata
import os
import re

import numpy as np
import pytest
import toy
from random_systems import random_system as varied_system

import rbdae
from rbdae_adapters.assimulo import AssimuloAdapter

if "CI" not in os.environ:
    pytest.importorskip("assimulo")


def solve(problem, method, t_end=2.0, tol=1e-10, **arguments):
    return rbdae.solve(problem, (0.0, t_end), solver=f"assimulo:{method}", rtol=tol, atol=tol, **arguments)


def errors(solution):
    return np.abs(solution.y[:, :6] - toy.exact(solution.t)[:, :6]).max(axis=1)


def test_finite_differences_can_be_asked_for():
    problem = toy.Pendulum("index-2")
    solution = solve(problem, "Radau5DAE", usejac=False)
    assert solution.success and problem.calls["jacobian"] == 0
    assert errors(solution)[-1] < 1e-8


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9])
def test_multipliers_as_derivatives_do_not_fail_at_the_start(tolerance):
    """They are of class 2, as those of `ggl`; in class 1 Newton's iteration asked more than rounding allows."""
    system, t_end = rbdae.models.spatial_slider_crank(), 0.2
    problem, other = (
        rbdae.formulate(system, form, velocity="coordinate") for form in ("hiller-anantharaman", "index-0")
    )
    run = solve(problem, "Radau5DAE", t_end, tolerance)
    assert run.success, run.message
    exact = rbdae.solve(other, (0.0, t_end), solver="scipy:DOP853", rtol=1e-11, atol=1e-11)
    apart = problem.natural(t_end, run.y[-1]) - other.natural(t_end, exact.y[-1])
    assert np.abs(apart).max() < 100 * tolerance


def test_the_first_step_at_index_2_is_not_one_that_no_test_sees():
    """With Assimulo's 0.01 s the error stayed at 2e-6 whatever the tolerance."""
    system = rbdae.models.heavy_top()
    problem, other = (rbdae.formulate(system, form, velocity="coordinate") for form in ("index-2", "index-0"))
    run = solve(problem, "Radau5DAE", 2.0, 1e-10)
    exact = rbdae.solve(other, (0.0, 2.0), solver="scipy:DOP853", rtol=1e-12, atol=1e-12)
    apart = problem.natural(2.0, run.y[-1])[:, :12] - other.natural(2.0, exact.y[-1])[:, :12]
    assert np.abs(apart).max() < 2e-7
    # a step of one's own stays one's own
    assert solve(problem, "Radau5DAE", 0.1, 1e-10, inith=1e-7).t[1] == pytest.approx(1e-7)


def test_options_reach_the_package_which_checks_them():
    assert solve(toy.Pendulum(), "Radau5ODE", inith=1e-5).t[1] == pytest.approx(1e-5)
    with pytest.raises(ValueError, match="maxsteps='many'"):
        solve(toy.Pendulum(), "Dopri5", maxsteps="many")


@pytest.mark.parametrize(
    "tolerance, options, stopped",
    [(1e-4, {}, r"at t = 0\.0[0-9]+ .*rad from their singular set there: use on_singularity='switch'"),
     (1e-8, {}, r"at t = 0\.0[0-9]+ .*came near a singular set .*use on_singularity='switch'"),
     (1e-6, {"inith": 0.5}, r"at t = 0 .*begin with a shorter step.* not finite at t = 0\.1")],
)  # fmt: skip
def test_rodas_beyond_a_chart_says_when_and_what_to_do(tolerance, options, stopped):
    """RODAS does not try a step again that leaves the chart: it was told by the package's raw words."""
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-0", rotation="linear", reference="start")
    run = rbdae.solve(problem, (0.0, 1.0), solver="assimulo:RodasODE", rtol=tolerance, atol=tolerance, **options)
    assert not run.success and np.isfinite(run.y).all()
    assert re.search(stopped, run.message), run.message


@pytest.mark.parametrize("inith", [None, 0.0])
def test_a_first_step_of_zero_is_none(inith):
    """ODASSL took it for a step: "no reason known"."""
    options = {} if inith is None else {"inith": inith}
    run = solve(toy.Pendulum("overdetermined"), "ODASSL", 0.1, 1e-8, **options)
    assert run.success, run.message


@pytest.mark.parametrize("made, t_end", [(lambda: varied_system(9), 0.1), (rbdae.models.double_pendulum, 1.0)])
def test_odassl_tells_unknowns_at_zero_from_noise(made, t_end):
    """Its Jacobian is made by differences, in proportion to tolerances for unknowns that are zero: with two sets of
    multipliers in a chart that is zero at the start it stopped at t = 8e-10. States that leave zero, pass it again and
    become large are those of another solver."""
    system, more = made(), {"consistent": "project"}
    problem = rbdae.formulate(system, "ggl", rotation="rodrigues", reference="start", velocity="spatial", **more)
    run = rbdae.solve(problem, (0.0, t_end), solver="assimulo:ODASSL", rtol=1e-9, atol=1e-9)
    assert run.success, run.message
    other = rbdae.formulate(system, "index-0", **more)
    exact = rbdae.solve(other, (0.0, t_end), solver="rbdae:dop853", rtol=1e-12, atol=1e-12)
    between = np.linspace(0.0, t_end, 50)
    apart = problem.natural(between, run(between)) - other.natural(between, exact(between))
    assert np.abs(apart[..., :12]).max() < 1e-6


def test_its_version_is_that_of_whatever_distribution_has_it(monkeypatch):
    """Seen: `rbdae.solvers()` died where Assimulo had come by `pip install assimulo-testing`."""

    def version(name):
        if name != "assimulo":
            raise importlib.metadata.PackageNotFoundError(name)
        return "3.4"

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert AssimuloAdapter().version() == "3.4"
