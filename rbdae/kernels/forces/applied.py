"""The applied forces: one place through which every formulation reaches those of all kinds."""

from __future__ import annotations

from rbdae.graph.functions import Memory
from rbdae.kernels.forces.elements import Spring, element_force
from rbdae.kernels.memory import elements, head


def applied_forces(m: Memory) -> None:
    """Add all applied forces but friction under reactions to the natural forces. Leaves the rates of the internal
    states."""
    for i in range(head(m).n_bushings):
        Spring(m, i).act()
    for i in range(head(m).n_elements):
        if elements(m)[i].reaction == 0:
            element_force(m, i)
