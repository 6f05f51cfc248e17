"""The package's own options: known ones are checked and passed on, unknown ones are refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final

from rbdae import _check
from rbdae._check import nearest
from rbdae.adapter import Unsupported

Check = Callable[[str, str, Any], Any]
"""``check(owner, name, value)`` refuses a wrong value and gives the right one."""


def positive(owner: str, name: str, value: object) -> float:
    """A finite number above zero."""
    return _check.positive(owner, name, value, "leave it out for the package's own choice")


def limit(owner: str, name: str, value: object) -> float:
    """A number above zero, or infinity for none."""
    return math.inf if isinstance(value, float) and value == math.inf else positive(owner, name, value)


def not_negative(owner: str, name: str, value: object) -> float:
    """A finite number that is not negative."""
    out = _check.number(owner, name, value)
    if out < 0.0:
        raise ValueError(f"{owner}: {name} must not be negative, got {_check.show(value)}; leave it out")
    return out


def count(owner: str, name: str, value: object) -> int:
    """A whole number above zero."""
    return _check.count(owner, name, value)


def count_or_zero(owner: str, name: str, value: object) -> int:
    """A whole number that is not negative."""
    return _check.count(owner, name, value, 0)


def fraction(owner: str, name: str, value: object) -> float:
    """A number above 0 and below 1."""
    out = _check.number(owner, name, value)
    if not 0.0 < out < 1.0:
        raise ValueError(f"{owner}: {name} must be between 0 and 1, got {_check.show(value)}; leave it out")
    return out


def weight(owner: str, name: str, value: object) -> float:
    """A number from 0 to 1."""
    out = _check.number(owner, name, value)
    if not 0.0 <= out <= 1.0:
        raise ValueError(f"{owner}: {name} must be from 0 to 1, got {_check.show(value)}; leave it out")
    return out


def bounds(owner: str, name: str, value: object) -> tuple[float, float]:
    """Two positive numbers, the first not larger than the second."""
    low, high = _check.array(owner, name, value, (2,), remedy="pass e.g. (1.0, 1.2)").tolist()
    if not 0.0 < low <= high:
        raise ValueError(f"{owner}: {name} must be positive and rise, got {_check.show(value)}; pass e.g. (1.0, 1.2)")
    return low, high


def word(owner: str, name: str, value: object) -> str:
    """A string, of which the package knows whether it fits."""
    if not isinstance(value, str):
        raise TypeError(f"{owner}: {name} must be a string, got {_check.show(value)}; see the package's documentation")
    return value


def flag(owner: str, name: str, value: object) -> bool:
    """True or False."""
    return _check.flag(owner, name, value)


def function(owner: str, name: str, value: object) -> object:
    """Something that can be called."""
    if not callable(value):
        raise TypeError(
            f"{owner}: {name} must be a function, got {_check.show(value)}; see the package's documentation"
        )
    return value


def anything(owner: str, name: str, value: object) -> object:
    """A value that the package itself checks."""
    return value


def one_of(*known: str) -> Check:
    """One of these words."""

    def check(owner: str, name: str, value: object) -> object:
        if not isinstance(value, str) or value.lower() not in known:
            raise ValueError(
                f"{owner}: {name} must be one of {', '.join(map(repr, known))}, got {_check.show(value)}; choose one"
            )
        return value

    return check


_OF_SOLVE: Final = (
    "solver", "rtol", "atol", "t_eval", "projection", "events", "progress", "step", "dense_output", "on_singularity",
    "recentre", "inputs",
)  # fmt: skip
"""Arguments of `rbdae.solve`, which arrive here if they are misspelt."""

_MAX_STEP = ("max_step", "maxh", "max_step_size")
"""Names that packages have for the longest step; each of them takes the first one."""


def take_options(given: Mapping[str, Any], allowed: Iterable[str] | Mapping[str, Check], who: str) -> dict[str, Any]:
    """The user's options; raises `Unsupported` for one that `who` does not have.

    A mapping says how each value is checked. An option that is None counts as left out.

    >>> take_options({"max_stepp": 1}, ["max_step"], "scipy:RK45")
    Traceback (most recent call last):
        ...
    rbdae.adapter.Unsupported: scipy:RK45 has no option 'max_stepp'; did you mean 'max_step'? Its options: max_step
    >>> take_options({"max_step": 0.1, "first_step": None}, {"max_step": limit, "first_step": positive}, "scipy:RK45")
    {'max_step': 0.1}
    """
    known = sorted(allowed)
    longest = next((name for name in _MAX_STEP if name in known), "max_step")
    given = {longest if name == "max_step" else name: value for name, value in given.items()}
    for name in given:
        if name not in known:
            own = get_close_matches(name.casefold(), _OF_SOLVE, 1, 0.8)
            better = own and not get_close_matches(name, known, 1, 0.9)
            hint = f"did you mean {own[0]!r} of rbdae.solve?" if better else nearest(name, known)
            have = f"Its options: {', '.join(known)}" if known else "It has no options"
            raise Unsupported(f"{who} has no option {name!r}{(hint and '; ' + hint) or '.'} {have}")
    checks = allowed if isinstance(allowed, Mapping) else dict.fromkeys(known, anything)
    return {name: checks[name](who, name, value) for name, value in given.items() if value is not None}


__all__ = [
    "Check",
    "anything",
    "bounds",
    "count",
    "count_or_zero",
    "flag",
    "fraction",
    "function",
    "limit",
    "not_negative",
    "one_of",
    "positive",
    "take_options",
    "weight",
    "word",
]
