"""dF/dp for numbers of a system by name: differences between systems, and complex steps of their packing, for every
name."""

from __future__ import annotations

from functools import partial

import cases
import force_cases
import inside
import numpy as np
import pytest
import toy_force

import rbdae
from rbdae.formulations import FORMULATIONS


def _state(problem):
    rng = np.random.default_rng(3)
    return problem.y0 + 0.05 * rng.standard_normal(problem.n), problem.yd0 + rng.standard_normal(problem.n)


MECHANISMS = [
    ("andrews", "index-1", "euler-313"),
    ("spatial_slider_crank", "index-0", "directors"),
    ("chain", "null-space", "rodrigues"),
    ("bricard", "hamiltonian", "quaternion"),
    ("linked_bodies", "ggl", "quaternion"),
]
"""Springs, rods, loops, trees, momenta."""


@pytest.mark.parametrize("model, form, rotation", MECHANISMS)
def test_names_have_the_differences_between_systems(model, form, rotation):
    build = getattr(rbdae.models, model)
    system = build(3) if model == "chain" else build()
    reference = "start" if rotation not in ("quaternion", "directors") else "space"
    problem = rbdae.formulate(system, form, rotation=rotation, redundant="minimum-norm", reference=reference)
    y, yd = _state(problem)
    names = list(np.random.default_rng(4).permutation(list(problem.parameters))[: cases.count(3, 10_000)])
    found = problem.parameter_jacobian(problem.t0, y, yd, names)
    F = np.max(np.abs(problem.residual(problem.t0, y, yd)))
    for k, name in enumerate(names):
        wanted, step = inside.parameter_difference(problem, name, y, yd)
        # differences have the rounding of the whole residual
        assert np.max(np.abs(found[:, k] - wanted)) <= 1e-12 * np.max(np.abs(wanted)) + 1e-13 * F / step, name
        wanted = inside.parameter_step(problem, name, y, yd)
        assert np.max(np.abs(found[:, k] - wanted)) <= 1e-12 * np.max(np.abs(wanted)) + 1e-14 * F / step, name


EVERYWHERE = {
    **cases.SYSTEMS,
    **{
        f"{kind}, {where}": partial(force_cases.system_of, kind, **{where: True})
        for k, kind in enumerate(force_cases.FORCES)
        for i, where in enumerate(("jointed", "pivot"))
        if cases.NIGHTLY or (k + i) % 2 == 0
    },
}
"""Mechanisms, and forces of every kind: some along joints that are not in the system, some with coefficients of 0, some
whose points are the centre of mass in one component. The two places of a force take turns."""


@pytest.mark.parametrize("mechanism", EVERYWHERE)
def test_names_of_every_joint_and_force_have_the_differences_between_systems(mechanism):
    problem = cases.formulated(
        EVERYWHERE[mechanism](), "index-2", redundant="minimum-norm", consistent="project", code="plain"
    )
    y, yd = _state(problem)
    F = np.max(np.abs(problem.residual(problem.t0, y, yd)))
    wanted = {}
    for name in np.random.default_rng(4).permutation(list(problem.parameters))[: cases.count(2, 10_000)]:
        try:
            wanted[name] = inside.parameter_difference(problem, name, y, yd)
        except ValueError:  # a spring with a stiffness has one unknown more than without
            assert problem.parameters[name] == 0.0 and "stiffness" in name
    found = problem.parameter_jacobian(problem.t0, y, yd, list(wanted))
    assert found.shape == (problem.n, len(wanted)) and wanted
    for k, (name, (difference, step)) in enumerate(wanted.items()):
        error = np.max(np.abs(found[:, k] - difference))  # with the rounding of the whole residual
        assert error <= 1e-12 * np.max(np.abs(difference)) + 1e-13 * F / step, name


def test_a_damper_along_a_joint_that_is_not_in_the_system_follows_its_bodies():
    """Its joint has the bodies before the change."""
    problem = cases.formulated(force_cases.system_of("torsion"), "index-2", code="plain")
    heavier = problem.with_parameters({"a.mass": 2.0 * problem.parameters["a.mass"]})
    assert heavier.parameters["a.mass"] == 2.0 * problem.parameters["a.mass"]
    found = problem.parameter_jacobian(0.0, problem.y0, np.ones(problem.n), ["a.mass"])
    np.testing.assert_allclose(
        heavier.residual(0.0, problem.y0, np.ones(problem.n)) - problem.residual(0.0, problem.y0, np.ones(problem.n)),
        found[:, 0] * problem.parameters["a.mass"],
        atol=1e-12,
    )


def test_numbers_in_a_function_of_the_user_are_refused_by_name():
    system, a, b = force_cases.two_bodies()
    system.add_force(toy_force.Maxwell(a, b, stiffness=30.0, viscosity=4.0, length=0.5, name="strut"))
    problem = cases.formulated(system, "index-2", code="plain")
    y, yd = _state(problem)
    for name in ("strut.stiffness", "strut.viscosity", "strut.length"):
        with pytest.raises(ValueError, match=f"parameter '{name}': a function of the user depends on it"):
            problem.parameter_jacobian(0.0, y, yd, [name])
    found = problem.parameter_jacobian(0.0, y, yd, ["strut.stretch", "a.mass"])
    wanted = inside.parameter_difference(problem, "a.mass", y, yd)[0]
    np.testing.assert_allclose(found, np.column_stack([np.zeros(len(found)), wanted]), rtol=0, atol=1e-11)


ODES = [
    (model, form, velocity)
    for k, form in enumerate(name for name, value in FORMULATIONS.items() if value.kind == "ode")
    for model, velocity in (("linked_bodies", None), (("chain", "spatial_slider_crank")[k % 2], None))
]
ODES += [
    ("spatial_slider_crank", "null-space", None),
    ("chain", "null-space", "spatial"),
]
LARGE = [("n_four_bar", "null-space", None), ("bricard", "index-0", None)]
"""Every explicit form; the null-space form with its three structures, spatial velocities; redundant rows of large
models at night."""


@pytest.mark.parametrize(
    "model, form, velocity",
    [*dict.fromkeys(ODES), *(pytest.param(*case, marks=pytest.mark.nightly) for case in LARGE)],
)
def test_the_right_hand_side_has_its_own(model, form, velocity):
    """df/dp, by differences between systems and by the implicit function F(t, y, f(p), p) = 0: whoever took -dF/dp of
    the null-space form for it had nonsense."""
    build = getattr(rbdae.models, model)
    system = build(3) if model == "chain" else build()
    velocity = velocity if "angular" in FORMULATIONS[form].velocities else None
    problem = rbdae.formulate(system, form, velocity=velocity, redundant="minimum-norm")
    y, t = _state(problem)[0], problem.t0
    f = problem.rhs(t, y)
    E = problem.jacobian(t, y, f, 1.0) - problem.jacobian(t, y, f, 0.0)
    names = list(np.random.default_rng(5).permutation(list(problem.parameters))[: cases.count(1, 10_000)])
    names += [f"{system.bodies[0].name}.mass"]
    found = problem.rhs_parameter_jacobian(t, y, names)
    assert found.shape == (problem.n, len(names))
    np.testing.assert_allclose(
        E @ found, -problem.parameter_jacobian(t, y, f, names), rtol=0, atol=1e-10 * (1.0 + np.abs(found).max())
    )
    for k, name in enumerate(names):
        wanted, step = inside.parameter_difference(problem, name, y, None)
        assert np.max(np.abs(found[:, k] - wanted)) <= 1e-8 * np.max(np.abs(wanted)) + 1e-12 * np.abs(f).max() / step
        wanted = inside.parameter_step(problem, name, y, None)
        level = np.max(np.abs(wanted)) + 1e-2 * np.abs(f).max() / step
        assert np.max(np.abs(found[:, k] - wanted)) <= 1e-12 * level, name
    assert np.abs(found).max() > 0.0


@pytest.mark.parametrize("model", ["linked_bodies", "spatial_slider_crank"])
@pytest.mark.parametrize("velocity", ["angular", "spatial"])
def test_the_residual_of_the_null_space_form_is_weighted_by_the_reduced_mass(model, velocity, rng):
    """Documents said F = yd - f."""
    build = getattr(rbdae.models, model)
    problem = rbdae.formulate(build(), "null-space", velocity=velocity)
    y, yd, t = problem.y0 + 0.05 * rng.standard_normal(problem.n), rng.standard_normal(problem.n), problem.t0
    m = problem.matrices(t, y, sparse=False)
    wanted = yd - problem.rhs(t, y)
    v = problem.layout.v
    wanted[v] = m.T.T @ m.M @ m.T @ wanted[v]
    found = problem.residual(t, y, yd)
    assert np.abs(found - wanted).max() < 1e-10 * np.abs(found).max()
    assert np.abs(found - (yd - problem.rhs(t, y))).max() > 1e-2  # another residual


@pytest.mark.parametrize("mechanism", cases.SYSTEMS)
def test_values_are_those_of_the_system(mechanism):
    """A number is larger by what it has been changed by, and no other is, but for a multiple of the unit matrix."""
    system = cases.SYSTEMS[mechanism]()
    found = inside.named_numbers.parameters(system)
    for body in system.bodies:
        assert found[f"{body.name}.mass"].value == body.mass
    names = list(found)
    for name in (names[k] for k in np.random.default_rng(3).permutation(len(names))[:12]):
        moved = inside.named_numbers.parameters(found[name].replaced(system, found[name].value + 0.25))
        assert moved[name].value == pytest.approx(found[name].value + 0.25, abs=1e-12)
        others = [other for other in names if other in moved and moved[other].value != found[other].value]
        assert all(other.startswith(name) or name.startswith(other) for other in others), (name, others)


def test_names_are_those_of_the_parts_and_others_are_refused_with_the_list():
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    a = system.add_body("a", mass=2.0, inertia=(1.0, 1.5, 2.0), position=(0.0, 0.0, 1.0))
    b = system.add_body("b", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(2.0, 0.0, 1.0))
    system.add_joint(rbdae.joints.Rod(a, b, name="rod"))
    system.add_force(rbdae.forces.SpringDamper(a, b, stiffness=5.0, damping=0.0, length=1.0, name="spring"))
    system.add_force(rbdae.forces.Force(b, lambda t: np.array((t, 0.0, 0.0)), name="pull"))
    problem = rbdae.formulate(system, "index-2")
    assert {"a.mass", "b.inertia", "rod.length", "spring.damping", "spring.at_a.z", "gravity.z"} <= set(
        problem.parameters
    )
    assert "a.inertia" not in problem.parameters and "pull.force" not in problem.parameters
    with pytest.raises(ValueError, match=r"unknown parameter 'a.masses'.*a\.mass"):
        problem.parameter_jacobian(0.0, problem.y0, problem.yd0, ["a.masses"])
    with pytest.raises(TypeError, match="list of names"):
        problem.parameter_jacobian(0.0, problem.y0, problem.yd0, "a.mass")
    # a damper that is not there yet acts along the line all the same
    y = problem.y0.copy()
    y[problem.labels.index("b.vx")] = 3.0
    found = problem.parameter_jacobian(0.0, y, problem.yd0, ["spring.damping", "spring.stiffness"])
    rows = [problem.labels.index("a.vx"), problem.labels.index("b.vx")]
    assert found[rows] == pytest.approx(np.array(((-3.0, -1.0), (3.0, 1.0))), rel=1e-12)
    assert problem.parameter_jacobian(0.0, y, problem.yd0, []).shape == (problem.n_equations, 0)
