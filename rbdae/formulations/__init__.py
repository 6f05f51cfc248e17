"""The formulations: a file each for their equations, a table of their names."""

from rbdae.formulations.base import Derivative as Derivative
from rbdae.formulations.base import Explicit as Explicit
from rbdae.formulations.base import Formulation as Formulation
from rbdae.formulations.base import Implicit as Implicit
from rbdae.formulations.pairing import pairings as pairings
from rbdae.formulations.table import FORMULATIONS as FORMULATIONS
from rbdae.formulations.table import SPELLINGS as SPELLINGS
