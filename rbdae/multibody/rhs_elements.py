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

from rbdae.formulations import explicit, null_space
from rbdae.graph.graph import Graph
from rbdae.machine.elements import Elements, Kind, Place, Result, Run
from rbdae.multibody.element_groups import Group, groups_of
from rbdae.multibody.element_kinds import LANES, ElementNumbers, copied, recorded_kind
from rbdae.multibody.elimination_elements import elimination
from rbdae.multibody.loop_elements import LoopElements, of_components
from rbdae.multibody.recording import opened_numbers, selected
from rbdae.multibody.rhs_recording import Joint, Motion, Recorded, changed, changed_rates, own_records, recorded_body
from rbdae.multibody.settings import Settings
from rbdae.multibody.stored_joints import StoredJoints
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
        and (of_components(workspace) if settings.structure == "loops" else not selected(workspace))
        and not any(head[name] for name in _REFUSED)
        and not workspace.selection.rows.dropped
        and workspace.selection.rows.pivot_floor is None
        and not workspace.settings.redundant
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
        numbers = ElementNumbers(len(opened_numbers(workspace).values))
        kinds = [Joint(workspace, group, own) for group in groups if group.primitives.shape[1]]
        self._joints = joints = StoredJoints(kinds, numbers)
        self._work = joints.work
        first = workspace.layout.v.start
        self._motion = Motion(("y", first), ("out", first))
        self._reduced: TreeElements | LoopElements | None = None
        if workspace.settings.reduced:
            loops = workspace.settings.structure == "loops"
            self._reduced = LoopElements(workspace, joints) if loops else TreeElements(workspace, joints)
            self._motion = self._reduced.motion
        elif changed(workspace):
            self._motion = Motion(("y", first), ("work", self._work.take(workspace.layout.n_velocities)))

    def elements(self, *, multipliers: bool) -> Elements:
        """All of them, in the order in which they are computed."""
        kinds, runs = self._reduced.before(0) if self._reduced is not None else ([], [])
        n = len(self._joints.kinds)
        once = [self._body(*body) for body in self._bodies]
        once += [self._joint(k) for k in range(n)]
        once += self._joints.between(self._work)
        _add(kinds, runs, once)
        more, solving = elimination(self._work, len(kinds))
        kinds += more
        runs += solving
        _add(kinds, runs, [self._pushed(k, multipliers=multipliers) for k in range(n)])
        if self._reduced is not None:
            _add(kinds, runs, self._reduced.after())
        elif changed(self._workspace):
            _add(kinds, runs, [self._changed(body) for body, _ in self._bodies])
        return Elements(kinds, runs, (self._work.cleared, 0), self._work.size, self._joints.numbers.tape())

    def _body(self, body: Recorded, nodes: list[int]) -> Kind:
        results = [Result(node, body.rates(self._motion, i)) for i, node in enumerate(nodes)]
        return self._kind(body.graph, results, body, {})

    def _changed(self, body: Recorded) -> Kind:
        results = [Result(node, body.result(i)) for i, node in enumerate(changed_rates(body))]
        return self._kind(body.graph, results, body, {})

    def _joint(self, k: int) -> Kind:
        joint, of = self._joints.kinds[k], self._joints.kinds[k].of
        results = self._work.results(self._joints.which(k), of.nodes(joint.block), of.nodes(joint.side))
        return self._kind(of.graph, results + self._joints.results(k, 2), of, {})

    def _pushed(self, k: int, *, multipliers: bool) -> Kind:
        """-M^-1 G^T la of joints of a kind to the accelerations of their bodies, and la to the multipliers."""
        joint, of = self._joints.kinds[k], self._joints.kinds[k].of
        la = of.recorder.with_inputs("la", [0.0] * joint.rows)
        side = self._work.side[self._joints.which(k)]
        places = {("la", i): Place("work", "own", side + i) for i in range(joint.rows)}
        stored, nodes = dict[int, int](), list[int]()
        for b in range(len(joint.K)):
            for matrix, at in zip((joint.K[b], joint.A[b]), self._joints.gradient(k, b), strict=False):
                for entry, place in at.items():
                    places["stored", len(places)] = place
                    stored[of.recorder.number(matrix[entry])] = len(places) - 1
            nodes += of.nodes(joint.pushed(b, la))
        new = Graph()
        moved = copied(of.graph, nodes, new, stored)
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
        return recorded_kind(self._joints.numbers, self._motion, graph, results, of, places)
