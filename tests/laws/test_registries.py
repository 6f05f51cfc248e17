"""Every joint, force, chart, formulation, model and solver is in the laws' registries, and public values cannot be
written to."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any, get_args

import actuator_cases
import cases
import force_cases
import pytest
import test_benchmarks
from inside import pairing

import rbdae
from rbdae import actuators, drives, forces, formulations, joints, rotations, study
from rbdae.joints import Coincidence, Primitive, Spherical
from rbdae.rotations import CHARTS


def _bodies() -> Any:
    return cases.linked_bodies().bodies


VALUES: dict[str, Callable[[], Any]] = {
    "Body": lambda: _bodies()[0],
    "Spherical": lambda: Spherical(*_bodies()),
    "Coincidence": lambda: Coincidence((1, 0, 0), (0, 1, 0)),
    "Force": lambda: forces.Force(_bodies()[0], (1, 0, 0)),
    "Motor": lambda: forces.Motor(force_cases.axial(*_bodies(), "revolute"), torque=1.0),
    "PointMotion": lambda: drives.PointMotion(*_bodies(), _law()),
    "Table": lambda: rbdae.Table((0.0, 1.0), (2.0, 3.0)),
    "Event": lambda: rbdae.Event("spherical-1.angle", above=0.5),
    "Projection": rbdae.Projection,
    "Chart": lambda: CHARTS["quaternion"],
    "Energy": lambda: cases.problem("C", cases.REFERENCE).energy(0.0, cases.problem("C", cases.REFERENCE).y0),
    "Case": lambda: study.Case("index-2", "quaternion", "angular", "sksundae:ida", 1e-6),
}


def _law() -> Any:
    return (lambda t: (1.0, t, 0.0), lambda t: (0.0, 1.0, 0.0), lambda t: (0.0, 0.0, 0.0))


@pytest.mark.parametrize("name", VALUES)
def test_public_values_cannot_be_written_to(name):
    value = VALUES[name]()
    assert name in repr(value)
    names = [n for n in dir(value) if not n.startswith("_") and not callable(getattr(value, n))]
    assert names
    for field in names:
        with pytest.raises((AttributeError, TypeError)):
            setattr(value, field, None)
    with pytest.raises((AttributeError, TypeError)):
        value.colour = "red"


def _classes(module: ModuleType) -> set[type]:
    """The classes that a package offers and defines."""
    found = (value for name, value in inspect.getmembers(module, inspect.isclass) if not name.startswith("_"))
    return {value for value in found if value.__module__.startswith(module.__name__) and not inspect.isabstract(value)}


def _used_by_the_mechanisms(what: str) -> set[type]:
    """`driven` has a file of laws of its own: its constraints depend on time."""
    return {type(value) for build in (*cases.SYSTEMS.values(), cases.driven) for value in getattr(build(), what)}


def test_every_joint_force_and_primitive_is_in_a_mechanism():
    kinds = {c for c in _classes(joints) | _classes(drives) if issubclass(c, joints.AbstractJoint)}
    driven = {type(joint) for joint in cases.driven().joints if joint.rheonomic()}
    assert kinds == {kind for kind, _ in cases.JOINTS.values()} | driven
    applied = {c for c in _classes(forces) | _classes(actuators) if issubclass(c, forces.AbstractForce)}
    for name, build in cases.JOINT_SYSTEMS.items():
        assert {type(j) for j in build().joints} == {cases.JOINTS[name.removeprefix("joint-")][0]}
    tried = {type(force) for kind in force_cases.FORCES for force in force_cases.system_of(kind).forces}
    tried |= {*actuator_cases.EXAMPLES, rbdae.Block, rbdae.Actuator}  # these two have no law
    assert applied - _used_by_the_mechanisms("forces") - tried == set()
    primitives = {
        (type(p), "first" if j.a.fixed else "second" if j.b.fixed else "none")
        for build in (*cases.SYSTEMS.values(), cases.JOINT_SYSTEMS["joint-screw"])
        for j in build().joints
        for p in j.primitives()
    }
    # with the ground on some side, and between two bodies
    for kind in get_args(Primitive):
        assert (kind, "none") in primitives, kind
        assert {(kind, "first"), (kind, "second")} & primitives, kind


def test_every_model_is_a_mechanism_of_the_tests():
    """Of the laws' registry, of the benchmarks with their published values, or of the driven ones."""
    laws = {build.__name__ for build in cases.SYSTEMS.values()}
    assert set(rbdae.models.MODELS) <= laws | test_benchmarks.TESTED | {"driven_pendulum"}


def test_every_formulation_and_chart_is_paired():
    assert {p.formulation for p in cases.ALL_PAIRINGS} == set(formulations.FORMULATIONS)
    assert {p.rotation for p in cases.ALL_PAIRINGS} == set(rotations.CHARTS)
    assert len(set(cases.ALL_PAIRINGS)) == len(cases.ALL_PAIRINGS)
    promised = {
        (f.name, c.name) for f in formulations.FORMULATIONS.values() for c in CHARTS.values() if pairing.has_chart(f, c)
    }
    assert promised == {(p.formulation, p.rotation) for p in cases.ALL_PAIRINGS}


def test_charts_that_take_turns_meet_every_formulation():
    """In the mechanisms of the laws, in every run; at night each of them in each mechanism."""
    for pairs, systems in ((cases.PAIRS, cases.SYSTEMS), (cases.JOINT_PAIRS, cases.JOINT_SYSTEMS)):
        assert {p for _, p in pairs} == set(cases.ALL_PAIRINGS)
        for three in zip(systems, [*systems][1:], [*systems][2:], strict=False):
            met = {p for s, p in pairs if s in three}
            assert met >= {p for p in cases.ALL_PAIRINGS if p.rotation in cases.ALWAYS and p.velocity != "spatial"}


def test_the_issues_pairings_are_there():
    """The list of pairings, spelt out, so that a chart that drops out of a formulation is noticed."""
    either = [(r, "coordinate") for r in ("quaternion", "directors")]
    along_axis = ("rotation-vector", "rodrigues", "conformal", "linear", "quaternion-vector")
    charts = ("quaternion", "directors", "euler-313", "bryant-321", *along_axis)
    angular = [(r, v) for r in charts for v in ("angular", "spatial")]
    wanted = {(f"index-{k}", *rv) for k in range(4) for rv in either + angular}
    wanted |= {(f, *rv) for f in ("ggl", "hiller-anantharaman") for rv in either + angular}
    wanted |= {(f, *rv) for f in ("baumgarte", "baumgarte-ode") for rv in either + angular}
    wanted |= {(f"projected-{k}", "quaternion", "coordinate") for k in range(3)}
    wanted |= {(f, *rv) for f in ("overdetermined", "overdetermined-1") for rv in either + angular}
    wanted |= {(f, *rv) for f in ("null-space", "null-space-overdetermined", "null-space-ggl") for rv in angular}
    wanted |= {
        (f"hamiltonian{c}", r, "momentum")
        for c in ("", "-momentum", "-differentiated", "-eliminated", "-ggl", "-overdetermined")
        for r in ("quaternion", "directors")
    }
    assert {tuple(p) for p in cases.ALL_PAIRINGS} >= wanted
