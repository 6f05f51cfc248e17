"""Warnings at the user's own line: given initial values had to change; joints or forces were made and not added."""

from __future__ import annotations

import warnings

from rbdae._callers import level_outside
from rbdae._made import never_added
from rbdae.initial.consistent import REMEDY
from rbdae.problem.assembly_report import Assembly, InitialValuesWarning, listed
from rbdae.system import System


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


class NotAddedWarning(UserWarning):
    """A joint or force was made for bodies of a system and not added to it."""


def warn_of_forgotten(system: System) -> None:
    """One warning for all joints and forces that were made for bodies of the system and never added to one."""
    names = never_added(system.bodies)
    if names:
        text = f"made and never added to the system: {', '.join(names)}; pass them to system.add_joint or add_force"
        warnings.warn(text, NotAddedWarning, stacklevel=level_outside())


__all__ = ["NotAddedWarning", "warn_of_changes", "warn_of_forgotten"]
