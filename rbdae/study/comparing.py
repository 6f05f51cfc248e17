"""Comparing formulations, rotations and solvers on one system: final errors, work, drift.

Every row is one run to the same end time. Its error is measured against a reference that another formulation
computed at 1e-13. Two formulations compute one each, and their difference says how far the errors can be trusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rbdae import _check
from rbdae.formulations import Formulation
from rbdae.initial.given import Hold
from rbdae.problem.projection import Projection
from rbdae.quantities.quantity import Quantity
from rbdae.solving.solution import Solution
from rbdae.study import references
from rbdae.study.case import Case, OnSingularity, Options, Redundant
from rbdae.study.choosing import TOLERANCES, cases
from rbdae.study.comparison import Comparison
from rbdae.study.input import check_executor, check_system, checked_cases, checked_quantity, checked_reference
from rbdae.study.one_run import LIMIT, REPEATS, Row, formulated, quiet, run, warm_up
from rbdae.study.provenance import Provenance
from rbdae.study.references import Reference, checked_end, refuse_disagreement
from rbdae.study.same_equations import representatives
from rbdae.study.stored import ResultsFile, checked_path, study_key
from rbdae.system import System


def compare(
    system: System,
    t_end: float,
    *,
    formulations: Iterable[str | Formulation] | None = None,
    rotations: Iterable[str] | None = None,
    velocities: Iterable[str] | None = None,
    solvers: Iterable[str] | None = None,
    tolerances: Iterable[float] = TOLERANCES,
    steps: Iterable[float] | None = None,
    redundant: Redundant = "error",
    hold: Hold = (),
    projection: Projection | bool | None = None,
    options: Mapping[str, Options] | None = None,
    on_singularity: OnSingularity = "stop",
    reference: Reference | Solution | None = None,
    quantity: Quantity | str | None = None,
    executor: Executor | None = None,
    resume: str | Path | None = None,
    progress: bool = False,
    limit: float = LIMIT,
    repeats: int = REPEATS,
) -> Comparison:
    """Run a system through formulations, rotations and solvers: errors at the end, work, drift, energy.

    Parameters
    ----------
    system : System
    t_end : end of all runs, s; they begin at 0, and go back in time where it is negative
    formulations, rotations, velocities, solvers : names to combine (formulations may be values), each a list; None for
        all there are. What makes no sense is left out. Forms whose equations are one and the same are run once
    tolerances : rtol = atol of the runs
    steps : sizes of the steps of fixed-step methods, s: these run once for each, where others run for each tolerance
    redundant, hold : as `rbdae.formulate` takes them
    projection : as `rbdae.solve` takes it
    options : for each solver's name its own options, as in ``{"scipy:DOP853": {"max_step": 0.1}}``
    on_singularity : ``"switch"`` centres rotations that have a singular set at the start, and again on the way
    reference : from `rbdae.study.reference`, `rbdae.study.Reference.from_solutions`, or a `Solution` that one trusts;
        None computes it by two formulations at 1e-13
    quantity : that whose error at the end counts, as ``pin.angle`` or ``"pin.angle"``, an angle with its turns; None
        for the motion of all bodies
    executor : any `concurrent.futures.Executor`, such as a `ProcessPoolExecutor` with the context "spawn", or that of a
        Dask client; None for this process
    resume : a file to which each finished run is written at once; those that it has already are not run again. Runs of
        another mechanism, end time or reference in the same file are kept apart
    progress : a bar on standard error, if tqdm is installed
    limit : seconds on the wall after which one run is given up
    repeats : the largest number of timed runs of a short case, see `rbdae.study.run`

    Returns
    -------
    Comparison
        Runs that fail become rows with the reason.

    Raises
    ------
    TypeError, ValueError
        for wrong input, where nothing is left to run, and for a computed reference that is not good enough for the
        tolerances, as that of a chaotic motion
    RuntimeError
        if no reference can be computed
    rbdae.adapter.MissingSolver
        for a solver whose package is not installed
    pickle.PicklingError
        with an executor of processes, for a system with a function that cannot be pickled, with its name
    OSError
        for a file that cannot be read or written
    KeyboardInterrupt
        after Ctrl-C; its `comparison` is the `Comparison` of the runs that were finished, if there is one

    Examples
    --------
    >>> import rbdae
    >>> top = rbdae.models.heavy_top()
    >>> found = rbdae.compare(top, 0.1, formulations=["null-space"], rotations=["quaternion"], solvers=["scipy:RK45"])
    >>> [row.failure for row in found.rows]
    ['', '', '']
    """
    check_system(system)
    chosen = cases(
        formulations,
        rotations,
        velocities,
        solvers,
        tolerances,
        redundant=redundant,
        hold=hold,
        projection=projection,
        options=options,
        on_singularity=on_singularity,
        steps=steps,
    )
    return compare_cases(
        system,
        t_end,
        chosen,
        reference=reference,
        quantity=quantity,
        executor=executor,
        resume=resume,
        progress=progress,
        limit=limit,
        repeats=repeats,
    )


def compare_cases(
    system: System,
    t_end: float,
    chosen: Sequence[Case],
    *,
    reference: Reference | Solution | None = None,
    quantity: Quantity | str | None = None,
    executor: Executor | None = None,
    resume: str | Path | None = None,
    progress: bool = False,
    limit: float = LIMIT,
    repeats: int = REPEATS,
) -> Comparison:
    """`compare` with a list of cases of one's own; a computed reference has `redundant`, `hold` and `projection` of the
    first of them.

    Raises
    ------
    TypeError, ValueError
        as `compare`; for a reference that belongs to another end time, and for an empty list
    """
    check_system(system)
    end = checked_end("compare", t_end)
    label = checked_quantity(quantity, system)
    given = checked_reference(reference, end, system, label)
    wanted = checked_cases(chosen)
    _check.flag("compare", "progress", progress)
    seconds = _check.positive("compare", "limit", limit, "give seconds")
    most = _check.count("compare", "repeats", repeats)
    check_executor(executor, system)
    path = None if resume is None else checked_path(resume)
    with quiet():
        leaders = representatives(system, wanted)
    todo = [case for case in wanted if leaders[case] == case]
    provenance = Provenance.of(system, {case.solver for case in wanted})
    file = None
    if path is not None:
        about = (wanted[0].redundant, wanted[0].hold, wanted[0].projection, *([label] if label else []))
        file = ResultsFile(path, study_key(provenance.fingerprint, end, given, about))
        given = _stored_reference(file, end, system, label) or given
    exact = _reference(system, end, wanted, given, seconds, label)
    done = {} if file is None else _usable(file.rows, seconds)
    left = [case for case in todo if case not in done]
    _check_options(system, left, end)
    if file is not None:
        file.begin(exact, provenance)
    same = _same(leaders)
    calls = [(system, case, exact, seconds, most, same[case]) for case in _in_turns(left, executor)]

    def finished(row: Row) -> None:
        done[row.case] = row
        if file is not None:
            file.append(row)

    def compared() -> Comparison:
        rows = tuple(replace(done[case], same=same[case]) for case in todo if case in done)
        return Comparison(exact, rows, provenance, len(todo) - len(left))

    try:
        _run_all(calls, executor, progress, finished)
    except KeyboardInterrupt as error:
        error.comparison = compared()  # type: ignore[attr-defined]
        raise
    return compared()


def _stored_reference(file: ResultsFile, t_end: float, system: System, quantity: str) -> Reference | None:
    """The reference of a file, which belongs to the study if nobody has changed it."""
    try:
        return checked_reference(file.reference, t_end, system, quantity)
    except ValueError as error:
        raise ValueError(f"{file.path}: {error}, or name another file for resume") from None


def _run_all(
    calls: Sequence[tuple[Any, ...]], executor: Executor | None, progress: bool, finished: Callable[[Row], object]
) -> None:
    """Runs in this process or in others. `finished` gets each row as soon as it is there, in any order; what has not
    begun is cancelled if anything raises."""
    with _bar(len(calls), progress) as advance:
        if executor is None:
            for call in calls:
                finished(run(*call))
                advance()
            return
        futures: list[Future[Row]] = []
        try:
            futures += (executor.submit(run, *call) for call in calls)
            for future in as_completed(futures):
                finished(future.result())
                advance()
        except BaseException:
            for future in futures:
                future.cancel()
            raise


@contextmanager
def _bar(total: int, progress: bool) -> Iterator[Callable[[], object]]:
    """A function to call after each run; it does nothing without progress, or without tqdm."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        progress = False
    if not progress:
        yield lambda: None
        return
    with tqdm(total=total, desc="runs", mininterval=1.0) as bar:
        yield bar.update


def _in_turns(cases: Sequence[Case], executor: Executor | None) -> list[Case]:
    """The cases, for an executor with their forms by turns: what begins together does not compile the same code."""
    if executor is None:
        return list(cases)
    before = Counter[str]()
    turns: list[tuple[int, Case]] = []
    for case in cases:
        turns.append((before[case.form], case))
        before[case.form] += 1
    return [case for _, case in sorted(turns, key=lambda turn: turn[0])]


def _same(leaders: Mapping[Case, Case]) -> dict[Case, tuple[str, ...]]:
    """The other formulations that each run stands for."""
    out: dict[Case, tuple[str, ...]] = {leader: () for leader in leaders.values()}
    for case, leader in leaders.items():
        if case != leader:
            out[leader] = (*out[leader], str(case.formulation))
    return out


def _usable(rows: Mapping[Case, Row], limit: float) -> dict[Case, Row]:
    """Stored runs, without those that were given up after a shorter time."""
    again = {case for case, row in rows.items() if row.given_up_after is not None and row.given_up_after < limit}
    return {case: row for case, row in rows.items() if case not in again}


def _reference(
    system: System, t_end: float, wanted: Sequence[Case], given: Reference | None, limit: float, quantity: str
) -> Reference:
    """The reference; a computed one must be good enough."""
    first = wanted[0]
    # what is wrong with the system is said before anything runs, and once
    formulated(system, replace(first, formulation="index-1", rotation="quaternion", velocity="angular"))
    if given is not None:
        return given
    with quiet():
        out = references.reference(
            system, t_end, redundant=first.redundant, hold=first.hold, projection=first.projection, limit=10.0 * limit,
            quantity=quantity,
        )  # fmt: skip
    refuse_disagreement(out, min(case.tolerance for case in wanted))
    return out


def _check_options(system: System, left: Sequence[Case], t_end: float) -> None:
    """A first step with the options of each solver: its adapter refuses by name what it does not have."""
    tried: dict[tuple[str, Any], Case] = {(case.solver, case.options): case for case in left if case.options}
    for case in tried.values():
        warm_up(system, case, t_end, steps=1)


__all__ = ["compare", "compare_cases"]
