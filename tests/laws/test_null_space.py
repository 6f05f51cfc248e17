"""The null-space form of any joints: closed loops, hinges, drives; and what another selection leaves as it is."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import cases
import inside
import numpy as np
import pytest
import test_derivatives as derivatives
from cases import Pairing, Tie, along, close, differences, worst
from scipy.spatial.transform import Rotation

import rbdae
from rbdae import Projector
from rbdae.drives import PrescribedAngle, PrescribedDisplacement
from rbdae.joints import (
    Cylindrical,
    Dot2,
    Fixed,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)

# ---------------------------------------------------------------- mechanisms


def _bar(system, turn, name, a, b, mass, **more):
    a, b = np.array(a, float), np.array(b, float)
    length = float(np.linalg.norm(b - a))
    across = mass * length**2 / 12
    return system.add_body(
        name,
        mass=mass,
        inertia=(0.01 * mass, across, across + 0.008 * mass),  # not flat: directors have a mass, too
        position=turn.apply((a + b) / 2),
        orientation=turn * Rotation.from_rotvec((0, 0, np.arctan2(b[1] - a[1], b[0] - a[0]))),
        **more,
    )


Z = (0, 0, 1)


def four_bar(lengths=(1.0, 2.0, 2.5, 3.0), speed=2.4138548404, driven=False, tilt=(0.0, 0.0, 0.0)):
    """Three hinges and a planar closure of two equations; with these lengths the crank makes full turns."""
    l1, l2, l3, l4 = lengths
    turn = Rotation.from_rotvec(tilt)
    system = rbdae.System(gravity=turn.apply((0, -9.81, 0)))
    axis = turn.apply((0, 0, 1))
    A, D = l1 * np.array((np.cos(1), np.sin(1), 0)), np.array((l4, 0.0, 0.0))
    reach = float(np.linalg.norm(D - A))
    bend = np.arctan2(*(D - A)[1::-1]) + np.arccos((l2**2 - l3**2 + reach**2) / (2 * reach * l2))
    B = A + l2 * np.array((np.cos(bend), np.sin(bend), 0))
    crank = _bar(system, turn, "crank", (0, 0, 0), A, 1.0, angular_velocity=(0, 0, speed))
    coupler = _bar(system, turn, "coupler", A, B, 1.5)
    rocker = _bar(system, turn, "rocker", D, B, 1.2)
    hinge = Revolute(system.ground, crank, at_b=(-l1 / 2, 0, 0), axis_a=axis, axis_b=Z, name="O")
    system.add_joint(hinge)
    system.add_joint(Revolute(crank, coupler, at_a=(l1 / 2, 0, 0), at_b=(-l2 / 2, 0, 0), axis_b=Z, name="A"))
    system.add_joint(
        Revolute(system.ground, rocker, at_a=turn.apply(D), at_b=(-l3 / 2, 0, 0), axis_a=axis, axis_b=Z, name="D")
    )
    ends = (l2 / 2, 0, 0), (l3 / 2, 0, 0)
    system.add_joint(Tie(coupler, rocker, [Dot2((1, 0, 0), *ends), Dot2((0, 1, 0), *ends)], *ends, "B"))
    if driven:
        system.add_joint(
            PrescribedAngle(
                hinge, (lambda t: 3 * t + 0.2 * np.sin(t), lambda t: 3 + 0.2 * np.cos(t), lambda t: -0.2 * np.sin(t))
            )
        )
    return system


def triple_rocker():
    """No bar makes full turns: every angular velocity changes its sign somewhere."""
    return four_bar((2.0, 1.5, 2.2, 3.9), -0.4084078526)


def hinges():
    """A slider, a chain of two hinges about skew axes on it, and a ball joint at its end."""
    system = rbdae.System()
    bodies = [
        system.add_body(
            f"link{i}",
            mass=1.0 + 0.4 * i,
            inertia=cases.INERTIA / (1 + i),
            center_of_mass=(0.1, -0.2 * i, 0.1),
            position=(0.5 * i, 0.2, -0.3 * i),
            orientation=Rotation.from_rotvec((0.3 * i, 0.5 - 0.2 * i, 0.4)),
            velocity=(0.2, 0.1 * i, -0.3),
            angular_velocity=(0.5, -0.4 * i, 0.8),
        )
        for i in range(4)
    ]
    system.add_joint(Prismatic(system.ground, bodies[0], axis_a=(1, 0.3, 0)))
    for a, b, axis in ((0, 1, (0, 1, 0.2)), (1, 2, (1, 0, 0.5))):
        arms = {"at_a": (0.4, -0.1, 0.2), "at_b": (-0.3, 0.2, 0.1)}
        system.add_joint(Revolute(bodies[a], bodies[b], **arms, axis_a=axis, axis_b=None))
    system.add_joint(Spherical(bodies[2], bodies[3], at_a=(0.5, 0.1, 0), at_b=(0, -0.4, 0.2)))
    return system


def driven_hinges():
    """The same with a prescribed angle of its first hinge."""
    system = hinges()
    law = (lambda t: 0.3 * np.sin(2 * t), lambda t: 0.6 * np.cos(2 * t), lambda t: -1.2 * np.sin(2 * t))
    system.add_joint(PrescribedAngle(system.joints[1], law))
    return system


MECHANISMS = {
    "four-bar": partial(four_bar, tilt=(0.7, 0.4, -0.3)),
    "hinges": hinges,
    "driven": driven_hinges,
    "loop": cases.loop,
}
IN_CHARTS = [(name, chart) for name in MECHANISMS for chart in cases.ROTATIONS] if cases.NIGHTLY else [
    ("four-bar", "quaternion"), ("hinges", "directors"), ("driven", "euler-313"),
]  # fmt: skip


@pytest.fixture(params=MECHANISMS)
def mechanism(request, monkeypatch):
    monkeypatch.setitem(cases.SYSTEMS, request.param, MECHANISMS[request.param])
    return request.param


@cache
def problems(name, rotation):
    """In null-space form and with index 0, at the same state."""
    system = MECHANISMS[name]()
    return (
        cases.formulate(system, ("null-space", rotation, "angular")),
        cases.formulate(system, ("index-0", rotation, "angular")),
    )


# ---------------------------------------------------------------- equations


@pytest.mark.sampled
@pytest.mark.parametrize("mechanism, rotation", IN_CHARTS, indirect=["mechanism"])
def test_jacobians(mechanism, rotation, rng):
    pairing = Pairing("null-space", rotation, "angular")
    derivatives.check(mechanism, pairing, rng)


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.sampled
@pytest.mark.parametrize("mechanism, rotation", IN_CHARTS, indirect=["mechanism"])
def test_equal_to_index_0(mechanism, rotation, rng):
    """At consistent states: velocities, accelerations and multipliers; and nu = S w throughout."""
    problem, absolute = problems(mechanism, rotation)
    q = absolute.layout.q
    for t in (0.0, 0.4):
        y = absolute.y0 + 0.02 * rng.standard_normal(absolute.n)
        y = absolute.project(t, y, rbdae.Projection(max_iterations=50))
        nu = inside.unknowns_of(problem, absolute, t, y)[problem.layout.v]
        z = np.concatenate([y[q], nu])
        assert close(problem.natural(t, z), absolute.natural(t, y), 1e-10)
        rates, la = absolute.rates(t, y)
        # nudot along the motion of the other form
        change = along(lambda x, t=t: inside.unknowns_of(problem, absolute, t, x)[problem.layout.v], y, rates, 1e-4)
        wanted = np.concatenate([rates[q], change])
        assert close(problem.rhs(t, z), wanted, 1e-7)
        assert close(problem.rhs(t, z)[problem.layout.q], rates[q], 1e-8)
        wanted = problem.rhs(t, z)
        assert close(problem.multipliers(t, z), la, 1e-8)
        for joint, on in problem.reactions(t, z).items():
            for body, reaction in on.items():
                assert close(reaction.force, absolute.reactions(t, y)[joint][body].force, 1e-8)
        scale = np.abs(wanted).max() * np.abs(la).max()
        assert np.abs(problem.residual(t, z, wanted)).max() < 1e-10 * scale
        # velocity constraints hold for any nu, on the manifold or off it
        far = z + 0.1 * rng.standard_normal(problem.n)
        joints = inside.internal_constraints(problem)
        assert np.abs(problem.constraints(t, far).velocity[joints:]).max() < 1e-12 * max(1.0, np.abs(far).max())


@pytest.mark.sampled
@pytest.mark.parametrize("system, rotation", [*IN_CHARTS[:3], ("C", "bryant-321")])
def test_rows_of_the_overdetermined_form(system, rotation, rng):
    """The implicit residual, then the position constraints."""
    mechanism = MECHANISMS[system]() if system in MECHANISMS else cases.SYSTEMS[system]()
    square = cases.formulate(mechanism, ("null-space", rotation, "angular"))
    problem = cases.formulate(mechanism, ("null-space-overdetermined", rotation, "angular"))
    y = problem.y0 + 0.1 * rng.standard_normal(problem.n)
    yd = rng.standard_normal(problem.n)
    n = problem.n
    found = problem.residual(0.3, y, yd)
    assert problem.n_equations == len(found) == n + len(problem.constraints(0.3, y).position)
    # the same kernels, recorded apart: sums may be in another order
    assert close(found[:n], square.residual(0.3, y, yd), 1e-12)
    assert close(found[n:], problem.constraints(0.3, y).position, 1e-12)
    J = problem.jacobian(0.3, y, yd, 0.7)
    assert close(J[:n], square.jacobian(0.3, y, yd, 0.7), 1e-12)
    assert worst(J[n:], differences(lambda z: problem.residual(0.3, z, yd), y)[n:], 1e-3)[0] < 1e-8
    assert np.array_equal(problem.sparse_jacobian(0.3, y, yd, 0.7).toarray(), J)


def test_redundant_equations_are_left_out(rng):
    """A planar four-bar of four hinges: three equations follow from the others."""
    more: dict[str, Any] = {"redundant": "minimum-norm", "consistent": "project"}
    problem, absolute = (
        rbdae.formulate(cases.turning_four_bar("redundant"), form, **more) for form in ("null-space", "index-0")
    )
    assert len(problem.redundant) == 3 and inside.n_quasi_velocities(problem) == 1
    q = problem.layout.q
    assert close(problem.rhs(0.0, problem.y0)[q], absolute.rhs(0.0, absolute.y0)[q], 1e-10)
    assert close(problem.multipliers(0.0, problem.y0), absolute.multipliers(0.0, absolute.y0), 1e-8)
    y, yd = problem.y0 + 0.01 * rng.standard_normal(problem.n), rng.standard_normal(problem.n)
    derivatives.check_residual_at(problem, y, yd)
    derivatives.check_rhs_at(problem, y)


def test_trees_select_no_velocities():
    for build in (cases.branched, hinges, driven_hinges):
        assert not inside.selects_velocities(rbdae.formulate(build(), "null-space", consistent="project"))
    assert inside.selects_velocities(rbdae.formulate(four_bar(), "null-space"))
    system = rbdae.System()  # a joint without constant velocity rows takes the dense form, too
    body = system.add_body("a", mass=1.0, inertia=(1.0, 1.2, 1.4))
    system.add_joint(Universal(system.ground, body, at_b=(0, 0.2, 0.4)))
    assert inside.selects_velocities(rbdae.formulate(system, "null-space"))


def _pair(joint, child, more=None):
    """Two bodies; the second is the child of the first through a joint on its side b or a, the first hangs from the
    ground by a hinge about a skew axis."""
    system = rbdae.System()
    inertia = cases.INERTIA
    spin = {"velocity": (0.1, 0.2, -0.3), "angular_velocity": (0.7, -0.4, 0.5)}
    one = system.add_body("one", mass=1.3, inertia=inertia, center_of_mass=(0.1, 0.2, -0.1), **spin)
    turn = Rotation.from_rotvec((0.4, -0.2, 0.3))
    two = system.add_body("two", mass=0.8, inertia=inertia, position=(0.6, 0.1, 0.2), orientation=turn, **spin)
    system.add_joint(Revolute(system.ground, one, axis_a=(1, 0.5, 0.2), axis_b=None))
    a, b = (one, two) if child == "b" else (two, one)
    made = joint(a, b)
    system.add_joint(made)
    if more is not None:
        system.add_joint(more(made))
    return system


_WAVE = (lambda t: 0.3 * np.sin(2 * t), lambda t: 0.6 * np.cos(2 * t), lambda t: -1.2 * np.sin(2 * t))
_ARMS = {"at_a": (0.2, 0.1, -0.1), "at_b": (-0.1, 0.3, 0.2), "axis_a": (0.3, 1.0, -0.2)}
CHILDREN = {
    "spherical": (lambda a, b: Spherical(a, b, at_a=(0.2, 0.1, 0), at_b=(0, 0.3, 0.1)), None, 3),
    "revolute": (lambda a, b: Revolute(a, b, **_ARMS, axis_b=None), None, 1),
    "cylindrical": (lambda a, b: Cylindrical(a, b, **_ARMS, axis_b=None), None, 2),
    "prismatic": (lambda a, b: Prismatic(a, b, **_ARMS), None, 1),
    "planar": (lambda a, b: Planar(a, b, **_ARMS, axis_b=None), None, 3),
    "fixed": (lambda a, b: Fixed(a, b, **_ARMS), None, 0),
    "driven hinge": (lambda a, b: Revolute(a, b, **_ARMS, axis_b=None), lambda j: PrescribedAngle(j, _WAVE), 0),
    "driven turn": (lambda a, b: Cylindrical(a, b, **_ARMS, axis_b=None), lambda j: PrescribedAngle(j, _WAVE), 1),
    "driven slide": (
        lambda a, b: Cylindrical(a, b, **_ARMS, axis_b=None),
        lambda j: PrescribedDisplacement(j, _WAVE),
        1,
    ),
    "driven plane": (lambda a, b: Planar(a, b, **_ARMS, axis_b=None), lambda j: PrescribedAngle(j, _WAVE), 2),
}
ONE_SIDED = {
    "point on line": (lambda a, b: PointOnLine(a, b, **_ARMS), 4),
    "point on plane": (lambda a, b: PointOnPlane(a, b, **_ARMS), 5),
}


@pytest.mark.parametrize("child", ["a", "b"])
@pytest.mark.parametrize("joint", [*CHILDREN, *ONE_SIDED])
def test_every_pair_with_known_velocity_rows(joint, child, rng):
    """The velocity rows complete the equations everywhere, and the motion is that of index 0; joints whose
    velocity rows one side alone can count take the dense form on the other."""
    make, more, free = CHILDREN[joint] if joint in CHILDREN else (ONE_SIDED[joint][0], None, ONE_SIDED[joint][1])
    system = _pair(make, child, more)
    problem = rbdae.formulate(system, "null-space", consistent="project")
    absolute = rbdae.formulate(system, "index-0", velocity="angular", consistent="project")
    assert inside.selects_velocities(problem) == (joint in ONE_SIDED and child == "b")
    assert inside.n_quasi_velocities(problem) == 1 + free
    tight = {"solver": "scipy:DOP853", "rtol": 1e-11, "atol": 1e-11, "t_eval": np.linspace(0, 1, 5)}
    one, two = (rbdae.solve(p, (0, 1), **tight) for p in (problem, absolute))
    assert close(one.problem.natural(one.t, one.y), absolute.natural(two.t, two.y), 1e-6)
    assert one.drift.velocity.max() < 1e-12
    if not inside.selects_velocities(problem):
        assert one.stats.restarts == 0
    if child == "a" and not inside.selects_velocities(problem):
        y = one.y[-1] + 0.05 * rng.standard_normal(problem.n)
        derivatives.check_residual_at(problem, y, rng.standard_normal(problem.n))
        derivatives.check_rhs_at(problem, y)


@pytest.mark.plain  # code of 150 hinges about changing axes takes ten seconds
def test_long_trees_are_as_by_index_0():
    """A chain of 150 hinges about changing axes."""
    system = rbdae.System()
    before = system.ground
    for i in range(150):
        body = system.add_body(f"link{i}", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0.5 + i, 0, 0))
        arms = {"at_a": (0.5 if i else 0.0, 0, 0), "at_b": (-0.5, 0, 0)}
        system.add_joint(Revolute(before, body, **arms, axis_a=(0, 1, 0) if i % 2 else (0, 0, 1), axis_b=None))
        before = body
    problem = rbdae.formulate(system, "null-space")
    absolute = rbdae.formulate(system, "index-0", velocity="angular")
    q = problem.layout.q
    assert inside.n_quasi_velocities(problem) == 150
    assert close(problem.rhs(0.0, problem.y0)[q], absolute.rhs(0.0, absolute.y0)[q], 1e-9)
    assert close(problem.multipliers(0.0, problem.y0), absolute.multipliers(0.0, absolute.y0), 1e-7)
    assert np.abs(problem.residual(0.0, problem.y0, problem.yd0)).max() < 1e-7


def test_a_mechanism_without_freedom_has_no_quasi_velocities():
    """The crank's angle is prescribed: positions alone are left, and their rate is known."""
    problem = rbdae.formulate(four_bar(driven=True), "null-space", consistent="project")
    assert problem.n == problem.layout.q.stop
    solution = rbdae.solve(problem, (0, 1), solver="scipy:DOP853", rtol=1e-10, atol=1e-10)
    crank = problem.natural(solution.t, solution.y)[:, 0]
    angle = np.unwrap(np.arctan2(crank[:, 4], crank[:, 3]))
    assert np.allclose(angle - angle[0], 3 * solution.t + 0.2 * np.sin(solution.t), atol=1e-8)
    assert solution.drift.velocity.max() < 1e-12


# ---------------------------------------------------------------- trajectories


def test_another_selection_changes_nothing_but_numbers(rng):
    """Positions, velocities, accelerations, the energy and the span of T stay."""
    problem = rbdae.formulate(triple_rocker(), "null-space")
    y = problem.y0.copy()
    y[problem.layout.q] = problem.project(0.0, y + 0.02 * rng.standard_normal(problem.n))[problem.layout.q]
    before = problem.natural(0.1, y)
    rates = problem.rhs(0.1, y)
    _, T = inside.null_space(problem, 0.1, y)
    other = inside.reselected(problem, 0.1, y)
    assert np.array_equal(other.y0[problem.layout.q], y[problem.layout.q])
    assert close(other.natural(0.1, other.y0), before, 1e-12)
    assert close(other.yd0[problem.layout.q], rates[problem.layout.q], 1e-12)
    assert close(other.energy(0.1, other.y0).total, problem.energy(0.05, y).total, 1e-12)
    _, U = inside.null_space(other, 0.1, other.y0)
    assert close(U @ np.linalg.pinv(U), T @ np.linalg.pinv(T), 1e-11)
    # the accelerations, as rates of the natural velocities along the two fields
    found = [
        along(lambda x, p=p: p.natural(0.1, x)[..., 12:], z, r, 1e-4)
        for p, z, r in ((problem, y, rates), (other, other.y0, other.yd0))
    ]
    assert close(*found, 1e-7)
    # the problem itself is as it was
    assert close(problem.natural(0.1, y), before, 1e-12)


def test_projection_leaves_nu_alone(rng):
    problem, _ = problems("loop", "quaternion")
    y = problem.y0 + 1e-4 * rng.standard_normal(problem.n)
    z = y.copy()
    assert Projector(rbdae.Projection(), problem)(0.0, z)
    assert np.array_equal(z[problem.layout.v], y[problem.layout.v])
    assert np.abs(problem.constraints(0.0, z).position).max() < 1e-13


def test_the_selection_depends_on_the_space_of_motions_alone(rng):
    """Not on the signs and turns of a basis, which rounding decides: nu had another sign with another compiler."""
    problem = rbdae.formulate(rbdae.models.spatial_slider_crank(), "null-space", consistent="project")
    matrices = problem.matrices(0.0, problem.y0, sparse=False)
    nu = problem.selection.velocities.S.shape[0]
    for _ in range(5):
        mix = np.linalg.qr(rng.normal(size=(len(matrices.G), len(matrices.G))))[0]
        S = inside.metric(problem.workspace.model).select(mix @ matrices.G, nu).S
        assert close(S, problem.selection.velocities.S, 1e-10)
