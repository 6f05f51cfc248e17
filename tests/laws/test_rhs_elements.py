"""Right-hand sides of long models by elements are those of the kernels of all models, whatever the joints."""

from __future__ import annotations

import cases
import inside
import numpy as np
import pytest
import test_elements
from cases import Pairing
from test_elements import steered, tree

import rbdae
from rbdae.problem import start


def balls(n: int) -> rbdae.System:
    """A body that many others hang from, each with one of its own: joints with many neighbours."""
    system, at = rbdae.System(gravity=(0.0, 0.4, -9.81)), np.array([0.0, -0.1, -0.5])
    middle = system.add_body("middle", mass=3.0, inertia=(0.4, 0.5, 0.6), position=at)
    system.add_joint(rbdae.joints.Spherical(system.ground, middle, at_b=-at, name="top"))
    for k in range(n):
        p = np.array([np.cos(k), np.sin(k), -0.1 * k])
        arm = system.add_body(f"arm{k}", mass=1.0 + 0.1 * k, inertia=(0.1, 0.11, 0.12), position=at + p)
        end = system.add_body(f"end{k}", mass=0.5, inertia=(0.01, 0.011, 0.012), position=at + 2.0 * p)
        system.add_joint(rbdae.joints.Spherical(middle, arm, at_a=0.4 * p, at_b=-0.6 * p, name=f"inner{k}"))
        system.add_joint(rbdae.joints.Spherical(arm, end, at_a=0.5 * p, at_b=-0.5 * p, name=f"outer{k}"))
    return system


def rings(n: int) -> rbdae.System:
    """Rings of four bodies, each of which hangs from the one before: loops with many freedoms."""
    system = rbdae.System(gravity=(0.3, 0.0, -9.81))
    before, middle, at = system.ground, np.zeros(3), np.zeros(3)
    for k in range(n):
        corners = at + np.array([(0.0, 0.0, 0.0), (0.5, 0.1, -0.5), (0.0, 0.2, -1.0), (-0.5, 0.3, -0.5)])
        middles = 0.5 * (corners + np.roll(corners, -1, axis=0))
        bodies = [
            system.add_body(f"b{k}.{i}", mass=1.0 + 0.1 * i, inertia=(0.1, 0.12, 0.13), position=middles[i])
            for i in range(4)
        ]
        system.add_joint(rbdae.joints.Spherical(before, bodies[0], at_a=at - middle, at_b=at - middles[0]))
        for i in range(4):
            arms = {"at_a": corners[i] - middles[i - 1], "at_b": corners[i] - middles[i]}
            system.add_joint(rbdae.joints.Spherical(bodies[i - 1], bodies[i], **arms))
        before, middle, at = bodies[2], middles[2], corners[3]
    return system


def hanging() -> rbdae.System:
    """Slides that hang from a pivot, a free body and the ground; some have their bodies the other way around."""
    axis = np.array([0.0, 0.6, 0.8])
    system = rbdae.System(gravity=(0.3, 0.0, -9.81))
    bodies = [
        system.add_body("pivot", mass=1.0, inertia=(0.4, 0.5, 0.6), center_of_mass=(0.1, 0, 0), pivot=(0, 0, 0)),
        system.add_body("free", mass=2.0, inertia=(0.4, 0.5, 0.6), position=(3.0, 0.0, 0.0)),
        system.ground,
    ]
    points = [np.zeros(3), np.array([3.0, 0.0, 0.0]), np.array([0.0, 2.0, 0.0])]
    for k in range(6):
        point = points[k] + (0.3, 0.2 * (-1) ** k, -0.4)
        body = system.add_body(f"b{k}", mass=1.0 + 0.1 * k, inertia=(0.1 + 0.01 * k, 0.2, 0.2), position=point)
        half = 0.5 * (point - points[k])
        pair = (body, bodies[k], -half, half) if k == 4 else (bodies[k], body, half, -half)
        system.add_joint(rbdae.joints.Prismatic(*pair, axis_a=axis, axis_b=axis))
        bodies.append(body)
        points.append(point)
    return system


def sprung(n: int) -> rbdae.System:
    """Hinges with springs between bodies, one to the ground, one about an axis; two of them are turned."""
    system, forces = rbdae.models.chain(n, planar=True), rbdae.forces
    bodies, joints = [system.ground, *system.bodies], system.joints
    for k in range(n):
        ends = {"at_a": (0.3, 0.0, 0.1 * k), "at_b": (0.0, 0.3, 0.0)}
        system.add_force(forces.SpringDamper(*bodies[k : k + 2], stiffness=5.0, damping=0.1, length=0.3, **ends))
    system.add_force(forces.SpringDamper(bodies[2], stiffness=5.0, at_a=(0.3, 0.0, 0.1), at_b=(0.0, 0.3, 0.0)))
    system.add_force(forces.TorsionalSpringDamper(joints[1], stiffness=5.0, damping=0.1))
    for joint in (joints[1], joints[3]):
        system.add_joint(rbdae.drives.PrescribedAngle(joint, lambda t: 0.3 * np.sin(2.0 * t)))
    return system


LEVELS = {"hinges": 1e-12, "tied": 5e-12, "sprung": 1e-12, "steered": 1e-12, "redundant": 1e-12}
"""Parallel hinges off their axes, and nearly dependent ties: the whole model's code is as far from numbers of more
digits. With redundant rows, a loop, the kernel has another order of pivots than elements. 1e-13 for all others."""

MODELS = {
    "chain": lambda: rbdae.models.chain(11),  # several at a time, and some that are left
    "hinges": lambda: rbdae.models.chain(9, planar=True),
    "tree": lambda: tree(6),
    "balls": lambda: balls(4),
    "loop": lambda: cases.built("loop"),
    "loops": lambda: rbdae.models.n_four_bar(3),
    "pivots": rbdae.models.double_pendulum,
    "tied": lambda: cases.built("tied"),
}
MORE = {"hanging": hanging}
FORCED = {"sprung": lambda: sprung(5)} | test_elements.FORCED
PAIRINGS = [
    Pairing("index-0", "quaternion", "angular"),
    Pairing("index-0", "quaternion", "coordinate"),
    Pairing("index-0", "directors", "angular"),
    Pairing("index-0", "directors", "coordinate"),
]
CASES = [
    *((model, pairing) for i, model in enumerate(MODELS) for k, pairing in enumerate(PAIRINGS)
      if cases.NIGHTLY or i % 4 == k or (model, k) == ("tree", 0)),
    # unknowns that are functions of the velocities of their body
    ("hinges", Pairing("hamiltonian-eliminated", "quaternion", "coordinate")),
    ("loops", Pairing("hamiltonian-eliminated", "quaternion", "coordinate")),
    ("chain", Pairing("hamiltonian-eliminated", "directors", "coordinate")),
    ("pivots", Pairing("index-0", "quaternion", "spatial")),
    ("hinges", Pairing("index-0", "directors", "spatial")),
    # velocities along trees
    *((model, Pairing("null-space", "quaternion", "angular")) for model in ("hanging", "chain", "balls", "pivots")),
    ("hinges", Pairing("null-space", "directors", "angular")),
    # forces, drives, dropped equations
    *((model, Pairing(*pairing)) for model, *pairing in (
        ("bushed", "index-0", "quaternion", "coordinate"), ("branched", "projected-0", "quaternion", "coordinate"),
        ("states", "baumgarte-ode", "quaternion", "angular"), ("driven", "baumgarte-ode", "directors", "coordinate"),
        ("redundant", "index-0", "quaternion", "angular"),
        ("redundant", "hamiltonian-eliminated", "quaternion", "coordinate"),
        ("forces", "null-space", "quaternion", "angular"),
        ("forces", "hamiltonian-eliminated", "directors", "coordinate"),
        ("further forces", "index-0", "directors", "angular"), ("sprung", "index-0", "quaternion", "spatial"),
        ("sprung", "null-space", "directors", "angular"), ("steered", "null-space", "quaternion", "angular"),
        ("states", "null-space", "quaternion", "angular"), ("driven", "projected-0", "quaternion", "coordinate"),
    )),
]  # fmt: skip

SINGULAR = [
    ("tree", Pairing("index-0", "rotation-vector", "angular")),
    ("branched", Pairing("baumgarte-ode", "euler-313", "angular")),
    ("hanging", Pairing("null-space", "rodrigues", "angular")),
    ("pivots", Pairing("null-space", "rotation-vector", "angular")),
]


def by_elements(monkeypatch, system, pairing: Pairing, **options) -> tuple[rbdae.Problem, list[int]]:
    """The problem by elements; the numbers of kinds that were made."""
    kinds = inside.make_rhs_elements(monkeypatch)
    problem = cases.formulate(system, pairing, **options)
    problem.rhs(problem.t0, problem.y0)
    return problem, kinds


def agree(one: rbdae.Problem, other: rbdae.Problem, rng, level: float) -> None:
    """On the constraints at the start, and off them."""
    for size in (0.0, 0.01, 0.05):
        y = one.y0 + size * rng.standard_normal(one.n)
        wanted = one.rhs(0.1, y)
        np.testing.assert_allclose(other.rhs(0.1, y), wanted, rtol=0.0, atol=level * np.abs(wanted).max())
    assert other.callbacks._fallbacks == 0


@pytest.mark.parametrize(("model", "pairing"), CASES, ids=str)
def test_elements_are_the_kernels_of_all_models(monkeypatch, rng, model, pairing):
    """Also forces of every kind, their internal states, drives, dropped joint equations, Baumgarte's terms, forces that
    are no transposed gradients."""
    options = {"redundant": "minimum-norm"} if model == "redundant" else {}
    problem, kinds = by_elements(monkeypatch, (MODELS | FORCED | MORE)[model](), pairing, **options)
    assert len(kinds) == 1, "it was not made of elements"
    one = cases.formulate(problem.system, pairing, code="plain", **options)
    agree(one, problem, rng, LEVELS.get(model, 1e-13))


def test_residuals_are_the_difference_from_the_rates(monkeypatch, rng):
    problem, kinds = by_elements(monkeypatch, rbdae.models.chain(9), PAIRINGS[0])
    y, yd = problem.y0 + 0.05 * rng.standard_normal(problem.n), rng.standard_normal(problem.n)
    np.testing.assert_array_equal(problem.residual(0.1, y, yd), yd - problem.rhs(0.1, y))
    assert len(kinds) == 2


@pytest.mark.parametrize(("model", "pairing"), SINGULAR, ids=str)
def test_bodies_keep_their_directors_for_others(monkeypatch, rng, model, pairing):
    """In charts with a singular set, whose reference rotations are those of each body."""
    turned = cases.stirred((MODELS | FORCED | MORE)[model](), rng)
    problem, kinds = by_elements(monkeypatch, turned, pairing, reference="start")
    assert len(kinds) == 1, "it was not made of elements"
    agree(cases.formulate(turned, pairing, code="plain", reference="start"), problem, rng, 1e-13)


@pytest.mark.parametrize("pairing", [PAIRINGS[0], Pairing("projected-0", "quaternion", "coordinate")], ids=str)
def test_suspended_equations_are_those_of_the_kernels(monkeypatch, rng, pairing):
    """Which pivots are below their floors depends on the order of elimination."""
    kinds = inside.make_rhs_elements(monkeypatch)
    one, other = (
        inside.suspending(cases.formulate(rings(2), pairing, redundant="minimum-norm", code=code), 1.0)
        for code in ("plain", "auto")
    )
    y = one.y0 + 0.05 * rng.standard_normal(one.n)
    suspended = np.count_nonzero(inside.pivots(one, 0.0, y) == 0.0)
    assert 3 < suspended < one.workspace.layout.n_rows - 3
    wanted = one.rhs(0.0, y)
    np.testing.assert_allclose(other.rhs(0.0, y), wanted, rtol=0.0, atol=1e-13 * np.abs(wanted).max())
    assert kinds and other.callbacks._fallbacks == 0


def test_dependent_rows_of_a_joint_fall_back(monkeypatch):
    """A hinge after almost a quarter of a turn off its axis, which the other body has: plain Python does the work."""
    kinds = inside.make_rhs_elements(monkeypatch)
    system = rbdae.System()
    bodies = [system.add_body(f"b{k}", mass=1.0, inertia=(1.0, 2.0, 2.5), position=(k, 0, 0)) for k in range(2)]
    system.add_joint(rbdae.joints.Spherical(system.ground, bodies[0]))
    system.add_joint(rbdae.joints.Revolute(bodies[1], bodies[0], at_a=(-0.5, 0, 0), at_b=(0.5, 0, 0), name="pin"))
    problem = cases.formulate(system, Pairing("null-space", "quaternion", "angular"))
    y = problem.y0.copy()
    q = [k for k, label in enumerate(problem.labels) if label.startswith("b1.p")]
    half = 0.25 * np.pi - 5e-5
    for axis in range(3):
        y[q] = 0.0
        y[[q[0], q[1 + axis]]] = np.cos(half), np.sin(half)
        problem.callbacks.rhs(0.0, y, np.empty(problem.n))
    assert len(kinds) == 1 and problem.callbacks._fallbacks == 2  # one of them is its axis


@pytest.mark.parametrize(
    ("model", "pairing"),
    [
        ("tree", Pairing("index-0", "quaternion", "angular")),
        ("tree", Pairing("index-2", "quaternion", "coordinate")),
        ("forces", Pairing("index-2", "directors", "coordinate")),
        ("pivots", Pairing("hamiltonian", "quaternion", "coordinate")),
        ("redundant", Pairing("index-2", "quaternion", "coordinate")),
    ],
    ids=str,
)
def test_multipliers_come_with_them(monkeypatch, rng, model, pairing):
    """Of joints, and of bodies."""
    kinds = inside.make_rhs_elements(monkeypatch)
    options = {"redundant": "minimum-norm"} if model == "redundant" else {}
    system = (MODELS | FORCED)[model]()
    one, other = (cases.formulate(system, pairing, code=code, **options) for code in ("plain", "auto"))
    y = one.y0 + 0.03 * rng.standard_normal(one.n)
    wanted = one.multipliers(0.0, y)
    np.testing.assert_allclose(other.multipliers(0.0, y), wanted, rtol=0.0, atol=1e-12 * np.abs(wanted).max())
    assert len(kinds) == 1


@pytest.mark.parametrize(
    ("model", "velocity"),
    [("tree", "coordinate"), ("balls", "angular"), ("loop", "coordinate"), ("redundant", "angular"),
     ("steered", "angular"), ("states", "angular"), ("forces", "coordinate")],
)  # fmt: skip
def test_starts_of_long_models_are_those_of_the_kernel(monkeypatch, model, velocity):
    """Rates, and multipliers."""
    options = {"redundant": "minimum-norm"} if model == "redundant" else {}
    pairing, found = Pairing("index-2", "quaternion", velocity), []
    wanted = cases.formulate((MODELS | FORCED)[model](), pairing, **options)
    monkeypatch.setattr(inside.rhs_elements, "NUMPY_FROM", 1)
    monkeypatch.setattr(inside.rhs_elements, "enough", lambda *_: True)
    by_numpy = inside.rhs_elements.rates_by_numpy
    monkeypatch.setattr(start, "rates_by_numpy", lambda *given: found.append(by_numpy(*given)) or found[-1])
    problem = cases.formulate((MODELS | FORCED)[model](), pairing, **options)
    assert len(found) == 1 and found[0] is not None
    for one, other in ((problem.y0, wanted.y0), (problem.yd0, wanted.yd0)):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-12 * max(1.0, np.abs(other).max()))


def test_other_numbers_are_those_of_the_model(monkeypatch, rng):
    """Also numbers that were one in all bodies of the model whose code it is."""
    inside.make_rhs_elements(monkeypatch)
    first = cases.formulate(rbdae.models.chain(9), PAIRINGS[0])
    first.rhs(0.0, first.y0)
    names = [name for name in first.parameters if name.endswith(".mass")]
    other = first.with_parameters({name: 1.0 + 0.3 * k for k, name in enumerate(names)})
    agree(cases.formulate(other.system, PAIRINGS[0], code="plain"), other, rng, 1e-13)


def test_other_inputs_are_read(monkeypatch, rng):
    inside.make_rhs_elements(monkeypatch)
    values = {f"u{k}": 0.7 - 0.2 * k for k in range(4)}
    one, other = (cases.formulate(steered(4), PAIRINGS[0], code=code) for code in ("plain", "auto"))
    agree(one, other, rng, 1e-12)
    agree(one.with_inputs(values), other.with_inputs(values), rng, 1e-12)


def test_the_text_is_that_of_any_number_of_bodies():
    for make, sizes in ((rbdae.models.chain, (20, 31)), (rbdae.models.n_four_bar, (10, 13))):
        texts = [inside.text_of_rhs_elements(rbdae.formulate(make(n), "index-0")) for n in sizes]
        assert texts[0] == texts[1] and "straight.5" in texts[0]


def test_lost_pivots_fall_back(monkeypatch):
    """A body without a direction has hinges without gradients: plain Python says what becomes of it."""
    problem, _ = by_elements(monkeypatch, rbdae.models.chain(9, planar=True), PAIRINGS[0])
    y = problem.y0.copy()
    q = [k for k, label in enumerate(problem.labels) if label.startswith("link5.p")]
    assert len(q) == 4
    y[q] = 0.0
    with np.errstate(all="ignore"):
        problem.callbacks.rhs(0.0, y, np.empty(problem.n))
    assert problem.callbacks._fallbacks == 1


def test_what_is_not_asked_of_them(monkeypatch):
    """Spatial quasi-velocities, those of loops; friction under reactions, laws that are called."""
    assert not by_elements(monkeypatch, rbdae.models.chain(3), Pairing("null-space", "quaternion", "spatial"))[1]
    driven, called = cases.driven(), rbdae.models.pendulum()
    assert not by_elements(monkeypatch, driven, Pairing("null-space", "quaternion", "angular"))[1]
    law = rbdae.forces.CalledBack(lambda t, angle, rate: -angle)
    called.add_force(rbdae.forces.Motor(called.joints[0], torque=law))
    rubbed = rbdae.models.pendulum()
    rubbed.add_force(rbdae.forces.Coulomb(rubbed.joints[0], mu=0.2, normal="reaction", radius=0.01, velocity=0.01))
    for system in (called, rubbed):
        assert not by_elements(monkeypatch, system, PAIRINGS[0])[1]


def test_long_models_of_a_few_kinds_have_them():
    """What users get from so many bodies on."""
    for system, wanted in (
        (rbdae.models.chain(19), False),
        (rbdae.models.chain(20), True),
        (tree(24), False),
        (tree(40), True),
    ):
        assert inside.rhs_elements_apply(rbdae.formulate(system, "index-0")) == wanted
