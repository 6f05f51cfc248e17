"""Exact or failed: every step of a conserving scheme keeps what docs/conserving.md calls exact, or the run ends there,
with time, step and remedy, and what it has until then is exact.

The registry is the adapter's: a scheme, variant or order without its promises fails by name.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache
from typing import Any

import cases
import numpy as np
import pytest
from conserving_systems import chain
from inside import FIXED_SCHEMES

import rbdae
from rbdae.adapter import Reason, Unsupported
from rbdae.forces import UserForce
from rbdae.joints import Revolute

# ---------------------------------------------------------------- schemes


@dataclass(frozen=True)
class Promise:
    """What is exact: energy and momentum "always", "free" of joints, of a "body" without joints and forces, or never
    (""); and the forms that the scheme takes, by the charts."""

    energy: str
    momentum: str
    hamiltonian: bool = True
    charts: tuple[str, ...] = ("quaternion",)


PROMISES: dict[tuple[str, str], Promise] = {
    ("energy-momentum", "rodrigues"): Promise("always", "always", charts=("quaternion", "directors")),
    ("energy-momentum", "paper"): Promise("always", "free"),
    ("variational", "quat-vi"): Promise("body", "always"),
    ("simo-wong", "algo-c1"): Promise("body", "always", hamiltonian=False),
    ("simo-wong", "energy-momentum"): Promise("always", "free", hamiltonian=False),
    ("midpoint", "rodrigues"): Promise("always", "always", hamiltonian=False),
    ("midpoint", "conformal"): Promise("always", "free", hamiltonian=False),
    ("midpoint", "average-momentum"): Promise("", "free", hamiltonian=False),
    ("midpoint", "average-velocity"): Promise("always", "", hamiltonian=False),
}
"""The tables of docs/conserving.md."""

REGISTERED = [(method, variant) for method, variants in FIXED_SCHEMES.items() for variant in variants]


def test_every_scheme_has_its_promises():
    assert set(REGISTERED) == set(PROMISES)


# ---------------------------------------------------------------- models

ALL, VERTICAL, NOTHING = slice(0, 3), slice(2, 3), slice(0, 0)

MODELS: dict[str, tuple[Any, slice]] = {
    "free_body": (rbdae.models.free_body, ALL),
    "tennis_racket": (rbdae.models.tennis_racket, ALL),
    "gyro_top": (rbdae.models.gyro_top, VERTICAL),
    "heavy_top": (rbdae.models.heavy_top, VERTICAL),
    "linked_bodies": (rbdae.models.linked_bodies, ALL),
    "universal joint and springs": (lambda: chain("universal"), ALL),
    "n_four_bar": (rbdae.models.n_four_bar, NOTHING),
    "spatial_slider_crank": (rbdae.models.spatial_slider_crank, NOTHING),
}
"""Systems, and the components of the angular momentum about the origin that they keep."""

FORCED = {"linked_bodies", "universal joint and springs"}
"""What schemes without forces refuse."""

STEPS = np.geomspace(1e-3, 10.0, 12)
"""Times the largest angular velocity at the start."""

N = 30
"""Steps of a run."""

LEVEL = 2e-12
"""Of an exact quantity, relative, after N steps of order 2. Measured: at most 5e-13 with any order."""


@cache
def problem_of(model: str, form: str, chart: str, code: str | None) -> rbdae.Problem:
    velocity = "momentum" if form != "index-0" else "angular"
    more = {} if code is None else {"code": code}
    system = MODELS[model][0]()
    return rbdae.formulate(
        system, form, rotation=chart, velocity=velocity, consistent="project", redundant="minimum-norm", **more
    )


CASES = [
    (scheme, chart, order, model, k)
    for scheme in REGISTERED
    for chart in (PROMISES[scheme].charts if scheme in PROMISES else ())
    for order in (2, 4)
    for model in MODELS
    for k in range(len(STEPS))
]


def drawn(n: int) -> list[Any]:
    """Some cases for each scheme and chart, the same in each run, mostly with large steps; all at night."""
    if cases.NIGHTLY:
        return CASES
    rng = np.random.default_rng(23)
    out = []
    for _, group in itertools.groupby(CASES, key=lambda case: case[:2]):
        own = list(group)
        large = [case for case in own if case[4] >= 7]
        out += [large[i] for i in rng.choice(len(large), n, replace=False)]
        out.append(own[int(rng.integers(len(own)))])
    return out


def check(solution: rbdae.Solution, promise: Promise, model: str) -> None:
    """A run that is exact, or has failed as it should; what it hands out is exact."""
    problem = solution.problem
    if not solution.success:
        assert solution.reason in (Reason.NOT_CONVERGED, Reason.NOT_FINITE)
        assert f"stopped at t = {solution.t[-1]:.9g} " in solution.message
        assert f"step {len(solution.t)} of " in solution.message
        assert "take a smaller step=" in solution.message
    assert np.isfinite(solution.y).all()
    joints = len(problem.model.primitives) > 0
    forces = bool(len(problem.model.forces.elements))
    weight = bool(np.any(problem.system.gravity))
    kept = {"always": True, "free": not joints, "body": not (joints or forces or weight), "": False}
    energy = solution.energy
    size = energy.kinetic.max() + np.ptp(energy.potential)
    if kept[promise.energy]:
        assert np.abs(energy.balance).max() < LEVEL * size
    L = solution.momentum.angular[:, MODELS[model][1]]
    if kept[promise.momentum] and L.size:
        assert np.abs(L - L[0]).max() < LEVEL * np.abs(solution.momentum.angular).max()
    far = max(np.abs(body.position).max() for body in solution.states.values())
    assert solution.drift.position.max() < LEVEL * max(1.0, far)


@pytest.mark.sampled
@pytest.mark.parametrize(("scheme", "chart", "order", "model", "k"), drawn(3))
def test_exact_or_failed(scheme, chart, order, model, k):
    method, variant = scheme
    promise = PROMISES[scheme]
    form = "hamiltonian-eliminated" if promise.hamiltonian else "index-0"
    problem = problem_of(model, form, chart, "auto" if cases.NIGHTLY else None)
    omega = max(np.linalg.norm(b.angular_velocity) for b in problem.states(problem.t0, problem.y0).values())
    h = STEPS[k] / max(omega, 1.0)
    span = (problem.t0, problem.t0 + N * h)
    try:
        found = rbdae.solve(problem, span, solver=f"rbdae:{method}", step=h, variant=variant, order=order)
    except Unsupported as error:
        assert order > 2 or model in FORCED
        assert "order=" in str(error) or (model in FORCED and "has no discrete form of applied forces" in str(error))
        return
    check(found, promise, model)


# ---------------------------------------------------------------- named: half a turn

HALF_TURNS: dict[str, tuple[str, str, str, float]] = {
    "paper, free body": ("energy-momentum", "paper", "free_body", 0.1),
    "paper, linked bodies, far": ("energy-momentum", "paper", "linked_bodies", 0.05),
    "conformal, free body": ("midpoint", "conformal", "free_body", 0.12),
    "simo-wong, free body": ("simo-wong", "energy-momentum", "free_body", 0.08),
    "algo-c1, tennis racket": ("simo-wong", "algo-c1", "tennis_racket", 0.06),
}


@pytest.mark.parametrize("name", [*HALF_TURNS])
def test_half_a_turn_is_no_solution(name):
    """Newton's rows vanish there and the balances do not: these runs were successful, or handed out states before
    their failure, with energies wrong by factors of up to 3e8."""
    method, variant, model, h = HALF_TURNS[name]
    promise = PROMISES[method, variant]
    problem = problem_of(model, "hamiltonian-eliminated" if promise.hamiltonian else "index-0", "quaternion", None)
    found = rbdae.solve(problem, (0.0, 3.0), solver=f"rbdae:{method}", step=h, variant=variant)
    check(found, promise, model)


# ---------------------------------------------------------------- named: tangents that are wrong


@pytest.mark.parametrize("wrong", [0.0, 0.5, 2.0])
def test_a_wrong_tangent_costs_iterations_and_no_energy(wrong):
    """A user's Jacobian that is wrong by a factor makes Newton's method converge slowly. A correction of 1e-8 left as
    much of the balances: steps are accepted when what is left by the rate of convergence is at round-off."""
    K = 40.0

    def force(t: float, z: Any, out: Any) -> None:
        out[:] = 0.0
        out[:3] = -K * z[:3]

    def jacobian(t: float, z: Any, out: Any) -> None:
        out[:] = 0.0
        for k in range(3):
            out[24 * k + k] = -wrong * K

    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    body = system.add_body(
        "b", mass=2.0, inertia=(0.2, 0.3, 0.25), position=(0.5, 0, 0), velocity=(0, 1, 0), angular_velocity=(1, 2, 3)
    )
    system.add_force(UserForce(body, force, jacobian))
    problem = rbdae.formulate(system, "hamiltonian-eliminated", velocity="momentum")
    found = rbdae.solve(problem, (0.0, 10.0), solver="rbdae:energy-momentum", step=0.05)
    assert found.success, found.message
    total = found.energy.kinetic + 0.5 * K * (found.states["b"].position ** 2).sum(axis=1)
    assert np.abs(total - total[0]).max() < 1e-10 * total[0]


def test_the_users_tolerance_makes_no_step_inexact():
    problem = problem_of("linked_bodies", "hamiltonian-eliminated", "quaternion", None)
    found = rbdae.solve(problem, (0.0, 0.5), solver="rbdae:energy-momentum", step=5e-3, tolerance=0.5)
    check(found, PROMISES["energy-momentum", "rodrigues"], "linked_bodies")


# ---------------------------------------------------------------- between the steps


@pytest.mark.parametrize("events", [False, True])
def test_states_within_a_composed_step_fail_with_the_run(events):
    """They are ends of steps of their own: where such a one has no solution, the run says so, with what it has."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    a = system.add_body("a", mass=1.0, inertia=(1.0, 1.0, 1.5), angular_velocity=(0.3, 0.0, 4.0))
    system.add_joint(Revolute(system.ground, a, axis_a=(0, 0, 1), axis_b=(0, 0, 1)))
    problem = rbdae.formulate(system, "hamiltonian-eliminated", velocity="momentum", consistent="project")
    more = {"events": lambda t, y: t - 0.1} if events else {}
    for h in (0.1, 1.2, 2.0):
        times = np.linspace(0.0, 6.0, 50)
        found = rbdae.solve(
            problem, (0.0, 6.0), solver="rbdae:energy-momentum", step=h, order=4,
            variant="paper", t_eval=times, **more,
        )  # fmt: skip
        assert np.isfinite(found.y).all()
        assert found.success or "take a smaller step=" in found.message
        energy = found.energy.total
        assert np.abs(energy - energy[0]).max() < LEVEL * energy[0]
