"""Wrong data for a system are refused at once, and the message names object, value and remedy."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from rbdae.forces import Bushing
from rbdae.joints import Coincidence, Distance, Dot1, Dot2, Spherical
from rbdae.system import System

GOOD: dict[str, Any] = {"mass": 2.0, "inertia": (1.0, 1.0, 1.0)}
NAN, INF = math.nan, math.inf
with np.errstate(over="ignore"):
    HUGE = np.ldexp(np.longdouble(1), 2000)  # finite where a long double is longer than a double


def body(system: System | None = None, name: Any = "a", **changes: Any) -> Any:
    return (system or System()).add_body(name, **(GOOD | changes))


def pair() -> tuple[System, Any, Any]:
    system = System()
    return system, body(system, "a"), body(system, "b")


SKEW = [[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
TOP: dict[str, Any] = {"mass": 5.0, "inertia": (9.25, 9.25, 1.8), "pivot": (0, 0, 0), "center_of_mass": (0, 0, 1.3)}

# arguments of add_body; facts in the message (wrong kinds and shapes: test_invalid_calls; any others: below)
BODIES: list[tuple[dict[str, Any], list[str]]] = [
    ({"mass": 0.0}, ["mass", "positive", "0.0", "use system.ground"]),
    ({"inertia": (1.0, 0.0, 1.0)}, ["inertia", "positive definite", "0.0"]),
    ({"inertia": SKEW}, ["inertia", "symmetric", "0.1", "(A + A.T) / 2"]),
    ({"inertia": (1.0, 1.0, 2.1)}, ["centre of mass", "triangle", "2.1", "allow_unphysical=True"]),
    ({"inertia": (1.0, 1.0, 2.1), "pivot": (0, 0, 0)}, ["about the pivot", "triangle", "2.1", "allow_unphysical=True"]),
    # fine about the pivot; about the centre of mass the top of [GR95] has none
    (TOP, ["Steiner", "center_of_mass [0.0, 0.0, 1.3]", "triangle", "0.8", "1.8", "allow_unphysical=True"]),
    ({"mass": 1e200, "pivot": (0, 0, 0), "center_of_mass": (0, 0, 1e200)}, ["mass 1e+200", "too large", "SI units"]),
    ({"pivot": (0, 0, 0), "position": (0, 0, 1)}, ["position", "pivot", "(0, 0, 1)", "leave it out"]),
    ({"pivot": (0, 0, 0), "velocity": (0, 0, 1)}, ["velocity", "(0, 0, 1)", "angular_velocity"]),
    ({"orientation": (0, 0, 0, 0)}, ["orientation", "zero quaternion"]),
    ({"orientation": (1.0 + 2e-6, 0, 0, 0)}, ["unit quaternion", "1.000002", "divide"]),
    ({"orientation": np.diag((1.0, 1.0, -1.0))}, ["improper", "-1.0", "flip one column"]),
    ({"orientation": 1.1 * np.eye(3)}, ["not orthonormal", "1.1", "unit columns"]),
    ({"orientation": Rotation.identity(2)}, ["one rotation", "stack of 2", "rotation[0]"]),
]


@pytest.mark.parametrize(("changes", "facts"), BODIES, ids=[f"{i}-{'-'.join(row[0])}" for i, row in enumerate(BODIES)])
def test_body_is_refused(changes: dict[str, Any], facts: list[str]) -> None:
    system = System()
    with pytest.raises(ValueError, match="body 'a'") as caught:
        body(system, **changes)
    assert all(fact in str(caught.value) for fact in facts), caught.value
    assert system.bodies == ()
    body(system)  # the name is still free


@pytest.mark.parametrize("name", ["ground", "a", "", "  ", 3, None])
def test_name_is_refused(name: Any) -> None:
    system = System()
    made = body(system, "a")
    with pytest.raises((TypeError, ValueError), match=r"body '\w*'.* taken|name of a body"):
        body(system, name)
    assert system.bodies == (made,)
    with pytest.raises(TypeError, match=r"body 'a' exists already"):
        body(System(), made)


CONNECTIONS: list[tuple[Callable[[Any, Any], Any], list[str]]] = [
    (lambda a, b: Spherical(a, a), ["joint Spherical('a', 'a')", "itself"]),
    (lambda a, b: Spherical(a, a, name="hip"), ["joint 'hip'", "body 'a' with itself"]),
    (lambda a, b: Spherical(a, b, name=" "), ["name of a joint", "empty"]),
    (lambda a, b: Bushing(a, a, stiffness=1.0), ["force Bushing('a', 'a')", "itself"]),
    (lambda a, b: Bushing(a, stiffness=-1.0), ["force Bushing('a')", "stiffness", "-1.0", "sign"]),
    (lambda a, b: Bushing(a, stiffness=np.eye(3)[[1, 0, 2]]), ["stiffness", "negative"]),
    (lambda a, b: Bushing(a, stiffness=np.tri(3)), ["stiffness", "symmetric", "(A + A.T) / 2"]),
    (lambda a, b: Bushing(a, stiffness=1.0, name=""), ["name of a force", "empty"]),
    (lambda a, b: Dot1((0, 0, 0), (1, 0, 0)), ["Dot1", "axis a", "zero", "(0, 0, 0)"]),
    (lambda a, b: Dot2((0, 1e-20, 0), (1, 0, 0), (1, 0, 0)), ["Dot2", "axis a", "1e-20"]),
    (lambda a, b: Coincidence((0, 0, 0), (0, 0, 0), 1.0), ["Coincidence", "offset", "1.0"]),
    (lambda a, b: Distance((0, 0, 0), (0, 0, 0), 0.0), ["Distance", "length", "0.0", "Coincidence"]),
    (lambda a, b: Distance((0, 0, 0), (0, 0, 0), 1e-200), ["Distance", "1e-200", "SI units"]),
]


@pytest.mark.parametrize(("make", "facts"), CONNECTIONS, ids=[str(k) for k in range(len(CONNECTIONS))])
def test_joint_force_or_primitive_is_refused(make: Callable[[Any, Any], Any], facts: list[str]) -> None:
    _, a, b = pair()
    with pytest.raises(ValueError, match=re.escape(facts[0])) as caught:
        make(a, b)
    assert all(fact in str(caught.value) for fact in facts), caught.value


# ---------------------------------------------------------------- of other systems, and twice


def test_bodies_of_another_system_are_refused() -> None:
    system, a, b = pair()
    other, _, c = pair()
    message = "body 'b' does not belong to this system; use the bodies that its own add_body returned"
    with pytest.raises(ValueError, match=r"joint Spherical\('a', 'b'\): " + message):
        system.add_joint(Spherical(a, c))
    with pytest.raises(ValueError, match="joint 'hip': body 'ground'"):
        system.add_joint(Spherical(other.ground, b, name="hip"))
    with pytest.raises(ValueError, match=r"force Bushing\('a', 'b'\): " + message):
        system.add_force(Bushing(a, c, stiffness=1.0))
    joint = other.add_joint(Spherical(other.ground, c))
    with pytest.raises(ValueError, match="joint 'spherical-1': body 'ground'"):
        system.add_joint(joint)
    assert system.joints == system.forces == ()


def test_duplicate_names_and_objects_are_refused() -> None:
    system, a, b = pair()
    system.add_joint(Spherical(a, b, name="hip"))
    with pytest.raises(ValueError, match="joint 'hip': the name is taken in this system; choose another"):
        system.add_joint(Spherical(a, system.ground, name="hip"))
    nameless = Spherical(b, system.ground)
    system.add_joint(nameless)
    with pytest.raises(ValueError, match=r"joint Spherical\('b', 'ground'\) has been added already"):
        system.add_joint(nameless)
    with pytest.raises(ValueError, match="joint 'spherical-1': the name is taken"):
        system.add_joint(system.joints[1])
    system.add_force(Bushing(a, stiffness=1.0, name="mount"))
    with pytest.raises(ValueError, match="force 'mount': the name is taken"):
        system.add_force(Bushing(b, stiffness=1.0, name="mount"))
    assert [joint.name for joint in system.joints] == ["hip", "spherical-1"]
    assert [force.name for force in system.forces] == ["mount"]


# Values that break numerical code, alone and in arrays of nearly right shapes.
floats = st.one_of(
    st.floats(),
    st.sampled_from((0.0, -0.0, 1.0, 5e-324, 1e-308, 1e-200, 1e-9, 1e9, 1e154, 1e200, 1.7e308, -1e308, NAN, INF)),
)
scalars = st.one_of(
    floats,
    st.integers(),
    st.booleans(),
    st.none(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.complex_numbers(),
    st.sampled_from((10**400, -(2**64), Decimal(1), object, {}, {1.0, 2.0, 3.0}, np.datetime64("2020-01-01"))),
    st.sampled_from((np.float32(3e38), np.longdouble(2), HUGE, np.int8(-3), np.array(1.0))),
    st.sampled_from((Rotation.identity(), Rotation.identity(1), Rotation.identity(3))),
)
arrays = st.one_of(
    st.lists(floats, min_size=3, max_size=4),
    st.lists(scalars, max_size=5),
    st.lists(st.lists(floats, min_size=3, max_size=3), min_size=3, max_size=3),
    st.lists(st.lists(scalars, max_size=3), max_size=3),
    st.lists(floats, min_size=9, max_size=9).map(lambda entries: np.reshape(entries, (3, 3))),
    st.lists(floats, min_size=9, max_size=9).map(lambda entries: np.reshape(entries, (3, 3)) + np.eye(3)),
    st.lists(floats, min_size=3, max_size=3).map(lambda entries: np.array(entries, dtype=">f8")),
    st.lists(floats, min_size=6, max_size=6).map(lambda entries: np.array(entries)[::2]),
)
nasty = st.one_of(scalars, arrays)
SLOTS = (*GOOD, "center_of_mass", "pivot", "position", "orientation", "velocity", "angular_velocity")


@given(st.dictionaries(st.sampled_from((*SLOTS, "allow_unphysical")), nasty, min_size=1, max_size=3))
@settings(max_examples=200, deadline=None)
def test_a_body_is_sound_or_refused_by_name(changes: dict[str, Any]) -> None:
    system = System()
    try:
        made = system.add_body("a", **(GOOD | changes))
    except (TypeError, ValueError) as error:
        assert str(error).startswith("body 'a': ")
        assert any(slot in str(error) for slot in changes)
        assert system.bodies == ()
        return
    assert system.bodies == (made,)
    assert isinstance(made.mass, float)
    assert 0.0 < made.mass < INF
    for slot in ("inertia", "center_of_mass", "position", "orientation", "velocity", "angular_velocity"):
        value = getattr(made, slot)
        assert value.dtype == np.float64
        assert value.shape == {"inertia": (3, 3), "orientation": (4,)}.get(slot, (3,))
        assert np.isfinite(value).all()
        assert not value.flags.writeable
    assert np.array_equal(made.inertia, made.inertia.T)
    assert np.linalg.eigvalsh(made.inertia / np.abs(made.inertia).max())[0] > 0.0
    assert abs(np.linalg.norm(made.orientation) - 1.0) < 4e-16
    assert np.isfinite(made.central_inertia).all()


@given(nasty, nasty, nasty)
@settings(max_examples=200, deadline=None)
def test_joints_and_forces_are_sound_or_refused_by_name(first: Any, second: Any, third: Any) -> None:
    system, a, b = pair()
    for make in (
        lambda: Spherical(a, b, at_a=first, at_b=second),
        lambda: Bushing(a, stiffness=first, damping=second, at_a=third),
        lambda: Dot2(first, second, third),
        lambda: Distance(second, third, first),
    ):
        try:
            made: Any = make()
        except (TypeError, ValueError) as error:
            assert str(error).split(": ")[0] in {
                "joint Spherical('a', 'b')",
                "force Bushing('a')",
                "Dot2",
                "Distance",
            }
            continue
        for array in (getattr(made, field.name) for field in attrs.fields(type(made))):
            if isinstance(array, np.ndarray):
                assert np.isfinite(array).all()
                assert not array.flags.writeable
    assert system.joints == ()
