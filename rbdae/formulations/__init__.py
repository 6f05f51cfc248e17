"""The formulations by name: one table, one line each."""

from __future__ import annotations

from rbdae.formulations import absolute, explicit, null_space
from rbdae.formulations.base import Formulation

_ALL = ("quaternion", "directors", "euler-313")
_REDUNDANT = ("quaternion", "directors")
_EITHER = ("angular", "coordinate")


def _dae(name: str, index: int, summary: str, source: str) -> Formulation:
    return Formulation(
        name=name,
        summary=summary,
        source=source,
        kind="dae",
        index=index,
        velocities=_EITHER,
        rotations=_ALL,
        residual=absolute.residual,
        jacobian=absolute.jacobian,
        rhs=explicit.rhs,
        rhs_jacobian=None,
        level=3 - index,
    )


def _hamiltonian(name: str, index: int, summary: str, source: str) -> Formulation:
    eliminated = index == 0
    return Formulation(
        name=name,
        summary=summary,
        source=source,
        kind="ode" if eliminated else "dae",
        index=index,
        velocities=("momentum", "coordinate"),
        rotations=_REDUNDANT,
        residual=explicit.residual if eliminated else absolute.residual,
        jacobian=explicit.jacobian if eliminated else absolute.jacobian,
        rhs=explicit.rhs,
        rhs_jacobian=explicit.rhs_jacobian if eliminated else None,
        level=2 if eliminated else 3 - index,
        momenta=True,
    )


_TABLE = (
    _dae("index-3", 3, "constraint on positions", "null-space paper (1)"),
    _dae("index-2", 2, "constraint on velocities", "null-space paper (3)"),
    _dae("index-1", 1, "constraint on accelerations", "null-space paper (4)"),
    Formulation(
        name="index-0",
        summary="multipliers eliminated, an ODE in (q, v)",
        source="null-space paper (6)",
        kind="ode",
        index=0,
        velocities=_EITHER,
        rotations=_ALL,
        residual=explicit.residual,
        jacobian=explicit.jacobian,
        rhs=explicit.rhs,
        rhs_jacobian=explicit.rhs_jacobian,
    ),
    Formulation(
        name="null-space",
        summary="independent quasi-velocities, reduced mass matrix; ODE or implicit",
        source="null-space paper (11), (60), (61)",
        kind="ode",
        index=0,
        velocities=("angular",),
        rotations=_ALL,
        residual=null_space.residual,
        jacobian=null_space.jacobian,
        rhs=null_space.rhs,
        rhs_jacobian=null_space.rhs_jacobian,
        reduced=True,
    ),
    _hamiltonian("hamiltonian", 3, "momenta; constraint on positions", "Hamiltonian paper (38), (39)"),
    _hamiltonian("hamiltonian-momentum", 2, "momenta; constraint on momenta", "Hamiltonian paper (39), (40)"),
    _hamiltonian("hamiltonian-differentiated", 1, "momenta; (40) differentiated", "Hamiltonian paper, Remark 4.2"),
    _hamiltonian("hamiltonian-eliminated", 0, "momenta; multiplier eliminated", "Hamiltonian paper, Remark 4.2"),
)

FORMULATIONS: dict[str, Formulation] = {f.name: f for f in _TABLE}

# the names that users of Assimulo's Mechanical_System know
SPELLINGS: dict[str, str] = {"ind3": "index-3", "ind2": "index-2", "ind1": "index-1", "ind0": "index-0"}

__all__ = ["FORMULATIONS", "SPELLINGS", "Formulation"]
