"""What a run cites, and that pages say the same; figures of patterns and of several runs; tables of choices."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rbdae
from rbdae.problem.structure import _ROWS, blocks
from rbdae.show import plot_runs
from rbdae.study.citing import cited_for, entries

DOCS = Path(__file__).parents[2] / "docs"


def test_a_run_cites_its_formulation_rotation_solver_and_projection():
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "ggl", rotation="rodrigues")
    solution = rbdae.solve(problem, (0.0, 0.01), solver="sundials:ida", rtol=1e-4, atol=1e-4)
    found = rbdae.citation(solution)
    assert {*found} == {"rbdae", "GGL85", "GR95", "HBG05"}
    assert rbdae.__version__ in str(found) and str(found).count("\n@") == 3
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    solution = rbdae.solve(problem, (0.0, 0.01), solver="rbdae:dop853", rtol=1e-4, atol=1e-4, projection=True)
    assert {*rbdae.citation(solution)} == {"rbdae", "NS", "HNW93"}
    with pytest.raises(TypeError, match="citation needs a"):
        rbdae.citation(problem)


def test_pages_say_of_works_what_citation_says():
    page, bibliography = ((DOCS / name).read_text(encoding="utf-8") for name in ("cite.md", "references.md"))
    table = dict(re.findall(r"^\| \[(\w+)\] \| (.*) \|$", page, re.MULTILINE))
    own = {
        key: ", ".join(name for name in of if not name.startswith("toy")) for key, of in cited_for(entries()).items()
    }
    assert table == {key: names for key, names in own.items() if key != "rbdae"}
    listed = dict(re.findall(r"^- \*\*\[(\w+)\]\*\*((?:.*\n)(?:  .*\n)*)", bibliography, re.MULTILINE))
    for key in table:
        there = re.sub(r"\s+", " ", listed[key])
        for field, value in re.findall(r"^  (title|volume|year|doi) = \{(.*)\},$", entries()[key], re.MULTILINE):
            assert value.lower() in there.lower().replace("ö", "o"), (key, field)


def test_the_pattern_has_the_names_of_bodies_and_joints():
    pytest.importorskip("matplotlib")
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "overdetermined")
    *_, momentum, joint, further = blocks(problem, _ROWS)
    assert (momentum[0], joint[0]) == ("momentum of second", "constraints of spherical-1")
    rows = problem.sparsity.tocsr()
    assert (
        rows[momentum[1] : momentum[2], problem.layout.la].nnz
        and not rows[further[1] : further[2], problem.layout.v].nnz
    )
    assert further[2] == problem.n_equations
    (axis,) = problem.plot_sparsity().axes
    assert "multipliers of spherical-1" in [label.get_text() for label in axis.get_xticklabels()]
    assert len(axis.lines[0].get_xdata()) == problem.sparsity.nnz


def test_drift_and_energy_of_runs_are_in_one_figure():
    pytest.importorskip("matplotlib")
    runs = {}
    for form in ("index-1", "index-2"):
        problem = rbdae.formulate(rbdae.models.linked_bodies(), form)
        runs[form] = rbdae.solve(problem, (0.0, 0.02), solver="sundials:ida", rtol=1e-4, atol=1e-4)
    figure = plot_runs(runs)
    assert len(figure.axes) == 3
    for axis, name in zip(figure.axes, ("position", "velocity"), strict=False):
        for line, run in zip(axis.lines, runs.values(), strict=True):
            assert np.nanmax(line.get_ydata()) == getattr(run.drift, name).max()


def test_tables_of_choices_are_lists_that_print():
    found = rbdae.pairings()
    assert found[0] == ("index-3", "quaternion", "angular") and len(found) == len(set(found)) > 200
    head, *lines = str(found).splitlines()
    assert head.split() == ["formulation", "angular", "spatial", "coordinate", "momentum"]
    assert [line.split() for line in lines if line.startswith("null-space ")] == [
        ["null-space", "all", "all", "-", "-"]
    ]
    for table in (found, rbdae.solvers()):
        assert table._repr_html_().count("<tr>") == len(table.rows())


def test_the_block_for_a_paper_runs(capsys):
    (block,) = re.findall(r"^```python\n(.*?)^```", (DOCS / "comparing.md").read_text(encoding="utf-8"), re.M | re.S)
    names: dict[str, Any] = {}
    exec(compile(block, "docs/comparing.md", "exec"), names)
    assert capsys.readouterr().out.splitlines() == ["2.0", "['rbdae', 'NS', 'HBG05']"]
    assert names["table"].startswith("\\begin{table}") and "\\label{tab:steps}" in names["table"]
