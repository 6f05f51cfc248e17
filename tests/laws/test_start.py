"""Initial values: what is not given is found, what is given holds, and what has to change is said."""

from __future__ import annotations

from typing import Any

import cases
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.joints import Cylindrical, Fixed, Planar, Prismatic, Revolute, Spherical, Universal

INERTIA = (41.6, 11.6, 50.0)


def _state(problem: rbdae.Problem, name: str) -> Any:
    return problem.states(problem.t0, problem.y0)[name]


def _violation(problem: rbdae.Problem) -> float:
    g = problem.constraints(problem.t0, problem.y0)
    return float(max(np.abs(g.position).max(initial=0.0), np.abs(g.velocity).max(initial=0.0)))


def _linked(**given: Any) -> rbdae.System:
    """The first example of docs/start.md: of a rotation and angular velocity are given, of b the position."""
    system = rbdae.System()
    a = system.add_body(
        "a",
        mass=10.0,
        inertia=INERTIA,
        position=(0, 0, 0),
        orientation=Rotation.identity(),
        angular_velocity=(3, 2, 1),
    )
    b = system.add_body("b", mass=20.0, inertia=INERTIA, position=(-4, 8, 4), **given)
    system.add_joint(Spherical(a, b, at_a=(1, 2, -3), at_b=(5, -6, -7)))
    system.add_force(rbdae.forces.Bushing(a, stiffness=1e4))
    return system


def _bar(joint: type = Revolute, axes: dict[str, Any] | None = None, **given: Any) -> rbdae.System:
    """A bar of 1 m with one end at the origin."""
    system = rbdae.System()
    bar = system.add_body("bar", mass=1.0, inertia=(0.03, 0.1, 0.12), **given)
    system.add_joint(joint(system.ground, bar, at_b=(-0.5, 0, 0), **(axes or {})))
    return system


# ---------------------------------------------------------------- what is given holds


@pytest.mark.parametrize("pairing", cases.covering(cases.PAIRINGS, 9), ids=str)
def test_a_given_angular_velocity_holds(pairing):
    """(3, 2, 1) started as (1.08, 0.33, 0.21): velocities that were not given counted as zero."""
    turn = Rotation.from_rotvec((0.4, -0.3, 0.2))  # away from the singularities of all charts
    system = cases.rebuild(_linked(), turn=turn)
    problem = cases.formulate(system, pairing, consistent="check")
    exact = pairing.velocity == "angular"
    np.testing.assert_allclose(_state(problem, "a").angular_velocity, (3, 2, 1), rtol=0, atol=1e-15 if exact else 3e-14)
    np.testing.assert_allclose(_state(problem, "b").position, turn.apply((-4, 8, 4)), rtol=0, atol=1e-14)
    assert _violation(problem) < 1e-12
    assert problem.assembly.changes == ()
    assert problem.assembly.given == (("position", "orientation", "angular_velocity"), ("position", "orientation"))


@pytest.mark.parametrize("quantity", ["velocity", "angular_velocity"])
def test_either_velocity_gives_the_other(quantity):
    """Also where the origin of the frame is not the centre of mass."""
    given = {"velocity": (0, 2.5, 0), "angular_velocity": (0, 0, 5)}
    axis: dict[str, Any] = {"axis_a": (0, 0, 1), "axis_b": (0, 0, 1)}
    for center in ((0, 0, 0), (0.2, 0.1, -0.3)):
        place: dict[str, Any] = {"position": (0.5, 0, 0), "center_of_mass": center}
        problem = rbdae.formulate(_bar(axes=axis, **place, **{quantity: given[quantity]}))
        for what, value in given.items():
            np.testing.assert_allclose(getattr(_state(problem, "bar"), what), value, rtol=0, atol=1e-14)


def test_a_free_body_moves_as_it_is_told():
    """Of a body that turns without a given velocity the centre of mass is at rest; one with a given velocity and no
    given angular velocity does not turn."""
    for given, velocity, spin in (
        ({"velocity": (1, 2, 3)}, (1, 2, 3), (0, 0, 0)),
        ({"angular_velocity": (0, 0, 5)}, (0, -0.5, 0), (0, 0, 5)),
        ({}, (0, 0, 0), (0, 0, 0)),
    ):
        system = rbdae.System()
        system.add_body("body", mass=2.0, inertia=(1, 1.2, 1.4), center_of_mass=(0.1, 0, 0), **given)
        state = _state(rbdae.formulate(system, consistent="check"), "body")
        np.testing.assert_allclose(state.velocity, velocity, rtol=0, atol=1e-15)
        np.testing.assert_array_equal(state.angular_velocity, spin)


def test_a_drive_needs_no_velocities():
    """Its rate belongs to the velocity constraints: g_t is not zero."""
    system = rbdae.System()
    disc = system.add_body("disc", mass=1.0, inertia=(1, 1, 1.5), center_of_mass=(0.3, 0, 0))
    hinge = system.add_joint(Revolute(system.ground, disc, axis_a=(0, 0, 1), axis_b=(0, 0, 1)))
    law = (lambda t: 2.0 + 3.0 * t, lambda t: 3.0, lambda t: 0.0)
    system.add_joint(rbdae.drives.PrescribedAngle(hinge, law))
    for formulation in ("index-2", "index-0", "null-space", "hamiltonian"):
        problem = rbdae.formulate(system, formulation, t0=0.5, consistent="check")
        state = _state(problem, "disc")
        turn = state.orientation * Rotation.from_rotvec((0, 0, -3.5))
        assert turn.magnitude() < 1e-12
        np.testing.assert_allclose(state.angular_velocity, (0, 0, 3), rtol=0, atol=1e-12)


# ---------------------------------------------------------------- what is unknown


def test_unknown_positions_are_found_by_moving():
    """Bodies keep the orientation in which the search begins, where moving them is enough."""
    system = rbdae.System()
    last, end = system.ground, (0.0, 2.0, 0.0)
    for k in range(3):
        body = system.add_body(f"link{k}", mass=1.0, inertia=(1, 1, 1))
        system.add_joint(Spherical(last, body, at_a=end, at_b=(-0.5, 0, 0)))
        last, end = body, (0.5, 0.0, 0.0)
    problem = rbdae.formulate(system, consistent="check")
    np.testing.assert_allclose(problem.assembly.position, [(k + 0.5, 2, 0) for k in range(3)], rtol=0, atol=1e-14)
    assert problem.assembly.turned.max() == 0.0
    assert problem.assembly.given == 3 * ((),)
    assert problem.assembly.found == 3 * (("position", "orientation", "velocity", "angular_velocity"),)


def test_unknown_orientations_turn_before_given_positions_move():
    system = _bar(Spherical, position=(0, 0.3, -0.4))
    problem = rbdae.formulate(system, consistent="check")
    assert problem.assembly.moved[0] == 0.0
    assert problem.assembly.turned[0] > 1.0
    assert _violation(problem) < 1e-12


# ---------------------------------------------------------------- what has to change


@pytest.mark.parametrize("orientation", [{}, {"orientation": (1, 0, 0, 0)}], ids=["found", "given"])
def test_a_joint_point_2_m_off_moves_the_body_with_a_warning(orientation):
    """In silence, and the report was None."""
    system = _bar(position=(2.5, 0, 0), **orientation)
    match = r"body 'bar': position from \(2\.5, 0, 0\) to \(0\.5, 0, 0\) \(by 2 m\); .*consistent='project'"
    with pytest.warns(rbdae.InitialValuesWarning, match=match) as caught:
        problem = rbdae.formulate(system)
    assert [warning.filename for warning in caught] == [__file__]
    assert problem.assembly.moved[0] == pytest.approx(2.0, abs=1e-12)
    with pytest.raises(ValueError, match=f"inconsistent initial values: constraint violation 2 in positions.*{match}"):
        rbdae.formulate(system, consistent="check")
    for quiet in (rbdae.formulate(system, consistent="project").assembly, rbdae.assemble(system)):
        (change,) = quiet.changes
        assert (change.body, change.quantity) == ("bar", "position")
        np.testing.assert_allclose(change.given, (2.5, 0, 0))
        np.testing.assert_allclose(change.used, (0.5, 0, 0), atol=1e-14)
        assert change.size == pytest.approx(2.0)
        assert quiet.gap == pytest.approx(2.0)
    unknown = rbdae.formulate(_bar(**orientation))  # the warning would be an error
    np.testing.assert_allclose(_state(unknown, "bar").position, (0.5, 0, 0), rtol=0, atol=1e-14)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
def test_rounding_is_no_change(scale):
    """Relative to the model's own length and rate."""
    system = rbdae.System(gravity=(0, 0, -9.81 * scale))
    bar = system.add_body(
        "bar",
        mass=1.0,
        inertia=np.array((0.1, 0.1, 0.1)) * scale**2,
        position=(0.5 * scale * (1 + 1e-9), 0, 0),
        orientation=(1, 0, 0, 0),
        velocity=(1e-10 * scale, 2.5 * scale, 0),
        angular_velocity=(0, 0, 5),
    )
    system.add_joint(Spherical(system.ground, bar, at_b=(-0.5 * scale, 0, 0)))
    problem = rbdae.formulate(system)  # the warning would be an error
    assert 0.0 < problem.assembly.moved[0] < 1e-8 * scale
    assert _violation(problem) < 1e-12 * scale


def test_the_unknown_velocity_of_what_is_held_is_found():
    """A held crank turns about its hinge: its velocity is not zero because it is held."""
    problem = rbdae.formulate(_bar(position=(0.5, 0, 0), angular_velocity=(0, 0, 5)), hold=["bar"])
    np.testing.assert_allclose(_state(problem, "bar").velocity, (0, 2.5, 0), rtol=0, atol=1e-14)


# ---------------------------------------------------------------- right angles and half turns


@pytest.mark.parametrize("given", [{}, {"orientation": (1, 0, 0, 0)}], ids=["found", "given"])
@pytest.mark.parametrize("kind", [Revolute, Prismatic, Cylindrical, Planar, Fixed, Universal], ids=lambda k: k.__name__)
def test_axes_at_right_angles_are_closed(kind, given):
    """They were refused: all steps of Newton's method vanish there. For a universal joint they are parallel."""
    axes = {"axis_a": (0, 0, 1), "axis_b": (0, 0, 1) if kind is Universal else (1, 0, 0)}
    problem = rbdae.formulate(_bar(kind, axes, **given), consistent="project")
    assert _violation(problem) < 1e-12
    # a quarter turn; welds and slides also bring their normals together: a third of a turn
    full = kind in (Fixed, Prismatic)
    assert problem.assembly.turned[0] == pytest.approx(2 * np.pi / 3 if full else 0.5 * np.pi, abs=1e-9)
    assert [change.quantity for change in problem.assembly.changes] == list(given)
    axis = _state(problem, "bar").orientation.apply(axes["axis_b"])
    if kind is not Universal:
        assert abs(axis[2]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("kind", [Revolute, Cylindrical, Planar])
def test_opposite_axes_are_a_placement_of_their_own(kind):
    """The joint's equations hold, the body is mounted the other way round."""
    over = Rotation.from_rotvec((np.pi, 0, 0))
    axes = {"axis_a": (0, 0, 1), "axis_b": (0, 0, 1)}
    problem = rbdae.formulate(_bar(kind, axes, position=(0.5, 0, 0), orientation=over), consistent="check")
    assert problem.assembly.turned[0] < 1e-14


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("kind", [Fixed, Prismatic])
def test_welds_and_slides_mean_one_rotation(kind, given, rng):
    """Their equations hold for four: the others are half a turn away, and were taken in silence."""
    wanted = Rotation.random(random_state=int(rng.integers(1 << 30)))
    b = wanted.inv().apply(np.eye(3))
    axes = {"axis_a": (0, 0, 1), "axis_b": b[2], "normal_a": (1, 0, 0), "normal_b": b[0]}
    for half in np.eye(3) if given else [None]:
        off = {} if half is None else {"orientation": wanted * Rotation.from_rotvec(np.pi * half)}
        problem = rbdae.formulate(_bar(kind, axes, **off), consistent="project")
        assert (_state(problem, "bar").orientation.inv() * wanted).magnitude() < 1e-9
        assert _violation(problem) < 1e-12
