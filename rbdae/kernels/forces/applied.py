"""The applied forces: one place through which every formulation reaches the kernels of all kinds of force."""

from __future__ import annotations

from rbdae.compiler.access import Memory
from rbdae.compiler.jit import jit
from rbdae.kernels.forces.bushings import bushing_forces
from rbdae.kernels.forces.elements import element_forces
from rbdae.kernels.forces.internal_states import state_forces


@jit
def applied_forces(m: Memory) -> None:
    """Add all applied forces to the natural forces. Leaves the rates of the internal states."""
    bushing_forces(m)
    element_forces(m)
    state_forces(m)
