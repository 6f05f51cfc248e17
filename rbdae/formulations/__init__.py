"""The formulations: one file each for equations and options, and a table of names.

`rbdae.formulate` takes a name, or a value with its options: ``Baumgarte(alpha=10.0, beta=25.0)``.
"""

from rbdae.formulations.absolute import Index1 as Index1
from rbdae.formulations.absolute import Index2 as Index2
from rbdae.formulations.absolute import Index3 as Index3
from rbdae.formulations.absolute import WithMultipliers as WithMultipliers
from rbdae.formulations.base import AbsoluteFormulation as AbsoluteFormulation
from rbdae.formulations.base import Explicit as Explicit
from rbdae.formulations.base import Formulation as Formulation
from rbdae.formulations.base import Implicit as Implicit
from rbdae.formulations.base import parameter as parameter
from rbdae.formulations.baumgarte import Baumgarte as Baumgarte
from rbdae.formulations.baumgarte import BaumgarteODE as BaumgarteODE
from rbdae.formulations.explicit import Index0 as Index0
from rbdae.formulations.hamiltonian import Hamiltonian as Hamiltonian
from rbdae.formulations.null_space import NullSpace as NullSpace
from rbdae.formulations.null_space import NullSpaceOverdetermined as NullSpaceOverdetermined
from rbdae.formulations.null_space_ggl import NullSpaceGGL as NullSpaceGGL
from rbdae.formulations.overdetermined import Overdetermined as Overdetermined
from rbdae.formulations.overdetermined import Overdetermined1 as Overdetermined1
from rbdae.formulations.projected import Projected0 as Projected0
from rbdae.formulations.projected import Projected1 as Projected1
from rbdae.formulations.projected import Projected2 as Projected2
from rbdae.formulations.stabilised import GGL as GGL
from rbdae.formulations.stabilised import HillerAnantharaman as HillerAnantharaman
from rbdae.formulations.table import FORMULATIONS as FORMULATIONS

__all__ = [
    "FORMULATIONS",
    "GGL",
    "AbsoluteFormulation",
    "Baumgarte",
    "BaumgarteODE",
    "Explicit",
    "Formulation",
    "Hamiltonian",
    "HillerAnantharaman",
    "Implicit",
    "Index0",
    "Index1",
    "Index2",
    "Index3",
    "NullSpace",
    "NullSpaceGGL",
    "NullSpaceOverdetermined",
    "Overdetermined",
    "Overdetermined1",
    "Projected0",
    "Projected1",
    "Projected2",
    "WithMultipliers",
    "parameter",
]
