"""A solver of its own for mechanisms with actuators: `maximal` with the forces of these, by their formulas.

Coordinates come from poses (`textbook`), blocks from their formulas below or from the user's law on plain numbers,
algebraic unknowns from Newton's method with differences. Nothing is shared with the library but data.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from maximal import Solved, State, force_on, motion, solve_maximal, unwound
from textbook import axes, coordinate

import rbdae
from rbdae import actuators, drives
from rbdae.actuators import Block
from rbdae.inputs import Input
from rbdae.quantities import Quantity

_kind = cache(partial(namedtuple, "Numbers"))  # to make a class takes a hundred times as long as a value of it


def _record(names: Sequence[str], values: Sequence[float]) -> Any:
    return _kind(tuple(names))(*values)


def _between(value: float, p: Any) -> float:
    return min(max(value, getattr(p, "low", -np.inf)), getattr(p, "high", np.inf))


# what (q, qd, s, z, u, p) give: effort, sdot, g, outputs


def _motor(q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
    if not s:
        return _motor_without(q, qd, s, z, u, p)
    rate = (u.voltage - p.resistance * s.current - p.constant * qd) / p.inductance
    return p.constant * s.current, [rate], [], [u.voltage * s.current, p.resistance * s.current**2]


def _motor_without(q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
    i = z.current
    return p.constant * i, [], [u.voltage - p.resistance * i - p.constant * qd], [u.voltage * i, p.resistance * i**2]


def _pi(q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
    e = u.setpoint - u.measured
    free = p.kp * e + s.integral
    return None, [p.ki * e + p.kb * (_between(free, p) - free)], [], [_between(free, p), e]


def _pid(q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
    e, slope = u.setpoint - u.measured, (u.measured - s.filtered) / p.tau
    free = p.kp * e + s.integral - p.kd * slope
    return None, [p.ki * e + p.kb * (_between(free, p) - free), slope], [], [_between(free, p), e]


def _pd(q: Any, qd: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
    out = p.kp * (u.setpoint - u.measured) + p.kd * (u.setpoint_rate - u.rate) + u.feedforward
    return None, [], [], [_between(out, p)]


FORMULAS: dict[type, Any] = {
    actuators.DCMotor: _motor,
    actuators.Source: lambda q, qd, s, z, u, p: (u.effort, [], [], []),
    actuators.PI: _pi,
    actuators.PID: _pid,
    actuators.PD: _pd,
}


DRIVEN = (drives.PrescribedDisplacement, drives.PrescribedAngle)


def _by_law(block: Any, given: Sequence[Any]) -> Any:
    """The same of the user's law."""
    found, acts = block.law(*given), isinstance(block, rbdae.Actuator)
    several = (acts and (block.states or block.algebraic)) or (block.states and block.algebraic)
    values = list(found) if several else [found]
    effort = values.pop(0) if acts else None
    rates = values.pop(0) if block.states else []
    residuals = values.pop(0) if block.algebraic else []
    return effort, rates, residuals, block.observe(*given) if block.outputs else []


def _known(joint: Any) -> tuple[Any, ...]:
    """The coordinates of a joint, or that of a drive."""
    own = joint.prescribed()
    return tuple(joint.coordinates()) or (() if own is None else (own,))


def _turn(joint: Any, name: str) -> str:
    """The label of the turns of an angle."""
    return f"{joint.name}.{'turn' if len(_known(joint)) == 1 else f'{name}_turn'}"


class Own:
    """A state of a problem, and all that follows from it.

    Attributes
    ----------
    state : `maximal.State`, with the turns of forces
    solved : accelerations and reactions
    """

    def __init__(self, problem: rbdae.Problem, t: float, y: Any) -> None:
        self.problem, self.system, self.t = problem, problem.system, t
        self.unknowns = dict(zip(problem.labels, np.asarray(y, dtype=float).tolist(), strict=True))
        known = [force.name or "" for force in self.system.forces if f"{force.name}.phi" in self.unknowns]
        turns = {name: np.array([self.unknowns[f"{name}.phi"]]) for name in known}
        self.state = State.of(self.system, _motions(problem, t, y), turns)
        self.inputs = dict(problem.inputs)
        self.blocks = [force for force in self.system.forces if isinstance(force, Block)]
        self._at: dict[Any, Any] = {}
        self._z = self._newton()

    # ------------------------------------------------------------ coordinates

    def displacement(self, owner: Any, name: str) -> tuple[Any, Any]:
        """The bodies and the displacement of their poses."""
        carrier = owner.along if isinstance(owner, rbdae.Actuator) else getattr(owner, "joint", owner)
        return carrier.bodies, coordinate(carrier, name)

    def along(self, owner: Any, name: str) -> tuple[float, float]:
        """A coordinate, next to the turn that blocks have of it, and its rate."""
        key = id(owner), name
        if key not in self._at:
            s, rate, _ = motion(self.system, self.state, *self.displacement(owner, name))
            carrier = owner.along if isinstance(owner, rbdae.Actuator) else getattr(owner, "joint", owner)
            if name.startswith("angle"):
                s = float(unwound(np.array(s), self.unknowns.get(_turn(carrier, name), 0.0)))
            self._at[key] = s, rate
        found: tuple[float, float] = self._at[key]
        return found

    # ------------------------------------------------------------ blocks

    def number(self, source: Any, z: Any) -> float:
        """What a block reads."""
        if isinstance(source, Input):
            return self.inputs[source.name]
        if isinstance(source, Quantity) and source.aspect == "own":
            return self.own(source.owner, source.name, z)
        if isinstance(source, Quantity):
            return self.along(source.owner, source.coordinate)[source.aspect == "rate"]
        return float(source(self.t)) if callable(source) else float(source)

    def own(self, block: Any, name: str, z: Any) -> float:
        """A state, an algebraic unknown, an input or an output."""
        if name in block.states:
            return self.unknowns[f"{block.name}.{name}"]
        if name in block.algebraic:
            return float(z[self._places.index((block.name, name))])
        if name in block.inputs:
            return self.number(block.sources[name], z)
        return float(self.found(block, z)[3][list(block.outputs).index(name)])

    def found(self, block: Any, z: Any) -> Any:
        """Effort, rates, residuals and outputs of a block."""
        s, a, u = (
            _record(names, [self.own(block, name, z) for name in names])
            for names in (block.states, block.algebraic, block.inputs)
        )
        p = _record(block.values, block.values.values())
        q = self.along(block, block.coordinate_name) if isinstance(block, rbdae.Actuator) else ()
        if type(block) in FORMULAS:
            return FORMULAS[type(block)](*(q or (0.0, 0.0)), s, a, u, p)
        return _by_law(block, (self.t, *q, s, a, u, p))

    @cached_property
    def _places(self) -> list[tuple[Any, str]]:
        return [(block.name, name) for block in self.blocks for name in block.algebraic]

    def _newton(self) -> Any:
        """The algebraic unknowns."""

        def residuals(z: Any) -> Any:
            return np.array([g for block in self.blocks for g in self.found(block, z)[2]])

        z = np.zeros(len(self._places))
        for _ in range(30):
            g = residuals(z)
            if np.max(np.abs(g), initial=0.0) < 1e-14:
                break
            J = np.array([(residuals(z + 1e-6 * e) - residuals(z - 1e-6 * e)) / 2e-6 for e in np.eye(len(z))]).T
            z = z - np.linalg.solve(J, g)
        return z

    # ------------------------------------------------------------ what follows

    @cached_property
    def of_blocks(self) -> dict[tuple[str, str], float]:
        """All quantities of blocks that belong to no coordinate, and efforts."""
        out = {}
        for block in self.blocks:
            names = (*block.states, *block.algebraic, *block.inputs, *block.outputs)
            out |= {(block.name, name): self.own(block, name, self._z) for name in names}
            effort = self.found(block, self._z)[0]
            if effort is not None:
                out[block.name, "effort of it"] = float(effort)
        return out

    @cached_property
    def rates(self) -> dict[str, float]:
        """The rates of internal states, by label."""
        out = {}
        for block in self.blocks:
            rates = self.found(block, self._z)[1]
            out |= {f"{block.name}.{name}": float(r) for name, r in zip(block.states, rates, strict=True)}
        for joint in self.system.joints:
            for each in _known(joint):
                label = _turn(joint, each.name)
                if label in self.unknowns:
                    out[label] = motion(self.system, self.state, *self.displacement(joint, each.name))[1]
        for name in self.state.internal:
            force: Any = next(each for each in self.system.forces if each.name == name)
            (of,) = force.acts_along()
            out[f"{name}.phi"] = motion(self.system, self.state, *self.displacement(force, of.name))[1]
        return out

    def effort(self, joint: Any, of: Any) -> float:
        """The torque or force on the second body of a joint along one of its coordinates: of forces that act along it,
        of actuators, of drives."""
        b = joint.bodies[1]
        k = [*self.system.bodies, self.system.ground].index(b)
        a_pose, b_pose = (
            self.state.pose([*self.system.bodies, self.system.ground].index(each)) for each in joint.bodies
        )
        _, n, m, u, _, _, w = axes(joint, a_pose, b_pose)
        direction = {"x": n, "y": m, "angle_b": w}.get(of.name, u)
        turns = of.unit == "rad"
        out = 0.0
        for force in self.system.forces:
            if getattr(force, "joint", None) is joint:
                wrench = force_on(self.system, self.state, force, self.t)[6 * k : 6 * k + 6]
                arm = b_pose.at(joint.at_b) - self.state.c[k]
                torque = self.state.R[k] @ wrench[3:] - np.cross(arm, wrench[:3])
                out += float(direction @ (torque if turns else wrench[:3]))
            elif isinstance(force, rbdae.Actuator) and force.along is joint and force.coordinate_name == of.name:
                out += self.of_blocks[str(force.name), "effort of it"]
        for drive in self.system.joints:
            if type(drive) is DRIVEN[turns] and drive.bodies == joint.bodies and _alike(drive, joint):
                force_and_torque = self.solved.reactions[str(drive.name)][b.name]
                out += float(direction @ force_and_torque[1 if turns else 0])
        return out

    @property
    def efforts(self) -> float:
        """The size of what acts: the largest reaction, effort, or mass times acceleration."""
        of_reactions = [np.array(each) for pair in self.solved.reactions.values() for each in pair.values()]
        of_blocks = [value for (_, name), value in self.of_blocks.items() if name == "effort of it"]
        return max([1.0, *(float(np.max(np.abs(each))) for each in [*of_reactions, *of_blocks])])

    @cached_property
    def solved(self) -> Solved:
        """Accelerations and reactions, with the efforts of the actuators."""
        loads = [
            (*self.displacement(block, block.coordinate_name), self.of_blocks[block.name, "effort of it"])
            for block in self.blocks
            if isinstance(block, rbdae.Actuator)
        ]
        return solve_maximal(self.system, self.state, self.t, loads=loads)


def _alike(drive: Any, joint: Any) -> bool:
    """Whether a drive is that of a joint between the same bodies."""
    return all(np.array_equal(getattr(drive, name), getattr(joint, name)) for name in ("axis_a", "at_a", "at_b"))


def _motions(problem: rbdae.Problem, t: float, y: Any) -> dict[str, Any]:
    states = problem.states(t, y)
    return {k: (s.position, s.orientation.as_matrix(), s.velocity, s.angular_velocity) for k, s in states.items()}
