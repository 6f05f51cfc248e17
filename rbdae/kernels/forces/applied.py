"""The applied forces: one place through which every formulation reaches those of all kinds."""

from __future__ import annotations

from rbdae.graph.functions import Memory
from rbdae.kernels.forces.elements import all_forces


def applied_forces(m: Memory) -> None:
    """Add all applied forces but friction under reactions to the natural forces. Leaves the rates of the internal
    states."""
    for force in all_forces(m):
        if not force.by_reaction:
            force.act()
