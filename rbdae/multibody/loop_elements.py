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
from rbdae.machine.elements import Kind, Place, Result, Run
from rbdae.multibody.element_kinds import Written, recorded_kind
from rbdae.multibody.elimination_elements import elimination
from rbdae.multibody.recording import places_of_selected, selected
from rbdae.multibody.rhs_recording import Matrix, Motion
from rbdae.multibody.stored_joints import StoredJoints, cells_of, matrix
from rbdae.multibody.velocity_selection import MOST_DENSE
from rbdae.multibody.workspace import Workspace

_CORRECTIONS = 2

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
        columns, n_v = self._columns(), self._workspace.layout.n_velocities
        first = self._places["velocity_metric"] + n_v + len(self._workspace.owned["velocity_selection"])
        of = Written(
            {
                "W": ("selection", first + columns),
                "S": ("selection", self._selection(0, columns)),
                "weights": ("work", self._weights + columns),
                "v": ("work", self._v + columns),
            }
        )
        W = of.reads("W", 3)
        of.gives("weights", W)
        of.gives("v", W * of.reads("S", 3) if self._dense else np.zeros(3))
        return of.kind(most=1)

    def _chosen(self) -> Kind:
        """Selected components are nu, and have no weight."""
        row, column = self._rows()
        of = Written(
            {
                "nu": ("y", self._workspace.layout.v.start + row),
                "S": ("selection", self._selection(row, column)),
                "weights": ("work", self._weights + column),
                "v": ("work", self._v + column),
            }
        )
        (nu,), S = of.reads("nu", 1), of.reads("S", 3)
        of.gives("weights", -(of.reads("weights", 3) * S), adds=True)
        of.gives("v", S * nu, adds=True)
        return of.kind(most=1)

    def _scaled(self) -> list[Kind]:
        """S v, and w = v nu / (S v)."""
        columns = self._columns()
        total = np.zeros(len(columns), dtype=np.int64) + self._sum
        blocks: dict[str, tuple[str, Any]] = {
            "S": ("selection", self._selection(0, columns)),
            "v": ("work", self._v + columns),
            "w": ("work", self._w + columns),
            "sum": ("work", total),
            "nu": ("y", 0 * columns + self._workspace.layout.v.start),
        }
        cleared, added, scaled = Written({"sum": ("work", total[:1])}), Written(blocks), Written(blocks)
        cleared.gives("sum", 0.0)
        added.gives("sum", added.reads("S", 3) @ added.reads("v", 3), adds=True)
        (nu,), (size,) = scaled.reads("nu", 1), scaled.reads("sum", 1)
        scaled.gives("w", scaled.reads("v", 3) * (nu / size))
        return [of.kind(most=1) for of in (cleared, added, scaled)]

    def after(self) -> list[Kind]:
        """From accelerations to nudot."""
        start = self._workspace.layout.v.start
        row, column = (0 * self._columns(), self._columns()) if self._dense else self._rows()
        n_nu = len(self._workspace.owned["velocity_selection"])
        cleared = Written({"nu": ("out", start + np.arange(n_nu))})
        cleared.gives("nu", 0.0)
        of = Written(
            {
                "S": ("selection", self._selection(row, column)),
                "a": ("work", self.motion.rates[1] + column),
                "nu": ("out", start + row),
            }
        )
        of.gives("nu", of.reads("S", 3) @ of.reads("a", 3), adds=True)
        return [cleared.kind(most=1), of.kind(most=1)]

    # ------------------------------------------------------------ steps of v -= W G^T (G W G^T)^-1 G v

    def _gradients(self, k: int) -> Kind:
        """The gradients of joints of a kind, and g_I."""
        joint, of = self._joints.kinds[k], self._joints.kinds[k].of
        results = self._joints.results(k, 1)
        if k in self._known:
            first = self._known[k] + joint.rows * np.arange(len(self._joints.which(k)))
            results += [Result(node, Place("work", "known", first + i)) for i, node in enumerate(of.nodes(joint.known))]
        return recorded_kind(self._joints.numbers, self.motion, of.graph, results, of, {})

    def _cleared(self) -> list[Kind]:
        """Blocks that the elimination alone makes are zero before it."""
        n = self._work.cleared - self._work.first
        if not n:
            return []
        of = Written({"fill": ("work", self._work.first + np.arange(n))})
        of.gives("fill", 0.0)
        return [of.kind(most=1)]

    def _blocks(self) -> list[Kind]:
        """The blocks of G W G^T and the right side G v + g_I."""
        kinds = []
        for k, joint in enumerate(self._joints.kinds):
            of, which = self._written(k), self._joints.which(k)
            sides = [self._side(of, k, b) for b in range(len(joint.K))]
            D = sum((K * W @ K.T for K, W, _ in sides), np.zeros((joint.rows, joint.rows), dtype=object))
            g = of.reads("known", joint.rows) if k in self._known else np.zeros(joint.rows, dtype=object)
            g = sum((K @ v for K, _, v in sides), g)
            number = of.recorder.number
            lower = [number(x) for x in D[np.tril_indices(joint.rows)]]
            of.results += self._work.results(which, lower, [number(x) for x in g])
            kinds.append(of.kind())
        return kinds

    def _pushed(self) -> list[Kind]:
        """v -= W G^T z."""
        kinds = []
        for k, joint in enumerate(self._joints.kinds):
            of = self._written(k)
            z = of.reads("z", joint.rows)
            for b in range(len(joint.K)):
                K, W, _ = self._side(of, k, b)
                of.gives(f"v{b}", -(W * (K.T @ z)), adds=True)
            kinds.append(of.kind())
        return kinds

    def _written(self, k: int) -> Written:
        """Elements for joints of a kind: the gradients by sides, the weights and v of their bodies, g_I and z."""
        joint, which = self._joints.kinds[k], self._joints.which(k)
        blocks: dict[str, tuple[str, Any]] = {"z": ("work", self._work.side[which])}
        if k in self._known:
            blocks["known"] = ("work", self._known[k] + joint.rows * np.arange(len(which)))
        for b in range(len(joint.K)):
            iv = self._workspace.arrays["bodies"]["iv"][joint.of.group.bodies[:, joint.of.moving[b]]]
            blocks[f"K{b}"] = ("work", self._joints.begin(k, b))
            blocks |= {f"W{b}": ("work", self._weights + iv), f"v{b}": ("work", self._v + iv)}
        return Written(blocks)

    def _side(self, of: Written, k: int, b: int) -> tuple[Matrix, Any, Any]:
        """The gradients of one side, and the weights and v of its body."""
        K = self._joints.kinds[k].K[b]
        cells, n = cells_of(self._joints.kinds[k], K)
        return (
            matrix(of.reads(f"K{b}", n), cells, K.shape),
            of.reads(f"W{b}", K.shape[1]),
            of.reads(f"v{b}", K.shape[1]),
        )
