"""Comparing formulations, rotations and solvers on one system: `compare`, the same as `rbdae.compare`.

The other names are for your own references, and for studies whose rows you make or read yourself.
"""

from rbdae.show import plot_runs as plot_runs
from rbdae.study.case import Case as Case
from rbdae.study.case import cases as cases
from rbdae.study.comparing import compare as compare
from rbdae.study.comparison import COLUMNS as COLUMNS
from rbdae.study.comparison import Comparison as Comparison
from rbdae.study.one_run import Row as Row
from rbdae.study.one_run import run as run
from rbdae.study.published import PUBLISHED as PUBLISHED
from rbdae.study.ranking import RANKED as RANKED
from rbdae.study.references import Errors as Errors
from rbdae.study.references import FinalState as FinalState
from rbdae.study.references import Reference as Reference
from rbdae.study.references import errors as errors
from rbdae.study.references import final_state as final_state
from rbdae.study.references import reference as reference
from rbdae.study.stored import fingerprint as fingerprint

__all__ = ["Case", "Comparison", "compare"]
