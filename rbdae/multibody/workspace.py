"""A model laid out in memory for one chart and one kind of velocity: the block that the kernels work on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.compiler.declared import Features
from rbdae.compiler.jit import Entry
from rbdae.compiler.options import ENABLED
from rbdae.compiler.plain import plain
from rbdae.compiler.user_functions import raise_pending
from rbdae.kernels import records as kb
from rbdae.kernels.linear.schur import SUSPENDED
from rbdae.kernels.memory import PlainMemory
from rbdae.multibody.graph import eliminate
from rbdae.multibody.model import Model
from rbdae.multibody.tree_velocities import Branch
from rbdae.rotations import Chart
from rbdae.solving.switches.velocities import Gauge

_KINDS = {kb.ANGULAR: "angular", kb.QUATERNION_RATE: "quaternion-rate", kb.DIRECTOR_RATE: "director-rate"}
_RATES = {kb.ANGULAR: 3, kb.QUATERNION_RATE: 4, kb.DIRECTOR_RATE: 9}
_INTERNAL = {kb.ANGULAR: 0, kb.QUATERNION_RATE: 1, kb.DIRECTOR_RATE: 6}


@dataclass(frozen=True, slots=True)
class Settings:
    """What lays a model out: chart and velocity kind (kernel number), momenta, null-space form, level, radial inertia
    as a fraction of tr(J)/2, whether there are kinematic corrections, whether the unknowns are integrals of the
    multipliers, Baumgarte's (alpha, beta), the joint rows (in the order of the joints) to leave out, and
    of a null-space form that is not of a tree of spherical joints the branches of a tree, or the first gauge."""

    chart: Chart
    kind: int
    momenta: bool = False
    reduced: bool = False
    level: int = 0
    radial: float = 0.0
    corrected: bool = False
    integral: bool = False
    baumgarte: tuple[float, float] | None = None
    dropped: tuple[int, ...] = ()
    gauge: Gauge | None = field(default=None, compare=False)
    branches: tuple[Branch, ...] | None = field(default=None, compare=False)

    @property
    def by_tree(self) -> bool:
        """Whether the null-space matrix is that of a tree of spherical joints."""
        return self.reduced and self.gauge is None and self.branches is None

    @property
    def reduction(self) -> int:
        """The kernels' number of the kind of null-space form."""
        if not self.reduced:
            return 0
        return kb.SPHERICAL_TREE if self.by_tree else kb.LOOPS if self.branches is None else kb.TREE


def features(model: Model, settings: Settings) -> Features:
    """What the kernels need for a model and formulation: the `when` of stages."""
    out = {_KINDS[settings.kind], settings.chart.name}
    have = {
        "internal": settings.kind != kb.ANGULAR,
        "momenta": settings.momenta,
        "spherical-tree": settings.by_tree,
        "square-system": settings.reduced and not settings.by_tree,
        "loops": settings.gauge is not None,
        "tree": settings.branches is not None,
        "joints": len(model.primitives) > 0,
        "bilinear": bool(np.any(model.primitives["linear"] == 0)),
        "bushings": len(model.bushings) > 0,
        "elements": len(model.forces.elements) > 0,
        "user-forces": bool(np.any(model.forces.elements["shaping"] == kb.USER)),
        "rheonomic": len(model.drives) > 0,
        "corrected": settings.corrected,
        "baumgarte": settings.baumgarte is not None,
        "redundant": len(settings.dropped) > 0,
    }
    return frozenset(out | {name for name, wanted in have.items() if wanted})


_LINE = 8
"""Numbers in a cache line: vector instructions that cross the end of one take twice as long."""


def _in_lines(n_rows: int, n_columns: int, scalar: Any) -> Mat:
    """Zeros; each row begins with a cache line, and ends with one."""
    width = -(-n_columns // _LINE) * _LINE
    room = np.zeros(n_rows * width + _LINE, dtype=scalar)
    start = -room.ctypes.data % (_LINE * 8) // room.itemsize
    out: Mat = room[start : start + n_rows * width].reshape(n_rows, width)
    return out


def _raising(kernel: Callable[..., None]) -> Callable[..., None]:
    """The kernel, and then what the user's Python functions have raised in it."""

    def call(*arguments: Any) -> None:
        kernel(*arguments)
        raise_pending()

    return call


def _drop(primitives: Any, internal: int, rows: tuple[int, ...]) -> None:
    primitives["keep"] = 1
    primitives["whole"] = 1
    for row in rows:
        k = int(np.searchsorted(primitives["row"] - internal, row, side="right")) - 1
        primitives["keep"][k, row - (int(primitives["row"][k]) - internal)] = 0
        primitives["whole"][k] = 0


class Workspace:
    """Owns the arrays behind a block's address; the address is good as long as the workspace lives.

    With a `scalar` other than float64 it is for plain kernels alone, for example complex for complex-step derivatives.
    """

    def __init__(self, model: Model, settings: Settings, scalar: Any = np.float64) -> None:
        self.model = model
        self.settings = settings
        self._scalar = scalar
        self._arrays: dict[str, Any] = {}
        self._has_wide = False
        self.dropped = settings.dropped
        n = model.n
        parents_first = settings.reduced and settings.gauge is None
        self.order = list(model.tree.order) if parents_first else list(range(n))
        rank = np.empty(n + 1, dtype=np.int64)
        rank[self.order] = np.arange(n)
        rank[n] = n
        self.rank = rank
        self.head = np.zeros(1, dtype=kb.HEAD)
        self.plain_memory = PlainMemory(self.head)
        head = self.head
        head["n_bodies"] = n
        head["n_primitives"] = len(model.primitives)
        head["n_bushings"] = len(model.bushings)
        head["n_rows"] = int(model.primitives["n"].sum()) if len(model.primitives) else 0
        head["chart"] = settings.chart.number
        head["chart_internal"] = len(settings.chart.internal)
        head["chart_linear"] = settings.chart.linear
        head["kind"] = settings.kind
        head["momenta"] = settings.momenta
        head["structure"] = settings.reduction
        head["level"] = settings.level
        head["integral"] = settings.integral
        if settings.baumgarte is not None:
            alpha, beta = settings.baumgarte
            head["damping"] = 2.0 * alpha
            head["stiffness"] = beta * beta
        self._lay_out_bodies(rank)
        self._lay_out_joints(rank)
        h = head[0]
        longest = max(int(h["n_q"] + h["n_v"] + h["n_la"]) + _LINE, 2 * (6 * n + int(h["n_rows"]))) + 1
        head["n_vector"] = longest
        self._own("vectors", np.zeros((kb.N_VECTORS, longest), dtype=scalar))
        self._own("block_starts", np.zeros(1, dtype=np.int64))
        self._own("blocks", np.zeros((1, 4), dtype=np.int64))
        self._own("rhs_tangent", np.zeros((1, 1), dtype=scalar))
        self._own("planes", np.zeros((1, 1, 1), dtype=scalar))
        n_v = int(h["n_v"]) if settings.gauge is not None else 1
        matrix = (6 * n, 6) if settings.branches is not None else (n_v, n_v)
        self._own("square_factors", np.zeros(matrix, dtype=scalar))
        self._own("row_exchanges", np.zeros(n_v, dtype=np.int64))
        self._own("velocity_selection", np.zeros((1, 1)))
        self._lay_out_branches(rank)
        if settings.gauge is not None:
            head["n_nu"] = len(settings.gauge.S)
            self.set_gauge(settings.gauge.S)

    # ------------------------------------------------------------ layout

    def _own(self, name: str, array: Any) -> None:
        self._arrays[name] = array
        self.head[name] = array.ctypes.data
        self.plain_memory.own(name, array)

    def _lay_out_bodies(self, rank: Any) -> None:
        model, settings, n = self.model, self.settings, self.model.n
        source = [*self.order, n]
        bodies = model.bodies[source].copy()
        bodies["radial"] *= 1.0 if settings.momenta else settings.radial
        bodies["na"] = settings.chart.n
        bodies["nr"] = _RATES[settings.kind]
        bodies["ni"] = _INTERNAL[settings.kind]
        for name in ("na", "nr", "ni", "nt"):
            bodies[name][n] = 0
        moving = bodies[:n]
        moving["iq"] = np.cumsum(moving["nt"] + moving["na"]) - (moving["nt"] + moving["na"])
        moving["iv"] = np.cumsum(moving["nt"] + moving["nr"]) - (moving["nt"] + moving["nr"])
        moving["il"] = np.cumsum(moving["ni"]) - moving["ni"]
        head = self.head
        head["n_q"] = int((moving["nt"] + moving["na"]).sum())
        head["n_v"] = int((moving["nt"] + moving["nr"]).sum())
        head["n_internal"] = int(moving["ni"].sum())
        head["n_la"] = head["n_internal"] + head["n_rows"]
        if settings.by_tree:
            self._lay_out_tree(moving, rank)
        states = np.zeros(n + 1, dtype=kb.state_dtype(self._scalar))
        for k in range(n + 1):
            states[k]["x"] = bodies[k]["origin"]
            states[k]["d"] = np.eye(3).reshape(9)
            if settings.chart.linear:
                states[k]["D0"][:, : settings.chart.n] = settings.chart.constant_tangent()
            if settings.kind == kb.DIRECTOR_RATE:
                states[k]["B"] = np.eye(9)
                states[k]["V"] = np.kron(bodies[k]["euler_inverse"], np.eye(3))
        self._own("bodies", bodies)
        self._own("states", states)

    def _lay_out_tree(self, moving: Any, rank: Any) -> None:
        model = self.model
        offset = 0
        for k, b in enumerate(self.order):
            parent = model.tree.parent[b]
            moving["inu"][k] = offset
            offset += 3
            if parent < 0:
                offset += int(moving["nt"][k])
                continue
            moving["parent"][k] = rank[parent]
            joint = model.joints[model.tree.joint[b]]
            side = joint.bodies.index(b)
            moving["arm"][k] = joint.points[side]
            moving["parent_arm"][k] = joint.points[1 - side]
        self.head["n_nu"] = offset

    def _lay_out_branches(self, rank: Any) -> None:
        """After the joints, whose rows they name."""
        branches = self.settings.branches
        out = np.zeros(self.model.n if branches is not None else 1, dtype=kb.TREE_VELOCITY)
        self._own("tree_velocities", out)
        if branches is None:
            return
        bodies, primitives = self._arrays["bodies"], self._arrays["primitives"]
        offset = 0
        for k, b in enumerate(self.order):
            branch, parent = branches[b], self.model.tree.parent[b]
            bodies["inu"][k] = offset
            if parent < 0:
                offset += 3 + int(bodies["nt"][k])
                continue
            bodies["parent"][k] = rank[parent]
            equations = [(p, i) for p in branch.primitives for i in range(int(primitives["n"][p]))]
            out["n_rows"][k], out["n_free"][k] = len(equations), len(branch.S)
            for e, (p, i) in enumerate(equations):
                out["primitive"][k, e], out["equation"][k, e], out["row"][k, e] = p, i, int(primitives["row"][p]) + i
                out["side"][k, e] = int(primitives["body"][p, 1] == k)
            out["S"][k, : len(branch.S)] = branch.S
            offset += len(branch.S)
        self.head["n_nu"] = offset

    def _lay_out_joints(self, rank: Any) -> None:
        model, n = self.model, self.model.n
        primitives = model.primitives.copy()
        primitives["body"] = rank[primitives["body"]]
        sizes = primitives["n"]
        internal = int(self.head["n_internal"][0])
        primitives["row"] = internal + np.cumsum(sizes) - sizes
        _drop(primitives, internal, self.settings.dropped)
        incident: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        for k, (a, b) in enumerate(primitives["body"]):
            for side, body in enumerate((a, b)):
                if body < n:
                    incident[body].append((k, side))
        edges = {(p, r) if p <= r else (r, p) for at in incident for i, (p, _) in enumerate(at) for r, _ in at[i:]}
        elimination = eliminate([int(s) for s in sizes], sorted(edges))
        start, column = elimination.start, elimination.column
        slots = {}
        for i in range(len(start) - 1):
            for e in range(start[i], start[i + 1]):
                slots[i, int(column[e])] = e
        pairs = np.zeros(sum(len(at) * (len(at) + 1) // 2 for at in incident), dtype=kb.PAIR)
        e = 0
        for body, at in enumerate(incident):
            for i, (p, first_side) in enumerate(at):
                for r, second_side in at[i:]:
                    pair = pairs[e]
                    e += 1
                    pair["body"], pair["first"], pair["second"] = body, p, r
                    pair["first_side"], pair["second_side"] = first_side, second_side
                    pair["slot"] = -1
                    for u, row in enumerate(elimination.place[p]):
                        for v, col in enumerate(elimination.place[r]):
                            if p == r and v > u:
                                continue
                            pair["slot"][u, v] = slots[max(int(row), int(col)), min(int(row), int(col))]
        total = int(sizes.sum()) if len(sizes) else 0
        inverse = np.zeros(total, dtype=np.int64)
        for k, place in enumerate(elimination.place):
            primitives["slot"][k, : len(place)] = place
            inverse[place] = primitives["row"][k] - internal + np.arange(len(place))
        bushings = model.bushings.copy()
        bushings["body"] = rank[bushings["body"]]
        drives = model.drives.copy()
        forces = model.forces.elements.copy()  # with the memory of this problem alone
        forces["body"] = rank[forces["body"]]
        self.head["n_elements"] = len(forces)
        self.head["n_entries"] = len(model.forces.entries)
        self._own("elements", forces)
        self._own("entries", model.forces.entries)
        self._own("element_memory", np.zeros(1, dtype=kb.element_memory_dtype(self._scalar)))
        self._own("tangent_memory", np.zeros(1, dtype=kb.tangent_memory_dtype(self._scalar)))
        self.head["n_drives"] = len(drives)
        self._own("drives", drives)
        self.head["n_pairs"] = len(pairs)
        self.head["n_factor"] = len(column)
        self._own("primitives", primitives)
        self._own("rows", np.zeros(len(primitives), dtype=kb.row_dtype(self._scalar)))
        self._own("bushings", bushings)
        self._own("pairs", pairs)
        self._own("factor_start", start)
        self._own("factor_column", np.concatenate([column, inverse]).astype(np.int64))
        self._own("factor", np.zeros((2, max(len(column), total)), dtype=self._scalar))
        self._own("pivot_floor", np.zeros(total))

    # ------------------------------------------------------------ use

    @property
    def m(self) -> Any:
        """What compiled kernels take as `m`: the address of the head, or with the JIT off the arrays themselves."""
        return int(self.head.ctypes.data) if ENABLED else self.plain_memory

    @property
    def features(self) -> Features:
        """What the kernels need for this model and formulation: the `when` of stages."""
        return features(self.model, self.settings)

    def compiled(self, kernel: Entry) -> Callable[..., None]:
        """The kernel, compiled for what this model needs and bound to the block."""
        bound = partial(kernel.compiled(self.features), self.m)
        foreign = (*self.model.foreign, *self.model.forces.functions)
        return _raising(bound) if any(function.python for function in foreign) else bound

    def plain(self, kernel: Entry) -> Callable[..., None]:
        """The kernel as plain Python, which takes numbers of any kind, bound to the block.

        With complex or other numbers it needs a workspace with this `scalar`.
        """
        return partial(plain(kernel, self.features), self.plain_memory)

    def sizes(self) -> dict[str, int]:
        """n_q, n_v, n_la, n_internal, n_rows, n_nu."""
        return {name: int(self.head[name][0]) for name in ("n_q", "n_v", "n_la", "n_internal", "n_rows", "n_nu")}

    def make_wide(self) -> None:
        """Room for the Jacobians of the explicit and null-space forms; made once, on demand (it is dense)."""
        if self._has_wide:
            return
        s = self.sizes()
        wide = _in_lines(s["n_v"] + s["n_la"], s["n_q"] + s["n_v"], self._scalar)
        self.head["rhs_tangent_width"] = wide.shape[1]
        self._own("rhs_tangent", wide)
        if self.settings.reduced:
            rows = max(s["n_v"], 9)  # those of the parameters of one body, too
            self.head["n_plane_rows"] = rows
            self._own("planes", np.zeros((kb.N_PLANES, rows, s["n_q"] + s["n_v"]), dtype=self._scalar))
        self._has_wide = True

    @property
    def gauge(self) -> Mat:
        """The gauge of the kernels."""
        out: Mat = self._arrays["velocity_selection"]
        return out

    def set_gauge(self, S: Mat) -> None:
        """The gauge of the kernels from now on."""
        self._own("velocity_selection", S)

    def record(self, jacobian: Entry, y: Vec, yd: Vec) -> Any:
        """The tangent blocks of a Jacobian kernel (row, column, rows, columns), by running it."""
        kernel = jacobian.compiled(self.features)
        dummy = np.zeros((1, 1), dtype=self._scalar)
        self.head["mode"] = kb.RECORD
        try:
            self.head["n_blocks"] = 0
            kernel(self.m, 0.0, y, yd, 1.0, dummy)
            raise_pending()
            n = int(self.head["cursor"][0])
            self.head["n_blocks"] = n
            self._own("blocks", np.zeros((max(n, 1), 4), dtype=np.int64))
            kernel(self.m, 0.0, y, yd, 1.0, dummy)
        finally:
            self.head["mode"] = kb.STRIDED
        return self._arrays["blocks"][:n]

    def drop(self, rows: tuple[int, ...]) -> None:
        """Leave other joint rows out."""
        self.dropped = rows
        _drop(self._arrays["primitives"], int(self.head["n_internal"][0]), rows)

    @property
    def pivots(self) -> Vec:
        """Of the joint equations in the last factorisation, in the order of elimination."""
        out: Vec = np.abs(self._arrays["factor"][1, : len(self.smallest)])
        return out

    @property
    def left_out(self) -> int:
        """How many equations the last factorisation has left out for the moment."""
        return int(np.count_nonzero(self.pivots >= SUSPENDED))

    @property
    def smallest(self) -> Vec:
        """Pivots below which a joint equation is left out for the moment."""
        out: Vec = self._arrays["pivot_floor"]
        return out

    def guard(self, fraction: float) -> None:
        """Leave joint equations out wherever their pivots are below this fraction of those of the last
        factorisation."""
        primitives = self._arrays["primitives"]
        kept = np.zeros(len(self.smallest), dtype=bool)
        for p in primitives:
            kept[p["slot"][: p["n"]]] = p["keep"][: p["n"]] == 1
        self.smallest[:] = np.where(kept, fraction * self.pivots, 0.0)

    def set_starts(self, starts: Any) -> None:
        """Where each column of each block begins in the CSC data."""
        self.head["n_starts"] = len(starts)
        self._own("block_starts", np.ascontiguousarray(starts, dtype=np.int64))

    def singular_row(self) -> int:
        """0, or 1 + the joint row (in the order of the joints) at which the last factorisation broke down."""
        place = int(self.head["singular"][0])
        if place == 0:
            return 0
        n = int(self.head["n_factor"][0])
        return 1 + int(self._arrays["factor_column"][n + place - 1])
