"""Newton steps of the projection of long models by elements, as right-hand sides are (`rbdae.multibody.rhs_elements`).

One function of (t, y, given, a) serves positions and velocities; [NS], (62). With u from `given`, and v as y has it,
it finds d with

    M (d - w) + G^T la = 0,    G d + (1 - a) g = 0,    w = u + a v

within the internal constraints: a = 0 and u = 0 is a step from y to g = 0, a = 1 and u = 0 gives the velocities. Each
body then writes where it is after d (or after u, where `given` says so), and what its velocities are if they are d.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple, Self, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.symbols import NotStraight
from rbdae.kernels import projection
from rbdae.kernels.bodies.gather import collect_velocities
from rbdae.kernels.closing import displace, normalise_rotations
from rbdae.kernels.constraints.primitives import primitive_residual
from rbdae.kernels.memory import constraint_values, solution
from rbdae.kernels.outputs import violations
from rbdae.machine.elements import Elements, Kind, Place, Result, Run
from rbdae.machine.function import Shapes
from rbdae.multibody.code import Code, code_of_elements
from rbdae.multibody.element_groups import Group, groups_of
from rbdae.multibody.element_kinds import ElementNumbers
from rbdae.multibody.elimination_elements import elimination
from rbdae.multibody.recording import constants, opened_numbers, structure_of
from rbdae.multibody.rhs_elements import Assembling, add_all, few_kinds
from rbdae.multibody.rhs_recording import DIRECTORS, Joint, Motion, Recorded, keeps_directors, kept_directors
from rbdae.multibody.stored_joints import StoredJoints
from rbdae.multibody.traced import shared
from rbdae.multibody.workspace import Workspace

FROM = 16
"""Bodies from which elements project: code of the whole model takes a second and more to record there."""

OF_VELOCITIES, AFTER_GIVEN, TURNED = 0, 1, 2
"""Behind u in `given`: a; 1 where bodies go by u and not by d; how velocities are turned with rotations
(`rbdae.kernels.projection.turn_velocities`)."""
N_MORE = 3


class Places(NamedTuple):
    """Places of the results: d (n_v,); positions after the step and velocities that are d; y with rotations that
    satisfy their internal constraints, both (n_q + n_v,); g and gdot, as `Problem.constraints` has them."""

    d: slice
    after: slice
    normal: slice
    g: slice
    rate: slice

    @classmethod
    def of(cls, workspace: Workspace) -> Self:
        """The places of the results of a model."""
        layout = workspace.layout
        n_y = layout.q.stop + layout.n_velocities
        n_g = workspace.model.n * len(workspace.settings.chart.internal) + layout.n_rows
        ends = np.cumsum([0, layout.n_velocities, n_y, n_y, n_g, n_g]).tolist()
        return cls(*(slice(a, b) for a, b in pairwise(ends)))


def code_of_closing(workspace: Workspace) -> Code | None:
    """The code of the function f(t, y, given, a, out); None for models that are short, or have what elements do not."""
    if not _apply_to(workspace):
        return None
    n_y = workspace.layout.n
    shapes: Shapes = {
        "y": (n_y,),
        "yd": (workspace.layout.n_velocities + N_MORE,),
        "out": (Places.of(workspace).rate.stop,),
    }

    def made() -> Code | None:
        return code_of_elements(workspace, f"{__name__}:closing", lambda: _elements(workspace), "tyyo", shapes)

    return shared(workspace, (__name__, structure_of(workspace)), made)


def _apply_to(workspace: Workspace) -> bool:
    return bool(
        workspace.model.n >= FROM
        and workspace.memory.opened
        and len(workspace.arrays["primitives"]) > 0
        and not workspace.arrays["drives"]["n_inputs"].any()
        and workspace.selection.rows.pivot_floor is None  # violations of suspended rows do not count
    )


def _elements(workspace: Workspace) -> Elements | None:
    groups = groups_of(workspace, apart=True)
    if not few_kinds(workspace, groups):
        return None
    try:
        return _Closing(workspace, groups).elements()
    except NotStraight:
        return None


@final
class _Closing(Assembling):
    """The elements of a model."""

    def __init__(self, workspace: Workspace, groups: list[Group]) -> None:
        self._workspace, own = workspace, constants(workspace)
        self._multipliers, self._internal = False, []
        self._at = Places.of(workspace)
        self._motion = Motion(("y", workspace.layout.q.stop), ("out", self._at.d.start))
        self._of_bodies = [_Body(workspace, group, own) for group in groups if not group.records]
        joints = [group for group in groups if group.primitives.shape[1]]
        of_joints = [Joint(workspace, group, own, projection.unclosed) for group in joints]
        for joint in of_joints:
            a = joint.of.recorder.with_inputs("more", [0.0] * N_MORE)[0]
            joint.side = list(joint.moved + joint.at_rest * (1.0 - a) + joint.known * a)
        self._keeps = keeps_directors(workspace)
        first = DIRECTORS * workspace.model.n if self._keeps else 0
        self._joints = StoredJoints(
            of_joints, ElementNumbers(len(opened_numbers(workspace).values)), first, floored=False
        )
        self._work = self._joints.work

    def elements(self) -> Elements:
        """All of them, in the order in which they are computed."""
        kinds, runs = list[Kind](), list[Run]()
        n = len(self._joints.kinds)
        first = [self._loosened(body) for body in self._of_bodies]
        add_all(kinds, runs, first + [self._joint(k) for k in range(n)] + self._joints.between(self._work))
        more, solving = elimination(self._work, len(kinds))
        kinds += more
        runs += solving
        add_all(kinds, runs, [self._pushed(k) for k in range(n)])
        add_all(kinds, runs, [self._moved(body) for body in self._of_bodies])
        return Elements(kinds, runs, (self._work.cleared, 0), self._work.size, self._joints.numbers.tape())

    def _given(self, of: Recorded) -> Mapping[tuple[str, int], Place]:
        """The places of what is given, for elements of a kind."""
        count, first = len(of.group.bodies), self._workspace.layout.n_velocities
        places = {("more", i): Place("yd", "more", np.full(count, first + i)) for i in range(N_MORE)}
        return places | {("u", i): Place("yd", "v", of.place(self._motion, "free", i).at) for i in range(of.n_v)}

    def _loosened(self, body: _Body) -> Kind:
        of, ni = body.of, len(body.g) // 2
        results = [Result(node, of.place(self._motion, "free", i)) for i, node in enumerate(of.nodes(body.free))]
        if self._keeps:
            places = kept_directors(of.group.bodies[:, 0])
            results += [Result(node, place) for node, place in zip(of.nodes(body.d), places, strict=True)]
        rows = ni * of.group.bodies[:, 0]
        for level, part in enumerate((self._at.g, self._at.rate)):
            nodes = of.nodes(body.g[level * ni : (level + 1) * ni])
            results += [Result(node, Place("out", "g", part.start + rows + i)) for i, node in enumerate(nodes)]
        return self._kind(of.graph, results, of, self._given(of))

    def _moved(self, body: _Body) -> Kind:
        of = body.of
        results = []
        for start, values in ((self._at.after.start, body.after), (self._at.normal.start, body.normal)):
            for i, node in enumerate(of.nodes(values)):
                results.append(Result(node, Place("out", f"y{start}", start + self._unknown(of, i))))
        return self._kind(of.graph, results, of, self._given(of))

    def _unknown(self, of: Recorded, i: int) -> Ints:
        """The places of a position or a velocity of the bodies of a kind among those of all of them."""
        place = of.place(Motion(("y", self._workspace.layout.q.stop), ("out", 0)), "y", i)
        return place.at

    def _joint(self, k: int) -> Kind:
        joint, of, workspace = self._joints.kinds[k], self._joints.kinds[k].of, self._workspace
        results = self._work.results(self._joints.which(k), of.nodes(joint.block), of.nodes(joint.side))
        rows = joint.multipliers - workspace.layout.n_internal
        rows = rows + workspace.model.n * len(workspace.settings.chart.internal)
        for level, part in enumerate((self._at.g, self._at.rate)):
            of.run(primitive_residual, of.vector(constraint_values), 0, level)
            nodes = of.nodes(of.vector(constraint_values)[of.m.head.n_internal :][: joint.rows])
            results += [Result(node, Place("out", "g", part.start + rows[:, i])) for i, node in enumerate(nodes)]
        return self._kind(of.graph, results + self._joints.results(k, 2), of, self._given(of))


@final
class _Body:
    """Bodies of a kind.

    Attributes
    ----------
    d : the directors
    g : the internal constraints of the chart, and their rates
    free : w within the internal constraints
    after, normal : positions, and velocities, see `Places`
    """

    def __init__(self, workspace: Workspace, group: Group, own: Mapping[str, Any]) -> None:
        self.of = of = Recorded(workspace, group, own)
        recorder, size = of.recorder, of.n_q + of.n_v
        place = (projection.place_at, recorder.inputs("t")[0], recorder.inputs("y"))
        u = recorder.with_inputs("u", [0.2] * of.n_v)
        a, by_given, turned = recorder.with_inputs("more", [0.0, 0.0, 2.0])
        of.run(*place)
        self.d = list(of.m.states[0].d)
        self.g = np.zeros(2 * len(workspace.settings.chart.internal), dtype=object)
        solved = of.vector(solution)
        reduced = workspace.settings.reduced
        of.run(violations, self.g)
        if not reduced:
            of.run(collect_velocities, solved)
        for i in range(of.n_v):
            solved[i] = u[i] if reduced else u[i] + a * solved[i]
        if not of.angular:
            of.run(projection.loosen)
        self.free = list(solved[: of.n_v])

        d = recorder.inputs("free")
        of.run(*place)
        solved[: of.n_v] = d * (1.0 - by_given) + u * by_given
        of.run(displace)
        self.after, self.normal = np.zeros(size, dtype=object), np.zeros(size, dtype=object)
        of.run(projection.write_state, self.after)

        of.run(*place)
        of.run(projection.turn_velocities, turned)
        of.run(normalise_rotations)
        of.run(projection.write_state, self.normal)
        if reduced:
            self.after, self.normal = self.after[: of.n_q], self.normal[: of.n_q]
            return
        of.run(*place)
        solved[: of.n_v] = d
        of.run(projection.take_velocities)
        velocities = np.zeros(size, dtype=object)
        of.run(projection.write_state, velocities)
        self.after[of.n_q :] = velocities[of.n_q :]
