"""Comparing formulations, rotations and solvers on one system."""

from rbdae.study.ahead import compile_kernels as compile_kernels
from rbdae.study.ahead import entries as entries
from rbdae.study.case import Case as Case
from rbdae.study.case import cases as cases
from rbdae.study.case import installed_solvers as installed_solvers
from rbdae.study.comparison import Comparison as Comparison
from rbdae.study.comparison import compare as compare
from rbdae.study.comparison import compare_cases as compare_cases
from rbdae.study.executor import run_all as run_all
from rbdae.study.one_run import Row as Row
from rbdae.study.one_run import Rows as Rows
from rbdae.study.one_run import run as run
from rbdae.study.pictures import work_precision as work_precision
from rbdae.study.references import REFERENCES as REFERENCES
from rbdae.study.references import Errors as Errors
from rbdae.study.references import FinalState as FinalState
from rbdae.study.references import Reference as Reference
from rbdae.study.references import errors as errors
from rbdae.study.references import final_state as final_state
from rbdae.study.references import reference as reference
from rbdae.study.tables import table as table
