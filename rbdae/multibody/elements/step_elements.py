"""An iteration of Newton's method in a step of `rbdae.conserving` by elements, for long models.

Bodies, with what acts on them from the ground, and pairs of bodies with their joints and forces fill the rows of a step
and their tangent. Rows of bodies are linear in natural forces and their moments, so that a pair adds to them the
derivative along its own ones. The system is solved by tables, in the order in which code of the whole model eliminates
it (`rbdae.multibody.memory.newton`), but for the translations of bodies, which come first: their pivots are masses.
Then each body takes its correction.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.conserving.schemes import KINDS
from rbdae.graph.derivatives import tangents
from rbdae.graph.pivots import with_pivots
from rbdae.kernels.conserving.bodies import Rodrigues
from rbdae.kernels.conserving.newton import tangent
from rbdae.kernels.conserving.steps import Step, relative
from rbdae.machine.elements import Elements, Kind, Place, Result, Run
from rbdae.machine.factors import tables
from rbdae.machine.loops.elimination import FIRST
from rbdae.machine.solving import Solving
from rbdae.multibody.elements.element_groups import Group, groups_of, of_elements
from rbdae.multibody.elements.element_kinds import ElementNumbers, Written, recorded_kind
from rbdae.multibody.elements.element_recording import Motion, Recorded
from rbdae.multibody.elements.elements import added
from rbdae.multibody.memory.workspace import Workspace

FROM = 20
"""Bodies from which elements are quicker than code of the whole model (docs/decisions.md)."""

_SUMS = 3
"""Numbers at the beginning of the work vector: `Step.sums`."""


def apply_to(workspace: Workspace, kernel: Any) -> bool:
    """Whether a kernel is an iteration that is made of elements."""
    return bool(
        kernel in KINDS
        and workspace.model.n >= FROM
        and workspace.memory.opened
        and not workspace.settings.reduced
        and of_elements(workspace.arrays)
    )


def step_elements(workspace: Workspace, kernel: Any) -> Elements:
    """The elements of an iteration.

    Raises NotStraight, NoDerivative where an element cannot be recorded.
    """
    order, n_bodies, nt = workspace.arrays["newton_order"], workspace.head.n_body_unknowns, _translations(workspace)
    n, n_unknowns = len(order), n_bodies + workspace.layout.n_rows
    moves = np.repeat(np.tile([True, False], len(nt)), np.array([nt, np.full(len(nt), 3)]).T.ravel())
    moves = np.append(moves, np.zeros(workspace.layout.n_rows, dtype=bool))
    order = np.concatenate([order[moves[order]], order[~moves[order]]])
    place = np.full(n_unknowns, -1)
    place[order] = np.arange(n)
    parts = [_Part(workspace, group, KINDS[kernel]) for group in groups_of(workspace)]
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
        kinds.append(part.kind(numbers, results))
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


def _translations(workspace: Workspace) -> Ints:
    """The numbers of translations of the bodies."""
    nt: Ints = workspace.arrays["bodies"]["nt"][:-1]
    return nt


@final
class _Part:
    """The first element of a kind in a step, with the places of the unknowns of all of them.

    Attributes
    ----------
    of : what has been recorded
    """

    def __init__(self, workspace: Workspace, group: Group, kind: type[Rodrigues]) -> None:
        self.of = of = Recorded(workspace, group)
        layout, nt = workspace.layout, _translations(workspace)
        begins = np.cumsum([0, *(nt + 3)])
        own = [begins[b] + i for b in (group.bodies[:, k] for k in of.moving) for i in range(int(nt[b[0]]) + 3)]
        head, n_bodies = of.m.head, workspace.head.n_body_unknowns
        head.n_body_unknowns, head.n_rows = len(own), len(of.rows)
        self._unknowns = [*own, *(n_bodies + at - layout.n_internal for at in of.rows)]
        self._motion = Motion(("y", layout.v.start), ("out", 0))
        recorder = of.recorder
        u = recorder.with_inputs("yd", np.linspace(0.01, 0.02, len(self._unknowns)).tolist())
        (t,), (h,) = recorder.inputs("t"), recorder.inputs("c")
        self._step = Step(of.m, t, recorder.inputs("y"), h, np.array(u), kind)

    def filled(self, place: Ints, n: int) -> list[tuple[int, Ints]]:
        """The rows and the entries of their tangent: nodes, and for each element their place among n rows, then among
        n^2 entries; `place` are those of unknowns in the order of the elimination, -1 for dropped rows."""
        of, step = self.of, self._step
        balances, through = self._shares() if of.group.pair else step.balances()
        rows = np.concatenate([*balances, step.joint_rows()])
        entries = tangent(of.m, rows, step.slopes(), through)
        of.sound()
        at = [place[unknowns] for unknowns in self._unknowns]
        kept = {i for i, places in enumerate(at) if places[0] >= 0}
        found = [(node, at[i]) for i, node in enumerate(of.nodes(rows)) if i in kept]
        found += [(node, n + at[i] * n + at[j]) for (i, j), node in entries.items() if i in kept and j in kept]
        return found

    def _shares(self) -> tuple[list[Any], Any]:
        """The shares of a pair in the balances of its bodies, and the moments of its forces."""
        of, step, rows, along = self.of, self._step, list[Any](), dict[int, dict[int, int]]()

        def unit(name: str, values: Any) -> Any:
            """Symbols in place of values, along which the derivative is taken."""
            found = of.recorder.with_inputs(name, [1.0] * values.size)
            along.update({x.node: {0: node} for x, node in zip(found, of.nodes(values), strict=True)})
            return np.reshape(found, values.shape)

        acting = [forces for _, forces in step.forces()]
        torques = [body.torque(forces) for body, forces in zip(step.bodies, acting, strict=True)]
        for b, body in enumerate(step.bodies):
            given = unit(f"force{b}", acting[b]), unit(f"torque{b}", torques[b])
            rows.append(body.balance(np.zeros(acting[b].shape), *given))
        graph = of.graph
        shares = tangents(graph, of.nodes(np.concatenate(rows)), along)
        zero = graph.const(0.0)
        return [[of.recorder.result(share.get(0, zero)) for share in shares]], np.ravel(torques)

    def kind(self, numbers: ElementNumbers, results: list[Result]) -> Kind:
        """The elements with these results."""
        return self._kind(numbers, results, {})

    def corrected(self, numbers: ElementNumbers, place: Ints, solving: Solving) -> Kind:
        """The unknowns of bodies after the correction, and their parts of the sums."""
        of, own, recorder = self.of, self._unknowns, self.of.recorder
        at = [place[unknowns] for unknowns in own]
        rows = recorder.with_inputs("rows", [1.0] * len(own))
        c = np.array(recorder.with_inputs("change", [1.0] * len(own)))
        places = {("rows", i): Place("work", "rows", solving.right + k) for i, k in enumerate(at)}
        places |= {("change", i): Place("work", "change", solving.solution + k) for i, k in enumerate(at)}
        results = of.results(self._step.u - c, [Place("out", "u", k) for k in own])
        to = [Place("work", "", np.full(len(own[0]), k)) for k in range(_SUMS)]
        results += of.results(self._step.sums([np.array(rows)], c), to, adds=True)
        return self._kind(numbers, results, places)

    def _kind(self, numbers: ElementNumbers, results: list[Result], places: dict[tuple[str, int], Place]) -> Kind:
        of = self.of
        places |= {("yd", i): Place("yd", "u", at) for i, at in enumerate(self._unknowns)}
        return recorded_kind(numbers, self._motion, of.graph, results, of, places)
