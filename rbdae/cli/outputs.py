"""Files that a command writes: what can be refused is refused before the run, which would be lost."""

from __future__ import annotations

import csv
import importlib.util
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import rbdae
from rbdae._files import harmless, is_special, replacing
from rbdae.problem.observables import FORCES, JOINTS, STATES, further
from rbdae.show import check_report


def check_outputs(files: Mapping[str, Path | None], model: str, *, progress: bool = False) -> None:
    """Refuse files that cannot be written, formats and packages that are not there.

    Parameters
    ----------
    files : by the option that names them, such as ``"--csv"``
    model : the mechanism's file, which must not be written over, or a model's name
    progress : whether a bar is asked for

    Raises
    ------
    OSError, ValueError, ImportError
        with the option, the file and the remedy
    """
    wanted = {option: path for option, path in files.items() if path is not None}
    if "--save" in wanted:
        wanted["--save"] = _trajectory(wanted["--save"])
    for option, path in wanted.items():
        _check_writable(option, path)
        if path.resolve() == Path(model.rpartition(":")[0]).resolve():
            raise ValueError(f"{option} would write over {path}, the file of the mechanism; name another file")
        others = [o for o, p in wanted.items() if o != option and p.absolute() == path.absolute()]
        if others:
            raise ValueError(f"{option} and {others[0]} name the same file {path}; give two names")
    if "--plot" in wanted:
        _check_picture(wanted["--plot"])
    if "--report" in wanted:
        check_report(wanted["--report"])
    if progress and importlib.util.find_spec("tqdm") is None:
        raise ImportError("--progress needs tqdm, which is missing: run `pip install tqdm`, or leave it out")


def _trajectory(path: Path) -> Path:
    """The file that a trajectory is written to."""
    if path.suffix not in ("", ".npz"):
        raise ValueError(f"--save: {path} must end with .npz; for other formats see --csv and --report")
    return path if path.suffix or is_special(path) else path.with_name(path.name + ".npz")


def _check_writable(option: str, path: Path) -> None:
    folder = path.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{option}: there is no folder {path.parent} to write {path.name} to; make it first")
    if path.is_dir():
        raise IsADirectoryError(f"{option}: {path} is a folder; name a file")
    # a new file is made in the folder, and takes the place of an old one
    needed = [path] if is_special(path) else [folder, *([path] if path.exists() else [])]
    if not all(os.access(each, os.W_OK) for each in needed):
        raise PermissionError(f"{option}: {path} cannot be written; name another file, or change its permissions")


def _check_picture(path: Path) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError("--plot needs matplotlib, which is missing: run `pip install matplotlib`")
    from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lower().removeprefix(".") not in known:
        ending = f"has the ending {path.suffix!r}" if path.suffix else "has no ending"
        raise ValueError(f"--plot: {path} {ending}; pictures can be {', '.join(known)}")


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
    lines = STATES, JOINTS, FORCES, *further(solution.problem)
    columns = [column for each in lines for column in each.columns(getattr(solution, each.name))]
    with replacing(path) as new, open(new, "w", newline="", encoding="utf-8", errors="backslashreplace") as file:
        writer = csv.writer(file)
        writer.writerow(["t [s]", *(harmless(name) for name, _ in columns)])
        for k, t in enumerate(solution.t.tolist()):
            writer.writerow([repr(t), *(repr(float(values[k])) for _, values in columns)])
    return path


def write_picture(figure: Any, path: Path) -> Path:
    """A figure of matplotlib, by the ending of its file."""
    with replacing(path) as new:
        figure.savefig(new, dpi=150, format=path.suffix.lower().removeprefix("."))
    return path


__all__ = ["check_outputs", "write_all", "write_picture", "write_states"]
