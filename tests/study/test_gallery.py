"""The scripts of examples/gallery are short, and their runs succeed; at night all of them, cheap ones by day."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rbdae

SCRIPTS = sorted((Path(__file__).parents[2] / "examples/gallery").glob("*/*.py"))
BY_DAY = ("sparsity",)


def test_scripts_are_short_and_begin_with_a_title() -> None:
    assert len(SCRIPTS) >= 30
    for path in SCRIPTS:
        text = path.read_text("utf-8")
        lines = text.splitlines()
        assert len(lines) <= 40, path.name
        compile(text, path.name, "exec")
        assert lines[0] == '"""' and lines[2] == "=" * len(lines[1]), path.name


def solutions(value: Any) -> list[rbdae.Solution]:
    """Those among the values of a script."""
    if isinstance(value, dict | list | tuple):
        each = value.values() if isinstance(value, dict) else value
        return [found for one in each for found in solutions(one)]
    return [value] if isinstance(value, rbdae.Solution) else []


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, id=p.stem, marks=[] if p.stem in BY_DAY else [pytest.mark.nightly]) for p in SCRIPTS],
)
def test_scripts_run(path: Path) -> None:
    """What they show is a run to its end, on its joints, whose energy balances; axes have labels."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    names = runpy.run_path(str(path))
    pyplot.close("all")
    for run in solutions(names):
        assert run.success, run.message
        energy = run.energy
        assert np.abs(energy.balance).max() <= 1e-4 * max(np.abs(energy.total).max(), np.abs(energy.kinetic).max())
    for axes in names["figure"].axes:
        title = axes.get_title() or axes.get_title("left")
        assert title or (axes.get_ylabel() and (axes.get_xlabel() or axes.get_shared_x_axes()))
    if "film" in names:
        assert 20 <= len(names["film"]) <= 40
