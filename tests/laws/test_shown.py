"""What a prompt and a notebook show: short, with the numbers that count."""

from __future__ import annotations

import cases
import numpy as np
import pytest

import rbdae


@pytest.fixture(scope="module")
def problem() -> rbdae.Problem:
    return cases.formulated(rbdae.models.planar_slider_crank(), "index-2", code="plain")


@pytest.fixture(scope="module")
def solution(problem: rbdae.Problem) -> rbdae.Solution:
    return rbdae.solve(problem, (0.0, 0.3), t_eval=np.linspace(0.0, 0.3, 200))


def test_no_text_of_a_run_is_a_flood(problem, solution):
    values = [solution, solution.states, solution.reactions, solution.energy, solution.momentum, solution.drift,
              problem.matrices(0.0, problem.y0), problem.constraints(0.0, problem.y0)]  # fmt: skip
    for value in values:
        assert len(repr(value)) < 1600, repr(value)
    assert repr(solution.states["rod"]).startswith("BodyState(position=(200, 3) from ")
    assert "orientation=200 rotations" in repr(solution.states["rod"])
    here = problem.states(0.0, problem.y0)["rod"]
    x, y, z = here.position
    assert f"position=({x:.6g}, {y:.6g}, {z:.6g})" in repr(here) and "orientation=quaternion (" in repr(here)
    assert repr(solution.reactions["bearing"]["crank"]).endswith("unique: all)")


def test_a_notebook_shows_a_system_and_its_problem(problem):
    system = problem.system
    page = system._repr_html_()
    assert all(f">{each.name}<" in page for each in (*system.bodies, *system.joints, *system.forces))
    page = problem._repr_html_()
    assert "[NS] (3)" in page and "a DAE of index 2" in page


def test_names_of_users_are_escaped():
    system = rbdae.System()
    system.add_body(r"<b>$x$ \(\href{javascript:0}{x}\)", mass=1.0, inertia=(1, 1, 1))
    for page in (system._repr_html_(), rbdae.formulate(system, "index-0", rotation="quaternion")._repr_html_()):
        assert "&lt;b&gt;" in page and "<b>$" not in page
        assert r"\(" not in page and r"\href" not in page  # MathJax would read them
