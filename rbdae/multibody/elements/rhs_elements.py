"""Right-hand sides of long models by elements: bodies, joints with their bodies, elimination along the joint graph.

0. In charts with a singular set each body writes its directors to a work vector, which all else reads.
1. Each force adds its natural forces to those of its bodies, and writes the rates of its states.
   Each body writes qdot and its free acceleration (`rbdae.multibody.elements.rhs_recording`). Where its velocity is no
   unknown, it is found before, and the rates of the unknowns after all (`rbdae.multibody.elements.tree_elements`).
2. Each joint writes what others need to a work vector: its gradients, its block of S = G M^-1 G^T, and the right side
   at the free accelerations; each pair of joints of one body the block of S between them.
3. S la = g is solved in blocks (`rbdae.multibody.elements.elimination_elements`).
4. Each joint adds -M^-1 G^T la to the accelerations of its bodies.

Elements whose records differ in numbers alone are one kind, which is recorded once. What follows from the numbers of a
model alone, such as inverse masses, is computed once for it. Loops are eliminated as trees are, with more blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rbdae._arrays import Ints, Vec
from rbdae.formulations import explicit, null_space
from rbdae.graph.graph import Graph
from rbdae.graph.replacing import replaced
from rbdae.graph.symbols import NotStraight
from rbdae.kernels.equations import set_state
from rbdae.machine.elements import Elements, Kind, Place, Result, Run, evaluated
from rbdae.multibody.elements.element_groups import Group, groups_of, of_elements
from rbdae.multibody.elements.element_kinds import LANES, ElementNumbers, Written, recorded_kind
from rbdae.multibody.elements.element_recording import (
    DIRECTORS,
    NATURAL,
    Motion,
    Recorded,
    keeps_directors,
    kept_directors,
)
from rbdae.multibody.elements.elimination_elements import elimination
from rbdae.multibody.elements.rhs_recording import Joint, changed, recorded_body, recorded_multipliers
from rbdae.multibody.elements.stored_joints import StoredJoints
from rbdae.multibody.elements.tree_elements import TreeElements
from rbdae.multibody.memory.workspace import Workspace

BODIES_FROM, REDUCED_FROM, ALWAYS_FROM = 20, 25, 40
"""Bodies from which elements are quicker than what is there else: where half of the joints are computed several at a
time, with velocities or quasi-velocities of trees as unknowns, and where there are at least `_LEAST` of a
kind (`benchmarks/elements.py`)."""

NUMPY_FROM = 100
"""Bodies from which single states are quicker by NumPy than by the kernel on floats."""

_LEAST = 3
_NONE = np.zeros(0, dtype=np.int64)

_MOST_JOINTS = 64
"""Joints of one body beyond which there are too many steps: one for each three of them."""


def apply_to(workspace: Workspace, kernel: Any, shape: tuple[int, ...]) -> bool:
    """Whether a kernel is a right-hand side, or the residual yd - rhs(t, y) of one, that is made of elements."""
    return bool(
        workspace.model.n >= (REDUCED_FROM if workspace.settings.reduced else BODIES_FROM)
        and workspace.memory.opened
        and kernel in (explicit.rhs, explicit.residual, null_space.rhs)
        and _may(workspace, shape)
    )


def _may(workspace: Workspace, shape: tuple[int, ...]) -> bool:
    """Whether elements have these results: rates, and multipliers, but internal ones under other forces than G^T la."""
    layout, settings = workspace.layout, workspace.settings
    rates, multipliers = layout.n_differential, layout.n_constraints
    with_multipliers = shape == (rates + multipliers,) and not (layout.n_internal and settings.forms)
    if not (shape == (rates,) or with_multipliers) or not of_elements(workspace.arrays):
        return False
    if set(workspace.selected) - {"pivot_floor", "references", "inputs"}:
        return False
    loops = settings.structure == "loops"
    return not settings.reduced or not (settings.spatial or workspace.selection.rows.dropped or loops)


def enough(n: int, joints: Sequence[int]) -> bool:
    """Whether n bodies have joints that are elements of a few kinds; `joints` are the numbers of each kind."""
    wide = sum(count for count in joints if count >= 2 * LANES)
    return 2 * wide >= sum(joints) or (n >= ALWAYS_FROM and sum(joints) >= _LEAST * len(joints))


def groups_of_few_kinds(workspace: Workspace) -> list[Group]:
    """The kinds of elements, forces apart; none where there are too few joints of a kind, or too many at a body."""
    groups = groups_of(workspace, apart=True)
    joints = [group for group in groups if group.primitives.shape[1]]
    ends = np.concatenate([_NONE, *(group.bodies.ravel() for group in joints)])
    most = int(np.bincount(ends[ends < workspace.model.n], minlength=1).max())
    few = enough(workspace.model.n, [len(group.bodies) for group in joints]) and most <= _MOST_JOINTS
    return groups if few else []


def rhs_elements(workspace: Workspace, kernel: Any, n_results: int) -> Elements | None:
    """The elements of a kernel with this number of results; None if there are too few of each kind.

    Raises NotStraight where a condition on the state has to fall as it does where they are recorded.
    """
    groups = groups_of_few_kinds(workspace)
    if not groups:
        return None
    made = Assembling(workspace, groups, multipliers=n_results > workspace.layout.n_differential)
    return made.elements(implicit=kernel is explicit.residual)


def rates_by_numpy(workspace: Workspace, t: float, y: Vec) -> Vec | None:
    """The rates and multipliers at one state of a long model, by NumPy on stacks of elements; None for models that have
    what elements do not, and at states where a condition does not hold."""
    layout, settings = workspace.layout, workspace.settings
    n = layout.n_differential + layout.n_constraints
    if workspace.model.n < NUMPY_FROM or settings.reduced or not _may(workspace, (n,)):
        return None
    groups = groups_of_few_kinds(workspace)
    if not groups:
        return None
    try:
        elements = Assembling(workspace, groups, multipliers=True, wide=True).elements()
    except (NotStraight, TypeError, AttributeError, ValueError, ArithmeticError):
        return None  # a kernel from elsewhere, such as a user's chart, may do with its numbers what is not recorded
    inputs = {"t": [t], "y": y, "selection": workspace.numbers}
    with np.errstate(all="ignore"):
        return evaluated(elements, inputs, workspace.open_numbers.values, n)


def add_all(kinds: list[Kind], runs: list[Run], new: Iterable[Kind]) -> None:
    """Kinds of which all elements are computed, one kind after the other."""
    for kind in new:
        runs.append(Run(len(kinds), 0, kind.count))
        kinds.append(kind)


class Assembling:
    """The elements of a model; those for NumPy are `wide`: few runs of many elements, as they are recorded."""

    def __init__(self, workspace: Workspace, groups: Sequence[Group], *, multipliers: bool, wide: bool = False) -> None:
        self._workspace, self._multipliers, self._wide = workspace, multipliers, wide
        n, bodies = workspace.model.n, [group for group in groups if not group.records]
        self._placed = bodies if keeps_directors(workspace) else []
        self._first_load = DIRECTORS * n if self._placed else 0
        self._forces = forces = [group for group in groups if group.forces]
        self._bodies = [recorded_body(workspace, group, loaded=bool(forces)) for group in bodies]
        self._internal = list[tuple[Recorded, Any]]()
        if multipliers and workspace.layout.n_internal:
            self._internal = [recorded_multipliers(workspace, group, loaded=bool(forces)) for group in bodies]
        numbers = ElementNumbers(len(workspace.open_numbers.values))
        kinds = [Joint(workspace, group) for group in groups if group.primitives.shape[1]]
        self._floored = workspace.selection.rows.pivot_floor is not None
        # forces of joints along rotational velocities
        self._first_force = self._first_load + (NATURAL * n if forces else 0)
        first = self._first_force + (DIRECTORS * n if self._internal else 0)
        self._joints = joints = StoredJoints(kinds, numbers, first, floored=self._floored, wide=wide)
        self._work = joints.work
        first = workspace.layout.v.start
        self._motion = Motion(("y", first), ("out", first))
        self._reduced: TreeElements | None = None
        if workspace.settings.reduced:
            self._reduced = TreeElements(workspace, joints)
            self._motion = self._reduced.motion
        elif changed(workspace):
            self._motion = Motion(("y", first), ("work", self._work.take(workspace.layout.n_velocities)))

    def elements(self, *, implicit: bool = False) -> Elements:
        """All of them, in the order in which they are computed; those of yd - rhs(t, y) if `implicit`."""
        kinds, runs = list[Kind](), list[Run]()
        add_all(kinds, runs, map(self._directors, self._placed))
        if self._reduced is not None:
            before, ran = self._reduced.before(len(kinds))
            kinds += before
            runs += ran
        once = [*map(self._force, self._forces)]
        once += [self._body(*body) for body in self._bodies]
        self._add_joints(kinds, runs, once)
        add_all(kinds, runs, [self._balanced(*body) for body in self._internal])
        if self._reduced is not None:
            add_all(kinds, runs, self._reduced.after())
        elif changed(self._workspace):
            add_all(kinds, runs, [self._changed(body) for body, _ in self._bodies])
        if implicit:
            every = np.arange(self._workspace.layout.n_differential)
            of = Written({"yd": ("yd", every), "out": ("out", every)})
            of.gives("out", of.reads("yd", 1) - of.reads("out", 1))
            add_all(kinds, runs, [of.kind(most=1)])  # lanes would do some twice
        return Elements(kinds, runs, (self._work.cleared, 0), self._work.size, self._joints.numbers.tape())

    def _add_joints(self, kinds: list[Kind], runs: list[Run], before: list[Kind]) -> None:
        """What is `before` the joints, and these, until they have changed the accelerations."""
        n = range(len(self._joints.kinds))
        add_all(kinds, runs, before + [self._joint(k) for k in n] + self._joints.between())
        more, solving = elimination(self._work, len(kinds))
        kinds += more
        runs += solving
        add_all(kinds, runs, [self._pushed(k) for k in n])

    def _given(self, of: Recorded) -> dict[tuple[str, int], Place]:
        """The places of what else joints of a kind read."""
        return {}

    def _directors(self, group: Group) -> Kind:
        body = Recorded(self._workspace, group)
        body.at_state(set_state)
        results = body.results(body.m.states[0].d, kept_directors(group.bodies[:, 0]))
        return self._kind(body.graph, results, body, {})

    def _force(self, group: Group) -> Kind:
        """Forces of a kind: their natural forces, and the rates of their internal states."""
        force = Recorded(self._workspace, group, turned=keeps_directors(self._workspace))
        for body in force.m.bodies:
            body.weight, body.weight_d = np.zeros(3), np.zeros(DIRECTORS)
        force.at_state(explicit.natural_loads)
        loads = [x for state in force.m.states[: len(force.moving)] for x in (*state.fx, *state.fd)]
        places = [place for b in force.moving for place in self._loads(group.bodies[:, b])]
        rates = force.m.force_state_rates[: len(force.s)]
        results = force.results(loads, places, adds=True)
        results += force.results(rates, [at._replace(vector="out") for at in force.s])
        return self._kind(force.graph, results, force, {})

    def _loads(self, bodies: Ints) -> list[Place]:
        return [Place("work", "load", self._first_load + NATURAL * bodies + i) for i in range(NATURAL)]

    def _body(self, body: Recorded, rates: Any) -> Kind:
        places = {("load", i): place for i, place in enumerate(self._loads(body.group.bodies[:, 0]))}
        return self._kind(body.graph, body.results(rates, body.rates(self._motion)), body, places)

    def _joint_forces(self, bodies: Ints, n: int) -> list[Place]:
        """The forces of joints along the n rotational velocities of bodies."""
        return [Place("work", "force", self._first_force + DIRECTORS * bodies + i) for i in range(n)]

    def _balanced(self, body: Recorded, la: Any) -> Kind:
        bodies, B = body.group.bodies[:, 0], self._workspace.arrays["bodies"]
        first = self._workspace.layout.la.start
        results = body.results(la, [Place("out", "la", first + B["il"][bodies] + i) for i in range(len(la))])
        places = {("load", i): place for i, place in enumerate(self._loads(bodies))}
        places |= {("joint", i): place for i, place in enumerate(self._joint_forces(bodies, int(B["nr"][bodies[0]])))}
        return self._kind(body.graph, results, body, places)

    def _changed(self, body: Recorded) -> Kind:
        """The rates of momenta, or of spatial velocities, from what the saddle-point system is solved for."""
        rates = body.m.solution[: body.n_v]
        rates[:] = body.recorder.inputs("free")
        body.run(explicit.change_rates)
        return self._kind(body.graph, body.results(rates, body.unknown_rates()), body, {})

    def _joint(self, k: int) -> Kind:
        joint, of = self._joints.kinds[k], self._joints.kinds[k].of
        values, places = [*joint.block, *joint.diagonal, *joint.side], self._given(of)
        if self._floored:
            floors = self._workspace.places_of("pivot_floor").start + joint.slots.T
            places |= {("floor", i): Place("selection", "floor", at) for i, at in enumerate(floors)}
            values += [*of.recorder.with_inputs("floor", [0.0] * joint.rows)]
        results = of.results(values, self._work.places(self._joints.which(k), joint.rows))
        return self._kind(of.graph, results + self._joints.results(k), of, places)

    def _pushed(self, k: int) -> Kind:
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
        to = [of.place(self._motion, "free", n) for n in range(len(nodes))]
        if self._internal:
            for b, side_of in enumerate(of.moving):
                forces = of.nodes(joint.forces(b, la))
                nodes += forces
                to += self._joint_forces(of.group.bodies[:, side_of], len(forces))
        new = Graph()
        moved = replaced(of.graph, nodes, {k: new.node("input", "stored", i) for k, i in stored.items()}, new)
        results = [Result(node, place, True) for node, place in zip(moved, to, strict=True)]
        if self._multipliers:
            rows = self._workspace.layout.la.start + joint.multipliers
            results += [Result(new.node("input", "la", i), Place("out", "la", rows[:, i])) for i in range(joint.rows)]
        return self._kind(new, results, of, places)

    def _kind(self, graph: Graph, results: list[Result], of: Recorded, places: Mapping[tuple[str, int], Place]) -> Kind:
        numbers, motion = self._joints.numbers, self._motion
        return recorded_kind(numbers, motion, graph, results, of, places, as_recorded=self._wide)
