"""Every figure, table and equation of the papers: numbers within their tolerances, pictures, words, and the table."""

from __future__ import annotations

import csv
import dataclasses
import os
import runpy
import sys
from pathlib import Path

import pytest
from inside import JIT

from rbdae import papers
from rbdae.cli import main

pytestmark = pytest.mark.users
by_code = pytest.mark.skipif(not JIT, reason="operations and times are those of code of a model")

ROOT = Path(__file__).parents[2]


def table_in(path):
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


@by_code
@pytest.mark.parametrize("name", papers.ITEMS)
def test_an_item(name, tmp_path, capsys):
    """What the command does for it: every number holds, and the verdict of the item is that of its numbers."""
    item = papers.ITEMS[name]
    assert main(["papers", "--only", name, "--quick", "--out", str(tmp_path)]) == 0, capsys.readouterr().out
    printed = capsys.readouterr().out
    if "not run" in printed and "CI" not in os.environ:
        pytest.skip(printed[printed.index("not run") :].splitlines()[0])
    assert item.place in printed and "FAILED" not in printed and "not run" not in printed
    rows = table_in(tmp_path / f"{name}.csv")
    assert len(rows) > 1 and len({len(row) for row in rows}) == 1
    verdicts = {row[-1].partition(":")[0] for row in table_in(tmp_path / f"{name}.compared.csv")[1:]}
    assert verdicts
    assert (item.verdict == "agrees") == ("differs" not in verdicts)
    if item.draw is not None:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@by_code
@pytest.mark.long
@pytest.mark.parametrize("name", papers.ITEMS)
def test_an_item_whole(name, tmp_path, capsys):
    assert main(["papers", "--only", name, "--out", str(tmp_path)]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", papers.ITEMS)
def test_what_an_item_says(name):
    item = papers.ITEMS[name]
    assert item.paper in papers.PAPERS and item.says.endswith(".")
    assert item.why.endswith(".") if item.verdict != "agrees" else item.why.endswith(("", "."))
    assert "|" not in item.says + item.why + item.place


def test_the_table_of_the_documentation():
    written = (ROOT / "docs/papers.md").read_text(encoding="utf-8")
    assert written.endswith(f"\n{papers.table()}\n"), "put rbdae.papers.table() at the end of docs/papers.md"


def test_a_number_that_is_not_as_expected_fails(monkeypatch, tmp_path, capsys):
    def run(quick):
        compared = papers.near("length [m]", 1.1, 1.0, 0.05, says="1")
        return papers.Finding(("length [m]",), [(1.1,)], (compared,))

    item = dataclasses.replace(papers.ITEMS["ns-table-2"], run=run)
    monkeypatch.setitem(papers.ITEMS, "ns-table-2", item)
    assert main(["papers", "--only", "ns-table-2", "--out", str(tmp_path)]) == 1
    assert "FAILED: expected 1 within 5 %" in capsys.readouterr().out


def test_a_missing_solver_is_named(monkeypatch, tmp_path, capsys):
    import rbdae

    gone = [dataclasses.replace(info, available=False) for info in rbdae.solvers() if info.name == "scipy:RK45"]
    monkeypatch.setattr(rbdae, "solvers", lambda: gone)
    item = dataclasses.replace(papers.ITEMS["ns-table-2"], needs=("scipy:RK45",))
    monkeypatch.setitem(papers.ITEMS, "ns-table-2", item)
    assert main(["papers", "--only", "ns-table-2", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "scipy:RK45 needs scipy, which is missing" in printed and "-> not run" in printed
    assert not list(tmp_path.iterdir())


def test_unknown_names_are_refused(capsys):
    assert main(["papers", "--only", "ns-fig-99"]) == 2
    assert "ns-fig-99" in capsys.readouterr().err
    assert main(["papers", "--paper", "other"]) == 2
    assert "null_space" in capsys.readouterr().err


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_the_script_of_a_paper(paper, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [f"{paper}.py", "--list"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "examples/papers" / f"{paper}.py"), run_name="__main__")
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == sum(item.paper == paper for item in papers.ITEMS.values())


@pytest.mark.parametrize(
    "compared, holds",
    [
        (papers.near("", 1.04, 1.0, 0.05), True),
        (papers.near("", 0.94, 1.0, 0.05), False),
        (papers.close("", 3, 3), True),
        (papers.close("", 3, 4), False),
        (papers.within_factor("", 0.6, 1.0, 2.0), True),
        (papers.within_factor("", 2.1, 1.0, 2.0), False),
        (papers.within_factor("", -1.0, 1.0, 2.0), False),
        (papers.at_most("", 1.0, 1.0), True),
        (papers.at_most("", 1.1, 1.0), False),
        (papers.at_least("", 1.0, 1.0), True),
        (papers.at_least("", 0.9, 1.0), False),
        (papers.at_most("", float("nan"), 1.0), False),
    ],
)
def test_comparisons(compared, holds):
    assert compared.holds is holds
    assert compared.verdict.startswith("as expected" if holds else "FAILED")
