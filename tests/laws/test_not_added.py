"""Joints and forces that were made for bodies of a system and never added are a warning."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any

import pytest

import rbdae
from rbdae import drives, forces, joints


def _system() -> tuple[rbdae.System, Any]:
    system = rbdae.System()
    return system, system.add_body("bob", mass=1.0, inertia=(1, 1, 1))


def _warned(system: rbdae.System) -> str:
    with pytest.warns(rbdae.NotAddedWarning, match="made and never added to the system") as caught:
        rbdae.formulate(system, "index-0")
    assert len(caught) == 1 and caught[0].filename == __file__
    return str(caught[0].message)


def test_a_joint_that_is_kept_and_not_added():
    """The body fell freely, without a word."""
    system, bob = _system()
    hinge = joints.Revolute(system.ground, bob, name="hinge")
    assert "Revolute 'hinge'" in _warned(system)
    system.add_joint(hinge)
    rbdae.formulate(system, "index-0")


def test_a_joint_that_is_made_by_a_statement_of_its_own():
    """Nobody can add it any more."""
    system, bob = _system()
    joints.Spherical(system.ground, bob)
    forces.Force(bob, (1, 0, 0))
    said = _warned(system)
    assert "Spherical('ground', 'bob')" in said and "Force('bob')" in said


def test_a_drive_and_a_force_along_a_joint():
    system, bob = _system()
    hinge = system.add_joint(joints.Revolute(system.ground, bob))
    law = (lambda t: t, lambda t: 1.0, lambda t: 0.0)
    motor = drives.PrescribedAngle(hinge, law, name="motor")
    spring = forces.TorsionalSpringDamper(hinge, stiffness=1.0)
    said = _warned(system)
    assert "PrescribedAngle 'motor'" in said and "TorsionalSpringDamper(" in said
    system.add_joint(motor)
    system.add_force(spring)
    rbdae.formulate(system, "index-0", consistent="project")


def test_what_was_tried_and_thrown_away_is_no_mistake():
    system, bob = _system()
    tried = [joints.Revolute(system.ground, bob, axis_a=axis) for axis in ((1, 0, 0), (0, 1, 0))]
    system.add_joint(tried[0])
    del tried
    refused = joints.Spherical(system.ground, bob, name="revolute-1")
    with pytest.raises(ValueError, match="the name is taken"):
        system.add_joint(refused)
    rbdae.formulate(system, "index-0")


def test_a_force_may_act_along_a_joint_that_is_none():
    system, bob = _system()
    axis = joints.Revolute(system.ground, bob)
    system.add_force(forces.TorsionalSpringDamper(axis, stiffness=1.0))
    rbdae.formulate(system, "index-0")


def test_other_systems_are_not_concerned():
    system, bob = _system()
    other, _ = _system()
    hinge = joints.Revolute(system.ground, bob)
    rbdae.formulate(other, "index-0")
    assert "Revolute" in _warned(system)
    del hinge


def test_copies_and_pickles_are_not_made():
    system, bob = _system()
    system.add_joint(joints.Revolute(system.ground, bob))
    system.add_force(forces.Bushing(bob, stiffness=1.0))
    for twin in (copy.copy(system), copy.deepcopy(system), pickle.loads(pickle.dumps(system))):
        rbdae.formulate(twin, "index-0")
        other = pickle.loads(pickle.dumps(rbdae.formulate(twin, "index-0")))
        rbdae.formulate(other.system, "index-0")


def test_nothing_is_kept_alive():
    system, bob = _system()
    joints.Spherical(system.ground, bob)
    hinge = joints.Revolute(system.ground, bob)
    seen = [weakref.ref(bob), weakref.ref(hinge)]
    del system, bob, hinge
    gc.collect()
    assert [each() for each in seen] == [None, None]
