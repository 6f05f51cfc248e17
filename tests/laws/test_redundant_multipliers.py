"""Multipliers of redundant systems: what is among the unknowns, what `rates` gives, those of least norm and the
published matrices belong together."""

from __future__ import annotations

from typing import Any

import cases
import inside
import numpy as np
import pytest
from redundant_systems import KINDS, kind, redundant_system

import rbdae
from rbdae import joints
from rbdae.formulations import FORMULATIONS

FORMS = ("index-2", "index-0", "ggl", "hamiltonian", "null-space", "index-1", "projected-1")
VELOCITIES = {"index-1": "coordinate"}
"""Others than the default ones. Quaternions and directors with their rates have internal constraints, too."""


def _three_bodies() -> rbdae.System:
    """Joints of three kinds in two loops, of which one equation follows from the others; loads in all directions."""
    system = rbdae.System(gravity=(-3.879, -5.751, 6.68))
    data: list[tuple[Any, ...]] = [
        (1.026, (1.058, 0.647, 0.54), (0.207, -0.284, 0.003), (1, 0, 0, 0)),
        (0.433, (0.087, 0.042, 0.091), (0.275, 0.631, 0.322), (0.8853, -0.0925, 0.409, -0.2008)),
        (1.871, (0.863, 1.279, 1.955), (0.079, -0.411, 0.098), (-0.4215, 0.6931, -0.4074, 0.4195)),
    ]
    motion: list[tuple[Any, ...]] = [
        ((-1.545, 0.207, -0.148), (-0.575, 1.754, 0.484), (0.513, 0.852, -0.924)),
        ((-0.891, 0.940, 1.219), (-1.526, -2.386, -0.2), (0.18, 1.39, 0.604)),
        ((2.196, 0.654, 1.526), (0.672, -0.188, -0.003), (1.454, -0.925, -0.45)),
    ]
    b = [
        system.add_body(
            f"b{k}",
            mass=m,
            inertia=inertia,
            center_of_mass=c,
            orientation=np.array(q) / np.linalg.norm(q),
            position=x,
            velocity=v,
            angular_velocity=w,
        )
        for k, ((m, inertia, c, q), (x, v, w)) in enumerate(zip(data, motion, strict=True))
    ]
    axes: Any = [{"axis_a": axis, "axis_b": None} for axis in ((0.258, -0.093, 0.24), (0.684, -0.594, -0.036))]
    system.add_joint(joints.Fixed(b[1], b[2], at_a=(1.518, 0.281, 1.372), at_b=(-0.366, 0.775, -0.861)))
    system.add_joint(joints.Planar(b[1], b[0], at_a=(1.382, -0.5, -0.462), at_b=(0.702, -0.794, -0.972), **axes[0]))
    system.add_joint(joints.Cylindrical(b[0], b[2], at_a=(1.934, -0.633, 1.175), at_b=(-0.521, 1.1, -2.332), **axes[1]))
    ends: Any = {"at_a": (0.571, 0.482, -0.049), "at_b": (0.352, 2.857, 0.221)}
    system.add_joint(joints.Cylindrical(b[1], system.ground, axis_a=(0.017, 2.146, 0.389), axis_b=None, **ends))
    return system


def _windows() -> rbdae.System:
    """Plane loops of hinges with a load across the plane."""
    system = rbdae.models.n_four_bar(2, redundant=True)
    system.add_force(rbdae.forces.Force(system.bodies[0], (0.0, 50.0, 50.0)))
    system.add_force(rbdae.forces.Torque(system.bodies[0], (50.0, 0.0, 50.0)))
    return system


SPATIAL = {("windows", "null-space"), ("three bodies", "index-0")}
"""With spatial velocities."""

SYSTEMS = {"three bodies": _three_bodies, "windows": _windows}


def _check(problem: rbdae.Problem, t: float, y: Any) -> None:
    """At a state on the constraints."""
    layout, form = problem.layout, FORMULATIONS[problem.formulation]
    assert problem.redundant
    rates, la = problem.rates(t, y)
    best = problem.multipliers(t, y)
    m = problem.matrices(t, y, sparse=False)
    size = np.abs(m.psi).max() + np.abs(la).max()
    first = layout.n_internal
    assert not la[[first + row for row in inside.omitted_rows(problem)]].any()
    assert np.abs(m.W @ (la - best)).max() < 1e-11 * size  # the same forces
    Y, yd = y.copy(), np.zeros(problem.n)
    yd[: layout.n_differential] = rates
    if form.multipliers == "values":
        Y[layout.la], Y[layout.mu] = la[layout.n_hidden :], 0.0
    assert np.abs(problem.residual(t, Y, yd)).max() < 1e-10 * size
    sizes = problem.model.scales.sizes(problem.model.scales.length)
    assert np.linalg.norm(best[first:] * sizes) <= (1 + 1e-9) * np.linalg.norm(la[first:] * sizes)
    assert np.abs(m.g).max() < 1e-9 and np.any(m.G, axis=1).all()
    if form.unknowns == "velocities":
        vd = rates[layout.v]
    elif m.T is not None:
        vd = np.linalg.solve(m.M, m.psi - m.W @ la)
        assert np.abs(m.T.T @ (m.M @ vd - m.psi)).max() < 1e-11 * size
        assert np.abs(m.G @ m.T).max() < 1e-11
        assert np.abs(m.G @ (m.T @ y[layout.v] - m.r) + m.g_I).max() < 1e-9
    else:
        return
    for multipliers in (la, best):
        assert np.abs(m.M @ vd - m.psi + m.W @ multipliers).max() < 1e-11 * size
    assert np.abs(m.G @ vd + m.g_II).max() < 1e-10 * (1.0 + np.abs(m.g_II).max())


@pytest.mark.parametrize("formulation", FORMS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_there_is_one_set_of_multipliers(name, formulation):
    """`rates` chose its own equations at every state; the published G had zeros in others."""
    velocity = "spatial" if (name, formulation) in SPATIAL else VELOCITIES.get(formulation)
    problem = rbdae.formulate(
        SYSTEMS[name](), formulation, velocity=velocity, redundant="minimum-norm", consistent="project"
    )
    _check(problem, 0.0, problem.y0)
    rates, la = problem.rates(0.0, problem.y0)
    # the start is found by generic code: other code rounds in another order
    level = 0.0 if problem.code == "generic" else 1e-12 * max(1.0, np.abs(la).max())
    np.testing.assert_allclose(rates, problem.yd0[: problem.layout.n_differential], rtol=0, atol=level)
    if FORMULATIONS[formulation].multipliers == "values":
        np.testing.assert_allclose(la[problem.layout.n_hidden :], problem.y0[problem.layout.la], rtol=0, atol=level)


@pytest.mark.parametrize("seed", range(len(KINDS)), ids=kind)
def test_random_redundant_systems_have_one_set(seed):
    system = redundant_system(seed)
    if not rbdae.assemble(system).redundant:
        return  # a kind that may leave nothing over
    problem = rbdae.formulate(
        system,
        ("index-2", "index-1", "hamiltonian", "ggl")[seed % 4],
        rotation="directors" if seed % 3 == 1 else "quaternion",
        velocity="coordinate" if seed % 4 == 1 else None,
        redundant="minimum-norm",
        consistent="project",
    )
    _check(problem, 0.0, problem.y0)


def test_where_the_kept_rows_have_become_dependent_others_give_the_rates():
    """The kept rows carry the multipliers all the same."""
    problem = rbdae.formulate(rbdae.models.bricard(), "index-1", redundant="minimum-norm")
    problem = inside.dropping(problem, (16,))
    run = rbdae.solve(problem, (0.0, 0.9), solver="sksundae:ida", rtol=1e-9, atol=1e-9)
    assert run.success
    y = problem.project(run.t[-1], run.y[-1])
    _check(problem, float(run.t[-1]), y)
    other = rbdae.formulate(rbdae.models.bricard(), "index-1", redundant="minimum-norm")
    rates, wanted = (p.rates(run.t[-1], y)[0] for p in (problem, other))
    assert cases.close(rates, wanted, 1e-9)
