"""What a prompt and a notebook show: short, with the numbers that count, and equations that MathJax can read."""

from __future__ import annotations

import re

import numpy as np
import pytest
import toy_formulation
from inside import brief, equations_latex

import rbdae
from rbdae.formulations import FORMULATIONS


@pytest.fixture(scope="module")
def problem() -> rbdae.Problem:
    return rbdae.formulate(rbdae.models.planar_slider_crank(), "index-2")


@pytest.fixture(scope="module")
def solution(problem: rbdae.Problem) -> rbdae.Solution:
    return rbdae.solve(problem, (0.0, 0.3), t_eval=np.linspace(0.0, 0.3, 200))


def test_a_few_numbers_and_the_range_of_many():
    assert brief(np.array([1.0, 0.5, -2.0])) == "(1, 0.5, -2)"
    assert brief(np.arange(6.0).reshape(2, 3)) == "(2, 3) from 0 to 5"
    assert brief(np.array([1.0, np.nan, 3.0, 4.0, 5.0])) == "(5,) from 1 to 5, not all finite"
    assert brief(np.zeros((4, 3))) == "(4, 3) all 0"
    assert brief(np.float64(2.5)) == "2.5" and brief(None) == "None"


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


def test_a_reaction_says_which_components_are_unique():
    bars = rbdae.formulate(rbdae.models.n_four_bar(redundant=True), "index-0", redundant="minimum-norm")
    reactions = bars.reactions(0.0, bars.y0)
    shown = repr(next(iter(next(iter(reactions.values())).values())))
    assert shown.endswith("unique: Fx, Fy, Mz)"), shown


def test_a_notebook_shows_a_system_and_its_problem(problem):
    system = problem.system
    page = system._repr_html_()
    assert all(f">{each.name}<" in page for each in (*system.bodies, *system.joints, *system.forces))
    page = problem._repr_html_()
    assert r"M(q)\,\dot v = \psi(q, v, t) - G^{\mathsf T} \lambda" in page and "a DAE of index 2" in page
    assert page.count("$$") == 2
    assert "largest gap before" in problem.assembly._repr_html_()


def test_names_of_users_are_escaped():
    system = rbdae.System()
    system.add_body(r"<b>$x$ \(\href{javascript:0}{x}\)", mass=1.0, inertia=(1, 1, 1))
    for page in (system._repr_html_(), rbdae.formulate(system, "index-0", rotation="quaternion")._repr_html_()):
        assert "&lt;b&gt;" in page and "<b>$" not in page
        assert r"\(" not in page and r"\href" not in page  # MathJax would read them


def test_a_notebook_shows_matrices_with_dots_for_zeros(problem):
    page = problem.matrices(0.0, problem.y0)._repr_html_()
    assert page.count("<summary>") == 8 and "G: 11 x 12" in page
    first = re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.S)[0].splitlines()
    assert first[0].split() == ["1"] + 11 * ["\N{MIDDLE DOT}"] and first[-1].split()[-1] == "2"
    assert "psi: 12" in page and len(re.findall(r"psi: 12.*?<pre[^>]*>(.*?)</pre>", page, re.S)[0].splitlines()) == 1
    chain = rbdae.formulate(rbdae.models.chain(12), "index-0")
    page = chain.matrices(0.0, chain.y0)._repr_html_()
    assert "M: 72 x 72, (72, 72)" in page and len(page) < 3000


def test_a_notebook_shows_a_run(solution):
    page = solution._repr_html_()
    assert "200 from 0 to 0.3 s" in page and "no solver was named" in page


@pytest.mark.parametrize("name", FORMULATIONS)
def test_equations_are_those_of_the_form(name):
    form = FORMULATIONS[name]
    lines = equations_latex(form, form.velocities[0])
    text = " ".join(lines)
    assert text.count("{") == text.count("}") and text.count(r"\left") == text.count(r"\right")
    assert (r"\mu" in text) == form.corrected
    assert (r"\ddot g + 2\alpha" in text) == form.stabilised
    levels = [r"g(q, t) = 0", r"G\,v + g_{\mathrm{I}} = 0", r"G\,\dot v + g_{\mathrm{II}} = 0"]
    if form.unknowns == "velocities" and not form.stabilised:
        assert [level for level in range(3) if levels[level] in text] == sorted(form.levels)


def test_a_form_of_ones_own_has_no_equations_of_ours():
    assert equations_latex(toy_formulation.StiffJoints(), "angular") == ()
