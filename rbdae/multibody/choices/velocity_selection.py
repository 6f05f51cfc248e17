"""Independent velocities nu = S (xdot, Omega) of systems with loops: how S is selected from the null space of G.

S is constant, and good where T = [G; S]^-1 [0; I] is of moderate size. It is chosen from the null space of G and
prefers angular velocities: they are expressed in body frames, so the choice for a crank is as well conditioned after
half a turn as at the start. With spatial velocities nu = S (xdot, omega), which is so for axes that rest.

Of large systems G is sparse. Their null space is what the orthogonal projector I - A^T (A A^T)^-1 A leaves of arbitrary
vectors, by a sparse factorisation: it is the same space, and S depends on nothing else. Where many velocities are
independent, each is one of one body, or [G; S] would not be sparse: they are the columns that an elimination with
pivoting leaves. In the order of minimum degree of the bodies' graph, the rows at a body are eliminated by its columns;
a row whose entries at the body are small against its others waits for another body, as do the columns that it needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Bools, Ints, Mat, Vec
from rbdae.multibody.choices.selection import IndependentVelocities
from rbdae.multibody.system.graph import eliminate
from rbdae.multibody.system.model import Model

_SMALL = 0.1
"""A pivot is at least this fraction of the largest entry of its row."""

DEPENDENT = 3e-7
"""Entries, in rows of size one, below which a row has nothing left: it follows from others."""


class DependentRows(ValueError):
    """A row of a matrix follows from others; `row` is its number."""

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row} follows from others")
        self.row = row


class _Row(NamedTuple):
    columns: Ints
    values: Vec


def independent_columns(A: Any, body: Ints, first: Vec) -> Ints:
    """The columns, in their order, that depend on nothing in A x = 0: as many as there are more columns than rows.

    Parameters
    ----------
    A : sparse matrix by rows, of size one
    body : (columns,) the body of each column
    first : (columns,) weights of columns as pivots: large ones are eliminated first

    Raises
    ------
    DependentRows
        A row follows from others.
    """
    spans = zip(A.indptr[:-1], A.indptr[1:], strict=True)
    rows = {i: _Row(A.indices[s:e], A.data[s:e]) for i, (s, e) in enumerate(spans)}
    home, n = body.copy(), int(body.max()) + 1
    at: list[set[int]] = [set() for _ in range(n)]
    edges: set[tuple[int, int]] = set()
    for i, row in rows.items():
        met = np.unique(home[row.columns]).tolist()
        edges.update((a, b) for a in met for b in met if a < b)
        for b in met:
            at[b].add(i)
    place = np.array([int(p[0]) for p in eliminate([1] * n, sorted(edges))])
    found: list[Ints] = []
    for b in np.argsort(place).tolist():
        numbers = sorted(at[b])
        columns = np.unique(np.concatenate([np.flatnonzero(home == b), *(rows[i].columns for i in numbers)]))
        M = np.zeros((len(numbers), len(columns)))
        for k, i in enumerate(numbers):
            M[k, np.searchsorted(columns, rows[i].columns)] = rows[i].values
        own = home[columns] == b
        left, free = _eliminated(M, own, first[columns])
        waiting = free & np.any(np.abs(M[left]) > DEPENDENT, axis=0)  # the others are in no row that is left
        found.append(columns[free & ~waiting])
        kept = (~own | waiting) & np.any(M[left] != 0.0, axis=0)
        homes = [a for a in np.unique(home[columns[kept]]).tolist() if a != b]
        after = min(homes, key=lambda a: int(place[a])) if homes else b
        home[columns[waiting]] = after
        for k, i in enumerate(numbers):
            for a in np.unique(home[rows[i].columns]).tolist():
                at[a].discard(i)
            if not left[k]:
                continue
            there = kept & (M[k] != 0.0)
            if np.max(np.abs(M[k, there]), initial=0.0) <= DEPENDENT:
                raise DependentRows(i)
            rows[i] = _Row(columns[there], M[k, there])
            for a in np.unique(home[rows[i].columns]).tolist():
                at[a].add(i)
    return np.sort(np.concatenate(found))


def _eliminated(M: Mat, own: Bools, first: Vec) -> tuple[Bools, Bools]:
    """Eliminate rows of M by columns that are `own`; the rows that are left, and the own columns that are no pivots."""
    left, free = np.ones(len(M), dtype=bool), own.copy()
    while left.any() and free.any():
        sizes = np.abs(M)
        good = left[:, None] & free & (sizes >= _SMALL * sizes.max(axis=1)[:, None]) & (sizes > DEPENDENT)
        measure = np.where(good, sizes * first, 0.0)
        best = measure.max()
        if best == 0.0:
            break
        i, j = np.unravel_index(int(np.argmax(measure >= (1.0 - _TIE) * best)), M.shape)
        left[i], free[j] = False, False
        M[left] -= np.outer(M[left, j] / M[i, j], M[i])
        M[left, j] = 0.0
    return left, free


# directions of motion of which less than this is rotation are measured by the velocities of points
_ROTATES = 0.01

# arms over the model's length that are no length of a body
_SHORT = 1e-6

# independent velocities of a sparse matrix up to which each of them may be one of all bodies
MOST_DENSE = 8

# pivots of rotations wait for those of displacements that are smaller by this factor, so that rotations are left
_LATER = 0.1

# a rotation that is faster than independent velocities by this factor takes the place of one of them, at most so often
_MORE = 2.0
_EXCHANGES = 10

# each leaves of what is outside of the null space the rounding of the factorisation
_PROJECTIONS = 3

# axes whose shares differ by less are equally good: the first one counts, whatever rounding says
_TIE = 1e-6


@final
@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """How velocities are compared: `scale` (nv,) is a length for xdot and 1 for Omega; `turning` marks Omega,
    `moving` (6 n,) what is a velocity at all (not that of a pivot). `reach` (nv,) is the length of each body for its
    xdot, and 1 for Omega."""

    scale: Vec
    reach: Vec
    turning: Bools
    moving: Bools

    @property
    def length(self) -> float:
        """The length of the mechanism; 1 where nothing but pivots is there."""
        return float(self.scale[~self.turning].max(initial=0.0)) or 1.0

    def sizes(self, T: Mat) -> Vec:
        """The sizes of the columns of T."""
        return np.asarray(np.linalg.norm(T / self.scale[:, None], axis=0))

    def null_space(self, G: Any, n_nu: int) -> Mat:
        """Orthonormal basis (nv, nnu), in velocities over `scale`, of a matrix (rows, nv), dense or sparse.

        Raises
        ------
        DependentRows
            The rows of a sparse matrix are dependent.
        """
        if not isinstance(G, np.ndarray):
            return _sparse_null_space(_unit_rows(G, self.scale), n_nu)
        A = G * self.scale
        A = A / np.linalg.norm(A, axis=1, keepdims=True).clip(1e-300)
        return np.asarray(np.linalg.svd(A)[2][len(self.scale) - n_nu :].T)

    def select(self, G: Any, n_nu: int) -> IndependentVelocities:
        """Good independent velocities for the joints' matrix G (rows, 6 n), or a sparse one (rows, nv).

        Raises
        ------
        DependentRows
            The rows of a sparse matrix are dependent.
        """
        if not isinstance(G, np.ndarray) and n_nu > MOST_DENSE:
            return self._columns(G)
        N = self.null_space(G[..., self.moving] if isinstance(G, np.ndarray) else G, n_nu)
        S = np.zeros(N.shape[::-1])
        turning = N[self.turning]
        U, s, Vt = np.linalg.svd(turning, full_matrices=turning.shape[0] < turning.shape[1])
        r = int(np.count_nonzero(s > _ROTATES))
        S[:r, self.turning] = _along_axes(U[:, :r]).T
        if r < len(S):
            S[r:, ~self.turning] = _along_axes(np.linalg.qr(N[~self.turning] @ Vt[r:].T)[0]).T
        # rows of S are of one unit each: N is T over `scale`, so S N is S T over those of the rows
        units = np.where(S[:, self.turning].any(axis=1), 1.0, self.length)
        sizes = np.linalg.norm(N @ np.linalg.inv(S @ N), axis=0) / units
        S.flags.writeable = False
        return IndependentVelocities(S, sizes)

    def _columns(self, G: Any) -> IndependentVelocities:
        """Independent velocities of a sparse matrix of which each is a component of one body."""
        from scipy.sparse import csr_matrix, vstack
        from scipy.sparse.linalg import splu

        n_v = len(self.scale)
        body = np.flatnonzero(self.moving) // 6
        free = independent_columns(_unit_rows(G, self.reach), body, np.where(self.turning, _LATER, 1.0))
        d = len(free)
        units = csr_matrix((np.ones(d), free, np.arange(d + 1)), shape=(d, n_v))
        sides = np.eye(n_v, d, d - n_v)
        T = splu(vstack([_unit_rows(G, np.ones(n_v)), units]).tocsc()).solve(sides)
        _exchange(T, free, np.flatnonzero(self.turning))
        S = np.zeros((d, n_v))
        S[np.arange(d), free] = 1.0
        S.flags.writeable = False
        return IndependentVelocities(S, self.sizes(T))


def spatial_columns(G: Mat, R: Mat) -> Mat:
    """G (rows, 6 n) with respect to (xdot, omega) of all bodies in place of (xdot, Omega); R (n, 3, 3)."""
    out = G.copy()
    for b, turn in enumerate(R):
        out[:, 6 * b + 3 : 6 * b + 6] = G[:, 6 * b + 3 : 6 * b + 6] @ turn.T
    return out


def sparse_matrix(gradients: Mat, bodies: Ints, moving: Bools) -> Any:
    """G (rows, nv), sparse, of gradients (rows, 2, 6) by the two bodies (rows, 2) of each equation, the ground last."""
    from scipy.sparse import csr_matrix

    columns = (6 * bodies[:, :, None] + np.arange(6)).reshape(-1)
    shape = len(gradients), len(moving) + 6
    G = csr_matrix((gradients.reshape(-1), columns, np.arange(0, 12 * len(gradients) + 1, 12)), shape=shape).tocsc()
    return G[:, np.flatnonzero(moving)]


def _along_axes(Q: Mat) -> Mat:
    """Another orthonormal basis of the columns of Q, which depends on the space that they span alone.

    A singular value decomposition gives any basis where values are equal, and any sign. Here one vector after the other
    is the projection of the axis that has the largest one, and what is left is orthogonal to it.
    """
    out = np.empty_like(Q)
    for k in range(Q.shape[1]):
        share = np.sum(Q * Q, axis=1)
        axis = int(np.argmax(share >= (1.0 - _TIE) * share.max()))
        along = Q[axis] / np.linalg.norm(Q[axis])
        out[:, k] = Q @ along
        Q = Q - np.outer(out[:, k], along)
    return out


def _exchange(T: Mat, free: Ints, rows: Ints) -> None:
    """Exchange independent components for those of `rows` that move much more than they, in T and in `free`: the
    determinant of the independent rows of T grows each time."""
    for _ in range(_EXCHANGES * len(free)):
        sizes = np.abs(T[rows])
        most = sizes.max(initial=0.0)
        if most <= _MORE:
            return
        i, j = np.unravel_index(int(np.argmax(sizes >= (1.0 - _TIE) * most)), sizes.shape)
        row = T[rows[i]].copy()
        row[j] -= 1.0
        T -= np.outer(T[:, j] / (row[j] + 1.0), row)
        free[j] = rows[i]


def _unit_rows(G: Any, scale: Vec) -> Any:
    """A sparse matrix for velocities over `scale`, with rows of size one."""
    from scipy.sparse import diags

    A = (G @ diags(scale)).tocsr()
    sizes = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel())
    return (diags(1.0 / sizes.clip(1e-300)) @ A).tocsr()


def _sparse_null_space(A: Any, n_nu: int) -> Mat:
    """The null space of a sparse matrix of rows of size one, from arbitrary vectors that are the same each time."""
    from scipy.sparse import diags  # slow imports, which small systems do not need
    from scipy.sparse.linalg import splu

    # a shift below rounding, so that no pivot is zero: it is refused below
    K = (A @ A.T + diags(np.full(A.shape[0], np.finfo(float).eps))).tocsc()
    factors = splu(K, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    weak = np.flatnonzero(~(np.abs(factors.U.diagonal()) > DEPENDENT**2))
    if len(weak):
        raise DependentRows(int(np.argsort(factors.perm_c)[weak[0]]))
    N = np.random.default_rng(0).standard_normal((A.shape[1], n_nu))
    for _ in range(_PROJECTIONS):
        N = np.linalg.qr(N - A.T @ factors.solve(A @ N))[0]
    return np.asarray(N)


def metric(model: Model) -> Metric:
    """The metric by the model's length."""
    free = (model.bodies["nt"][: model.n] == 3).tolist()
    turning = np.array([x for moves in free for x in [False] * (3 * moves) + [True] * 3])
    moving = np.array([x for moves in free for x in [moves] * 3 + [True] * 3])
    length = model.scales.length
    arms = [0.0] * (model.n + 1)
    for joint in model.joints:
        for b, point in zip(joint.bodies, joint.points, strict=True):
            arms[b] = max(arms[b], float(np.linalg.norm(point)))
    reach = np.repeat([arm if arm > _SHORT * length else length for arm in arms[:-1]], [3 * f + 3 for f in free])
    return Metric(np.where(turning, 1.0, length), np.where(turning, 1.0, reach), turning, moving)
