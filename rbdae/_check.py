"""The few validators, with one style of message: ``owner: what must be ..., got ...; remedy``.

Arrays that come out are fresh, float64, C-contiguous and read-only.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable

import numpy as np

from rbdae._arrays import Mat, Vec

# Relative size of what counts as rounding in the user's data (asymmetry, a flat body's triangle equality).
ROUNDING = 1e-10

_WORDS = {
    (): "a real number",
    (3,): "three real numbers",
    (4,): "four real numbers",
    (3, 3): "a (3, 3) array of real numbers",
}
_EXAMPLES = {(): "1.0", (3,): "(1.0, 2.0, 3.0)", (4,): "(1.0, 0.0, 0.0, 0.0)", (3, 3): "numpy.eye(3)"}


def show(value: object) -> str:
    """A value as error messages quote it: one line, of bounded length."""
    if isinstance(value, np.ndarray):
        if value.size > 16:
            return f"an array of {value.size} entries"
        value = value.tolist()
    text = " ".join(repr(value).split())
    return text if len(text) <= 120 else text[:117] + "..."


def frozen(array: Vec) -> Vec:
    """The same array, read-only."""
    array.flags.writeable = False
    return array


def array(owner: str, what: str, value: object, *shapes: tuple[int, ...], remedy: str = "") -> Vec:
    """Finite real numbers in one of the shapes."""
    try:
        raw = np.asarray(value)
    except (TypeError, ValueError):  # ragged lists
        raise ValueError(f"{_expected(owner, what, value, shapes)}; {_hint(shapes, remedy)}") from None
    if raw.dtype.kind not in "iuf":
        kind = type(value).__name__
        raise TypeError(f"{_expected(owner, what, value, shapes)} of type {kind}; {_hint(shapes, remedy)}")
    if raw.shape not in shapes:
        raise ValueError(f"{_expected(owner, what, value, shapes)} of shape {raw.shape}; {_hint(shapes, remedy)}")
    if raw.itemsize > 8:  # a long double may not fit, which the next test sees
        with np.errstate(over="ignore"):
            raw = raw.astype(np.float64)
    out = np.array(raw, dtype=np.float64, order="C")
    if not all(map(math.isfinite, out.ravel().tolist())):
        raise ValueError(f"{owner}: {what} must be finite, got {show(value)}; remove nan and inf")
    return frozen(out)


def _expected(owner: str, what: str, value: object, shapes: tuple[tuple[int, ...], ...]) -> str:
    return f"{owner}: {what} must be {_either([_WORDS[shape] for shape in shapes])}, got {show(value)}"


def _hint(shapes: tuple[tuple[int, ...], ...], remedy: str) -> str:
    return remedy or f"pass e.g. {_either([_EXAMPLES[shape] for shape in shapes])}"


def _either(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def vector(owner: str, what: str, value: object) -> Vec:
    """Three finite real numbers."""
    return array(owner, what, value, (3,))


def axis(owner: str, what: str, value: object) -> Vec:
    """A direction: three finite real numbers that are not all zero; not normalised."""
    out = vector(owner, what, value)
    if math.hypot(*out) < 1e-12:
        raise ValueError(f"{owner}: {what} must not be zero, got {show(value)}; give a direction, e.g. (0, 0, 1)")
    return out


def number(owner: str, what: str, value: object) -> float:
    """A finite real number."""
    return float(array(owner, what, value, ()))


def positive(owner: str, what: str, value: object, remedy: str) -> float:
    """A finite number above zero."""
    out = number(owner, what, value)
    if not out > 0.0:
        raise ValueError(f"{owner}: {what} must be positive, got {show(value)}; {remedy}")
    return out


def flag(owner: str, what: str, value: object) -> bool:
    """True or False, and nothing that merely counts as one."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{owner}: {what} must be True or False, got {show(value)}")
    return bool(value)


def name(what: str, value: object, taken: Iterable[str]) -> str:
    """A non-empty string that is not taken."""
    if not isinstance(value, str):
        raise TypeError(
            f"the name of a {what} must be a string, got {show(value)} of type {type(value).__name__}; "
            f"pass e.g. '{what}-1'"
        )
    if not value.strip():
        raise ValueError(f"the name of a {what} must not be empty, got {value!r}; name it, e.g. '{what}-1'")
    if value in taken:
        raise ValueError(f"{what} {value!r}: the name is taken in this system; choose another one")
    return value


def nearest(name: object, known: Iterable[str], most: int = 3) -> str:
    """``"did you mean 'index-3' or 'index-2'?"``, or ``""`` if no known name is near.

    Near are names that differ in upper and lower case alone, names with the same part after the colon, and names that
    are spelled alike; the nearest comes first, and at most `most` are given.
    """
    names = {k.casefold(): k for k in known}
    wanted = str(name).casefold()
    if wanted in names:
        close = [names[wanted]]
    else:
        close = [k for folded, k in names.items() if folded.rpartition(":")[2] == wanted.rpartition(":")[2]]
        close += [names[folded] for folded in difflib.get_close_matches(wanted, list(names), n=most, cutoff=0.4)]
    close = list(dict.fromkeys(close))[:most]
    return f"did you mean {_either([repr(k) for k in close])}?" if close else ""


def unknown(what: str, name: object, known: Iterable[str], most: int = 3) -> ValueError:
    """The error for a name that is not among the known ones: it gives the nearest, and all of them."""
    known = list(known)
    hint = nearest(name, known, most)
    return ValueError(f"unknown {what} {name!r}; {hint and hint + ' '}There are {', '.join(known)}")


def symmetric(owner: str, what: str, value: object, *shapes: tuple[int, ...], remedy: str = "") -> Mat:
    """A symmetric (3, 3) matrix from itself, its diagonal, or one number if `shapes` has ()."""
    given = array(owner, what, value, *shapes, remedy=remedy)
    if given.ndim < 2:
        out = np.zeros((3, 3))
        out.flat[::4] = given
        return frozen(out)
    unit = given / (largest(given) or 1.0)
    if largest(unit - unit.T) > ROUNDING:
        raise ValueError(
            f"{owner}: {what} must be symmetric, got {show(value)}; pass both triangles, e.g. (A + A.T) / 2"
        )
    return frozen(0.5 * given + 0.5 * given.T)


def largest(matrix: Mat) -> float:
    """Largest absolute value of an entry."""
    return float(max(map(abs, matrix.ravel().tolist())))


def principal(matrix: Mat, scale: float) -> list[float]:
    """Eigenvalues of a symmetric (3, 3) matrix in ascending order, as multiples of a positive `scale`."""
    (a, b, c), (_, d, e), (_, _, f) = matrix.tolist()
    if b == c == e == 0.0:  # the common case, exact and a lot faster
        return sorted((a / scale, d / scale, f / scale))
    values: list[float] = np.linalg.eigvalsh(matrix / scale).tolist()
    return values


def semidefinite(owner: str, what: str, value: object) -> Mat:
    """A symmetric positive semidefinite (3, 3) matrix from one number, its diagonal or itself."""
    out = symmetric(owner, what, value, (), (3,), (3, 3))
    if principal(out, largest(out) or 1.0)[0] < -ROUNDING:
        raise ValueError(
            f"{owner}: {what} must not be negative (positive semidefinite as a matrix), got {show(value)}; "
            "check its sign"
        )
    return out


__all__ = [
    "ROUNDING",
    "array",
    "axis",
    "flag",
    "frozen",
    "largest",
    "name",
    "nearest",
    "number",
    "positive",
    "principal",
    "semidefinite",
    "show",
    "symmetric",
    "unknown",
    "vector",
]
