"""The applied forces: one place through which every formulation reaches the kernels of all kinds of force."""

from __future__ import annotations

from rbdae.compiler.jit import jit
from rbdae.kernels.forces.bushings import bushing_forces, put_bushing_tangents
from rbdae.kernels.forces.element_tangents import put_element_tangents
from rbdae.kernels.forces.elements import element_forces


@jit
def applied_forces(m):
    """Add all applied forces to the natural forces."""
    bushing_forces(m)
    element_forces(m)


@jit
def put_applied_tangents(m, row):
    """-d(forces)/d(q, v) of all applied forces in the rows of the dynamics."""
    put_bushing_tangents(m, row)
    put_element_tangents(m, row)
