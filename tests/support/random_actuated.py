"""Seeded random mechanisms with all that acts along coordinates: laws of angle and rate, end stops, dry friction,
contacts, actuators and blocks that read joints, inputs and each other.

`random_actuated(seed)` is `random_system(seed)` with these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from random_systems import Draw, random_system
from redundant_systems import SI

import rbdae
from rbdae import actuators, forces


def smooth(draw: Draw, n: int, size: float) -> Callable[..., Any]:
    """A smooth function of n numbers; its derivatives by each are below three times its size."""
    rows, shifts = draw.rng.uniform(-1.0, 1.0, (3, n)).tolist(), draw.rng.uniform(-1.0, 1.0, 3).tolist()
    a, b, c = (size * draw.rng.uniform(-1.0, 1.0, 3)).tolist()

    def function(*x: Any) -> Any:
        p, q, r = (
            sum((w * each for w, each in zip(row, x, strict=True)), k) for row, k in zip(rows, shifts, strict=True)
        )
        return a * np.sin(p) + b * np.tanh(q) + c * r / (1.0 + r * r)

    return function


def _wave(draw: Draw) -> Callable[[Any], Any]:
    """A function of the time that takes symbols, too."""
    rate, phase = draw.number(0.5, 3.0), draw.number(0.0, 6.0)
    return lambda t: np.sin(rate * t + phase)


class Surroundings:
    """What there is to act on and to read."""

    def __init__(self, draw: Draw, system: rbdae.System) -> None:
        self.draw, self.system = draw, system
        self.coordinates = [(joint, each) for joint in system.joints for each in joint.coordinates()]
        self.readable = [
            quantity
            for owner in (*system.joints, *system.forces)
            for quantity in owner.quantities.values()
            if quantity.aspect in ("value", "rate")
        ]
        self.inputs = [system.add_input(f"u{k}", draw.number(-1.0, 1.0)) for k in range(2)]

    def source(self) -> Any:
        """From where a block may have an input."""
        kind = self.draw.number(0.0, 1.0)
        if kind < 0.1:
            return self.draw.number(-1.0, 1.0)
        if kind < 0.2:
            return _wave(self.draw)
        return self.draw.pick(self.inputs) if kind < 0.3 or not self.readable else self.draw.pick(self.readable)

    def along(self) -> Any:
        """What an actuator may act along: a coordinate, or two points."""
        if self.coordinates and self.draw.chance(0.8):
            joint, coordinate = self.draw.pick(self.coordinates)
            several = len(joint.coordinates()) > 1 or self.draw.chance(0.3)
            return joint.quantity(coordinate.name) if several else joint
        body = self.draw.pick(self.system.bodies)
        far = body.rotation.T @ (np.array([3.0, -2.0, 1.0]) - body.position)
        return actuators.Points(body, self.system.ground, at_a=far, at_b=self.draw.vector(0.3))

    def coordinate(self, *units: str) -> Any:
        """A joint and one of its coordinates."""
        known = [each for each in self.coordinates if each[1].unit in units]
        return self.draw.pick(known) if known else None


# ---------------------------------------------------------------- forces


def _motor(at: Surroundings) -> Any:
    found = at.coordinate("rad", "m")
    if found is None:
        return None
    what = "torque" if found[1].unit == "rad" else "force"
    return forces.Motor(found[0], coordinate=found[1].name, **{what: smooth_of_three(at.draw)})


def smooth_of_three(draw: Draw) -> Any:
    """A law (t, s, sdot)."""
    function = smooth(draw, 3, 4.0)
    return lambda t, s, rate: function(t, s, rate)


def _sprung(at: Surroundings) -> Any:
    draw = at.draw
    found = [joint for joint in at.system.joints if "rotation" in joint.free_motions]
    if found and draw.chance(0.5):
        return forces.TorsionalSpringDamper(
            draw.pick(found), stiffness=draw.number(0.0, 9.0), angle=draw.number(-1, 1), torque=smooth_of_three(draw)
        )
    body = draw.pick(at.system.bodies)
    far = body.rotation.T @ (np.array([-2.0, 3.0, 1.0]) - body.position)
    return forces.SpringDamper(body, damping=draw.number(0.0, 2.0), at_a=far, force=smooth_of_three(draw))


def _pressing(draw: Draw) -> dict[str, float]:
    out = {"stiffness": draw.number(5.0, 50.0), "exponent": draw.pick([1.0, 1.5, draw.number(1.0, 3.0)])}
    if draw.chance(0.3):
        return out | {"restitution": draw.number(0.2, 1.0), "impact_velocity": draw.number(0.5, 2.0)}
    return out | {"damping": draw.number(0.0, 1.0)}


def _limit(at: Surroundings) -> Any:
    found = at.coordinate("rad", "m")
    low = at.draw.number(-1.5, 0.5)
    ends = at.draw.pick([{"low": low}, {"high": low + 0.5}, {"low": low, "high": low + 0.7}])
    return found and forces.Limit(found[0], coordinate=found[1].name, **ends, **_pressing(at.draw))


def _coulomb(at: Surroundings) -> Any:
    draw, found = at.draw, at.coordinate("rad", "m")
    if found is None:
        return None
    joint, of = found
    wave = draw.wave(2.0)
    normal = draw.number(0.0, 5.0) if draw.chance(0.5) else lambda t: 2.5 + wave(t)
    whole = "plane" in joint.free_motions and of.unit == "m" and draw.chance(0.7)
    return forces.Coulomb(
        joint,
        draw.number(0.1, 0.9),
        normal=normal,
        radius=draw.number(0.1, 1.0) if of.unit == "rad" else None,
        velocity=draw.number(0.1, 1.0),
        coordinate=None if whole and len(joint.coordinates()) > 2 else of.name,
    )


def _contact(at: Surroundings) -> Any:
    draw = at.draw
    a, b = draw.rng.permutation(len(at.system.bodies) + 1)[:2]
    every = [*at.system.bodies, at.system.ground]
    surface = {"normal": draw.vector() + 0.1} if draw.chance(0.5) else {"radius": draw.number(1.0, 4.0)}
    points = {"at_a": draw.vector(0.5), "at_b": draw.vector(0.5)}
    friction = {"mu": draw.number(0.0, 0.8), "velocity": draw.number(0.1, 1.0)}
    return forces.Contact(every[a], every[b], **surface, **points, **_pressing(draw), **friction)


FORCES = (_motor, _sprung, _limit, _coulomb, _contact)

# ---------------------------------------------------------------- blocks and actuators


def _drawn(at: Surroundings, motion: int) -> dict[str, Any]:
    """Names of a block of its own, and its laws: functions of (t, [q, qd,] s, z, u, p)."""
    draw = at.draw
    n, m, k, o = (int(draw.rng.integers(low, 3)) for low in (0, 0, 1, 0))
    states, algebraic, inputs, outputs = (
        [f"{c}{i}" for i in range(x)] for c, x in zip("szuo", (n, m, k, o), strict=True)
    )
    size = 1 + motion + n + m + k
    rates, residuals, seen = ([smooth(draw, size, s) for _ in range(x)] for s, x in ((1.0, n), (0.1, m), (1.0, o)))
    effort = smooth(draw, size, 4.0)

    def law(*given: Any) -> Any:
        *front, s, z, u, p = given
        x = (*front, *s, *z, *u)
        sd = [p.gain * rate(*x) - each for rate, each in zip(rates, s, strict=True)]
        g = [each + 0.1 * each * each * each - f(*x) for f, each in zip(residuals, z, strict=True)]
        found = [*([effort(*x)] if motion else []), *([sd] if n or not (m or motion) else []), *([g] if m else [])]
        return tuple(found) if len(found) > 1 else found[0]

    def observe(*given: Any) -> Any:
        *front, s, z, u, p = given
        return [p.gain * each(*front, *s, *z, *u) for each in seen]

    return {
        "states": {each: draw.number(-1.0, 1.0) for each in states},
        "algebraic": dict.fromkeys(algebraic, 0.0),
        "inputs": inputs,
        "outputs": outputs,
        "parameters": {"gain": draw.number(0.5, 1.5)},
        "law": law,
        "observe": observe,
    }


def _own_block(at: Surroundings) -> Any:
    """By a function."""
    drawn = _drawn(at, 0)
    law, observe = drawn["law"], drawn["observe"]
    drawn["law"] = lambda t, s, z, u, p: law(t, s, z, u, p)
    drawn["observe"] = (lambda t, s, z, u, p: observe(t, s, z, u, p)) if drawn["outputs"] else None
    drawn["inputs"] = {name: at.source() for name in drawn["inputs"]}
    return lambda name: rbdae.block(**drawn, name=name)


class Drawn(rbdae.Actuator):
    """An actuator by a random law, which a class below it has."""


def _own_actuator(at: Surroundings) -> Any:
    """By a class."""
    drawn = _drawn(at, 2)
    law, observe = drawn["law"], drawn["observe"]
    body = drawn | {"law": lambda self, *given: law(*given), "observe": lambda self, *given: observe(*given)}
    kind = type("Drawn", (Drawn,), body)
    given = {name: at.source() for name in drawn["inputs"]}
    return lambda name: kind(at.along(), name=name, **given)


NUMBERS: dict[type, dict[str, tuple[float, float]]] = {
    actuators.DCMotor: {"resistance": (0.5, 2.0), "inductance": (0.1, 1.0), "constant": (0.1, 1.0)},
    actuators.Source: {},
    actuators.PI: {"kp": (0.1, 2.0), "ki": (0.1, 2.0), "kb": (0.0, 1.0), "low": (-1.0, -0.5), "high": (0.5, 1.0)},
    actuators.PID: {
        "kp": (0.1, 2.0), "ki": (0.1, 2.0), "kd": (0.1, 1.0), "tau": (0.2, 0.5), "kb": (0.0, 1.0), "low": (-1.0, -0.5)
    },
    actuators.PD: {"kp": (0.1, 2.0), "kd": (0.1, 2.0), "high": (0.5, 1.0)},
}  # fmt: skip
"""Kinds of the library, and between what their parameters are."""


def _of_library(at: Surroundings) -> Any:
    draw = at.draw
    kind: Any = draw.pick(list(NUMBERS))
    given = {name: draw.number(*ends) for name, ends in NUMBERS[kind].items()}
    if kind is actuators.DCMotor and draw.chance(0.5):  # its current is algebraic
        given["inductance"] = 0.0
    given |= {
        name: at.source() for name in kind.inputs if kind is not actuators.PD or draw.chance(0.8) or len(name) < 9
    }
    start = {name: draw.number(0.5, 1.5) for name in kind.states}
    if start:
        given["start"] = start
    where = (at.along(),) if issubclass(kind, rbdae.Actuator) else ()
    return lambda name: kind(*where, name=name, **given)


BLOCKS = (_own_block, _own_actuator, _of_library, _of_library)


def random_actuated(seed: int) -> rbdae.System:
    """The mechanism of a seed: that of `random_system`, with up to three more forces and one to four blocks."""
    system = random_system(seed)
    draw = Draw(seed + 10**6, SI)
    at = Surroundings(draw, system)
    for _ in range(int(draw.rng.integers(0, 4))):
        force = draw.pick(FORCES)(at)
        if force is not None:
            force = system.add_force(force)
            at.readable += [each for each in force.quantities.values() if each.aspect in ("value", "rate")]
    for k in range(int(draw.rng.integers(1, 5))):
        block = system.add_force(draw.pick(BLOCKS)(at)(f"block{k}"))
        at.readable += [each for each in block.quantities.values() if each.aspect in ("value", "rate", "own")] * 2
    return system
