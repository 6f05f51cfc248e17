"""Finished runs on disk: one JSON line for each, written at once, so that a study that is killed can be continued.

A line belongs to a study by its key: mechanism (by content), end time, reference, version of rbdae. One file may hold
several studies. A line is handed to the operating system as a whole. If the process is killed in between, the last line
has no end; it is cut off when the file is opened again, and its run is done again. A line has a digest of its content:
one that was damaged, or changed by hand, is refused, whatever it says. Lines of older versions are left alone.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, final

from rbdae import _check
from rbdae._files import checked, is_special
from rbdae._version import __version__
from rbdae.study.case import Case
from rbdae.study.one_run import Row
from rbdae.study.provenance import Provenance
from rbdae.study.records import record, reference_of, reference_record, row_of
from rbdae.study.references import Reference
from rbdae.study.stored_values import DAMAGED, digest, parsed, refused

_FORMAT = "rbdae study 2"
_OLD = ("rbdae study 1",)
_BEGINNING = b'{"format": "rbdae study '


@final
class ResultsFile:
    """The results of one study in a file.

    Attributes
    ----------
    path : of the file
    reference : the one that is in the file, or None
    rows : finished runs by their cases
    """

    def __init__(self, path: str | Path, key: str) -> None:
        self.path = checked_path(path)
        self._key = key
        self.reference: Reference | None = None
        self.rows: dict[Case, Row] = {}
        if self.path.exists():
            self._read()

    def begin(self, reference: Reference, provenance: Provenance) -> None:
        """Write what all runs of the study share; does nothing if it is there."""
        if self.reference is None:
            self.reference = reference
            self._append({"reference": reference_record(reference), "provenance": asdict(provenance)})

    def append(self, row: Row, reference: Reference) -> None:
        """Write a finished run."""
        self.rows[row.case] = row
        self._append({"run": record(row, reference)})

    def _append(self, content: dict[str, Any]) -> None:
        line = {"format": _FORMAT, "study": self._key, **content}
        text = (json.dumps({**line, "digest": digest(line)}) + "\n").encode()
        # unbuffered: one call of the operating system for a line
        with open(self.path, "ab", buffering=0) as file:
            if file.write(text) != len(text):
                raise OSError(
                    f"resume: {self.path} did not take a whole line: the disk is full; make room, and start again"
                )

    def _read(self) -> None:
        """All whole lines; then a last one without an end is cut off, if it is one of ours, or gets its end, if that is
        all it lacks. Empty lines, which editors add, are nothing."""
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:end].splitlines(), 1):
            if line.strip():
                self._take(number, line)
        rest = content[end:]
        if rest and rest[: len(_BEGINNING)] != _BEGINNING[: len(rest)]:
            raise ValueError(f"{self.path}: it holds no results of studies; name another file for resume")
        if rest and _is_whole(rest):
            self._take(content.count(b"\n") + 1, rest)
            with open(self.path, "ab") as file:
                file.write(b"\n")
        elif rest:
            with open(self.path, "rb+") as file:
                file.truncate(end)

    def _take(self, number: int, line: bytes) -> None:
        try:
            given = parsed(line)
            if given["format"] in _OLD:
                return
            if given["format"] != _FORMAT:
                raise ValueError(f"format {_check.show(given['format'])}")
            if given.pop("digest") != digest(given):
                raise ValueError("it was damaged, or changed by hand")
            if given["study"] != self._key:
                return
            if "reference" in given:
                self.reference = reference_of(given["reference"])
            else:
                row = row_of(given["run"])
                self.rows[row.case] = row
        except DAMAGED as error:
            raise ValueError(
                f"{self.path}, line {number}: it is no line of a study's results ({refused(error)}); name another "
                "file for resume, or remove the line"
            ) from None


def _is_whole(rest: bytes) -> bool:
    """Whether a last line lacks its end alone, which some editors remove."""
    try:
        return isinstance(parsed(rest), dict)
    except DAMAGED:
        return False


def checked_path(path: str | Path) -> Path:
    """A file that can be written; it is not made."""
    file = checked("resume", path, "results/run.jsonl")
    if file.is_dir():
        raise IsADirectoryError(f"resume: {file} is a folder; name a file in it, e.g. {file / 'run.jsonl'}")
    if not file.absolute().parent.is_dir():
        raise FileNotFoundError(f"resume: there is no folder {file.parent} for {file.name}; make it first")
    if is_special(file):
        raise ValueError(f"resume: {file} is no regular file, so nothing can be read back; name another one")
    return file


def study_key(fingerprint: str, t_end: float, given: Reference | None, about: tuple[Any, ...]) -> str:
    """The key of a study; `about` is what its computed reference depends on besides."""
    own = "computed" if given is None else json.dumps(reference_record(given))
    text = json.dumps([_FORMAT, __version__, fingerprint, t_end, own, repr(about)])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


__all__ = ["ResultsFile", "checked_path", "study_key"]
