"""The formulations by name: one table, one line each."""

from __future__ import annotations

from rbdae.formulations import absolute, explicit, null_space, overdetermined, stabilised
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


def _stabilised(name: str, index: int, summary: str, source: str) -> Formulation:
    return Formulation(
        name=name,
        summary=summary,
        source=source,
        kind="dae",
        index=index,
        velocities=_EITHER,
        rotations=_ALL,
        residual=stabilised.residual,
        jacobian=stabilised.jacobian,
        rhs=explicit.rhs,
        rhs_jacobian=None,
        corrected=True,
        integral=index == 1,
    )


def _overdetermined(name: str, level: int, summary: str, source: str) -> Formulation:
    return Formulation(
        name=name,
        summary=summary,
        source=source,
        kind="overdetermined",
        index=3 - level,
        velocities=_EITHER,
        rotations=_ALL,
        residual=overdetermined.residual,
        jacobian=overdetermined.jacobian,
        rhs=explicit.rhs,
        rhs_jacobian=None,
        level=level,
        extra=tuple(range(level)),
    )


def _baumgarte(name: str, ode: bool) -> Formulation:
    return Formulation(
        name=name,
        summary="index 1 with Baumgarte's terms" + (", multipliers eliminated" if ode else ""),
        source="[Bau72]: gddot + 2 alpha gdot + beta^2 g = 0",
        kind="ode" if ode else "dae",
        index=0 if ode else 1,
        velocities=_EITHER,
        rotations=_ALL,
        residual=explicit.residual if ode else absolute.residual,
        jacobian=explicit.jacobian if ode else absolute.jacobian,
        rhs=explicit.rhs,
        rhs_jacobian=explicit.rhs_jacobian if ode else None,
        baumgarte=True,
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
    _dae("index-3", 3, "constraint on positions", "[NS] (1)"),
    _dae("index-2", 2, "constraint on velocities", "[NS] (3)"),
    _dae("index-1", 1, "constraint on accelerations", "[NS] (4)"),
    Formulation(
        name="index-0",
        summary="multipliers eliminated, an ODE in (q, v)",
        source="[NS] (6)",
        kind="ode",
        index=0,
        velocities=_EITHER,
        rotations=_ALL,
        residual=explicit.residual,
        jacobian=explicit.jacobian,
        rhs=explicit.rhs,
        rhs_jacobian=explicit.rhs_jacobian,
    ),
    _stabilised("ggl", 2, "position and velocity constraint, qdot = v - G^T mu", "[GGL85]"),
    _stabilised(
        "hiller-anantharaman",
        1,
        "the same with the multipliers as derivatives of unknowns",
        "[AH91]",
    ),
    _baumgarte("baumgarte", ode=False),
    _baumgarte("baumgarte-ode", ode=True),
    _overdetermined("overdetermined", 1, "index 2 with g = 0 as well, for ODASSL", "[FL91]"),
    _overdetermined("overdetermined-1", 2, "index 1 with g = 0 and gdot = 0 as well", "[FL91]"),
    Formulation(
        name="null-space",
        summary="independent quasi-velocities, reduced mass matrix; ODE or implicit",
        source="[NS] (11), (60), (61)",
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
    Formulation(
        name="null-space-overdetermined",
        summary="the implicit null-space form with g = 0 as well, for ODASSL",
        source="[NS] (11)",
        kind="overdetermined",
        index=0,
        velocities=("angular",),
        rotations=_ALL,
        residual=null_space.overdetermined_residual,
        jacobian=null_space.overdetermined_jacobian,
        rhs=null_space.rhs,
        rhs_jacobian=None,
        reduced=True,
        extra=(0,),
    ),
    _hamiltonian("hamiltonian", 3, "momenta; constraint on positions", "[BS09] (38), (39)"),
    _hamiltonian("hamiltonian-momentum", 2, "momenta; constraint on momenta", "[BS09] (39), (40)"),
    _hamiltonian("hamiltonian-differentiated", 1, "momenta; (40) differentiated", "[BS09], Remark 4.2"),
    _hamiltonian("hamiltonian-eliminated", 0, "momenta; multiplier eliminated", "[BS09], Remark 4.2"),
)

FORMULATIONS: dict[str, Formulation] = {f.name: f for f in _TABLE}

# the old table of the null-space forms of other systems than trees of spherical joints: they have the same kernels now
GAUGED: dict[str, Formulation] = {name: FORMULATIONS[name] for name in ("null-space", "null-space-overdetermined")}

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

__all__ = ["FORMULATIONS", "GAUGED", "SPELLINGS", "Formulation"]
