"""The package's own options: known ones are passed on, unknown ones are refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rbdae._check import nearest
from rbdae.adapter import Unsupported


def take_options(given: Mapping[str, Any], allowed: Iterable[str], who: str) -> dict[str, Any]:
    """A copy of the user's options; raises `Unsupported` for one that `who` does not have.

    >>> take_options({"max_stepp": 1}, ["max_step"], "scipy:RK45")
    Traceback (most recent call last):
        ...
    rbdae.adapter.Unsupported: scipy:RK45 has no option 'max_stepp'; did you mean 'max_step'? Its options: max_step
    """
    known = sorted(allowed)
    for name in given:
        if name not in known:
            hint = nearest(name, known)
            have = f"Its options: {', '.join(known)}" if known else "It has no options"
            raise Unsupported(f"{who} has no option {name!r}{(hint and '; ' + hint) or '.'} {have}")
    return dict(given)


__all__ = ["take_options"]
