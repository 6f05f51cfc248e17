"""The package itself: its modules, without what they print, and what its return codes mean."""

from __future__ import annotations

import importlib
import re
from functools import cache
from types import ModuleType

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import Reason
from rbdae_adapters.toolkit import GaveUp

Codes = dict[int, tuple[Reason, str]]

HAIRER: Codes = {
    -2: (Reason.TOO_MANY_STEPS, "larger nmax is needed"),
    -3: (Reason.STEP_TOO_SMALL, "step size becomes too small"),
    -4: (Reason.SINGULAR, "matrix is repeatedly singular"),
    -5: (Reason.NOT_FINITE, "the equations are not finite beyond this time"),  # the only case that we report
}
DOPRI5: Codes = HAIRER | {-4: (Reason.STEP_TOO_SMALL, "problem is probably stiff (interrupted)")}
RADAU5_SAYS = {
    "Maximal number of steps": Reason.TOO_MANY_STEPS,
    "Stepsize too small": Reason.STEP_TOO_SMALL,
    "Matrix is repeatedly singular": Reason.SINGULAR,
    "Repeated unexpected step rejections": Reason.NOT_FINITE,  # the only case that we report
}
"""Messages of Radau5ODE from Assimulo 3.3 on, which has return codes of its own."""
LSODAR: Codes = {
    -1: (Reason.TOO_MANY_STEPS, "excess work done"),
    -2: (Reason.STEP_TOO_SMALL, "excess accuracy requested"),
    -4: (Reason.ERROR_TEST, "repeated error test failures"),
    -5: (Reason.NOT_CONVERGED, "repeated convergence failures"),
}
ODASSL: Codes = {
    -1: (Reason.TOO_MANY_STEPS, "a large amount of work has been expended"),
    -2: (Reason.STEP_TOO_SMALL, "the error tolerances are too stringent"),
    -6: (Reason.ERROR_TEST, "repeated error test failures on the last attempted step"),
    -7: (Reason.NOT_CONVERGED, "the corrector could not converge"),
    -8: (Reason.SINGULAR, "the matrix of partial derivatives is singular"),
    -9: (Reason.NOT_CONVERGED, "the corrector could not converge, with repeated error test failures"),
    -10: (Reason.NOT_CONVERGED, "the corrector could not converge because ires was -1"),
}


@cache
def module(name: str) -> ModuleType:
    """A module of Assimulo."""
    return importlib.import_module(f"assimulo.{name}")


def finite(values: Vec) -> bool:
    """Whether all are finite. The Fortran codes do not ask: a NaN makes their step size a NaN."""
    return bool(values.dot(values) < np.inf) or bool(np.isfinite(values).all())


def surrender(code: int, codes: Codes, *, name: str) -> GaveUp:
    """The reason behind a return code, which Fortran calls `name`."""
    reason, meaning = codes.get(code, (Reason.SOLVER, "no reason known"))
    return GaveUp(reason, f"{meaning} ({name} {code})")


def surrender_of_class(error: Exception, codes: Codes) -> GaveUp:
    """The reason behind one of Assimulo's exceptions, most of which tell a flag only."""
    text = str(error) or type(error).__name__
    for words, reason in RADAU5_SAYS.items():
        if words in text:
            return GaveUp(reason, text)
    numbers = re.findall(r"-\d+", str(getattr(error, "value", text)))
    reason, meaning = codes.get(int(numbers[-1]), (Reason.SOLVER, "")) if numbers else (Reason.SOLVER, "")
    return GaveUp(reason, f"{text} ({meaning})" if meaning and meaning not in text else text)


__all__ = ["DOPRI5", "HAIRER", "LSODAR", "ODASSL", "Codes", "finite", "module", "surrender", "surrender_of_class"]
