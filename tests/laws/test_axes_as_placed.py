"""An axis that is left out fits the bodies as they are placed; what contradicts the given values is named."""

from __future__ import annotations

import re
import warnings
from typing import Any

import cases
import numpy as np
import pytest
from random_systems import random_system
from scipy.spatial.transform import Rotation

import rbdae
from rbdae import joints
from rbdae.drives import PrescribedAngle
from rbdae.joints import JOINTS

AXIAL = [kind for kind in JOINTS if "axis_b" in kind.__init__.__annotations__ and kind is not joints.Universal]


@pytest.mark.parametrize("kind", AXIAL, ids=lambda kind: kind.__name__)
def test_axis_b_left_out_is_axis_a_as_placed(kind, rng):
    """It was z of `b` for three of them: bodies were turned by 90 degrees without a word."""
    system = rbdae.System()
    a, b = (
        system.add_body(f"b{k}", mass=1.0, inertia=(1, 1.2, 1.5), orientation=Rotation.random(random_state=k))
        for k in range(2)
    )
    axis = rng.standard_normal(3)
    more = cases.further(kind)
    joint = kind(a, b, axis_a=axis, **more)
    np.testing.assert_allclose(b.rotation @ joint.axis_b, a.rotation @ axis / np.linalg.norm(axis), atol=1e-15)
    given = kind(a, b, axis_a=axis, axis_b=joint.axis_b, **more)
    np.testing.assert_allclose(given.normal_b, joint.normal_b, atol=1e-14)


# ---------------------------------------------------------------- what disagrees


def _on_ground(make: Any, **given: Any) -> rbdae.Problem:
    system = rbdae.System()
    body = system.add_body("bob", mass=1, inertia=(0.1, 0.12, 0.15), **given)
    hinge = system.add_joint(make(system.ground, body))
    if isinstance(hinge, joints.Revolute) and hinge.name == "driven":
        law = (lambda t: 0.5 + t, lambda t: 1.0, lambda t: 0.0)
        system.add_joint(PrescribedAngle(hinge, law, name="motor"))
    return rbdae.formulate(system, "index-0")


PLACED = {"position": (0, 0, 0), "orientation": (1, 0, 0, 0)}
SAID: dict[str, tuple[Any, dict[str, Any]]] = {
    "joint 'bearing': directions are 30 deg off": (
        lambda g, b: joints.Cylindrical(g, b, axis_a=(0, 0, 1), axis_b=(0.5, 0, np.sqrt(0.75)), name="bearing"),
        PLACED,
    ),
    "joint 'ball': points are 0.3 m apart": (
        lambda g, b: joints.Spherical(g, b, at_b=(0, 0, 1), name="ball"),
        {"position": (0, 0, -0.7)},
    ),
    "joint 'cross': directions are 78.7 deg off": (
        lambda g, b: joints.Universal(g, b, axis_a=(1, 0, 0.2), name="cross"),
        PLACED,
    ),
    "joint 'motor': directions are 28.6 deg off": (lambda g, b: joints.Revolute(g, b, name="driven"), PLACED),
    "joint 'ball': velocities of the points differ by 1.02 m/s": (
        lambda g, b: joints.Spherical(g, b, at_b=(0, 0, 1), name="ball"),
        {"position": (0, 0, -1), "velocity": (1, 0, 0.2), "angular_velocity": (0, 0, 0)},
    ),
    "joint 'bearing': angular velocities differ by 3 rad/s": (
        lambda g, b: joints.Revolute(g, b, name="bearing"),
        PLACED | {"angular_velocity": (3, 0, 0)},
    ),
}


@pytest.mark.parametrize("said", SAID)
def test_a_warning_names_the_joint_with_the_largest_gap(said):
    """It named positions of bodies, and never a joint."""
    make, given = SAID[said]
    with pytest.warns(rbdae.InitialValuesWarning, match=re.escape(f"largest gap: {said};")):
        problem = _on_ground(make, **given)
    assert problem.assembly.disagreement == said
    assert f"largest gap: {said}" in str(problem.assembly)


# ---------------------------------------------------------------- one argument left out

ARGUMENTS = ("at_a", "at_b", "axis_a", "axis_b")
ANY_AXIS = (joints.PointOnLine, joints.PointOnPlane)
"""Any line or plane through the point fits: without axis_a it is another mechanism, as documented, that fits."""


def _without(seed: int, number: int, argument: str, monkeypatch: pytest.MonkeyPatch) -> tuple[rbdae.System, str]:
    """The random mechanism of a seed, in which a joint is made without an argument; and the name of this joint."""
    add, seen, name = rbdae.System.add_joint, 0, ""

    def short(self: rbdae.System, joint: Any) -> Any:
        nonlocal seen, name
        seen += 1
        able = type(joint) in JOINTS and type(joint) is not joints.Rod and hasattr(joint, argument)
        if seen == number + 1 and able and not (argument == "axis_a" and isinstance(joint, ANY_AXIS)):
            names = type(joint).__init__.__annotations__
            values = {key: getattr(joint, key) for key in ARGUMENTS if key in names and key != argument}
            pitch = {"pitch": joint.pitch} if isinstance(joint, joints.Screw) else {}
            out = add(self, type(joint)(joint.a, joint.b, **values, **pitch))
            name = out.name
            return out
        return add(self, joint)

    with monkeypatch.context() as patch:
        patch.setattr(rbdae.System, "add_joint", short)
        return random_system(seed), name


@pytest.mark.plain  # many models for one law
@pytest.mark.sampled
@pytest.mark.parametrize("block", range(cases.count(1, 26)))
def test_without_one_argument_the_motion_is_the_same_or_a_warning_names_the_joint(block, monkeypatch):
    """500 at night."""
    same = named = 0
    for seed in range(20 * block, 20 * block + 20):
        rng = np.random.default_rng((seed, 5))
        whole = random_system(seed)
        if not whole.joints:
            continue
        argument = ARGUMENTS[seed % 4]
        system, name = _without(seed, int(rng.integers(len(whole.joints))), argument, monkeypatch)
        if not name:
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                problem = rbdae.formulate(system, "index-0", redundant="minimum-norm")
            except (ValueError, ArithmeticError) as error:
                assert str(error), (seed, name)
                named += 1
                continue
        wanted = rbdae.formulate(whole, "index-0", redundant="minimum-norm", consistent="project")
        apart = np.abs(problem.natural(0.0, problem.y0) - wanted.natural(0.0, wanted.y0)).max()
        if apart < 1e-9:
            same += 1
            continue
        culprit = next(joint for joint in system.joints if joint.name == name)
        said = re.search(r"largest gap: joint '([^']*)'", "; ".join(str(w.message) for w in caught))
        assert said is not None, (seed, name, argument, apart)
        blamed = next(joint for joint in system.joints if joint.name == said[1])
        assert {id(b) for b in blamed.bodies} == {id(b) for b in culprit.bodies}, (seed, name, argument, said[1])
        named += 1
    assert same + named >= 8 and named >= 3
