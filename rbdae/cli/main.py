"""`main`: arguments in, exit code out."""

from __future__ import annotations

import argparse
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any

import rbdae
from rbdae.cli.compare import run_compare
from rbdae.cli.parser import further_commands, parser, with_numbers
from rbdae.cli.report import write_report
from rbdae.cli.run import run_one
from rbdae.cli.target import told
from rbdae.machine import cache_folder
from rbdae.models import MODELS

_INPUT = (ValueError, TypeError, ImportError, OSError, rbdae.ProjectionError)
_RUN = (BrokenExecutor, RuntimeError)
_TYPE = {"redundant='minimum-norm'": "--redundant minimum-norm", "reference='start'": "--reference start"}
"""Options to type, by the argument that an error of the library proposes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns 0, or 1 if the solver gave up, or 2 if the input was refused, or 130 after Ctrl-C."""
    typed = list(sys.argv[1:] if arguments is None else arguments)
    further = further_commands().get(typed[0]) if typed else None
    given = argparse.Namespace() if further else parser().parse_args(with_numbers(typed))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # names of files in any encoding
    with warnings.catch_warnings():
        warnings.showwarning = _say  # without the line of the source that it comes from
        try:
            return int(further.load()(typed[1:])) if further else _COMMANDS[given.command](given)
        except KeyboardInterrupt:
            print("rbdae: interrupted; files that are not named above have not been written", file=sys.stderr)
            return 130
        except (Exception, SystemExit) as error:
            return _refused(error, typed, given)


def _refused(error: BaseException, typed: Sequence[str], given: argparse.Namespace) -> int:
    """Say what went wrong in a line, or with the user's line that raised it; errors of the library itself go on."""
    file = Path(str(getattr(given, "model", None)).rpartition(":")[0])
    files = [Path(frame.filename).resolve() for frame in traceback.extract_tb(error.__traceback__)]
    if file.suffix == ".py" and "\0" not in str(file) and file.resolve() in files:
        print(f"rbdae: {file}: its code {told(error, file)}", file=sys.stderr)
        return 2
    if not isinstance(error, (*_INPUT, *_RUN)):
        raise error
    said = str(error)
    for words, option in _TYPE.items():
        if words in said and option.split()[0][2:] in vars(given) and option.split()[0] not in typed:
            said += f". Type: rbdae {shlex.join([*typed, *option.split()])}"
    print(f"rbdae: {said}", file=sys.stderr)
    return 1 if isinstance(error, _RUN) else 2


def _say(message: Warning | str, *arguments: Any, **options: Any) -> None:
    print(f"rbdae: {message}", file=sys.stderr)


def _models(given: argparse.Namespace) -> int:
    width = max(map(len, MODELS))
    for name, entry in MODELS.items():
        print(f"{name:{width}}  {entry.summary}; to t = {entry.t_end:g} s")
    return 0


def _solvers(given: argparse.Namespace) -> int:
    print(rbdae.solvers())
    return 0


def _show_cache(given: argparse.Namespace) -> int:
    """The command; 0, or 1 if something could not be removed."""
    home, found = cache_folder.user_cache(), cache_folder.entries()
    if home is None:
        print(
            f"there is no cache: this user has no home folder; set {cache_folder.ENVIRONMENT} to a folder of your own"
        )
        return 0
    size = f"{sum(entry.n_bytes for entry in found) / 1e6:.1f} MB"
    print(f"cache in {home}")
    print(f"  machine code  {len(found):6} entries  {size:>9}" if found else "  empty")
    left = cache_folder.clear() if given.clear else []
    for entry in left:
        print(f"rbdae: {entry.path} could not be removed", file=sys.stderr)
    if given.clear and found and not left:
        print("removed; what is needed again will be compiled again")
    return 1 if left else 0


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "models": _models,
    "solvers": _solvers,
    "run": run_one,
    "compare": run_compare,
    "report": write_report,
    "cache": _show_cache,
}
