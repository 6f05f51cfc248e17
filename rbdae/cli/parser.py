"""The commands and options of the command line, each said once: names are those of the functions that take them."""

from __future__ import annotations

import argparse
import ast
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rbdae
from rbdae.formulations import FORMULATIONS
from rbdae.rotations import CHARTS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_COMMANDS = {
    "models": "list the mechanisms that can be run",
    "solvers": "list the solvers, installed or not",
    "run": "integrate a mechanism and print how it went",
    "compare": "run a mechanism through formulations and solvers",
    "report": "write a page for a browser about a run or comparison on disk",
    "cache": "show what is kept on disk between processes: compiled code",
}

_MODEL = "a name from `rbdae models`, or FILE.py:FUNCTION, a function that returns a rbdae.System"
_FILE: dict[str, Any] = {"type": Path, "metavar": "FILE"}
_NAMES: dict[str, Any] = {"nargs": "+", "metavar": "NAME"}
_FLAG: dict[str, Any] = {"action": "store_true"}
_OPTIONS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("model", "run compare", _MODEL, {"metavar": "MODEL"}),
    ("file", "report", ".npz of `run --save`, or .json of `compare --json`", _FILE),
    ("--model", "report", f"the mechanism of a run, for its motion and reactions: {_MODEL}", {}),
    ("--formulation", "run", f"{', '.join(FORMULATIONS)} (default: null-space)", {"default": "null-space"}),
    ("--formulations", "compare", f"default: all; {', '.join(FORMULATIONS)}", _NAMES),
    ("--rotation", "run", f"{', '.join(CHARTS)} (default: quaternion)", {"default": "quaternion"}),
    ("--rotations", "compare", f"default: all; {', '.join(CHARTS)}", _NAMES),
    ("--velocity", "run", "angular or coordinate; hamiltonian forms have momentum", {}),
    ("--velocities", "compare", "default: all; angular, coordinate or momentum", _NAMES),
    ("--solver", "run", "package:method, see `rbdae solvers`; default: one that is installed and fits", {}),
    ("--solvers", "compare", "default: all that are installed", _NAMES),
    ("--option", "run", "an option of the solver's own, NAME=VALUE", {"action": "append", "default": []}),
    ("--option", "compare", "of one solver's own, SOLVER:NAME=VALUE", {"action": "append", "default": []}),
    ("--rtol", "run", "relative tolerance (default: 1e-8)", {"type": float, "default": 1e-8}),
    ("--atol", "run", "absolute tolerance (default: the relative one)", {"type": float}),
    (
        "--tolerances",
        "compare",
        "rtol = atol of the runs (default: 1e-4 1e-6 1e-8)",
        {"nargs": "+", "type": float, "metavar": "TOL", "default": [1e-4, 1e-6, 1e-8]},
    ),
    ("--step", "run", "step size, s; for fixed-step methods", {"type": float}),
    ("--steps", "compare", "step sizes of fixed-step methods, s", {"nargs": "+", "type": float, "metavar": "S"}),
    ("--t-end", "run compare", "end time, s, before 0 for a run back in time (default: the model's)", {"type": float}),
    ("--reference", "run", "'start' centres rotation parameters at each body's start", {"default": "space"}),
    (
        "--redundant",
        "run compare report",
        "'minimum-norm' leaves joint equations out that follow from the others (default: 'error' refuses them)",
        {"default": "error"},
    ),
    ("--hold", "run compare report", "bodies that keep their place at the assembly; NAME:x, ...", _NAMES),
    (
        "--on-singularity",
        "run compare",
        "'switch' centres rotation parameters again where they come near a singularity (default: 'stop')",
        {"default": "stop"},
    ),
    ("--projection", "run compare", "project accepted steps onto the constraints", _FLAG),
    ("--processes", "compare", "run in this number of processes", {"type": int, "default": 1}),
    ("--limit", "compare", "give a run up after so many seconds (60)", {"type": float, "default": 60.0}),
    ("--repeats", "compare", "time short runs so many times at most (9)", {"type": int, "default": 9}),
    ("--resume", "compare", "write each finished run to FILE, and continue it", _FILE),
    ("--progress", "run compare", "show a bar (needs tqdm)", _FLAG),
    ("--csv", "run compare", "write the states of all bodies over time, or a line for each run", _FILE),
    ("--save", "run", "write the trajectory, .npz", _FILE),
    ("--json", "compare", "write runs, reference, versions and machine", _FILE),
    ("--report", "run compare", "write a page for a browser, .html", _FILE),
    ("--plot", "run compare", "write a picture (needs matplotlib)", _FILE),
    ("--out", "report", "the page, .html (default: FILE with the ending .report.html)", _FILE),
    ("--title", "report", "the title of the page of a run, such as the mechanism's name", {}),
    ("--clear", "cache", "remove it; it is made again when it is needed", _FLAG),
]
"""Of each option its name, the commands that take it, what it does, and its form."""


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    help_of_all = "`rbdae models` lists the models, `rbdae solvers` the solvers."
    out = argparse.ArgumentParser(prog="rbdae", description=rbdae.__doc__, epilog=help_of_all)
    out.add_argument("--version", action="version", version=f"rbdae {rbdae.__version__}")
    commands = out.add_subparsers(dest="command", required=True)
    each = {name: commands.add_parser(name, help=what, epilog=help_of_all) for name, what in _COMMANDS.items()}
    for option, takers, what, form in _OPTIONS:
        for command in takers.split():
            each[command].add_argument(option, help=what, **form)
    for name, point in further_commands().items():
        commands.add_parser(name, help=f"a command of {point.module.partition('.')[0]}")
    return out


def further_commands() -> dict[str, EntryPoint]:
    """Commands of other packages by name: functions of the arguments after the name that return an exit code."""
    from importlib.metadata import entry_points  # a slow import

    return {point.name: point for point in entry_points(group="rbdae.commands")}


def of(given: argparse.Namespace, function: Callable[..., Any]) -> dict[str, Any]:
    """The options that a function takes under the same name, and that were given or have a default."""
    taken = inspect.signature(function).parameters
    return {name: value for name, value in vars(given).items() if name in taken and value is not None}


def with_numbers(typed: Sequence[str]) -> list[str]:
    """Words of a command with negative numbers after options as ``--t-end=-1e-3``: argparse takes those with an
    exponent for options."""
    out: list[str] = []
    for word in typed:
        if _is_negative(word) and out and out[-1].startswith("--") and "=" not in out[-1]:
            out[-1] += f"={word}"
        else:
            out.append(word)
    return out


def _is_negative(word: str) -> bool:
    try:
        return word.startswith("-") and float(word) <= 0.0
    except ValueError:
        return False


def hold_of(given: argparse.Namespace) -> list[str | tuple[str, str]]:
    """``NAME`` and ``NAME:x`` as `rbdae.formulate` takes them."""
    out: list[str | tuple[str, str]] = []
    for item in given.hold or ():
        name, colon, place = item.rpartition(":")
        is_place = colon and place in ("x", "y", "z", "position", "orientation")
        out.append((name, place) if is_place else item)
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
