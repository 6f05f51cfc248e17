"""Comparing formulations, rotations and solvers on one system: final errors, work, drift.

Every row is one run to the same end time. Its error is measured against a reference that another formulation
computed at 1e-13. Two formulations compute one each, and their difference says how far the errors can be trusted.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
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
from rbdae.study.one_run import LIMIT, REPEATS, Row, formulated, run, warm_up
from rbdae.study.provenance import Provenance
from rbdae.study.references import Reference, checked_end, refuse_disagreement
from rbdae.study.same_equations import representatives
from rbdae.study.stored import ResultsFile
from rbdae.system import System, name_in


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
    ImportError
        without cattrs for `resume`, and without cloudpickle for an executor of processes
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
    _check_system(system)
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
    _check_system(system)
    end = checked_end("compare", t_end)
    label = _label(quantity, system)
    given = _checked_reference(reference, end, system, label)
    wanted = _checked_cases(chosen)
    _check.flag("compare", "progress", progress)
    seconds = _check.positive("compare", "limit", limit, "give seconds")
    most = _check.count("compare", "repeats", repeats)
    if executor is not None and (isinstance(executor, type) or not callable(getattr(executor, "submit", None))):
        raise TypeError(
            f"executor must be a concurrent.futures.Executor, got {_check.show(executor)}; pass e.g. "
            "ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('spawn')), or leave it out"
        )
    provenance = Provenance.of(system, {case.solver for case in wanted})
    file = None
    if resume is not None:
        first = wanted[0]
        about = (end, first.redundant, first.hold, first.projection, label)
        file = ResultsFile(resume, provenance.fingerprint, given, about)
        given = _checked_reference(file.reference, end, system, label) or given
    with warnings.catch_warnings():  # of a system, they are given by the reference, once
        warnings.simplefilter("ignore")
        leaders = representatives(system, wanted)
    exact = _reference(system, end, wanted, given, seconds, label)
    todo = [case for case in wanted if leaders[case] == case]
    same = {
        leader: tuple(str(case.formulation) for case in wanted if leaders[case] == leader != case) for leader in todo
    }
    done = {} if file is None else file.usable_rows(seconds)
    left = [case for case in todo if case not in done]
    for case in {(case.solver, case.options): case for case in left if case.options}.values():
        warm_up(system, case, end, steps=1)  # its adapter refuses by name what it does not have
    if file is not None:
        file.begin(exact, provenance)

    def compared() -> Comparison:
        rows = tuple(replace(done[case], same=same[case]) for case in todo if case in done)
        return Comparison(exact, rows, provenance, len(todo) - len(left))

    one = partial(run, system, exact=exact, limit=seconds, repeats=most)
    try:
        for row in _shown(_rows(one, left, executor), len(left), progress):
            done[row.case] = row
            if file is not None:
                file.append(row)
    except KeyboardInterrupt as error:
        error.comparison = compared()  # type: ignore[attr-defined]
        raise
    return compared()


def _rows(one: Callable[[Case], Row], chosen: Sequence[Case], executor: Executor | None) -> Iterator[Row]:
    """Runs in this process, or as they are finished in others. What has not begun is cancelled if anything raises."""
    if executor is None:
        yield from map(one, chosen)
        return
    here = isinstance(executor, ThreadPoolExecutor)
    call: Callable[[Case], Row] = one if here else partial(_run_there, _packed(one))
    # forms by turns: runs that begin together do not compile the same code
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


def _packed(one: Callable[[Case], Row]) -> bytes:
    """A function of a case for other processes, with the users' functions that have no name there."""
    try:
        import cloudpickle  # type: ignore[import-untyped]
    except ImportError:
        raise ImportError("an executor of processes needs cloudpickle: run `pip install cloudpickle`") from None
    out: bytes = cloudpickle.dumps(one)
    return out


def _run_there(content: bytes, case: Case) -> Row:
    """A run in another process."""
    row: Row = pickle.loads(content)(case)
    return row


def _shown(rows: Iterable[Row], total: int, progress: bool) -> Iterable[Row]:
    """Rows with a bar on standard error, if it is asked for and tqdm is installed."""
    if not progress:
        return rows
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return rows
    bar: Iterable[Row] = tqdm(rows, total=total, desc="runs", mininterval=1.0)
    return bar


def _reference(
    system: System, t_end: float, wanted: Sequence[Case], given: Reference | None, limit: float, quantity: str
) -> Reference:
    """The reference; a computed one must be good enough."""
    first = wanted[0]
    # mistakes in the system are said before anything runs, and once
    formulated(system, replace(first, formulation="index-1", rotation="quaternion", velocity="angular"))
    if given is not None:
        return given
    options: dict[str, Any] = {name: getattr(first, name) for name in ("redundant", "hold", "projection")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = references.reference(system, t_end, **options, limit=10.0 * limit, quantity=quantity)
    refuse_disagreement(out, min(case.tolerance for case in wanted))
    return out


# ---------------------------------------------------------------- arguments


def _check_system(system: System) -> None:
    """Refuse what is no system with bodies."""
    if not isinstance(system, System):
        raise TypeError(
            f"compare needs a rbdae.System, got {_check.show(system)} of type {type(system).__name__}; make one with "
            "rbdae.System()"
        )
    if not system.bodies:
        raise ValueError(f"compare: system has no bodies, got {_check.show(system)}; add some with add_body")


def _label(quantity: Quantity | str | None, system: System) -> str:
    """The label of a quantity of the system; "" for None."""
    if quantity is None:
        return ""
    label: object = quantity
    if isinstance(quantity, Quantity):
        label = f"{name_in(system, quantity.owner) or 'of another system'}.{quantity.name}"
    parts: list[Any] = [*system.joints, *system.forces]
    known = sorted(
        f"{each.name}.{name}" for each in parts for name, one in each.quantities.items() if not one.components
    )
    if label not in known:
        raise _check.unknown("quantity", label, known)
    return str(label)


def _checked_reference(
    reference: Reference | Solution | None, t_end: float, system: System, quantity: str
) -> Reference | None:
    """A reference of the system at the end of the runs, for errors of a quantity if there is one."""
    if reference is None:
        return None
    if isinstance(reference, Solution):
        reference = Reference.from_solutions(reference, quantity=quantity)
    if not isinstance(reference, Reference):
        raise TypeError(
            f"reference must be a rbdae.study.Reference or a rbdae.Solution, got {_check.show(reference)}; leave it "
            "out to have it computed"
        )
    for what, own, wanted in (
        ("the time t", reference.t_end, t_end),
        ("errors of the quantity", reference.quantity, quantity),
        ("the number of bodies", len(reference.states[0].position), len(system.bodies)),
    ):
        if own != wanted:
            raise ValueError(f"the reference belongs to {what} = {own!r}, the study to {wanted!r}; make a new one")
    return reference


def _checked_cases(chosen: Sequence[Case]) -> list[Case]:
    """Cases, each once, and at least one."""
    given = list(chosen) if isinstance(chosen, Iterable) else []
    if not given or not all(isinstance(case, Case) for case in given):
        raise (TypeError if given or not isinstance(chosen, Iterable) else ValueError)(
            f"chosen must be a list of rbdae.study.Case, got {_check.show(chosen)}; rbdae.study.cases() makes one"
        )
    return list(dict.fromkeys(given))
