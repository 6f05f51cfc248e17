"""`problem.callbacks.operations`: what one evaluation costs, against the text that machine code is made from."""

from __future__ import annotations

import re
from collections import Counter

import cases
import pytest
from cases import Pairing
from inside import machine_text

import rbdae

pytestmark = []

LINES = {
    "additions": r" fadd ",
    "subtractions": r" fsub ",
    "negations": r" fneg ",
    "multiplications": r" fmul ",
    "reciprocals": r" fdiv ",
    "square_roots": r"@llvm\.sqrt\.",
    "choices": r"^(?!\s*%bad =).* (fcmp|select|xor) ",
}
FUNCTIONS = {"sin": r"double @sin\(", "cos": r"double @cos\(", "abs": r"double @llvm\.fabs\."}


def in_the_text(problem, name):
    """The operations in the first function of the text, those of two numbers at a time twice."""
    body = re.search(r"@straight[\w.]*\(.*?^}", machine_text(problem, name), re.DOTALL | re.MULTILINE)[0]
    found = Counter()
    for line in body.splitlines():
        for kind, pattern in LINES.items():
            if re.search(pattern, line):
                found[kind] += 2 if "<2 x double>" in line else 1
        for name, pattern in FUNCTIONS.items():
            found[name] += bool(re.search(pattern, line))
    return found


CALLS = [
    ("A", Pairing("index-0", "euler-313", "angular"), "rhs"),
    ("A", Pairing("index-0", "quaternion", "coordinate"), "rhs"),
    ("A", Pairing("index-0", "quaternion", "angular"), "rhs_jacobian"),
    ("C", Pairing("index-2", "quaternion", "angular"), "residual"),
    ("C", Pairing("index-0", "quaternion", "coordinate"), "rhs"),
    ("C", Pairing("index-2", "quaternion", "angular"), "jacobian"),
    ("C", Pairing("index-2", "quaternion", "angular"), "jacobian_data"),
]


@pytest.mark.parametrize("example, pairing, name", CALLS)
def test_they_are_those_of_the_machine_code(example, pairing, name):
    problem = cases.formulate(cases.SYSTEMS[example](), pairing)
    counted, text = problem.callbacks.operations(name), in_the_text(problem, name)
    assert {kind: getattr(counted, kind) for kind in LINES} == {kind: text[kind] for kind in LINES}
    assert dict(counted.functions) == {name: text[name] for name in FUNCTIONS if text[name]}
    assert counted.total == sum(text.values()) > 20


def test_those_of_a_right_hand_side_by_hand():
    """Euler's equations and pdot = p * (0, Omega) / 2: 12 products and as many halves of Omega or pdot at most."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    system.add_body("top", mass=1.0, inertia=(3.0, 2.5, 1.5), pivot=(0.0, 0.0, 0.0), angular_velocity=(1.0, 2.0, 3.0))
    counted = rbdae.formulate(system, "null-space", code="folded").callbacks.operations("rhs")
    assert (counted.additions + counted.subtractions, counted.square_roots, counted.choices) == (11, 0, 0)
    assert counted.multiplications in (12 + 4 + 9, 12 + 3 + 9, 12 + 4 + 12)
    assert "*" in str(counted) and str(counted).endswith(f"({counted.total})")


@pytest.mark.parametrize("form, most", [("index-0", 5200), ("null-space", 5500)])
def test_loops_are_eliminated_in_an_order_of_least_fill(form, most):
    """Seven bodies in three loops: the Schur complement of the joints takes 6,900 and 7,400 operations. One guard."""
    counted = rbdae.formulate(rbdae.models.andrews(), form).callbacks.operations("rhs")
    assert counted.total <= most


def test_ten_kinds_of_joints_have_a_null_space_of_few_operations():
    """Joints without constant velocity rows, too; the normal equations of [G; S] take 28,000."""
    system, axes = rbdae.System(), {"axis_a": (0.0, 0.0, 1.0)}
    kinds = {"Universal": {}, "Spherical": {}, "Rod": {}, "Revolute": axes, "Prismatic": axes, "Cylindrical": axes}
    kinds |= {"Planar": axes, "Fixed": axes, "PointOnLine": axes, "PointOnPlane": axes}
    before = system.ground
    for k, (kind, given) in enumerate(kinds.items()):
        body = system.add_body(f"b{k}", mass=1.0 + 0.1 * k, inertia=(0.4, 0.5, 0.6), position=(0.5 + k, 0.0, 0.1 * k))
        ends = {"at_a": (0.5 if k else 0.0, 0.0, 0.0), "at_b": (-0.2, 0.3, 0.1) if kind == "Rod" else (-0.5, 0.0, -0.1)}
        system.add_joint(getattr(rbdae.joints, kind)(before, body, **ends, **given))
        before = body
    problem = rbdae.formulate(system, "null-space", consistent="project")
    assert problem.callbacks.operations("residual").total <= 6500


def test_hinges_keep_the_zeros_of_the_null_space():
    """A hinge turns its body about a constant axis: T has zeros there, and forces of its other equations do no work."""
    problem = rbdae.formulate(rbdae.models.pendulum(), "null-space")
    assert problem.callbacks.operations("residual").total <= 75
    assert problem.callbacks.operations("jacobian_data").total <= 155
    assert problem.sparsity.nnz == 35


def test_loops_over_elements_count_every_element():
    """Residuals of long chains are loops over bodies: a link more costs the same at any length."""
    found = []
    for n in (44, 45, 46):
        problem = rbdae.formulate(rbdae.models.chain(n), "index-2")
        found.append(problem.callbacks.operations("residual").total)
    assert found[2] - found[1] == found[1] - found[0]
    assert 100 < found[1] - found[0] == pytest.approx(found[0] / 44, rel=0.05)
