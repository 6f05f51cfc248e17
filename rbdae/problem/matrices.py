"""The matrices of the equations by the names of the null-space paper, at one state; by the equations' own kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae._frozen import brief_repr
from rbdae.formulations.table import FORMULATIONS
from rbdae.kernels import matrices as kernels
from rbdae.multibody.bound import bound
from rbdae.multibody.memory import Memory
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
    return Workspace(Memory.of(workspace.model, settings), replace(selection, velocities=None))


def _parts(x: Vec, shape: tuple[int, ...], *blocks: tuple[int, int]) -> list[Any]:
    """Blocks of these shapes, one after the other in each part of x, (*shape, *block) each."""
    sizes = np.cumsum([m * n for m, n in blocks])
    parts = np.split(x.reshape(*shape, sizes[-1]), sizes[:-1], axis=-1)
    return [part.reshape(*shape, *block) for part, block in zip(parts, blocks, strict=True)]


class _Places(NamedTuple):
    """The entries of equal blocks in a matrix, each with its place among the numbers of the blocks."""

    rows: Ints
    columns: Ints
    taken: Ints

    @classmethod
    def of(cls, rows: Any, columns: Any, block: tuple[int, int], where: Any = True) -> Self:
        """Those of blocks that begin at `rows` and `columns`, (...), where their entries exist."""
        shape = (*rows.shape, *block)
        i = np.broadcast_to(rows[..., None, None] + np.arange(block[0])[:, None], shape)
        j = np.broadcast_to(columns[..., None, None] + np.arange(block[1]), shape)
        exist = np.broadcast_to(where, shape)
        return cls(i[exist], j[exist], np.flatnonzero(exist))


def _matrix(shape: tuple[int, int], sparse: bool, places: Sequence[_Places], *blocks: Any) -> Matrix:
    """The matrix of some blocks, no two of which have an entry at one place."""
    rows, columns = (np.concatenate([each[k] for each in places]) for k in range(2))
    values = np.concatenate([block.ravel()[each.taken] for each, block in zip(places, blocks, strict=True)])
    if sparse:
        from scipy.sparse import csc_matrix

        return csc_matrix((values, (rows, columns)), shape=shape)
    out = np.zeros(shape)
    out[rows, columns] = values
    return out


@final
class MatrixView:
    """Makes the matrices of one problem."""

    def __init__(self, of: Workspace) -> None:
        self._of = of.layout
        workspace = _with_all_rows(of)
        self._unreduced = workspace.settings is not of.settings
        self._layout, self._spatial = workspace.layout, workspace.settings.spatial != 0
        o, p = workspace.arrays["bodies"][:-1], workspace.arrays["primitives"]
        nr, na, ni = (int(o[name][0]) for name in ("nr", "na", "ni"))
        self._size = nr, na, ni
        self._of_side = 1 + workspace.settings.forms  # Gw of a side, and W
        self._terms = bound(workspace, kernels.terms)
        free = o[o["nt"] == 3]
        self._masses, diagonal = free["mass"][:, None, None] * np.eye(3), np.eye(3, dtype=bool)
        # the bodies of both sides of the primitives; any in place of the ground, of which there is nothing
        self._beside = body = np.minimum(p["body"], len(o) - 1)
        x, w = o["iv"], o["iv"] + o["nt"]
        self._w = w
        self._M = _Places.of(free["iv"], free["iv"], (3, 3), diagonal), _Places.of(w, w, (nr, nr))
        rates = True if ni == 0 else np.eye(nr, dtype=bool)
        of_K = _Places.of(o["iq"] + o["nt"], w, (na, nr), rates)
        self._K = _Places.of(free["iq"], free["iv"], (3, 3), diagonal), of_K
        there = (p["body"] < len(o))[..., None, None] & (np.arange(3) < p["n"][:, None])[:, None, :, None]
        translating = there & (o["nt"][body] == 3)[..., None, None]
        translating = translating & (diagonal | (p["linear"] == 0)[:, None, None, None])
        la = np.broadcast_to(p["row"][:, None], body.shape)
        G = (
            _Places.of(o["il"], w, (ni, nr)),
            _Places.of(la, x[body], (3, 3), translating),
            _Places.of(la, w[body], (3, nr), there),
        )
        self._GT = [_Places(each.columns, each.rows, each.taken) for each in G]

    def at(self, t: float, y: Vec, sparse: bool | None, reduced: tuple[Vec, Mat] | None) -> Matrices:
        """At one state; `sparse` says how M, G and K come (None: by size), `reduced` has w, T of null space."""
        nu = y[self._of.v]
        if self._unreduced and reduced is not None:
            y = np.concatenate([y[self._of.q], reduced[0], y[self._of.s]])
        n_v, n_la, n_q = self._layout.n_velocities, self._layout.n_constraints, self._layout.q.stop
        sparse = n_v > _LARGE if sparse is None else sparse
        n, sides = len(self._w), self._beside.shape
        nr, na, ni = self._size
        of_body, of_side = [(3, 3), (nr, nr), (na, nr), (ni, nr)], [(3, 3), *[(3, nr)] * self._of_side]
        a_body, a_side = (sum(i * j for i, j in blocks) for blocks in (of_body, of_side))
        sizes = n_la, n_la, n_la, n_v, n * a_body, sides[0] * 2 * a_side
        out = np.empty(sum(sizes))
        self._terms(t, y, out)
        g, g_I, g_II, psi, in_bodies, in_joints = np.split(out, np.cumsum(sizes[:-1]))
        d, M, K, G_int = _parts(in_bodies, (n,), *of_body)
        Gx, *Gw = _parts(in_joints, sides, *of_side)
        if self._spatial:  # R J R^T, K R^T, G R^T, R psi
            R, of_w = np.swapaxes(d, 1, 2), self._w[:, None] + np.arange(3)
            psi[of_w] = (R @ psi[of_w][..., None])[..., 0]
            M, K, Gw = R @ M @ d, K @ d, [G @ d[self._beside] for G in Gw]
        GT, *W = (_matrix((n_v, n_la), sparse, self._GT, G_int, Gx, G) for G in Gw)
        T, r = None, None
        if reduced is not None:
            w, T = reduced
            r = T @ nu - w
        return Matrices(
            _matrix((n_v, n_v), sparse, self._M, self._masses, M),
            GT.T,
            _matrix((n_q, n_v), sparse, self._K, np.broadcast_to(np.eye(3), self._masses.shape), K),
            *(g, g_I, g_II, psi),
            *(W[0] if W else GT, T, r),
        )
