"""The matrices of the equations by the names of the null-space paper, at one state; by the equations' own kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae._frozen import brief_repr
from rbdae.formulations import null_space
from rbdae.formulations.table import FORMULATIONS
from rbdae.graph.derivatives import tangents
from rbdae.kernels.matrices import terms
from rbdae.multibody.choices.selection import KeptRows
from rbdae.multibody.memory.memory import Memory
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.in_python import Recordings, in_python
from rbdae.multibody.recorded.recording import MOST_NODES, Point, Recording, run

if TYPE_CHECKING:
    from scipy.sparse import spmatrix

Matrix: TypeAlias = "Mat | spmatrix"

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


@final
class MatrixView:
    """Makes the matrices of one problem, by the derivatives of what `rbdae.kernels.matrices` records; in Python, since
    a few readings are not worth machine code."""

    def __init__(self, of: Workspace) -> None:
        self._of, self._workspace = of, _with_all_rows(of)
        self._recordings = Recordings(self._workspace, self._recorded)
        self._motion = in_python(of, null_space.motion) if of.settings.reduced else None

    def at(self, t: float, y: Vec, sparse: bool | None) -> Matrices:
        """At one state; `sparse` says how M, G and K come (None: by size)."""
        layout, of = self._workspace.layout, self._of.layout
        n_v, n_la, n_q = layout.n_velocities, layout.n_constraints, layout.q.stop
        T, r = None, None
        if self._motion is not None:
            nu = y[of.v]
            motion = np.empty(n_v * (1 + len(nu)))
            self._motion(t, y, motion)
            w, T = motion[:n_v], motion[n_v:].reshape(n_v, -1)
            r = T @ nu - w
            if self._workspace.settings is not self._of.settings:
                y = np.concatenate([y[of.q], w, y[of.s]])
        sparse = n_v > _LARGE if sparse is None else sparse
        found, places = self._recordings.at(t, y, np.zeros(2 * n_v + n_la))
        values = np.array(found, dtype=float)
        ends = np.cumsum([n_la, n_la, n_la, n_v, *(len(rows) for rows, _ in places)])[:-1]
        g, g_I, g_II, psi, *entries = np.split(values, ends)
        shapes = (n_q, n_v), (n_v, n_v), (n_v, n_la), (n_la, n_v)
        K, M, W, G = map(partial(_matrix, sparse), shapes, places, entries)
        return Matrices(M, G, K, g, g_I, g_II, psi, W, T, r)

    def _recorded(self, point: Point) -> tuple[Recording, list[tuple[Ints, Ints]]]:
        """What the kernel records at a state: (g, g_I, g_II, psi) and the entries of K, M, W and G, which are at these
        rows and columns."""
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
        return ran.recording(nodes), places


def _matrix(sparse: bool, shape: tuple[int, int], places: tuple[Ints, Ints], values: Vec) -> Matrix:
    if sparse:
        from scipy.sparse import csc_matrix

        return csc_matrix((values, places), shape=shape)
    out = np.zeros(shape)
    out[places] = values
    return out
