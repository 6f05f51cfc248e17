"""A projection that keeps the angular velocity, compared with [NS] (63): Example A slow and fast, and tops on
joints."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import rbdae
from rbdae._arrays import Mat
from rbdae._figure import COLOURS, new_figure
from rbdae.formulations.table import FormulationName
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, at_most, claim, expect, near
from rbdae_papers.item import Settings, attempt, item, missing, numbers
from rbdae_papers.null_space.equations import FORMS, NAMES, PROJECTIONS
from rbdae_papers.null_space.references import Motion, heavy_top
from rbdae_papers.null_space.work import COLUMNS as WORK
from rbdae_papers.null_space.work import evaluations_for, work_precision
from rbdae_papers.panels import framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TOLERANCE: Final = 1e-6
_MOMENTA: Final = "momenta"
_FORMS: Final[dict[str, tuple[FormulationName, dict[str, Any]]]] = {
    **FORMS,
    _MOMENTA: ("hamiltonian-eliminated", {"rotation": "quaternion", "velocity": "momentum"}),
    "index 1": ("index-1", {"rotation": "quaternion", "velocity": "coordinate"}),
    "index 2": ("index-2", {"rotation": "directors", "velocity": "coordinate"}),
}
_CASES: Final[dict[str, tuple[Any, float]]] = {
    "A, 20 rad/s": (lambda: rbdae.models.heavy_top(), 10.0),
    "A, 100 rad/s": (lambda: rbdae.models.heavy_top(angular_velocity=(0.0, 0.0, 100.0)), 5.0),
    "A, 500 rad/s": (lambda: rbdae.models.heavy_top(angular_velocity=(0.0, 0.0, 500.0)), 2.0),
    "top of [BC10], spherical joint": (lambda: rbdae.models.bruels_cardona_top(), 2.0),
    "gyro top, spherical joint": (lambda: _gyro_top(), 2.0),
}
"""Systems with end times."""

_THREE: Final = ("scipy:RK45", "scipy:DOP853", "scipy:BDF")
_ODE: Final = (
    *_THREE, "scipy:RK23", "scipy:Radau", "scipy:LSODA", "rbdae:dopri5", "rbdae:dop853", "rbdae:odex",
    "sundials:cvode Adams", "sundials:cvode BDF", "sksundae:cvode", "scikits.odes:cvode", "assimulo:Dopri5",
    "assimulo:RodasODE", "assimulo:Radau5ODE", "assimulo:LSODAR",
)  # fmt: skip
_DAE: Final = (
    "sundials:ida", "scikits.odes:ddaspk", "scikits.odes:ida", "sksundae:ida", "assimulo:Radau5DAE", "assimulo:ODASSL",
    "solve_dae:Radau", "solve_dae:BDF",
)  # fmt: skip
_WORST: Final = 3.0
"""Largest allowed ratio of errors, since a single run's error may be small by chance."""

_LEVELS: Final = (1e-3, 1e-5)


def _gyro_top() -> rbdae.System:
    """The gyro top of [BS09] with its tip held by a joint."""
    (held,) = rbdae.models.gyro_top().bodies
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    top = system.add_body(
        "top", mass=held.mass, inertia=held.central_inertia, center_of_mass=held.center_of_mass, position=(0, 0, 0),
        orientation=held.orientation, angular_velocity=held.angular_velocity,
    )  # fmt: skip
    system.add_joint(rbdae.joints.Spherical(system.ground, top))
    return system


@cache
def _problem(case: str, form: str) -> rbdae.Problem:
    formulation, chosen = _FORMS[form]
    return rbdae.formulate(_CASES[case][0](), formulation, **chosen)


@cache
def _reference(case: str) -> Mat:
    """R at the end."""
    t_end = _CASES[case][1]
    if case.startswith("A"):
        return np.reshape(heavy_top((t_end,), float(case.split()[1])).position[-1], (3, 3))
    run = rbdae.solve(_problem(case, "q42"), (0.0, t_end), solver="rbdae:dop853", rtol=1e-12, atol=1e-12)
    return _end(run)


def _end(run: rbdae.Solution) -> Mat:
    (body,) = run.states.values()
    R: Mat = body.orientation[-1].as_matrix()
    return R


def _plan(how: Settings) -> list[tuple[str, str, str]]:
    """Cases, forms and solvers."""
    slow, _, fast, joint, gyro = _CASES
    if how.quick:
        return [(slow, "q40", "scipy:RK45"), (fast, "q40", "scipy:RK45"), (joint, _MOMENTA, "rbdae:dopri5")]
    tops = [(case, form, solver) for case in (joint, gyro) for form in ("q40", _MOMENTA) for solver in _THREE]
    return [
        *((slow, "q40", solver) for solver in _ODE),
        *((slow, form, solver) for form in ("d23", _MOMENTA) for solver in _THREE),
        *((slow, form, solver) for form in ("index 1", "index 2") for solver in _DAE),
        *((case, form, solver) for case in list(_CASES)[1:3] for form in ("q40", "d23", _MOMENTA) for solver in _THREE),
        *tops,
        *((joint, "index 2", solver) for solver in ("sundials:ida", "assimulo:Radau5DAE")),
    ]


def _row(case: str, form: str, solver: str, projection: str) -> tuple[Cell, ...]:
    of, name = _problem(case, form), solver.split()[0]
    lmm = {"lmm": "adams" if "Adams" in solver else "bdf"} if name.endswith("cvode") else {}
    run = attempt(
        of, (0.0, _CASES[case][1]), solver=name, rtol=_TOLERANCE, projection=PROJECTIONS[projection],
        atol=rbdae.scaled_atol(of, _TOLERANCE), **lmm,
    )  # fmt: skip
    error = float(np.abs(_end(run) - _reference(case)).max()) if run.success else float("nan")
    change = float(run.energy.total[-1] / run.energy.total[0] - 1.0)
    return case, form, solver, projection, error, change, run.stats.evaluations


def _run(how: Settings) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    planned = _plan(how)
    lacking = missing(dict.fromkeys(solver.split()[0] for *_, solver in planned))
    for case, form, solver in planned:
        if not missing((solver.split()[0],)):
            rows += [_row(case, form, solver, projection) for projection in PROJECTIONS]
    for case in dict.fromkeys(case for case, *_ in planned):
        rows += [(*row[:3], "null space", *row[4:]) for row in [_row(case, "q42", "scipy:RK45", "no")]]
    columns = ("example", "form", "solver", "projection", "error of R", "change of energy", "evaluations")
    finding = Finding(columns, rows, ())
    compared = [*_runs(finding), *_work(how)]
    ratios, none, work = (
        [one.found for one in compared if word in one.quantity]
        for word in ("Omega : (63)", "Omega : none", "Omega : q42")
    )
    sentence = (
        f"(63) changes Omega by the factor |p*|. With pdot divided as well the error is {min(ratios):.1g} to "
        f"{max(ratios):.1g} times that with (63), the median {np.median(ratios):.1g}, and {min(none):.1g} to "
        f"{max(none):.1g} times that without projection, at the same evaluations. For the same error of R index 0 then "
        f"takes {min(work):.2f} to {max(work):.2f} times the evaluations of the null space."
    )
    return Finding(columns, rows, tuple(compared), lacking, (_LEGEND,), sentence)


_LEGEND: Final = "; ".join(f"{form}: {NAMES[form]}" for form in ("q40", "d23", "q42")) + (
    "; momenta: hamiltonian-eliminated in quaternions; index 1 in quaternions, index 2 in directors, with rates of "
    "coordinates"
)


def _runs(finding: Finding) -> list[Comparison]:
    out: list[Comparison] = []
    for case, form, solver in dict.fromkeys(tuple(row[:3]) for row in finding.rows if row[3] != "null space"):
        none, paper, kept = (
            finding.select(example=case, form=form, solver=solver, projection=projection)[0]
            for projection in PROJECTIONS
        )
        where = f"{case}, {form}, {solver}"
        if (case, form, solver) == ("A, 500 rad/s", "q40", "scipy:RK45"):
            says = "(63, P) does affect the kinetic energy"
            out.append(claim(f"{where}: change of energy with (63)", abs(float(paper[5])), at_least(1e-5), says))
            bound = at_most(1e-9)
            out.append(expect(f"{where}: change of energy, keeping Omega", abs(float(kept[5])), bound))
        ratios = [float(kept[4]) / float(other[4]) for other in (paper, none)]
        out.append(expect(f"{where}: error, keeping Omega : (63)", ratios[0], at_most(_WORST)))
        out.append(expect(f"{where}: error, keeping Omega : none", ratios[1], at_most(_WORST)))
    return out


def _work(how: Settings) -> list[Comparison]:
    """Index 0 with constant Omega compared with the null space."""
    end = Motion(*(values[-1:] for values in heavy_top((10.0,))))
    out = []
    known = numbers("null_space", "ns-omega")
    for solver in ("rbdae:dopri5",) if how.quick else known:
        kept, null = (
            Finding(WORK, work_precision("A", 10.0, solver, (form,), wanted=end, projection=projection), ())
            for form, projection in (("q40", rbdae.Projection()), ("q42", None))
        )
        for error, expected in zip(_LEVELS, known[solver], strict=True):
            ratio = evaluations_for(kept, error, form="q40") / evaluations_for(null, error, form="q42")
            quantity = f"A, 20 rad/s, {solver}: evaluations, q40 keeping Omega : q42, R to {error:.0e}"
            out.append(expect(quantity, ratio, near(expected, 0.1)))
    return out


def _draw(finding: Finding) -> Figure:
    names = list(dict.fromkeys(f"{row[0]}, {row[1]}, {row[2]}" for row in finding.rows if row[3] != "null space"))
    figure = new_figure("papers", (9.0, 1.6 + 0.19 * len(names)), layout="constrained")
    axes = figure.subplots()
    for k, (projection, label) in enumerate((("no", "none"), ("yes", "(63)"), ("keeps Ω", "keeps Ω"))):
        errors = [float(row[4]) for row in finding.rows if row[3] == projection]
        axes.semilogx(errors, range(len(names)), "o^D"[k], color=COLOURS[k], markersize=4.5, linestyle="", label=label)
    axes.set_yticks(range(len(names)), names, fontsize="x-small")
    axes.set_ylim(len(names) - 0.5, -0.5)
    framed(axes, "", "largest error of R at the end, tolerance 1e-6", "")
    axes.legend(fontsize="small", frameon=False)
    figure.suptitle("Projection after every step: none, [NS] (63), and with pdot / |p*|", fontsize="medium")
    return figure


ITEM: Final = item("ns-omega", _run, _draw)
