"""Null-space forms of loops by elements: velocities from [G; S] w = (-g_I, nu), nudot = S wdot.

S is a selection (`rbdae.multibody.velocity_selection`). Each of its rows is one component of
a body, or it is one row of all bodies. A vector v is made that satisfies G v + g_I = 0 by

    v -= W G^T (G W G^T)^-1 (G v + g_I)

with the elimination along the joint graph that the accelerations have, W in place of M^-1: W = diag(l^2, 1), l a length
of each body, and 0 for selected components, which stay as they are. It begins with the selected components, nu, or with
W S^T, and is repeated twice, as the condition of G W G^T is that of G squared. The row of all bodies,
where nothing is driven, then gives w = v nu / (S v).
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.graph import Graph
from rbdae.graph.symbols import Recorder
from rbdae.machine.elements import Kind, Place, Result, Run
from rbdae.multibody.element_kinds import kind_of, recorded_kind
from rbdae.multibody.elimination_elements import elimination
from rbdae.multibody.recording import places_of_selected, selected
from rbdae.multibody.rhs_recording import Matrix, Motion
from rbdae.multibody.stored_joints import StoredJoints, cells_of, matrix
from rbdae.multibody.velocity_selection import MOST_DENSE
from rbdae.multibody.workspace import Workspace

_CORRECTIONS = 2
_MOST_NODES = 20_000

_SELECTED = {"velocity_selection", "velocity_metric"}


def of_components(workspace: Workspace) -> bool:
    """Whether the independent velocities of loops are components, or one of all bodies."""
    if not workspace.settings.sparse or set(selected(workspace)) - {"inputs"} != _SELECTED:
        return False
    n_nu = workspace.settings.n_independent
    return (
        n_nu == 1 and not len(workspace.arrays["drives"])
    ) or n_nu > MOST_DENSE  # whatever S is in another selection: code is shared by its pattern


@final
class LoopElements:
    """The elements of a null-space form of loops beside those of its accelerations."""

    def __init__(self, workspace: Workspace, joints: StoredJoints) -> None:
        self._workspace, self._joints, work = workspace, joints, joints.work
        n_v = workspace.layout.n_velocities
        self._v = work.take(n_v)
        self._dense = workspace.settings.n_independent == 1
        self._w = work.take(n_v) if self._dense else self._v
        self._weights, self._sum = work.take(n_v), work.take(1)
        self.motion = Motion(("work", self._w), ("work", work.take(n_v)))
        self._work = joints.blocks(work.size)  # of G W G^T
        work.size = self._work.size
        self._places = {name: places_of_selected(workspace, name).start for name in _SELECTED}
        self._known: dict[int, int] = {}  # where g_I of joints with drives begins
        for k, joint in enumerate(joints.kinds):
            if "drives" in joint.of.group.records:
                self._known[k] = work.take(joint.rows * len(joint.of.group.bodies))

    def _columns(self) -> Ints:
        """The places of the components of all bodies, three by three."""
        return 3 * np.arange(self._workspace.layout.n_velocities // 3)

    def _selection(self, row: Any, column: Any) -> Any:
        """The places of entries of S."""
        return self._places["velocity_selection"] + row * self._workspace.layout.n_velocities + column

    def _rows(self) -> tuple[Ints, Ints]:
        """The independent velocities, and the first component of the three that have theirs."""
        row, column = np.nonzero(self._workspace.owned["velocity_selection"])
        return row, 3 * (column // 3)

    def before(self, first: int) -> tuple[list[Kind], list[Run]]:
        """From nu to the velocities of all bodies; the kinds are numbered from `first`."""
        once = [self._start(), *(self._gradients(k) for k in range(len(self._joints.kinds)))]
        if not self._dense:
            once.append(self._chosen())
        iv = self._workspace.arrays["bodies"]["iv"]
        again = [*self._cleared(), *self._blocks(), *self._joints.between(self._work, self._weights, iv)]
        kinds = once + again
        more, solving = elimination(self._work, first + len(kinds))
        pushed = self._pushed()
        runs = [Run(first + k, 0, kind.count) for k, kind in enumerate(once)]
        end = first + len(kinds) + len(more)
        for _ in range(_CORRECTIONS + 1):
            runs += [Run(first + len(once) + k, 0, kind.count) for k, kind in enumerate(again)]
            runs += solving
            runs += [Run(end + k, 0, kind.count) for k, kind in enumerate(pushed)]
        kinds += more + pushed
        if self._dense:
            last = self._scaled()
            runs += [Run(first + len(kinds) + k, 0, kind.count) for k, kind in enumerate(last)]
            kinds += last
        return kinds, runs

    def _start(self) -> Kind:
        """W, and W S^T, or zeros."""
        columns = self._columns()
        n_v, n_nu = self._workspace.layout.n_velocities, len(self._workspace.owned["velocity_selection"])
        recorder = Recorder({"W": np.ones(3), "S": np.ones(3)}, _MOST_NODES)
        W, S = recorder.inputs("W"), recorder.inputs("S")
        places, results = dict[tuple[str, int], Place](), list[Result]()
        for i in range(3):
            metric = self._places["velocity_metric"] + n_v + n_nu + columns + i
            places["W", i] = Place("selection", "W", metric)
            places["S", i] = Place("selection", "S", self._selection(0, columns + i))
            v = W[i] * S[i] if self._dense else 0.0
            results.append(Result(recorder.number(W[i]), Place("work", "weights", self._weights + columns + i)))
            results.append(Result(recorder.number(v), Place("work", "v", self._v + columns + i)))
        return kind_of(recorder.graph, results, places, len(columns), most=1)

    def _chosen(self) -> Kind:
        """Selected components are nu, and have no weight."""
        row, column = self._rows()
        recorder = Recorder({"W": np.ones(3), "S": np.ones(3), "nu": [1.0]}, _MOST_NODES)
        (nu,), W, S = (recorder.inputs(name) for name in ("nu", "W", "S"))
        places = {("nu", 0): Place("y", "nu", self._workspace.layout.v.start + row)}
        results = []
        for i in range(3):
            places["S", i] = Place("selection", "S", self._selection(row, column + i))
            places["W", i] = Place("work", "weights", self._weights + column + i)
            results.append(
                Result(recorder.number(-(W[i] * S[i])), Place("work", "weights", self._weights + column + i), True)
            )
            results.append(Result(recorder.number(nu * S[i]), Place("work", "v", self._v + column + i), True))
        return kind_of(recorder.graph, results, places, len(row), most=1)

    def _scaled(self) -> list[Kind]:
        """S v, and w = v nu / (S v)."""
        columns, zero = self._columns(), Graph()
        total = np.zeros(len(columns), dtype=np.int64) + self._sum
        recorder = Recorder({"S": np.ones(3), "v": np.ones(3)}, _MOST_NODES)
        share = recorder.inputs("S") @ recorder.inputs("v")
        places = {("S", i): Place("selection", "S", self._selection(0, columns + i)) for i in range(3)}
        v = {("v", i): Place("work", "v", self._v + columns + i) for i in range(3)}
        w = Recorder({"v": np.ones(3), "nu": [1.0], "sum": [1.0]}, _MOST_NODES)
        (nu,), (size,) = w.inputs("nu"), w.inputs("sum")
        scale = nu / size
        results = [
            Result(w.number(x * scale), Place("work", "w", self._w + columns + i)) for i, x in enumerate(w.inputs("v"))
        ]
        given = {
            ("nu", 0): Place("y", "nu", 0 * columns + self._workspace.layout.v.start),
            ("sum", 0): Place("work", "s", total),
        }
        return [
            kind_of(zero, [Result(zero.const(0.0), Place("work", "s", total[:1]))], {}, 1),
            kind_of(
                recorder.graph,
                [Result(recorder.number(share), Place("work", "s", total), True)],
                places | v,
                len(columns),
                most=1,
            ),
            kind_of(w.graph, results, given | v, len(columns), most=1),
        ]

    def after(self) -> list[Kind]:
        """From accelerations to nudot."""
        start = self._workspace.layout.v.start
        row, column = (0 * self._columns(), self._columns()) if self._dense else self._rows()
        recorder, zero = Recorder({"S": np.ones(3), "a": np.ones(3)}, _MOST_NODES), Graph()
        share = recorder.number(recorder.inputs("S") @ recorder.inputs("a"))
        places = {("S", i): Place("selection", "S", self._selection(row, column + i)) for i in range(3)}
        places |= {("a", i): Place("work", "a", self.motion.rates[1] + column + i) for i in range(3)}
        n_nu = len(self._workspace.owned["velocity_selection"])
        return [
            kind_of(zero, [Result(zero.const(0.0), Place("out", "nu", start + np.arange(n_nu)))], {}, n_nu, most=1),
            kind_of(recorder.graph, [Result(share, Place("out", "nu", start + row), True)], places, len(row), most=1),
        ]

    # ------------------------------------------------------------ steps of v -= W G^T (G W G^T)^-1 G v

    def _gradients(self, k: int) -> Kind:
        """The gradients of joints of a kind, and g_I."""
        joint, of = self._joints.kinds[k], self._joints.kinds[k].of
        results = self._joints.results(k, 1)
        if k in self._known:
            nodes = of.nodes(joint.known)
            results += [Result(node, place) for node, place in zip(nodes, self._known_places(k), strict=True)]
        return recorded_kind(self._joints.numbers, self.motion, of.graph, results, of, {})

    def _known_places(self, k: int) -> list[Place]:
        """The places of g_I of joints of a kind."""
        rows, n = self._joints.kinds[k].rows, len(self._joints.which(k))
        return [Place("work", "known", self._known[k] + rows * np.arange(n) + i) for i in range(rows)]

    def _cleared(self) -> list[Kind]:
        """Blocks that the elimination alone makes are zero before it."""
        graph, n = Graph(), self._work.cleared - self._work.first
        if not n:
            return []
        zero = Result(graph.const(0.0), Place("work", "fill", self._work.first + np.arange(n)))
        return [kind_of(graph, [zero], {}, n, most=1)]

    def _blocks(self) -> list[Kind]:
        """The blocks of G W G^T and the right side G v + g_I."""
        kinds = []
        for k, joint in enumerate(self._joints.kinds):
            recorder = Recorder({"none": [0.0]}, _MOST_NODES)
            gradients, weights, velocities, places = self._inputs(recorder, k)
            n, which = joint.rows, self._joints.which(k)
            D = sum((K * W @ K.T for K, W in zip(gradients, weights, strict=True)), np.zeros((n, n), dtype=object))
            g = np.zeros(n, dtype=object)
            if k in self._known:
                g = recorder.with_inputs("known", [0.0] * n)
                places |= {("known", i): place for i, place in enumerate(self._known_places(k))}
            g = sum((K @ v for K, v in zip(gradients, velocities, strict=True)), g)
            lower = [recorder.number(D[i, j]) for i in range(n) for j in range(i + 1)]
            results = self._work.results(which, lower, [recorder.number(x) for x in g])
            kinds.append(kind_of(recorder.graph, results, places, len(which)))
        return kinds

    def _pushed(self) -> list[Kind]:
        """v -= W G^T z."""
        kinds = []
        for k, joint in enumerate(self._joints.kinds):
            recorder = Recorder({"z": np.ones(joint.rows)}, _MOST_NODES)
            gradients, weights, _, places = self._inputs(recorder, k)
            z, side = recorder.inputs("z"), self._work.side[self._joints.which(k)]
            places |= {("z", i): Place("work", "z", side + i) for i in range(joint.rows)}
            results = []
            for b, (K, W) in enumerate(zip(gradients, weights, strict=True)):
                change = -(W * (K.T @ z))
                results += [Result(recorder.number(x), places[f"v{b}", i], True) for i, x in enumerate(change)]
            results = [result for result in results if recorder.graph.value(result.node) != 0.0]
            kinds.append(kind_of(recorder.graph, results, places, len(side)))
        return kinds

    def _inputs(
        self, recorder: Recorder, k: int
    ) -> tuple[list[Matrix], list[Any], list[Any], dict[tuple[str, int], Place]]:
        """The gradients of joints of a kind by sides, weights and v of the bodies, and the places of all these."""
        joint, places = self._joints.kinds[k], dict[tuple[str, int], Place]()
        gradients, weights, velocities = list[Matrix](), list[Any](), list[Any]()
        for b, K in enumerate(joint.K):
            gradients.append(matrix(recorder, f"K{b}", cells_of(joint, K)[0], K.shape))
            n, bodies = K.shape[1], joint.of.group.bodies[:, joint.of.moving[b]]
            iv = self._workspace.arrays["bodies"]["iv"][bodies]
            weights.append(recorder.with_inputs(f"W{b}", [1.0] * n))
            velocities.append(recorder.with_inputs(f"v{b}", [1.0] * n))
            places |= {(f"K{b}", i): place for i, place in enumerate(self._joints.gradient(k, b)[0].values())}
            places |= {(f"W{b}", i): Place("work", f"W{b}", self._weights + iv + i) for i in range(n)}
            places |= {(f"v{b}", i): Place("work", f"v{b}", self._v + iv + i) for i in range(n)}
        return gradients, weights, velocities, places
