"""Bodies, forces and joints of right-hand sides on symbols, recorded once for their kind.

A force has its natural forces on its bodies, and the rates of its internal states. A body has qdot and its free
acceleration, that without joints, under the forces on it. A joint has for each side the gradients Gx and H = Gw N
of its rows with respect to xdot and to the three numbers that its internal constraints leave of w, their products A
with the inverse mass, its block of G M^-1 G^T, and the right side G vdot + g_II at the free accelerations. They are
what kernels give for a memory that has no other bodies, forces and joints; see `rbdae.kernels.linear.saddle`. Rows that
are dropped are those of the identity, with a right side of 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.formulations.explicit import change_rates, free_rates, natural_loads, unsolved
from rbdae.graph.graph import Graph
from rbdae.graph.loaded import LoadedNumbers
from rbdae.graph.symbols import NotStraight, Recorder, Symbol
from rbdae.kernels.equations import set_state
from rbdae.kernels.linear.saddle import internal_multipliers
from rbdae.kernels.memory import (
    VECTORS,
    constraint_side,
    force_state_rates,
    multipliers,
    right_hand_side,
    solution,
    square_side,
)
from rbdae.kernels.records import ANGULAR
from rbdae.machine.elements import Place, Result
from rbdae.multibody.elements.element_groups import Group
from rbdae.multibody.elements.element_recording import DIRECTORS, NATURAL, Numbers, memory_of_first
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.recording import recording_point
from rbdae.rotations.chart import CHARTS

_MOST_NODES = 100_000
_NONE = np.zeros((1, 0), dtype=np.int64)

Matrix = Any
"""An array of symbols and numbers."""


class Motion(NamedTuple):
    """The vectors of all velocities and of their rates, with the places where they begin: unknowns and results, or
    ``"work"`` where those are others."""

    velocities: tuple[str, int]
    rates: tuple[str, int]


@final
class Recorded:
    """The kernels for the first element of a kind, on symbols.

    Attributes
    ----------
    group : the elements
    graph : what has been recorded
    m : the memory
    loaded : the numbers that it loads; `columns` has for each of them the places of those of all elements among the
        numbers of the model

    Parameters
    ----------
    turned : whether the directors of its bodies are given in the work vector (`keeps_directors`), in place of the
        parameters of their rotations
    """

    def __init__(self, workspace: Workspace, group: Group, own: Mapping[str, Any], *, turned: bool = False) -> None:
        self.workspace, self.group, self._turned = workspace, group, turned
        n = workspace.model.n
        B = workspace.arrays["bodies"]
        self.moving = [k for k in range(group.bodies.shape[1]) if group.bodies[0, k] != n]
        self._records = [B[group.bodies[0, k]] for k in self.moving]
        self._sizes = [
            (int(b["nt"] + (DIRECTORS if turned else b["na"])), int(b["nt"] + b["nr"])) for b in self._records
        ]
        self.n_q, self.n_v = (sum(sizes) for sizes in zip(*self._sizes, strict=True))
        self.n_s = int(workspace.arrays["elements"]["n_states"][group.records.get("elements", _NONE)[:1]].sum())
        numbers = Numbers(workspace.open_numbers, group)
        self.columns, self.loaded = numbers.columns, LoadedNumbers(numbers.values)
        at = {"y": self._at_point(), "free": np.linspace(0.3, 0.7, self.n_v)}
        self.recorder = Recorder({"t": [0.1234], **at, "selection": workspace.first_numbers}, _MOST_NODES)
        self.m = self._memory(numbers, own)

    @property
    def graph(self) -> Graph:
        """What has been recorded."""
        return self.recorder.graph

    def _at_point(self) -> Any:
        layout = self.workspace.layout
        _, y, _, _ = recording_point(self.workspace, {"y": (layout.n,)})
        q = np.linspace(0.1, 0.9, self.n_q) if self._turned else y[self._q[0]]
        return np.concatenate([q, np.linspace(0.2, 0.6, self.n_v), np.linspace(0.4, 0.5, self.n_s)])

    @cached_property
    def _q(self) -> Ints:
        """The places of the positions of the bodies, (elements, n_q)."""
        return self._places("iq", 0)  # positions come first in y

    @cached_property
    def _v(self) -> Ints:
        """The places of their velocities among all velocities, (elements, n_v)."""
        return self._places("iv", 1)

    @cached_property
    def _s(self) -> Ints:
        """The places of the internal states of their forces, (elements, n_s)."""
        E, found = self.workspace.arrays["elements"], [np.zeros((len(self.group.bodies), 0), dtype=np.int64)]
        for own in self.group.records.get("elements", _NONE).T:
            found.append(E["state"][own][:, None] + np.arange(E["n_states"][own[0]]))
        places: Ints = self.workspace.layout.s.start + np.hstack(found)
        return places

    def _places(self, name: str, which: int) -> Ints:
        B, found = self.workspace.arrays["bodies"], []
        for k, sizes in zip(self.moving, self._sizes, strict=True):
            found.append(B[name][self.group.bodies[:, k]][:, None] + np.arange(sizes[which]))
        return np.hstack(found)

    def place(self, motion: Motion, name: str, i: int) -> Place:
        """The place of an input: an unknown (``"y"``), or a free acceleration (``"free"``)."""
        if name == "y" and i < self.n_q:
            return self._position(i)
        if name == "y" and i >= self.n_q + self.n_v:
            return Place("y", "s", self._s[:, i - self.n_q - self.n_v])
        if name == "y":
            return _moving("velocity", *motion.velocities, self._v[:, i - self.n_q])
        return _moving("rate", *motion.rates, self._v[:, i])

    def _position(self, i: int) -> Place:
        """The place of a position."""
        if not self._turned:
            return Place("y", "q", self._q[:, i])
        side = 0
        while i >= self._sizes[side][0]:
            i, side = i - self._sizes[side][0], side + 1
        bodies, nt = self.group.bodies[:, self.moving[side]], int(self._records[side]["nt"])
        if i < nt:
            return Place("y", "q", self.workspace.arrays["bodies"]["iq"][bodies] + i)
        return kept_directors(bodies)[i - nt]

    def first_velocity(self, b: int) -> int:
        """The place at which the velocities of one of the moving bodies begin among those of all of them."""
        return sum(n_v for _, n_v in self._sizes[:b])

    def rates(self, motion: Motion) -> list[Place]:
        """The places of (qdot, vdot)."""
        return [Place("out", "q", at) for at in self._q.T] + [self.place(motion, "free", i) for i in range(self.n_v)]

    def state_rates(self) -> list[Place]:
        """The places of the rates of their internal states."""
        return [Place("out", "s", at) for at in self._s.T]

    def unknown_rates(self) -> list[Place]:
        """The places of the rates of their velocities, or momenta, among the results."""
        return [Place("out", "v", self.workspace.layout.v.start + at) for at in self._v.T]

    def _memory(self, numbers: Numbers, own: Mapping[str, Any]) -> Any:
        """The memory of the first element, with unknowns and rows of its own."""
        symbols = [Symbol(self.recorder, self.graph.const(x)) for x in self.loaded.inputs]
        n_internal = sum(int(body["ni"]) for body in self._records)
        n_la = n_internal + int(self.workspace.arrays["primitives"]["n"][self.group.primitives[0]].sum())
        length = self.n_q + self.n_v + self.n_s + n_la + 1
        vectors = {name: np.zeros(length, dtype=object) for name in VECTORS}
        m = memory_of_first(self.workspace, self.recorder, self.group, own, numbers, symbols, vectors)
        starts = [0, 0, 0]
        for body, sizes in zip(m.bodies, [(*s, int(b["ni"])) for s, b in self._each()], strict=False):
            body.na = sizes[0] - body.nt
            body.iq, body.iv, body.il = starts
            starts = [a + b for a, b in zip(starts, sizes, strict=True)]
        row = 0
        for primitive in m.primitives:
            primitive.row, primitive.slot = n_internal + row, list(range(row, row + 3))
            row += primitive.n
        self.n_rows, state = row, 0
        for force in m.elements:
            force.state, state = state, state + force.n_states
        h = m.head
        h.n_rows, h.n_vector = 0, length
        if self._turned:
            h.chart, h.referenced = CHARTS["directors"].number, 0
        h.n_q, h.n_v, h.n_internal, h.n_la = self.n_q, self.n_v, n_internal, n_la
        h.n_states, h.states_at = self.n_s, self.n_q + self.n_v
        h.multipliers_at = h.corrections_at = self.n_q + self.n_v + self.n_s
        return m

    def _each(self) -> Any:
        return zip(self._sizes, self._records, strict=True)

    def run(self, kernel: Any, *arguments: Any) -> None:
        """Run a kernel on symbols.

        Raises NotStraight where a condition on the state has to fall as it does there.
        """
        kernel(self.m, *arguments)
        if self.recorder.guards or self.recorder.functions:
            raise NotStraight("an element has guards, or calls a function")

    @property
    def angular(self) -> bool:
        """Whether velocities are angular: then H Ji has a few products with constants."""
        return bool(self.workspace.settings.kind.number == ANGULAR)

    def nodes(self, values: Any) -> list[int]:
        """The nodes of symbols and numbers."""
        return [self.recorder.number(value) for value in np.ravel(values)]

    def results(self, values: Any, places: Iterable[Place], *, adds: bool = False) -> list[Result]:
        """Symbols and numbers at these places, or what is added there."""
        return [Result(node, place, adds) for node, place in zip(self.nodes(values), places, strict=True)]


def keeps_directors(workspace: Workspace) -> bool:
    """Whether bodies write their directors for others: in charts where R(a) is expensive."""
    return workspace.settings.chart.distance is not None


def kept_directors(bodies: Ints) -> list[Place]:
    """The places of the directors of bodies in the work vector."""
    return [Place("work", "d", DIRECTORS * bodies + i) for i in range(DIRECTORS)]


def _moving(block: str, vector: str, start: int, at: Ints) -> Place:
    """Unknowns and results share entries of a table."""
    return Place(vector, block if vector == "work" else "v", start + at)


def recorded_force(workspace: Workspace, group: Group, own: Mapping[str, Any]) -> tuple[Recorded, Any, Any]:
    """Forces of a kind; their natural forces, (fx, fd) of one body after the other, and the rates of their internal
    states."""
    force = Recorded(workspace, group, own, turned=keeps_directors(workspace))
    for body in force.m.bodies:
        body.weight, body.weight_d = np.zeros(3), np.zeros(9)
    force.run(natural_loads, force.recorder.inputs("t")[0], force.recorder.inputs("y"))
    loads = [x for state in force.m.states[: len(force.moving)] for x in (*state.fx, *state.fd)]
    return force, loads, force_state_rates(force.m)[: force.n_s]


def recorded_body(workspace: Workspace, group: Group, own: Mapping[str, Any], *, loaded: bool) -> tuple[Recorded, Any]:
    """Bodies of a kind, and (qdot, vdot) of one without joints; if `loaded` under natural forces beside
    its weight, the inputs ``"load"``."""
    body = Recorded(workspace, group, own)
    if loaded:
        load, record = body.recorder.with_inputs("load", [0.5] * NATURAL), body.m.bodies[0]
        record.weight, record.weight_d = record.weight + load[:3], record.weight_d + load[3:]
    out = np.zeros(body.n_q + body.n_v, dtype=object)
    body.run(free_rates, body.recorder.inputs("t")[0], body.recorder.inputs("y"), out)
    return body, out


def recorded_multipliers(
    workspace: Workspace, group: Group, own: Mapping[str, Any], *, loaded: bool
) -> tuple[Recorded, Any]:
    """Bodies of a kind, and their internal multipliers: functions of what the saddle-point system is
    solved for (``"free"``), and of the forces of the joints along their rotational velocities, the inputs ``"joint"``.
    """
    body, _ = recorded_body(workspace, group, own, loaded=loaded)
    record = body.m.bodies[0]
    forces = body.recorder.with_inputs("joint", [0.5] * record.nr)
    solution(body.m)[: body.n_v] = body.recorder.inputs("free")
    right_hand_side(body.m)[record.nt : record.nt + record.nr] += forces
    body.run(internal_multipliers)
    return body, multipliers(body.m)[: record.ni]


def recorded_directors(workspace: Workspace, group: Group, own: Mapping[str, Any]) -> tuple[Recorded, Any]:
    """Bodies of a kind, and their directors."""
    body = Recorded(workspace, group, own)
    body.run(set_state, body.recorder.inputs("t")[0], body.recorder.inputs("y"))
    return body, body.m.states[0].d


def changed(workspace: Workspace) -> bool:
    """Whether the unknowns are momenta, or spatial velocities."""
    return workspace.settings.momenta or bool(workspace.settings.spatial)


def changed_rates(body: Recorded) -> Any:
    """The rates of momenta, or of spatial velocities, as functions of what the saddle-point system is solved for."""
    solution(body.m)[: body.n_v] = body.recorder.inputs("free")
    body.run(change_rates)
    return solution(body.m)[: body.n_v]


@final
class Joint:
    """Joints of a kind, recorded.

    Attributes
    ----------
    rows : number of equations
    K, A : for each side (rows, 6): (Gx, H), and its product with the inverse mass, for generalised forces other than
        G^T la with these; (rows, 3) of a body with a pivot
    weights : for each side the inverse mass and Ji
    block, diagonal, side, known : the lower triangle of G M^-1 G^T, row by row, and its diagonal; G vdot + g_II; g_I
    moved, at_rest : the two parts of `side`, of which the kernel gives the second one
    """

    def __init__(self, workspace: Workspace, group: Group, own: Mapping[str, Any], kernel: Any = unsolved) -> None:
        self.of = Recorded(workspace, group, own, turned=keeps_directors(workspace))
        of, m = self.of, self.of.m
        of.run(kernel, of.recorder.inputs("t")[0], of.recorder.inputs("y"))
        self.rows = of.n_rows
        self.K, self.A, self._N = list[Matrix](), list[Matrix](), list[Matrix]()
        self.weights, self._Gw, G = list[tuple[Any, Matrix]](), list[Matrix](), list[Matrix]()
        for b in range(len(of.moving)):
            body, state = m.bodies[b], m.states[b]
            Gx, Gw, H, HJ = (
                self._side(b, name, n) for name, n in (("Gx", body.nt), ("Gw", body.nr), ("H", 3), ("HJ", 3))
            )
            share = 1.0 / body.mass
            self.K.append(np.hstack([Gx, H]))
            self.A.append(np.hstack([Gx * share, HJ]))
            self.weights.append((share, np.array(state.Ji, dtype=object)))
            self._N.append(np.eye(3) if of.angular else np.array(state.N, dtype=object)[: body.nr])
            self._Gw.append(Gw)
            G.append(np.hstack([Gx, Gw]))
        free = of.recorder.inputs("free")
        S = sum((A @ K.T for A, K in zip(self.A, self.K, strict=True)), np.zeros((self.rows, self.rows), dtype=object))
        for i in np.flatnonzero([k == 0 for p in m.primitives for k in p.keep[: p.n]]):
            S[i, i] = 1.0
        self.block, self.diagonal = S[np.tril_indices(self.rows)], S.diagonal()
        self.at_rest, self.known = (
            vector(m)[m.head.n_internal :][: self.rows] for vector in (constraint_side, square_side)
        )
        self.moved = np.hstack(G) @ free
        self.side = self.moved + self.at_rest

    def _side(self, b: int, name: str, n: int) -> Matrix:
        """The first n columns of a matrix of the primitives, of the side of one body."""
        m = self.of.m
        found = [
            np.array(getattr(r, name)[p.body.index(b)])[: p.n, :n] for p, r in zip(m.primitives, m.rows, strict=True)
        ]
        return np.vstack(found)

    @property
    def slots(self) -> Ints:
        """The places of their equations in the order of elimination, (elements, rows)."""
        P, own = self.of.workspace.arrays["primitives"], self.of.group.primitives
        return np.hstack([P["slot"][k][:, :n] for k, n in zip(own.T, P["n"][own[0]].tolist(), strict=True)])

    @property
    def multipliers(self) -> Ints:
        """The places of their multipliers among those of all constraints, (elements, rows)."""
        P, own = self.of.workspace.arrays["primitives"], self.of.group.primitives
        return np.hstack([P["row"][k][:, None] + np.arange(n) for k, n in zip(own.T, P["n"][own[0]], strict=True)])

    def pushed(self, b: int, la: Sequence[Any]) -> Matrix:
        """-M^-1 G^T la of one body."""
        change = self.A[b].T @ np.array(la, dtype=object)
        n = len(change) - 3
        return -np.concatenate([change[:n], self._N[b] @ change[n:]])

    def forces(self, b: int, la: Sequence[Any]) -> Matrix:
        """-Gw^T la of one body, along its rotational velocities."""
        return -(self._Gw[b].T @ np.array(la, dtype=object))

    def is_number(self, value: Any) -> bool:
        """Whether it is the same number for all elements."""
        return isinstance(self.of.graph.value(self.of.recorder.number(value)), float)
