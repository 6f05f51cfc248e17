"""`hamiltonian`: momenta in place of velocities, [BS09], with six ways to keep the constraints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rbdae.formulations.absolute import Index1, Index2, Index3
from rbdae.formulations.base import DirectorConstraints, Formulation, RadialInertia
from rbdae.formulations.explicit import Index0
from rbdae.formulations.overdetermined import Overdetermined
from rbdae.formulations.stabilised import GGL

Constraint = Literal["position", "momentum", "differentiated", "eliminated", "both", "overdetermined"]

_FORMS: dict[Constraint, tuple[type[Formulation], str, str]] = {
    "position": (Index3, "hamiltonian", "[BS09] (38), (39)"),
    "momentum": (Index2, "hamiltonian-momentum", "[BS09] (39), (40)"),
    "differentiated": (Index1, "hamiltonian-differentiated", "[BS09], Remark 4.2"),
    "eliminated": (Index0, "hamiltonian-eliminated", "[BS09], Remark 4.2"),
    "both": (GGL, "hamiltonian-ggl", "[BS09] (38), (40), after [GGL85]"),
    "overdetermined": (Overdetermined, "hamiltonian-overdetermined", "[BS09] (38), (40), after [FL91]"),
}
"""The form in velocities with the same constraints and kernels, the name, and the source."""

_LIKE = ("kind", "index", "kernels", "levels", "multipliers")


@dataclass(frozen=True, kw_only=True)
class Hamiltonian(Formulation, velocities=("momentum", "coordinate"), unknowns="momenta"):
    """Momenta in place of velocities.

    Parameters
    ----------
    constraint : str
        The constraints that are kept: ``"position"`` (38); ``"momentum"`` (40), named ``"hamiltonian-momentum"``;
        ``"differentiated"``, (40) differentiated; ``"eliminated"``, an ODE; ``"both"``, qdot = dH/dp - G^T mu, named
        ``"hamiltonian-ggl"``; ``"overdetermined"``, (40) and g = 0, for ODASSL.
    radial_inertia : ``"zero"`` or ``"half-trace"``
        As in other forms; here J0 is tr(J)/2 in both cases.
    director_constraints : ``"rows"`` or ``"columns"``
        As for `AbsoluteFormulation`.
    """

    constraint: Constraint = field(default="position", metadata={"in_name": True})
    radial_inertia: RadialInertia = "zero"
    director_constraints: DirectorConstraints = "rows"

    def __post_init__(self) -> None:
        super().__post_init__()
        like, name, source = _FORMS[self.constraint]
        for attribute, value in {"name": name, "source": source, **{a: getattr(like, a) for a in _LIKE}}.items():
            object.__setattr__(self, attribute, value)
