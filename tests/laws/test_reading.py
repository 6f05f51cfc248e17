"""Runs are read in loops of machine code: a row has the bits that it has alone, and memory is that of the result."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import tracemalloc
from functools import cache
from typing import Any

import cases
import inside
import numpy as np
import pytest
from inside import Mat, Vec
from scipy.spatial.transform import Rotation

import rbdae

FIELDS = ("position", "velocity", "angular_velocity", "center_of_mass")


def _swing() -> rbdae.System:
    """A body with a pivot, another one on a joint, a third one alone; springs of all kinds, one with a winding."""
    system = rbdae.System(gravity=(0.5, -1.0, -9.0))
    a = system.add_body(
        "a", mass=1.5, inertia=(0.9, 1.1, 1.3), pivot=(0.2, 0.1, 0.0), center_of_mass=(0.3, 0.1, -0.2),
        orientation=Rotation.from_rotvec((0.2, -0.4, 0.3)), angular_velocity=(1.0, -0.6, 0.5),
    )  # fmt: skip
    b = system.add_body("b", mass=2.0, inertia=(0.7, 0.8, 0.9), position=(0.9, 0.3, 0.1), center_of_mass=(0.1, 0, 0))
    c = system.add_body("c", mass=0.5, inertia=(0.2, 0.3, 0.4), position=(-1, 0, 1), angular_velocity=(0.3, 2.0, 0.1))
    hinge = system.add_joint(rbdae.joints.Revolute(a, b, at_a=(0.6, 0.1, 0.0), axis_a=(0.0, 0.6, 0.8)))
    system.add_force(rbdae.forces.Bushing(a, c, stiffness=30.0, at_a=(0.1, 0.2, 0.0)))
    system.add_force(rbdae.forces.TorsionalSpringDamper(hinge, stiffness=5.0, damping=0.1, angle=0.2))
    system.add_force(rbdae.forces.SpringDamper(b, c, stiffness=20.0, damping=0.3, length=0.4))
    return system


@cache
def _problem(pairing: cases.Pairing, code: Any = "auto") -> rbdae.Problem:
    formulation, rotation, velocity = pairing
    return cases.formulated(
        _swing(), formulation, rotation=rotation, velocity=velocity, consistent="project", code=code
    )


def _rows(problem: rbdae.Problem, m: int = 6) -> tuple[Vec, Mat]:
    """Times and states near the start, off the constraints."""
    rng = np.random.default_rng(5)
    t = 0.1 * np.arange(m)
    return t, problem.y0 + 1e-3 * rng.standard_normal((m, problem.n))


def _values(problem: Any, t: Any, y: Any) -> dict[str, Any]:
    """Everything that is read, by name."""
    out: dict[str, Any] = {"natural": problem.natural(t, y), "multipliers": problem.multipliers(t, y)}
    energy, momentum, constraints = problem.energy(t, y), problem.momentum(t, y), problem.constraints(t, y)
    out |= {"kinetic": energy.kinetic, "potential": energy.potential, "total": energy.total}
    out |= {"linear": momentum.linear, "angular": momentum.angular}
    out |= {"g": constraints.position, "gdot": constraints.velocity}
    for body, state in problem.states(t, y).items():
        out |= {f"{body} {name}": getattr(state, name) for name in FIELDS}
        out[f"{body} orientation"] = state.orientation.as_quat()
    for joint, sides in problem.reactions(t, y).items():
        for body, reaction in sides.items():
            out |= {f"{joint} {body} force": reaction.force, f"{joint} {body} torque": reaction.torque}
    return out


def _agree_row_by_row(problem: Any, t: Vec, y: Mat, owner: Any = None) -> None:
    found = _values(problem, t, y)
    for k in range(len(t)):
        alone = _values(problem if owner is None else owner(t[k]), float(t[k]), y[k])
        for name, value in found.items():
            assert np.array_equal(value[k], alone[name], equal_nan=True), (name, k)


def test_redundant_rows_are_read_so_too():
    """A plane loop, some of whose rows are left out, others may be suspended."""
    problem = cases.formulated(
        cases.four_bar(), "index-1", redundant="minimum-norm", consistent="project", code="plain"
    )
    _agree_row_by_row(problem, *_rows(problem, 3))


# ---------------------------------------------------------------- formulas


def _formulas(problem: rbdae.Problem, t: Vec, y: Mat) -> dict[str, Any]:
    """Energies and momenta from natural coordinates by arrays, as they are in textbooks."""
    Z, system, settings = problem.natural(t, y), problem.system, inside.settings_of(problem)
    kinetic, potential, linear, angular = 0.0, inside.potentials_of_forces(problem, t, y), 0.0, 0.0
    for k, body in enumerate(system.bodies):
        x, D, xd, Dd = Z[:, k, :3], Z[:, k, 3:12].reshape(-1, 3, 3), Z[:, k, 12:15], Z[:, k, 15:].reshape(-1, 3, 3)
        R, Rd = np.swapaxes(D, 1, 2), np.swapaxes(Dd, 1, 2)
        c = np.asarray(body.center_of_mass)
        pinned = body.pivot is not None
        J = np.asarray(body.inertia)  # about the centre of mass, or the pivot
        v, place = (Rd @ c, x + R @ c) if pinned else (xd, x)
        W = np.linalg.solve(R, Rd)
        Om = 0.5 * np.stack([W[:, 2, 1] - W[:, 1, 2], W[:, 0, 2] - W[:, 2, 0], W[:, 1, 0] - W[:, 0, 1]], axis=1)
        E = 0.5 * np.trace(J) * np.eye(3) - J
        if settings.kind == "directors":
            kinetic += 0.5 * np.einsum("mik,ij,mjk->m", Dd, E, Dd)
            spin = np.cross(D, E @ Dd).sum(axis=1)
        else:
            spin = np.einsum("mij,jk,mk->mi", R, J, Om)
            size = 1.0
            if settings.kind == "quaternions":
                size = 1.0 if settings.momenta else np.cbrt(np.linalg.det(R))
                J0 = 0.5 * np.trace(J) * (1.0 if settings.momenta else settings.radial)
                kinetic += 0.5 * J0 * (size * np.trace(W, axis1=1, axis2=2) / 3.0) ** 2
            kinetic += 0.5 * size**2 * np.einsum("mi,ij,mj->m", Om, J, Om)
        kinetic += 0.0 if pinned else 0.5 * body.mass * (xd**2).sum(axis=1)
        potential = potential - body.mass * place @ np.asarray(system.gravity)
        linear, angular = linear + body.mass * v, angular + np.cross(x, body.mass * v) + spin
    return {"kinetic": kinetic, "potential": potential, "linear": linear, "angular": angular}


def _pairings() -> list[tuple[cases.Pairing, str]]:
    """One of each formulation, in charts that take turns, every sixth in code of its own; at night one of each
    velocity and chart."""
    if cases.NIGHTLY:
        return [(p, "auto") for p in cases.ALL_PAIRINGS]
    out = []
    for k, name in enumerate(dict.fromkeys(p.formulation for p in cases.ALL_PAIRINGS)):
        fitting = [p for p in cases.ALL_PAIRINGS if p.formulation == name]
        out.append((fitting[5 * k % len(fitting)], "plain" if k % 6 else "auto"))
    return out


@pytest.mark.parametrize("pairing, code", _pairings(), ids=str)
def test_rows_have_the_bits_that_they_have_alone_and_the_values_of_the_formulas(pairing, code):
    problem = _problem(pairing, code)
    t, y = _rows(problem, 3)
    _agree_row_by_row(problem, t, y)
    found, wanted = _values(problem, t, y), _formulas(problem, t, y)
    for name, value in wanted.items():
        assert np.abs(found[name] - value).max() < 1e-12 * (1.0 + np.abs(value).max()), name


@pytest.mark.parametrize("pairing", [("index-0", "quaternion", "angular"), ("index-0", "directors", "coordinate")])
def test_orientations_are_those_that_scipy_finds(pairing):
    """Of rotations of every kind: each of the four squares of the quaternion is the largest, also by half turns; of
    frames that are scaled, and that are no rotations."""
    system = rbdae.System()
    system.add_body("free", mass=1.0, inertia=(1.0, 1.1, 1.2))
    problem = rbdae.formulate(system, pairing[0], rotation=pairing[1], velocity=pairing[2])
    q = Rotation.from_quat(np.random.default_rng(4).normal(size=(200, 4))).as_quat()
    q = np.concatenate([q, np.eye(4), -np.eye(4), np.array([[1, 1, 0, 0], [0, 1, 0, -1], [1, 1, 1, 1]]) / 2.0])
    y = np.tile(problem.y0, (len(q), 1))
    if pairing[1] == "quaternion":
        y[:, 3:7] = np.roll(q, 1, axis=1) * np.linspace(0.9, 1.1, len(q))[:, None]
    else:
        bent = np.linspace(0.0, 1e-3, len(q))[:, None, None] * np.arange(9).reshape(3, 3)
        R = Rotation.from_quat(q).as_matrix() + bent
        y[:, 3:12] = np.swapaxes(R, 1, 2).reshape(-1, 9)
    R = np.swapaxes(problem.natural(np.zeros(len(q)), y)[:, 0, 3:12].reshape(-1, 3, 3), 1, 2)
    u, _, vt = np.linalg.svd(R)  # what SciPy does since 1.12
    found, wanted = problem.states(np.zeros(len(q)), y)["free"].orientation, Rotation.from_matrix(u @ vt)
    assert (found * wanted.inv()).magnitude().max() < 1e-14
    assert np.abs(found.as_quat() - wanted.as_quat())[:200].max() < 1e-14  # the sign, where squares are not equal


def test_rows_of_a_run_are_what_its_problem_says():
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-0")
    run = rbdae.solve(problem, (0.0, 0.1), solver="scipy:RK45", rtol=1e-3, atol=1e-3)
    energy, gaps = problem.energy(run.t, run.y), problem.constraints(run.t, run.y)
    assert np.array_equal(run.energy.total, energy.kinetic + energy.potential) and np.ptp(energy.potential) > 0.0
    assert np.array_equal(run.multipliers, problem.multipliers(run.t, run.y)) and run.multipliers.any()
    assert np.array_equal(run.drift.position, np.abs(gaps.position).max(axis=1)) and run.drift.position.any()
    assert np.array_equal(run.drift.velocity, np.abs(gaps.velocity).max(axis=1)) and run.drift.velocity.any()


# ---------------------------------------------------------------- changes of selection


def test_rows_of_a_run_with_changes_are_read_by_the_selection_of_their_time():
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0", rotation="rotation-vector")
    run = rbdae.solve(problem, (0.0, 0.6), solver="rbdae:dop853", on_singularity="switch")
    assert len(inside.segment_times(run)) > 1
    _agree_row_by_row(run.problem, run.t, run.y)
    _agree_row_by_row(run.problem, run.t[::9], run.y[::9], run.problem_at)
    _agree_row_by_row(run.problem, run.t[::-1], run.y[::-1])
    mixed = [0, len(run.t) - 1, 1]
    with pytest.raises(ValueError, match="must rise or fall"):
        run.problem.states(run.t[mixed], run.y[mixed])


# ---------------------------------------------------------------- states


def _state(m: int | None = None) -> tuple[Any, Vec]:
    problem = _problem(cases.Pairing("index-0", "quaternion", "angular"))
    t, y = _rows(problem)
    t, y = (float(t[0]), y[0].copy()) if m is None else (t[:m], y[:m].copy())
    return problem.states(t, y)["b"], y


@pytest.mark.parametrize("m", [None, 0, 1, 4])
def test_a_state_is_that_of_its_moment(m):
    """Its parts belong to what was given, whenever they are asked for; they are computed once."""
    state, y = _state(m)
    wanted = {name: np.array(getattr(_state(m)[0], name)) for name in FIELDS}
    before = state.position
    y += 1.0
    for name in FIELDS:
        assert np.array_equal(getattr(state, name), wanted[name])
    assert state.position is before and state.orientation is state.orientation
    assert before.shape == ((3,) if m is None else (m, 3))


def test_a_state_is_frozen_and_has_all_parts_in_copies():
    state, _ = _state(4)
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.position = 0
    with pytest.raises(AttributeError, match="a BodyState has no 'positon'; it has position, orientation"):
        state.positon  # noqa: B018
    for other in (copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        for name in FIELDS:
            assert np.array_equal(getattr(other, name), getattr(state, name))
        assert np.array_equal(other.orientation.as_quat(), state.orientation.as_quat())


# ---------------------------------------------------------------- memory


@cache
def _long(steps: int, **options: Any) -> rbdae.Solution:
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-0")
    step = 1e-5
    return rbdae.solve(
        problem, (0.0, step * steps), solver="rbdae:dopri5", rtol=1e-3, atol=1e-3, max_step=step, first_step=step,
        **options,
    )  # fmt: skip


def _peak(read: Any) -> int:
    """Bytes that reading needs at most, what it gives included."""
    read()  # kernels
    tracemalloc.start()
    try:
        read()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_reading_needs_memory_for_what_it_gives():
    """20,000 rows of 26 numbers, 4 MB: natural coordinates of all of them would be 8 MB. A slice takes 0.5 MB."""
    run = _long(20_000)
    p, t, y = run.problem, run.t, run.y
    assert len(t) > 19_000
    row = 8 * len(t)
    assert _peak(lambda: p.energy(t, y)) < 3 * row + 1.5e6
    assert _peak(lambda: p.momentum(t, y)) < 6 * row + 1.5e6
    assert _peak(lambda: p.states(t, y)["first"].position) < (p.n + 1 + 2 * 3) * row + 1.5e6
    assert _peak(lambda: p.reactions(t, y)) < (4 * 3 + 9) * row + 1.5e6
    assert _peak(lambda: dataclasses.replace(run).drift) < 2 * row + 1.5e6


# ---------------------------------------------------------------- rows that are asked for alone


def _crossing(t: float, y: Vec) -> float:
    """Zero at 0, and once in the runs below."""
    return float(np.sin(17.0 * t) + 0.0 * y[0])


_RUNS = [
    ("rbdae:dopri5", "index-0", {}),
    ("rbdae:dop853", "index-0", {"projection": True, "events": [_crossing]}),
    ("rbdae:energy-momentum", "hamiltonian", {"step": 1e-3}),
    ("rbdae:midpoint", "index-0", {"step": 1e-3, "events": [_crossing]}),
    ("scipy:DOP853", "index-0", {"events": [_crossing]}),
    ("solve_dae:Radau", "index-1", {}),
    ("sksundae:ida", "index-2", {"projection": True}),
    ("scikits.odes:cvode", "null-space", {}),
    ("assimulo:Radau5ODE", "index-0", {}),
]


@pytest.mark.parametrize("solver, form, options", _RUNS, ids=lambda value: value if isinstance(value, str) else "")
def test_without_dense_output_the_rows_are_the_same_and_alone(solver, form, options):
    cases.need(solver)
    problem = rbdae.formulate(rbdae.models.heavy_top(), form)
    given = {"solver": solver, "t_eval": [0.0, 0.05, 0.2], "rtol": 1e-8, "atol": 1e-8, **options}
    wanted = rbdae.solve(problem, (0.0, 0.2), **given)
    run = rbdae.solve(problem, (0.0, 0.2), dense_output=False, **given)
    assert run.success and np.array_equal(run.t, wanted.t) and np.array_equal(run.y, wanted.y)
    assert run.stats.steps == wanted.stats.steps > 5 and "dense_output" in run.options
    for found, kept in zip(run.events, wanted.events, strict=True):
        assert len(found.t) and np.array_equal(found.t, kept.t) and np.array_equal(found.y, kept.y)
    assert wanted.steps is not None and len(wanted.steps.t) > 5
    with pytest.raises(ValueError, match="kept no states at its steps: solve without dense_output=False"):
        run(0.1)
    assert np.array_equal(run.energy.total, wanted.energy.total)


@pytest.mark.parametrize("options", [{}, {"projection": True}], ids=["plain", "projected"])
def test_without_dense_output_memory_does_not_grow_with_the_steps(options):
    """Rows of 20,000 steps would be 4 MB; buffers take 0.5 MB."""
    _long(200, t_eval=(0.0, 1e-3), dense_output=False, **options)
    tracemalloc.start()
    run = _long.__wrapped__(20_000, t_eval=(0.0, 0.1), dense_output=False, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert run.success and run.stats.steps > 19_000 and len(run.t) == 2
    assert peak < 1.5e6
