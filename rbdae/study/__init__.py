"""Comparing formulations, rotations and solvers on one system: `compare`, the same as `rbdae.compare`."""

from rbdae.study.case import Case as Case
from rbdae.study.choosing import cases as cases
from rbdae.study.choosing import installed_solvers as installed_solvers
from rbdae.study.columns import COLUMNS as COLUMNS
from rbdae.study.comparing import compare as compare
from rbdae.study.comparing import compare_cases as compare_cases
from rbdae.study.comparison import Comparison as Comparison
from rbdae.study.fingerprint import fingerprint as fingerprint
from rbdae.study.one_run import Row as Row
from rbdae.study.one_run import Rows as Rows
from rbdae.study.one_run import run as run
from rbdae.study.pictures import work_precision as work_precision
from rbdae.study.provenance import Provenance as Provenance
from rbdae.study.ranking import Failure as Failure
from rbdae.study.ranking import Place as Place
from rbdae.study.ranking import Ranking as Ranking
from rbdae.study.ranking import Target as Target
from rbdae.study.references import REFERENCES as REFERENCES
from rbdae.study.references import Errors as Errors
from rbdae.study.references import FinalState as FinalState
from rbdae.study.references import Reference as Reference
from rbdae.study.references import errors as errors
from rbdae.study.references import final_state as final_state
from rbdae.study.references import reference as reference
from rbdae.study.tables import mean_ratio as mean_ratio
from rbdae.study.tables import multiples as multiples
from rbdae.study.tables import table as table

__all__ = [
    "COLUMNS",
    "REFERENCES",
    "Case",
    "Comparison",
    "Errors",
    "Failure",
    "FinalState",
    "Place",
    "Provenance",
    "Ranking",
    "Reference",
    "Row",
    "Rows",
    "Target",
    "cases",
    "compare",
    "compare_cases",
    "errors",
    "final_state",
    "fingerprint",
    "installed_solvers",
    "reference",
    "run",
    "table",
    "work_precision",
]
