"""[SNS15]: one motion by twelve sets of equations with a multiplier and two without, and the multiplier as a check."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import rbdae
from rbdae._arrays import Vec
from rbdae._figure import COLOURS, new_figure
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, at_most, claim, close, expect, near
from rbdae_papers.item import Settings, item, numbers
from rbdae_papers.norm_multipliers import norm_defect, norm_multipliers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INERTIA: Final = (2.0, 3.0, 4.0)
_OMEGA: Final = np.array((1.0, -2.0, 3.0))
_FORCE: Final = np.array((5.0, -3.0, 2.0))
_POINT: Final = np.array((0.3, 0.2, -0.4))
_ORIENTATION: Final = tuple(np.array((6.0, 3.0, -5.0, 2.0)) / np.sqrt(74.0))

_GYROSCOPIC: Final = ("third-order", "fifth-order")
_PULL_BACK: Final = ("homogeneous", "moment", "inhomogeneous")
_RADIAL: Final = ("zero", "half-trace")


def _system(force: Vec = _FORCE) -> rbdae.System:
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    body = system.add_body(
        "body", mass=1.0, inertia=_INERTIA, pivot=(0.0, 0.0, 0.0), orientation=_ORIENTATION, angular_velocity=_OMEGA
    )
    system.add_force(rbdae.forces.Force(body, force, at=_POINT))
    return system


def _by_hand(p: Vec, form: tuple[str, str, str]) -> float:
    """(30), (84), and the part of (69) along p; the square of Omega with J0."""
    gyroscopic, pull_back, radial = form
    x, along = p[1:], p[0] * p[0] - p[1:] @ p[1:]
    turned = along * _POINT + 2.0 * (x @ _POINT) * x + 2.0 * p[0] * np.cross(x, _POINT)  # R u
    la = 2.0 * float(_OMEGA @ (_INERTIA * _OMEGA)) if gyroscopic == "third-order" else 0.0
    la += 0.0 if pull_back == "moment" else 2.0 * float(turned @ _FORCE)
    la += 2.0 * float(_POINT @ _FORCE) if pull_back == "inhomogeneous" else 0.0
    return la + (0.5 * sum(_INERTIA) * float(_OMEGA @ _OMEGA) if radial == "half-trace" else 0.0)


def _degree(problem: rbdae.Problem) -> float:
    """The degree of the gyroscopic term in p and its rates, by scaling the residual at pddot = 0 without a force."""
    y = np.array(problem.y0)
    y[problem.layout.la] = 0.0

    def size(scale: float) -> float:
        at = scale * y
        yd = np.zeros(problem.n)
        rows = problem.residual(0.0, at, yd)[problem.layout.v]
        forced = at.copy()
        forced[problem.layout.v] = 0.0
        return float(np.linalg.norm((rows - problem.residual(0.0, forced, yd)[problem.layout.v])[:3]))

    return float(np.log2(size(2.0) / size(1.0)))


def _change_of_jacobian(pull_back: Any) -> float:
    """The relative difference of the generalised force's Jacobian between two quaternions."""
    of_force = []
    for turned in (0, 1):
        jacobians = []
        for force in (_FORCE, np.zeros(3)):
            of = rbdae.formulate(_system(force), "index-1", velocity="coordinate", pull_back=pull_back)
            y = np.array(of.y0)
            y[:4] = np.roll(y[:4], turned)
            jacobians.append(of.jacobian(0.0, y, np.zeros(of.n), 0.0))
        of_force.append(jacobians[0] - jacobians[1])
    return float(np.abs(of_force[0] - of_force[1]).max() / np.abs(of_force[0]).max())


def _steps(problem: rbdae.Problem, solver: str) -> tuple[int, Vec]:
    """Evaluations of a run of 1 s at 1e-8, and R at its end."""
    run = rbdae.solve(problem, (0.0, 1.0), solver=solver, rtol=1e-8, atol=1e-8)
    matrix: Vec = run.states["body"].orientation[-1].as_matrix()
    return run.stats.evaluations, matrix


def _run(how: Settings) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    found: dict[str, Any] = {"lambda": [], "acceleration": [], "end": []}
    known = numbers("forms", "sns-multipliers")
    forms: list[tuple[Any, tuple[str, str, str]]] = [
        ("index-1", form) for form in product(_GYROSCOPIC, _PULL_BACK, _RADIAL)
    ]
    forms += [(name, ("", "", "")) for name in ("projected-1", "projected-0")]
    for formulation, form in forms:
        named: dict[str, Any] = {
            k: v for k, v in zip(("gyroscopic", "pull_back", "radial_inertia"), form, strict=True) if v
        }
        of = rbdae.formulate(_system(), formulation, velocity="coordinate", **named)
        y = of.y0
        rates, la = of.rates(0.0, y)
        closed = float(norm_multipliers(of, 0.0, y)[0])
        by_hand = _by_hand(y[:4], form) if form[0] else 0.0
        run_value = float(of.run_multipliers(0.0, y)[0]) if form[0] else 0.0
        of_forms = (float(la[0]), closed, run_value)
        spread = max(abs(each - by_hand) for each in of_forms)
        solver = "scipy:RK45" if formulation == "projected-0" else "sksundae:ida"
        evaluations, end = _steps(of, solver) if not how.quick or form[2] in ("", "zero") else (float("nan"), None)
        degree = _degree(of) if formulation != "projected-0" else float("nan")
        rows.append((formulation, *form, by_hand, float(la[0]), closed, degree, of.sparsity.nnz, evaluations))
        found["lambda"].append(spread)
        found["acceleration"].append(np.array(rates[4:8]))
        if end is not None:
            found["end"].append(end)
            label = f"{', '.join(filter(None, form)) or formulation}: evaluations, 1 s at 1e-8"
            compared.append(expect(label, evaluations, near(known["evaluations"][form[0] or formulation], 0.1)))
        entries = known["entries"]["index-1" if form[0] else "projected"]
        compared.append(expect(f"{', '.join(form) or formulation}: entries", of.sparsity.nnz, close(entries)))
        if form == ("third-order", "moment", "zero"):
            found["ratio"] = float(la[0]) / float(of.energy(0.0, y).kinetic)
        if formulation == "projected-1":
            compared.append(expect("projected-1: degree", degree, close(4.0, 1e-9)))
        if form[0]:
            label = ", ".join(form)
            own = close(by_hand, 1e-12 * max(1.0, abs(by_hand)))
            compared.append(expect(f"{label}: lambda [J]", float(la[0]), own))
            printed = known["degrees"][form[0]]
            compared.append(claim(f"{label}: degree", degree, close(printed, 1e-9), f"{printed}"))
    compared.insert(
        0, expect("lambda three ways and by hand, largest difference [J]", max(found["lambda"]), at_most(5e-13))
    )
    first = found["acceleration"][0]
    apart = max(float(np.abs(each - first).max()) for each in found["acceleration"])
    compared.insert(1, claim("accelerations of all forms, difference", apart, at_most(1e-13), "the same"))
    ends = max(float(np.abs(each - found["end"][0]).max()) for each in found["end"])
    compared.insert(2, claim("R after 1 s of all forms, difference", ends, at_most(1e-6), "the same motion"))
    why = "twice holds where the constraint's force is 2 p lambda, here it is p lambda as in (23)"
    compared.append(claim("third-order, moment, zero: lambda : kinetic energy", found["ratio"], close(2.0, 1e-12),
                          "twice", expected=close(4.0, 1e-12), why=why))  # fmt: skip
    compared.append(claim("change of the Jacobian of Q_p2 with p, relative", _change_of_jacobian("inhomogeneous"),
                          at_most(1e-13), "does not depend on p"))  # fmt: skip
    compared.append(claim("change of the Jacobian of 2 L^T n, cubic, with p, relative", _change_of_jacobian("moment"),
                          at_least(0.1), "depends cubically on p"))  # fmt: skip
    columns = (
        "form", "gyroscopic", "pull_back", "radial", "by_hand [J]", "lambda [J]", "closed [J]", "degree", "entries",
        "evaluations",
    )  # fmt: skip
    return Finding(columns, rows, tuple(compared))


_SOLVER: Final = "sksundae:ida"


def _run_check(how: Settings) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    null_space = rbdae.formulate(rbdae.models.heavy_top(), "null-space")
    reference = rbdae.solve(null_space, (0.0, 2.0), solver="rbdae:dop853", rtol=1e-12, atol=1e-12)
    exact = reference.states["top"].orientation[-1].as_matrix()
    for formulation in ("index-1", "index-2", "index-3"):
        sizes, errors = [], []
        for tolerance in (1e-4, 1e-6, 1e-8):
            of = rbdae.formulate(
                rbdae.models.heavy_top(), formulation, velocity="coordinate", gyroscopic="fifth-order",
                pull_back="moment",
            )  # fmt: skip
            run: Any = rbdae.solve(of, (0.0, 2.0), solver=_SOLVER, rtol=tolerance, atol=tolerance)
            defect = np.abs(norm_defect(of, run.t, run.y)["top"])
            sizes.append(float(np.median(defect)))
            errors.append(float(np.abs(run.states["top"].orientation[-1].as_matrix() - exact).max()))
            rows.append((formulation, tolerance, float(defect.max()), sizes[-1], errors[-1]))
        if formulation == "index-1":
            compared.append(expect("index-1, 1e-4: error of R", errors[0], at_least(0.02)))
            why = f"R errs by {errors[0]:.2g} with |lambda| at most {rows[-3][2]:.1g} J, for (24) holds for any p, pdot"
        else:
            why = ""
            compared.append(expect(f"{formulation}: error of R, 1e-4 : 1e-8", errors[0] / errors[2], at_least(30.0)))
        compared.append(claim(f"{formulation}: median |lambda|, 1e-4 : 1e-8", sizes[0] / sizes[2], at_least(30.0),
                              "controls the quality", why=why))  # fmt: skip
    return Finding(("form", "tolerance", "largest [J]", "median [J]", "error"), rows, tuple(compared))


def _draw(finding: Finding) -> Figure:
    figure = new_figure("papers", (8.4, 4.6), layout="constrained")
    axes = figure.subplots()
    shown = [row for row in finding.rows if row[1]]
    names = [f"{row[1]}, {row[2]}, J0 {row[3]}" for row in shown]
    values = [float(row[5]) for row in shown]
    axes.barh(names, values, color=[COLOURS[_GYROSCOPIC.index(str(row[1]))] for row in shown], height=0.6)
    for name, value in zip(names, values, strict=True):
        axes.annotate(f" {value:.7g}" if abs(value) > 1e-9 else " 0", (value, name), va="center", fontsize="small")
    axes.set_xlim(0.0, 1.15 * max(values))
    axes.invert_yaxis()
    axes.set_xlabel("multiplier of the unit norm [J]")
    axes.tick_params(labelsize="small")
    axes.grid(True, axis="x", alpha=0.3)
    figure.suptitle("One motion, twelve multipliers, [SNS15]", fontsize="medium")
    return figure


def _draw_check(finding: Finding) -> Figure:
    figure = new_figure("papers", (6.4, 4.6), layout="constrained")
    axes = figure.subplots()
    for k, form in enumerate(finding.values("form")):
        errors, sizes = (finding.column(name, form=form) for name in ("error", "median"))
        axes.loglog(errors, np.maximum(sizes, 1e-16), color=COLOURS[k], marker="o^s"[k], label=form)
    axes.set_xlabel("largest error of R after 2 s")
    axes.set_ylabel("median of |λ| [J]")
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize="small", frameon=False)
    figure.suptitle(
        "λ = 0 of (23) along runs by IDA, tolerances 1e-4, 1e-6, 1e-8; [SNS15] section 3", fontsize="medium"
    )
    return figure


TABLE: Final = item("sns-multipliers", _run, _draw)
CHECK: Final = item("sns-check", _run_check, _draw_check)
