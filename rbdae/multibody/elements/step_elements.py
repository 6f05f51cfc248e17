"""An iteration of Newton's method in a step of `rbdae.conserving`, and the step's end, by elements, for long models.

Bodies, with what acts on them from the ground, and pairs of bodies with their joints and forces fill the rows of a step
and their tangent. Rows of bodies are linear in natural forces and their moments, so that a pair adds to them the
derivative along its own ones. The system is solved by tables, in the order in which code of the whole model eliminates
it (`rbdae.multibody.memory.newton`), but for the translations of bodies, which come first: their pivots are masses.
Then each body takes its correction.

At the end of a step bodies are on their own, but for QUAT.VI: there pairs add to the momenta of their bodies, which
then go to the constraints as velocities are projected (`rbdae.kernels.projection`).
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.conserving.schemes import KINDS
from rbdae.graph.derivatives import tangents
from rbdae.graph.pivots import with_pivots
from rbdae.kernels import projection
from rbdae.kernels.bodies.gather import collect_velocities
from rbdae.kernels.conserving.bodies import Rodrigues
from rbdae.kernels.conserving.newton import tangent
from rbdae.kernels.conserving.steps import Step, relative, write_bodies
from rbdae.machine.elements import Elements, Kind, Place, Result, Run
from rbdae.machine.factors import tables
from rbdae.machine.loops.elimination import FIRST
from rbdae.machine.solving import Solving
from rbdae.multibody.elements.element_groups import Group, groups_of, of_elements
from rbdae.multibody.elements.element_kinds import ElementNumbers, Written, recorded_kind
from rbdae.multibody.elements.element_recording import Motion, Recorded
from rbdae.multibody.elements.elements import added
from rbdae.multibody.elements.rhs_elements import Assembling, add_all
from rbdae.multibody.elements.rhs_recording import Joint
from rbdae.multibody.elements.stored_joints import StoredJoints
from rbdae.multibody.memory.workspace import Workspace

FROM = 20
"""Bodies from which elements are quicker than code of the whole model (`benchmarks/conserving.py`)."""

MOMENTA = 6
"""Numbers in P1 and y1 of a body."""

_SUMS = 3
"""Numbers at the beginning of the work vector: `Step.sums`."""


def apply_to(workspace: Workspace, kernel: Any) -> bool:
    """Whether a kernel is an iteration, or the end of a step, that is made of elements: an end without windings and
    multipliers, and, of QUAT.VI, with joints."""
    what, kind = KINDS.get(kernel, ("", Rodrigues))
    layout = workspace.layout
    return bool(
        what
        and (what == "newton" or (layout.n == layout.v.stop and (layout.n_rows or not kind.at_start)))
        and workspace.model.n >= FROM
        and workspace.memory.opened
        and not workspace.settings.reduced
        and of_elements(workspace.arrays)
    )


def step_elements(workspace: Workspace, kernel: Any) -> Elements:
    """The elements of an iteration, or of the end of a step.

    Raises NotStraight, NoDerivative where an element cannot be recorded.
    """
    what, kind = KINDS[kernel]
    parts = [_Part(workspace, group, kind) for group in groups_of(workspace)]
    if what == "newton":
        return _iteration(workspace, parts)
    if kind.at_start:
        return _OntoJoints(workspace, parts).end()
    numbers = ElementNumbers(len(workspace.open_numbers.values))
    kinds = [part.ended(numbers, {}) for part in parts if not part.of.group.pair]
    return Elements(kinds, [Run(k, 0, of.count) for k, of in enumerate(kinds)], (0, 0), 1, numbers.tape())


def _iteration(workspace: Workspace, parts: list[_Part]) -> Elements:
    arrays, n_bodies = workspace.arrays, workspace.head.n_body_unknowns
    order, nt = arrays["newton_order"], arrays["bodies"]["nt"][:-1]
    n, n_unknowns = len(order), n_bodies + workspace.layout.n_rows
    moves = np.repeat(np.tile([True, False], len(nt)), np.array([nt, np.full(len(nt), 3)]).T.ravel())
    moves = np.append(moves, np.zeros(workspace.layout.n_rows, dtype=bool))
    order = np.concatenate([order[moves[order]], order[~moves[order]]])
    place = np.full(n_unknowns, -1)
    place[order] = np.arange(n)
    filled = [part.filled(place, n) for part in parts]
    sums = np.unique(np.concatenate([at.ravel() for own in filled for _, at in own]))
    entries = [divmod(int(key) - n, n) for key in sums[n:]]
    plan = with_pivots(n, [(k, k) for k in range(n)], entries)
    solving = Solving(tables(n, entries, plan), _SUMS + n, _SUMS)

    def to(at: Ints) -> Place:
        return Place("work", "sum", _SUMS + at + FIRST * (at >= n))

    numbers, kinds = ElementNumbers(len(workspace.open_numbers.values)), list[Kind]()
    known = [[(node, np.searchsorted(sums, at)) for node, at in own] for own in filled]
    for part, results in zip(parts, added(len(sums), known, to)[0], strict=True):
        kinds.append(part.kind(numbers, results, {}))
    n_filling = len(kinds)
    for part in parts:
        if not part.of.group.pair:
            kinds.append(part.corrected(numbers, place, solving))
    kept = order[order >= n_bodies]
    if len(kept):
        of = Written({"u": ("yd", kept), "c": ("work", solving.solution + place[kept]), "out": ("out", kept)})
        of.gives("out", of.reads("u", 1) - of.reads("c", 1))
        kinds.append(of.kind())
    of = Written({"sums": ("work", np.zeros(1, dtype=np.int64)), "out": ("out", np.array([n_unknowns]))})
    of.gives("out", [relative(*of.reads("sums", _SUMS))])
    kinds.append(of.kind())
    runs = [Run(k, 0, kind.count) for k, kind in enumerate(kinds)]
    runs.insert(n_filling, Run(len(kinds), 0, 1))
    zeros = _SUMS + FIRST + len(sums), n_unknowns if len(order) < n_unknowns else 0
    return Elements(kinds, runs, zeros, solving.solution + n, numbers.tape(), solving)


@final
class _Part:
    """The first element of a kind in a step, with the places of the unknowns of all of them.

    Attributes
    ----------
    of : what has been recorded
    """

    def __init__(self, workspace: Workspace, group: Group, kind: type[Rodrigues]) -> None:
        self.of = of = Recorded(workspace, group)
        layout, nt = workspace.layout, workspace.arrays["bodies"]["nt"][:-1]
        begins = np.cumsum([0, *(nt + 3)])
        own = [begins[b] + i for b in (group.bodies[:, k] for k in of.moving) for i in range(int(nt[b[0]]) + 3)]
        head, n_bodies = of.m.head, workspace.head.n_body_unknowns
        head.n_body_unknowns, head.n_rows = len(own), len(of.rows)
        self._unknowns = [*own, *(n_bodies + at - layout.n_internal for at in of.rows)]
        self._part_of_step = np.full(len(group.bodies), n_bodies + layout.n_rows)
        self._motion = Motion(("y", layout.v.start), ("out", 0))
        recorder = of.recorder
        *u, self._r = recorder.with_inputs("yd", [*np.linspace(0.01, 0.02, len(self._unknowns)), 1.0])
        (t,), (h,) = recorder.inputs("t"), recorder.inputs("c")
        self.step = Step(of.m, t, recorder.inputs("y"), h, np.array(u), kind)

    def filled(self, place: Ints, n: int) -> list[tuple[int, Ints]]:
        """The rows and the entries of their tangent: nodes, and for each element their place among n rows, then among
        n^2 entries; `place` are those of unknowns in the order of the elimination, -1 for dropped rows."""
        of, step = self.of, self.step
        balances, through = self._shares("balance") if of.group.pair else step.balances()
        rows = np.concatenate([*balances, step.joint_rows()])
        entries = tangent(of.m, rows, step.slopes(), through)
        of.sound()
        at = [place[unknowns] for unknowns in self._unknowns]
        kept = {i for i, places in enumerate(at) if places[0] >= 0}
        found = [(node, at[i]) for i, node in enumerate(of.nodes(rows)) if i in kept]
        found += [(node, n + at[i] * n + at[j]) for (i, j), node in entries.items() if i in kept and j in kept]
        return found

    def momenta(self) -> list[tuple[int, Ints]]:
        """What the elements add to P1 and y1 of QUAT.VI: nodes, and their places."""
        of, step = self.of, self.step
        body: Any = step.bodies[0]
        if of.group.pair:
            (values,), _ = self._shares("finish")
        else:
            ((weight, forces),) = step.forces()
            values = body.finish(weight, forces, body.torque(forces))
        of.sound()
        at = [MOMENTA * of.group.bodies[:, b] + i for b in of.moving for i in range(MOMENTA)]
        return list(zip(of.nodes(values), at, strict=True))

    def _shares(self, rows_of: str) -> tuple[list[Any], Any]:
        """The shares of a pair in such rows of its bodies, and the moments of its forces."""
        of, step, rows, along = self.of, self.step, list[Any](), dict[int, dict[int, int]]()

        def unit(name: str, values: Any) -> Any:
            """Symbols in place of values, along which the derivative is taken."""
            found = of.recorder.with_inputs(name, [1.0] * values.size)
            along.update({x.node: {0: node} for x, node in zip(found, of.nodes(values), strict=True)})
            return np.reshape(found, values.shape)

        acting = [forces for _, forces in step.forces()]
        torques = [body.torque(forces) for body, forces in zip(step.bodies, acting, strict=True)]
        for b, body in enumerate(step.bodies):
            given = unit(f"force{b}", acting[b]), unit(f"torque{b}", torques[b])
            rows.append(getattr(body, rows_of)(np.zeros(acting[b].shape), *given))
        graph = of.graph
        shares = tangents(graph, of.nodes(np.concatenate(rows)), along)
        zero = graph.const(0.0)
        return [[of.recorder.result(share.get(0, zero)) for share in shares]], np.ravel(torques)

    def ended(self, numbers: ElementNumbers, places: dict[tuple[str, int], Place]) -> Kind:
        """The bodies at the end of a step, or within it."""
        at = [*(place._replace(vector="out") for place in self.of.q), *self.of.unknown_rates()]
        return self.kind(numbers, self.of.results(self.state(self._r), at), places)

    def state(self, r: Any) -> Any:
        """The state of a body at the part r of the step."""
        out = np.zeros(len(self.of.q) + self.of.n_v, dtype=object)
        write_bodies(self.step, r, out)
        return out

    def corrected(self, numbers: ElementNumbers, place: Ints, solving: Solving) -> Kind:
        """The unknowns of bodies after the correction, and their parts of the sums."""
        of, own, recorder = self.of, self._unknowns, self.of.recorder
        at = [place[unknowns] for unknowns in own]
        rows = recorder.with_inputs("rows", [1.0] * len(own))
        c = np.array(recorder.with_inputs("change", [1.0] * len(own)))
        places = {("rows", i): Place("work", "rows", solving.right + k) for i, k in enumerate(at)}
        places |= {("change", i): Place("work", "change", solving.solution + k) for i, k in enumerate(at)}
        results = of.results(self.step.u - c, [Place("out", "u", k) for k in own])
        to = [Place("work", "", np.full(len(own[0]), k)) for k in range(_SUMS)]
        results += of.results(self.step.sums([np.array(rows)], c), to, adds=True)
        return self.kind(numbers, results, places)

    def kind(self, numbers: ElementNumbers, results: list[Result], places: dict[tuple[str, int], Place]) -> Kind:
        """The elements with these results, and the places of what else they read."""
        unknowns = enumerate([*self._unknowns, self._part_of_step])
        places |= {("yd", i): Place("yd", "u", at) for i, at in unknowns}
        return recorded_kind(numbers, self._motion, self.of.graph, results, self.of, places)


@final
class _OntoJoints(Assembling):
    """The end of a step of QUAT.VI."""

    def __init__(self, workspace: Workspace, parts: list[_Part]) -> None:
        self._workspace, self._parts = workspace, parts
        self._multipliers, self._internal, self._floored, self._wide = False, [], False, False
        joints = [Joint(workspace, part.of.group, projection.unclosed) for part in parts if part.of.group.pair]
        numbers = ElementNumbers(len(workspace.open_numbers.values))
        self._joints = StoredJoints(joints, numbers, MOMENTA * workspace.model.n, floored=False)
        self._work = self._joints.work
        self._positions = self._work.take(workspace.layout.q.stop)
        self._motion = Motion(("y", 0), ("work", self._work.take(workspace.layout.n_velocities)))
        for joint in joints:
            joint.side, joint.of.q = joint.moved, self._at_end(joint.of)

    def end(self) -> Elements:
        kinds, runs, numbers = list[Kind](), list[Run](), self._joints.numbers
        found = [part.momenta() for part in self._parts]
        results, _ = added(self._work.size, found, lambda at: Place("work", "end", at))
        add_all(kinds, runs, [part.kind(numbers, own, {}) for part, own in zip(self._parts, results, strict=True)])
        bodies = [self._of_body(part) for part in self._parts if not part.of.group.pair]
        add_all(kinds, runs, [placed for placed, _ in bodies])
        self._add_joints(kinds, runs, [])
        add_all(kinds, runs, [ended for _, ended in bodies])
        return Elements(kinds, runs, (self._work.cleared, 0), self._work.size, numbers.tape())

    def _at_end(self, of: Recorded) -> list[Place]:
        return [Place("work", "q", self._positions + place.at) for place in of.q]

    def _of_body(self, part: _Part) -> tuple[Kind, Kind]:
        """Positions and velocities at the end, of P1 and y1; the state after the joints have changed these."""
        of, numbers = part.of, self._joints.numbers
        body: Any = part.step.bodies[0]
        body.take_momenta(of.recorder.with_inputs("end", [1.0] * MOMENTA))
        momenta = MOMENTA * of.group.bodies[:, 0]
        places = {("end", i): Place("work", "end", momenta + i) for i in range(MOMENTA)}
        state, v = part.state(1.0), np.zeros(of.n_v, dtype=object)
        projection.place_at(of.m, part.step.t, state)
        collect_velocities(of.m, v)
        velocities = [of.place(self._motion, "free", i) for i in range(of.n_v)]
        placed = of.results([*state[: len(of.q)], *v], [*self._at_end(of), *velocities])
        body.change(of.recorder.with_inputs("changed", [1.0] * of.n_v) - v)
        return part.kind(numbers, placed, places), part.ended(
            numbers, places | {("changed", i): at for i, at in enumerate(velocities)}
        )
