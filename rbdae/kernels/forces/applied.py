"""The applied forces: one place through which every formulation reaches the kernels of all kinds of force."""

from __future__ import annotations

from rbdae.compiler.access import Memory
from rbdae.compiler.jit import jit
from rbdae.kernels.forces.bushings import bushing_forces, scatter_bushing_tangents
from rbdae.kernels.forces.element_tangents import scatter_element_tangents
from rbdae.kernels.forces.elements import element_forces
from rbdae.kernels.forces.internal_states import scatter_state_force_tangents, state_forces


@jit
def applied_forces(m: Memory) -> None:
    """Add all applied forces to the natural forces. Leaves the rates of the internal states."""
    bushing_forces(m)
    element_forces(m)
    state_forces(m)


@jit
def scatter_applied_tangents(m: Memory, row: int) -> None:
    """-d(forces)/d(q, v, s) of all applied forces in the rows of the dynamics."""
    scatter_bushing_tangents(m, row)
    scatter_element_tangents(m, row)
    scatter_state_force_tangents(m, row)
