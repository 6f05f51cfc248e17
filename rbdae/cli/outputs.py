"""Files that a command writes: what can be refused is refused before the run, which would be lost."""

from __future__ import annotations

import csv
import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path

import rbdae
from rbdae.reports import check_report
from rbdae.solving.frames import QUANTITIES


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
    for option, path in wanted.items():
        _check_writable(option, path)
        if path.resolve() == Path(model.rpartition(":")[0]).resolve():
            raise ValueError(f"{option} would write over {path}, the file of the mechanism; name another file")
        others = [o for o, p in wanted.items() if o != option and p.absolute() == path.absolute()]
        if others:
            raise ValueError(f"{option} and {others[0]} name the same file {path}; give two names")
    if "--save" in wanted and wanted["--save"].suffix not in ("", ".npz"):
        raise ValueError(f"--save: {wanted['--save']} must end with .npz; for other formats see --csv and --report")
    if "--plot" in wanted:
        _check_picture(wanted["--plot"])
    if "--report" in wanted:
        check_report(wanted["--report"])
    if progress and importlib.util.find_spec("tqdm") is None:
        raise ImportError("--progress needs tqdm, which is missing: run `pip install tqdm`, or leave it out")


def _check_writable(option: str, path: Path) -> None:
    folder = path.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{option}: there is no folder {path.parent} to write {path.name} to; make it first")
    if path.is_dir():
        raise IsADirectoryError(f"{option}: {path} is a folder; name a file")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise PermissionError(f"{option}: {path} cannot be written; name another file, or change its permissions")


def _check_picture(path: Path) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError("--plot needs matplotlib, which is missing: run `pip install 'rbdae[plot]'`")
    from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lower().removeprefix(".") not in known:
        ending = f"has the ending {path.suffix!r}" if path.suffix else "has no ending"
        raise ValueError(f"--plot: {path} {ending}; pictures can be {', '.join(known)}")


def write_states(solution: rbdae.Solution, path: Path) -> None:
    """Times and the states of all bodies; the columns of `Solution.to_pandas`, with units."""
    columns = list(QUANTITIES["states"](solution))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["t [s]", *(name for name, _ in columns)])
        for k, t in enumerate(solution.t.tolist()):
            writer.writerow([repr(t), *(repr(float(values[k])) for _, values in columns)])


__all__ = ["check_outputs", "write_states"]
