"""Right-hand sides of long models by elements: bodies, joints with their bodies, elimination along the joint graph.

1. Each body writes qdot and its free acceleration (`rbdae.multibody.rhs_recording`). Where its velocity is no unknown,
   it is found before, and the rates of the unknowns after all (`rbdae.multibody.tree_elements`,
   `loop_elements`).
2. Each joint writes what others need to a work vector: its gradients, its block of S = G M^-1 G^T, and the right side
   at the free accelerations; each pair of joints of one body the block of S between them.
3. S la = g is solved in blocks (`rbdae.multibody.elimination_elements`).
4. Each joint adds -M^-1 G^T la to the accelerations of its bodies.

Elements whose records differ in numbers alone are one kind, which is recorded once. What follows from the numbers of a
model alone, such as inverse masses, is computed once for it. Loops are eliminated as trees are, with more blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.formulations import explicit, null_space
from rbdae.graph.graph import Graph
from rbdae.graph.symbols import NotStraight
from rbdae.machine.elements import Elements, Kind, Place, Result, Run
from rbdae.multibody import loop_elements
from rbdae.multibody.element_groups import Group, groups_of
from rbdae.multibody.element_kinds import LANES, copied, kind_of
from rbdae.multibody.element_numbers import ElementNumbers
from rbdae.multibody.elimination_elements import Work, elimination
from rbdae.multibody.joint_pairs import PairOfJoints
from rbdae.multibody.recorded_kinds import recorded_kind
from rbdae.multibody.recording import opened_numbers, selected
from rbdae.multibody.rhs_recording import Joint, Motion, Recorded, changed, changed_rates, own_records, recorded_body
from rbdae.multibody.settings import Settings
from rbdae.multibody.tree_elements import TreeElements
from rbdae.multibody.workspace import Workspace

BODIES_FROM, REDUCED_FROM, LOOPS_FROM, ALWAYS_FROM = 20, 25, 200, 40
"""Bodies from which elements are quicker than what is there else: where half of the joints are computed several at a
time, with velocities, quasi-velocities of trees or of loops as unknowns, and where there are at least `_LEAST` of a
kind (docs/decisions.md)."""

_LEAST = 3

_MOST_JOINTS = 64
"""Joints of one body beyond which there are too many steps: one for each three of them."""

_FORCES = ("n_drives", "n_bushings", "n_elements", "n_states")
_REFUSED = (*_FORCES, "forms", "stabilised", "projected")
"""Fields of the head that say what elements do not have."""


def apply_to(workspace: Workspace, kernel: Any, shape: tuple[int, ...]) -> bool:
    """Whether a kernel with results of this shape is a right-hand side in velocities or in quasi-velocities that may be
    made of elements, the multipliers with it where all of them are those of joints."""
    layout, head, settings = workspace.layout, workspace.head[0], workspace.settings
    with_multipliers = (layout.n_differential + layout.n_constraints,)
    return bool(
        kernel in (explicit.rhs, null_space.rhs)
        and not (settings.reduced and settings.spatial)
        and (shape == (layout.n_differential,) or (shape == with_multipliers and not layout.n_internal))
        and workspace.model.n >= _least(settings)
        and workspace.memory.opened
        and settings.chart.distance is None
        and len(workspace.arrays["primitives"]) > 0
        and (loop_elements.possible(workspace) if settings.structure == "loops" else not selected(workspace))
        and not any(head[name] for name in _REFUSED)
        and not workspace.selection.rows.dropped
        and workspace.selection.rows.pivot_floor is None
        and "redundant" not in workspace.memory.features
    )


def _least(settings: Settings) -> int:
    return LOOPS_FROM if settings.structure == "loops" else REDUCED_FROM if settings.reduced else BODIES_FROM


def enough(n: int, joints: Sequence[int]) -> bool:
    """Whether n bodies have joints that are elements of a few kinds; `joints` are the numbers of each kind."""
    wide = sum(count for count in joints if count >= 2 * LANES)
    return 2 * wide >= sum(joints) or (n >= ALWAYS_FROM and sum(joints) >= _LEAST * len(joints))


def rhs_elements(workspace: Workspace, n_results: int) -> Elements | None:
    """The elements of a right-hand side with this number of results; None if there are too few of each kind.

    Raises NotStraight where a condition on the state has to fall as it does where they are recorded.
    """
    groups = groups_of(workspace)
    joints = [len(group.primitives) for group in groups if group.primitives.shape[1]]
    ends = np.concatenate([group.bodies.ravel() for group in groups if group.primitives.shape[1]])
    most = int(np.bincount(ends[ends < workspace.model.n]).max())
    if not enough(workspace.model.n, joints) or most > _MOST_JOINTS:
        return None
    return _Assembling(workspace, groups).elements(multipliers=n_results > workspace.layout.n_differential)


def _add(kinds: list[Kind], runs: list[Run], new: list[Kind]) -> None:
    """Kinds of which all elements are computed, one kind after the other."""
    runs += [Run(len(kinds) + k, 0, kind.count) for k, kind in enumerate(new)]
    kinds += new


@final
class _Assembling:
    """The elements of a model."""

    def __init__(self, workspace: Workspace, groups: Sequence[Group]) -> None:
        self._workspace = workspace
        own = own_records(workspace)
        self._bodies = [recorded_body(workspace, group, own) for group in groups if not group.primitives.shape[1]]
        self._joints = [Joint(workspace, group, own) for group in groups if group.primitives.shape[1]]
        self._numbers = ElementNumbers(len(opened_numbers(workspace).values))
        # joints are numbered kind by kind
        counts = [len(joint.of.group.bodies) for joint in self._joints]
        self._first = np.cumsum([0, *counts])
        self._ends = self._sides()
        rows = np.repeat([joint.rows for joint in self._joints], counts)
        self._pairs = self._pairs_of_joints()
        if len({(a, b) for a, _, b, _ in self._pairs}) < len(self._pairs):
            raise NotStraight("two elements have two bodies in common")
        self._work = Work(rows, [(a, b) for a, _, b, _ in self._pairs])
        first = workspace.layout.v.start
        self._gradients = [[self._stored(joint, b) for b in range(len(joint.K))] for joint in self._joints]
        self._motion = Motion(("y", first), ("out", first))
        self._reduced: TreeElements | loop_elements.LoopElements | None = None
        if workspace.settings.reduced:
            of = (workspace, self._work, self._joints, self._numbers)
            loops = workspace.settings.structure == "loops"
            beside = (self._pairs, self._first, self._gradients)
            self._reduced = loop_elements.LoopElements(*of, *beside) if loops else TreeElements(*of)
            self._motion = self._reduced.motion
        elif changed(workspace):
            self._motion = Motion(("y", first), ("work", self._work.take(workspace.layout.n_velocities)))

    def _sides(self) -> dict[int, list[tuple[int, int]]]:
        """For each moving body the joints at it, by number, with the side that it is on."""
        out: dict[int, list[tuple[int, int]]] = {}
        for joint, first in zip(self._joints, self._first, strict=False):
            for side, k in enumerate(joint.of.moving):
                for e, body in enumerate(joint.of.group.bodies[:, k].tolist()):
                    out.setdefault(body, []).append((int(first) + e, side))
        return out

    def _pairs_of_joints(self) -> list[tuple[int, int, int, int]]:
        """(joint, side, other joint, its side) for all joints that have a body in common."""
        out = []
        for at in self._ends.values():
            at = sorted(at)
            out += [(a, i, b, j) for k, (a, i) in enumerate(at) for b, j in at[k + 1 :]]
        return out

    def _stored(self, joint: Joint, b: int) -> tuple[list[dict[tuple[int, int], int]], int, int]:
        """Which entries of K of one side are stored, and of A if it is not K times a few numbers, with their places;
        where those of the first joint are, and how far they are from one joint to the next."""
        found, width = [], 0
        for matrix in (joint.K[b],) if joint.of.angular else (joint.K[b], joint.A[b]):
            entries = [at for at in np.ndindex(matrix.shape) if not joint.is_number(matrix[at])]
            found.append({at: width + k for k, at in enumerate(entries)})
            width += len(entries)
        return found, self._work.take(width * len(joint.of.group.bodies)), width

    def elements(self, *, multipliers: bool) -> Elements:
        """All of them, in the order in which they are computed."""
        kinds, runs = self._reduced.before(0) if self._reduced is not None else ([], [])
        once = [self._body(*body) for body in self._bodies]
        once += [self._joint(k) for k in range(len(self._joints))]
        once += self._between()
        _add(kinds, runs, once)
        more, solving = elimination(self._work, len(kinds))
        kinds += more
        runs += solving
        _add(kinds, runs, [self._pushed(k, multipliers=multipliers) for k in range(len(self._joints))])
        if self._reduced is not None:
            _add(kinds, runs, self._reduced.after())
        elif changed(self._workspace):
            _add(kinds, runs, [self._changed(body) for body, _ in self._bodies])
        return Elements(kinds, runs, (self._work.cleared, 0), self._work.size, self._numbers.tape())

    def _body(self, body: Recorded, nodes: list[int]) -> Kind:
        results = [Result(node, body.rates(self._motion, i)) for i, node in enumerate(nodes)]
        return self._kind(body.graph, results, body, {})

    def _changed(self, body: Recorded) -> Kind:
        results = [Result(node, body.result(i)) for i, node in enumerate(changed_rates(body))]
        return self._kind(body.graph, results, body, {})

    def _joint(self, k: int) -> Kind:
        joint, work = self._joints[k], self._work
        of, which = joint.of, self._which(k)
        results = []
        block, start, side = work.block[which], work.start[which], work.side[which]
        diagonal = {(i + 1) * (i + 2) // 2 - 1: i for i in range(joint.rows)}
        for i, node in enumerate(of.nodes(joint.block)):
            results.append(Result(node, Place("work", "own", block + i)))
            if i in diagonal:
                results.append(Result(node, Place("work", "own", start + diagonal[i])))
        results += [Result(node, Place("work", "own", side + i)) for i, node in enumerate(of.nodes(joint.side))]
        for b in range(len(joint.K)):
            for matrix, places in zip((joint.K[b], joint.A[b]), self._gradient(k, b), strict=False):
                results += [Result(of.recorder.number(matrix[at]), place) for at, place in places.items()]
        return self._kind(of.graph, results, of, {})

    def _which(self, k: int) -> Ints:
        """The joints of a kind."""
        return np.arange(self._first[k], self._first[k + 1])

    def _gradient(self, k: int, b: int) -> list[dict[tuple[int, int], Place]]:
        """Where the stored entries of K, and of A, are."""
        found, first, width = self._gradients[k][b]
        elements = first + width * np.arange(self._first[k + 1] - self._first[k])
        return [{at: Place("work", f"K{b}", elements + i) for at, i in stored.items()} for stored in found]

    def _read(self, k: int, b: int) -> tuple[dict[int, int], dict[tuple[str, int], Place]]:
        """What stands for stored nodes of a kind of joints: (node, number of an input), and where that is."""
        joint, others = self._joints[k], dict[int, int]()
        places: dict[tuple[str, int], Place] = {}
        for matrix, stored in zip((joint.K[b], joint.A[b]), self._gradient(k, b), strict=False):
            for at, place in stored.items():
                number = 1000 * b + len(places)
                others[joint.of.recorder.number(matrix[at])] = number
                places["stored", number] = place
        return others, places

    def _between(self) -> list[Kind]:
        """Pairs of joints of one body: E of the one that is eliminated earlier. Kinds of joints whose matrices have
        numbers, zeros and ones at the same places are one kind here."""
        sides: dict[tuple[int, int, int, int], list[tuple[int, int]]] = {}
        for a, i, b, j in self._pairs:
            if self._work.rank[a] > self._work.rank[b]:
                a, i, b, j = b, j, a, i
            k, l = (int(np.searchsorted(self._first, x, side="right")) - 1 for x in (a, b))
            sides.setdefault((k, i, l, j), []).append((a, b))
        kinds: dict[Any, list[tuple[PairOfJoints, Ints, Ints]]] = {}
        for (k, i, l, j), members in sides.items():
            pair = PairOfJoints(self._joints[k], i, self._joints[l], j)
            one, other = np.array(members).T
            kinds.setdefault(pair.structure, []).append((pair, one, other))
        return [self._pair_kind(members) for members in kinds.values()]

    def _pair_kind(self, members: list[tuple[PairOfJoints, Ints, Ints]]) -> Kind:
        graph, nodes = members[0][0].recorded()
        found: dict[tuple[str, int], list[Ints]] = {}
        begin: list[Ints] = []
        for pair, one, other in members:
            k, l = (int(np.searchsorted(self._first, x[0], side="right")) - 1 for x in (one, other))
            here = one - self._first[k]
            columns = [column[here] for column in pair.first.of.columns]
            for n, at in enumerate(self._numbers.places(pair.first.of.loaded, pair.numbers, columns, len(here))):
                found.setdefault(("number", n), []).append(at)
            for name, joint, b, which, n_stored, at_end in (
                ("first", k, pair.i, here, pair.n_first, True),
                ("other", l, pair.j, other - self._first[l], pair.n_other, False),
            ):
                stored, first, width = self._gradients[joint][b]
                start = first + width * which + (width - len(stored[-1]) if at_end else 0)
                for n in range(n_stored):
                    found.setdefault((name, n), []).append(start + n)
            begin.append(np.array([self._work.edges[a, b] for a, b in zip(one, other, strict=True)]))
        places = {
            key: Place("numbers" if key[0] == "number" else "work", key[0], np.concatenate(at))
            for key, at in found.items()
        }
        E = np.concatenate(begin)
        results = [Result(node, Place("work", "E", E + n)) for n, node in enumerate(nodes)]
        return kind_of(graph, results, places, len(E))

    def _pushed(self, k: int, *, multipliers: bool) -> Kind:
        """-M^-1 G^T la of joints of a kind to the accelerations of their bodies, and la to the multipliers."""
        joint, of = self._joints[k], self._joints[k].of
        la = of.recorder.with_inputs("la", [0.0] * joint.rows)
        side = self._work.side[self._which(k)]
        places = {("la", i): Place("work", "own", side + i) for i in range(joint.rows)}
        others, nodes = dict[int, int](), list[int]()
        for b in range(len(joint.K)):
            stored, at = self._read(k, b)
            others |= stored
            places |= at
            nodes += of.nodes(joint.pushed(b, la))
        new = Graph()
        moved = copied(of.graph, nodes, new, others)
        results = [Result(node, of.place(self._motion, "free", n), True) for n, node in enumerate(moved)]
        if multipliers:
            P, own = self._workspace.arrays["primitives"], of.group.primitives
            first = int(self._workspace.head["multipliers_at"][0])
            rows = np.hstack([P["row"][own[:, [k]]] + np.arange(P["n"][own[0, k]]) for k in range(own.shape[1])])
            results += [
                Result(new.node("input", "la", i), Place("out", "la", first + rows[:, i])) for i in range(joint.rows)
            ]
        return self._kind(new, results, of, places)

    def _kind(self, graph: Graph, results: list[Result], of: Recorded, places: Mapping[tuple[str, int], Place]) -> Kind:
        return recorded_kind(self._numbers, self._motion, graph, results, of, places)
