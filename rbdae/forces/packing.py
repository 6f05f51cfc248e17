"""From the elements of forces to the arrays of the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.compiler.jit import like
from rbdae.compiler.user_functions import Foreign
from rbdae.forces.element import Element, UserElement
from rbdae.kernels import records as kb

_SHAPES = {"identity": kb.IDENTITY, "root": kb.ROOT, "angle": kb.ANGLE}


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Constants of the elements, coefficients of their forms, and the user's functions, which must live as long."""

    elements: Any
    entries: Any
    functions: tuple[Foreign, ...]


def pack(elements: list[tuple[str, Element | UserElement, tuple[int, int]]], shift: list[Vec], start: Mat) -> Packed:
    """Pack (name of the force, element, bodies by number); `shift` are the reference points of the bodies in their
    frames, `start` their initial (x, d1, d2, d3) with x the reference point."""
    rows = np.zeros(len(elements), dtype=kb.ELEMENT)
    entries: list[Any] = []
    functions: list[Foreign] = []
    for row, (name, element, pair) in zip(rows, elements, strict=True):
        row["body"] = pair
        if isinstance(element, UserElement):
            made = [_foreign(element.force, 48, 24), _foreign(element.jacobian, 48, 1152)]
            row["shaping"] = kb.USER
            row["force"], row["jacobian"] = (f.address for f in made)
            row["tangent"] = row["damped"] = 1
            functions += made
            continue
        p, n = len(element.forms), len(element.rest)
        row["shaping"] = _SHAPES[element.shape]
        row["forms"] = p
        row["stiffness"][:n, :n] = element.stiffness
        row["damping"][:n, :n] = element.damping
        row["rest"][:n] = element.rest
        row["constant"][:n] = element.law.constant
        row["sign"] = element.sign
        row["level"] = element.level
        row["holonomic"] = element.holonomic
        row["damped"] = np.any(element.damping)
        row["tangent"] = np.any(element.forms) or np.any(element.stiffness) or np.any(element.damping)
        row["continued"] = element.shape == "angle" and np.any(element.stiffness)
        if element.law.function is not None:
            made = [_of_time(element.law.function, n)]
            row["law"] = made[0].address
            functions += made
        S = _moved(shift[pair[0]], shift[pair[1]])
        H, c = np.einsum("ji,ajk,kl->ail", S, element.forms, S), element.rows @ S
        row["first"] = len(entries)
        entries += [(a, i, -1, c[a, i]) for a, i in np.argwhere(c)]
        entries += [(a, i, j, H[a, i, j]) for a, i, j in np.argwhere(H)]
        row["last"] = len(entries)
        touched = np.any(c, axis=0) | np.any(H, axis=(0, 1)) | np.any(H, axis=(0, 2))
        row["start"] = 0 if touched.reshape(2, 4, 3)[:, 0].any() else 3
        q = _values(H, c, np.concatenate([start[b] for b in pair]))
        if element.shape == "angle":
            row["memory"] = np.arctan2(q[0], q[1])
        if element.shape == "root" and not q[0] > 1e-24:
            raise ValueError(
                f"force {name!r}: its two points coincide at the start, where the line between them has no direction; "
                "move one, or use rbdae.forces.Bushing"
            )
    return Packed(rows, np.array(entries, dtype=kb.ENTRY), tuple(functions))


def _moved(first: Vec, second: Vec) -> Mat:
    """The matrix from natural coordinates with the reference points to those with the origins of the frames."""
    S = np.eye(24)
    for side, c in enumerate((first, second)):
        for i in range(3):
            for k in range(3):
                S[12 * side + k, 12 * side + 3 + 3 * i + k] = -c[i]
    return S


def _values(H: Any, c: Mat, Z: Mat) -> Mat:
    """Values of forms at Z (..., 24)."""
    return np.asarray(Z @ c.T + 0.5 * np.einsum("...i,aij,...j->...a", Z, H, Z))


# a function of numba costs some tenths of a second each time; the problems that use it keep what falls out
@lru_cache(maxsize=64)
def _foreign(function: Any, n_in: int, n_out: int) -> Foreign:
    return Foreign(function, n_in, n_out)


@lru_cache(maxsize=64)
def _of_time(function: Any, n: int) -> Foreign:
    """A user's function of time as f(t, x, out)."""
    if n == 1:

        def one(t: float, x: Vec, out: Vec) -> None:
            out[0] = function(t)

        return Foreign(like(function, one), 0, n)

    def vector(t: float, x: Vec, out: Vec) -> None:
        value = function(t)
        for k in range(n):
            out[k] = value[k]

    return Foreign(like(function, vector), 0, n)


def displacements(elements: Any, entries: Any, k: int, Z: Mat) -> Mat:
    """s of one element (without the turns of an angle) at natural coordinates Z (..., 24)."""
    e = elements[k]
    p = int(e["forms"])
    H, c = np.zeros((p, 24, 24)), np.zeros((p, 24))
    for entry in entries[e["first"] : e["last"]]:
        if entry["j"] < 0:
            c[entry["form"], entry["i"]] = entry["value"]
        else:
            H[entry["form"], entry["i"], entry["j"]] = entry["value"]
    q = _values(H, c, Z)
    if e["shaping"] == kb.ROOT:
        return np.sqrt(q)
    if e["shaping"] == kb.ANGLE:
        return np.arctan2(q[..., :1], q[..., 1:])
    return q


def potential(elements: Any, entries: Any, k: int, Z: Mat) -> Vec | float:
    """Potential of one element at Z (..., 24): of its stiffness, and of a constant force along s (but not of a constant
    torque about an axis: without turns that are counted it would have no single value).

    An angle with a stiffness counts turns: along the first axis of Z from row to row, beginning next to its value at
    the start of the system.
    """
    e = elements[k]
    if not e["holonomic"] or e["shaping"] == kb.USER:
        return 0.0
    s = displacements(elements, entries, k, Z)
    if e["continued"]:
        if s.ndim > 1:
            s = np.unwrap(s, axis=0)
        first = s[:1] if s.ndim > 1 else s
        s = s + 2.0 * np.pi * np.rint((e["memory"] - first) / (2.0 * np.pi))
    n = s.shape[-1]
    away = s - e["rest"][:n]
    out = 0.5 * np.einsum("...i,ij,...j->...", away, e["stiffness"][:n, :n], away)
    if e["shaping"] != kb.ANGLE and e["law"] == 0:
        out = out - e["sign"] * (s @ e["constant"][:n])
    return np.asarray(out + e["level"])


__all__ = ["Packed", "displacements", "pack", "potential"]
