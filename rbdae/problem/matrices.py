"""The matrices of the equations by the names of the null-space paper, at one state; by the equations' own kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae._frozen import brief_repr
from rbdae.compiler.jit import Entry
from rbdae.formulations.table import FORMULATIONS
from rbdae.kernels import matrices as kernels
from rbdae.multibody.block_pattern import BlockPattern, block_pattern
from rbdae.multibody.bound import bound, in_memory
from rbdae.multibody.memory import Code, Memory
from rbdae.multibody.selection import KeptRows
from rbdae.multibody.workspace import Workspace

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


@final
class BlockMatrix:
    """A matrix by a kernel (m, t, y, out) that fills it block by block."""

    def __init__(self, workspace: Workspace, kernel: Entry, n_rows: int, n_columns: int) -> None:
        # a view of its own: where blocks begin in the data belongs to one matrix
        self._workspace = Workspace(workspace.memory, workspace.selection)
        self._kernel = kernel
        self._shape = (n_rows, n_columns)
        self._fill: Callable[..., None] = in_memory(self._workspace, kernel)

    def dense(self, t: float, y: Vec) -> Mat:
        """The matrix as an array."""
        out = np.zeros(self._shape)
        if out.size:
            self._fill(t, y, out)
        return out

    def sparse(self, t: float, y: Vec) -> Any:
        """The matrix as a CSC matrix."""
        from scipy.sparse import csc_matrix

        pattern = self._pattern
        data = np.empty(len(pattern.indices))
        if data.size:
            self._fill(t, y, data.reshape(1, -1))
        return csc_matrix((data, pattern.indices, pattern.pointers), shape=self._shape)

    @cached_property
    def _pattern(self) -> BlockPattern:
        if 0 in self._shape:
            blocks = np.zeros((0, 4), dtype=np.int64)
        else:
            blocks = self._workspace.record(self._kernel, 0.0, np.ones(self._workspace.layout.n))
        pattern = block_pattern(blocks, *self._shape)
        self._workspace.set_starts(pattern.starts)
        return pattern


def _dense(matrix: Matrix) -> Mat:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def _with_all_rows(workspace: Workspace) -> Workspace:
    """A workspace in which no joint row is dropped. The square system of the null-space form has no room for the
    others: its matrices are those of index-0, with the same velocities (xdot, Omega)."""
    selection = workspace.selection.with_rows(KeptRows())
    if not workspace.selection.rows.dropped:
        return workspace
    if not workspace.settings.reduced:
        return workspace.with_selection(selection)
    settings = replace(
        workspace.settings, formulation=FORMULATIONS["index-0"], structure="any", n_independent=0, redundant=False
    )
    code: Code = "generic" if workspace.memory.code == "generic" else "plain"
    return Workspace(Memory.of(workspace.model, settings, code=code), replace(selection, velocities=None))


@final
class MatrixView:
    """Makes the matrices of one problem."""

    def __init__(self, of: Workspace) -> None:
        self._of = of.layout
        workspace = _with_all_rows(of)
        self._unreduced = workspace.settings is not of.settings
        layout = workspace.layout
        self._n_v, self._n_la, n_q = layout.n_velocities, layout.n_constraints, layout.q.stop
        self._terms = bound(workspace, kernels.terms)
        self._M = BlockMatrix(workspace, kernels.mass_matrix, self._n_v, self._n_v)
        self._K = BlockMatrix(workspace, kernels.kinematic_matrix, n_q, self._n_v)
        self._GT = BlockMatrix(workspace, kernels.transposed_gradient, self._n_v, self._n_la)
        self._W = BlockMatrix(workspace, kernels.force_directions, self._n_v, self._n_la)
        self._forms = workspace.settings.forms

    def at(self, t: float, y: Vec, sparse: bool | None, reduced: tuple[Vec, Mat] | None) -> Matrices:
        """At one state; `sparse` says how M, G and K come (None: by size), `reduced` has w, T of null space."""
        n = self._n_la
        nu = y[self._of.v]
        if self._unreduced and reduced is not None:
            y = np.concatenate([y[self._of.q], reduced[0], y[self._of.s]])
        terms = np.empty(3 * n + self._n_v)
        self._terms(t, y, terms)
        if self._n_v > _LARGE if sparse is None else sparse:
            M, GT, K = self._M.sparse(t, y), self._GT.sparse(t, y), self._K.sparse(t, y)
            W = self._W.sparse(t, y) if self._forms else GT
        else:
            M, GT, K = self._M.dense(t, y), self._GT.dense(t, y), self._K.dense(t, y)
            W = self._W.dense(t, y) if self._forms else GT
        T, r = None, None
        if reduced is not None:
            w, T = reduced
            r = T @ nu - w
        return Matrices(M, GT.T, K, terms[:n], terms[n : 2 * n], terms[2 * n : 3 * n], terms[3 * n :], W, T, r)
