"""The equations of a step as the papers print them, in numbers that a user has: both ends of a step, or three nodes.

- invariants: pi, eta and the kinetic energy in them, [BS09] (46)-(48); masses (32), (33); rates (49)
- energy-momentum steps: residuals (52), multiplier (Remark 4.3), tangent (D1)
- variational steps: momenta at both ends, the multiplier of a node (E1), the momentum map J^-
- mid-point steps: residual, tangent and a whole step, [GR95] (341)-(344)

Functions of quaternions are vectorised over leading axes, such as the steps of a run: with y of a run in the
Hamiltonian form of one body, q = y[:-1, :4] are the starts of its steps, and y[1:, :4] their ends. `inertia` is that
about the point to which the momentum belongs: the centre of mass, or a pivot. Forces come as `gradient`, the gradient
of the potential V(q) at the middle (q0 + q1) / 2; `weight_gradient` has that of a force that is constant in space.

`docs/hamiltonian.md` and `docs/rotations.md` list the equations with functions and tests.
"""

from rbdae.step_equations.energy_momentum import StepResidual as StepResidual
from rbdae.step_equations.energy_momentum import energy_momentum_residual as energy_momentum_residual
from rbdae.step_equations.energy_momentum import energy_momentum_tangent as energy_momentum_tangent
from rbdae.step_equations.energy_momentum import step_multiplier as step_multiplier
from rbdae.step_equations.invariants import Invariants as Invariants
from rbdae.step_equations.invariants import Rates as Rates
from rbdae.step_equations.invariants import hamiltonian_rates as hamiltonian_rates
from rbdae.step_equations.invariants import invariants as invariants
from rbdae.step_equations.invariants import inverse_mass_matrix as inverse_mass_matrix
from rbdae.step_equations.invariants import kinetic_energy as kinetic_energy
from rbdae.step_equations.invariants import mass_matrix as mass_matrix
from rbdae.step_equations.invariants import weight_gradient as weight_gradient
from rbdae.step_equations.midpoint import MidpointState as MidpointState
from rbdae.step_equations.midpoint import MidpointStep as MidpointStep
from rbdae.step_equations.variational import DiscreteMomenta as DiscreteMomenta
from rbdae.step_equations.variational import discrete_momenta as discrete_momenta
from rbdae.step_equations.variational import discrete_momentum_map as discrete_momentum_map
from rbdae.step_equations.variational import node_multiplier as node_multiplier

__all__ = [
    "DiscreteMomenta", "Invariants", "MidpointState", "MidpointStep", "Rates", "StepResidual", "discrete_momenta",
    "discrete_momentum_map", "energy_momentum_residual", "energy_momentum_tangent", "hamiltonian_rates", "invariants",
    "inverse_mass_matrix", "kinetic_energy", "mass_matrix", "node_multiplier", "step_multiplier", "weight_gradient",
]  # fmt: skip
