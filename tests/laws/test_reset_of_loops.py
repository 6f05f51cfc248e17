"""`Simulator.reset(joints=)` in closed loops: what is given holds, the others follow, and contradictions are named."""

from __future__ import annotations

import numpy as np
import pytest

import rbdae
from rbdae.drives import PrescribedAngle
from rbdae.joints import Prismatic, Revolute

CRANK, ROD = 0.5, 1.3


def slider_crank(driven: bool = False) -> rbdae.System:
    """A slider crank along y with a pendulum on the slider and one on the ground; its loop is redundant in space."""
    system = rbdae.System()
    crank = system.add_body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1))
    rod = system.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1))
    slider = system.add_body("slider", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 1.7, 0))
    bob = system.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    aside = system.add_body("aside", mass=1.0, inertia=(0.1, 0.1, 0.1))
    x = {"axis_a": (1, 0, 0)}
    bearing = system.add_joint(Revolute(system.ground, crank, **x, name="bearing"))
    system.add_joint(Revolute(crank, rod, at_a=(0, CRANK, 0), at_b=(0, -ROD / 2, 0), **x, name="pin"))
    system.add_joint(Revolute(rod, slider, at_a=(0, ROD / 2, 0), **x, name="end"))
    system.add_joint(Prismatic(system.ground, slider, axis_a=(0, 1, 0), name="guide"))
    system.add_joint(Revolute(slider, bob, at_b=(0, 0, 0.4), **x, name="hanger"))
    system.add_joint(Revolute(system.ground, aside, at_a=(0, 0, -3), at_b=(0, 0, 0.4), **x, name="aside"))
    if driven:
        system.add_joint(PrescribedAngle(bearing, lambda t: 0.0 * t, name="drive"))
    return system


def simulator(form: str = "null-space", driven: bool = False) -> rbdae.Simulator:
    p = rbdae.formulate(slider_crank(driven), form, redundant="minimum-norm", consistent="project")
    return rbdae.Simulator(p)


def displacement(angle: float) -> float:
    return CRANK * np.cos(angle) + np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2)


@pytest.mark.parametrize("form", ["null-space", "index-2"])
def test_a_loop_follows_a_joint_in_its_branch(form):
    """Positions and rates against the closed form, over the dead point; joints outside of the loop keep theirs."""
    sim = simulator(form)
    sim.reset(joints={"hanger": (0.4, 0.7), "aside": (-0.2, 1.5), "bearing": (3.6, 2.0)})
    found = {name: joint for name, joint in sim.joints.items() if name != "guide"}
    assert found["bearing"].angle == pytest.approx(3.6 - 2 * np.pi, abs=1e-9)
    assert found["bearing"].rate == pytest.approx(2.0, abs=1e-9)
    guide, h = sim.joints["guide"], 1e-5
    assert guide.displacement == pytest.approx(displacement(3.6), abs=1e-9)
    assert guide.rate == pytest.approx(2.0 * (displacement(3.6 + h) - displacement(3.6 - h)) / (2 * h), abs=1e-7)
    assert (found["hanger"].angle, found["hanger"].rate) == pytest.approx((0.4, 0.7), abs=1e-9)
    assert (found["aside"].angle, found["aside"].rate) == pytest.approx((-0.2, 1.5), abs=1e-9)
    held = sim.problem.constraints(0.0, sim.y)
    assert max(np.abs(held.position).max(), np.abs(held.velocity).max()) < 1e-9
    sim.step()


def test_a_loop_follows_any_of_its_joints_and_agrees_with_several():
    sim = simulator()
    sim.reset(joints={"bearing": 0.7})
    angle = float(sim.joints["pin"].angle)
    sim.reset(joints={"guide": displacement(0.7) - 1e-9})
    assert abs(sim.joints["bearing"].angle) == pytest.approx(0.7, abs=1e-7)
    sim.reset(joints={"bearing": (0.7, 0.0), "guide": displacement(0.7), "pin": angle})
    assert sim.joints["bearing"].angle == pytest.approx(0.7, abs=1e-9)


@pytest.mark.parametrize(
    ("joints", "driven", "words"),
    [
        (
            {"bearing": 0.7, "guide": 1.2},
            False,
            "joint 'guide': its displacement follows from the joints and 'bea",
        ),
        (
            {"guide": 2.5},
            False,
            "joint 'guide': its displacement cannot be 2.5: the loop does not close beyond",
        ),
        ({"bearing": 0.7}, True, "joint 'bearing': its angle follows from the joints and drives: it is "),
    ],
)
def test_what_contradicts_the_loop_is_refused_by_name(joints, driven, words):
    p = simulator(driven=driven)
    if not driven:
        p = rbdae.Simulator(moved(p))
    with pytest.raises(ValueError, match=words):
        p.reset(joints=joints)


def moved(sim: rbdae.Simulator) -> rbdae.Problem:
    """A problem that begins beside the dead point."""
    sim.reset(joints={"bearing": 0.7})
    return sim.problem
