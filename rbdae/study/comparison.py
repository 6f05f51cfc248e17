"""Comparing formulations, rotations and solvers on one system: final errors, work, drift.

Every row is one run to the same end time. Its error is measured against a reference that another formulation
computed at 1e-13. Two formulations compute one each, and their difference says how far the errors can be trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from rbdae.study import references
from rbdae.study.case import Case, cases
from rbdae.study.executor import run_all
from rbdae.study.one_run import Row, run
from rbdae.study.pictures import work_precision
from rbdae.study.references import Reference
from rbdae.study.tables import table
from rbdae.system import System

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """Rows in the order of their cases; prints as a table."""

    reference: Reference
    rows: tuple[Row, ...]

    def __str__(self) -> str:
        return table(self)

    def plot(self) -> Figure:
        """Work-precision picture: error over evaluations and over seconds, one curve for each form and solver."""
        return work_precision(self)


def compare(
    system: System,
    t_end: float,
    *,
    formulations: Iterable[str] | None = None,
    rotations: Iterable[str] | None = None,
    velocities: Iterable[str] | None = None,
    solvers: Iterable[str] | None = None,
    tolerances: Iterable[float] = (1e-8,),
    reference: Reference | None = None,
    executor: Executor | None = None,
    progress: bool = False,
    limit: float = 60.0,
) -> Comparison:
    """Run a system through formulations, rotations and solvers.

    Parameters
    ----------
    system : System
    t_end : end of all runs, s
    formulations, rotations, velocities, solvers, tolerances : what to combine, see `cases`
    reference : from `rbdae.study.reference`; computed if it is not given
    executor : any `concurrent.futures.Executor` of processes; None for this process
    progress : a bar on standard error, if tqdm is installed
    limit : seconds after which one run is given up

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        for unknown names
    """
    return compare_cases(
        system,
        t_end,
        cases(formulations, rotations, velocities, solvers, tolerances),
        reference=reference,
        executor=executor,
        progress=progress,
        limit=limit,
    )


def compare_cases(
    system: System,
    t_end: float,
    chosen: Sequence[Case],
    *,
    reference: Reference | None = None,
    executor: Executor | None = None,
    progress: bool = False,
    limit: float = 60.0,
) -> Comparison:
    """`compare` with a list of cases of one's own.

    Raises
    ------
    ValueError
        if the reference belongs to another end time
    """
    exact = references.reference(system, t_end) if reference is None else reference
    if exact.t_end != t_end:
        raise ValueError(f"the reference belongs to t = {exact.t_end:g}, the runs end at {t_end:g}; make a new one")
    tasks = [(run, (system, case, exact, limit)) for case in chosen]
    return Comparison(exact, tuple(run_all(tasks, executor, "runs" if progress else "")))


__all__ = ["Comparison", "compare", "compare_cases"]
