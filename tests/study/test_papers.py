"""Every figure, table and equation of the papers: numbers within their tolerances, pictures, words, and the table."""

from __future__ import annotations

import csv
import dataclasses
import os
import runpy
import sys
import warnings
from pathlib import Path

import matplotlib.image
import pytest

import rbdae
from rbdae.cli import main
from rbdae_papers import finding as findings
from rbdae_papers.item import numbers
from rbdae_papers.items import ITEMS, PAPERS

ROOT = Path(__file__).parents[2]
DOCUMENTATION = (ROOT / "docs/papers.md").read_text(encoding="utf-8").splitlines()


def table_in(path):
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


LONG = ("ns-fig-6", "ns-fig-9", "ns-fig-13-14", "ns-fig-15a", "ns-fig-16", "gr-fig-6")
"""A figure beside them has the same code; most of their quick runs take three core-seconds or more."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.nightly] * (name in LONG)) for name in ITEMS])
def test_an_item(name, tmp_path, capsys):
    """What the command does for it: every number holds, and the verdict of the item is that of its numbers."""
    item = ITEMS[name]
    assert main(["papers", "--only", name, "--quick", "--out", str(tmp_path)]) == 0, capsys.readouterr().out
    printed = capsys.readouterr().out
    if "not run" in printed and "CI" not in os.environ:
        pytest.skip(printed[printed.index("not run") :].splitlines()[0])
    assert item.place in printed and "FAILED" not in printed and "not run" not in printed
    rows = table_in(tmp_path / f"{name}.csv")
    assert len(rows) > 1 and len({len(row) for row in rows}) == 1
    verdicts = [row[-1] for row in table_in(tmp_path / f"{name}.compared.csv")[1:]]
    agree, differ = (sum(verdict.startswith(word) for verdict in verdicts) for word in ("agrees", "differs"))
    assert f"-> {documented(name)[5]}" in printed and f"({agree} of {agree + differ})" in documented(name)[5]
    if item.draw is not None:
        picture = matplotlib.image.imread(tmp_path / f"{name}.png")
        for edge in (picture[0], picture[-1], picture[:, 0], picture[:, -1]):
            assert (edge == 1.0).all(), "something is cut off at an edge"


@pytest.mark.nightly
@pytest.mark.parametrize("name", ITEMS)
def test_an_item_whole(name, tmp_path, capsys):
    assert main(["papers", "--only", name, "--out", str(tmp_path)]) == 0, capsys.readouterr().out
    assert f"-> {documented(name)[4]}" in capsys.readouterr().out


@pytest.mark.parametrize("name", ITEMS)
def test_what_an_item_says(name):
    item = ITEMS[name]
    assert item.paper in PAPERS and item.says.endswith(".")
    assert "|" not in item.says + item.place
    assert documented(name)[:4] == [f"`{name}`", PAPERS[item.paper].split()[-1], item.place, item.says]


def documented(name):
    """The cells of an item's line in the documentation: with the verdicts of a whole and of a quick run."""
    (line,) = (line for line in DOCUMENTATION if line.startswith(f"| `{name}` |"))
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def test_the_documentation_lists_the_items():
    assert [line.split("`")[1] for line in DOCUMENTATION if line.startswith("| `")] == list(ITEMS)


def test_a_number_that_is_not_as_expected_fails(monkeypatch, tmp_path, capsys):
    def run(how):
        compared = findings.expect("length [m]", 1.1, findings.near(1.0, 0.05))
        return findings.Finding(("length [m]",), [(1.1,)], (compared,))

    item = dataclasses.replace(ITEMS["ns-table-2"], run=run)
    monkeypatch.setitem(ITEMS, "ns-table-2", item)
    assert main(["papers", "--only", "ns-table-2", "--out", str(tmp_path)]) == 1
    assert "FAILED: expected 1 within 5 %" in capsys.readouterr().out


def test_a_missing_solver_is_named(monkeypatch, tmp_path, capsys):
    gone = [dataclasses.replace(info, available=False) for info in rbdae.solvers() if info.name == "scipy:RK45"]
    monkeypatch.setattr(rbdae, "solvers", lambda: gone)
    item = dataclasses.replace(ITEMS["ns-table-2"], needs=("scipy:RK45",))
    monkeypatch.setitem(ITEMS, "ns-table-2", item)
    assert main(["papers", "--only", "ns-table-2", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "scipy:RK45 needs scipy, which is missing" in printed and "-> not run" in printed
    assert not list(tmp_path.iterdir())


def test_unknown_names_are_refused(capsys):
    assert main(["papers", "--only", "ns-fig-99"]) == 2
    assert "ns-fig-99" in capsys.readouterr().err
    assert main(["papers", "--paper", "other"]) == 2
    assert "null_space" in capsys.readouterr().err


def test_the_script_runs_items_by_name(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run_items.py", "--list", "--only", "ns-table-2", "gr-charts"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "examples/papers/run_items.py"), run_name="__main__")
    assert ended.value.code == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["ns-table-2", "gr-charts"]


@pytest.mark.parametrize(
    "found, criterion, holds",
    [
        (1.04, findings.near(1.0, 0.05), True),
        (0.94, findings.near(1.0, 0.05), False),
        (3, findings.close(3), True),
        (3, findings.close(4), False),
        (0.6, findings.within_factor(1.0, 2.0), True),
        (2.1, findings.within_factor(1.0, 2.0), False),
        (-1.0, findings.within_factor(1.0, 2.0), False),
        (1.0, findings.at_most(1.0), True),
        (1.1, findings.at_most(1.0), False),
        (1.0, findings.at_least(1.0), True),
        (0.9, findings.at_least(1.0), False),
        (float("nan"), findings.at_most(1.0), False),
    ],
)
def test_comparisons(found, criterion, holds):
    assert criterion.holds(found) is holds
    own = findings.expect("", found, criterion)
    of_paper = findings.claim("", found, criterion, "small", why="it is not")
    assert own.holds is holds and own.verdict.startswith("as expected" if holds else "FAILED")
    if found == found:
        assert of_paper.verdict == (f"agrees ({criterion})" if holds else f"differs ({criterion}): it is not")
    else:
        assert of_paper.verdict.startswith("not judged")


def finding(*ratios):
    compared = [
        findings.claim(f"ratio {k}", ratio, findings.at_least(1.0), "larger", why=WHY) for k, ratio in enumerate(ratios)
    ]
    return findings.Finding(("t [s]",), [(0.0,)], (*compared, findings.expect("size", 2.0, findings.close(2.0))))


WHY = "drift costs little"


def test_the_verdict_follows_from_the_numbers_of_the_run():
    nan = float("nan")
    assert finding(1.5, 2.0).conclusion == "agrees (2 of 2)"
    assert finding(1.5, 0.5).conclusion == f"agrees in part (1 of 2): ratio 1: 0.5, not at least 1: {WHY}."
    assert finding(0.25, 0.5).conclusion.startswith("differs (0 of 2): ratio 0: 0.25, not at least 1; ratio 1: 0.5")
    assert finding(1.5, nan).conclusion == "agrees (1 of 1)"  # what has not been computed is not judged
    assert finding(nan).verdict == finding().verdict == "not judged"


def test_an_item_differs_where_its_numbers_do(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(numbers("null_space", "ns-table-2")["pairs"], "planar", [4, 9, 15, 5])
    assert main(["papers", "--only", "ns-table-2", "--out", str(tmp_path)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "-> agrees in part (28 of 29): planar pair: external constraints: 3, not 4." in printed


def test_any_solver_on_the_examples(tmp_path, capsys):
    """The papers as a test bench: their claims alone, without the numbers that the paper's solvers have had."""
    command = [
        "papers",
        "--solver",
        "scipy:RK45",
        "--form",
        "q42",
        "q40",
        "--only",
        "ns-fig-10",
        "--out",
        str(tmp_path),
    ]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "agrees (at least 10)" in printed and "as expected" not in printed and "-> agrees (3 of 3)" in printed
    assert {row[0] for row in table_in(tmp_path / "ns-fig-10.csv")[1:]} == {"q42", "q40"}


def test_a_failed_run_is_said_with_the_name_of_its_item(monkeypatch, tmp_path, capsys):
    def run(how):
        warnings.warn("the run did not reach its end", rbdae.FailedRunWarning, stacklevel=1)
        return finding(1.5)

    monkeypatch.setitem(ITEMS, "ns-table-2", dataclasses.replace(ITEMS["ns-table-2"], run=run))
    assert main(["papers", "--only", "ns-table-2", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().err == "rbdae: ns-table-2: the run did not reach its end\n"
