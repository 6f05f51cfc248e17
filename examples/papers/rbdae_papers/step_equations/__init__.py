"""Step equations as printed in the papers, for both ends of a step, or for three nodes.

- invariants: pi, eta and the kinetic energy in them, [BS09] (46)-(48); masses (32), (33); rates (49)
- energy-momentum steps: residuals (52), multiplier (Remark 4.3), tangent (D1)
- variational steps: momenta at both ends, the multiplier of a node (E1), the momentum map J^-
- mid-point steps: residual, tangent and a whole step, [GR95] (341)-(344)

Functions of quaternions are vectorised over leading axes, such as the steps of a run: with y of a run in the
Hamiltonian form of one body, q = y[:-1, :4] are the starts of its steps, and y[1:, :4] their ends. `inertia` refers
to the point of the momentum: the centre of mass, or a pivot. Forces are given as `gradient`, the gradient of the
potential V(q) at the middle (q0 + q1) / 2; `weight_gradient` computes it for a force that is constant in space.

`docs/hamiltonian.md` and `docs/rotations.md` list the equations with functions and tests.
"""

from rbdae_papers.step_equations.energy_momentum import (
    StepResidual,
    energy_momentum_residual,
    energy_momentum_tangent,
    step_multiplier,
)
from rbdae_papers.step_equations.invariants import (
    Invariants,
    Rates,
    hamiltonian_rates,
    invariants,
    inverse_mass_matrix,
    kinetic_energy,
    mass_matrix,
    weight_gradient,
)
from rbdae_papers.step_equations.midpoint import MidpointState, MidpointStep
from rbdae_papers.step_equations.variational import (
    DiscreteMomenta,
    discrete_momenta,
    discrete_momentum_map,
    node_multiplier,
)

__all__ = [
    "DiscreteMomenta", "Invariants", "MidpointState", "MidpointStep", "Rates", "StepResidual", "discrete_momenta",
    "discrete_momentum_map", "energy_momentum_residual", "energy_momentum_tangent", "hamiltonian_rates", "invariants",
    "inverse_mass_matrix", "kinetic_energy", "mass_matrix", "node_multiplier", "step_multiplier", "weight_gradient",
]  # fmt: skip
