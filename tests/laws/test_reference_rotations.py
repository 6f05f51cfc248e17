"""Charts with a singular set: where they are centred, and what a run does near the set.

The mechanism is a body on a ball joint that tumbles over and over, so that it passes the singular set of each chart
more than ten times; quaternions say what is right.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import cases
import inside
import numpy as np
import pytest
from cases import count
from inside import Vec
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.adapter import Reason
from rbdae.models import bricard
from rbdae.rotations import CHARTS

CENTRED = [chart.name for chart in CHARTS.values() if chart.centre]
END = 3.6
TIMES = np.linspace(0.0, END, 37)
RUNS = {
    "scipy:DOP853": ("null-space", 1e-11),
    "scipy:Radau": ("index-0", 1e-9),
    "sksundae:ida": ("index-2", 1e-12),
    "sksundae:cvode": ("index-0", 1e-12),
}


def tumbler(rotation: str) -> rbdae.System:
    """Eleven turns and a half about the axis of largest inertia, in which the chart passes its singular set closely."""
    axis = 0 if rotation == "euler-313" else 1
    spin = 20.0 * np.eye(3)[axis] + (0.002, 0.003, 0.001)
    system = rbdae.System(gravity=(0, 0, -9.81))
    body = system.add_body(
        "a",
        mass=2.0,
        inertia=(0.8, 0.5, 0.6) if axis == 0 else (0.5, 0.8, 0.6),
        position=(0, 0, -0.5),
        angular_velocity=spin,
        velocity=np.cross(spin, (0, 0, -0.5)),
    )
    system.add_joint(rbdae.joints.Spherical(system.ground, body, at_a=(0, 0, 0), at_b=(0, 0, 0.5), name="ball"))
    return system


@cache
def reference(axis: str) -> rbdae.Solution:
    problem = rbdae.formulate(tumbler(axis), "null-space")
    return rbdae.solve(problem, (0.0, END), solver="scipy:DOP853", rtol=1e-13, atol=1e-13, t_eval=TIMES)


def tumbled(rotation: str, solver: str, code: str = "auto", **arguments: Any) -> rbdae.Solution:
    form, tol = RUNS[solver]
    problem = cases.formulated(tumbler(rotation), form, rotation=rotation, reference="start", code=code)
    given = {"t_eval": TIMES, "projection": True, "on_singularity": "switch"} | arguments
    return rbdae.solve(problem, (0.0, END), solver=solver, rtol=tol, atol=tol, **given)


@cache
def switching(rotation: str, solver: str = "scipy:DOP853", code: str = "auto") -> rbdae.Solution:
    return tumbled(rotation, solver, code)


def apart(one: rbdae.Solution, two: rbdae.Solution) -> float:
    """The largest angle between the orientations of the body at common times."""
    a, b = one.states["a"].orientation, two.states["a"].orientation
    return float((a * b.inv()).magnitude().max())


def axis_of(rotation: str) -> str:
    return "euler-313" if rotation == "euler-313" else "others"


# ---------------------------------------------------------------- where a chart is centred


@pytest.mark.parametrize("rotation", CENTRED)
@pytest.mark.parametrize("formulation", ["index-0", "index-2", "null-space"])
def test_the_equations_are_those_of_the_motion(rotation, formulation, rng):
    """Accelerations, reactions and constraints with any reference rotations are those in quaternions."""
    system = cases.built("C")
    wanted = rbdae.formulate(system, formulation, consistent="project")
    problem = rbdae.formulate(system, formulation, rotation=rotation, reference="start", consistent="project")
    assert all(np.abs(problem.natural(0.0, problem.y0) - wanted.natural(0.0, wanted.y0)).max(axis=-1) < 1e-13)
    origins = problem.selection.references @ Rotation.from_rotvec((0.2, -0.3, 0.25)).as_matrix()
    moved = problem.with_selection(replace(problem.selection, references=origins))
    y = problem.translated(0.0, problem.y0, moved)
    assert np.abs(moved.natural(0.0, y) - wanted.natural(0.0, wanted.y0)).max() < 1e-13
    assert np.abs(problem.project(0.0, moved.translated(0.0, y, problem)) - problem.y0).max() < 1e-12
    size = np.abs(wanted.yd0[wanted.layout.v]).max()
    v = wanted.layout.v
    assert np.abs(moved.rates(0.0, y)[0][moved.layout.v] - wanted.yd0[v]).max() < 1e-12 * size
    for joint, sides in wanted.reactions(0.0, wanted.y0).items():
        for body, reaction in sides.items():
            np.testing.assert_allclose(moved.reactions(0.0, y)[joint][body].force, reaction.force, rtol=1e-11)


@pytest.mark.sampled
@pytest.mark.parametrize("case", range(count(4, 80)))
def test_jacobians_with_reference_rotations(case):
    """Against complex steps of the plain kernels."""
    rng = np.random.default_rng(case)
    pairs = [p for p in cases.PAIRINGS if p.rotation in CENTRED]
    pairing = pairs[int(rng.integers(len(pairs)))]
    system = list(cases.SYSTEMS)[int(rng.integers(len(cases.SYSTEMS)))]
    problem = rbdae.formulate(
        cases.built(system), pairing.formulation, rotation=pairing.rotation, velocity=pairing.velocity,
        reference="start", consistent="project",
    )  # fmt: skip
    turns = Rotation.from_rotvec(0.3 * rng.standard_normal((problem.model.n, 3))).as_matrix()
    other = replace(problem.selection, references=problem.selection.references @ turns)
    moved = problem.with_selection(other)
    y = problem.translated(problem.t0, problem.y0, moved) + 0.02 * rng.standard_normal(problem.n)
    yd = rng.standard_normal(problem.n)
    F = inside.in_python(inside.workspace(moved), moved.workspace.settings.kernels.residual)

    def column(j: int) -> Vec:
        z, out = y + 0j, np.zeros(moved.n_equations, dtype=complex)
        z[j] += 1e-30j
        F(moved.t0, z, yd + 0j, out)
        return out.imag / 1e-30

    wanted = np.stack([column(j) for j in range(moved.n)], axis=1)
    error, where = cases.worst(moved.jacobian(moved.t0, y, yd, 0.0), wanted, floor=1.0)
    assert error < 1e-10, (system, pairing, moved.labels[where[1]])


# ---------------------------------------------------------------- runs


@pytest.mark.parametrize("rotation", CENTRED)
def test_a_run_stops_near_the_singular_set_by_itself(rotation):
    run = tumbled(rotation, "scipy:DOP853", on_singularity="stop", t_eval=None)
    assert not run.success and run.reason is Reason.CHART
    assert "singular set" in run.message and "on_singularity='switch'" in run.message and "'a'" in run.message
    distance = CHARTS[rotation].distance_to_singularity(run.y[-1, 3:6])
    assert 0.0 < distance < 1e-3 and len(run.t) > 3
    wanted = reference(axis_of(rotation))(run.t)
    there = reference(axis_of(rotation)).problem.states(run.t, wanted)["a"]
    assert np.abs(run.states["a"].position - there.position).max() < 1e-6


def test_a_step_beyond_the_singular_set_ends_the_run():
    """With such tolerances nothing holds a solver back; what lies beyond cannot be read, and is left out."""
    problem = rbdae.formulate(tumbler("linear"), "index-0", rotation="linear", reference="start")
    for policy in ("stop", "switch"):
        far = {"rtol": 0.9, "atol": 1e9, "first_step": 0.12}
        run = rbdae.solve(problem, (0.0, 0.5), solver="rbdae:dop853", on_singularity=policy, **far)
        assert run.reason is Reason.CHART and "within one step the linear parameters of body 'a'" in run.message
        assert len(run.t) and np.isfinite(run.states["a"].position).all()
        assert run.message.startswith("rbdae:dop853 stopped at t = 0.0799")


@pytest.mark.parametrize(
    "rotation, code", [*((rotation, "auto") for rotation in CENTRED), ("bryant-321", "auto"), ("linear", "auto")]
)
def test_a_tumbling_body_passes_every_singular_set(rotation, code):
    run, wanted = switching(rotation, code=code), reference(axis_of(rotation))
    assert run.success, run.message
    assert run.stats.restarts >= 10
    assert apart(run, wanted) < 1e-7
    assert np.abs(run.energy.total - wanted.energy.total[0]).max() < 1e-6 * abs(wanted.energy.kinetic.max())
    assert run.drift.position.max() < 1e-9 and run.drift.velocity.max() < 1e-9
    size = np.abs(wanted.reactions["ball"]["a"].force).max()
    found = run.reactions["ball"]["a"]
    assert np.abs(found.force - wanted.reactions["ball"]["a"].force).max() < 1e-6 * size
    assert np.abs(run.multipliers - wanted.multipliers).max() < 1e-6 * size


@pytest.mark.sampled
@pytest.mark.parametrize("rotation", CENTRED if cases.NIGHTLY else CENTRED[2:3])
@pytest.mark.parametrize("solver", [s for s in RUNS if cases.NIGHTLY or s.startswith("sksundae")])
def test_every_solver_passes_them(solver, rotation):
    run = switching(rotation, solver)
    assert run.success, run.message
    assert run.stats.restarts >= 10
    assert apart(run, reference(axis_of(rotation))) < 1e-7


@pytest.mark.parametrize("rotation", CENTRED)
def test_rows_are_read_by_their_own_reference_rotation(rotation, tmp_path):
    run = switching(rotation)
    problem = rbdae.formulate(tumbler(rotation), "null-space", rotation=rotation, reference="start")
    again = rbdae.load(run.save(tmp_path / "run"), problem)
    assert np.array_equal(again.states["a"].orientation.as_quat(), run.states["a"].orientation.as_quat())
    assert np.array_equal(again.energy.total, run.energy.total)
    assert np.array_equal(again.reactions["ball"]["a"].force, run.reactions["ball"]["a"].force)
    t = 0.37 + 0.171 * np.arange(18)
    assert np.array_equal(again(t), run(t))
    wanted = reference(axis_of(rotation))
    between = wanted.problem.states(t, wanted(t))["a"]
    found = run.problem.states(t, run(t))["a"]
    assert (found.orientation * between.orientation.inv()).magnitude().max() < 3e-7
    assert np.abs(found.angular_velocity - between.angular_velocity).max() < 1e-5
    R = [run.problem_at(float(s)).reference_rotations["a"] for s in (0.0, END)]
    assert (R[0] * R[1].inv()).magnitude() > 1e-3


def test_a_loop_selects_velocities_rows_and_charts_in_one_run(tmp_path):
    """Bricard's mechanism in Bryant angles needs all three."""
    later, end = 16, 2.4
    t = np.linspace(0.0, end, 13)
    given: dict[str, Any] = {"solver": "scipy:DOP853", "rtol": 1e-8, "atol": 1e-8, "t_eval": t}
    problem = inside.dropping(
        rbdae.formulate(bricard(), "null-space", rotation="bryant-321", reference="start", redundant="minimum-norm"),
        (later,),
    )
    run = rbdae.solve(problem, (0.0, end), on_singularity="switch", **given)
    assert run.success, run.message
    chosen = [p.selection for p in run.segments.problems]
    pairs = list(pairwise(chosen))
    assert any(a.rows is not b.rows for a, b in pairs)
    assert any(a.velocities is not b.velocities for a, b in pairs)
    assert any(a.references is not b.references for a, b in pairs)
    again = rbdae.load(run.save(tmp_path / "run"), problem)
    read = [p.selection for p in again.segments.problems]
    for (a, b), (c, d) in zip(pairs, pairwise(read), strict=True):  # what a change leaves alone stays one object
        assert (c.references is d.references) == (a.references is b.references)
    assert read[0].references is problem.selection.references
    wanted = rbdae.solve(rbdae.formulate(bricard(), "index-0", redundant="minimum-norm"), (0.0, end), **given)
    found = run.problem.natural(run.t, run.y)
    assert np.abs(found - wanted.problem.natural(wanted.t, wanted.y)).max() < 1e-5
