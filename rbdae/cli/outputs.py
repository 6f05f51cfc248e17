"""Files that a command writes: what can be refused is refused before the run, which would be lost."""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import rbdae
from rbdae._files import harmless, replacing
from rbdae.problem.observables import further
from rbdae.show import check_report


def check_outputs(given: argparse.Namespace) -> None:
    """Refuse files that cannot be written, formats and packages that are not there.

    Raises
    ------
    OSError, ValueError, ImportError
        with the option, the file and the remedy
    """
    options = {name: getattr(given, name, None) for name in ("plot", "save", "csv", "json", "resume", "report", "out")}
    files = {f"--{name}": path for name, path in options.items() if path is not None}
    for option, path in files.items():
        folder = path.absolute().parent
        if not folder.is_dir():
            raise FileNotFoundError(
                f"{option}: there is no folder {path.parent} to write {path.name} to; make it first"
            )
        if path.is_dir():
            raise IsADirectoryError(f"{option}: {path} is a folder; name a file")
        if not os.access(path if path.exists() else folder, os.W_OK):
            raise PermissionError(f"{option}: {path} cannot be written; name another file, or change its permissions")
        if path.resolve() == Path(str(getattr(given, "model", None)).rpartition(":")[0]).resolve():
            raise ValueError(f"{option} would write over {path}, the file of the mechanism; name another file")
        if any(path.absolute() == other.absolute() for name, other in files.items() if name != option):
            raise ValueError(f"{option} and another option name the same file {path}; give two names")
    if "--save" in files and files["--save"].suffix not in ("", ".npz"):
        raise ValueError(f"--save: {files['--save']} must end with .npz; for other formats see --csv and --report")
    for option in {"--report", "--out"} & files.keys():
        check_report(files[option])
    for option, package in (
        ("--plot", "matplotlib"),
        ("--csv", "pandas"),
        ("--json", "cattrs"),
        ("--resume", "cattrs"),
    ):
        if option in files:
            _check_package(option, package)
    if getattr(given, "progress", False):
        _check_package("--progress", "tqdm")
    if "--plot" in files:
        from matplotlib.backend_bases import FigureCanvasBase

        known, ending = sorted(FigureCanvasBase.get_supported_filetypes()), files["--plot"].suffix
        if ending.lower()[1:] not in known:
            raise ValueError(f"--plot: {files['--plot']} has the ending {ending!r}; pictures can be {', '.join(known)}")


def _check_package(option: str, package: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise ImportError(f"{option} needs {package}, which is missing: run `pip install {package}`, or leave it out")


def write_all(files: Mapping[str, tuple[Path | None, Callable[[Path], Path]]]) -> None:
    """Write what was asked for, and say where it is: one file that cannot be written costs no other one.

    Parameters
    ----------
    files : by what is written: the file, or None, and what writes it and returns where it is

    Raises
    ------
    OSError, ValueError
        of the first one that could not be written, when all others are
    """
    os.environ.setdefault("MPLBACKEND", "Agg")
    failed: OSError | ValueError | None = None
    for what, (path, write) in files.items():
        if path is None:
            continue
        try:
            print(f"{what} written to {write(path)}")
        except (OSError, ValueError) as error:
            failed = failed or error
    if failed is not None:
        raise failed


def write_states(solution: rbdae.Solution, path: Path) -> Path:
    """Times, the states of all bodies, the quantities of joints and forces, and observables that were registered: the
    columns of `Solution.to_pandas`. A name that a spreadsheet would evaluate has an apostrophe before it."""
    names = ["states", "joints", "forces", *(each.name for each in further(solution.problem))]
    frame = solution.to_pandas(names).rename(columns=harmless)
    with replacing(path) as new:
        frame.to_csv(new, index_label="t [s]", errors="backslashreplace")
    return path


def write_picture(figure: Any, path: Path) -> Path:
    """A figure of matplotlib, by the ending of its file."""
    with replacing(path) as new:
        figure.savefig(new, dpi=150, format=path.suffix.lower().removeprefix("."))
    return path
