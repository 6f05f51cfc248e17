"""The mechanism that a command is about: a model of the library, or what a function in a file returns."""

from __future__ import annotations

import importlib
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import rbdae
from rbdae import _check
from rbdae.models import MODELS


class Target(NamedTuple):
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
    if text.endswith(".py"):
        return _of_file(Path(text), "")
    if colon and file.endswith(".py"):
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
    made = getattr(module, name, None) if name else None
    if made is None:
        own = [k for k, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
        raise ValueError(f"{path} has no function {name!r}; give {path}:NAME, it defines {', '.join(own) or 'none'}")
    if not isinstance(made, rbdae.System):
        if not callable(made):
            raise TypeError(f"{path}:{name} is {_check.show(made)}, no function; give one that returns a rbdae.System")
        try:
            made = made()
        except (Exception, SystemExit) as error:
            raise ValueError(f"{path}: {name}() {told(error, path)}") from error
    if not isinstance(made, rbdae.System):
        raise TypeError(
            f"{path}:{name} returned {_check.show(made)}, no rbdae.System; return the system that it builds"
        )
    return Target(f"{path.name}:{name}", made, None, f"{name} of {path.name}")


def _module(path: Path) -> ModuleType:
    """The file as a module by its own name, so that other processes can import it, too."""
    if not path.is_file():
        raise FileNotFoundError(f"the file {path} does not exist; give FILE.py:FUNCTION")
    sys.path.insert(0, str(path.resolve().parent))
    known = sys.modules.get(path.stem)
    if known is not None and getattr(known, "__file__", None) == str(path.resolve()):
        del sys.modules[path.stem]  # read again: a second command in this process sees what has been changed
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(path.stem)
    except (Exception, SystemExit) as error:
        raise ValueError(f"{path}: it {told(error, path)}") from error
    found = getattr(module, "__file__", None)
    if found is None or Path(found).resolve() != path.resolve():
        raise ValueError(f"{path}: Python has another module {path.stem!r}; rename the file")
    return module


def told(error: BaseException, path: Path) -> str:
    """The error that the user's code raised, with the last line of the file that led to it."""
    if isinstance(error, SystemExit):
        said = f"ended the program (exit code {error.code}); raise an exception in its place"
    else:
        said = f"raised {type(error).__name__}: {error}"
    if isinstance(error, SyntaxError):
        return f'{said}\n  File "{path}", line {error.lineno}\n    {(error.text or "").strip()}'
    lines = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).resolve() == path.resolve()]
    return said + "".join(f'\n  File "{path}", line {f.lineno}, in {f.name}\n    {f.line}' for f in lines[-1:])
