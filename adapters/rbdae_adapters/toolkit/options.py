"""The package's own options: known names are passed on, unknown ones are refused. Packages check their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rbdae._check import nearest
from rbdae.adapter import Unsupported

_MAX_STEP = ("max_step", "maxh", "max_step_size")
"""Names that packages have for the longest step; each of them takes the first one."""


def take_options(given: Mapping[str, Any], allowed: Iterable[str] | None, who: str) -> dict[str, Any]:
    """The user's options but those that are None; raises `Unsupported` for one that `who` does not have.

    `allowed` is None for a package that refuses unknown names itself. Negative numbers are refused: most packages take
    them for no number, scipy's first step has no end with one.

    >>> take_options({"max_stepp": 1}, ["max_step"], "scipy:RK45")
    Traceback (most recent call last):
        ...
    rbdae.adapter.Unsupported: scipy:RK45 has no option 'max_stepp'; did you mean 'max_step'? Its options: max_step
    >>> take_options({"max_step": 0.1, "inith": None}, ["inith", "maxh"], "assimulo:Dopri5")
    {'maxh': 0.1}
    """
    out = {name: value for name, value in given.items() if value is not None}
    if allowed is not None:
        known = sorted(allowed)
        longest = next((name for name in _MAX_STEP if name in known), "max_step")
        out = {longest if name == "max_step" else name: value for name, value in out.items()}
        for name in out:
            if name not in known:
                hint = nearest(name, known)
                have = f"Its options: {', '.join(known)}" if known else "It has no options"
                raise Unsupported(f"{who} has no option {name!r}{(hint and '; ' + hint) or '.'} {have}")
    for name, value in out.items():
        if isinstance(value, (int, float)) and value < 0:
            raise ValueError(f"{who}: {name} must not be negative, got {value!r}; leave it out")
    return out
