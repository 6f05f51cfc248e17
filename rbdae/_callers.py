"""The user's own line, at which warnings point."""

from __future__ import annotations

import sys

_PACKAGE = __name__.partition(".")[0]


def level_outside() -> int:
    """The stack level of the nearest line outside of this package, for a `warnings.warn` in the caller."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    return level


__all__ = ["level_outside"]
