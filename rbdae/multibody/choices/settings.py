"""The choices that lay a model out in memory, once for all runs: formulation, chart, kind of velocity, structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from rbdae.formulations.base import Formulation, Implicit
from rbdae.kernels import records as kb
from rbdae.multibody.choices.tree_velocities import TreeVelocity
from rbdae.multibody.choices.velocity_kind import ANGULAR, VelocityKind
from rbdae.rotations import Chart

Structure = Literal["any", "spherical tree", "tree", "loops"]
"""By which the null-space form finds its velocities; ``"any"`` for all other forms."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """The choices behind the equations of a model.

    Parameters
    ----------
    formulation, chart, kind : as chosen; a formulation has its options
    structure : of the system, for the null-space form
    tree : the quasi-velocities of each body, for the structure ``"tree"``
    n_independent : how many quasi-velocities there are, for the structure ``"loops"``
    sparse : whether independent velocities of loops are selected by sparse matrices
    redundant : whether joint rows are left out because they follow from the others
    """

    formulation: Formulation
    chart: Chart
    kind: VelocityKind = ANGULAR
    structure: Structure = "any"
    tree: tuple[TreeVelocity, ...] = ()
    n_independent: int = 0
    sparse: bool = False
    redundant: bool = False

    def __deepcopy__(self, memo: object) -> Settings:
        """Itself: nothing in it changes."""
        return self

    @property
    def kernels(self) -> Implicit:
        """The kernels of the formulation."""
        return self.formulation.kernels

    @property
    def radial(self) -> float:
        """Radial inertia J0 of the quaternion mass as a fraction of tr(J)/2."""
        return 1.0 if self.formulation.choice("radial_inertia") == "half-trace" else 0.0

    @property
    def unit_norm(self) -> bool:
        """Whether the right-hand side takes the unit norm of quaternions for granted."""
        return self.formulation.choice("norm") == "unit"

    @property
    def columns(self) -> bool:
        """Whether the internal constraints of directors are those of the columns of R, [NS] (44)."""
        return self.formulation.choice("director_constraints") == "columns"

    @property
    def momenta(self) -> bool:
        """Whether the unknowns are momenta."""
        return self.formulation.unknowns == "momenta"

    @property
    def reduced(self) -> bool:
        """Whether the unknowns are independent quasi-velocities."""
        return self.formulation.unknowns == "quasi-velocities"

    @property
    def spatial(self) -> int:
        """The kernels' number of what is spatial."""
        if not self.kind.spatial:
            return 0
        return kb.SPATIAL_QUASI_VELOCITIES if self.reduced else kb.SPATIAL_VELOCITIES

    @property
    def forms(self) -> bool:
        """Whether the equations of the bodies are other forms of [SNS15] than the default one."""
        chosen = self.formulation.choice
        other = chosen("gyroscopic") == "fifth-order" or chosen("pull_back") in ("moment", "inhomogeneous")
        return other or self.formulation.projected

    @property
    def internal_names(self) -> tuple[str, ...]:
        """The names of the internal constraints of a body, those of the multipliers in their order."""
        if not self.columns:
            return self.chart.internal
        return tuple(name.replace("row", "column") for name in self.chart.internal)
