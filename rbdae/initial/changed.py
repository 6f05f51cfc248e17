"""A warning at the user's own line that given initial values had to change."""

from __future__ import annotations

import warnings

from rbdae.initial.consistent import REMEDY
from rbdae.problem.assembly_report import Assembly, InitialValuesWarning, listed


def warn_of_changes(assembly: Assembly) -> None:
    """One warning for all given values that had to change; none if there are none.

    It points to the line that called `formulate`, so that by Python's usual filter a loop gives it once.
    """
    if not assembly.changes:
        return
    text = (
        f"the given initial values contradict the joints and were changed: {listed(assembly.changes)}; largest gap: "
        f"{assembly.disagreement}; {REMEDY}"
    )
    warnings.warn(text, InitialValuesWarning, stacklevel=3)


__all__ = ["warn_of_changes"]
