"""The formulations by name: one table, one line each."""

from __future__ import annotations

from rbdae.formulations import absolute, explicit, null_space, overdetermined, projected, stabilised
from rbdae.formulations.base import AbstractKernels, Explicit, Formulation, Implicit, Solved

_EITHER = ("angular", "spatial", "coordinate")
_TWISTS = ("angular", "spatial")

_MOMENTA = ("momentum", "coordinate")

_ABSOLUTE = Implicit(absolute.residual, absolute.jacobian, explicit.rhs)
_STABILISED = Implicit(stabilised.residual, stabilised.jacobian, explicit.rhs)
_OVERDETERMINED = Implicit(overdetermined.residual, overdetermined.jacobian, explicit.rhs)
_SADDLE = Solved(explicit.balance, explicit.columns)
_EXPLICIT = Explicit(
    explicit.residual,
    explicit.jacobian,
    explicit.rhs,
    explicit.rhs_jacobian,
    ((explicit.residual, _SADDLE), (explicit.rhs, _SADDLE)),
)
_PROJECTED = Implicit(projected.residual, projected.jacobian, explicit.rhs)
_NULL_SPACE = Explicit(
    null_space.residual,
    null_space.jacobian,
    null_space.rhs,
    null_space.rhs_jacobian,
    ((null_space.rhs, _SADDLE),),
)
_NULL_SPACE_OVERDETERMINED = Implicit(
    null_space.overdetermined_residual, null_space.overdetermined_jacobian, null_space.rhs
)


def _dae(
    name: str,
    index: int,
    summary: str,
    source: str,
    *,
    kernels: Implicit = _ABSOLUTE,
    levels: tuple[int, ...] = (),
    integrals: bool = False,
    gains: tuple[str, ...] = (),
) -> Formulation:
    return Formulation(
        name,
        summary,
        source,
        "dae",
        index,
        _EITHER,
        kernels,
        levels=levels or (3 - index,),
        multipliers="integrals" if integrals else "values",
        gains=gains,
    )


def _overdetermined(name: str, levels: tuple[int, ...], summary: str, source: str) -> Formulation:
    return Formulation(
        name,
        summary,
        source,
        "overdetermined",
        3 - levels[0],
        _EITHER,
        _OVERDETERMINED,
        levels=levels,
        multipliers="values",
    )


def _hamiltonian(name: str, index: int, summary: str, source: str) -> Formulation:
    eliminated = index == 0
    kernels: AbstractKernels = _EXPLICIT if eliminated else _ABSOLUTE
    return Formulation(
        name,
        summary,
        source,
        "ode" if eliminated else "dae",
        index,
        _MOMENTA,
        kernels,
        unknowns="momenta",
        levels=(2 if eliminated else 3 - index,),
        multipliers="none" if eliminated else "values",
    )


def _projected(index: int, summary: str, source: str) -> Formulation:
    eliminated = index == 0
    kernels: AbstractKernels = _EXPLICIT if eliminated else _PROJECTED
    return Formulation(
        f"projected-{index}",
        summary,
        source,
        "ode" if eliminated else "dae",
        index,
        ("coordinate",),
        kernels,
        levels=(2 if eliminated else 3 - index,),
        multipliers="none" if eliminated else "values",
        charts=("quaternion",),
        projected=True,
    )


_BAUMGARTE = "[Bau72]: gddot + 2 alpha gdot + beta^2 g = 0"
_GAINS = ("alpha", "beta")

_TABLE = (
    _dae("index-3", 3, "constraint on positions", "[NS] (1)"),
    _dae("index-2", 2, "constraint on velocities", "[NS] (3)"),
    _dae("index-1", 1, "constraint on accelerations", "[NS] (4)"),
    Formulation(
        "index-0",
        "multipliers eliminated, an ODE in (q, v)",
        "[NS] (6)",
        "ode",
        0,
        _EITHER,
        _EXPLICIT,
        levels=(2,),
    ),
    _dae(
        "ggl",
        2,
        "position and velocity constraint, qdot = v - G^T mu",
        "[GGL85]",
        kernels=_STABILISED,
        levels=(0, 1),
    ),
    _dae(
        "hiller-anantharaman",
        1,
        "the same with the multipliers as derivatives of unknowns",
        "[AH91]",
        kernels=_STABILISED,
        levels=(0, 1),
        integrals=True,
    ),
    _dae("baumgarte", 1, "index 1 with Baumgarte's terms", _BAUMGARTE, gains=_GAINS),
    Formulation(
        "baumgarte-ode",
        "index 1 with Baumgarte's terms, multipliers eliminated",
        _BAUMGARTE,
        "ode",
        0,
        _EITHER,
        _EXPLICIT,
        levels=(2,),
        gains=_GAINS,
    ),
    _overdetermined("overdetermined", (1, 0), "index 2 with g = 0 as well, for ODASSL", "[FL91]"),
    _overdetermined("overdetermined-1", (2, 0, 1), "index 1 with g = 0 and gdot = 0 as well", "[FL91]"),
    _projected(2, "no multiplier of the unit norm; constraints on velocities", "[SNS15] (25)"),
    _projected(1, "no multiplier of the unit norm; constraints on accelerations", "[SNS15] (25), (33)"),
    _projected(0, "no multipliers, an ODE in (q, v)", "[SNS15] (38), (40)"),
    Formulation(
        "null-space",
        "independent quasi-velocities, reduced mass matrix; ODE or implicit",
        "[NS] (11), (60), (61)",
        "ode",
        0,
        _TWISTS,
        _NULL_SPACE,
        unknowns="quasi-velocities",
    ),
    Formulation(
        "null-space-overdetermined",
        "the implicit null-space form with g = 0 as well, for ODASSL",
        "[NS] (11)",
        "overdetermined",
        0,
        _TWISTS,
        _NULL_SPACE_OVERDETERMINED,
        unknowns="quasi-velocities",
        levels=(0,),
    ),
    _hamiltonian("hamiltonian", 3, "momenta; constraint on positions", "[BS09] (38), (39)"),
    _hamiltonian("hamiltonian-momentum", 2, "momenta; constraint on momenta", "[BS09] (39), (40)"),
    _hamiltonian("hamiltonian-differentiated", 1, "momenta; (40) differentiated", "[BS09], Remark 4.2"),
    _hamiltonian("hamiltonian-eliminated", 0, "momenta; multiplier eliminated", "[BS09], Remark 4.2"),
    Formulation(
        "hamiltonian-ggl",
        "momenta; position and momentum constraint, qdot = dH/dp - G^T mu",
        "[BS09] (38), (40), after [GGL85]",
        "dae",
        2,
        _MOMENTA,
        _STABILISED,
        unknowns="momenta",
        levels=(0, 1),
        multipliers="values",
    ),
    Formulation(
        "hamiltonian-overdetermined",
        "momenta; constraint on momenta with g = 0 as well, for ODASSL",
        "[BS09] (38), (40), after [FL91]",
        "overdetermined",
        2,
        _MOMENTA,
        _OVERDETERMINED,
        unknowns="momenta",
        levels=(1, 0),
        multipliers="values",
    ),
)

FORMULATIONS: dict[str, Formulation] = {f.name: f for f in _TABLE}

# the names that users of Assimulo's Mechanical_System know
SPELLINGS: dict[str, str] = {
    "ind3": "index-3",
    "ind2": "index-2",
    "ind1": "index-1",
    "ind0": "index-0",
    "ggl2": "ggl",
    "ovstab1": "overdetermined-1",
    "ovstab2": "overdetermined",
}

__all__ = ["FORMULATIONS", "SPELLINGS"]
