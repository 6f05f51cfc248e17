"""A warning at the user's own line that given initial values had to change."""

from __future__ import annotations

import warnings

from rbdae._callers import level_outside
from rbdae.initial.consistent import REMEDY
from rbdae.problem.assembly_report import Assembly, InitialValuesWarning, listed


def warn_of_changes(assembly: Assembly) -> None:
    """One warning for all given values that had to change; none if there are none.

    It points to the nearest line outside of this package, whatever the call went through, so that by Python's usual
    filter many problems of one study give it once.
    """
    if not assembly.changes:
        return
    text = (
        f"the given initial values contradict the joints and were changed: {listed(assembly.changes)}; largest gap: "
        f"{assembly.disagreement}; {REMEDY}"
    )
    warnings.warn(text, InitialValuesWarning, stacklevel=level_outside())


__all__ = ["warn_of_changes"]
