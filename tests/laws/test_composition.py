"""Composition of the conserving schemes to higher order: order, output between steps, refusals. What they keep is a law
of test_exact_or_failed.py, that a run depends on its problem alone one of test_conserving.py."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import test_conserving as schemes

import rbdae
from rbdae.adapter import Unsupported
from rbdae.forces import SpringDamper, Torque
from rbdae.joints import Spherical, Universal


def run(*given: Any, **options: Any) -> rbdae.Solution:
    found = schemes.run(*given, **options)
    assert found.success, found.message
    return found


def pair(joint: Any, *, damping: float = 0.0) -> rbdae.System:
    """Two bodies on a joint, free in space, with a spring."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    a, b = (
        system.add_body(
            f"b{k}",
            mass=1.0 + k,
            inertia=np.array((2.0, 2.5, 3.0)) * (1.0 + 0.5 * k),
            position=(2.0 * k, 0.0, 0.0),
            velocity=(0.3, 1.0 - 2.0 * k, 0.4),
            angular_velocity=(1.0, 2.0 * k - 0.5, 0.7),
        )
        for k in range(2)
    )
    system.add_joint(joint(a, b))
    ends: dict[str, Any] = {"at_a": (0.3, 0.5, 0.0), "at_b": (0.0, 0.7, 0.2)}
    system.add_force(SpringDamper(a, b, stiffness=50.0, length=1.0, damping=damping, **ends))
    return system


def ball(a: Any, b: Any) -> Any:
    return Spherical(a, b, at_a=(1.0, 0.0, 0.0), at_b=(-1.0, 0.0, 0.0))


def universal(a: Any, b: Any) -> Any:
    axes: dict[str, Any] = {"axis_a": (0.0, 0.6, 0.8), "axis_b": (1.0, 0.0, 0.0)}
    return Universal(a, b, at_a=(1.0, 0.0, 0.0), at_b=(-1.0, 0.0, 0.0), **axes)


def missed(one: rbdae.Solution, two: rbdae.Solution, body: str) -> float:
    """The largest difference of positions and rotations."""
    a, b = one.states[body], two.states[body]
    turn = (a.orientation.inv() * b.orientation).magnitude()
    return float(max(np.abs(a.position - b.position).max(), turn.max()))


def exact(system: rbdae.System, t_end: float, times: Any = None) -> rbdae.Solution:
    problem = rbdae.formulate(system, "index-0", consistent="project")
    return rbdae.solve(problem, (0.0, t_end), solver="rbdae:dop853", rtol=1e-14, atol=1e-14, t_eval=times)


def errors(system: rbdae.System, body: str, scheme: str, t_end: float, steps: Any, **options: Any) -> list[float]:
    """At the end, or at the output times, of runs with these steps."""
    times = options.get("t_eval")
    wanted = exact(system, t_end, [t_end] if times is None else times)
    ends = {} if times is not None else {"t_eval": [t_end]}
    return [missed(run(system, scheme, t_end, h, **options, **ends), wanted, body) for h in steps]


# ---------------------------------------------------------------- order


def driven() -> rbdae.System:
    """Nothing is kept here; stages of negative size take the damper and the load backwards in time."""
    system = pair(ball, damping=5.0)
    system.add_force(Torque(system.bodies[0], torque=lambda t: (math.sin(3.0 * t), 2.0 * t, 1.0)))
    return system


FREE = rbdae.models.free_body
"""[BS09], section 5.1: |Omega| = 30 rad/s."""
BETWEEN = np.array([0.2001, 0.2333, 0.25, 0.3, 0.39999])
"""Near the start of a step, at a third, at its half, and shortly before its end."""


@pytest.mark.parametrize(
    "make, scheme, h, options, level",
    [
        (FREE, "QUAT.EM-R", 0.01, {"order": 4}, 0.2),
        (FREE, "QUAT.EM", 0.01, {"order": 4}, 0.2),
        (FREE, "DIR.EM", 0.01, {"order": 4}, 0.2),
        (FREE, "QUAT.VI", 4e-3, {"order": 4}, 0.2),
        (FREE, "ALGO.C1", 0.01, {"order": 4}, 0.2),
        (FREE, "MIDPOINT (310)", 0.01, {"order": 4}, 0.2),
        # after an even number of steps: the errors after an odd one have another constant, of the same order
        (lambda: pair(universal), "QUAT.EM-R", 0.02, {"order": 4}, 0.1),
        (lambda: pair(ball), "DIR.EM", 0.02, {"order": 4}, 0.1),
        (lambda: pair(universal), "ALGO.C1", 0.02, {"order": 4}, 0.1),
        (lambda: pair(ball), "MIDPOINT (conformal)", 0.02, {"order": 4}, 0.1),
        (lambda: pair(universal), "MIDPOINT (310)", 0.02, {"order": 4}, 0.1),
        (driven, "QUAT.EM-R", 0.02, {"order": 4}, 0.1),
        (FREE, "MIDPOINT", 0.01, {"order": 4}, 0.2),
        (FREE, "QUAT.EM-R", 0.02, {"order": 4, "t_eval": BETWEEN}, 0.5),
        (FREE, "ALGO.C1", 0.02, {"order": 4, "t_eval": BETWEEN}, 0.5),
    ],
)
def test_order(make, scheme, h, options, level):
    """At the end and between the steps, with joints, and where nothing is kept."""
    system = make()
    t_end = 0.5 if make is FREE and "t_eval" not in options else 0.4
    coarse, fine = errors(system, system.bodies[-1].name, scheme, t_end, (h, h / 2), **options)
    assert math.log2(coarse / fine) == pytest.approx(options["order"], abs=level)
    if make is FREE and "t_eval" not in options:
        assert fine < 1e-4


def test_velocities_with_joints_are_of_order_four_on_the_constraints():
    """Their part off the tangent space is of order two, and changes its sign; `Problem.project` takes it away."""
    problem = rbdae.formulate(pair(universal), "index-0", consistent="project")
    wanted = exact(pair(universal), 0.4).y[-1]
    off, on = [], []
    for h in (0.02, 0.01):
        y = run(problem, "MIDPOINT", 0.4, h, order=4).y[-1]
        off.append(np.abs(y - wanted)[14:].max())
        on.append(np.abs(problem.project(0.4, y) - wanted)[14:].max())
    assert math.log2(off[0] / off[1]) == pytest.approx(2.0, abs=0.1)
    assert math.log2(on[0] / on[1]) == pytest.approx(4.0, abs=0.1) and on[1] < 1e-8


# ---------------------------------------------------------------- runs


def test_a_step_is_its_stages_one_after_the_other():
    """Five runs of one step, one of them backwards by velocities that are turned round, are a step of Suzuki's."""
    problem = rbdae.formulate(pair(ball), "index-0", consistent="project")
    h, a = 0.05, 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
    y = problem.y0
    for part in (a, a, 1.0 - 4.0 * a, a, a):
        y = y.copy()
        y[14:] *= math.copysign(1.0, part)
        start = dataclasses.replace(problem, start=dataclasses.replace(problem.start, y0=y))
        y = run(start, "MIDPOINT", abs(part) * h, abs(part) * h).y[-1].copy()
        y[14:] *= math.copysign(1.0, part)
    np.testing.assert_allclose(run(problem, "MIDPOINT", h, h, order=4).y[-1], y, rtol=0, atol=1e-13 * np.abs(y).max())


def test_events_are_found_with_the_order_of_the_method():
    """Where the third axis of the free body falls through the plane across the momentum."""
    system = rbdae.models.free_body()
    problem = rbdae.formulate(system, "index-0")

    def height(t: float, y: Any) -> float:
        return float(problem.states(t, y)["body"].orientation.as_matrix()[2, 2])

    wanted = rbdae.solve(problem, (0.0, 0.2), solver="rbdae:dop853", rtol=1e-13, atol=1e-13, events=height)
    found = []
    for options in ({}, {"order": 4}):
        seen = run(problem, "MIDPOINT", 0.2, 2.5e-3, events=height, **options)
        found.append(np.abs(seen.events[0].t - wanted.events[0].t).max())
    assert found[1] < 1e-6 < 1e-5 < found[0]


def test_what_is_refused():
    free = rbdae.models.free_body()
    for scheme, options, error, words in (
        ("MIDPOINT", {"order": 3}, ValueError, "order must be .*, got 3"),
        ("MIDPOINT (326)", {"order": 4}, Unsupported, r"MIDPOINT \(326\)"),
    ):
        with pytest.raises(error, match=words):
            run(free, scheme, 0.1, 0.01, **options)
