"""From a system to a problem: checks the choices, makes the initial values consistent."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.compiler.jit import expect
from rbdae.formulations import FORMULATIONS, GAUGED, SPELLINGS, Formulation
from rbdae.initial.assembly import LARGEST, Assembly, Hold, assemble_dense, natural_coordinates
from rbdae.initial.assembly import report as what_moved
from rbdae.kernels import outputs
from rbdae.kernels import records as kb
from rbdae.kernels.constraints.drives import ANGLE
from rbdae.kernels.projection import project
from rbdae.multibody.constraint_matrix import SINGULAR, combine, gradient, nearly_redundant, redundant_rows
from rbdae.multibody.model import Model, compile_system
from rbdae.multibody.tree_velocities import Branch, branches
from rbdae.multibody.workspace import Settings, Workspace, features
from rbdae.problem.problem import Problem
from rbdae.problem.projection import Projection, ProjectionError, Projector
from rbdae.problem.quantities import angular_velocities
from rbdae.rotations import CHARTS, Chart
from rbdae.rotations.euler_map import rotation_matrices
from rbdae.solving.switches.velocities import Gauge, measure
from rbdae.system import System

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
    if velocity == "coordinate" and chart.coordinate_velocities is None:
        charts = ", ".join(c.name for c in CHARTS.values() if c.coordinate_velocities is not None)
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
        if not (v == "coordinate" and c.coordinate_velocities is None)
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
    redundant: Literal["error", "minimum-norm"] = "error",
    hold: Hold = (),
    t0: float = 0.0,
) -> Problem:
    """Write the equations of a system.

    Parameters
    ----------
    system : System
    formulation : str
        ``"index-3"``, ``"index-2"``, ``"index-1"``, ``"index-0"``, ``"ggl"``, ``"hiller-anantharaman"``,
        ``"baumgarte"`` (``"baumgarte-ode"``), ``"overdetermined"`` (``"overdetermined-1"``), ``"null-space"``,
        ``"hamiltonian"`` (and the spellings ``"ind3"``, ``"ggl2"``, ``"ovstab1"``, ... of Assimulo). Also
        ``"hamiltonian-momentum"``, ... for the values of `constraint`. ``"null-space"`` costs O(n) for trees of
        spherical joints and O(n^3) in the number of velocities for all other systems; there its quasi-velocities are
        those of a gauge, which `solve` changes where it has to (`rbdae.solving.switches.velocities`).
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
        J0 of the quaternion mass of the coordinate forms: 0 ([NS]) or tr(J)/2 ([BS09], whose
        forms always have it). The motion is the same, the multiplier of the unit norm differs.
    alpha, beta : float
        Of the Baumgarte forms, gddot + 2 alpha gdot + beta^2 g = 0, 1/s; both 10 where they are not given, which is
        right for motions that take about a second.
    redundant : ``"error"`` or ``"minimum-norm"``
        What to do with joint equations that follow from the others: refuse them by name, or leave them out. The
        motion is the same; multipliers and reactions are then those of least norm, marked as not unique. The forms
        without multipliers, with projection, then also go through singular positions (`rbdae.solving.switches.rows`).
    hold : names of bodies, or (name, ``"x"`` | ``"y"`` | ``"z"`` | ``"position"`` | ``"orientation"``)
        What keeps its place while the system is assembled, see `rbdae.assemble`.
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
    if redundant not in ("error", "minimum-norm"):
        raise _nearest("value of redundant", redundant, ("error", "minimum-norm"))
    t0 = _check.number("formulate", "t0", t0)

    model = _compiled_system(system, t0)
    kind = kb.ANGULAR if speed == "angular" or chart.coordinate_velocities is None else chart.coordinate_velocities
    settings = Settings(
        chart=chart,
        kind=kind,
        momenta=form.momenta,
        reduced=form.reduced,
        level=form.level,
        corrected=form.corrected,
        integral=form.integral,
        baumgarte=damping,
        radial=1.0 if radial_inertia == "half-trace" else 0.0,
    )
    gauged = form.reduced and not _is_spherical_tree(model)
    if gauged:
        form = GAUGED[form.name]
    _expect_kernels(model, form, settings, gauged)
    start = _starting_state(model, consistent == "check", hold, t0)
    if start.dropped and redundant == "error":
        raise ValueError(_redundancy(start))
    if form.momenta and chart.coordinate_velocities == kb.DIRECTOR_RATE:
        _refuse_singular_director_mass(model)
    settings = replace(settings, dropped=start.dropped)
    if gauged:
        known = None if start.dropped else branches(model, t0, _natural(start))
        settings = replace(settings, branches=known, gauge=_first_gauge(start, t0) if known is None else None)
    workspace = Workspace(model, settings)
    problem = Problem(model, form, chart, speed, workspace, t0)
    problem.assembly = start.assembly
    _fill_start(problem, model, form, chart, kind, workspace, start.x, start.p, start.xd, start.om)
    if workspace.singular_row():
        name = problem.joint_row(workspace.singular_row() - 1)
        raise ValueError(f"the constraints are redundant or singular at the start, first at {name}; {_REMEDY}")
    if redundant == "minimum-norm" and model.tree.closing and not form.reduced:
        problem.guard(SINGULAR, t0, problem.y0)
    return problem


def _expect_kernels(model: Model, form: Formulation, settings: Settings, gauged: bool) -> None:
    """What is not compiled yet of all that this problem will probably call, in this order."""
    start, wanted = features(model, _START), features(model, settings)
    if gauged:
        closing = [k for k in model.tree.closing if model.joints[k].primitives.start not in model.rheonomic]
        wanted = wanted - {"spherical-tree"} | {"square-system", "loops" if closing else "tree"}
    expect(
        [
            (outputs.constraints, start),
            (outputs.natural, start),
            (form.rhs, wanted),
            (project, start),
            *((entry, wanted) for entry in (form.rhs_jacobian, form.residual, form.jacobian) if entry is not None),
        ]
    )


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


def _natural(start: _Start) -> Mat:
    return natural_coordinates(start.model, start.x, start.p, start.xd, start.om)


def _first_gauge(start: _Start, t0: float) -> Gauge:
    """From the null space at the start."""
    model = start.model
    metric = measure(model)
    G = gradient(model, np.asarray(t0), _natural(start))
    loose = redundant_rows(model, np.delete(G, start.dropped, axis=0), prefer_trees=False)
    if loose:
        kept = np.delete(np.arange(len(G)), start.dropped)
        names = "; ".join(start.problem.joint_row(int(kept[k])) for k in loose)
        raise ValueError(f"the constraints are redundant or singular at the start: {names}; {_REMEDY}")
    return metric.choose(metric.columns(G), len(metric.scale) - len(G) + len(start.dropped))


def _refuse_singular_director_mass(model: Model) -> None:
    for k, name in enumerate(model.names):
        if np.isnan(model.bodies["euler_inverse"][k]).any():
            raise ValueError(
                f"body {name!r}: its Euler tensor tr(J)/2 I - J is singular (a flat body), so the director mass has no "
                "inverse; use rotation='quaternion'"
            )


@dataclass(frozen=True, slots=True)
class _Start:
    """A consistent state, how it was found, and the joint rows that follow from the others."""

    model: Model
    problem: Problem
    x: Mat
    p: Mat
    xd: Mat
    om: Mat
    assembly: Assembly | None
    dropped: tuple[int, ...]


def starting_state(system: System, hold: Hold, t0: float) -> tuple[Model, Assembly]:
    """The assembled start of a system and the report of the assembly, for `rbdae.assemble`."""
    t0 = _check.number("assemble", "t0", t0)
    start = _starting_state(_compiled_system(system, t0), False, hold, t0, report=True)
    assert start.assembly is not None
    return start.model, start.assembly


def _compiled_system(system: System, t0: float) -> Model:
    for joint in system.joints:
        law = joint.rheonomic()
        if law is not None:
            law.motion.check(t0)
    return compile_system(system)


_START = Settings(chart=CHARTS["quaternion"], kind=kb.ANGULAR)


def _starting_state(model: Model, check: bool, hold: Hold, t0: float, report: bool = False) -> _Start:
    """(x, p, xdot, Omega) on the constraint manifold: one path for all formulations, in quaternions with angular
    velocities, so that all start from the same state. Trees go through the sparse projection, whose effort grows
    linearly; loops, and what it cannot solve, through the dense assembly."""
    workspace = Workspace(model, _START)
    problem = Problem(model, FORMULATIONS["index-0"], CHARTS["quaternion"], "angular", workspace, t0)

    def violation(x: Mat, p: Mat, xd: Mat, om: Mat) -> tuple[Vec, Vec]:
        g = problem.constraints(t0, _angular_start(model, range(model.n), x, list(p), xd, om))
        return g.position[model.n :], g.velocity[model.n :]

    y = _angular_start(model, range(model.n), model.x, list(model.p), model.xd, model.om)
    if check:
        found = problem.constraints(t0, y)
        sizes = [float(np.max(np.abs(g), initial=0.0)) for g in (found.position, found.velocity)]
        if max(sizes) > _CHECK:
            raise ValueError(
                f"inconsistent initial values: constraint violation {sizes[0]:.3g} in positions, {sizes[1]:.3g} "
                "in velocities (SI units); correct them, or let formulate project them with consistent='project'"
            )
    small = workspace.sizes()["n_rows"] <= LARGEST
    if (hold or report) and not small:
        raise ValueError(f"assembly with a report, or with something held, takes up to {LARGEST} joint equations")
    failure: ProjectionError | None = None
    loops = small and len(model.tree.closing) > 0
    risky = loops and nearly_redundant(gradient(model, np.asarray(t0), problem.natural(t0, y)))
    projector = Projector(Projection(max_iterations=50), problem)
    if not (risky or hold):
        try:
            # a start that is consistent already does not cost the compilation of the projection
            if projector.drift(t0, y) > projector.projection.tolerance:
                projector(t0, y)
        except ProjectionError as error:
            if not small:
                raise
            failure = error
        else:
            Z = problem.natural(t0, y)
            _refuse_half_turns(model, t0, Z)
            p = y[_quaternion_places(model)]
            dropped = redundant_rows(model, gradient(model, np.asarray(t0), Z)) if loops else ()
            om = angular_velocities(Z)
            done = None
            if report:
                g, _ = violation(model.x, model.p, model.xd, model.om)
                gap = float(np.max(np.abs(g), initial=0.0))
                done = what_moved(model, Z[:, :3], p, Z[:, 12:15], om, gap, projector.iterations)
                done = replace(done, redundant=tuple(problem.joint_row(k) for k in dropped))
            return _Start(model, problem, Z[:, :3], p, Z[:, 12:15], om, done, dropped)
    try:
        done = assemble_dense(model, t0, violation, problem.joint_row, hold)
    except ValueError as error:
        raise error from failure
    Z = natural_coordinates(model, done.position, done.orientation, done.velocity, done.angular_velocity)
    _refuse_half_turns(model, t0, Z)
    dropped = redundant_rows(model, gradient(model, np.asarray(t0), Z))
    done = replace(done, redundant=tuple(problem.joint_row(k) for k in dropped))
    return _Start(model, problem, done.position, done.orientation, done.velocity, done.angular_velocity, done, dropped)


def _refuse_half_turns(model: Model, t0: float, Z: Mat) -> None:
    """The equation of a driven angle also holds half a turn away, where a start far from the angle is projected to."""
    for k, law in model.rheonomic.items():
        if law.kind != ANGLE or law.e1 is None or law.e2 is None:
            continue
        angle = float(law.motion(t0)[0][0])
        across = np.zeros(8)
        across[1:4] = np.cos(angle) * law.e2 - np.sin(angle) * law.e1
        pair = model.primitives[k]["body"]
        if combine(model, across, pair, Z, 0) @ combine(model, model.primitives[k]["B"], pair, Z, 0) < 0.0:
            raise ValueError(
                f"{law.motion.owner}: the bodies are placed nearer to half a turn beyond the angle than to the angle, "
                f"{angle:.4g} rad at t = {t0:g}; place them less than a quarter turn from it"
            )


_REMEDY = (
    "replace a joint by one with fewer equations, or ask for redundant='minimum-norm', which gives the same motion and "
    "reactions of least norm"
)


def _redundancy(start: _Start) -> str:
    names = "; ".join(start.problem.joint_row(k) for k in start.dropped)
    return f"{len(start.dropped)} joint equations follow from the others at the start: {names}; {_REMEDY}"


def _quaternion_places(model: Model) -> Any:
    """Where the quaternions are in y of a quaternion chart, (n, 4)."""
    nt = model.bodies["nt"][: model.n]
    return (np.cumsum(nt + 4) - 4)[:, None] + np.arange(4)


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
        known = workspace.settings.branches
        y = _angular_start(model, workspace.order, x, parameters, xd, om, workspace.settings.by_tree)
        if known is not None:
            y = np.concatenate(
                [y[: problem.layout.q.stop], _quasi_velocities(model, known, workspace.order, R, xd, om)]
            )
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


def _quasi_velocities(model: Model, known: Sequence[Branch], order: Iterable[int], R: Mat, xd: Mat, om: Mat) -> Vec:
    """nu of a tree whose freedoms are known."""
    out = []
    for b in order:
        if model.tree.parent[b] < 0:
            out.append(np.concatenate([xd[b], om[b]]) if model.bodies["nt"][b] == 3 else om[b])
        else:
            out.append(known[b].S @ np.concatenate([R[b].T @ xd[b], om[b]]))
    return np.concatenate(out)


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
