"""The mechanism that a command is about: a model of the library, or what a function in a file returns."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, final

import rbdae
from rbdae import _check
from rbdae.cli.told import frames_of, said_of
from rbdae.models import MODELS

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Target:
    """A mechanism with its name, until when it is followed if nobody says otherwise, and one line about it."""

    name: str
    system: rbdae.System
    t_end: float | None
    summary: str


def target(text: str) -> Target:
    """The mechanism of ``MODEL`` or ``FILE.py:FUNCTION``.

    Raises
    ------
    ValueError, TypeError, OSError
        for a model, file or function that is not there, one that raises, and one that returns something else
    """
    file, colon, function = text.rpartition(":")
    if text.endswith(".py") or ("/" in text and not colon):
        raise ValueError(f"say which function: {text}:NAME; {_functions_in(text)}")
    if colon and (file.endswith(".py") or "/" in file):
        return _of_file(Path(file), function)
    if text not in MODELS:
        raise ValueError(
            f"{_check.unknown('model', text, MODELS, most=1)}; for a mechanism of your own FILE.py:FUNCTION"
        )
    return Target(text, MODELS[text](), MODELS[text].t_end, MODELS[text].summary)


def end_of(found: Target, t_end: float | None) -> float:
    """The end time; a file has none."""
    out = found.t_end if t_end is None else t_end
    if out is None:
        raise ValueError(f"{found.name} has no end time of its own; say --t-end, in seconds")
    if out == 0.0:
        raise ValueError("--t-end is 0, where runs begin; give another end, in seconds")
    return out


def _of_file(path: Path, name: str) -> Target:
    module = _module(path)
    if not name or name.startswith("__") or not hasattr(module, name):
        hint = _check.nearest(name, _names(module))
        raise ValueError(f"{path} has no function {name!r}; {(hint and hint + ' ') or ''}{_functions_in(str(path))}")
    made = getattr(module, name)
    if not isinstance(made, rbdae.System):
        if not callable(made):
            raise TypeError(f"{path}:{name} is {_check.show(made)}, no function; give one that returns a rbdae.System")
        _refuse_arguments(path, name, made)
        made = _told(path, f"{name}()", made)
    if not isinstance(made, rbdae.System):
        forgotten = "; is `return system` missing?" if made is None else "; return the system that it builds"
        raise TypeError(f"{path}:{name} returned {_check.show(made)}, no rbdae.System{forgotten}")
    return Target(f"{path.name}:{name}", made, None, f"{name} of {path.name}")


def _refuse_arguments(path: Path, name: str, function: Callable[..., Any]) -> None:
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        raise TypeError(
            f"{path}:{name} must be a function without arguments, or with defaults for all ({error}); write one that "
            "calls it"
        ) from None
    except ValueError:  # functions written in C have no signature
        return


def _module(path: Path) -> ModuleType:
    """The file as a module by its own name, so that other processes can import it, too."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise FileNotFoundError(f"the file {path} {what}; give FILE.py:FUNCTION")
    stem = path.stem
    if "." in stem:
        raise ValueError(
            f"{path}: a module cannot have a dot in its name; rename the file, e.g. {stem.split('.')[0]}.py"
        )
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    known = sys.modules.get(stem)
    if known is not None and _file_of(known) == path.resolve():
        del sys.modules[stem]  # read again: a second command in this process sees what has been changed
    elif known is not None:
        raise ValueError(f"{path}: there is another module {stem!r} in Python or its packages; rename the file")
    importlib.invalidate_caches()
    module = _told(path, "it", lambda: importlib.import_module(stem))
    if _file_of(module) != path.resolve():
        raise ValueError(f"{path}: Python finds another module {stem!r} at {_file_of(module)}; rename the file")
    return module


def _file_of(module: ModuleType) -> Path | None:
    found = getattr(module, "__file__", None)
    return Path(found).resolve() if found else None


def _told(path: Path, what: str, call: Callable[[], T]) -> T:
    """The result of a call; what the user's code raises is told with the user's own lines."""
    try:
        return call()
    except SystemExit as error:
        raise ValueError(
            f"{path}: {what} ended the program (exit code {error.code}) when it was run; put what is not the mechanism "
            "under if __name__ == '__main__':"
        ) from None
    except Exception as error:
        lines = [said_of(frame, path) for frame in frames_of(error, path)]
        if isinstance(error, SyntaxError):
            lines.append(f'  File "{path}", line {error.lineno}\n    {(error.text or "").strip()}')
        raise ValueError("\n".join([f"{path}: {what} raised {type(error).__name__}: {error}", *lines])) from error


def _names(module: ModuleType) -> list[str]:
    return [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]


def _functions_in(path: str) -> str:
    """The functions that a file defines, without running it."""
    try:
        tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return f"there is no file {path}, or it cannot be read"
    found = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
    return f"it defines {', '.join(found)}" if found else "it defines no function"


__all__ = ["Target", "end_of", "target"]
