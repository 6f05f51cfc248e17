"""Quantities of joints and forces at rows (t, y) and in machine code: functions that are recorded once
(`Formulas`) of what kernels and blocks say of a state.

An effort is the torque or force on the second body along the coordinate, of everything that acts along it: forces along
the joint, and drives, by their reactions. That of a length is the tension, which pulls the points together. Power is
that of the effort on the bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec, cross
from rbdae._frozen import ByName
from rbdae.actuators.block import Block, Sampled
from rbdae.actuators.network import Network
from rbdae.graph.derivatives import tangents
from rbdae.graph.functions import select
from rbdae.graph.in_python import InPython
from rbdae.graph.symbols import Recorder
from rbdae.kernels.entry import Entry
from rbdae.kernels.readings import READINGS, WIDTH, together
from rbdae.machine.function import MachineFunction
from rbdae.machine.reading import function_of_numbers
from rbdae.multibody.elements.rhs_elements import apply_to
from rbdae.multibody.recorded.recording import MOST_NODES
from rbdae.problem.owners import Owner
from rbdae.problem.quantities import Measured
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity
from rbdae.rotations.vectors import angular_velocity, axial, largest_row, skew

GROUND = np.concatenate([np.zeros(3), np.eye(3).reshape(9), np.zeros(12)])

Values = Mapping[tuple[Block, str], Any]
"""Of each block by name: "effort", and its own quantities."""


@final
class Formulas:
    """The quantities of a model, for which an `Interpretation` has the places of the bodies in memory, by their natural
    coordinates Z (24 bodies,), what the kernels `by_force`, `joint_loads` (21 joints,) and `friction_margins` give, and
    the values of blocks."""

    def __init__(self, view: Any, Z: Any, applied: Any, loads: Any = None, friction: Any = None, blocks: Any = None):
        self._model, self._places = view.model, view.places
        n = self._model.n
        self._Z, self._blocks, self._friction = Z.reshape(n, 24), blocks, friction
        self._applied, self._by_force = applied[: 12 * n].reshape(n, 12), applied[12 * n :].reshape(-1, WIDTH)
        self._loads: Any = None if loads is None else loads.reshape(-1, 21)[:, :12].reshape(-1, 2, 2, 3)

    def value(self, owner: Owner, quantity: Quantity) -> Any:
        """A quantity: a number, or (components,)."""
        if quantity.coordinate:
            return self._along(owner, quantity)
        if quantity.aspect == "own":
            return self._blocks[owner.blocks[0][0], quantity.name]
        read: dict[str, Callable[[Owner], Any]] = {
            "turn": self._turned, "axis": self._axis, "spin": self._spin, "moment": self._moment, "work": self._work,
            "normal": self._normal, "pull": lambda owner: self._loads[owner.number, 0, 0],
        }  # fmt: skip
        return read[quantity.aspect](owner)

    def _along(self, owner: Owner, quantity: Quantity) -> Any:
        coordinate, x = self._on_bodies(owner, quantity.coordinate)
        s, rate = coordinate.at(x)[:2]
        if quantity.aspect in ("value", "rate"):
            return rate if quantity.aspect == "rate" else s
        if quantity.aspect == "acceleration":
            a, b = map(self._second, owner.bodies)
            return _rate_of(rate, x, [*x[24:], *a, *b])
        effort = self._effort(owner, quantity.coordinate)
        if quantity.aspect == "power":
            return effort * rate
        tension = coordinate.shape == "root" and not owner.blocks
        return -effort if tension else effort

    # ------------------------------------------------------------ motion

    def _body(self, b: int) -> Any:
        """(x, d, xdot, ddot) of a body, (24,); the ground is the last."""
        return GROUND if b == self._model.n else self._Z[self._places[b]]

    def _directors(self, b: int) -> Any:
        """The directors of a body, the rows of R^T."""
        return self._body(b)[3:12].reshape(3, 3)

    def _on_bodies(self, owner: Owner, name: str) -> tuple[Coordinate, Any]:
        """A coordinate of the reference points of its bodies, and (Z, Zdot) of both, (48,)."""
        shift = [*(body.reference for body in self._model.system.bodies), np.zeros(3)]
        (a, b), (one, other) = owner.bodies, map(self._body, owner.bodies)
        x = np.concatenate([one[:12], other[:12], one[12:], other[12:]])
        return owner.coordinates[name].referred(shift[a], shift[b]), x

    def _relative(self, owner: Owner) -> Any:
        """R_a^T R_b, whose size does not count, divided by it."""
        a, b = owner.bodies
        R = self._directors(a) @ self._directors(b).T
        return R / np.sqrt((R * R).sum() / 3.0)

    def _axis(self, owner: Owner) -> Any:
        """The axis of that rotation, in the frame of a: the vector part of its quaternion, zero without a rotation."""
        p = largest_row(self._relative(owner))
        v = p[1:]
        size = np.sqrt(v @ v) * select(p[0] < 0.0, -1.0, 1.0)
        return v / select(v @ v > 0.0, size, 1.0)

    def _turned(self, owner: Owner) -> Any:
        """The angle of R_a^T R_b."""
        R = self._relative(owner)
        v = axial(R)
        return np.arctan2(np.sqrt(v @ v), R.trace() - 1.0)

    def _spin(self, owner: Owner) -> Any:
        """The angular velocity of b relative to a, in the frame of a."""
        a, b = (angular_velocity(z[3:12].reshape(3, 3), z[15:].reshape(3, 3)) for z in map(self._body, owner.bodies))
        first, second = map(self._directors, owner.bodies)
        return first @ (b @ second - a @ first)

    def _second(self, b: int) -> Any:
        """(xddot, dddot) of a body, (12,), from the forces on it."""
        if b == self._model.n:
            return np.zeros(12)
        B, place, D = self._model.bodies[b], self._places[b], self._directors(b)
        F = self._applied[place] + np.concatenate([B["weight"], B["weight_d"]])
        force, torque = F[:3], cross(D, F[3:].reshape(3, 3)).sum(axis=0)
        for k, joint in enumerate(self._model.joints):
            for side in (side for side in range(2) if joint.bodies[side] == b):
                own, moment = self._loads[k, side]
                force, torque = force + own, torque + moment + cross(joint.points[side] @ D, own)
        Om = angular_velocity(D, self._body(b)[15:].reshape(3, 3))
        J = B["inertia"]
        W = skew(Om)
        second = W @ W + skew(np.linalg.inv(J) @ (D @ torque - cross(Om, J @ Om)))
        return np.concatenate([force / B["mass"] if B["nt"] == 3 else np.zeros(3), (second.T @ D).ravel()])

    # ------------------------------------------------------------ forces

    def _on_second(self, owner: Owner) -> tuple[Any, Any]:
        """Force on the second body of what belongs to an owner, and torque about its reference point."""
        F = self._by_force[list(owner.elements), 12:24].sum(axis=0)
        return F[:3], cross(self._directors(owner.bodies[1]), F[3:].reshape(3, 3)).sum(axis=0)

    def _effort(self, owner: Owner, name: str) -> Any:
        coordinate = owner.coordinates[name]
        along, turning = self._direction(owner, coordinate), coordinate.shape == "angle"
        out, torque = self._on_second(owner)
        if turning:
            arm = self._point(owner, 1, coordinate.at_b) - self._body(owner.bodies[1])[:3]
            out = torque - cross(arm, out)
        for j in owner.joints[name]:
            out = out + self._loads[j, 1, int(turning)]  # the torque about the joint's point
        return sum((self._blocks[block, "effort"] for block, of in owner.blocks if of == name), along @ out)

    def _direction(self, owner: Owner, coordinate: Coordinate) -> Any:
        if coordinate.axis is not None:
            return coordinate.axis @ self._directors(owner.bodies[coordinate.side])
        line = self._point(owner, 1, coordinate.at_b) - self._point(owner, 0, coordinate.at_a)
        return line / np.sqrt(line @ line)

    def _point(self, owner: Owner, side: int, at: Vec, first: int = 0) -> Any:
        """A point of a body in space, or its velocity from the place 12 on."""
        b = owner.bodies[side]
        z, n = self._body(b)[first : first + 12], self._model.n
        arm = at - (self._model.system.bodies[b].reference if b < n else 0.0)
        return z[:3] + arm @ z[3:].reshape(3, 3)

    def _moment(self, owner: Owner) -> Any:
        return self._directors(owner.bodies[0]) @ self._on_second(owner)[1]

    def _normal(self, owner: Owner) -> Any:
        frictions = self._model.frictions
        (k,) = np.flatnonzero(np.isin(frictions["element"], owner.elements))
        return self._friction[len(frictions) + k]

    def _work(self, owner: Owner) -> Any:
        """The power of a force on all bodies, of friction in a joint, or of a drive of a point."""
        if owner.number < 0:
            return self._by_force[list(owner.elements), 24].sum()
        if "torque" in owner.quantities:
            return self._moment(owner) @ self._spin(owner)
        joint = self._model.system.joints[owner.number]
        rate = self._point(owner, 0, joint.at_a, 12) - self._point(owner, 1, joint.at_b, 12)
        return self._loads[owner.number, 0, 0] @ rate


def _rate_of(value: Any, x: Any, rates: Any) -> Any:
    """The rate of a symbol whose numbers x have these rates."""
    recorder = value.recorder
    along = {
        each.node: {0: recorder.number(rate)} for each, rate in zip(x, rates, strict=True) if hasattr(each, "node")
    }
    (change,) = tangents(recorder.graph, [value.node], along)
    return recorder.result(change[0]) if change else 0.0


# ---------------------------------------------------------------- recorded, and read

Found = tuple[Owner, Quantity]

_Z, _APPLIED, _LOADS, _FRICTION, _BLOCKS = range(5)
"""What quantities are functions of; kernels give all but the last."""


@final
class Recorded:
    """The quantities of a model, recorded when they are first asked for.

    Attributes
    ----------
    keys : blocks, with the names of their values
    sizes, ends : of what the quantities are functions of, one after the other
    recorder : of the formulas; these numbers are its input ``"y"``
    """

    def __init__(self, view: Any) -> None:
        model, self.keys, self._lock = view.model, _keys(view), view.workspace.memory.preparation
        n_forces = len(model.forces.elements)
        of_kernels = 24 * model.n, 12 * model.n + WIDTH * n_forces, 21 * len(model.joints), 2 * len(model.frictions)
        self.sizes = [*of_kernels, len(self.keys)]
        self.ends = np.cumsum(self.sizes)
        self.recorder = Recorder({"y": np.ones(self.ends[-1])}, MOST_NODES)
        Z, applied, loads, friction, blocks = np.split(self.recorder.inputs("y"), self.ends[:-1])
        values = dict(zip(self.keys, blocks, strict=True))
        self._formulas = Formulas(view, Z, applied, loads, friction, values)
        self._nodes: dict[tuple[str, str, str], list[int]] = {}
        self._functions: dict[tuple[int, ...], InPython] = {}
        self._machine: dict[tuple[int, ...], MachineFunction | None] = {}
        self._reads: dict[tuple[int, ...], list[bool]] = {}

    def nodes(self, owner: Owner, quantity: Quantity) -> list[int]:
        """The nodes of a number, or of the components of a vector."""
        key = owner.kind, owner.name, quantity.name + quantity.aspect
        with self._lock:
            if key not in self._nodes:
                value = np.asarray(self._formulas.value(owner, quantity), dtype=object)
                self._nodes[key] = [self.recorder.number(each) for each in value.ravel()]
            return self._nodes[key]

    def at_rows(self, nodes: Sequence[int], x: Any) -> list[Any]:
        """The values of nodes for x, whose k-th item is a number, or an array of rows."""
        key = tuple(nodes)
        if key not in self._functions:
            self._functions[key] = InPython(self.recorder.graph, nodes)
        return self._functions[key]({"y": x})

    def machine(self, nodes: Sequence[int]) -> MachineFunction | None:
        """Nodes as a machine function of y; None where values of blocks are read."""
        key = tuple(nodes)
        if key not in self._machine:
            blocked = self.read_by(nodes)[_BLOCKS]
            self._machine[key] = None if blocked else function_of_numbers(self.recorder.graph, nodes)
        return self._machine[key]

    def node(self, found: Found | None) -> int:
        """The node of a number; that of 0 for None."""
        return self.recorder.number(0.0) if found is None else self.nodes(*found)[0]

    def by_loads(self, nodes: Sequence[int]) -> bool:
        """Whether multipliers count."""
        return self.read_by(nodes)[_LOADS]

    def read_by(self, nodes: Sequence[int]) -> list[bool]:
        """Whether each part is read."""
        key = tuple(nodes)
        if key not in self._reads:
            parts = np.searchsorted(self.ends, self._places(nodes), side="right")
            self._reads[key] = np.isin(np.arange(len(self.sizes)), parts).tolist()
        return self._reads[key]

    def _places(self, nodes: Sequence[int]) -> list[int]:
        """The places of the numbers that are read."""
        graph = self.recorder.graph
        return [graph.nodes[k][2] for k in graph.needed(nodes) if graph.nodes[k][0] == "input"]

    def calls(self, view: Any, nodes: Sequence[int], x: Vec, out: Vec, *, rates: bool) -> list[Any]:
        """The calls of `rbdae.machine.quantity_events.in_turn` to fill `out` at (t, y). Before, x gets the rates of y
        with multipliers if they are wanted, or needed, and then what quantities are functions of."""
        layout, kernel, needed = view.workspace.layout, view.workspace.settings.kernels.rates, self.read_by(nodes)
        wanted, n_rates = (rates or needed[_LOADS], *needed[:_BLOCKS]), len(x) - int(self.ends[-1])

        def call(entry: Entry, part: Vec, *yd: Vec) -> Any:
            return view.function(entry, layout.n, *map(len, yd), len(part)), None, *(yd or (None,)), part

        read = self.machine(nodes), x[n_rates:], None, out
        if sum(wanted) > 1 and not apply_to(view.workspace, kernel, (n_rates,)):
            places = (*(range(n_rates) if rates else ()), *(n_rates + k for k in sorted(self._places(nodes))))
            return [call(together(kernel, wanted, places), x[: n_rates + self.ends[_FRICTION]]), read]
        parts = np.split(x, n_rates + np.array([0, *self.ends[:-1]]))
        las: Any = {_LOADS: (parts[0][n_rates - layout.n_rows :],)}
        entries = zip((kernel, *READINGS), parts[: _BLOCKS + 1], wanted, strict=True)
        return [*(call(e, part, *las.get(k, ())) for k, (e, part, w) in enumerate(entries, -1) if w), read]


def _keys(view: Any) -> list[tuple[Block, str]]:
    owners = (*view.owners.joints.values(), *view.owners.forces.values())
    names = [(block, "effort") for owner in owners for block, _ in owner.blocks]
    own = [(o.blocks[0][0], q.name) for o in owners for q in o.quantities.values() if q.aspect == "own"]
    return list(dict.fromkeys([*names, *own]))


@final
class Measures:
    """Reads quantities of rows t (m,) and y (m, n), which nobody changes; of one state as numbers if `single`.

    Parameters
    ----------
    view : `rbdae.problem.interpretation.Interpretation`, by whose selection the rows are read
    """

    def __init__(self, view: Any, t: Vec, y: Mat, single: bool) -> None:
        self._view, self._t, self._y, self._single = view, t, y, single
        self._parts: dict[int, Any] = {}

    def all(self, kind: str) -> dict[str, Measured]:
        """The quantities of all "joints" or "forces" by name."""

        def of(owner: Owner) -> Measured:
            return Measured(owner.units, lambda name: self.value(owner, owner.quantities[name]))

        owners: dict[str, Owner] = getattr(self._view.owners, kind)
        return ByName(kind.removesuffix("s"), ((name, of(owner)) for name, owner in owners.items()))

    def value(self, owner: Owner, quantity: Quantity) -> Any:
        """A quantity, (m,) or (m, components), or the one of the only row."""
        recorded = self._view.recorded
        values = recorded.at_rows(recorded.nodes(owner, quantity), self)
        out = np.empty((1 if self._single else len(self._t), len(values)))
        for column, value in zip(out.T, values, strict=True):
            column[:] = value
        found = out if quantity.components else out[:, 0]
        return found[0] if self._single else found

    def __getitem__(self, k: int) -> Any:
        """The k-th of the numbers that quantities are functions of, (m,), or the one of the only row."""
        recorded = self._view.recorded
        part = int(np.searchsorted(recorded.ends, k, side="right"))
        place = k - recorded.ends[part] + recorded.sizes[part]
        column = self._blocks[recorded.keys[place]] if part == _BLOCKS else self._part(part)[:, place]
        return column[0] if self._single else column.copy()  # contiguous

    def _part(self, part: int) -> Mat:
        if part not in self._parts:
            view, t, y, size = self._view, self._t, self._y, self._view.recorded.sizes[part]
            if part == _LOADS:
                out = np.empty((len(t), size // 21, 21))
                view.joint_loads(t, y, view.multipliers(t, y)[:, view.workspace.layout.n_internal :], out)
                self._parts[part] = out.reshape(len(t), size)
            else:
                self._parts[part] = view.evaluated(READINGS[part], t, (y,), size)
        found: Mat = self._parts[part]
        return found

    @cached_property
    def _blocks(self) -> Values:
        return values_of_blocks(self._view, self._t, self._part(_Z), self._y)


def _of_network(view: Any, network: Network, number: int, t: Vec, Z: Mat, y: Mat) -> dict[tuple[Block, str], Vec]:
    """The values of one network, which is this element of the model; algebraic unknowns that are eliminated are solved
    for again.

    Parameters
    ----------
    Z, y : (m, 24 bodies), with the bodies as they are in memory, and (m, n)
    """
    forces, workspace = view.model.forces, view.workspace
    row = forces.elements[number]
    s = y[:, workspace.layout.s][:, row["state"] : row["state"] + row["n_states"]]
    bodies = forces.bodies_of(number)
    motion = np.empty((len(t), len(bodies), 24))
    for k, b in enumerate(bodies):
        first = 24 * view.places[b] if b < view.model.n else -1
        motion[:, k] = GROUND if first < 0 else Z[:, first : first + 24]
    values = np.asarray(workspace.arrays["inputs"], dtype=float) if forces.inputs else np.zeros(0)
    if row["n_states"] < len(network.names):
        s = np.concatenate([s, forces.solved(number, t, motion, s, values)], axis=1)
    x = [motion[..., :12].reshape(len(t), -1), motion[..., 12:].reshape(len(t), -1), s]
    sources, place = view.model.system.sources, {each: k for k, each in enumerate(forces.inputs)}
    for each in network.inputs:
        if each in sources:
            x.append(np.array([[float(sources[each](time))] for time in t.tolist()]).reshape(-1, 1))
        else:
            x.append(np.full((len(t), 1), values[place[each]]))
    return network.values_at(t, np.concatenate(x, axis=1))


def values_of_blocks(view: Any, t: Vec, Z: Mat, y: Mat) -> dict[tuple[Block, str], Vec]:
    """Those of all networks, and what sampled controllers hold in the selection of the view: inputs of its system."""
    held = np.asarray(view.workspace.arrays["inputs"], dtype=float)
    place = {each.name: k for k, each in enumerate(view.model.forces.inputs)}
    out: dict[tuple[Block, str], Vec] = {}
    for block in view.model.system.forces:
        if isinstance(block, Sampled):
            of = {name: place[each.name] for name, each in block.held.items() if each.name in place}
            out |= {(block, name): np.full(len(t), held[k]) for name, k in of.items()}
    for network, number in view.owners.networks:
        out |= _of_network(view, network, number, t, Z, y)
    return out
