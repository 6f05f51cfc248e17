"""From a system to a problem: checks the choices, makes the initial values consistent."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Literal

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.formulations import FORMULATIONS, GAUGED, SPELLINGS, Formulation
from rbdae.formulations.gauge import gradient
from rbdae.gauges import Gauge, measure
from rbdae.kernels import block as kb
from rbdae.model import Model, compile_system, rotation_matrices
from rbdae.problem import Problem, joint_row
from rbdae.projection import Projection, ProjectionError
from rbdae.quantities import angular_velocities
from rbdae.rotations import CHARTS, Chart
from rbdae.system import System
from rbdae.workspace import Settings, Workspace

RadialInertia = Literal["zero", "half-trace"]

_CONSTRAINTS = {
    "position": "hamiltonian",
    "momentum": "hamiltonian-momentum",
    "differentiated": "hamiltonian-differentiated",
    "eliminated": "hamiltonian-eliminated",
}

# violations of the given initial values up to here count as consistent
_CHECK = 1e-8


def _nearest(what: str, name: object, known: Iterable[str]) -> ValueError:
    known = list(known)
    close = difflib.get_close_matches(str(name), known, n=3, cutoff=0.4)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
    return ValueError(f"unknown {what} {name!r}{hint} Known: {', '.join(known)}")


def _formulation(name: str, constraint: str | None) -> Formulation:
    name = SPELLINGS.get(name, name) if isinstance(name, str) else name
    if not isinstance(name, str) or name not in FORMULATIONS:
        raise _nearest("formulation", name, FORMULATIONS)
    if constraint is not None:
        if name != "hamiltonian":
            raise ValueError(f"constraint={constraint!r} belongs to the formulation 'hamiltonian', not to {name!r}")
        if not isinstance(constraint, str) or constraint not in _CONSTRAINTS:
            raise _nearest("constraint of 'hamiltonian'", constraint, _CONSTRAINTS)
        name = _CONSTRAINTS[constraint]
    return FORMULATIONS[name]


def _velocity(formulation: Formulation, chart: Chart, velocity: str | None) -> str:
    if chart.name not in formulation.rotations:
        raise ValueError(
            f"{formulation.name} has no form in rotation {chart.name!r}; it has {', '.join(formulation.rotations)}"
        )
    if velocity is None:
        return formulation.velocities[0]
    if velocity not in formulation.velocities:
        raise ValueError(
            f"{formulation.name} has no form with velocity {velocity!r}; it has {', '.join(formulation.velocities)}"
        )
    if velocity == "coordinate" and chart.kind is None:
        charts = ", ".join(c.name for c in CHARTS.values() if c.kind is not None)
        raise ValueError(f"velocity 'coordinate' is for {charts}; with {chart.name!r} use velocity='angular'")
    return formulation.velocities[0] if formulation.momenta else velocity


def pairings() -> list[tuple[str, str, str]]:
    """All (formulation, rotation, velocity) that make sense."""
    return [
        (f.name, c.name, v)
        for f in FORMULATIONS.values()
        for c in CHARTS.values()
        if c.name in f.rotations
        for v in (f.velocities[:1] if f.momenta else f.velocities)
        if not (v == "coordinate" and c.kind is None)
    ]


def formulate(
    system: System,
    formulation: str = "index-2",
    *,
    rotation: str = "quaternion",
    velocity: str | None = None,
    consistent: Literal["project", "check"] = "project",
    constraint: str | None = None,
    radial_inertia: RadialInertia = "zero",
    alpha: float | None = None,
    beta: float | None = None,
    t0: float = 0.0,
) -> Problem:
    """Write the equations of a system.

    Parameters
    ----------
    system : System
    formulation : str
        ``"index-3"``, ``"index-2"``, ``"index-1"``, ``"index-0"``, ``"ggl"``, ``"hiller-anantharaman"``,
        ``"baumgarte"`` (``"baumgarte-ode"``), ``"overdetermined"`` (``"overdetermined-2"``), ``"null-space"``,
        ``"hamiltonian"`` (and the spellings ``"ind3"``, ``"ggl2"``, ``"ovstab1"``, ... of Assimulo). Also
        ``"hamiltonian-momentum"``, ... for the values of `constraint`.
    rotation : str
        ``"quaternion"``, ``"directors"``, ``"euler-313"``.
    velocity : str
        ``"angular"`` (default): v = (xdot, Omega), material Omega; ``"coordinate"``: v = qdot (quaternion, directors).
        The Hamiltonian forms have momenta.
    consistent : ``"project"`` or ``"check"``
        Project initial positions and velocities onto the constraints (mass metric), or refuse inconsistent ones with
        the size of the violation.
    constraint : str
        For ``"hamiltonian"``: ``"position"`` (default), ``"momentum"``, ``"differentiated"``, ``"eliminated"``.
    radial_inertia : ``"zero"`` or ``"half-trace"``
        J0 of the quaternion mass of the coordinate forms: 0 (null-space paper) or tr(J)/2 (Hamiltonian paper, whose
        forms always have it). The motion is the same, the multiplier of the unit norm differs.
    alpha, beta : float
        Of the Baumgarte forms, gddot + 2 alpha gdot + beta^2 g = 0, 1/s; both 10 where they are not given, which is
        right for motions that take about a second.
    t0 : float
        Initial time, s.

    Returns
    -------
    Problem

    Raises
    ------
    ValueError
        A name is unknown, choices do not go together, the chart is singular at the start, or the initial values are
        inconsistent (``"check"``).
    ProjectionError
        The constraints cannot be satisfied near the initial values, or are redundant.
    """
    if not isinstance(system, System):
        raise TypeError(f"formulate needs a System, got {type(system).__name__}")
    form = _formulation(formulation, constraint)
    if not isinstance(rotation, str) or rotation not in CHARTS:
        raise _nearest("rotation", rotation, CHARTS)
    chart = CHARTS[rotation]
    speed = _velocity(form, chart, velocity)
    if consistent not in ("project", "check"):
        raise _nearest("value of consistent", consistent, ("project", "check"))
    if radial_inertia not in ("zero", "half-trace"):
        raise _nearest("radial_inertia", radial_inertia, ("zero", "half-trace"))
    damping = _baumgarte(form, alpha, beta)
    t0 = _check.number("formulate", "t0", t0)

    for joint in system.joints:
        law = joint.rheonomic()
        if law is not None:
            law.motion.check(t0)
    model = compile_system(system)
    if form.momenta and chart.kind == kb.DIRECTOR_RATE:
        _refuse_singular_director_mass(model)
    x, p, xd, om = _consistent_start(model, consistent == "check", t0)
    kind = kb.ANGULAR if speed == "angular" or chart.kind is None else chart.kind
    gauge = None
    if form.reduced and not _is_spherical_tree(model):
        form = GAUGED[form.name]
        gauge = _first_gauge(model, x, p, xd, om, t0)
    settings = Settings(
        chart=chart.number,
        kind=kind,
        momenta=form.momenta,
        reduced=form.reduced,
        level=form.level,
        corrected=form.corrected,
        integral=form.integral,
        baumgarte=damping,
        radial=1.0 if radial_inertia == "half-trace" else 0.0,
        gauge=gauge,
    )
    workspace = Workspace(model, settings)
    problem = Problem(model, form, chart, speed, workspace, t0)
    _fill_start(problem, model, form, chart, kind, workspace, x, p, xd, om)
    return problem


def _baumgarte(form: Formulation, alpha: float | None, beta: float | None) -> tuple[float, float] | None:
    if not form.baumgarte:
        if alpha is not None or beta is not None:
            raise ValueError(f"alpha and beta are Baumgarte's parameters; {form.name} has none, leave them out")
        return None
    values = {"alpha": 10.0 if alpha is None else alpha, "beta": 10.0 if beta is None else beta}
    for name, value in values.items():
        if _check.number("formulate", name, value) < 0.0:
            raise ValueError(
                f"formulate: {name} must not be negative (constraint violations would grow), got {value:g}"
            )
    return float(values["alpha"]), float(values["beta"])


def _is_spherical_tree(model: Model) -> bool:
    """Whether T is known in closed form: spherical joints of free bodies, no loop, nothing that moves by itself."""
    tree = model.tree
    return (
        not tree.closing
        and not len(model.drives)
        and all(
            [bool(model.primitives[i]["linear"]) for i in model.joints[k].primitives] == [True]
            and model.bodies["nt"][b] == 3
            for b, k in enumerate(tree.joint)
            if k >= 0
        )
    )


def _first_gauge(model: Model, x: Mat, p: Mat, xd: Mat, om: Mat, t0: float) -> Gauge:
    """From the null space at the start."""
    chart = CHARTS["quaternion"]
    workspace = Workspace(model, Settings(chart=chart.number, kind=kb.ANGULAR))
    sizes = workspace.sizes()
    G = np.zeros((sizes["n_rows"], sizes["n_v"]))
    workspace.compiled(gradient)(t0, _angular_start(model, range(model.n), x, list(p), xd, om), G)
    metric = measure(model)
    row = metric.dependent(G)
    if row is not None:
        name = joint_row(model, row)
        raise ProjectionError(
            f"t = {t0:g}: the constraints are redundant or singular, first at {name}; remove the redundant joint "
            "equation or move away from the singular position"
        )
    return metric.choose(G)


def _refuse_singular_director_mass(model: Model) -> None:
    for k, name in enumerate(model.names):
        if np.isnan(model.bodies["euler_inverse"][k]).any():
            raise ValueError(
                f"body {name!r}: its Euler tensor tr(J)/2 I - J is singular (a flat body), so the director mass has no "
                "inverse; use rotation='quaternion'"
            )


def _consistent_start(model: Model, check: bool, t0: float) -> tuple[Mat, Mat, Mat, Mat]:
    """(x, p, xdot, Omega) on the constraint manifold: one path for all formulations, in quaternions with angular
    velocities, so that all start from the same state."""
    chart = CHARTS["quaternion"]
    settings = Settings(chart=chart.number, kind=kb.ANGULAR)
    workspace = Workspace(model, settings)
    problem = Problem(model, FORMULATIONS["index-0"], chart, "angular", workspace, t0)
    y = _angular_start(model, range(model.n), model.x, list(model.p), model.xd, model.om)
    if check:
        violation = problem.constraints(t0, y)
        sizes = [float(np.max(np.abs(g), initial=0.0)) for g in (violation.position, violation.velocity)]
        if max(sizes) > _CHECK:
            raise ValueError(
                f"inconsistent initial values: constraint violation {sizes[0]:.3g} in positions, {sizes[1]:.3g} "
                "in velocities (SI units); correct them, or let formulate project them with consistent='project'"
            )
    y = problem.project(t0, y, Projection(max_iterations=50))
    natural = problem.natural(t0, y)
    p = np.array([_quaternion(workspace, y, k) for k in range(model.n)])
    return natural[:, :3], p, natural[:, 12:15], angular_velocities(natural)


def _quaternion(workspace: Workspace, y: Vec, k: int) -> Vec:
    """Quaternion of body k in a quaternion chart."""
    first = 0
    for i in range(k + 1):
        first += int(workspace.model.bodies["nt"][i])
        if i < k:
            first += 4
    return y[first : first + 4]


def _angular_start(
    model: Model, order: Iterable[int], x: Mat, parameters: list[Vec], xd: Mat, om: Mat, reduced: bool = False
) -> Vec:
    order = list(order)
    free = model.bodies["nt"] == 3
    q = [part for b in order for part in ((x[b], parameters[b]) if free[b] else (parameters[b],))]
    v = []
    for b in order:
        if free[b] and not (reduced and model.tree.parent[b] >= 0):
            v.append(xd[b])
        v.append(om[b])
    return np.concatenate([*q, *v])


def _fill_start(
    problem: Problem,
    model: Model,
    form: Formulation,
    chart: Chart,
    kind: int,
    workspace: Workspace,
    x: Mat,
    p: Mat,
    xd: Mat,
    om: Mat,
) -> None:
    """y0 and yd0 of a problem, and its consistent multipliers."""
    R = rotation_matrices(p)
    parameters = []
    for b, name in enumerate(model.names):
        a = chart.parameters(p[b], R[b])
        wrong = chart.singular(a)
        if wrong:
            raise ValueError(f"body {name!r}: {wrong}; start from another orientation or use rotation='quaternion'")
        parameters.append(a)
    n = problem.layout.v.stop
    if kind == kb.ANGULAR:
        gauge = workspace.settings.gauge
        y = _angular_start(model, workspace.order, x, parameters, xd, om, form.reduced and gauge is None)
        if gauge is not None:
            q = problem.layout.q.stop
            y = np.concatenate([y[:q], gauge.S @ y[q:]])
    else:
        rates = [_rotation_rate(model, form, kind, b, p[b], R[b], om[b]) for b in range(model.n)]
        free = model.bodies["nt"] == 3
        q = [part for b in range(model.n) for part in ((x[b], parameters[b]) if free[b] else (parameters[b],))]
        v = []
        for b in range(model.n):
            if free[b]:
                v.append(model.bodies["mass"][b] * xd[b] if form.momenta else xd[b])
            v.append(rates[b])
        y = np.concatenate([*q, *v])
    problem.y0[:n] = y
    rates_, la = problem.rates(problem.t0, problem.y0)
    problem.yd0[:n] = rates_
    if form.integral:
        problem.yd0[problem.layout.la] = la
    elif form.has_multipliers:
        problem.y0[problem.layout.la] = la


def _rotation_rate(model: Model, form: Formulation, kind: int, b: int, p: Vec, R: Mat, om: Vec) -> Vec:
    """pdot or ddot of a body, or the conjugate momenta: M4 pdot = 2 p o (0, J Omega), E ddot."""
    body = model.bodies[b]
    if kind == kb.QUATERNION_RATE:
        w, scale = (body["inertia"] @ om, 2.0) if form.momenta else (om, 0.5)
        return scale * np.concatenate([[-p[1:] @ w], p[0] * w + np.cross(p[1:], w)])
    skew = np.array([[0.0, -om[2], om[1]], [om[2], 0.0, -om[0]], [-om[1], om[0], 0.0]])
    rate = R @ skew
    if form.momenta:
        rate = rate @ body["euler"]
    return np.asarray(rate.T.reshape(9))
