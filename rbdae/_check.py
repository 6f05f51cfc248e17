"""Validators with one style of message: ``owner: what must be ..., got ...; remedy``.

They return fresh float64 arrays, C-contiguous and read-only. The converters at the end check fields of joints and
forces, and receive the part under construction and the field (`of_parts`).
"""

from __future__ import annotations

import inspect
import math
import unicodedata
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, cast

import attrs
import numpy as np

from rbdae._arrays import ArrayLike, Mat, Varied, Vec, at_point

# Relative size of rounding in the user's data (asymmetry, a flat body's triangle equality).
ROUNDING = 1e-10

_LARGEST = 2**31 - 1  # the largest whole number that every package takes

_WORDS = {
    (): "a real number",
    (3,): "three real numbers",
    (4,): "four real numbers",
    (3, 3): "a (3, 3) array of real numbers",
}
_EXAMPLES = {(): "1.0", (3,): "(1.0, 2.0, 3.0)", (4,): "(1.0, 0.0, 0.0, 0.0)", (3, 3): "numpy.eye(3)"}


class NoSolution(ValueError):
    """Equations have no solution at a state; a run ends there, with what it has."""


def package(what: str, name: str) -> Any:
    """A package that is not needed otherwise; ImportError with the remedy if it is missing."""
    try:
        return import_module(name)
    except ImportError:
        name = name.partition(".")[0]
        raise ImportError(f"{what} needs {name}: run `pip install {name}`") from None


def show(value: object) -> str:
    """A value as quoted in error messages: one line of bounded length."""
    if isinstance(value, np.ndarray):
        if value.size > 16:
            return f"an array of {value.size} entries"
        value = value.tolist()
    try:
        text = " ".join(repr(value).split())
    except Exception:  # of another package's object
        text = f"a {type(value).__name__}"
    return text if len(text) <= 120 else text[:117] + "..."


def frozen(array: Vec) -> Vec:
    """The same array, read-only."""
    array.flags.writeable = False
    return array


def array(owner: str, what: str, value: object, *shapes: tuple[int, ...], remedy: str = "") -> Vec:
    """Finite real numbers in one of the shapes."""
    out = _doubles(_numbers(f"{owner}: {what}", value, shapes, remedy))
    if not all(map(math.isfinite, out.ravel().tolist())):
        raise ValueError(f"{owner}: {what} must be finite, got {show(value)}; remove nan and inf")
    return frozen(out)


def real(what: str, value: object, *shapes: tuple[int, ...]) -> Vec:
    """Real numbers in one of these shapes, contiguous, possibly the given array itself and not finite."""
    if type(value) is np.ndarray and value.dtype == np.float64 and value.shape in shapes:
        return value if value.flags.c_contiguous and value.flags.aligned else value.copy()
    return _doubles(_numbers(what, value, shapes, "give float64"))


def _numbers(what: str, value: object, shapes: tuple[tuple[int, ...], ...], remedy: str) -> Any:
    """Real numbers of any type in one of the shapes, as an array."""
    raw = _raw(value)
    if raw is not None and raw.dtype.kind in "iuf" and raw.shape in shapes:
        return raw
    words = _either([_WORDS.get(shape, f"real numbers of shape {shape}") for shape in shapes])
    remedy = remedy or f"pass e.g. {_either([_EXAMPLES.get(shape, f'numpy.zeros({shape})') for shape in shapes])}"
    wrong = f"{what} must be {words}, got {show(value)}"
    if raw is None:  # ragged lists
        raise ValueError(f"{wrong}; {remedy}")
    if raw.dtype.kind not in "iuf":
        raise TypeError(f"{wrong} of type {type(value).__name__}; {remedy}")
    raise ValueError(f"{wrong} of shape {raw.shape}; {remedy}")


def _raw(value: object) -> Any:
    """The value as an array of any kind; None if it has no shape or is partly masked."""
    if isinstance(value, np.ma.MaskedArray):
        return None
    try:
        return np.asarray(value)
    except Exception:  # ragged lists, and objects of other packages
        return None


def _doubles(raw: Any) -> Vec:
    """A fresh copy; a long double that does not fit becomes infinite."""
    if raw.dtype == np.float64:
        return np.array(raw, order="C")
    with np.errstate(over="ignore"):
        return np.array(raw, dtype=np.float64, order="C")


def time(what: str, value: object) -> float:
    """A finite real number; quick for floats."""
    if isinstance(value, float) and math.isfinite(value):
        return value
    return float(array(what, "the time", value, ()))


def times(value: object, what: str = "t") -> Vec:
    """A finite time, (), or finite times (m,), as float64; quick for a float."""
    if type(value) is float and math.isfinite(value):
        return np.array(value)
    raw = _raw(value)
    shape = (len(raw),) if raw is not None and raw.ndim == 1 else ()
    out = real(what, value, shape)
    if not np.isfinite(out).all():
        raise ValueError(f"{what} must be finite, got {show(value)}; remove nan and inf")
    return out


def names(what: str, value: object) -> list[str]:
    wrong = isinstance(value, (str, bytes, dict, np.ndarray)) or not isinstance(value, Iterable)
    values: list[Any] = [value] if wrong else [*cast(Iterable[Any], value)]
    if wrong or not all(isinstance(item, str) for item in values):
        raise TypeError(f"{what} must be a list of strings, got {show(value if wrong else values)}; pass e.g. ['...']")
    return values


def listed(what: str, value: Any) -> list[Any]:
    """The items of a list without duplicates, at least one; refuses strings."""
    try:
        items = [] if isinstance(value, (str, bytes, Mapping)) else list(dict.fromkeys(value))
    except TypeError:
        items = []
    if not items and (value or not isinstance(value, (list, tuple))):
        raise TypeError(f"{what} must be a list, got {show(value)}; pass [{show(value)}]")
    if not items:
        raise ValueError(f"{what} must not be empty, got []; leave it out for all there are")
    return items


def known(what: str, one: str, value: Any, names: Iterable[str]) -> list[str]:
    """Known names in the given order, without duplicates, at least one; `one` of them is called so."""
    out = listed(what, value)
    names = list(names)
    for name in out:
        if name not in names:
            raise unknown(one, name, names)
    return out


def positives(owner: str, what: str, value: Any) -> list[float]:
    """Positive numbers without duplicates, the largest first, at least one."""
    return sorted({positive(owner, what, each, "pass e.g. [1e-2, 1e-3]") for each in listed(what, value)}, reverse=True)


def count(owner: str, what: str, value: object, least: int = 1) -> int:
    """A whole number that is not too small."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        shown = f"{show(value)} of type {type(value).__name__}"
        raise TypeError(f"{owner}: {what} must be a whole number, got {shown}; pass e.g. {max(least, 10)}")
    if value < least:
        raise ValueError(f"{owner}: {what} must be at least {least}, got {show(value)}; raise it")
    if value > _LARGEST:
        raise ValueError(f"{owner}: {what} must be at most {_LARGEST}, got {show(value)}; lower it")
    return int(value)


def takes(owner: str, what: str, function: object, *arguments: str) -> None:
    """Refuse an object whose signature says that it cannot be called with these arguments."""
    call = f"({', '.join(arguments)})"
    if not callable(function):
        raise TypeError(f"{owner}: {what} must be a function {call}, got {show(function)}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # functions written in C have none
        return
    try:
        signature.bind(*arguments)
    except TypeError as error:
        raise TypeError(f"{owner}: {what} must be a function {call}, got {show(function)}: {error}") from None


def _either(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def vector(owner: str, what: str, value: object) -> Vec:
    """Three finite real numbers."""
    return value if isinstance(value, Varied) else array(owner, what, value, (3,))


def axis(owner: str, what: str, value: object) -> Vec:
    """A direction: three finite real numbers, not all zero; not normalised."""
    out = vector(owner, what, value)
    if math.hypot(*at_point(out)) < 1e-12:
        raise ValueError(f"{owner}: {what} must not be zero, got {show(value)}; give a direction, e.g. (0, 0, 1)")
    return out


def number(owner: str, what: str, value: Any) -> float:
    """A finite real number; quick for the usual ones."""
    return float(value if type(value) in (float, int) and abs(value) <= _LARGEST else array(owner, what, value, ()))


def not_negative(owner: str, what: str, value: object) -> float:
    """A finite number that is not negative."""
    out = number(owner, what, value)
    if out < 0.0:
        raise ValueError(f"{owner}: {what} must not be negative, got {show(value)}; check its sign")
    return out


def positive(owner: str, what: str, value: object, remedy: str) -> float:
    out = number(owner, what, value)
    if not out > 0.0:
        raise ValueError(f"{owner}: {what} must be positive, got {show(value)}; {remedy}")
    return out


def flag(owner: str, what: str, value: object) -> bool:
    """True or False, and nothing merely truthy."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{owner}: {what} must be True or False, got {show(value)}; give one of them")
    return bool(value)


def name(what: str, value: object, taken: Iterable[str]) -> str:
    """A new non-empty string of at most 200 characters that every output can show: no control characters, line ends or
    lone surrogates (markup and formulas are escaped on output)."""
    if not isinstance(value, str):
        kind = type(value).__name__
        raise TypeError(
            f"the name of a {what} must be a string, got {show(value)} of type {kind}; pass e.g. '{what}-1'"
        )
    unshown = sorted({letter for letter in value if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp")})
    if unshown or not value.strip() or len(value) > 200:
        remedy = f"remove {', '.join(map(ascii, unshown))}" if unshown else f"it has {len(value)} letters"
        raise ValueError(
            f"the name of a {what} must not be empty, nor have more than 200 letters or control characters, got "
            f"{show(value)}; {remedy}, name it e.g. '{what}-1'"
        )
    if value in taken:
        raise ValueError(f"{what} {value!r}: the name is taken in this system; choose another one")
    return value


def nearest(name: object, known: Iterable[str], most: int = 3) -> str:
    """``"did you mean 'index-3' or 'index-2'?"``, or ``""`` if no known name is near.

    Near are names that differ only in case, names with the same part after the colon, and names spelled alike; the
    nearest comes first, and at most `most` are given.
    """
    import difflib  # imported only when needed

    names = {k.casefold(): k for k in known}
    if not isinstance(name, str):
        return ""
    wanted = name.casefold()
    if wanted in names:
        close = [names[wanted]]
    else:
        close = [k for folded, k in names.items() if folded.rpartition(":")[2] == wanted.rpartition(":")[2]]
        close += [names[folded] for folded in difflib.get_close_matches(wanted, list(names), n=most, cutoff=0.4)]
    close = list(dict.fromkeys(close))[:most]
    return f"did you mean {_either([repr(k) for k in close])}?" if close else ""


def unknown(what: str, name: object, known: Iterable[str], most: int = 3) -> ValueError:
    """The error for an unknown name, with the nearest known names and the list of all."""
    known = list(known)
    hint = nearest(name, known, most)
    return ValueError(f"unknown {what} {show(name)}; {hint + ' There' if hint else 'there'} are {', '.join(known)}")


def one_of(what: str, value: object, known: Iterable[str]) -> None:
    """Refuse all but some words."""
    if not isinstance(value, str) or value not in known:
        raise unknown(what, value, known)


def symmetric(owner: str, what: str, value: object, *shapes: tuple[int, ...], remedy: str = "") -> Mat:
    """A symmetric (3, 3) matrix from itself, its diagonal, or one number if `shapes` has ()."""
    entries = array(owner, what, value, *shapes, remedy=remedy)
    if entries.ndim < 2:
        out = np.zeros((3, 3))
        out.flat[::4] = entries
        return frozen(out)
    unit = entries / (largest(entries) or 1.0)
    if largest(unit - unit.T) > ROUNDING:
        raise ValueError(
            f"{owner}: {what} must be symmetric, got {show(value)}; pass both triangles, e.g. (A + A.T) / 2"
        )
    return frozen(0.5 * entries + 0.5 * entries.T)


def largest(matrix: Mat) -> float:
    """Largest absolute value of an entry."""
    return float(max(map(abs, matrix.ravel().tolist())))


def of_parts(_: type, fields: list[Any]) -> list[Any]:
    """The `field_transformer` of joints and forces: their converters are functions (value, part, field).

    When a field is converted, the fields before it are set. The property `_owner` of a part is its name in messages.
    """
    return [
        field
        if field.converter is None or isinstance(field.converter, attrs.Converter)
        else field.evolve(converter=attrs.Converter(field.converter, takes_self=True, takes_field=True))
        for field in fields
    ]


def point(value: ArrayLike, part: Any = None, field: Any = None) -> Vec:
    """A field of three finite numbers."""
    return vector(part._owner, field.name, value)


def amount(value: float, part: Any = None, field: Any = None) -> float:
    """A field with a finite number that is not negative."""
    return not_negative(part._owner, field.name, value)


def quantity(value: float, part: Any = None, field: Any = None) -> float:
    """A field with a finite number."""
    return number(part._owner, field.name, value)


def size(value: float, part: Any = None, field: Any = None) -> float:
    """A field with a finite number above zero."""
    return positive(part._owner, field.name, value, "give e.g. 0.1")


def optional_size(value: float | None, part: Any = None, field: Any = None) -> float | None:
    """A field with a finite number above zero, or None."""
    return None if value is None else size(value, part, field)


ORIGIN = frozen(np.zeros(3))
