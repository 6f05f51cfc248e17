"""Results on disk, by cattrs: a comparison in one JSON file, and finished runs as lines, so that a study that is killed
can be continued.

A line belongs to a study by its key: mechanism (by content), end time, reference, version of rbdae. One file may hold
several studies. If the process is killed while it writes, the last line has no end; it is cut off when the file is
opened again, and its run is done again. Every line and file has a digest of its content: one that was damaged, or
changed by hand, is refused.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, final, get_args, get_origin

import numpy as np

from rbdae._files import checked, is_special
from rbdae._version import __version__
from rbdae.formulations import Formulation
from rbdae.formulations.table import written
from rbdae.problem.projection import Projection
from rbdae.study.case import Case
from rbdae.study.one_run import Row
from rbdae.study.provenance import Provenance
from rbdae.study.references import Reference

T = TypeVar("T")

_FORMAT = "rbdae study 1"
_BEGINNING = b'{"format": "rbdae study '


@cache
def _converter() -> Any:
    """Values of a study to and from what JSON has: NaN is null, an array a list, a formulation its text.

    Raises
    ------
    ImportError
        without cattrs
    """
    try:
        from cattrs import Converter
    except ImportError:
        raise ImportError("files of a study need cattrs: run `pip install cattrs`") from None
    out = Converter(detailed_validation=False)
    out.register_unstructure_hook(float, lambda x: None if math.isnan(x) else x)
    out.register_structure_hook(float, lambda x, _: math.nan if x is None else float(x))
    out.register_unstructure_hook_func(_is_array, lambda x: x.tolist())
    out.register_structure_hook_func(_is_array, lambda x, _: np.array(x, dtype=np.float64))
    out.register_unstructure_hook_func(lambda kind: Formulation in get_args(kind), str)
    # unions belong to `Case`, which checks what it gets
    out.register_structure_hook_func(_is_union, _chosen)
    return out


def _is_array(kind: Any) -> bool:
    return np.ndarray in (kind, get_origin(kind))


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType) and len({*get_args(kind)} - {NoneType}) > 1


def _chosen(value: Any, kind: Any) -> Any:
    """A value of one of several types."""
    if Formulation in get_args(kind) and "(" in value:
        return written(value)
    return Projection(**value) if Projection in get_args(kind) and value is not None else value


def packed(value: Any) -> Any:
    """A value of a study as JSON can have it."""
    return _converter().unstructure(value)


def unpacked(value: Any, kind: type[T]) -> T:
    """A value of a study from what `packed` made of it."""
    out: T = _converter().structure(value, kind)
    return out


def signed(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content with its digest."""
    return {**content, "digest": _digest(content)}


def verified(text: str | bytes, formats: str) -> dict[str, Any]:
    """The content of a text whose digest is right.

    Raises
    ------
    ValueError
        for a text that is no JSON object of this format, or was damaged
    """
    given = json.loads(text)
    if not isinstance(given, dict) or given.get("format") != formats:
        raise ValueError(f"it has not the format {formats!r}")
    if given.pop("digest", None) != _digest(given):
        raise ValueError("it was damaged, or changed by hand")
    return given


def _digest(content: Any) -> str:
    """24 hexadecimal digits of what JSON writes."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]


@final
class ResultsFile:
    """The results of one study in a file.

    Parameters
    ----------
    path : of the file, which is made with the first result
    fingerprint, given, about : what the study is: its mechanism, its reference if there is one, and all that a computed
        one depends on

    Attributes
    ----------
    reference : the one that is in the file, or None
    rows : finished runs by their cases
    """

    def __init__(self, path: str | Path, fingerprint: str, given: Reference | None, about: tuple[Any, ...]) -> None:
        self.path = _checked_path(path)
        self._key = _digest([_FORMAT, __version__, fingerprint, packed(given), repr(about)])
        self.reference: Reference | None = None
        self.rows: dict[Case, Row] = {}
        if self.path.exists():
            self._read()

    def usable_rows(self, limit: float) -> dict[Case, Row]:
        """Finished runs, without those that were given up after a shorter time, s."""
        return {case: row for case, row in self.rows.items() if (row.given_up_after or limit) >= limit}

    def begin(self, reference: Reference, provenance: Provenance) -> None:
        """Write what all runs of the study share; does nothing if it is there."""
        if self.reference is None:
            self.reference = reference
            self._append({"reference": packed(reference), "provenance": packed(provenance)})

    def append(self, row: Row) -> None:
        """Write a finished run."""
        self.rows[row.case] = row
        self._append({"run": packed(row)})

    def _append(self, content: dict[str, Any]) -> None:
        text = (json.dumps(signed({"format": _FORMAT, "study": self._key, **content})) + "\n").encode()
        # unbuffered: one call of the operating system for a line
        with open(self.path, "ab", buffering=0) as file:
            if file.write(text) != len(text):
                raise OSError(f"resume: {self.path} did not take a whole line: the disk is full; make room")

    def _read(self) -> None:
        """Read complete lines. A last line that a killed process left is cut off; empty lines count for nothing."""
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:end].splitlines(), 1):
            if line.strip():
                self._take(number, line)
        rest = content[end:]
        if rest and rest[: len(_BEGINNING)] != _BEGINNING[: len(rest)]:
            raise ValueError(f"{self.path}: it holds no results of studies; name another file for resume")
        if rest:
            with open(self.path, "rb+") as file:
                file.truncate(end)

    def _take(self, number: int, line: bytes) -> None:
        try:
            given = verified(line, _FORMAT)
            if given["study"] != self._key:
                return
            if "reference" in given:
                self.reference = unpacked(given["reference"], Reference)
            else:
                row = unpacked(given["run"], Row)
                self.rows[row.case] = row
        except Exception as error:  # json, cattrs and our own classes have a dozen kinds for damaged content
            raise ValueError(
                f"{self.path}, line {number}: it is no line of a study's results ({str(error)[:300]}); name another "
                "file for resume, or remove the line"
            ) from error


def _checked_path(path: str | Path) -> Path:
    """A file that can be written; it is not made."""
    file = checked("resume", path, "results/run.jsonl")
    if file.is_dir() or is_special(file):
        raise IsADirectoryError(f"resume: {file} is no file; name one, e.g. {file / 'run.jsonl'}")
    if not file.absolute().parent.is_dir():
        raise FileNotFoundError(f"resume: there is no folder {file.parent} for {file.name}; make it first")
    return file
