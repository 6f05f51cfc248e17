"""Comparing formulations, rotations and solvers on one system: final errors, work, drift.

Every row is one run to the same end time. Its error is measured against a reference that another formulation
computed at 1e-13. There are two references by two formulations; their difference bounds the errors that can be
trusted.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rbdae import _check
from rbdae.show.page import versions
from rbdae.solving.registry import adapter
from rbdae.solving.solution import Solution
from rbdae.study.case import Case, cases
from rbdae.study.comparison import Comparison
from rbdae.study.one_run import LIMIT, REPEATS, Row, formulated, run, warm_up
from rbdae.study.references import Reference, refuse_disagreement
from rbdae.study.references import reference as reference_of
from rbdae.study.stored import ResultsFile, fingerprint
from rbdae.system import System

TOLERANCES = (1e-4, 1e-6, 1e-8)
"""Default tolerances of `compare`."""


def compare(
    system: System,
    t_end: float,
    chosen: Sequence[Case] | None = None,
    *,
    reference: Reference | Solution | None = None,
    executor: Executor | None = None,
    resume: str | Path | None = None,
    progress: bool = False,
    limit: float = LIMIT,
    repeats: int = REPEATS,
    **choices: Any,
) -> Comparison:
    """Run a system with many formulations, rotations and solvers, and compare final errors, work, drift and energy.

    Runs that fail become rows with the reason.

    Parameters
    ----------
    system : System
    t_end : end of all runs, s; they begin at 0, and go back in time if it is negative
    chosen : your own list of cases; None combines `choices`
    reference : from `rbdae.study.reference`, `rbdae.study.Reference.from_solutions`, or a `Solution` that you trust;
        None computes it by two formulations at 1e-13, with `redundant`, `hold` and `projection` of the first case
    executor : any `concurrent.futures.Executor`, such as a `ProcessPoolExecutor` with the context "spawn" or a Dask
        client's; None for this process
    resume : a file to which each finished run is written at once; runs already in it are not repeated. Runs of
        another mechanism, end time or reference in the same file are kept apart
    progress : show a bar on standard error (needs tqdm)
    limit : seconds of elapsed time after which a run is given up
    repeats : the largest number of timed runs of a short case, see `rbdae.study.run`
    **choices : `formulations`, `rotations`, `velocities`, `solvers`, `tolerances`, `steps`, `redundant`, `hold`,
        `projection`, `options`, `on_singularity`: lists to combine, and what all cases share, see `rbdae.study.cases`

    Raises
    ------
    TypeError, ValueError
        for wrong input, if nothing is left to run, for a reference with another end or system, and if the computed
        reference is not accurate enough for the tolerances, as in chaotic motions
    RuntimeError, OSError
        if no reference can be computed; for a file that cannot be read or written
    ImportError
        for a solver whose package is not installed (`rbdae.adapter.MissingSolver`), without cattrs for `resume`,
        cloudpickle for an executor of processes, tqdm for `progress`
    KeyboardInterrupt
        after Ctrl-C; its `comparison` is the `Comparison` of the finished runs, if any

    Examples
    --------
    >>> import rbdae
    >>> top = rbdae.models.heavy_top()
    >>> found = rbdae.compare(top, 0.1, formulations=["null-space"], rotations=["quaternion"], solvers=["scipy:RK45"])
    >>> [row.failure for row in found.rows]
    ['', '', '']
    """
    if not isinstance(system, System):
        raise TypeError(f"compare needs a rbdae.System, got {_check.show(system)} of type {type(system).__name__}")
    if chosen is not None and choices:
        raise TypeError(f"compare: cases are chosen already, got also {', '.join(choices)}; give one of both")
    wanted = list(dict.fromkeys(cases(**{"tolerances": TOLERANCES} | choices) if chosen is None else chosen))
    end = _check.number("compare", "t_end", t_end)
    exact = _checked_reference(reference, end, system)
    if not wanted or not all(isinstance(case, Case) for case in wanted):
        raise ValueError(f"chosen must be a list of rbdae.study.Case, got {_check.show(chosen)}; see rbdae.study.cases")
    bar = _check.package("progress=True", "tqdm.auto").tqdm if _check.flag("compare", "progress", progress) else None
    seconds = _check.positive("compare", "limit", limit, "give seconds")
    most = _check.count("compare", "repeats", repeats)
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor must be a concurrent.futures.Executor, got {_check.show(executor)}")
    file, first = None, wanted[0]
    if resume is not None:
        about = (end, first.redundant, first.hold, first.projection)
        file = ResultsFile(resume, fingerprint(system), exact, about)
        exact = _checked_reference(file.reference, end, system) or exact
    # report mistakes in the system and warnings about its start once, before anything runs
    plain = replace(first, formulation="index-1", rotation="quaternion", velocity="angular")
    formulated(system, plain, silent=False)
    done = {} if file is None else file.usable_rows(seconds)
    left = [case for case in wanted if case not in done]
    if exact is None:
        exact = _computed(system, end, wanted, seconds)
    for case in {(case.solver, case.options): case for case in left if case.options}.values():
        warm_up(system, case, end, steps=1)  # its adapter refuses unknown options by name
    if file is not None:
        file.begin(exact)
    provenance = {"mechanism": f"{len(system.bodies)} bodies: {', '.join(body.name for body in system.bodies)}"}
    provenance |= versions(
        {name: adapter(name).version() or "" for name in sorted({case.solver.partition(":")[0] for case in wanted})}
    )

    def compared() -> Comparison:
        return Comparison(
            exact, tuple(done[case] for case in wanted if case in done), provenance, len(wanted) - len(left)
        )

    run_case = partial(run, system, exact=exact, limit=seconds, repeats=most)
    try:
        rows = _rows(run_case, left, executor)
        for row in bar(rows, total=len(left), desc="runs", mininterval=1.0) if bar else rows:
            done[row.case] = row
            if file is not None:
                file.append(row)
    except KeyboardInterrupt as error:
        error.comparison = compared()  # type: ignore[attr-defined]
        raise
    return compared()


def _rows(one: Callable[[Case], Row], chosen: Sequence[Case], executor: Executor | None) -> Iterator[Row]:
    """Rows from this process, or from others as they finish. If anything raises, pending runs are cancelled."""
    if executor is None:
        yield from map(one, chosen)
        return
    call: Callable[[Case], Row] = one
    if not isinstance(executor, ThreadPoolExecutor):  # pickled with the users' functions
        call = partial(_run_there, _check.package("an executor of processes", "cloudpickle").dumps(one))
    # interleave forms, so that runs that begin together do not compile the same code
    by_turns = sorted(chosen, key=lambda case: (case.method, case.knob))
    futures: list[Future[Row]] = []
    try:
        futures += (executor.submit(call, case) for case in by_turns)
        for future in as_completed(futures):
            yield future.result()
    except BaseException:
        for future in futures:
            future.cancel()
        raise


def _run_there(content: bytes, case: Case) -> Row:
    row: Row = pickle.loads(content)(case)
    return row


def _computed(system: System, t_end: float, wanted: Sequence[Case], limit: float) -> Reference:
    """The reference by two formulations; refuses one too inaccurate for the tolerances."""
    options: dict[str, Any] = {name: getattr(wanted[0], name) for name in ("redundant", "hold", "projection")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = reference_of(system, t_end, **options, limit=10.0 * limit)
    refuse_disagreement(out, min(case.tolerance for case in wanted))
    return out


# ---------------------------------------------------------------- arguments


def _checked_reference(reference: Reference | Solution | None, t_end: float, system: System) -> Reference | None:
    """The given reference, checked against the system and the end of the runs."""
    if reference is None:
        return None
    if isinstance(reference, Solution):
        reference = Reference.from_solutions(reference)
    if not isinstance(reference, Reference):
        raise TypeError(f"reference must be a rbdae.study.Reference or a rbdae.Solution, got {_check.show(reference)}")
    for what, value, wanted in (
        ("the time t", reference.t_end, t_end),
        ("the number of bodies", len(reference.states[0].position), len(system.bodies)),
    ):
        if value != wanted:
            raise ValueError(f"the reference belongs to {what} = {value!r}, the study to {wanted!r}; make a new one")
    return reference
