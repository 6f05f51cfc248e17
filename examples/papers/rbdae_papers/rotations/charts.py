"""[GR95] sections 5 to 10: nine parametrisations of one motion, and their singularities."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

import rbdae
from rbdae import rotations
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, claim, close, expect, near
from rbdae_papers.item import Settings, attempt, item, numbers
from rbdae_papers.null_space.references import errors, heavy_top
from rbdae_papers.null_space.work import evaluations_for

_AXIS: Final = (2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0)
_UNTIL = 7.0
"""A limit beyond a full turn, rad or s."""
_EARLY, _ERROR = 0.05, 1e-9
"""End time of Example A, s, while all charts are regular, and the error of R for which evaluations are counted."""
_COLUMNS = ("chart", "tolerance", "unknowns", "operations", "evaluations", "position error")


def _turned(chart: Any) -> float:
    """The angle through which a body turns about an axis at 1 rad/s before its chart is singular, at most `_UNTIL`."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    system.add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0), pivot=(0.0, 0.0, 0.0), angular_velocity=_AXIS)
    of = rbdae.formulate(system, "index-0", rotation=chart, velocity="angular")
    return float(attempt(of, (0.0, _UNTIL), solver="rbdae:dopri5", rtol=1e-6, atol=1e-6).t[-1])


def _middle(chart: Any) -> float:
    """The middle angle, up to half a turn, at which the tangent operator of three angles is singular."""
    angles = np.linspace(0.1, np.pi - 1e-3, 400)
    sizes = [abs(float(np.linalg.det(chart.tangent((0.3, angle, 0.2))))) for angle in angles]
    return float(angles[int(np.argmin(sizes))])


def _run(how: Settings) -> Finding:
    known = numbers("rotations", "gr-charts")
    rows: list[tuple[Cell, ...]] = []
    wanted = heavy_top((_EARLY,))
    counted = {}
    chart: Any
    for chart in rotations.CHARTS:
        of = rbdae.formulate(rbdae.models.heavy_top(), "index-0", rotation=chart, velocity="angular")
        counted[chart] = of.callbacks.operations("rhs").total
        for tolerance in (1e-6, 1e-7, 1e-8, 1e-9, 1e-10):
            run = rbdae.solve(of, (0.0, _EARLY), solver="rbdae:dopri5", rtol=tolerance, atol=tolerance)
            error = errors(run, wanted).position
            rows.append((chart, tolerance, of.n, counted[chart], run.stats.evaluations, error))
    finding = Finding(_COLUMNS, rows, ())
    work = {chart: evaluations_for(finding, _ERROR, chart=chart) for chart in counted}
    compared: list[Comparison] = [
        expect(f"{chart}: evaluations, R to {_ERROR:g}", work[chart], near(count, 0.1))
        for chart, count in known["evaluations"].items()
    ]
    compared += [expect(f"{chart}: operations", counted[chart], close(n)) for chart, n in known["operations"].items()]
    turned = {chart: _turned(chart) for chart in known["singular"]}
    for chart, (printed, own, says) in known["singular"].items():
        never, quantity = printed > _UNTIL, f"{chart}: turned until it is singular [rad]"
        paper = at_least(_UNTIL) if never else close(printed, 0.01)
        compared.append(claim(quantity, turned[chart], paper, says, expected=close(min(own, _UNTIL), 0.01),
                              why="T grows like 1 / cos(phi)"))  # fmt: skip
    for chart, (printed, own, says) in known["middle"].items():
        found = _middle(getattr(rotations, chart.replace("-", "_")))
        compared.append(claim(f"{chart}: singular middle angle [rad]", found, close(printed, 0.02), says,
                              expected=close(own, 0.02), why="det T is cos(psi)"))  # fmt: skip
    for chart in ("euler-313", "bryant-321", "rotation-vector"):
        ratio = counted[chart] / counted["quaternion"]
        compared.append(claim(f"operations, {chart} : quaternion", ratio, at_least(1.0), "trigonometric: dearer"))
    best = sorted(work, key=work.__getitem__)
    sentence = (
        f"Example A until {_EARLY:g} s, R to {_ERROR:g}: {', '.join(f'{chart} {work[chart]:.0f}' for chart in best)} "
        f"evaluations, of {', '.join(f'{chart} {counted[chart]}' for chart in best)} operations."
    )
    return Finding(_COLUMNS, rows, tuple(compared), sentence=sentence)


ITEM: Final = item("gr-charts", _run)
