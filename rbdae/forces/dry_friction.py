"""Dry friction, regularised: mu N tanh(|v| / v0) against the velocity v.

It replaces the jump of Coulomb's law at v = 0. At v = v0 there is 0.76 of mu N, at 3 v0 0.995; a load F below mu N
makes a body creep with v0 artanh(F / (mu N)) in place of sticking. [PRSV16] compares this kind of law with others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_SMALL = 1e-6
"""Of v0: a velocity that is added under the root, so that its direction has a derivative at zero. It changes the
friction by 1e-12 of itself at v0."""

VELOCITY = 1e-3
"""v0 that forces have without another one, m/s."""


def friction_along(v: Any, v0: Any) -> Any:
    """tanh(v / v0) of a velocity along a line."""
    return np.tanh(v / v0)


def friction_over(v: list[Any], v0: Any) -> Any:
    """tanh(|v| / v0) / |v|, by which a velocity v of several components is multiplied."""
    size = np.sqrt(sum(each * each for each in v) + (_SMALL * v0) * (_SMALL * v0))
    return np.tanh(size / v0) / size


__all__ = ["VELOCITY", "friction_along", "friction_over"]
