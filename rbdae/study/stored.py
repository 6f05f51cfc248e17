"""Results on disk, by cattrs: a comparison in one JSON file, and finished runs as lines, so that a killed study can be
continued.

A line belongs to a study by its key: mechanism (by content), end time, reference, version of rbdae. One file may hold
several studies. If the process is killed while writing, the incomplete last line is removed when the file is opened
again, and its run is repeated.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import pickle
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, MethodType, NoneType, UnionType
from typing import Any, TypeVar, Union, final, get_args, get_origin

import numpy as np

from rbdae import _check
from rbdae._version import __version__
from rbdae.formulations import Formulation
from rbdae.formulations.table import written
from rbdae.laws.copies import code_of
from rbdae.output_files import writable
from rbdae.problem.projection import Projection
from rbdae.study.case import Case
from rbdae.study.one_run import Row
from rbdae.study.references import Reference

T = TypeVar("T")

_FORMAT = "rbdae study 2"
_BEGINNING = b'{"format": "rbdae study '


@cache
def _converter() -> Any:
    """A converter between a study's values and JSON: NaN is null, an array a list, a formulation its text. Raises
    ImportError without cattrs."""
    out = _check.package("a file of a study", "cattrs").Converter(detailed_validation=False)
    out.register_unstructure_hook(float, lambda x: None if math.isnan(x) else x)
    out.register_structure_hook(float, lambda x, _: math.nan if x is None else float(x))
    out.register_unstructure_hook_func(_is_array, lambda x: x.tolist())
    out.register_structure_hook_func(_is_array, lambda x, _: np.array(x, dtype=np.float64))
    out.register_unstructure_hook_func(lambda kind: Formulation in get_args(kind), str)
    # unions belong to `Case`, which checks its values
    out.register_structure_hook_func(_is_union, _chosen)
    return out


def _is_array(kind: Any) -> bool:
    return np.ndarray in (kind, get_origin(kind))


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType) and len({*get_args(kind)} - {NoneType}) > 1


def _chosen(value: Any, kind: Any) -> Any:
    if Formulation in get_args(kind) and "(" in value:
        return written(value)
    return Projection(**value) if Projection in get_args(kind) and value is not None else value


def packed(value: Any) -> Any:
    """A study's value as JSON."""
    return _converter().unstructure(value)


def unpacked(value: Any, kind: type[T]) -> T:
    """A study's value from the result of `packed`."""
    out: T = _converter().structure(value, kind)
    return out


@final
class ResultsFile:
    """The results of one study in a file, created with the first result: its reference, or None, and finished runs by
    their cases. The key of the study is its mechanism (`fingerprint`), its reference if given, and all on which a
    computed one depends."""

    def __init__(self, path: str | Path, mechanism: str, given: Reference | None, about: tuple[Any, ...]) -> None:
        self.path = writable("resume", path, "results/run.jsonl")
        study = json.dumps([_FORMAT, __version__, mechanism, packed(given), repr(about)], sort_keys=True)
        self._key = hashlib.sha256(study.encode()).hexdigest()[:24]
        self.reference: Reference | None = None
        self.rows: dict[Case, Row] = {}
        if self.path.exists():
            self._read()

    def usable_rows(self, limit: float) -> dict[Case, Row]:
        """Finished runs, except those given up after a shorter limit, s."""
        return {case: row for case, row in self.rows.items() if (row.given_up_after or limit) >= limit}

    def begin(self, reference: Reference) -> None:
        """Write the data shared by all runs of the study, unless they are in the file."""
        if self.reference is None:
            self.reference = reference
            self._append({"reference": packed(reference)})

    def append(self, row: Row) -> None:
        self.rows[row.case] = row
        self._append({"run": packed(row)})

    def _append(self, content: dict[str, Any]) -> None:
        text = (json.dumps({"format": _FORMAT, "study": self._key, **content}) + "\n").encode()
        # unbuffered: one system call for a line
        with open(self.path, "ab", buffering=0) as file:
            if file.write(text) != len(text):
                raise OSError(f"resume: {self.path} did not take a whole line: the disk is full; make room")

    def _read(self) -> None:
        """Read complete lines, and remove an incomplete last line left by a killed process."""
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        try:
            if content[end : end + len(_BEGINNING)] != _BEGINNING[: len(content) - end]:
                raise ValueError("its last line is of something else")
            for line in filter(bytes.strip, content[:end].splitlines()):
                self._take(json.loads(line))
        except Exception as error:  # json, cattrs and our own classes have a dozen kinds for damaged content
            raise ValueError(
                f"{self.path}: it holds no results of studies, or is damaged ({str(error)[:300]}); name another file "
                "for resume"
            ) from error
        if end < len(content):
            with open(self.path, "rb+") as file:
                file.truncate(end)

    def _take(self, line: dict[str, Any]) -> None:
        if not line["format"].startswith("rbdae study "):
            raise ValueError(f"format {line['format']!r}")
        if line["study"] == self._key and "reference" in line:
            self.reference = unpacked(line["reference"], Reference)
        elif line["study"] == self._key:
            row = unpacked(line["run"], Row)
            self.rows[row.case] = row


# ---------------------------------------------------------------- the content of a mechanism


def fingerprint(value: object) -> str:
    """24 hexadecimal digits, equal for equal content in all processes with the same version of Python. Functions count
    by code, defaults, closure and plain globals; everything else counts as pickled. Raises TypeError for what cannot be
    pickled."""
    digest = io.BytesIO()
    try:
        _Content(digest).dump(value)
    except (TypeError, AttributeError, ValueError, pickle.PicklingError) as error:
        raise TypeError(
            f"a value cannot be pickled ({error}), so results could not be recognised as results of "
            "this mechanism; keep such values out of its laws"
        ) from error
    return hashlib.sha256(digest.getvalue()).hexdigest()[:24]


_COUNTED = (bool, int, float, complex, str, tuple, np.ndarray, np.generic, FunctionType)
"""Types of globals that are part of what a function is; modules and classes count by their names in the code."""


@final
class _Content(pickle.Pickler):
    """A pickler for hashing only: the same output for equal values, whether or not they share objects; of users'
    functions, which pickle identifies by name, the content."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=4)
        self.fast = True  # no memory of earlier objects
        self._begun: list[FunctionType] = []

    def reducer_override(self, value: Any) -> Any:
        """The content of functions, methods and callable classes."""
        value = getattr(value, "py_func", value)  # of a function compiled by numba
        if isinstance(value, FunctionType):
            return tuple, (self._function(value),)
        if isinstance(value, CodeType):
            constants = [sorted(map(repr, each)) if isinstance(each, frozenset) else each for each in value.co_consts]
            return tuple, ((value.co_code, value.co_names, value.co_varnames[: value.co_argcount], constants),)
        if isinstance(value, MethodType):
            return tuple, ((value.__func__, value.__self__),)
        if isinstance(value, type) and isinstance(call := vars(value).get("__call__"), FunctionType):
            return tuple, ((value.__module__, value.__qualname__, call),)
        return NotImplemented

    def _function(self, function: FunctionType) -> tuple[Any, ...]:
        if function in self._begun:
            return (function.__qualname__,)
        self._begun.append(function)
        code, used = code_of(function)
        names = {name: value for name, value in used.items() if isinstance(value, _COUNTED)}
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        return code, function.__defaults__, function.__kwdefaults__, cells, names
