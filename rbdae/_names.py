"""The names that functions take, as types: editors complete them, and type checkers find a wrong one.

A test holds them against the registries.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

FormulationName: TypeAlias = Literal[
    "index-3", "index-2", "index-1", "index-0", "ggl", "hiller-anantharaman", "baumgarte", "baumgarte-ode",
    "overdetermined", "overdetermined-1", "projected-2", "projected-1", "projected-0", "null-space",
    "null-space-overdetermined", "null-space-ggl", "hamiltonian", "hamiltonian-momentum", "hamiltonian-differentiated",
    "hamiltonian-eliminated", "hamiltonian-ggl", "hamiltonian-overdetermined",
    "ind3", "ind2", "ind1", "ind0", "ggl2", "ovstab1", "ovstab2",
]  # fmt: skip
"""A formulation, or Assimulo's spelling of it; one of a user's own is given as a value."""

RotationName: TypeAlias = Literal[
    "quaternion", "directors", "euler-313", "bryant-321", "rotation-vector", "rodrigues", "conformal", "linear",
    "quaternion-vector",
]  # fmt: skip
"""A chart. Type checkers do not know one that a user has registered: ``typing.cast(RotationName, "my-chart")``."""

VelocityName: TypeAlias = Literal["angular", "spatial", "coordinate", "momentum"]
"""Velocities; ``"momentum"`` and ``"coordinate"`` are the same for forms in momenta."""

SolverName: TypeAlias = Literal[
    "rbdae:dopri5", "rbdae:dop853", "rbdae:odex", "rbdae:energy-momentum", "rbdae:variational", "rbdae:simo-wong",
    "rbdae:midpoint",
    "scipy:RK23", "scipy:RK45", "scipy:DOP853", "scipy:Radau", "scipy:BDF", "scipy:LSODA",
    "scikits.odes:ida", "scikits.odes:cvode", "scikits.odes:ddaspk",
    "sksundae:ida", "sksundae:cvode", "sundials:ida", "sundials:cvode", "solve_dae:Radau", "solve_dae:BDF",
    "assimulo:Radau5DAE", "assimulo:ODASSL", "assimulo:Radau5ODE", "assimulo:RodasODE", "assimulo:Dopri5",
    "assimulo:LSODAR",
]  # fmt: skip
"""A solver of the adapters of this distribution; other distributions have more."""

FrameName: TypeAlias = Literal[
    "unknowns", "states", "energy", "momentum", "drift", "reactions", "joints", "forces",
]  # fmt: skip
"""A quantity of `Solution.to_pandas`; observables that are registered are further ones."""
