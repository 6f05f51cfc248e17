"""Arrays and metadata in one ``.npz`` file."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as form

from rbdae._files import checked, is_special, replacing

_FORMAT = 2


def write_npz(
    path: str | Path, arrays: Mapping[str, Any], metadata: Mapping[str, Any], *, compress: bool = False
) -> Path:
    """Write arrays, and metadata as JSON text; returns the path, with ``.npz`` added to names without it, but for
    devices. Compression makes states of runs a tenth shorter, and takes some thirty times as long."""
    target = checked_path(path)
    if target.suffix != ".npz" and not is_special(target):
        target = target.with_name(target.name + ".npz")
    text = json.dumps({"format": _FORMAT, **metadata})
    with replacing(target) as new, open(new, "wb") as file:
        _write(file, {"metadata": np.array(text), **arrays}, zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED)
    return target


def _write(file: BinaryIO, arrays: Mapping[str, Any], compression: int) -> None:
    """Write as `numpy.savez` does, which in NumPy 1 leaves an open archive behind where a disk is full."""
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                form.write_array(entry, np.asanyarray(array), allow_pickle=False)


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
        arrays = {info.filename.removesuffix(".npy"): _array(archive, info) for info in archive.infolist()}
    if "metadata" not in arrays:
        raise ValueError("it has no metadata")
    metadata = json.loads(str(arrays.pop("metadata")))
    if not isinstance(metadata, dict):
        raise ValueError("its metadata are no table")
    return arrays, metadata


_BYTES = 1 << 20
"""Read at a time."""


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    """A member, read once into its place; at its end `zipfile` compares the checksum."""
    with archive.open(info) as member:
        version = form.read_magic(member)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"{info.filename} has version {version} of the array format")
        read_header = form.read_array_header_1_0 if version == (1, 0) else form.read_array_header_2_0
        shape, by_columns, dtype = read_header(member)
        if dtype.hasobject:
            raise ValueError(f"{info.filename} has Python objects")
        size = math.prod(shape) * dtype.itemsize
        if member.tell() + size != info.file_size:
            raise ValueError(f"{info.filename} has {info.file_size} bytes, which are not those of an array of {shape}")
        out: Any = np.empty(shape, dtype, order="F" if by_columns else "C")
        memory = memoryview(out.reshape(-1, order="A").view(np.uint8)) if size else memoryview(bytearray())
        for first in range(0, size, _BYTES):
            part = memory[first : first + _BYTES]
            done = 0
            while done < len(part):
                found = member.read(len(part) - done)
                if not found:
                    raise ValueError(f"{info.filename} ends before its last number")
                part[done : done + len(found)] = found
                done += len(found)
        if member.read(1):
            raise ValueError(f"{info.filename} has more than an array")
    return out


def _from_format_1(arrays: dict[str, Any]) -> dict[str, Any]:
    """Files of version 0.1.0 know the independent velocities of a run alone."""
    names = {"gauge_t": "selection_t", "gauge_S": "selection_S", "gauge_sizes": "selection_sizes"}
    return {names.get(name, name): array for name, array in arrays.items()}


__all__ = ["checked_path", "read_npz", "write_npz"]
