"""Residuals and Jacobians of long models by elements are those of the kernels of all models, in all forms."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cases
import inside
import numpy as np
import pytest
import redundant_systems
from cases import ALL_PAIRINGS, Pairing
from force_cases import system_of

import rbdae
from rbdae.formulations import FORMULATIONS

INDEX_2 = Pairing("index-2", "quaternion", "angular")


def tree(n: int, seed: int = 2) -> rbdae.System:
    """A random tree of several kinds of joints, whose bodies have masses, inertias and points of their own."""
    rng = np.random.default_rng(seed)
    system = rbdae.System(gravity=(0.3, 0.0, -9.81))
    bodies, at = [system.ground], [np.zeros(3)]
    for k in range(n):
        parent = 0 if k == 0 else int(rng.integers(max(1, k - 4), k + 1))
        place = at[parent] + (rng.uniform(0.2, 0.6, 3) if parent else 0.0)
        A = rng.uniform(-0.02, 0.02, (3, 3))
        body = system.add_body(
            f"b{k}",
            mass=rng.uniform(0.5, 2.0),
            inertia=np.diag(rng.uniform(0.1, 0.13, 3)) + A @ A.T,
            center_of_mass=rng.uniform(0.1, 0.3, 3),
            position=place,
        )
        kind = (rbdae.joints.Spherical, rbdae.joints.Revolute, rbdae.joints.Universal, rbdae.joints.Cylindrical)[k % 4]
        axes = {} if k % 4 in (0, 2) else {"axis_a": (0.0, 0.6, 0.8)}
        if k % 4 == 2:
            axes = {"axis_a": (1.0, 0.0, 0.0), "axis_b": (0.0, 1.0, 0.0)}
        system.add_joint(kind(bodies[parent], body, at_a=place - at[parent], name=f"j{k}", **axes))
        bodies.append(body)
        at.append(place)
    return system


def cubic(t, x, out):
    out[:] = 0.0
    p = x[0:3] - x[12:15]
    out[0:3] = -(p @ p) * p
    out[12:15] = (p @ p) * p


def steered(n: int) -> rbdae.System:
    """Hinges with motors and drives that read inputs, of which some read two, or one that others read."""
    system = rbdae.models.chain(n, planar=True)
    u = [system.add_input(f"u{k}", 0.3 + 0.1 * k) for k in range(n)]
    for k, joint in enumerate(tuple(system.joints)):
        if k % 3 == 1:
            law = rbdae.drives.PrescribedAngle(joint, lambda t, u: u.a * np.sin(t), inputs={"a": u[k]})
            system.add_joint(law)
        else:
            system.add_force(rbdae.forces.Motor(joint, torque=u[(3 * k) % n]))
        read = {"a": u[0], "b": u[k]}
        system.add_force(rbdae.forces.Motor(joint, torque=lambda t, angle, rate, u: -u.a * u.b * rate, inputs=read))
    return system


FORCED = {
    "bushed": lambda: cases.built("bushed"),
    "branched": lambda: cases.built("branched"),
    "states": lambda: cases.built("struts"),
    "driven": cases.driven,
    "redundant": lambda: redundant_systems.redundant_system(1),
    "forces": lambda: system_of("spring + actuator + spring to the ground + torsion + slide", jointed=True),
    "further forces": lambda: system_of("friction + motor + laws + dry + contact", jointed=True),
    "steered": lambda: steered(4),
}
MODELS = {
    "chain": lambda: rbdae.models.chain(4),
    "hinges": lambda: rbdae.models.chain(3, planar=True),
    "tree": lambda: tree(6),
    "loop": lambda: cases.built("loop"),
    "pivots": rbdae.models.double_pendulum,
    **FORCED,
}
PAIRINGS = [
    p for p in ALL_PAIRINGS if FORMULATIONS[p.formulation].kind != "ode" and not p.formulation.startswith("null-space")
]
REGULAR = [p for p in PAIRINGS if p.rotation in ("quaternion", "directors")]
SINGULAR = [p for p in PAIRINGS if p.rotation not in cases.REGULAR]


def drawn(pairings: list[Pairing], models: list[str], parts: slice = slice(None)) -> list[tuple[str, Pairing]]:
    """Each model at least once, and each formulation, chart and velocity, or these `parts` of them; at night all."""
    out: list[tuple[str, Pairing]] = []
    seen: set[str] = set()
    for k in np.random.default_rng(7).permutation(len(pairings)):
        if cases.NIGHTLY or not {*pairings[k][parts]} <= seen or len(out) < len(models):
            seen |= {*pairings[k][parts]}
            out.append((models[len(out) % len(models)], pairings[k]))
    return out


def by_elements(monkeypatch, system, pairing: Pairing, **options: Any) -> tuple[rbdae.Problem, list[int]]:
    """The problem by elements; the numbers of kinds that were made, of its residual and of its Jacobian."""
    kinds = inside.make_elements_from(monkeypatch, 1)
    problem = cases.formulate(system, pairing, **options)
    problem.residual(problem.t0, problem.y0, problem.yd0)
    problem.sparse_jacobian(problem.t0, problem.y0, problem.yd0, 1.0)
    return problem, kinds


def agree(one: rbdae.Problem, other: rbdae.Problem, rng, level: float = 1e-13) -> None:
    for _ in range(3):
        y = one.y0 + 0.05 * rng.standard_normal(one.n)
        yd, c = rng.standard_normal(one.n), float(rng.uniform(0.5, 50.0))
        for found, wanted in (
            (other.residual(0.1, y, yd), one.residual(0.1, y, yd)),
            (other.sparse_jacobian(0.1, y, yd, c).toarray(), one.sparse_jacobian(0.1, y, yd, c).toarray()),
        ):
            np.testing.assert_allclose(found, wanted, rtol=0.0, atol=level * max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("model, pairing", drawn(REGULAR, [*MODELS]), ids=str)
def test_elements_are_the_kernels_of_all_models(monkeypatch, rng, model, pairing):
    """Also forces of every kind, their internal states, dropped joint equations, Baumgarte's terms, further rows,
    hidden multipliers."""
    options = {"redundant": "minimum-norm"} if model == "redundant" else {}
    problem, kinds = by_elements(monkeypatch, MODELS[model](), pairing, **options)
    assert len(kinds) == 2 and min(kinds) >= 1, "it was not made of elements"
    agree(cases.formulate(problem.system, pairing, code="plain", **options), problem, rng)


@pytest.mark.parametrize("model, pairing", drawn(SINGULAR, ["tree", "loop", "branched"], slice(1, 3)), ids=str)
def test_charts_with_a_singular_set(monkeypatch, rng, model, pairing):
    """In charts with a singular set, whose reference rotations are those of each body."""
    turned = cases.stirred(MODELS[model](), rng)
    problem, kinds = by_elements(monkeypatch, turned, pairing, reference="start")
    assert len(kinds) == 2, "it was not made of elements"
    agree(cases.formulate(turned, pairing, code="plain", reference="start"), problem, rng)


@pytest.mark.parametrize("model, form", [("forces", "index-2"), ("redundant", "overdetermined")])
def test_matrices_have_the_same_entries(monkeypatch, rng, model, form):
    """Of any strides, zeros elsewhere."""
    options = {"redundant": "minimum-norm"} if model == "redundant" else {}
    pairing = Pairing(form, "quaternion", "coordinate")
    problem, kinds = by_elements(monkeypatch, MODELS[model](), pairing, **options)
    y, yd = problem.y0 + 0.05 * rng.standard_normal(problem.n), rng.standard_normal(problem.n)
    wanted = problem.sparse_jacobian(0.1, y, yd, 2.0).toarray()
    rows, columns = wanted.shape
    for out in (np.ones((rows, columns)), np.ones((columns, rows)).T, np.ones((rows + 2, 2 * columns))[:rows, ::2]):
        problem.callbacks.jacobian(0.1, y, yd, 2.0, out)
        np.testing.assert_array_equal(out, wanted)
    assert len(kinds) == 3


def test_other_numbers_are_those_of_the_model(monkeypatch, rng):
    """Also numbers that were equal by chance in the model whose code it is."""
    inside.make_elements_from(monkeypatch, 1)
    first = cases.formulate(rbdae.models.chain(5), INDEX_2)
    first.residual(0.0, first.y0, first.yd0)
    names = [name for name in first.parameters if name.endswith(".mass")]
    other = first.with_parameters({name: 1.0 + 0.3 * k for k, name in enumerate(names)})
    agree(cases.formulate(other.system, INDEX_2, code="plain"), other, rng)


@pytest.mark.parametrize("rotation", ["quaternion", "rodrigues"])
def test_the_text_is_that_of_any_number_of_bodies(rotation):
    problems = [rbdae.formulate(rbdae.models.chain(n), "index-2", rotation=rotation) for n in (15, 40)]
    texts = [inside.text_of_elements(problem) for problem in problems]
    assert texts[0] == texts[1] and "straight.2" in texts[0]


def test_numbers_and_functions_that_differ_are_no_kinds_of_their_own(monkeypatch):
    """Seen, of inverse inertias that are symmetric but for rounding; and of functions that are objects of their own,
    but compute the same."""
    assert max(by_elements(monkeypatch, tree(20), INDEX_2)[1]) <= 7
    system = rbdae.models.chain(6)
    for a, b in pairwise(system.bodies):
        system.add_force(rbdae.forces.UserForce((a, b), lambda t, x, out: cubic(t, x, out)))
    assert max(by_elements(monkeypatch, system, INDEX_2)[1]) == 3


def test_functions_that_are_called_are_recorded_as_a_whole(monkeypatch, rng):
    """A motor's law is called."""
    system = rbdae.models.pendulum()
    law = rbdae.forces.CalledBack(lambda t, angle, rate: -angle)
    system.add_force(rbdae.forces.Motor(system.joints[0], torque=law))
    problem, kinds = by_elements(monkeypatch, system, INDEX_2)
    assert not kinds
    agree(cases.formulate(system, INDEX_2, code="plain"), problem, rng)


def test_long_chains_have_them():
    """What users get from so many bodies on."""
    for n, wanted in ((10, [False, False]), (20, [False, True]), (50, [True, True])):
        problem = rbdae.formulate(rbdae.models.chain(n), "index-2")
        assert inside.elements_apply(problem) == wanted


@pytest.mark.slow  # protects models too long to be recorded as a whole: two seconds
def test_any_number_of_bodies_has_them(rng):
    """Beyond a thousand bodies nothing else is recorded."""
    problem = rbdae.formulate(rbdae.models.chain(1100), "index-2")
    y, yd = problem.y0 + 0.01 * rng.standard_normal(problem.n), rng.standard_normal(problem.n)
    found = problem.residual(0.0, y, yd)
    assert problem.callbacks.code("residual") == "machine"
    wanted = cases.formulated(problem.system, "index-2", code="plain").residual(0.0, y, yd)
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-13 * np.abs(wanted).max())


@pytest.mark.parametrize(
    "model, pairing",
    [*drawn(REGULAR, ["hinges", "loop", "branched", "states", "driven"])[::3], ("tree", SINGULAR[0])],
    ids=str,
)
def test_elements_know_the_pattern(rng, model, pairing):
    """It has every entry of a complex step, and few others; all of them are in the pattern by blocks."""
    problem = cases.formulate(MODELS[model](), pairing)
    rows, columns = inside.pattern_of_elements(problem)
    n, c = problem.n, 1.7
    order = columns * problem.n_equations + rows
    assert (np.diff(order) > 0).all()
    blocks = problem.sparsity.tocoo()
    assert np.isin(order, blocks.col * problem.n_equations + blocks.row).all()
    y, yd = problem.y0 + 0.05 * rng.standard_normal(n), rng.standard_normal(n)
    step = inside.complex_jacobian(problem, 0.1, y, yd, c)
    i, j = np.nonzero(np.abs(step) > 1e-13 * np.abs(step).max())  # some are 0 but for rounding
    assert np.isin(j * problem.n_equations + i, order).all(), "an entry is missing"
    assert len(i) > 0.97 * len(order)
