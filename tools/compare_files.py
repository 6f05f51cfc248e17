"""Recordings of `compare_outputs.py`: files, and differences of what is in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, Any]
Recording = dict[str, dict[str, Arrays]]
"""Arrays and texts by case, state and quantity."""


def save(path: Path, recording: Recording, about: dict[str, Any]) -> None:
    """One long vector of bytes for all arrays, and a list of what is where."""
    index: list[Any] = []
    chunks: list[bytes] = []
    at = 0
    for case, states in recording.items():
        for state, arrays in states.items():
            for quantity, value in arrays.items():
                if isinstance(value, str):
                    index.append((case, state, quantity, value))
                    continue
                index.append((case, state, quantity, value.dtype.str, value.shape, at))
                chunks.append(value.tobytes())
                at += value.nbytes
    data = np.frombuffer(b"".join(chunks), dtype=np.uint8)
    texts = {"index": np.array(json.dumps(index)), "about": np.array(json.dumps(about))}
    np.savez_compressed(path, data=data, **texts)


def load(path: Path) -> tuple[Recording, dict[str, Any]]:
    """A recording, and what made it."""
    with np.load(path) as stored:
        index, about = (json.loads(str(stored[name])) for name in ("index", "about"))
        data = stored["data"].tobytes()
    out: Recording = {}
    for case, state, quantity, *what in index:
        value: Any = what[0]
        if len(what) == 3:
            dtype, shape, at = np.dtype(what[0]), what[1], what[2]
            value = np.frombuffer(data, dtype, int(np.prod(shape)), at).reshape(shape)
        out.setdefault(case, {}).setdefault(state, {})[quantity] = value
    return out, about


def difference(a: Any, b: Any) -> float:
    """Largest absolute difference; infinite for what cannot be compared, or is finite on one side alone."""
    if isinstance(a, str) or isinstance(b, str):
        return 0.0 if isinstance(a, str) and isinstance(b, str) and a == b else np.inf
    if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
        return np.inf
    a, b = a.astype(float), b.astype(float)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        gap = np.where(same, 0.0, np.abs(a - b))
    return float(np.max(np.where(np.isnan(gap), np.inf, gap), initial=0.0))


def identical(a: Any, b: Any) -> bool:
    """Whether two values are the same to the last bit."""
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and isinstance(b, str) and a == b
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def size(states: dict[str, Arrays], quantity: str) -> float:
    """The largest finite entry of a quantity in a case."""
    arrays = (arrays.get(quantity, "") for arrays in states.values())
    sizes = [np.max(np.abs(x[np.isfinite(x)]), initial=0.0) for x in arrays if not isinstance(x, str)]
    return float(max(sizes, default=0.0))
