"""Errors of the user's own code, told with its lines, without those of the library."""

from __future__ import annotations

import os
import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path
from traceback import FrameSummary
from types import FrameType

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

_LAST = 3
"""Lines of a traceback that are shown."""


def told(error: BaseException, model: str | None) -> str | None:
    """The error that the user's code raised while a command ran, with file, line and text; None if it was not the
    user's code.

    Parameters
    ----------
    error : that came out of the command
    model : ``FILE.py:FUNCTION``, or the name of a model, as it was typed
    """
    path = Path((model or "").rpartition(":")[0])
    frames = frames_of(error, path) if path.suffix == ".py" and os.path.isfile(path) else []
    if not frames:
        return None
    if isinstance(error, SystemExit):
        said = f"ended the program (exit code {error.code}) in the run; raise an exception instead"
    else:
        said = f"raised {type(error).__name__}: {error}"
    return "\n".join([f"{path}: {frames[-1].name} {said}", *(said_of(frame, path) for frame in frames)])


def frames_of(error: BaseException, path: Path) -> list[FrameSummary]:
    """The last frames in a file and in others of its folder, of an exception or of its first cause that has some."""
    folder = path.resolve().parent
    for each in _chain(error):
        own = ((f, line) for f, line in traceback.walk_tb(each.__traceback__) if _is_own(f, folder))
        found = traceback.StackSummary.extract(own)
        if found:
            return found[-_LAST:]
    return []


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and its causes."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _is_own(frame: FrameType, folder: Path) -> bool:
    """Whether code is of the user's folder, and not of Python, its packages, or the library, which may be there."""
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    file = Path(frame.f_code.co_filename)
    if package.startswith("rbdae") or package == "__main__" or not file.is_file():
        return False
    here = file.resolve()
    libraries = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    return here.is_relative_to(folder) and not any(here.is_relative_to(Path(each).resolve()) for each in libraries)


def said_of(frame: FrameSummary, path: Path) -> str:
    """File, line and text of a frame; files of the same folder as `path` are named as that one was."""
    file = Path(frame.filename)
    shown = path if file.resolve() == path.resolve() else file
    return f'  File "{shown}", line {frame.lineno}, in {frame.name}\n    {frame.line}'


__all__ = ["INTERRUPTED", "frames_of", "said_of", "told"]
