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
from maximal import motion
from own_actuated import FORMULAS, Own
from random_actuated import FORCES, NUMBERS, Drawn, random_actuated
from samples import count

import rbdae
from rbdae import actuators, forces
from rbdae.joints import Cylindrical, Revolute

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
        "rates of states": max([0.0, *(abs(yd[name] - own.rates[name]) for name in names)]) / _size(*own.rates.values()),
        "blocks": max([0.0, *(abs(getattr(of[b], name) - v) / _size(v) for (b, name), v in blocks.items())]),
        "reactions": float(np.max(np.abs(np.subtract(given, loads)), initial=0.0)) / _size(np.array(loads)),
        "coordinates": of_motion,
        "powers": of_power,
        "residual": float(np.max(np.abs(problem.residual(t, y, problem.yd0)))) / _size(np.array(loads), problem.yd0),
    }


# three times the worst of 2,000 systems or more; accelerations are differences
LEVELS = dict.fromkeys(
    ("rates of states", "blocks", "reactions", "coordinates", "powers", "residual"), 1e-9
) | {"acceleration": 1e-6}
