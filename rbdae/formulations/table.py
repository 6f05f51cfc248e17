"""The table of formulations by name, one line each."""

from __future__ import annotations

from ast import literal_eval
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from rbdae import _check
from rbdae.formulations.absolute import Index1, Index2, Index3
from rbdae.formulations.base import Formulation
from rbdae.formulations.baumgarte import Baumgarte, BaumgarteODE
from rbdae.formulations.explicit import Index0
from rbdae.formulations.hamiltonian import Constraint, Hamiltonian
from rbdae.formulations.null_space import NullSpace, NullSpaceOverdetermined
from rbdae.formulations.null_space_ggl import NullSpaceGGL
from rbdae.formulations.overdetermined import Overdetermined, Overdetermined1
from rbdae.formulations.projected import Projected0, Projected1, Projected2
from rbdae.formulations.stabilised import GGL, HillerAnantharaman

_TABLE: tuple[Formulation, ...] = (
    Index3(),
    Index2(),
    Index1(),
    Index0(),
    GGL(),
    HillerAnantharaman(),
    Baumgarte(),
    BaumgarteODE(),
    Overdetermined(),
    Overdetermined1(),
    Projected2(),
    Projected1(),
    Projected0(),
    NullSpace(),
    NullSpaceOverdetermined(),
    NullSpaceGGL(),
    *(Hamiltonian(constraint=constraint) for constraint in get_args(Constraint)),
)

FORMULATIONS: dict[str, Formulation] = {f.name: f for f in _TABLE}
"""The formulations with default options, by name."""

# the names in Assimulo's Mechanical_System
SPELLINGS: dict[str, str] = {
    "ind3": "index-3",
    "ind2": "index-2",
    "ind1": "index-1",
    "ind0": "index-0",
    "ggl2": "ggl",
    "ovstab1": "overdetermined-1",
    "ovstab2": "overdetermined",
}

FormulationName: TypeAlias = Literal[
    "index-3", "index-2", "index-1", "index-0", "ggl", "hiller-anantharaman", "baumgarte", "baumgarte-ode",
    "overdetermined", "overdetermined-1", "projected-2", "projected-1", "projected-0", "null-space",
    "null-space-overdetermined", "null-space-ggl", "hamiltonian", "hamiltonian-momentum", "hamiltonian-differentiated",
    "hamiltonian-eliminated", "hamiltonian-ggl", "hamiltonian-overdetermined",
    "ind3", "ind2", "ind1", "ind0", "ggl2", "ovstab1", "ovstab2",
]  # fmt: skip
"""Name of a formulation, or Assimulo's spelling; a user's own is given as a value."""

VelocityName: TypeAlias = Literal["angular", "spatial", "coordinate", "momentum"]
"""Names of velocities; ``"momentum"`` and ``"coordinate"`` are the same for forms in momenta."""


def named(name: object) -> Formulation:
    """The formulation from a name, another spelling, or a value.

    Raises
    ------
    TypeError, ValueError
        if there is no such formulation
    """
    if isinstance(name, Formulation):
        return name
    if isinstance(name, type) and issubclass(name, Formulation):
        raise TypeError(f"formulation must be a name or a value, got the class {name.__name__}; pass {name.__name__}()")
    form = FORMULATIONS.get(SPELLINGS.get(name, name)) if isinstance(name, str) else None
    if form is None:
        raise _check.unknown("formulation", name, FORMULATIONS)
    return form


def written(text: str) -> Formulation:
    """The formulation with a text as its `str`, such as ``"baumgarte (alpha=5.0)"``.

    Raises
    ------
    TypeError, ValueError
        if there is no such formulation
    """
    name, _, arguments = text.removesuffix(")").partition(" (")
    options = dict(item.split("=") for item in arguments.split("; ")) if arguments else {}
    return replace(named(name), **{option: literal_eval(value) for option, value in options.items()})
