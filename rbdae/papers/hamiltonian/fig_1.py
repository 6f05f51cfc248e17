"""[BS09] Figure 1: the free body; what the schemes keep at large steps, and the error over the step size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rbdae.papers.finding import Cell, Comparison, Finding, at_most, close, near
from rbdae.papers.hamiltonian.drawing import draw_kept_and_errors
from rbdae.papers.hamiltonian.schemes import SCHEMES, changes, error, order, run
from rbdae.papers.item import Item

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LARGE: Final = (0.05, 0.1, 0.2)
_ENDS: Final[dict[float, tuple[str, ...]]] = {
    0.05: ("QUAT.EM", "QUAT.EM-R", "DIR.EM", "ALGO.C1"),
    0.1: ("QUAT.EM", "QUAT.EM-R", "DIR.EM"),
    0.2: ("QUAT.EM-R", "DIR.EM"),
}
"""The schemes that reach 10 s with a step; the others end with what they have, and say why."""

_ERRORS: Final = {"ALGO.C1": 1.12e-3, "QUAT.EM": 1.45e-3, "DIR.EM": 2.91e-3, "QUAT.EM-R": 3.36e-3, "QUAT.VI": 5.82e-3}
"""After 1 s with steps of 1e-3 s."""
_STEPS: Final = (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4)
_KEPT = 1e-13


def _run(quick: bool) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    for step in _LARGE:
        ends = []
        for scheme in SCHEMES:
            found = run("free body", scheme, step, 10.0)
            kept = changes(found)
            largest = max(float(np.abs(values).max()) for values in kept.values())
            if found.success:
                ends.append(scheme)
            compared.append(at_most(f"{scheme}, {step:g} s: largest change until it ends", largest, _KEPT))
            if scheme == "QUAT.EM" and step == 0.05:
                rows += [
                    ("kept", scheme, step, float(t), *(float(values[k]) for values in kept.values()))
                    for k, t in enumerate(found.t)
                ]
                compared[-1] = at_most("QUAT.EM, 0.05 s: largest change of energy and momentum", largest, _KEPT,
                                       says="conserves both")  # fmt: skip
        reached = float(sum(scheme in ends for scheme in _ENDS[step]) - len(set(ends) - set(_ENDS[step])))
        compared.append(close(f"{step:g} s: schemes that reach 10 s", reached, len(_ENDS[step])))
    for scheme, expected in _ERRORS.items():
        steps = [*_STEPS[: 3 if quick else None]]
        errors = [error("free body", run("free body", scheme, step, 1.0)) for step in steps]
        rows += [("error", scheme, h, 1.0, e, 0.0, 0.0, 0.0) for h, e in zip(steps, errors, strict=True)]
        compared.append(near(f"{scheme}: error after 1 s, steps of 1e-3 s", errors[2], expected, 0.02))
        compared.append(close(f"{scheme}: order", order(steps, errors), 2.0, 0.05, says="2"))
    remarks = (
        "With 0.1 s the body turns by 3 rad in a step, with 0.2 s by 6 rad. A run that cannot go further ends with "
        "what it has, which is exact: ALGO.C1 and QUAT.EM at half a turn in a step, QUAT.VI where h Omega is above 1.",
    )
    return Finding(
        ("what", "scheme", "step [s]", "t [s]", "value", "L1", "L2", "L3"), rows, tuple(compared), remarks=remarks
    )


def _draw(finding: Finding) -> Figure:
    return draw_kept_and_errors(
        finding,
        "Free body, [BS09] Figure 1",
        ("value", "L1", "L2", "L3"),
        "QUAT.EM, 0.05 s: energy and momentum",
        "|R_ref Rᵀ - I|",
        3e2,
    )


ITEM: Final = Item(
    name="bs-fig-1",
    paper="hamiltonian",
    place="Figure 1",
    says="QUAT.EM conserves energy and angular momentum of a free body with the large step 0.05 s, and all four "
    "schemes are of second order.",
    verdict="agrees",
    why="Both are kept to 1e-14, and with 0.1 and 0.2 s, 3 and 6 rad in a step, by every scheme as far as it runs; "
    "after 1 s ALGO.C1 errs least.",
    run=_run,
    draw=_draw,
)

__all__ = ["ITEM"]
