"""[BS09] Figure 1: the free body; invariants at large steps, and the error over the step size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from rbdae_papers.finding import Cell, Comparison, Finding, at_most, claim, close, expect, near
from rbdae_papers.hamiltonian.drawing import draw_kept_and_errors
from rbdae_papers.hamiltonian.schemes import SCHEMES, changes, error, order, run
from rbdae_papers.item import Settings, item, numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_KEPT = 1e-13


def _run(how: Settings) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    known = numbers("hamiltonian", "bs-fig-1")
    kept_by_all = 0.0
    for size, wanted in known["reached"].items():
        step, ends = float(size), []
        for scheme in SCHEMES:
            solution = run("free body", scheme, step, 10.0)
            kept = changes(solution)
            largest = max(float(np.abs(values).max()) for values in kept.values())
            if solution.success:
                ends.append(scheme)
            kept_by_all = max(kept_by_all, largest)
            if scheme == "QUAT.EM" and step == 0.05:
                rows += [
                    ("kept", scheme, step, float(t), *(float(values[k]) for values in kept.values()))
                    for k, t in enumerate(solution.t)
                ]
                quantity = "QUAT.EM, 0.05 s: largest change of energy and momentum"
                compared.append(claim(quantity, largest, at_most(_KEPT), "conserves both"))
            elif len(solution.t) > 1:
                compared.append(expect(f"{scheme}, {step:g} s: largest change until it ends", largest, at_most(_KEPT)))
        compared.append(expect(f"{step:g} s: schemes that reach 10 s", len(ends), close(len(wanted))))
        compared.append(expect(f"{step:g} s: others than expected", len({*ends} ^ {*wanted}), close(0)))
    after = {}
    for scheme, expected in known["errors"].items():
        steps = known["steps"][: 3 if how.quick else None]
        errors = [error("free body", run("free body", scheme, step, 1.0)) for step in steps]
        rows += [("error", scheme, h, 1.0, e, 0.0, 0.0, 0.0) for h, e in zip(steps, errors, strict=True)]
        after[scheme] = errors[2]
        compared.append(expect(f"{scheme}: error after 1 s, steps of 1e-3 s", errors[2], near(expected, 0.02)))
        compared.append(claim(f"{scheme}: order", order(steps, errors), close(known["order"], 0.05), "2"))
    remarks = (
        "A run that cannot go further ends with "
        "what it has, which is exact: ALGO.C1 and QUAT.EM at half a turn in a step, QUAT.VI where h Omega is above 1.",
    )
    return Finding(
        ("what", "scheme", "step [s]", "t [s]", "value", "L1", "L2", "L3"), rows, tuple(compared), remarks=remarks,
        sentence=f"Both are kept to {kept_by_all:.0e} by every scheme as far as it runs, with steps up to {step:g} s; "
        f"after 1 s with {steps[2]:g} s {min(after, key=after.__getitem__)} errs least, by {min(after.values()):.2g}.",
    )  # fmt: skip


def _draw(finding: Finding) -> Figure:
    return draw_kept_and_errors(
        finding,
        "Free body, [BS09] Figure 1",
        ("value", "L1", "L2", "L3"),
        "QUAT.EM, 0.05 s: energy and momentum",
        "|R_ref Rᵀ - I|",
        3e2,
    )


ITEM: Final = item("bs-fig-1", _run, _draw)
