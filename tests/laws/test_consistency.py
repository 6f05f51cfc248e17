"""From inconsistent input to consistent problems; what problems say of themselves; what they refuse."""

from __future__ import annotations

from functools import cache

import cases
import inside
import numpy as np
import pytest
from cases import PAIRS, SYSTEMS, Pairing, covering

import rbdae
from rbdae.formulations import FORMULATIONS
from rbdae.joints import Spherical


def _inconsistent(name: str, seed: int = 3) -> rbdae.System:
    return cases.stirred(SYSTEMS[name](), np.random.default_rng(seed))


@cache
def _reference(name: str) -> rbdae.Problem:
    return cases.formulate(_inconsistent(name), cases.REFERENCE)


def _terms(problem: rbdae.Problem) -> float:
    """Size of the terms of the velocity constraints: lengths times speeds, of which rounding is a part."""
    Z = np.abs(problem.natural(problem.t0, problem.y0))
    r = max(1.0, np.abs(problem.model.primitives["A"]).max(initial=0.0))
    return float(r * max(1.0, Z.max()))


# ---------------------------------------------------------------- projection of the input


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system, pairing", covering(PAIRS, 1), ids=str)
def test_inconsistent_input_becomes_consistent(system, pairing):
    """And in the same state in all pairings."""
    problem, first = cases.formulate(_inconsistent(system), pairing), _reference(system)
    state = first.natural(0.0, first.y0)
    np.testing.assert_allclose(problem.natural(0.0, problem.y0), state, rtol=0, atol=1e-12 * _terms(first))
    g = problem.constraints(problem.t0, problem.y0)
    assert np.abs(g.position).max(initial=0.0) < 1e-12
    assert np.abs(g.velocity).max(initial=0.0) < 1e-12 * max(1.0, 0.01 * _terms(problem))
    assert problem.y0.shape == problem.yd0.shape == (problem.n,)
    assert np.isfinite(problem.y0).all() and np.isfinite(problem.yd0).all()
    rest = problem.yd0[problem.layout.v.stop :]
    if (
        FORMULATIONS[pairing.formulation].unknown_multipliers == "integrals"
    ):  # its unknowns are integrals: their rates are the multipliers
        assert not problem.y0[problem.layout.v.stop :].any()
        rest = problem.yd0[problem.layout.mu]
    assert not rest.any()


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system", SYSTEMS)
def test_consistent_input_is_left_alone(system):
    once = cases.problem(system, cases.REFERENCE)
    states = once.states(0.0, once.y0)

    def initial(body):
        s = states[body.name]
        out = {"orientation": s.orientation, "angular_velocity": s.angular_velocity}
        return out if body.pivot is not None else out | {"position": s.position, "velocity": s.velocity}

    again = cases.formulate(cases.rebuild(SYSTEMS[system](), initial=initial), cases.REFERENCE, consistent="check")
    found, wanted = again.natural(0.0, again.y0), once.natural(0.0, once.y0)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * _terms(once))


# only where velocities obey constraints of the chart or of joints
PROJECTED = [
    (s, p) for s, p in PAIRS if FORMULATIONS[p.formulation].kind != "ode" and s in ("skew-top", "branched", "tied")
]


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system, pairing", covering(PROJECTED, 4), ids=str)
def test_projection_of_velocities_is_optimal_in_every_pairing(system, pairing, rng):
    """The same of `Problem.project` in the velocities (or momenta) of each pairing, internal constraints included; M
    and G^T are read from the problem's Jacobian."""
    problem = cases.problem(system, pairing)
    y = problem.y0.copy()
    n_v = problem.layout.v
    y[n_v] += 0.5 * rng.standard_normal(n_v.stop - n_v.start)
    out = problem.project(0.0, y)
    g = problem.constraints(0.0, out)
    assert np.abs(g.velocity).max(initial=0.0) < 1e-12
    np.testing.assert_allclose(out[problem.layout.q], y[problem.layout.q], rtol=0, atol=1e-13)
    np.testing.assert_array_equal(out[n_v.stop :], y[n_v.stop :])
    J = problem.jacobian(0.0, out, problem.yd0, 0.0)
    rates = problem.jacobian(0.0, out, problem.yd0, 1.0) - J
    if FORMULATIONS[pairing.formulation].unknowns != "quasi-velocities":
        P = cases.turned_rows(problem, 0.0, out)
        J[n_v], rates[n_v] = P @ J[n_v], P @ rates[n_v]
    M = rates[n_v, n_v]  # with momenta the identity
    Gt = (rates if (FORMULATIONS[pairing.formulation].multipliers == "integrals") else J)[n_v, problem.layout.la]
    if FORMULATIONS[pairing.formulation].projected:
        found = problem.matrices(0.0, out)
        M, Gt = found.M, found.G.T
    pushed = M @ (out - y)[n_v]
    if not Gt.shape[1]:
        np.testing.assert_allclose(pushed, 0.0, atol=1e-13)
        return
    eta = np.linalg.lstsq(Gt, -pushed, rcond=None)[0]
    assert np.abs(pushed + Gt @ eta).max() < 1e-10 * max(1.0, np.abs(M).max())
    if problem.velocity == "momentum":
        return
    assert np.abs(Gt.T @ out[n_v]).max() < 1e-11 * max(1.0, np.abs(out[n_v]).max())


# ---------------------------------------------------------------- check


def test_check_refuses_with_the_size_of_the_violation():
    system = rbdae.System()
    bob = system.add_body("bob", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1.25), velocity=(0.0, 0.5, 2.0))
    system.add_joint(Spherical(system.ground, bob, at_b=(0, 0, 1)))
    with pytest.raises(ValueError, match=r"0\.25 in positions, 2 in velocities.*consistent='project'"):
        rbdae.formulate(system, consistent="check")
    problem = rbdae.formulate(system, consistent="project")
    s = problem.states(0.0, problem.y0)["bob"]
    np.testing.assert_allclose(s.position + s.orientation.apply((0, 0, 1)), 0.0, atol=1e-14)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize("rotation", cases.SINGULAR)
def test_charts_refuse_a_singular_start(rotation):
    system, formulation = rbdae.System(), "index-2"
    turn = cases.CHART_CASES[rotation].beside_singular(-1e-9)
    system.add_body("disc", mass=1.0, inertia=(1, 1, 1.5), orientation=turn)
    with pytest.raises(ValueError, match=r"body 'disc': .*singularity.*reference='start'.*: quaternion,"):
        rbdae.formulate(system, formulation, rotation=rotation)
    rbdae.formulate(system, formulation)


@pytest.mark.parametrize(
    "arguments, match",
    [
        ({"formulation": "index-2", "constraint": "position"}, "'hamiltonian', .*, not to 'index-2'"),
        ({"formulation": "ggl", "beta": 5.0}, "beta=5.0 belongs to .* 'baumgarte', 'baumgarte-ode', not to 'ggl'"),
        ({"formulation": "baumgarte", "alpha": -1.0}, "alpha must not be negative .*-1"),
        ({"hold": ["third"]}, "no body 'third'; the bodies are 'first', 'second'"),
        ({"hold": [("first", "w")]}, "'first' has no 'w'; choose from 'x', 'y', 'z', 'position'"),
    ],
    ids=str,
)
def test_choices_that_make_no_sense(arguments, match):
    """Others than wrong words and types, which `invalid_calls` has."""
    arguments = {"formulation": "index-2"} | arguments
    with pytest.raises((TypeError, ValueError), match=match):
        rbdae.formulate(cases.linked_bodies(), arguments.pop("formulation"), **arguments)


def test_null_space_takes_loops_and_any_joint():
    for system in (cases.loop(), cases.tied()):
        problem = rbdae.formulate(system, "null-space", consistent="project")
        rows = sum(joint.n_constraints for joint in system.joints)
        assert problem.layout.v.stop - problem.layout.v.start == inside.n_velocities(problem) - rows
        assert problem.labels[-1] == f"nu{inside.n_quasi_velocities(problem)}"


def test_flat_bodies_have_no_director_momenta():
    system = rbdae.System()
    system.add_body("disc", mass=1.0, inertia=(1.0, 1.0, 2.0), angular_velocity=(1, 2, 3))
    with pytest.raises(ValueError, match=r"body 'disc'.*Euler tensor.*rotation='quaternion'"):
        rbdae.formulate(system, "hamiltonian", rotation="directors")
    assert np.isfinite(rbdae.formulate(system, "index-1", rotation="directors").yd0).all()


# ---------------------------------------------------------------- what a problem says of itself

BY_INDEX = {
    0: "index-0 baumgarte-ode projected-0 null-space null-space-overdetermined hamiltonian-eliminated",
    1: "index-1 hiller-anantharaman baumgarte projected-1 overdetermined-1 null-space-ggl hamiltonian-differentiated",
    2: "index-2 ggl projected-2 overdetermined hamiltonian-momentum hamiltonian-ggl hamiltonian-overdetermined",
    3: "index-3 hamiltonian",
}
INDEX = {name: index for index, names in BY_INDEX.items() for name in names.split()}
FURTHER = {"overdetermined": 1, "overdetermined-1": 2, "null-space-overdetermined": 1, "hamiltonian-overdetermined": 1}
CORRECTED = {"ggl", "hiller-anantharaman", "hamiltonian-ggl", "null-space-ggl"}


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system, pairing", covering(PAIRS, 2), ids=str)
def test_description(system, pairing):
    problem = cases.problem(system, pairing)
    q, v, la, mu = problem.layout.q, problem.layout.v, problem.layout.la, problem.layout.mu
    assert (problem.formulation, problem.rotation, problem.velocity) == tuple(pairing)
    assert (q.start, q.stop, v.stop, la.stop, mu.stop) == (0, v.start, la.start, mu.start, problem.n)
    assert len(problem.labels) == len(set(problem.labels)) == problem.n
    assert problem.y0.shape == problem.differential.shape == problem.variable_index.shape == (problem.n,)

    bodies = problem.system.bodies
    na = cases.CHART_CASES[pairing.rotation].n
    free = sum(b.pivot is None for b in bodies)
    joints = sum(p.rows for j in problem.system.joints for p in j.primitives())
    internal = na - 3 if not pairing.angular else 0
    assert q.stop == 3 * free + na * len(bodies)
    reduced = pairing.formulation.startswith("null-space")
    if reduced:
        assert v.stop - v.start == 3 * free + 3 * len(bodies) - joints
    else:
        assert v.stop - v.start == 3 * free + (3 if pairing.angular else na) * len(bodies)
    index = INDEX[pairing.formulation]
    multipliers = (0 if FORMULATIONS[pairing.formulation].projected else internal) * len(bodies) + joints
    if pairing.formulation == "null-space-ggl":  # its only ones are those of the correction
        multipliers = (na - 3) * len(bodies) + joints
    extra = len(FORMULATIONS[pairing.formulation].further_levels)
    assert extra == FURTHER.get(pairing.formulation, 0)
    assert problem.kind == ("overdetermined" if extra else "ode" if index == 0 else "dae")
    assert la.stop - la.start == (0 if index == 0 or reduced else multipliers)
    assert mu.stop - mu.start == (multipliers if pairing.formulation in CORRECTED else 0)
    invariants = (na - 3) * len(bodies) + joints
    assert problem.n_equations == problem.n + extra * (invariants if reduced else multipliers)
    if problem.kind == "dae" and not multipliers:
        index = 1  # nothing is left to differentiate
    assert problem.index == index
    assert problem.differential.dtype == bool
    assert problem.differential[: la.start].all()
    integrals = FORMULATIONS[pairing.formulation].unknown_multipliers == "integrals"
    assert (problem.differential[la.start :] == integrals).all()
    wanted = {0: (0, 0, 0, 0), 1: (1, 1, 1, 1), 2: (1, 1, 2, 2), 3: (1, 2, 3, 3)}[index]
    for part, number in zip((q, v, la, mu), wanted, strict=True):
        assert (problem.variable_index[part] == number).all()
    # what is called differential has its derivative in the residual, and nothing else
    slope = problem.jacobian(0.0, problem.y0, problem.yd0, 1.0) - problem.jacobian(0.0, problem.y0, problem.yd0, 0.0)
    assert not slope[:, ~problem.differential].any()
    assert slope[:, problem.differential].any(axis=0).all()


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("pairing", covering(cases.PAIRINGS, 3), ids=str)
def test_labels_name_bodies_and_joints(pairing):
    problem = cases.problem("mixed", pairing)
    names = {"hinged", "child", "kite", "tail", *(j.name for j in problem.system.joints)}
    owners = [label.split(".")[0] for label in problem.labels]
    assert set(owners[: problem.layout.la.start]) == names - {"spherical-1", "spherical-2"}
    assert set(owners) <= names
    assert not any(label.startswith("hinged.x") for label in problem.labels)
    # a label says where a quantity is: give every body its own numbers and find them again
    states = problem.states(0.0, problem.y0)
    y = dict(zip(problem.labels, problem.y0, strict=True))
    for name in ("child", "kite", "tail"):
        np.testing.assert_allclose([y[f"{name}.{s}"] for s in "xyz"], states[name].center_of_mass, atol=1e-14)
    yd = dict(zip(problem.labels, problem.yd0, strict=True))
    for body in problem.system.bodies:
        name, R = body.name, states[body.name].orientation.as_matrix()
        if f"{name}.vx" in y:
            np.testing.assert_allclose(
                [y[f"{name}.v{s}"] for s in "xyz"], [yd[f"{name}.{s}"] for s in "xyz"], atol=1e-13
            )
        if f"{name}.px" in y:
            found = [y[f"{name}.p{s}"] for s in "xyz"]
            np.testing.assert_allclose(found, [body.mass * yd[f"{name}.{s}"] for s in "xyz"], atol=1e-13)
        if pairing.rotation == "directors":
            np.testing.assert_allclose([[y[f"{name}.d{i}{c}"] for i in "123"] for c in "xyz"], R, atol=1e-14)
        parameters = {
            "quaternion": [f"p{i}" for i in range(4)],
            "directors": [f"d{i}{c}" for i in "123" for c in "xyz"],
        }
        if pairing.velocity == "angular":
            found = [y[f"{name}.Omega{i}"] for i in "123"]
            np.testing.assert_allclose(found, states[name].angular_velocity, atol=1e-14)
        elif pairing.velocity == "spatial":
            found = [y[f"{name}.omega{i}"] for i in "123"]
            np.testing.assert_allclose(found, R @ states[name].angular_velocity, atol=1e-14)
        elif pairing.velocity == "coordinate":
            for s in parameters[pairing.rotation]:
                assert y[f"{name}.{s}dot"] == pytest.approx(yd[f"{name}.{s}"], abs=1e-13)
        elif pairing.rotation == "quaternion":  # M4 pdot = 2 p o (0, J Omega) for p . pdot = 0
            momentum = [y[f"{name}.pi_{s}"] for s in parameters["quaternion"]]
            rate = np.array([yd[f"{name}.{s}"] for s in parameters["quaternion"]])
            om = states[name].angular_velocity
            assert rate @ momentum == pytest.approx(om @ body.inertia @ om, rel=1e-12)  # 2 T
        else:
            momentum = np.array([[y[f"{name}.pi_d{i}{c}"] for i in "123"] for c in "xyz"])
            rate = np.array([[yd[f"{name}.d{i}{c}"] for i in "123"] for c in "xyz"])
            E = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
            np.testing.assert_allclose(momentum, rate @ E, atol=1e-13)
    if problem.layout.la.stop > problem.layout.la.start:
        forces = problem.reactions(0.0, problem.y0)["spherical-1"]["child"].force
        integral = FORMULATIONS[pairing.formulation].multipliers == "integrals"
        found = [yd[f"spherical-1.{i}.integral"] if integral else y[f"spherical-1.{i}"] for i in "123"]
        np.testing.assert_allclose(found, -forces, atol=1e-12)
    assert sum(label.endswith(".mu") for label in problem.labels) == problem.layout.mu.stop - problem.layout.mu.start


# ---------------------------------------------------------------- out=


def test_arguments_and_outputs_are_checked():
    """Lists, other types and strided input are welcome; an output is filled and returned, or refused."""
    problem = cases.problem("C", Pairing("index-2", "quaternion", "angular"))
    t, y, yd, n = problem.t0, problem.y0, problem.yd0 + 1.0, problem.n
    vector = np.full(n, np.nan)
    assert problem.residual(t, y, yd, out=vector) is vector
    np.testing.assert_array_equal(vector, problem.residual(t, list(y), np.repeat(yd, 2)[::2]))
    for bad, said in (
        ((y[:-1], yd), rf"y, the {n} unknowns .* of shape \({n - 1},\)"),
        ((y, yd[None]), "yd, .*of shape"),
    ):
        with pytest.raises(ValueError, match=said):
            problem.residual(t, *bad)
    read_only = np.empty(n)
    read_only.flags.writeable = False
    for bad in (np.empty(n + 1), np.empty(n, dtype=np.float32), list(y), read_only):
        with pytest.raises(ValueError, match="out must be a writable float64 array"):
            problem.residual(t, y, yd, out=bad)
    for bad in (np.empty(n * n), np.empty((n, n), dtype=int)):
        with pytest.raises(ValueError, match="out must be a writable float64 array"):
            problem.jacobian(t, y, yd, 1.0, out=bad)
    for call in (lambda: problem.rhs(t, y), lambda: problem.rhs_jacobian(t, y), lambda: problem.callbacks.rhs):
        with pytest.raises(AttributeError, match="is a DAE and has no right-hand side; choose index-0"):
            call()
    with pytest.raises(ValueError, match="t has shape"):
        problem.states(np.zeros(3), np.zeros((2, n)))
