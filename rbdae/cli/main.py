"""`main`: arguments in, exit code out."""

from __future__ import annotations

import argparse
import pickle
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Any

import rbdae
from rbdae.cli.cache import show_cache
from rbdae.cli.compare import run_compare
from rbdae.cli.parser import further_commands, parser, with_numbers
from rbdae.cli.report import write_report
from rbdae.cli.run import run_one
from rbdae.cli.told import INTERRUPTED, told
from rbdae.models import MODELS

_FAILED, _REFUSED = 1, 2

_INPUT = (ValueError, TypeError, ImportError, OSError, pickle.PicklingError, rbdae.ProjectionError)
_RUN = (BrokenExecutor, RuntimeError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns 0, or 1 if the solver gave up, or 2 if the input was refused, or 130 after Ctrl-C."""
    typed = list(sys.argv[1:] if arguments is None else arguments)
    further = further_commands().get(typed[0]) if typed else None
    given = argparse.Namespace() if further else parser().parse_args(with_numbers(typed))
    given.typed = typed
    with _any_name(sys.stdout), _any_name(sys.stderr):
        try:
            with _warnings_in_one_line():
                return int(further.load()(typed[1:])) if further else _COMMANDS[given.command](given)
        except KeyboardInterrupt:
            print("rbdae: interrupted; what is not named above has not been written", file=sys.stderr)
            return INTERRUPTED
        except (Exception, SystemExit) as error:
            said = told(error, getattr(given, "model", None))
            if said is None and not isinstance(error, (*_INPUT, *_RUN)):
                raise
            print(f"rbdae: {error if said is None else said}", file=sys.stderr)
            return _FAILED if said is None and isinstance(error, _RUN) else _REFUSED


@contextmanager
def _any_name(stream: Any) -> Iterator[None]:
    """A stream that prints names of files in any encoding; what it cannot print is escaped."""
    before = getattr(stream, "errors", None)
    change = getattr(stream, "reconfigure", None)
    if before is None or change is None:  # of a notebook, or of a test
        yield
        return
    change(errors="backslashreplace")
    try:
        yield
    finally:
        change(errors=before)


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Warnings without the line of the source that they come from."""

    def say(message: Warning | str, *arguments: Any, **options: Any) -> None:
        print(f"rbdae: {message}", file=sys.stderr)

    before = warnings.showwarning
    warnings.showwarning = say
    try:
        yield
    finally:
        warnings.showwarning = before


def _models(given: argparse.Namespace) -> int:
    width = max(map(len, MODELS))
    for name, entry in MODELS.items():
        print(f"{name:{width}}  {entry.summary}; to t = {entry.t_end:g} s")
    return 0


def _solvers(given: argparse.Namespace) -> int:
    print(rbdae.solvers())
    return 0


_COMMANDS = {
    "models": _models,
    "solvers": _solvers,
    "run": run_one,
    "compare": run_compare,
    "report": write_report,
    "cache": show_cache,
}

__all__ = ["main"]
