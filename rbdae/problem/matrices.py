"""The matrices of the equations by the names of the null-space paper, at one state; by the equations' own kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae._frozen import brief_repr
from rbdae.formulations.table import FORMULATIONS
from rbdae.graph.derivatives import tangents
from rbdae.graph.in_python import InPython
from rbdae.kernels.matrices import terms
from rbdae.multibody.choices.selection import KeptRows
from rbdae.multibody.memory.memory import Memory
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.recording import MOST_NODES, run

if TYPE_CHECKING:
    from scipy.sparse import spmatrix

Matrix: TypeAlias = "Mat | spmatrix"

_MOST = 8
"""Recordings that are kept."""

_LARGE = 300
"""M, G and K of more velocities are sparse by default."""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Matrices:
    """M, G, K and what stands beside them in [NS] (1)-(6), for the velocities v of a problem:

        M vdot - psi + W la = 0,    W = G^T,    qdot = K v
        g = 0,    G v + g_I = 0,    G vdot + g_II = 0

    The constraints are the internal ones of the bodies, then the joints; equations that follow from others have their
    rows, too. All la of one motion satisfy M vdot = psi - W la: those of `Problem.rates` and ``y0``, which are zero in
    the rows that are left out, and those of least norm.
    `gyroscopic` and `pull_back` of `rbdae.formulate` change psi and the joints' columns of W, on the constraints by
    multiples of p. Projected forms show [SNS15] (23), before the projection, with la = 0 for the norms. With momenta
    p = M v: v = qdot, psi = -dH/dq, and vdot stands for M^-1 pdot. The null-space form has v = (xdot, Omega) of all
    bodies and, [NS] (7)-(11),

        v = T nu - r,    G T = 0,    qdot = K (T nu - r),    T^T (M vdot - psi) = 0

    With ``velocity="spatial"`` v = (xdot, omega) in all forms: M has R J R^T, G and K have R^T behind them, psi has R
    before it. The residual keeps its dynamics in the bodies' frames: its rows are R^T times these.

    Attributes
    ----------
    M : (n_v, n_v), of large systems a sparse matrix
    G : (n_la, n_v), likewise
    K : (n_q, n_v), likewise
    W : (n_v, n_la), likewise: the directions of the constraints' forces, G^T but for other values of `pull_back`
    g, g_I, g_II : (n_la,)
    psi : (n_v,)
    T : (n_v, n_nu), None for other forms than the null-space ones
    r : (n_v,), None likewise
        [G; S]^-1 (g_I, 0): the velocity whose independent ones, nu = S v, vanish is -r. That of the paper is
        `least_r`: another nu, the same motion.
    """

    M: Matrix
    G: Matrix
    K: Matrix
    g: Vec
    g_I: Vec
    g_II: Vec
    psi: Vec
    W: Matrix
    T: Mat | None = None
    r: Vec | None = None

    __repr__ = brief_repr

    @property
    def least_r(self) -> Vec:
        """r = G^# g_I of [NS] (8), (n_v,): -r is the least velocity with G v + g_I = 0, in the Euclidean norm of the
        numbers v. With coordinate velocities, v = qdot, it is the paper's. Zero where no constraint moves."""
        return np.asarray(np.linalg.lstsq(_dense(self.G), self.g_I, rcond=None)[0])

    @property
    def saddle(self) -> Mat:
        """[M G^T; G 0], (n_v + n_la, n_v + n_la), of [NS] (4)."""
        M, G = _dense(self.M), _dense(self.G)
        return np.block([[M, G.T], [G, np.zeros((len(G), len(G)))]])

    @property
    def reduced_mass(self) -> Mat:
        """T^T M T, (n_nu, n_nu), of [NS] (11).

        Raises
        ------
        ValueError
            for other forms than the null-space ones
        """
        if self.T is None:
            raise ValueError("reduced_mass: only null-space forms have T; formulate the system with 'null-space'")
        return np.asarray(self.T.T @ (self.M @ self.T))


def _dense(matrix: Matrix) -> Mat:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def _with_all_rows(workspace: Workspace) -> Workspace:
    """A workspace in which no joint row is dropped. The square system of the null-space form has no room for the
    others: its matrices are those of index-0, with the same velocities (xdot, Omega)."""
    selection = replace(workspace.selection, rows=KeptRows())
    if not workspace.selection.rows.dropped:
        return workspace
    if not workspace.settings.reduced:
        return workspace.with_selection(selection)
    settings = replace(
        workspace.settings, formulation=FORMULATIONS["index-0"], structure="any", n_independent=0, redundant=False
    )
    return Workspace(Memory.of(workspace.model, settings), replace(selection, velocities=None))


class _Recorded(NamedTuple):
    """What the kernel has recorded, where its guards fall so: its values and the entries of K, M, W and G, which are at
    these rows and columns."""

    function: InPython
    falls: list[bool]
    places: list[tuple[Ints, Ints]]


@final
class MatrixView:
    """Makes the matrices of one problem, by the derivatives of what `rbdae.kernels.matrices` records."""

    def __init__(self, of: Workspace) -> None:
        self._of, self._workspace = of.layout, _with_all_rows(of)
        self._unreduced = self._workspace.settings is not of.settings
        self._known: list[_Recorded] = []

    def at(self, t: float, y: Vec, sparse: bool | None, reduced: tuple[Vec, Mat] | None) -> Matrices:
        """At one state; `sparse` says how M, G and K come (None: by size), `reduced` has w, T of null space."""
        nu = y[self._of.v]
        if self._unreduced and reduced is not None:
            y = np.concatenate([y[self._of.q], reduced[0], y[self._of.s]])
        layout = self._workspace.layout
        n_v, n_la, n_q = layout.n_velocities, layout.n_constraints, layout.q.stop
        sparse = n_v > _LARGE if sparse is None else sparse
        values, places = self._values(t, y)
        ends = np.cumsum([n_la, n_la, n_la, n_v, *(len(rows) for rows, _ in places)])[:-1]
        g, g_I, g_II, psi, *entries = np.split(values, ends)
        shapes = (n_q, n_v), (n_v, n_v), (n_v, n_la), (n_la, n_v)
        K, M, W, G = map(partial(_matrix, sparse), shapes, places, entries)
        T, r = None, None
        if reduced is not None:
            w, T = reduced
            r = T @ nu - w
        return Matrices(M, G, K, g, g_I, g_II, psi, W, T, r)

    def _values(self, t: float, y: Vec) -> tuple[Vec, list[tuple[Ints, Ints]]]:
        """(g, g_I, g_II, psi) and the entries, with their places."""
        layout, selection = self._workspace.layout, self._workspace.numbers
        x = np.zeros(2 * layout.n_velocities + layout.n_constraints)
        inputs = {"t": [t], "y": y, "yd": x, "c": [0.0], "selection": selection}
        for known in self._known:
            values = known.function(inputs)
            if [*map(bool, values[: len(known.falls)])] == known.falls:
                break
        else:
            known = self._recorded((t, y, x, 0.0))
            self._known = [known, *self._known[: _MOST - 1]]
            values = known.function(inputs)
        return np.array(values[len(known.falls) :], dtype=float), known.places

    def _recorded(self, point: tuple[float, Vec, Vec, float]) -> _Recorded:
        """The recording at a state."""
        layout = self._workspace.layout
        n_v, n_la, n_q = layout.n_velocities, layout.n_constraints, layout.q.stop
        n = 3 * n_la + n_v
        sizes = n_q, n_v, n_v, n_la
        ran = run(self._workspace, terms, {"out": (n + sum(sizes),)}, point, MOST_NODES)
        recorder, g = ran.recorder, ran.recorder.graph
        outputs = ran.nodes(ran.out)
        one = g.const(1.0)
        x = [symbol.node for symbol in recorder.inputs("yd")]
        rows = iter(tangents(g, outputs[n:], {node: {j: one} for j, node in enumerate(x)}))
        nodes, places = outputs[:n], []
        for size, first in zip(sizes, (0, n_v, 2 * n_v, 0), strict=True):
            entries = [(i, j - first, node) for i in range(size) for j, node in sorted(next(rows).items())]
            nodes += [node for *_, node in entries]
            found = np.array([each[:2] for each in entries], dtype=np.int64).reshape(-1, 2)
            places.append((found[:, 0], found[:, 1]))
        functions = [function.plain for function in recorder.functions]
        return _Recorded(InPython(g, [*recorder.guards, *nodes], functions), [*recorder.guards.values()], places)


def _matrix(sparse: bool, shape: tuple[int, int], places: tuple[Ints, Ints], values: Vec) -> Matrix:
    """The matrix of these entries."""
    if sparse:
        from scipy.sparse import csc_matrix

        return csc_matrix((values, places), shape=shape)
    out = np.zeros(shape)
    out[places] = values
    return out
