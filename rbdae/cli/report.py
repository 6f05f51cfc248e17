"""``rbdae report``: the page of a run or of a comparison that is on disk."""

from __future__ import annotations

import argparse
from pathlib import Path

import rbdae
from rbdae.cli.outputs import check_outputs
from rbdae.cli.parser import hold_of
from rbdae.cli.target import target
from rbdae.rotations import CHARTS
from rbdae.solving.files import read_npz
from rbdae.study import Comparison


def write_report(given: argparse.Namespace) -> int:
    """The command; 0."""
    file: Path = given.file
    if file.suffix not in (".npz", ".json"):
        raise ValueError(
            f"report: {file} must end with .npz, as `rbdae run --save` writes it, or with .json, as "
            "`rbdae compare --json` does"
        )
    given.out = file.with_suffix(".report.html") if given.out is None else given.out
    check_outputs(given)
    if file.suffix == ".npz":
        written = _solution(given, file).report(given.out, title=given.title)
    elif given.title is not None or given.model is not None:
        raise ValueError("report: a comparison has its mechanism with it; leave --model and --title out")
    else:
        written = Comparison.from_json(file).report(given.out)
    print(f"report written to {written}")
    return 0


def _solution(given: argparse.Namespace, file: Path) -> rbdae.Solution:
    """With a mechanism, if one is given: without, there are only the unknowns over time."""
    if given.model is None:
        return rbdae.load(file)
    form = read_npz(file)[1].get("problem")
    if form is None:
        raise ValueError(f"report: the run in {file} is of no rbdae.Problem; leave --model out")
    # any start can be read so; the file says where the run had its centres
    chart = CHARTS.get(form["rotation"])
    how = {name: form[name] for name in ("rotation", "velocity")} | {"hold": hold_of(given)}
    how["reference"] = "start" if chart is not None and chart.centre else "space"
    system = target(given.model).system
    try:
        problem = rbdae.formulate(system, form["formulation"], redundant=given.redundant, **how)
    except ValueError as error:
        if "redundant='minimum-norm'" not in str(error):
            raise
        problem = rbdae.formulate(system, form["formulation"], redundant="minimum-norm", **how)  # as the run had it
    return rbdae.load(file, problem)
