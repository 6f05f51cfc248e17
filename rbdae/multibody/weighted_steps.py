"""The steps of v -= W G^T (G W G^T)^-1 G v by elements, W a diagonal; the elimination is that along the joint graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.graph import Graph
from rbdae.graph.symbols import Recorder, Symbol
from rbdae.machine.elements import Kind, Place, Result
from rbdae.multibody.element_kinds import kind_of
from rbdae.multibody.element_numbers import ElementNumbers
from rbdae.multibody.elimination_elements import Work
from rbdae.multibody.joint_pairs import Cell, cells_of
from rbdae.multibody.recorded_kinds import recorded_kind
from rbdae.multibody.rhs_recording import Joint, Matrix, Motion
from rbdae.multibody.workspace import Workspace

_MOST_NODES = 20_000

Pairs = Sequence[tuple[int, int, int, int]]
"""Joints that have a body in common: joint, side, other joint, its side."""


@final
class WeightedSteps:
    """Elements for gradients of joints that are stored.

    Parameters
    ----------
    workspace, joints, numbers : of the model
    motion : places of velocities, of which gradients depend on none
    pairs : joints that have a body in common
    firsts : the number of the first joint of each kind, and that of all
    gradients : for each kind and side where the stored gradients begin, and how far those of the next joint are
    work : places of the blocks
    v, weights : where v and W begin
    """

    def __init__(
        self,
        workspace: Workspace,
        joints: Sequence[Joint],
        numbers: ElementNumbers,
        motion: Motion,
        pairs: Pairs,
        firsts: Ints,
        gradients: Sequence[Sequence[tuple[int, int]]],
        work: Work,
        v: int,
        weights: int,
    ) -> None:
        self._workspace, self._joints, self._numbers, self._motion = workspace, joints, numbers, motion
        self._pairs, self._firsts, self._gradients = pairs, firsts, gradients
        self._work, self._v, self._weights = work, v, weights

    def stored(self, k: int) -> Kind:
        """The gradients of joints of a kind."""
        joint, results = self._joints[k], list[Result]()
        of = joint.of
        elements = np.arange(len(of.group.bodies))
        for K, (first, width) in zip(joint.K, self._gradients[k], strict=True):
            values = [x for x in K.ravel() if not joint.is_number(x)]
            at = first + width * elements
            results += [
                Result(of.recorder.number(x), Place("work", f"K{len(results)}", at + i)) for i, x in enumerate(values)
            ]
        return recorded_kind(self._numbers, self._motion, of.graph, results, of, {})

    def cleared(self) -> list[Kind]:
        """Blocks that the elimination alone makes are zero before it."""
        graph, n = Graph(), self._work.cleared - self._work.first
        if not n:
            return []
        return [
            kind_of(
                graph, [Result(graph.const(0.0), Place("work", "fill", self._work.first + np.arange(n)))], {}, n, most=1
            )
        ]

    def blocks(self) -> list[Kind]:
        """The blocks of G W G^T and the right side G v."""
        kinds = []
        for k, joint in enumerate(self._joints):
            recorder = Recorder({"none": [0.0]}, _MOST_NODES)
            gradients, weights, velocities, places = self._inputs(recorder, k)
            n, which = joint.rows, self._which(k)
            D = sum((K * W @ K.T for K, W in zip(gradients, weights, strict=True)), np.zeros((n, n), dtype=object))
            g = sum((K @ v for K, v in zip(gradients, velocities, strict=True)), np.zeros(n, dtype=object))
            block, start, side = self._work.block[which], self._work.start[which], self._work.side[which]
            lower = [D[i, j] for i in range(n) for j in range(i + 1)]
            results = [Result(recorder.number(x), Place("work", "own", block + i)) for i, x in enumerate(lower)]
            results += [Result(recorder.number(D[i, i]), Place("work", "own", start + i)) for i in range(n)]
            results += [Result(recorder.number(x), Place("work", "own", side + i)) for i, x in enumerate(g)]
            kinds.append(kind_of(recorder.graph, results, places, len(which)))
        return kinds

    def between(self) -> list[Kind]:
        """The blocks between joints of a body, rows of the one that is eliminated earlier."""
        sides: dict[tuple[int, int, int, int], list[tuple[int, int]]] = {}
        for a, i, b, j in self._pairs:
            if self._work.rank[a] > self._work.rank[b]:
                a, i, b, j = b, j, a, i
            k, l = (int(np.searchsorted(self._firsts, x, side="right")) - 1 for x in (a, b))
            sides.setdefault((k, i, l, j), []).append((a, b))
        kinds: dict[Any, list[tuple[Ints, Ints, Ints, Ints]]] = {}
        shapes: dict[Any, tuple[int, int, int]] = {}
        for (k, i, l, j), members in sides.items():
            a, b = np.array(members).T
            (one, at, iv), (other, at_other, _) = self._side(k, i), self._side(l, j)
            here, there = a - self._firsts[k], b - self._firsts[l]
            n, m, width = self._joints[k].rows, self._joints[l].rows, self._joints[k].K[i].shape[1]
            edge = np.array([self._work.edges[x, y] for x, y in members])
            key = one, other, n, m
            shapes[key] = n, m, width
            kinds.setdefault(key, []).append((at[here], at_other[there], iv[here], edge))
        out = []
        for key, found in kinds.items():
            first, second, iv, edge = (np.concatenate(x) for x in zip(*found, strict=True))
            n, m, width = shapes[key]
            recorder = Recorder({"W": np.ones(width)}, _MOST_NODES)
            K, L = (
                _matrix(recorder, "first", key[0], (n, width)),
                _matrix(recorder, "second", key[1], (m, width)),
            )
            E = (K * recorder.inputs("W") @ L.T).ravel()
            places = {("W", i): Place("work", "W", self._weights + iv + i) for i in range(width)}
            places |= {("first", i): Place("work", "first", first + i) for i in range(n * width)}
            places |= {("second", i): Place("work", "second", second + i) for i in range(m * width)}
            results = [Result(recorder.number(x), Place("work", "E", edge + i)) for i, x in enumerate(E)]
            out.append(kind_of(recorder.graph, results, places, len(edge)))
        return out

    def pushed(self) -> list[Kind]:
        """v -= W G^T z."""
        kinds = []
        for k, joint in enumerate(self._joints):
            recorder = Recorder({"z": np.ones(joint.rows)}, _MOST_NODES)
            gradients, weights, _, places = self._inputs(recorder, k)
            z, side = recorder.inputs("z"), self._work.side[self._which(k)]
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
        joint, places = self._joints[k], dict[tuple[str, int], Place]()
        gradients, weights, velocities = list[Matrix](), list[Any](), list[Any]()
        for b, K in enumerate(joint.K):
            cells, at, iv = self._side(k, b)
            gradients.append(_matrix(recorder, f"K{b}", cells, K.shape))
            n = K.shape[1]
            weights.append(recorder.with_inputs(f"W{b}", [1.0] * n))
            velocities.append(recorder.with_inputs(f"v{b}", [1.0] * n))
            places |= {(f"K{b}", i): Place("work", f"K{b}", at + i) for i in range(self._gradients[k][b][1])}
            places |= {(f"W{b}", i): Place("work", f"W{b}", self._weights + iv + i) for i in range(n)}
            places |= {(f"v{b}", i): Place("work", f"v{b}", self._v + iv + i) for i in range(n)}
        return gradients, weights, velocities, places

    def _side(self, k: int, b: int) -> tuple[tuple[Cell, ...], Ints, Ints]:
        """The cells of K of a side of joints of a kind, where the stored ones begin, and the velocities of the body."""
        joint, (first, width) = self._joints[k], self._gradients[k][b]
        bodies = joint.of.group.bodies[:, joint.of.moving[b]]
        at = first + width * np.arange(len(bodies))
        return cells_of(joint, joint.K[b])[0], at, self._workspace.arrays["bodies"]["iv"][bodies]

    def _which(self, k: int) -> Ints:
        return np.arange(self._firsts[k], self._firsts[k + 1])


def _matrix(recorder: Recorder, name: str, cells: Sequence[Cell], shape: tuple[int, ...]) -> Matrix:
    """A gradient from what is stored of it."""
    values = [x if isinstance(x, float) else Symbol(recorder, recorder.graph.node("input", name, x[1])) for x in cells]
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out.reshape(shape)
