"""The functions of the projection (`rbdae.kernels.projection`) by elements, as right-hand sides of long models are
(`rbdae.multibody.elements.rhs_elements`): violations at a state, and a step from there.

A step has d within the internal constraints. Each body then writes where it is after d (or after u, where `given` says
so), and what its velocities are if they are d.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from rbdae.graph.functions import maximum
from rbdae.kernels import projection
from rbdae.kernels.constraints.primitives import primitive_residual
from rbdae.kernels.outputs import violations
from rbdae.machine.elements import Elements, Kind, Place, Result, Run
from rbdae.multibody.elements.element_groups import Group
from rbdae.multibody.elements.element_kinds import ElementNumbers
from rbdae.multibody.elements.element_recording import DIRECTORS, Motion, Recorded, keeps_directors, kept_directors
from rbdae.multibody.elements.rhs_elements import Assembling, add_all, groups_of_few_kinds
from rbdae.multibody.elements.rhs_recording import Joint
from rbdae.multibody.elements.stored_joints import StoredJoints
from rbdae.multibody.memory.workspace import Workspace

FROM = 16
"""Bodies from which elements project: code of the whole model takes a second and more to record there."""


def apply_to(workspace: Workspace, kernel: Any) -> bool:
    """Whether a kernel is one of the projection that is made of elements."""
    return bool(
        kernel in (projection.step, projection.violated)
        and workspace.model.n >= FROM
        and workspace.memory.opened
        and len(workspace.arrays["primitives"]) > 0
        and not workspace.arrays["drives"]["n_inputs"].any()
        and workspace.selection.rows.pivot_floor is None  # violations of suspended rows do not count
    )


def closing_elements(workspace: Workspace, kernel: Any) -> Elements | None:
    """The elements of a kernel of the projection; None if there are too few of each kind.

    Raises NotStraight where a condition on the state has to fall as it does where they are recorded.
    """
    groups = groups_of_few_kinds(workspace)
    if not groups:
        return None
    made = _Closing(workspace, groups)
    return made.step() if kernel is projection.step else made.violated()


@final
class _Closing(Assembling):
    def __init__(self, workspace: Workspace, groups: list[Group]) -> None:
        self._workspace = workspace
        self._multipliers, self._internal, self._floored, self._wide = False, [], False, False
        self._motion = Motion(("y", workspace.layout.q.stop), ("out", 0))
        self._of_bodies = [_Body(workspace, group) for group in groups if not group.records]
        joints = [group for group in groups if group.primitives.shape[1]]
        of_joints = [Joint(workspace, group, projection.unclosed) for group in joints]
        for joint in of_joints:
            a = joint.of.recorder.with_inputs("more", [0.0] * projection.MORE_GIVEN)[0]
            joint.side = joint.moved + joint.at_rest * (1.0 - a) + joint.known * a
        self._keeps = keeps_directors(workspace)
        first = DIRECTORS * workspace.model.n if self._keeps else 0
        numbers = ElementNumbers(len(workspace.open_numbers.values))
        self._joints = StoredJoints(of_joints, numbers, first, floored=False)
        self._work = self._joints.work

    def violated(self) -> Elements:
        """Those of `rbdae.kernels.projection.violated`, in the order in which they are computed."""
        kinds, runs = list[Kind](), list[Run]()
        bodies = [self._violated_body(body) for body in self._of_bodies]
        joints = [self._violated_joint(joint) for joint in self._joints.kinds]
        add_all(kinds, runs, bodies + joints)
        return Elements(kinds, runs, (0, 0), self._work.size, self._joints.numbers.tape())

    def step(self) -> Elements:
        """Those of `rbdae.kernels.projection.step`."""
        kinds, runs = list[Kind](), list[Run]()
        self._add_joints(kinds, runs, [self._loosened(body) for body in self._of_bodies])
        add_all(kinds, runs, [self._moved(body) for body in self._of_bodies])
        return Elements(kinds, runs, (self._work.cleared, 0), self._work.size, self._joints.numbers.tape())

    @property
    def _rows(self) -> tuple[int, int]:
        """Internal constraints of the chart, and all with those of joints."""
        internal = self._workspace.model.n * len(self._workspace.settings.chart.internal)
        return internal, internal + self._workspace.layout.n_rows

    def _given(self, of: Recorded) -> dict[tuple[str, int], Place]:
        """The places of what is given, for elements of a kind."""
        count, first = len(of.group.bodies), self._workspace.layout.n_velocities
        places = {("more", i): Place("yd", "more", np.full(count, first + i)) for i in range(projection.MORE_GIVEN)}
        places["how", 0] = Place("yd", "more", np.full(count, 0))
        return places | {("u", i): Place("yd", "v", of.place(self._motion, "free", i).at) for i in range(of.n_v)}

    def _directors_of(self, body: _Body) -> list[Result]:
        if not self._keeps:
            return []
        return body.of.results(body.d, kept_directors(body.of.group.bodies[:, 0]))

    def _violated_body(self, body: _Body) -> Kind:
        of, ni = body.of, len(body.g) // 2
        results, rows = self._directors_of(body), ni * of.group.bodies[:, 0]
        at = [Place("out", "g", level * self._rows[1] + rows + i) for level in range(2) for i in range(ni)]
        results += of.results(body.g, at)
        results += self._state(body, body.normal, 2 * self._rows[1])
        return self._kind(of.graph, results, of, self._given(of))

    def _violated_joint(self, joint: Joint) -> Kind:
        of, (internal, n) = joint.of, self._rows
        rows, results = joint.multipliers - self._workspace.layout.n_internal + internal, list[Result]()
        for level in range(2):
            g = np.zeros(of.m.head.n_internal + joint.rows, dtype=object)
            of.run(primitive_residual, g, 0, level)
            at = [Place("out", "g", level * n + row) for row in rows.T]
            results += of.results(g[of.m.head.n_internal :], at)
        return self._kind(of.graph, results, of, {})

    def _loosened(self, body: _Body) -> Kind:
        of = body.of
        results = of.results(body.free, [of.place(self._motion, "free", i) for i in range(of.n_v)])
        return self._kind(of.graph, results + self._directors_of(body), of, self._given(of))

    def _moved(self, body: _Body) -> Kind:
        results = self._state(body, body.after, self._workspace.layout.n_velocities)
        return self._kind(body.of.graph, results, body.of, self._given(body.of))

    def _state(self, body: _Body, values: Any, first: int) -> list[Result]:
        """Positions and velocities of the bodies of a kind to the results from a place on."""
        block, of = f"y{first}", body.of
        at = (of.place(self._motion, "y", i).at for i in range(len(values)))
        return of.results(values, [Place("out", block, first + k) for k in at])


@final
class _Body:
    """Bodies of a kind.

    Attributes
    ----------
    d : the directors
    g : the internal constraints of the chart, and their rates
    normal : positions with rotations that satisfy them, and velocities
    free : w within the internal constraints
    after : positions after the step, and velocities that are d
    """

    def __init__(self, workspace: Workspace, group: Group) -> None:
        self.of = of = Recorded(workspace, group)
        recorder, size = of.recorder, len(of.q) + (0 if workspace.settings.reduced else of.n_v)
        place = (projection.place_at, recorder.inputs("t")[0], recorder.inputs("y"))
        u = recorder.with_inputs("u", [0.2] * of.n_v)
        a, by_given = recorder.with_inputs("more", [0.0] * projection.MORE_GIVEN)
        (how,) = recorder.with_inputs("how", [2.0])
        of.run(*place)
        self.d = list(of.m.states[0].d)
        self.g = np.zeros(2 * len(workspace.settings.chart.internal), dtype=object)
        solved = of.m.solution
        of.run(violations, self.g)
        of.run(projection.start_step, u, a)
        if not of.angular:
            of.run(projection.loosen)
        self.free = list(solved[: of.n_v])

        d = recorder.inputs("free")
        of.run(*place)
        solved[: of.n_v] = d
        if not workspace.settings.reduced:
            of.run(projection.take_velocities)
        solved[: of.n_v] = d * (1.0 - by_given) + u * by_given
        of.run(projection.displace)
        self.after = np.zeros(size, dtype=object)
        of.run(projection.write_state, self.after)

        of.run(*place)
        of.run(projection.turn_velocities, maximum(1.0, how))
        of.run(projection.normalise_rotations)
        self.normal = np.zeros(size, dtype=object)
        of.run(projection.write_state, self.normal)
