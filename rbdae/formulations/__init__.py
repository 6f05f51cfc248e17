"""The formulations: one file each for equations and options, and a table of names.

`rbdae.formulate` takes a name, or a value with its options: ``Baumgarte(alpha=10.0, beta=25.0)``.
"""

from rbdae.formulations.absolute import Index1, Index2, Index3, WithMultipliers
from rbdae.formulations.base import AbsoluteFormulation, Explicit, Formulation, Implicit, parameter
from rbdae.formulations.baumgarte import Baumgarte, BaumgarteODE
from rbdae.formulations.explicit import Index0
from rbdae.formulations.hamiltonian import Hamiltonian
from rbdae.formulations.null_space import NullSpace, NullSpaceOverdetermined
from rbdae.formulations.null_space_ggl import NullSpaceGGL
from rbdae.formulations.overdetermined import Overdetermined, Overdetermined1
from rbdae.formulations.projected import Projected0, Projected1, Projected2
from rbdae.formulations.stabilised import GGL, HillerAnantharaman
from rbdae.formulations.table import FORMULATIONS

__all__ = [
    "FORMULATIONS", "GGL", "AbsoluteFormulation", "Baumgarte", "BaumgarteODE", "Explicit", "Formulation", "Hamiltonian",
    "HillerAnantharaman", "Implicit", "Index0", "Index1", "Index2", "Index3", "NullSpace", "NullSpaceGGL",
    "NullSpaceOverdetermined", "Overdetermined", "Overdetermined1", "Projected0", "Projected1", "Projected2",
    "WithMultipliers", "parameter",
]  # fmt: skip
