"""Arrays and metadata in one ``.npz`` file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_FORMAT = 2


def write_npz(path: str | Path, arrays: Mapping[str, Any], metadata: Mapping[str, Any]) -> Path:
    """Write arrays, and metadata as JSON text; returns the path, with ``.npz`` added to names without it."""
    target = Path(path)
    if target.suffix != ".npz":
        target = target.with_name(target.name + ".npz")
    text = json.dumps({"format": _FORMAT, **metadata})
    np.savez_compressed(target, metadata=np.array(text), **arrays)
    return target


def read_npz(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays and metadata of a file.

    Raises
    ------
    ValueError
        for another kind of file, and for another version of the format
    """
    with np.load(Path(path), allow_pickle=False) as stored:
        if "metadata" not in stored:
            raise ValueError(f"{path} was not written by Solution.save: it has no metadata")
        metadata: dict[str, Any] = json.loads(str(stored["metadata"]))
        arrays = {name: stored[name] for name in stored if name != "metadata"}
    if metadata["format"] == 1:
        return _from_format_1(arrays), metadata
    if metadata["format"] != _FORMAT:
        raise ValueError(f"{path} has format {metadata['format']}, this version reads formats 1 and {_FORMAT}")
    return arrays, metadata


def _from_format_1(arrays: dict[str, Any]) -> dict[str, Any]:
    """Files of version 0.1.0 know the independent velocities of a run alone."""
    names = {"gauge_t": "selection_t", "gauge_S": "selection_S", "gauge_sizes": "selection_sizes"}
    return {names.get(name, name): array for name, array in arrays.items()}


__all__ = ["read_npz", "write_npz"]
