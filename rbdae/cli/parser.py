"""The commands and options that the command line understands."""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rbdae
from rbdae.formulations import FORMULATIONS
from rbdae.rotations import CHARTS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_SYSTEM = "a name from `rbdae models`, or FILE.py:FUNCTION, a function that returns a rbdae.System"
_EITHER = "`rbdae models` lists the models, `rbdae solvers` the solvers."


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    out = argparse.ArgumentParser(prog="rbdae", description=rbdae.__doc__, epilog=_EITHER)
    out.add_argument("--version", action="version", version=f"rbdae {rbdae.__version__}")
    commands = out.add_subparsers(dest="command", required=True)
    commands.add_parser("models", help="list the mechanisms that can be run")
    commands.add_parser("solvers", help="list the solvers, installed or not")
    _add_run(commands.add_parser("run", help="integrate a mechanism and print how it went", epilog=_EITHER))
    _add_compare(
        commands.add_parser("compare", help="run a mechanism through formulations and solvers", epilog=_EITHER)
    )
    cache = commands.add_parser("cache", help="show what is kept on disk between processes: compiled code")
    cache.add_argument("--clear", action="store_true", help="remove it; it is made again when it is needed")
    _add_report(commands.add_parser("report", help="write a page for a browser about a run or comparison on disk"))
    for name, point in further_commands().items():
        commands.add_parser(name, help=f"a command of {point.module.partition('.')[0]}")
    return out


def further_commands() -> dict[str, EntryPoint]:
    """Commands of other packages by name: functions of the arguments after the name that return an exit code."""
    from importlib.metadata import entry_points  # a slow import

    return {point.name: point for point in entry_points(group="rbdae.commands")}


def _add_run(run: argparse.ArgumentParser) -> None:
    run.add_argument("model", metavar="MODEL", help=_SYSTEM)
    run.add_argument("--formulation", default="null-space", help="index-3 ... index-0, null-space, hamiltonian, ...")
    run.add_argument("--rotation", default="quaternion", help=_listed(CHARTS))
    run.add_argument("--velocity", help="angular or coordinate; hamiltonian forms have momentum")
    run.add_argument(
        "--reference",
        default="space",
        metavar="WHERE",
        help="'start' centres rotation parameters at each body's start (default: 'space')",
    )
    run.add_argument("--solver", help="package:method, see `rbdae solvers`; default: one that is installed and fits")
    run.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the solver's own"
    )
    run.add_argument("--rtol", type=float, default=1e-8, help="relative tolerance (default: 1e-8)")
    run.add_argument("--atol", type=float, help="absolute tolerance (default: the relative one)")
    run.add_argument("--step", type=float, help="step size, s; for fixed-step methods")
    _add_common(run)
    run.add_argument("--csv", type=Path, metavar="FILE", help="write the states of all bodies over time")
    run.add_argument("--save", type=Path, metavar="FILE", help="write the trajectory, .npz")


def _add_compare(compare: argparse.ArgumentParser) -> None:
    compare.add_argument("model", metavar="MODEL", help=_SYSTEM)
    several: dict[str, Any] = {"nargs": "+", "metavar": "NAME"}
    compare.add_argument("--formulations", **several, help=f"default: all; {_listed(FORMULATIONS)}")
    compare.add_argument("--rotations", **several, help=f"default: all; {_listed(CHARTS)}")
    compare.add_argument("--velocities", **several, help="default: all; angular, coordinate or momentum")
    compare.add_argument("--solvers", **several, help="default: all that are installed")
    compare.add_argument(
        "--tolerances",
        nargs="+",
        type=float,
        metavar="TOL",
        default=[1e-4, 1e-6, 1e-8],
        help="rtol = atol of the runs (default: 1e-4 1e-6 1e-8)",
    )
    compare.add_argument(
        "--steps",
        nargs="+",
        type=float,
        metavar="S",
        help="step sizes of fixed-step methods, s; these have no tolerances",
    )
    compare.add_argument(
        "--option", action="append", default=[], metavar="SOLVER:NAME=VALUE", help="an option of one of the solvers"
    )
    _add_common(compare)
    compare.add_argument("--processes", type=int, default=1, metavar="N", help="run in this number of processes")
    compare.add_argument("--limit", type=float, default=60.0, metavar="S", help="give a run up after S seconds (60)")
    compare.add_argument("--repeats", type=int, default=9, metavar="N", help="time short runs N times at most (9)")
    compare.add_argument("--resume", type=Path, metavar="FILE", help="write each finished run to FILE, and continue it")
    compare.add_argument("--csv", type=Path, metavar="FILE", help="write a line for each run")
    compare.add_argument("--json", type=Path, metavar="FILE", help="write runs, reference, versions and machine")


def _add_report(report: argparse.ArgumentParser) -> None:
    report.add_argument("file", type=Path, metavar="FILE", help=".npz of `run --save`, or .json of `compare --json`")
    report.add_argument(
        "--out", type=Path, metavar="PAGE", help="the page, .html (default: FILE with the ending .report.html)"
    )
    report.add_argument(
        "--model", metavar="MODEL", help=f"the mechanism of a run, for its motion and reactions: {_SYSTEM}"
    )
    report.add_argument("--title", metavar="TEXT", help="the title of the page of a run, such as the mechanism's name")
    report.add_argument("further", nargs="*", metavar="", help=argparse.SUPPRESS)
    _add_assembly(report)


_END = "end time, s, before 0 for a run back in time (default: the model's own; a file has none)"


def _add_common(command: argparse.ArgumentParser) -> None:
    """Add the options that a run and a comparison share."""
    command.add_argument("--t-end", type=float, help=_END)
    _add_assembly(command)
    command.add_argument(
        "--on-singularity",
        default="stop",
        metavar="WHAT",
        help="'switch' centres rotation parameters again where they come near a singularity (default: 'stop')",
    )
    command.add_argument("--projection", action="store_true", help="project accepted steps onto the constraints")
    command.add_argument("--progress", action="store_true", help="show a bar (needs tqdm)")
    command.add_argument("--report", type=Path, metavar="FILE", help="write a page for a browser, .html")
    command.add_argument("--plot", type=Path, metavar="FILE", help="write a picture (needs matplotlib)")


def _add_assembly(command: argparse.ArgumentParser) -> None:
    """How a mechanism is put together."""
    command.add_argument(
        "--redundant",
        default="error",
        metavar="WHAT",
        help="'minimum-norm' leaves joint equations out that follow from the others (default: 'error' refuses them)",
    )
    command.add_argument(
        "--hold",
        nargs="+",
        default=[],
        metavar="NAME",
        help="bodies that keep their place at the assembly; NAME:x, ...",
    )


def _listed(names: Iterable[str]) -> str:
    """``"a, b or c"``."""
    *some, last = names
    return f"{', '.join(some)} or {last}"


_PLACES = ("x", "y", "z", "position", "orientation")


def with_numbers(typed: Sequence[str]) -> list[str]:
    """Words of a command with negative numbers after options as ``--t-end=-1e-3``: argparse takes those with an
    exponent for options."""
    out: list[str] = []
    for word in typed:
        if word.startswith("-") and _is_number(word) and out and out[-1].startswith("--") and "=" not in out[-1]:
            out[-1] += f"={word}"
        else:
            out.append(word)
    return out


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def hold_of(given: argparse.Namespace) -> list[str | tuple[str, str]]:
    """``NAME`` and ``NAME:x`` as `rbdae.formulate` takes them."""
    out: list[str | tuple[str, str]] = []
    for item in given.hold:
        name, colon, place = item.rpartition(":")
        out.append((name, place) if colon and place in _PLACES else item)
    return out


def option_of(text: str, example: str) -> tuple[str, Any]:
    """Name and value of ``NAME=VALUE``; the value is a number, True, False, None, a tuple, or else text.

    Raises
    ------
    ValueError
        for text without a name or without =
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"--option must be like {example}, got {text!r}; give a name, = and a value")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name.strip(), value.strip()


__all__ = ["hold_of", "option_of", "parser", "with_numbers"]
