"""The arguments of a study, checked before anything runs."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor

from rbdae import _check
from rbdae.solving.solution import Solution
from rbdae.study.case import Case
from rbdae.study.references import Reference
from rbdae.system import System


def check_system(system: System) -> None:
    """A system with bodies."""
    if not isinstance(system, System):
        raise TypeError(
            f"compare needs a rbdae.System, got {_check.show(system)} of type {type(system).__name__}; make one with "
            "rbdae.System()"
        )
    if not system.bodies:
        raise ValueError("compare: system has no bodies, got " + _check.show(system) + "; add some with add_body")


def checked_reference(reference: Reference | Solution | None, t_end: float, system: System) -> Reference | None:
    """A reference of the system at the end of the runs."""
    if reference is None:
        return None
    if isinstance(reference, Solution):
        reference = Reference.from_solutions(reference)
    if not isinstance(reference, Reference):
        raise TypeError(
            f"reference must be a rbdae.study.Reference or a rbdae.Solution, got {_check.show(reference)}; leave it "
            "out to have it computed"
        )
    if reference.t_end != t_end:
        raise ValueError(f"the reference belongs to t = {reference.t_end:g}, the runs end at {t_end:g}; make a new one")
    if len(reference.states[0].position) != len(system.bodies):
        raise ValueError(
            f"the reference has {len(reference.states[0].position)} bodies, the system {len(system.bodies)}; "
            "make a new one"
        )
    return reference


def checked_cases(chosen: Sequence[Case]) -> list[Case]:
    """Cases, each once, and at least one."""
    if isinstance(chosen, (str, bytes)) or not isinstance(chosen, Iterable):
        raise TypeError(f"chosen must be a list of rbdae.study.Case, got {_check.show(chosen)}; see rbdae.study.cases")
    given = list(chosen)
    for case in given:
        if not isinstance(case, Case):
            raise TypeError(f"chosen must be a list of rbdae.study.Case, got {_check.show(case)} in it; see cases()")
    if not given:
        raise ValueError("chosen must not be empty, got []; rbdae.study.cases() makes a list of cases")
    return list(dict.fromkeys(given))


def check_executor(executor: Executor | None, system: System) -> None:
    """Before any run: an executor can submit, and the system can be sent to its processes."""
    if executor is None:
        return
    if isinstance(executor, type) or not callable(getattr(executor, "submit", None)):
        raise TypeError(
            f"executor must be a concurrent.futures.Executor, got {_check.show(executor)}; pass e.g. "
            "ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('spawn')), or leave it out"
        )
    if not isinstance(executor, ThreadPoolExecutor):
        pickle.dumps(system)


__all__ = ["check_executor", "check_system", "checked_cases", "checked_reference"]
