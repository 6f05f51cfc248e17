"""`assemble`: a consistent start of a system, with a report of what was found and what had to change."""

from __future__ import annotations

from rbdae import _check
from rbdae.initial.consistent import consistent_state
from rbdae.initial.given import Hold
from rbdae.initial.user_laws import check_user_laws
from rbdae.kernels.constraints.drives import ANGLE
from rbdae.multibody.model import Model, compile_system
from rbdae.problem.assembly_report import Assembly
from rbdae.system import System


def compiled(system: System, t0: float, explicit: bool = False) -> Model:
    """A system in arrays, its laws of motion checked at the initial time; for `explicit` forms, without algebraic
    unknowns of forces, or for others."""
    check_user_laws(system, t0)
    model = compile_system(system, explicit)
    for law in model.rheonomic.values():
        size = 1.0 if law.kind == ANGLE else model.scales.length
        law.motion.check(t0, 1.0 / model.scales.rate, size)
    return model


def assemble(system: System, hold: Hold = (), t0: float = 0.0) -> Assembly:
    """Find a consistent start of a system, and say what was found and what had to change.

    `rbdae.formulate(system, ..., hold=hold)` starts from the same state, and `Problem.assembly` is the same report.
    Here no warning is given: `Assembly.changes` has what had to change.

    Parameters
    ----------
    system : System
    hold : names of bodies, or (name, ``"x"`` | ``"y"`` | ``"z"`` | ``"position"`` | ``"orientation"``)
        What keeps its place, that of the origin of the body frame, and its velocity. Unknown velocities of what is held
        are zero where the joints allow that.
    t0 : float
        Initial time, s.

    Raises
    ------
    ValueError
        A loop cannot be closed (with the gap that remains), or the velocities contradict each other.
    """
    if not isinstance(system, System):
        raise TypeError(
            f"assemble needs a rbdae.System, got {_check.show(system)} of type {type(system).__name__}; make one with "
            "rbdae.System()"
        )
    t0 = _check.number("assemble", "t0", t0)
    return assembled(system, hold, t0)[1]


def assembled(system: System, hold: Hold, t0: float) -> tuple[Model, Assembly]:
    """A system in arrays, and the report of its assembly."""
    model = compiled(system, t0)
    return model, consistent_state(model, t0, hold=hold).assembly


__all__ = ["assemble", "assembled", "compiled"]
