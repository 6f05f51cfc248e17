"""The needs of a report, asked before anything is computed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from rbdae import _check
from rbdae._files import checked

_PACKAGES: Final = ("plotly", "jinja2", "itables")


def check_report(path: str | Path) -> Path:
    """The file that a report is to be written to, if it can be.

    Raises
    ------
    TypeError
        for something else than a path
    ValueError
        for a name that does not end with ``.html``
    OSError
        where there is no such folder, or a folder of that name
    ImportError
        without a package that writes reports
    """
    target = checked("report: path", path, "run.html")
    if target.suffix.lower() != ".html":
        raise ValueError(
            f"a report is a page: its name must end with .html, got {str(path)!r}; name it e.g. 'run.html'"
        )
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; give the report the name of a file")
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} to; make it first")
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise ImportError(f"a report needs {', '.join(missing)}: run `pip install {' '.join(missing)}`")
    return target


def checked_heading(value: object) -> str | None:
    """The title of a page; None for the form and the solver.

    Raises
    ------
    TypeError, ValueError
        for what is no text, and for an empty one
    """
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"report: title must be a string, got {_check.show(value)}; pass e.g. 'Slider crank'")
    if not value.strip():
        raise ValueError("report: title must not be empty; pass e.g. 'Slider crank', or leave it out")
    return value


__all__ = ["check_report", "checked_heading"]
