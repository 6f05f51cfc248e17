"""The arguments of a study, checked before anything runs."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor

from rbdae import _check
from rbdae.forces.base import AbstractForce
from rbdae.joints.base import AbstractJoint
from rbdae.quantities.quantity import Quantity
from rbdae.solving.solution import Solution
from rbdae.study.case import Case
from rbdae.study.references import Reference
from rbdae.system import System, name_in


def check_system(system: System) -> None:
    """A system with bodies."""
    if not isinstance(system, System):
        raise TypeError(
            f"compare needs a rbdae.System, got {_check.show(system)} of type {type(system).__name__}; make one with "
            "rbdae.System()"
        )
    if not system.bodies:
        raise ValueError("compare: system has no bodies, got " + _check.show(system) + "; add some with add_body")


def checked_quantity(quantity: Quantity | str | None, system: System) -> str:
    """The label of a quantity of the system; "" for none."""
    if quantity is None:
        return ""
    owner = name_in(system, quantity.owner) if isinstance(quantity, Quantity) else None
    label = f"{owner}.{quantity.name}" if isinstance(quantity, Quantity) else quantity
    if not isinstance(label, str) or (isinstance(quantity, Quantity) and owner is None):
        raise TypeError(
            f"compare: quantity must be one of the system's joints or forces, got {_check.show(quantity)}; pass e.g. "
            "pin.angle or 'pin.angle'"
        )
    parts: list[AbstractJoint | AbstractForce] = [*system.joints, *system.forces]
    known = {f"{each.name}.{name}" for each in parts for name, one in each.quantities.items() if not one.components}
    if label not in known:
        raise _check.unknown("quantity", label, sorted(known))
    return label


def checked_reference(
    reference: Reference | Solution | None, t_end: float, system: System, quantity: str = ""
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
    if reference.t_end != t_end:
        raise ValueError(f"the reference belongs to t = {reference.t_end:g}, the runs end at {t_end:g}; make a new one")
    if reference.quantity != quantity:
        raise ValueError(
            f"the reference is for errors of {reference.quantity or 'the motion'}, the study for those of "
            f"{quantity or 'the motion'}; make it with quantity={quantity!r}"
        )
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


__all__ = ["check_executor", "check_system", "checked_cases", "checked_quantity", "checked_reference"]
