"""``rbdae report``: the page of a run or of a comparison that is on disk."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

import rbdae
from rbdae.cli.formulated import formulated, may_be_left_out
from rbdae.cli.outputs import check_outputs
from rbdae.cli.target import target
from rbdae.rotations import CHARTS
from rbdae.show import check_report
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
    if given.further:
        raise ValueError(f"report: the page is named by --out. {_with_out(given)}")
    page = file.with_suffix(".report.html") if given.out is None else given.out
    check_report(page)
    check_outputs({"--out": page}, str(file))
    if file.suffix == ".npz":
        written = _solution(given, file).report(page, title=given.title)
    else:
        _refuse_a_model(given)
        written = Comparison.from_json(file).report(page)
    print(f"report written to {written}")
    return 0


def _with_out(given: argparse.Namespace) -> str:
    """The line that was meant."""
    page = given.further[-1]
    words = [word for word in given.typed if word not in given.further]
    return f"Type: rbdae {shlex.join([*words, '--out', page])}"


def _solution(given: argparse.Namespace, file: Path) -> rbdae.Solution:
    """With a mechanism, if one is given: without, there are only the unknowns over time."""
    if given.model is None:
        return rbdae.load(file)
    stored = read_npz(file)[1].get("problem")
    if stored is None:
        raise ValueError(f"report: the run in {file} is of no rbdae.Problem; leave --model out")
    form = (target(given.model).system, stored["formulation"], stored["rotation"], stored["velocity"])
    # any start can be read so; the file says where the run had its centres
    chart = CHARTS.get(stored["rotation"])
    reference = "start" if chart is not None and chart.centre else "space"
    try:
        problem = formulated(*form, given.redundant, given, reference)
    except ValueError as error:
        if not may_be_left_out(error):
            raise
        problem = formulated(*form, "minimum-norm", given, reference)  # there is no run without
    return rbdae.load(file, problem)


def _refuse_a_model(given: argparse.Namespace) -> None:
    if given.title is not None or given.model is not None or given.redundant != "error" or given.hold:
        raise ValueError(
            "report: a comparison has its mechanism with it; leave --model, --redundant, --hold and --title out"
        )


__all__ = ["write_report"]
