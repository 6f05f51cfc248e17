"""Residuals and Jacobians of long models by elements are those of the whole model, whatever the form and the joints."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cases
import force_cases
import inside
import numpy as np
import pytest
import redundant_systems
from cases import ALL_PAIRINGS, Pairing

import rbdae
from rbdae.formulations import FORMULATIONS

pytestmark = [pytest.mark.users, pytest.mark.skipif(not inside.JIT, reason="code of models needs the JIT")]


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


MODELS = {
    "chain": lambda: rbdae.models.chain(4),
    "hinges": lambda: rbdae.models.chain(3, planar=True),
    "tree": lambda: tree(6),
    "loop": lambda: cases.built("loop"),
    "pivots": rbdae.models.double_pendulum,
}
FORMS = ("index-3", "index-2", "index-1", "ggl", "hiller-anantharaman", "hamiltonian", "hamiltonian-ggl")
PAIRINGS = [p for p in ALL_PAIRINGS if p.formulation in FORMS and p.rotation in ("quaternion", "directors")]


def cubic(t, x, out):
    out[:] = 0.0
    p = x[0:3] - x[12:15]
    out[0:3] = -(p @ p) * p
    out[12:15] = (p @ p) * p


ACTED = {
    "bushed": lambda: cases.built("bushed"),
    "branched": lambda: cases.built("branched"),
    "states": lambda: cases.built("struts"),
    "driven": cases.driven,
    "redundant": lambda: redundant_systems.redundant_system(1),
}
ACTED_PAIRINGS = [
    p
    for p in ALL_PAIRINGS
    if p.rotation in ("quaternion", "directors")
    and FORMULATIONS[p.formulation].kind != "ode"
    and not p.formulation.startswith("null-space")
]


SINGULAR = [
    p
    for p in ALL_PAIRINGS
    if p.rotation not in cases.REGULAR
    and FORMULATIONS[p.formulation].kind != "ode"
    and not p.formulation.startswith("null-space")
]


def whole_and_elements(
    monkeypatch, system, pairing: Pairing, **options: Any
) -> tuple[rbdae.Problem, rbdae.Problem, list[int]]:
    """The problem by code of the whole model, and by elements; the numbers of kinds that were made."""
    problems, kinds = [], []
    for least in (10_000, 1):
        kinds = inside.make_elements_from(monkeypatch, least)
        problem = cases.formulate(system, pairing, **options)
        problem.residual(problem.t0, problem.y0, problem.yd0)
        problem.sparse_jacobian(problem.t0, problem.y0, problem.yd0, 1.0)
        problems.append(problem)
    return problems[0], problems[1], kinds


def agree(one: rbdae.Problem, other: rbdae.Problem, rng, level: float = 1e-13) -> None:
    for _ in range(3):
        y = one.y0 + 0.05 * rng.standard_normal(one.n)
        yd, c = rng.standard_normal(one.n), float(rng.uniform(0.5, 50.0))
        for found, wanted in (
            (other.residual(0.1, y, yd), one.residual(0.1, y, yd)),
            (other.sparse_jacobian(0.1, y, yd, c).toarray(), one.sparse_jacobian(0.1, y, yd, c).toarray()),
        ):
            np.testing.assert_allclose(found, wanted, rtol=0.0, atol=level * max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize(
    "model, pairing",
    [(m, p) for k, m in enumerate(MODELS) for i, p in enumerate(PAIRINGS) if (i + k) % 3 == 0],
    ids=str,
)
def test_elements_are_the_whole_model(monkeypatch, rng, model, pairing):
    one, other, kinds = whole_and_elements(monkeypatch, MODELS[model](), pairing)
    assert len(kinds) == 2 and min(kinds) >= 1, "it was not made of elements"
    agree(one, other, rng)


@pytest.mark.parametrize(
    "model, pairing",
    [
        (m, p)
        for k, m in enumerate(ACTED)
        for i, p in enumerate(ACTED_PAIRINGS)
        if (i + 3 * k) % 7 == 0 or (m, p.formulation[:9]) == ("branched", "projected")
    ],
    ids=str,
)
def test_forces_drives_and_further_forms_are_the_whole_model(monkeypatch, rng, model, pairing):
    """Internal states of forces, dropped joint equations, Baumgarte's terms, further rows, hidden multipliers too."""
    options = {"redundant": "minimum-norm"} if model == "redundant" else {}
    one, other, kinds = whole_and_elements(monkeypatch, ACTED[model](), pairing, **options)
    assert len(kinds) == 2 and min(kinds) >= 1, "it was not made of elements"
    agree(one, other, rng)


@pytest.mark.parametrize(
    "kind",
    ["spring", "actuator", "spring to the ground", "torsion", "slide", "friction", "motor", "laws", "dry", "contact"],
)
def test_forces_of_every_kind_are_those_of_the_whole_model(monkeypatch, rng, kind):
    """Between bodies with a joint, whose element it is, and to the ground."""
    pairing = ACTED_PAIRINGS[5 * list(force_cases.FORCES).index(kind) % len(ACTED_PAIRINGS)]
    one, other, kinds = whole_and_elements(monkeypatch, force_cases.system_of(kind, jointed=True), pairing)
    assert len(kinds) == 2, "it was not made of elements"
    agree(one, other, rng)


def test_other_numbers_are_those_of_the_model(monkeypatch, rng):
    """Also numbers that were equal by chance in the model whose code it is."""
    inside.make_elements_from(monkeypatch, 1)
    first = cases.formulate(rbdae.models.chain(5), Pairing("index-2", "quaternion", "angular"))
    first.residual(0.0, first.y0, first.yd0)
    names = [name for name in first.parameters if name.endswith(".mass")]
    other = first.with_parameters({name: 1.0 + 0.3 * k for k, name in enumerate(names)})
    inside.make_elements_from(monkeypatch, 10_000)
    agree(cases.formulate(other.system, Pairing("index-2", "quaternion", "angular")), other, rng)


@pytest.mark.parametrize("rotation", ["quaternion", "rodrigues"])
def test_the_text_is_that_of_any_number_of_bodies(rotation):
    problems = [rbdae.formulate(rbdae.models.chain(n), "index-2", rotation=rotation) for n in (15, 40)]
    texts = [inside.text_of_elements(problem) for problem in problems]
    assert texts[0] == texts[1] and "straight.2" in texts[0]


def test_a_random_tree_is_a_few_kinds(monkeypatch):
    """Numbers that differ are no kinds of their own: seen, of inverse inertias that are symmetric but for rounding."""
    _, _, kinds = whole_and_elements(monkeypatch, tree(24), Pairing("index-2", "quaternion", "angular"))
    assert max(kinds) <= 7


def test_functions_that_are_called_are_recorded_as_a_whole(monkeypatch, rng):
    """A motor's law is called."""
    system = rbdae.models.pendulum()
    law = rbdae.forces.CalledBack(lambda t, angle, rate: -angle, derivatives=lambda t, angle, rate: (-1.0, 0.0))
    system.add_force(rbdae.forces.Motor(system.joints[0], torque=law))
    one, other, kinds = whole_and_elements(monkeypatch, system, Pairing("index-2", "quaternion", "angular"))
    assert not kinds
    agree(one, other, rng, 1e-15)


def test_equal_laws_are_one_kind(monkeypatch):
    """Functions that are objects of their own, but compute the same."""
    system = rbdae.models.chain(6)
    for a, b in pairwise(system.bodies):
        system.add_force(rbdae.forces.UserForce((a, b), lambda t, x, out: cubic(t, x, out)))
    _, _, kinds = whole_and_elements(monkeypatch, system, Pairing("index-2", "quaternion", "angular"))
    assert max(kinds) == 3


@pytest.mark.parametrize("pairing", SINGULAR[::11], ids=str)
def test_bodies_keep_their_directors_for_pairs(monkeypatch, rng, pairing):
    """In charts with a singular set, whose reference rotations are those of each body."""
    model = ("tree", "loop", "branched")[SINGULAR.index(pairing) % 3]
    one, other, kinds = whole_and_elements(monkeypatch, (MODELS | ACTED)[model](), pairing)
    assert len(kinds) == 2, "it was not made of elements"
    agree(one, other, rng)
    turned = cases.stirred(one.system, rng)
    again = whole_and_elements(monkeypatch, turned, pairing, reference="start")
    agree(*again[:2], rng)


def test_long_chains_have_them():
    """What users get from so many bodies on."""
    for n, wanted in ((10, [False, False]), (20, [False, True]), (50, [True, True])):
        problem = rbdae.formulate(rbdae.models.chain(n), "index-2")
        assert inside.elements_apply(problem) == wanted


@pytest.mark.slow  # protects models too long to be recorded as a whole: two seconds
def test_any_number_of_bodies_has_them(rng):
    """Beyond a thousand bodies nothing else is recorded: the other callbacks are generic."""
    problem = rbdae.formulate(rbdae.models.chain(1100), "index-2")
    y, yd = problem.y0 + 0.01 * rng.standard_normal(problem.n), rng.standard_normal(problem.n)
    found = problem.residual(0.0, y, yd)
    assert problem.callbacks.code("residual") == "traced" and problem.callbacks.code("jacobian") == "generic"
    wanted = rbdae.formulate(problem.system, "index-2", code="generic").residual(0.0, y, yd)
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-13 * np.abs(wanted).max())


@pytest.mark.parametrize(
    "model, pairing",
    [
        *((m, p) for m in ("hinges", "loop") for p in PAIRINGS[:: 2 if m == "loop" else 3]),
        *((m, p) for m in ("branched", "states", "driven") for p in ACTED_PAIRINGS[::7]),
        *(("tree", p) for p in SINGULAR[::23]),
    ],
    ids=str,
)
def test_elements_know_the_pattern(rng, model, pairing):
    """It has every entry of a complex step, and few others; all of them are in the pattern by blocks."""
    problem = cases.formulate((MODELS | ACTED)[model](), pairing)
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
