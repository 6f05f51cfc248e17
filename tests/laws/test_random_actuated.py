"""Random systems with actuators, blocks, laws of the motion, end stops, dry friction and contacts against a solver of
its own (`own_actuated`), at the start and at a state beside it; each in one pairing, all pairings in turn. Then a short
run with an event of one of their quantities."""

from __future__ import annotations

from collections import Counter
from typing import Any

import cases
import numpy as np
import pytest
from along_motion import accelerations
from cases import count
from maximal import motion
from own_actuated import FORMULAS, Own
from random_actuated import FORCES, NUMBERS, Drawn, random_actuated

import rbdae
from rbdae import actuators, forces
from rbdae.joints import Revolute

TURNING = (".turn", "_turn", ".phi")


def _size(*arrays: Any) -> float:
    return max([1.0, *(float(np.max(np.abs(a), initial=0.0)) for a in arrays)])


def _beside(problem: rbdae.Problem, seed: int) -> rbdae.Problem:
    """From another state, in which angles have counted some turns, and with other inputs."""
    rng = np.random.default_rng((seed, 7))
    y = problem.y0.copy()
    y[problem.differential] += 0.05 * rng.uniform(-1.0, 1.0, int(np.sum(problem.differential)))
    for k, label in enumerate(problem.labels):
        if label.endswith(TURNING):
            y[k] = problem.y0[k] + 2.0 * np.pi * int(rng.integers(-2, 3))
    moved = problem.with_inputs({name: float(rng.uniform(-1.0, 1.0)) for name in problem.inputs})
    return moved.at(0.02, y)


def _joints(problem: rbdae.Problem, own: Own) -> tuple[float, float]:
    """Differences of coordinates with rates and accelerations, and of powers of what acts along them."""
    found = problem.joints(problem.t0, problem.y0)
    of_motion, of_power = 0.0, 0.0
    for joint in problem.system.joints:
        several = len(joint.coordinates()) > 1
        for each in joint.coordinates():
            front = f"{each.name}_" if several else ""
            mine, of = found[joint.name or ""], own.displacement(joint, each.name)
            wanted = motion(problem.system, own.state, *of, own.solved)
            names = each.name, f"{front}rate", f"{front}acceleration"
            values = [float(getattr(mine, name)) for name in names]
            of_motion = max(of_motion, float(np.max(np.abs(np.subtract(values, wanted)))) / _size(wanted))
            effort = own.effort(joint, each)
            power = float(getattr(mine, f"{front}power"))
            of_power = max(of_power, abs(power - effort * wanted[1]) / _size(own.efforts, effort * wanted[1]))
    return of_motion, of_power


def _compare(problem: rbdae.Problem) -> dict[str, float]:
    """Differences, relative to the largest of their kind in the system."""
    t, y = problem.t0, problem.y0
    own = Own(problem, t, y)
    wanted = own.solved.acceleration, own.solved.angular_acceleration
    yd = dict(zip(problem.labels, problem.yd0.tolist(), strict=True))
    of = problem.forces(t, y)
    blocks = {key: value for key, value in own.of_blocks.items() if key[1] in of[key[0]].units}
    reactions = problem.reactions(t, y)
    loads = [own.solved.reactions[j][b] for j in reactions for b in reactions[j]]
    given = [(r.force, r.torque) for pair in reactions.values() for r in pair.values()]
    of_motion, of_power = _joints(problem, own)
    names = list(own.rates)
    return {
        "acceleration": max(
            float(np.max(np.abs(a - b))) / _size(*wanted) for a, b in zip(accelerations(problem), wanted, strict=True)
        ),
        "rates of states": max([0.0, *(abs(yd[name] - own.rates[name]) for name in names)])
        / _size(*own.rates.values()),
        "blocks": max([0.0, *(abs(getattr(of[b], name) - v) / _size(v) for (b, name), v in blocks.items())]),
        "reactions": float(np.max(np.abs(np.subtract(given, loads)), initial=0.0)) / _size(np.array(loads)),
        "coordinates": of_motion,
        "powers": of_power,
        "residual": float(np.max(np.abs(problem.residual(t, y, problem.yd0)))) / _size(np.array(loads), problem.yd0),
    }


# 1,999 of 2,000 systems are below them; number 1836 has coordinates to 2e-4 at its second state, where the selected
# velocity is a thousandth of the others: a run selects again before that
LEVELS = dict.fromkeys(("rates of states", "blocks", "reactions", "coordinates", "powers", "residual"), 1e-9) | {
    "acceleration": 1e-6
}


def _formulated(seed: int) -> tuple[rbdae.Problem, Any]:
    pairing = cases.PAIRINGS[seed * 7 % len(cases.PAIRINGS)]
    return cases.formulate(random_actuated(seed), pairing), pairing


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(count(8, 2000)))
def test_a_random_system_with_actuators_moves_as_its_own_solver_says(seed):
    problem, pairing = _formulated(seed)
    for each in (problem, _beside(problem, seed)):
        found = _compare(each)
        assert {kind: error for kind, error in found.items() if not error < LEVELS[kind]} == {}, (pairing, each.t0)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(count(2, 400)))
def test_derivatives_are_those_of_differences(seed):
    problem = _beside(_formulated(seed)[0], seed)
    t, y, yd, c, h = problem.t0, problem.y0, problem.yd0, 1.7, 1e-6
    J = problem.jacobian(t, y, yd, c)
    for e, column in zip(np.eye(problem.n), J.T, strict=True):
        ahead, behind = (problem.residual(t, y + s * e, yd + c * s * e) for s in (h, -h))
        assert cases.close((ahead - behind) / (2.0 * h), column, 1e-6 * _size(J))


# ---------------------------------------------------------------- events


def _read(problem: rbdae.Problem, quantity: Any, t: float, y: Any) -> float:
    """A coordinate, a rate, or what a block has."""
    own = Own(problem, t, y)
    if quantity.aspect == "own":
        return own.of_blocks[quantity.owner.name, quantity.name]
    return own.along(quantity.owner, quantity.coordinate)[quantity.aspect == "rate"]


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(count(3, 2000)))
def test_events_are_where_the_quantity_has_its_value(seed):
    """The value is that at a time of a run without the event; of three quantities the one that changes most."""
    problem = rbdae.formulate(random_actuated(seed), ("index-0", "null-space")[seed % 2], consistent="project")
    end, solver = 0.1, ("rbdae:dopri5", "scipy:DOP853", "rbdae:odex")[seed % 3]
    given: dict[str, Any] = {"solver": solver, "rtol": 1e-9, "atol": 1e-9}
    run = rbdae.solve(problem, (0.0, end), **given)
    assert run.success, run.message
    rng = np.random.default_rng((seed, 11))
    when = float(rng.uniform(0.3, 0.7)) * end
    owners = (*problem.system.joints, *problem.system.forces)
    able = [each for owner in owners for each in owner.quantities.values() if each.aspect in ("value", "rate", "own")]
    chosen = [able[int(k)] for k in rng.permutation(len(able))[:3]]

    def at(quantity: Any, t: float) -> float:
        first = _read(problem, quantity, 0.0, problem.y0)
        value = _read(problem, quantity, t, run(t))
        turns = round((value - first) / (2.0 * np.pi)) if quantity.unit == "rad" and quantity.aspect == "value" else 0
        return value - 2.0 * np.pi * turns

    slopes = [abs(at(each, when + 1e-4) - at(each, when - 1e-4)) / 2e-4 / _size(at(each, when)) for each in chosen]
    quantity, slope = chosen[int(np.argmax(slopes))], max(slopes)
    value = at(quantity, when)
    event = rbdae.Event(quantity, crossing=value)
    found = rbdae.solve(problem, (0.0, end), events=event, **given).events[0].t
    assert all(abs(at(quantity, t) - value) < 1e-7 * _size(value) for t in found), (quantity, found)
    assert slope < 1e-3 or np.min(np.abs(found - when), initial=np.inf) < 1e-6, (quantity, found, when, slope)


# ---------------------------------------------------------------- what is drawn


def test_all_kinds_of_forces_and_blocks_are_drawn():
    seen = Counter(type(part).__name__ for seed in range(100) for part in random_actuated(seed).forces)
    known = [kind for kind in vars(forces).values() if isinstance(kind, type)]
    kinds = {kind.__name__ for kind in known if issubclass(kind, forces.AbstractForce) and "__final__" in vars(kind)}
    own = {kind.__name__ for kind in NUMBERS} | {"Drawn", "FunctionBlock"}
    assert kinds | own <= set(seen)
    assert set(FORMULAS) == set(NUMBERS) and issubclass(Drawn, rbdae.Actuator) and len(FORCES) == 5
    assert {kind.__name__ for kind in NUMBERS} | {"Sampled"} >= {
        name for name in (*actuators.__all__, "Sampled") if name != "FunctionBlock"
    }


def _wheel() -> Any:
    system = rbdae.System(gravity=(0, 0, 0))
    wheel = system.add_body("wheel", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0), angular_velocity=(0, 0, 3.0))
    return system, wheel, system.add_joint(Revolute(system.ground, wheel, at_b=(-1, 0, 0), name="pin"))


def _follower(quantity: Any, name: str) -> Any:
    return rbdae.block(lambda t, s, z, u, p: [u.a - s.x], states={"x": 0.0}, inputs={"a": quantity}, name=name)


def test_blocks_that_know_nothing_of_each_other_read_one_angle():
    system, wheel, pin = _wheel()
    stop = system.add_force(forces.Limit(pin, high=9.0, stiffness=1.0))
    spring = system.add_force(forces.SpringDamper(wheel, stiffness=1.0, at_b=(0.5, 0.5, 0), name="spring"))
    for name, quantity in {
        "one": pin.angle, "two": pin.angle, "three": stop.quantity("angle"), "four": spring.quantity("length")
    }.items():  # fmt: skip
        system.add_block(_follower(quantity, name))
    problem = rbdae.formulate(system, "index-0")
    assert problem.labels[-5:] == ["pin.turn", "one.x", "two.x", "three.x", "four.x"]
    y = problem.y0.copy()
    y[problem.labels.index("pin.turn")] = 4.0 * np.pi
    length = np.hypot(0.5, 0.5)
    np.testing.assert_allclose(problem.rhs(0.0, y)[-5:], [3.0, *[4.0 * np.pi] * 3, length], rtol=1e-14)
