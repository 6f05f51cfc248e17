"""Bodies and joints of right-hand sides on symbols, recorded once for their kind.

A body has qdot and its free acceleration, that without joints. A joint has for each side the gradients Gx and H = Gw N
of its rows with respect to xdot and to the three numbers that its internal constraints leave of w, their products A
with the inverse mass, its block of G M^-1 G^T, and the right side G vdot + g_II at the free accelerations. They are
what kernels give for a memory that has no other bodies and joints; see `rbdae.kernels.linear.saddle`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.formulations.explicit import change_rates, free_rates, unsolved
from rbdae.graph.graph import Graph
from rbdae.graph.loaded import LoadedNumbers
from rbdae.graph.symbols import NotStraight, Recorder, Symbol
from rbdae.kernels.memory import VECTORS, constraint_side, solution
from rbdae.kernels.records import ANGULAR
from rbdae.machine.elements import Place
from rbdae.multibody.element_groups import Group
from rbdae.multibody.element_recording import Numbers, memory_of_first
from rbdae.multibody.recording import constants, first_numbers, opened_numbers, recording_point
from rbdae.multibody.workspace import Workspace

_MOST_NODES = 100_000

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
    loaded : the numbers that it loads; `columns` has for each of them the places of those of all elements among the
        numbers of the model
    """

    def __init__(self, workspace: Workspace, group: Group, own: Mapping[str, Any]) -> None:
        self._workspace, self.group = workspace, group
        n = workspace.model.n
        B = workspace.arrays["bodies"]
        self.moving = [k for k in range(group.bodies.shape[1]) if group.bodies[0, k] != n]
        self._records = [B[group.bodies[0, k]] for k in self.moving]
        self._sizes = [(int(b["nt"] + b["na"]), int(b["nt"] + b["nr"])) for b in self._records]
        self.n_q, self.n_v = (sum(sizes) for sizes in zip(*self._sizes, strict=True))
        numbers = Numbers(opened_numbers(workspace), group)
        self.columns, self.loaded = numbers.columns, LoadedNumbers(numbers.values)
        at = {"y": self._at_point(), "free": np.linspace(0.3, 0.7, self.n_v)}
        self.recorder = Recorder({"t": [0.1234], **at, "selection": first_numbers(workspace)}, _MOST_NODES)
        self._m = self._memory(numbers, own)

    @property
    def graph(self) -> Graph:
        """What has been recorded."""
        return self.recorder.graph

    def _at_point(self) -> Any:
        layout = self._workspace.layout
        _, y, _, _ = recording_point(self._workspace, {"y": (layout.n,)})
        return np.concatenate([y[self._q[0]], np.linspace(0.2, 0.6, self.n_v)])

    @cached_property
    def _q(self) -> Ints:
        """Where the positions of the bodies are, (elements, n_q)."""
        return self._places("iq", 0)  # positions come first in y

    @cached_property
    def _v(self) -> Ints:
        """Where their velocities are among all velocities, (elements, n_v)."""
        return self._places("iv", 1)

    def _places(self, name: str, which: int) -> Ints:
        B, found = self._workspace.arrays["bodies"], []
        for k, sizes in zip(self.moving, self._sizes, strict=True):
            found.append(B[name][self.group.bodies[:, k]][:, None] + np.arange(sizes[which]))
        return np.hstack(found)

    def place(self, motion: Motion, name: str, i: int) -> Place:
        """Where an input is: an unknown (``"y"``), or a free acceleration (``"free"``)."""
        if name == "y" and i < self.n_q:
            return Place("y", "q", self._q[:, i])
        if name == "y":
            return _moving("velocity", *motion.velocities, self._v[:, i - self.n_q])
        return _moving("rate", *motion.rates, self._v[:, i])

    def first_velocity(self, b: int) -> int:
        """The place at which the velocities of one of the moving bodies begin among those of all of them."""
        return sum(n_v for _, n_v in self._sizes[:b])

    def rates(self, motion: Motion, i: int) -> Place:
        """Where the i-th number of (qdot, vdot) goes."""
        if i < self.n_q:
            return Place("out", "q", self._q[:, i])
        return self.place(motion, "free", i - self.n_q)

    def result(self, i: int) -> Place:
        """The place of the i-th rate of their velocities, or momenta, among the results."""
        return Place("out", "v", self._workspace.layout.v.start + self._v[:, i])

    def _memory(self, numbers: Numbers, own: Mapping[str, Any]) -> Any:
        """The memory of the first element, with unknowns and rows of its own."""
        symbols = [Symbol(self.recorder, self.graph.const(x)) for x in self.loaded.inputs]
        n_internal = sum(int(body["ni"]) for body in self._records)
        n_la = n_internal + int(self._workspace.arrays["primitives"]["n"][self.group.primitives[0]].sum())
        length = self.n_q + self.n_v + n_la + 1
        vectors = {name: np.zeros(length, dtype=object) for name in VECTORS}
        m = memory_of_first(self._workspace, self.recorder, self.group, own, numbers, symbols, vectors)
        starts = [0, 0, 0]
        for body, sizes in zip(m.bodies, [(*s, int(b["ni"])) for s, b in self._each()], strict=False):
            body.iq, body.iv, body.il = starts
            starts = [a + b for a, b in zip(starts, sizes, strict=True)]
        row = 0
        for primitive in m.primitives:
            primitive.row, primitive.slot = n_internal + row, list(range(row, row + 3))
            row += primitive.n
        self.n_rows = row
        h = m.head
        h.n_rows, h.n_vector = 0, length
        h.n_q, h.n_v, h.n_internal, h.n_la = self.n_q, self.n_v, n_internal, n_la
        h.states_at = h.multipliers_at = h.corrections_at = self.n_q + self.n_v
        return m

    def _each(self) -> Any:
        return zip(self._sizes, self._records, strict=True)

    def run(self, kernel: Any, *arguments: Any) -> None:
        """Run a kernel on symbols.

        Raises NotStraight where a condition on the state has to fall as it does there.
        """
        kernel(self._m, *arguments)
        if self.recorder.guards:
            raise NotStraight("an element has guards")

    def vector(self, accessor: Any) -> Any:
        """A vector of the scratch."""
        return accessor(self._m)

    @property
    def m(self) -> Any:
        """The memory."""
        return self._m

    @property
    def angular(self) -> bool:
        """Whether velocities are angular: then H Ji has a few products with constants."""
        return bool(self._workspace.settings.kind.number == ANGULAR)

    def nodes(self, values: Any) -> list[int]:
        """The nodes of symbols and numbers."""
        return [self.recorder.number(value) for value in np.ravel(values)]


def _moving(block: str, vector: str, start: int, at: Ints) -> Place:
    """Unknowns and results share entries of a table."""
    return Place(vector, block if vector == "work" else "v", start + at)


def recorded_body(workspace: Workspace, group: Group, own: Mapping[str, Any]) -> tuple[Recorded, list[int]]:
    """Bodies of a kind, and the nodes of (qdot, vdot) of one without joints."""
    body = Recorded(workspace, group, own)
    out = np.zeros(body.n_q + body.n_v, dtype=object)
    body.run(free_rates, body.recorder.inputs("t")[0], body.recorder.inputs("y"), out)
    return body, body.nodes(out)


def changed(workspace: Workspace) -> bool:
    """Whether the unknowns are momenta, or spatial velocities."""
    return workspace.settings.momenta or bool(workspace.settings.spatial)


def changed_rates(body: Recorded) -> list[int]:
    """The nodes of the rates of momenta, or of spatial velocities, as functions of what the saddle-point system is
    solved for."""
    for i, symbol in enumerate(body.recorder.inputs("free")):
        body.vector(solution)[i] = symbol
    body.run(change_rates)
    return body.nodes(body.vector(solution)[: body.n_v])


@final
class Joint:
    """Joints of a kind, recorded.

    Attributes
    ----------
    rows : number of equations
    K, A : for each side (rows, 6): (Gx, H), and its product with the inverse mass; (rows, 3) of a body with a pivot
    weights : for each side the inverse mass and Ji
    block, side : the lower triangle of G M^-1 G^T, row by row; G vdot + g_II
    """

    def __init__(self, workspace: Workspace, group: Group, own: Mapping[str, Any]) -> None:
        self.of = Recorded(workspace, group, own)
        of, m = self.of, self.of.m
        of.run(unsolved, of.recorder.inputs("t")[0], of.recorder.inputs("y"))
        self.rows = of.n_rows
        self.K, self.A, self._N = list[Matrix](), list[Matrix](), list[Matrix]()
        self.weights, G = list[tuple[Any, Matrix]](), list[Matrix]()
        for b in range(len(of.moving)):
            K, full, inverse = self._gradient(b)
            body = m.bodies[b]
            share = 1.0 / body.mass
            A = np.hstack([K[:, :3] * share, K[:, 3:] @ inverse]) if body.nt == 3 else K @ inverse
            self.K.append(K)
            self.A.append(A)
            self.weights.append((share, inverse))
            G.append(full)
        free = of.recorder.inputs("free")
        S = sum((A @ K.T for A, K in zip(self.A, self.K, strict=True)), np.zeros((self.rows, self.rows), dtype=object))
        self.block = [S[i, j] for i in range(self.rows) for j in range(i + 1)]
        side = of.vector(constraint_side)[m.head.n_internal :][: self.rows]
        self.side = list(np.hstack(G) @ free + side)

    def _gradient(self, b: int) -> tuple[Matrix, Matrix, Matrix]:
        """(Gx, H) and (Gx, Gw) of one body, and Ji; without Gx of a body that does not move."""
        m = self.of.m
        body, state = m.bodies[b], m.states[b]
        full = np.zeros((self.rows, body.nt + body.nr), dtype=object)
        row = 0
        for primitive, r in zip(m.primitives, m.rows, strict=True):
            side = primitive.body.index(b)
            at = slice(row, row + primitive.n)
            full[at, : body.nt] = np.array(r.Gx, dtype=object)[side, : primitive.n, : body.nt]
            full[at, body.nt :] = np.array(r.Gw, dtype=object)[side, : primitive.n, : body.nr]
            row += primitive.n
        N = np.eye(3, dtype=object) if self.of.angular else np.array(state.N, dtype=object)[: body.nr]
        self._N.append(N)
        H = full[:, body.nt :] if self.of.angular else full[:, body.nt :] @ N
        return np.hstack([full[:, : body.nt], H]), full, np.array(state.Ji, dtype=object)

    def pushed(self, b: int, la: Sequence[Any]) -> Matrix:
        """-M^-1 G^T la of one body."""
        change = self.A[b].T @ np.array(la, dtype=object)
        n = len(change) - 3
        return -np.concatenate([change[:n], self._N[b] @ change[n:]])

    def is_number(self, value: Any) -> bool:
        """Whether it is the same number for all elements."""
        return isinstance(self.of.graph.value(self.of.recorder.number(value)), float)


def own_records(workspace: Workspace) -> dict[str, Any]:
    """The records of the model that elements copy."""
    return constants(workspace, ["bodies", "states", "primitives", "tree_velocities"])
