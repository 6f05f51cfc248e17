"""[BS09] (40), Remark 4.3, the momentum map J^- of Appendix E, and the equivariance of the conclusions."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

import rbdae
from rbdae._arrays import Mat, Vec
from rbdae.body import Body
from rbdae.rotations import quaternions
from rbdae_papers import step_equations
from rbdae_papers.finding import Cell, Comparison, Criterion, Finding, at_least, at_most, claim, expect
from rbdae_papers.hamiltonian.schemes import INERTIA, SCHEMES, run
from rbdae_papers.item import Settings, item

_STEP: Final = 0.005
_LEVEL = 1e-13
_TURN: Final = (0.7, -1.1, 0.4)
_OMEGA: Final = (10.0, 20.0, 20.0)
_AWAY: Final = (0.8, 0.6, 0.0, 0.0)
"""A start away from the singular set of the Euler angles."""


def _run_constraint(how: Settings) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    for model, step, t_end in (("free body", 0.05, 10.0), ("gyro top", 0.01, 1.0)):
        y = run(model, "QUAT.EM", step, t_end).y
        q, p = y[:, :4], y[:, 4:]
        pi, eta = step_equations.invariants(q, p)
        norm = float(np.abs(eta - 1.0).max())
        hidden = float(np.abs(pi[:, 0]).max() / np.linalg.norm(p, axis=1).max())
        rows.append((model, step, norm, hidden))
        compared.append(claim(f"{model}: largest |eta - 1| (47)", norm, at_most(_LEVEL), "q on the unit sphere"))
        compared.append(claim(f"{model}: largest |q . p| / |p| (40)", hidden, at_most(_LEVEL), "satisfied too"))
    return Finding(("model", "step [s]", "norm", "q . p / |p|"), rows, tuple(compared))


def _top() -> tuple[rbdae.Solution, Mat]:
    """Steps of QUAT.EM of the gyro top, and the gradients of its potential in their middle."""
    solution = run("gyro top", "QUAT.EM", _STEP, 1.0)
    return solution, _gradients(solution.y[:, :4])


def _gradients(q: Vec) -> Mat:
    body = _body()
    weight = (0.0, 0.0, -9.81 * body.mass)
    return step_equations.weight_gradient(0.5 * (q[:-1] + q[1:]), weight, body.center_of_mass)


def _body() -> Body:
    return rbdae.models.gyro_top().bodies[0]


def _run_multiplier(how: Settings) -> Finding:
    solution, slopes = _top()
    q, p = solution.y[:, :4], solution.y[:, 4:]
    la = step_equations.step_multiplier(q[:-1], q[1:], slopes)
    size = float(np.abs(p).max())
    left = {}
    for name, multiplier in (("with", la), ("without", np.zeros_like(la))):
        residual = step_equations.energy_momentum_residual(
            q[:-1], p[:-1], q[1:], p[1:], inertia=_body().inertia, step=_STEP, gradient=slopes, multiplier=multiplier
        )
        left[name] = float(np.abs(residual.p).max()) / size
    middle = 0.5 * (q[:-1] + q[1:]), 0.5 * (p[:-1] + p[1:])
    identity = np.abs((middle[0] * np.diff(p, axis=0) + middle[1] * np.diff(q, axis=0)).sum(-1)).max() / size
    rows = [(float(t), float(value)) for t, value in zip(solution.t[1:], la, strict=True)]
    compared = (
        claim("what (51) leaves with la of Remark 4.3, relative", left["with"], at_most(_LEVEL), "solves (51)"),
        expect("the same without la", left["without"], at_least(1e-4)),
        claim("q_mean . (p1 - p0) + p_mean . (q1 - q0), relative", float(identity), at_most(_LEVEL), "0"),
    )
    return Finding(("t [s]", "multiplier [J]"), rows, compared)


def _run_momentum_map(how: Settings) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    for model, inertia, components in (("free body", INERTIA, (0, 1, 2)), ("gyro top", _body().inertia, (2,))):
        solution = run(model, "QUAT.VI", _STEP, 1.0)
        q = solution.y[:, :4]
        slopes = _gradients(q) if model == "gyro top" else np.zeros(4)
        J = step_equations.discrete_momentum_map(q[:-1], q[1:], inertia=inertia, step=_STEP, gradient=slopes)
        change = np.ptp(J, axis=0) / np.linalg.norm(J[0])
        rows.append((model, *(float(each) for each in change)))
        quantity = f"{model}: change of J^- {'about the vertical' if len(components) == 1 else ''}"
        compared.append(claim(quantity.strip(), float(change[[*components]].max()), at_most(_LEVEL), "conserved"))
        inner = slopes if model == "free body" else (slopes[:-1], slopes[1:])
        la = step_equations.node_multiplier(
            q[:-2], q[1:-1], q[2:], inertia=inertia, step=_STEP,
            gradients=(inner[0], inner[1]) if isinstance(inner, tuple) else (inner, inner),
        )  # fmt: skip
        ends = step_equations.discrete_momenta(q[:-1], q[1:], inertia=inertia, step=_STEP, gradient=slopes)
        rest = ends.end[:-1] - ends.start[1:] - _STEP * la[:, None] * q[1:-1]
        largest = float(np.abs(rest).max() / np.abs(ends.start).max())
        compared.append(claim(f"{model}: what (E1) leaves with its la_n, relative", largest, at_most(_LEVEL), "0"))
    return Finding(("model", "change of J1", "J2", "J3"), rows, tuple(compared))


def _turned_start(orientation: Vec) -> rbdae.System:
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    system.add_body(
        "body", mass=1.0, inertia=INERTIA, pivot=(0.0, 0.0, 0.0), orientation=orientation, angular_velocity=_OMEGA
    )
    return system


def _runge_kutta(of: rbdae.Problem, steps: int) -> Mat:
    """R after steps of the classical rule of fourth order."""
    y, h = np.array(of.y0), _STEP
    for _ in range(steps):
        k1 = of.rhs(0.0, y)
        k2 = of.rhs(0.0, y + 0.5 * h * k1)
        k3 = of.rhs(0.0, y + 0.5 * h * k2)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + of.rhs(0.0, y + h * k3))
    end: Mat = of.states(0.0, y)["body"].orientation.as_matrix()
    return end


def _run_equivariance(how: Settings) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    turn = quaternions.from_rotation_vector(_TURN)
    by_rotation: dict[Any, tuple[Criterion, str]] = {
        "quaternion": (at_most(_LEVEL), "equivariant"),
        "euler-313": (at_least(1e-6), "Euler angles are not, in general"),
    }
    for rotation, (criterion, says) in by_rotation.items():
        starts = np.array(_AWAY), quaternions.product(turn, np.array(_AWAY))
        first, second = (
            _runge_kutta(rbdae.formulate(_turned_start(start), "index-0", rotation=rotation, velocity="angular"), 100)
            for start in starts
        )
        largest = float(np.abs(quaternions.to_matrix(turn) @ first - second).max())
        rows.append((f"RK4, {rotation}", largest))
        compared.append(claim(f"RK4, {rotation}: change by turning the start", largest, criterion, says))
    for scheme, (formulation, options, solving) in SCHEMES.items():
        ends = []
        for orientation in ((1.0, 0.0, 0.0, 0.0), turn):
            of = rbdae.formulate(_turned_start(np.asarray(orientation)), formulation, **options)
            solution = rbdae.solve(of, (0.0, 0.5), step=_STEP, **solving)
            ends.append(solution.states["body"].orientation.as_matrix())
        largest = float(np.abs(quaternions.to_matrix(turn) @ ends[0] - ends[1]).max())
        rows.append((scheme, largest))
        compared.append(claim(f"{scheme}: change by turning the start", largest, at_most(_LEVEL), "equivariant"))
    return Finding(("scheme", "largest difference"), rows, tuple(compared))


CONSTRAINT: Final = item("bs-hidden", _run_constraint)
MULTIPLIER: Final = item("bs-multiplier", _run_multiplier)
MOMENTUM_MAP: Final = item("bs-momentum-map", _run_momentum_map)
EQUIVARIANCE: Final = item("bs-equivariance", _run_equivariance)
