"""Null-space forms of trees by elements: velocities from the root outwards, quasi-velocities from accelerations.

A body hangs from its parent by joint equations G w + g_I = 0 and has quasi-velocities nu = S (R^T xdot, Omega), see
`rbdae.kernels.null_space.trees`. Three of these six equations have rotations alone: they are solved by cofactors, and
then those for xdot. So no order of pivots differs from one attitude to another; a condition of the call asks for rows
that are independent. The result is

    w = X w_parent + Y nu - Z g_I

with X and the rest of all joints first, and then a short element for each body, parents first. Accelerations are those
of the saddle-point system, and nudot = S (R^T xddot, Omegadot) + Sdot w is a body's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints, cross
from rbdae.graph.symbols import Condition, NotStraight
from rbdae.machine.elements import Kind, Place, Run
from rbdae.multibody.elements.element_groups import child_of
from rbdae.multibody.elements.element_kinds import Written, recorded_kind
from rbdae.multibody.elements.element_recording import Motion
from rbdae.multibody.elements.rhs_recording import Joint, Matrix
from rbdae.multibody.elements.stored_joints import StoredJoints
from rbdae.multibody.memory.workspace import Workspace

_INDEPENDENT = 1e-6
"""The least square of a determinant of three rows of size one: below, plain Python does the work."""

Cells = tuple[float | None, ...]
"""The entries of X that are the same number for all elements."""


@final
class _Hanging:
    """Bodies that hang by joints of a kind: w = X w_parent + own, nudot = rates. X has no columns for the ground.

    Raises NotStraight where other than three equations are of rotations alone.
    """

    def __init__(self, workspace: Workspace, joint: Joint) -> None:
        self.joint, of = joint, joint.of
        child = child_of(workspace.arrays["bodies"]["parent"], of.group.bodies[0])
        self.children: Ints = of.group.bodies[:, child]
        self.parents: Ints = of.group.bodies[:, 1 - child]
        moving = of.moving.index(child)
        state = of.m.states[moving]
        S = _selection(workspace, of.m)
        directors, turning = (np.array(d, dtype=object).reshape(3, 3) for d in (state.d, state.dd))
        own = np.hstack([S[:, :3] @ directors, S[:, 3:]])
        parent = joint.K[1 - moving] if len(joint.K) > 1 else np.zeros((joint.rows, 0))
        self.n_nu = len(S)
        known = np.zeros((joint.rows + len(S), parent.shape[1] + 1), dtype=object)
        known[: joint.rows, :-1], known[: joint.rows, -1] = -parent, -joint.known
        known[joint.rows :, -1] = of.recorder.with_inputs("nu", [0.5] * len(S))
        self.conditions: list[Any] = []
        solved = _solved(np.vstack([joint.K[moving], own]), known, self.conditions)
        self.X, self.own = solved[:, :-1], solved[:, -1]
        self.first = of.first_velocity(moving)
        free = of.recorder.inputs("free")[self.first :][:6]
        self.rates = own @ free + S[:, :3] @ (turning @ np.array(state.xd, dtype=object))

    @property
    def cells(self) -> Cells:
        """The entries of X that are known whatever the state."""
        graph, number = self.joint.of.graph, self.joint.of.recorder.number
        found = [graph.value(number(x)) for x in self.X.ravel()]
        return tuple(x if isinstance(x, float) else None for x in found)


def _selection(workspace: Workspace, m: Any) -> Matrix:
    """S of the body that hangs by a joint; Omega in a tree of ball joints."""
    if workspace.settings.structure == "spherical tree":
        return np.hstack([np.zeros((3, 3)), np.eye(3)])
    (own,) = m.tree_velocities
    return np.array(own.S, dtype=object)[: own.n_free]


def _solved(A: Matrix, known: Matrix, conditions: list[Any]) -> Matrix:
    """A^-1 known for a 6 x 6 matrix of which three rows have rotations alone; adds the conditions for it."""
    turns = [i for i, row in enumerate(A) if all(isinstance(x, float) and x == 0.0 for x in row[:3])]
    if len(turns) != 3 or len(A) != 6:
        raise NotStraight("other than three equations of a joint are of rotations alone")
    moves = [i for i in range(6) if i not in turns]
    rotation = _inverse(A[turns, 3:], conditions) @ known[turns]
    return np.vstack([_inverse(A[moves, :3], conditions) @ (known[moves] - A[moves, 3:] @ rotation), rotation])


def _inverse(A: Matrix, conditions: list[Any]) -> Matrix:
    columns = np.array([cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1])], dtype=object).T
    determinant = A[0] @ columns[:, 0]
    sizes = [row @ row for row in A]
    conditions.append(_INDEPENDENT * (sizes[0] * sizes[1] * sizes[2]) < determinant * determinant)
    return columns * (1.0 / determinant)


@final
class TreeElements:
    """The elements of a null-space form of a tree beside those of its accelerations."""

    def __init__(self, workspace: Workspace, joints: StoredJoints) -> None:
        self._workspace, self._work, self._numbers = workspace, joints.work, joints.numbers
        n_v = workspace.layout.n_velocities
        self.motion = Motion(("work", self._work.take(n_v)), ("work", self._work.take(n_v)))
        self._hanging = [_Hanging(workspace, joint) for joint in joints.kinds]

    def before(self, first: int) -> tuple[list[Kind], list[Run]]:
        """From nu to the velocities of all bodies; the kinds are numbered from `first`."""
        kinds = self._roots(*self.motion.velocities, out=False)
        stored = []
        for one in self._hanging:
            kind, at = self._local(one)
            kinds.append(kind)
            stored.append(at)
        runs = [Run(first + k, 0, kind.count) for k, kind in enumerate(kinds)]
        more, passed = self._passed(stored, first + len(kinds))
        return kinds + more, runs + passed

    def after(self) -> list[Kind]:
        """From accelerations to nudot."""
        kinds = self._roots(*self.motion.rates, out=True)
        for one in self._hanging:
            of, graph = one.joint.of, one.joint.of.graph
            results = of.results(one.rates, [Place("out", "nu", at) for at in self._nu(one)])
            kinds.append(recorded_kind(self._numbers, self.motion, graph, results, of, {}))
        return kinds

    def _nu(self, one: _Hanging) -> list[Ints]:
        first = self._workspace.layout.v.start + self._workspace.arrays["bodies"]["inu"][one.children]
        return [first + i for i in range(one.n_nu)]

    def _roots(self, vector: str, start: int, *, out: bool) -> list[Kind]:
        """Bodies that hang from nothing: nu is (xdot, Omega)."""
        B = self._workspace.arrays["bodies"]
        kinds = []
        for nt in (3, 0):
            roots = np.flatnonzero((B["parent"][:-1] < 0) & (B["nt"][:-1] == nt))
            if not len(roots):
                continue
            nu = ("out" if out else "y", self._workspace.layout.v.start + B["inu"][roots])
            of = Written({"nu": nu, "w": (vector, start + B["iv"][roots])})
            given, made = ("w", "nu") if out else ("nu", "w")
            of.gives(made, of.reads(given, nt + 3))
            kinds.append(of.kind())
        return kinds

    def _local(self, one: _Hanging) -> tuple[Kind, Ints]:
        """Y nu - Z g_I to the velocities, and the entries of X that are not known; where those of each begin."""
        of, n = one.joint.of, len(one.children)
        unknown = [x for x, cell in zip(one.X.ravel(), one.cells, strict=True) if cell is None]
        at = self._work.take(len(unknown) * n) + len(unknown) * np.arange(n)
        own = [of.place(self.motion, "y", len(of.q) + one.first + i) for i in range(6)]
        kept = [Place("work", "X", at + i) for i in range(len(unknown))]
        results = of.results([*one.own, *unknown], [*own, *kept])
        nu = {("nu", i): Place("y", "nu", place) for i, place in enumerate(self._nu(one))}
        guards = {condition.node: True for condition in one.conditions if isinstance(condition, Condition)}
        return recorded_kind(self._numbers, self.motion, of.graph, results, of, nu, guards, as_recorded=True), at

    def _passed(self, stored: Sequence[Ints], first: int) -> tuple[list[Kind], list[Run]]:
        """X w_parent added to the velocities of the bodies that have a parent, parents first."""
        B = self._workspace.arrays["bodies"]
        depth = np.zeros(len(B), dtype=np.int64)
        for b, parent in enumerate(B["parent"][:-1].tolist()):
            depth[b] = depth[parent] + 1 if 0 <= parent < len(B) - 1 else 0
        members: dict[Cells, list[tuple[Ints, Ints, Ints]]] = {}
        for one, at in zip(self._hanging, stored, strict=True):
            if one.X.shape[1]:
                members.setdefault(one.cells, []).append((one.children, one.parents, at))
        kinds, levels = [], list[tuple[int, int, int]]()
        start = self.motion.velocities[1]
        for k, (cells, found) in enumerate(members.items()):
            children, parents, at = (np.concatenate(x) for x in zip(*found, strict=True))
            order = np.argsort(depth[children], kind="stable")
            w, w_parent, at = start + B["iv"][children[order]], start + B["iv"][parents[order]], at[order]
            kinds.append(_pass(cells, w, w_parent, at))
            each, counts = np.unique(depth[children], return_counts=True)
            ends = np.cumsum(counts)
            levels += [(d, k, e) for d, e in zip(each.tolist(), ends.tolist(), strict=True)]
        runs, done = list[Run](), [0] * len(kinds)
        for _, k, end in sorted(levels):
            begin = runs.pop().first if runs and runs[-1].kind == first + k else done[k]
            runs.append(Run(first + k, begin, end))
            done[k] = end
        return kinds, runs


def _pass(cells: Cells, w: Ints, w_parent: Ints, at: Ints) -> Kind:
    """w += X w_parent, one element after the other."""
    n = len(cells) // 6
    unknown = [i for i, cell in enumerate(cells) if cell is None]
    of = Written({"X": ("work", at), "parent": ("work", w_parent), "own": ("work", w)})
    X = np.array(cells, dtype=object)
    X[unknown] = of.reads("X", len(unknown))
    of.gives("own", X.reshape(6, n) @ of.reads("parent", n), adds=True)
    return of.kind(most=1)
