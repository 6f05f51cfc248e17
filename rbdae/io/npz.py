"""Arrays and metadata in one ``.npz`` file."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from rbdae._files import checked, is_special, replacing

_FORMAT = 2


def write_npz(path: str | Path, arrays: Mapping[str, Any], metadata: Mapping[str, Any]) -> Path:
    """Write arrays, and metadata as JSON text; returns the path, with ``.npz`` added to names without it, but for
    devices."""
    target = checked_path(path)
    if target.suffix != ".npz" and not is_special(target):
        target = target.with_name(target.name + ".npz")
    text = json.dumps({"format": _FORMAT, **metadata})
    with replacing(target) as new, open(new, "wb") as file:
        np.savez_compressed(file, metadata=np.array(text), **arrays)
    return target


def read_npz(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays and metadata of a file.

    Raises
    ------
    TypeError
        for what is no path
    OSError
        for a file that cannot be opened
    ValueError
        for another kind of file, for a damaged one, and for another version of the format
    """
    source = checked_path(path)
    try:
        with open(source, "rb") as file:
            arrays, metadata = _read(file)
    except OSError:
        raise
    except Exception as error:  # zipfile, zlib, json and NumPy have a dozen kinds for damaged files
        raise ValueError(
            f"{path} is damaged, or was not written by Solution.save ({type(error).__name__}: {error}); save the "
            "solution again"
        ) from error
    number = metadata.get("format")
    if number == 1 and not isinstance(number, bool):
        return _from_format_1(arrays), metadata
    if number != _FORMAT:
        raise ValueError(
            f"{path} has format {number!r}, this version reads formats 1 and {_FORMAT}; read it with the version of "
            "rbdae that wrote it"
        )
    return arrays, metadata


def checked_path(path: object) -> Path:
    """A path, from itself or a string."""
    return checked("path", path, "run.npz")


def _read(file: BinaryIO) -> tuple[dict[str, Any], dict[str, Any]]:
    with zipfile.ZipFile(file) as archive:
        bad = archive.testzip()
        if bad is not None:
            raise ValueError(f"the checksum of {bad} is wrong")
    file.seek(0)
    with np.load(file, allow_pickle=False) as stored:
        if "metadata" not in stored:
            raise ValueError("it has no metadata")
        metadata = json.loads(str(stored["metadata"]))
        arrays = {name: stored[name] for name in stored if name != "metadata"}
    if not isinstance(metadata, dict):
        raise ValueError("its metadata are no table")
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise ValueError("it has parts that are no arrays")
    return arrays, metadata


def _from_format_1(arrays: dict[str, Any]) -> dict[str, Any]:
    """Files of version 0.1.0 know the independent velocities of a run alone."""
    names = {"gauge_t": "selection_t", "gauge_S": "selection_S", "gauge_sizes": "selection_sizes"}
    return {names.get(name, name): array for name, array in arrays.items()}


__all__ = ["checked_path", "read_npz", "write_npz"]
