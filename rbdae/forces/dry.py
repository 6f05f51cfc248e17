"""Laws of dry friction and of contact, on numbers of any kind.

Dry friction is regularised: mu N tanh(|v| / v0) against the velocity v replaces the jump of Coulomb's law at v = 0. At
v = v0 there is 0.76 of mu N, at 3 v0 0.995; a load F below mu N makes a body creep with v0 artanh(F / (mu N)) in place
of sticking. [PRSV16] compares this kind of law with others.

The force of a contact that is pressed in by the depth d is k d^n (1 + a ddot), by [HC75], but never one that pulls.
Along a line, with the reduced mass m of both sides and no other force, m v dv/dd = -k d^n (1 + a v) has the integral

    a v - ln(1 + a v) + a^2 k / m  d^(n + 1) / (n + 1) = constant,

so that the velocities v before and -e v after have a e v + ln(1 - a e v) + a v - ln(1 + a v) = 0: the restitution e
depends on a v alone, not on the masses, on k or on n. `damping_of` solves this for a; [HC75] have its beginning,
e = 1 - 2 a v / 3.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rbdae import _check
from rbdae.laws.numbers import choice

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


def pressing(depth: Any, rate: Any, stiffness: Any, exponent: Any, damping: Any) -> Any:
    """The force; zero without contact. Its numbers may be symbols."""
    inside = depth > 0.0
    force = stiffness * choice(inside, depth, 1.0) ** exponent  # a power of what is not negative has derivatives
    factor = 1.0 + damping * rate
    return choice(inside, choice(factor > 0.0, force * factor, 0.0), 0.0)


def damping_of(restitution: float, velocity: float) -> float:
    """a (s/m) with which a contact returns this fraction, in (0, 1], of an approach with this velocity."""
    e = restitution
    if e == 1.0:
        return 0.0

    def lost(x: float) -> float:
        return x * (1.0 + e) - math.log1p(x) + math.log1p(-e * x)

    low, high = 0.0, 1.0 / e  # lost begins positive, (1 - e^2) x^2 / 2, and ends below any number
    while True:
        x = 0.5 * (low + high)
        if not low < x < high:
            return low / velocity
        low, high = (x, high) if lost(x) > 0.0 else (low, x)


def checked_pressing(
    owner: str,
    stiffness: float,
    exponent: float,
    damping: float | None,
    restitution: float | None,
    impact_velocity: float | None,
) -> dict[str, float]:
    """The checked numbers of a contact: stiffness, exponent and damping."""
    k = _check.positive(owner, "stiffness", stiffness, "give e.g. 1e6")
    n = _check.number(owner, "exponent", exponent)
    if n < 1.0:
        raise ValueError(
            f"{owner}: exponent must be at least 1, got {_check.show(exponent)}; give 1.5 for round surfaces, 1 for a "
            "spring"
        )
    if restitution is None:
        if impact_velocity is not None:
            raise ValueError(f"{owner}: impact_velocity belongs to a restitution; give restitution=, or leave it out")
        a = 0.0 if damping is None else _check.number(owner, "damping", damping)
        if a < 0.0:
            raise ValueError(f"{owner}: damping must not be negative, got {_check.show(damping)}; check its sign")
        return {"stiffness": k, "exponent": n, "damping": a}
    if damping is not None:
        raise ValueError(f"{owner}: it has a damping and a restitution; leave one out")
    e = _check.number(owner, "restitution", restitution)
    if not 0.0 < e <= 1.0:
        raise ValueError(
            f"{owner}: restitution must be above 0 and at most 1, got {_check.show(restitution)}; give damping= for "
            "less"
        )
    if impact_velocity is None:
        raise ValueError(
            f"{owner}: restitution needs impact_velocity=, at which it is {e:g}; it falls with the velocity"
        )
    v = _check.positive(owner, "impact_velocity", impact_velocity, "give the velocity of approach, e.g. 1.0")
    return {"stiffness": k, "exponent": n, "damping": damping_of(e, v)}
