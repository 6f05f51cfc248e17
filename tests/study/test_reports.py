"""Reports: one file, which a browser without a network opens without an error, and in which everything works."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import browser
import cases
import numpy as np
import pytest

import rbdae
from rbdae import study
from rbdae.adapter import Stats

for package in ("plotly", "jinja2", "itables"):
    pytest.importorskip(package, reason=f"{package} is not installed: pip install 'rbdae[report]'")

NASTY = ['<script>alert("1")</script>', "a & <b>b</b> 'c'", "größe 📐 %{x} $\\alpha$"]
"""Names that a page must show as they are."""

SECTIONS = [
    "Summary",
    "Animation",
    "Motion",
    "States",
    "Energy",
    "Drift",
    "Joints and forces",
    "Reactions",
    "Steps",
    "Mechanism",
]


def nasty_system() -> rbdae.System:
    """A chain of two on a spring."""
    system = rbdae.System()
    upper, lower = (
        system.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.25), position=(1.0 + 2 * k, 0, 0), velocity=(0, 0, -k))
        for k, name in enumerate(NASTY[:2])
    )
    axis = (0, 1, 0)
    system.add_joint(
        rbdae.joints.Revolute(system.ground, upper, at_b=(-1, 0, 0), axis_a=axis, axis_b=axis, name=NASTY[2])
    )
    system.add_joint(rbdae.joints.Spherical(upper, lower, at_a=(1, 0, 0), at_b=(-1, 0, 0)))
    system.add_force(rbdae.forces.SpringDamper(system.ground, lower, stiffness=20.0, damping=0.5, at_a=(2, 0.3, 1)))
    return system


@pytest.fixture(scope="module")
def solution() -> rbdae.Solution:
    problem = rbdae.formulate(nasty_system(), "null-space")
    return rbdae.solve(problem, (0.0, 0.5), solver="scipy:DOP853", rtol=1e-6, projection=True, max_step=0.1)


@pytest.fixture(scope="module")
def report(solution: rbdae.Solution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return solution.report(tmp_path_factory.mktemp("reports") / "run.html")


def comparison() -> study.Comparison:
    """Rows put together by hand: two forms, two solvers, three tolerances, one failure, one error like rounding."""
    state = study.FinalState(np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)), np.zeros((1, 3)))
    reference = study.Reference(1.5, (state, state), study.Errors(1e-12, 2e-12, 3e-12))
    rows = []
    for k, (form, solver) in enumerate(product(("index-1", "null-space"), ("sksundae:ida", "solve_dae:Radau"))):
        for tolerance in (1e-4, 1e-6, 1e-13):
            case = study.Case(form, "quaternion", "angular", solver, tolerance)
            evaluations = round(10 * (1 + k) * tolerance**-0.2)
            stats = Stats(evaluations // 2, -1, evaluations, 3, seconds=1e-4 * evaluations)
            error = study.Errors(tolerance, 0.5 * tolerance, 2.0 * tolerance)
            rows.append(study.Row(case, error, tolerance, 0.0, 0.1 * tolerance, stats))
    said = "stopped at t = 0.7: <b>no</b> convergence"
    rows[3] = study.Row(rows[3].case, None, np.nan, np.nan, np.nan, Stats(), said, "<b>no</b> convergence")
    return study.Comparison(reference, tuple(rows))


@pytest.fixture(scope="module")
def opened() -> Iterator[Callable[[Path], browser.Opened]]:
    with browser.browser() as function:
        yield function


@pytest.fixture(scope="module")
def page(opened: Callable[[Path], browser.Opened], report: Path) -> browser.Opened:
    return opened(report)


@pytest.fixture(scope="module")
def compared(opened: Callable[[Path], browser.Opened], tmp_path_factory: pytest.TempPathFactory) -> browser.Opened:
    return opened(comparison().report(tmp_path_factory.mktemp("reports") / "comparison.html"))


def text_of(path: Path) -> str:
    """What a page says, without scripts and styles."""
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def headings(path: Path) -> list[str]:
    return re.findall(r"<h2>(.*?)</h2>", path.read_text(encoding="utf-8"))


# ---------------------------------------------------------------- in the browser


def test_it_opens_without_an_error_and_without_a_network(page, report):
    assert page.errors == []
    # the file itself, and the script of the tables out of its own memory
    assert [url for url in page.requests if not url.startswith("blob:null/")] == [report.as_uri()]
    assert "://" not in re.sub(r"<script\b.*?</script>", "", report.read_text("utf-8"), flags=re.DOTALL).replace(
        "http://www.w3.org", ""
    )
    assert page.texts("nav a") == [*SECTIONS, "How it was made"]
    assert page.value("[...document.querySelectorAll('nav a')].every(a => document.querySelector(a.hash))")


def test_names_are_shown_as_they_are(page):
    assert page.value("typeof alert.called") == "undefined"
    assert set(page.texts("#table-states tbody td:first-child")) == set(NASTY[:2])
    assert set(page.texts("#figure-positions .legendtext")) == set(NASTY[:2])
    assert NASTY[2] in page.texts("#mechanism td:first-child")
    assert any(NASTY[2] in text for text in page.texts("#figure-reaction-forces .legendtext"))


def test_tables_are_sorted_by_number_and_filtered_by_words(page):
    head = page.page.locator("#table-states thead th", has_text="largest")
    column = "#table-states tbody td:nth-child(8)"
    head.click()
    page.page.wait_for_selector("#table-states th[aria-sort=ascending]")
    rising = [float(text) for text in page.texts(column)]
    head.click()
    page.page.wait_for_selector("#table-states th[aria-sort=descending]")
    falling = [float(text) for text in page.texts(column)]
    assert rising == sorted(rising) and falling == sorted(falling, reverse=True)
    assert rising != falling and len(rising) == 26
    assert sorted(page.texts(column), reverse=True) != page.texts(column)  # by numbers, and not by their texts
    search = page.page.locator("#states input[type=search]").first
    search.fill("angular <script>")
    assert len(page.texts("#table-states tbody tr")) == 3
    search.fill("")
    assert len(page.texts("#table-states tbody tr")) == 26


def test_the_animation_plays_pauses_and_is_set_by_its_slider(page, solution):
    slider, play = page.page.locator(".slider"), page.page.locator(".play")
    trace = "document.getElementById('figure-motion').data.find(trace => trace.name.includes('script'))"
    at_start = page.value(f"{trace}.x[1]")
    assert page.texts(".time") == ["t = 0.000 of 0.5000 s"]
    page.page.locator(".speed").select_option("60")  # a busy machine would be late to pause
    play.click()
    assert play.inner_text() == "Pause"
    page.wait("Number(document.querySelector('.slider').value) >= 5")
    play.click()
    assert play.inner_text() == "Play"
    reached = slider.input_value()
    page.page.wait_for_timeout(150)
    assert slider.input_value() == reached and page.texts(".time") != ["t = 0.000 of 0.5000 s"]
    slider.fill("150")
    assert page.texts(".time") == ["t = 0.2500 of 0.5000 s"]
    page.wait(f"Math.abs({trace}.x[1] - {at_start}) > 1e-3")
    # a body is where the solution says; coordinates are whole numbers of the 65535th part of the mechanism
    points = np.array([page.value(f"{trace}.{axis}.filter(value => value !== null)") for axis in "xyz"]).T
    state = solution.problem.states(0.25, solution(0.25))[NASTY[0]]
    for end in state.position + state.orientation.apply([(-1.0, 0, 0), (1.0, 0, 0)]):
        assert np.linalg.norm(points - end, axis=1).min() < 3e-4
    slider.fill("298")
    play.click()
    page.wait("document.querySelector('.play').textContent === 'Play'")
    assert page.texts(".time") == ["t = 0.5000 of 0.5000 s"]


# ---------------------------------------------------------------- a comparison in the browser

VISIBLE = "document.getElementById('figure-work-precision').data.map(trace => trace.visible)"


def test_its_runs_are_sorted_and_filtered(compared):
    column = "#table-runs tbody td:nth-child(6)"
    head = compared.page.locator("#table-runs thead th").nth(5)
    head.click()
    compared.page.wait_for_selector("#table-runs th[aria-sort=ascending]")
    # below what the references are good for it is that bound, and what failed comes last
    assert compared.texts(column)[:4] == ["<3e-12"] * 4 and compared.texts(column)[-1] == "failed"
    assert compared.value(VISIBLE) == [True] * 8
    compared.page.locator("#runs input[type=search]").fill("null-space radau")
    compared.wait("document.querySelectorAll('#table-runs tbody tr').length === 3")
    compared.page.locator("#runs input[type=search]").fill("")


def test_its_axes_are_logarithmic_and_its_points_name_their_runs(compared):
    figure = "document.getElementById('figure-work-precision')"
    types = compared.value(f"['xaxis', 'yaxis', 'xaxis2', 'yaxis2'].map(axis => {figure}.layout[axis].type)")
    assert types == ["log"] * 4
    place = compared.page.locator("#figure-work-precision")
    place.scroll_into_view_if_needed()
    box = place.locator("path.point").nth(1).bounding_box()
    compared.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    compared.page.wait_for_selector("#figure-work-precision .hovertext")
    hover = " ".join(compared.texts("#figure-work-precision .hovertext"))
    for word in ("index-1, quaternion, angular", "sksundae:ida at 1e-06", "error 2e-06", "158 evaluations"):
        assert word in hover
    place.locator(".legendtoggle").first.click()
    compared.wait(f"{VISIBLE}.includes('legendonly')")
    assert compared.value(VISIBLE) == ["legendonly", True, True, True] * 2


# ---------------------------------------------------------------- what it says


def test_a_comparison_says_its_ranking_and_why_runs_failed(tmp_path):
    of = comparison()
    path = of.report(tmp_path / "comparison.html")
    said = text_of(path)
    assert "To an error of 1e-06, which 4 of 4 pairs" in said
    assert "1 of 12 runs failed: see Failures." in said
    assert "1 <b>no</b> convergence index-1, quaternion, angular: solve_dae:Radau at 1e-04" in said
    assert headings(path) == [
        "Summary",
        "Work and precision",
        "Energy and drift",
        "Cost of an error",
        "Runs",
        "Failures",
        "How it was made",
    ]
    assert path.stat().st_size < 7e6


def test_it_says_how_the_run_was_made(report, solution):
    said = text_of(report)
    assert headings(report) == [*SECTIONS, "How it was made"]
    assert solution.message in said
    assert "null-space, quaternion, angular: " in said and "scipy:DOP853, rtol = 1e-06, atol = 1e-06" in said
    assert "t_span=(0.0, 0.5)" in said and "projection=True" in said and "max_step=0.1" in said
    for name in ("rbdae", "numpy", "scipy", "llvmlite", "Python", "system"):
        assert re.search(rf"{name} \S+", said)
    assert f"{solution.stats.evaluations} evaluations" in said
    assert report.stat().st_size < 8e6


@pytest.mark.parametrize("kind", ["hamiltonian", "redundant", "driven"])
def test_it_is_written_for(kind, tmp_path):
    form, options = "index-0", {}
    if kind == "hamiltonian":
        system, form = rbdae.models.double_pendulum(), "hamiltonian-eliminated"
    elif kind == "redundant":
        system, options = rbdae.models.bricard(), {"redundant": "minimum-norm"}
    else:
        system, form, options = cases.driven(), "null-space", {"consistent": "project"}
    problem = rbdae.formulate(system, form, **options)
    span = (problem.t0, problem.t0 + 0.01)
    solution = rbdae.solve(problem, span, solver="scipy:RK45", t_eval=[problem.t0])
    path = solution.report(tmp_path / "run.html")
    said = text_of(path)
    wanted = [*SECTIONS, "How it was made"]
    assert headings(path) == wanted
    assert ("are not unique" in said) == (kind == "redundant")
    assert form in said


def test_a_run_that_failed_shows_what_it_has_and_why(tmp_path):
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    solution = rbdae.solve(problem, (0.0, 1.0), solver="scipy:RK45", max_steps=1)
    assert not solution.success
    said = text_of(solution.report(tmp_path / "run.html"))
    assert "did not reach its end" in said and solution.message in said
    nothing = replace(solution, t=solution.t[:0], y=solution.y[:0])
    assert "0 times" in text_of(nothing.report(tmp_path / "nothing.html"))


def test_a_run_is_loaded_with_its_problem(solution, tmp_path):
    path = solution.save(tmp_path / "run.npz")
    with pytest.raises(ValueError, match=r"rbdae\.load\(path, problem\)"):
        rbdae.load(path).report(tmp_path / "alone.html")
    whole = rbdae.load(path, rbdae.formulate(nasty_system(), "null-space")).report(tmp_path / "whole.html")
    assert headings(whole) == [*SECTIONS, "How it was made"]


# ---------------------------------------------------------------- what is refused


class Untouched:
    """Stands for a run of which nothing may be asked."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was asked for before the path was checked")


@pytest.mark.parametrize(
    "path, kind, said",
    [
        ("run.htm", ValueError, r"\.html.*'run\.htm'"),
        ("run", ValueError, r"\.html"),
        ("folder.html", IsADirectoryError, "folder.html"),
        ("nowhere/run.html", FileNotFoundError, "nowhere.*run.html"),
        (7, TypeError, "path .*7"),
    ],
)
def test_a_path_is_refused_before_anything_is_computed(path, kind, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(kind, match=said):
        rbdae.Solution.report(Untouched(), path)
