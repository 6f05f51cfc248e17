"""The joint rows that are kept where some follow from others: ranks, strength of a choice, multipliers of least norm.

Rows are compared as directions in the space of velocities over the model's length
(`rbdae.multibody.system.model.Scales`), so that no choice depends on the unit of length.
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.multibody.choices.selection import KeptRows
from rbdae.multibody.system.model import Model

RANK_TOLERANCE = 1e-8
"""Singular values below this fraction of the largest count as zero."""

SUSPENDED_FROM = 1e-8
"""A joint row is suspended while its pivot is below this fraction of what it was where the row was selected."""

WEAKENED = 0.25
"""Other rows are selected when the strength of the kept ones has fallen to this fraction."""

_EARLIER = 1e-4
"""Of rows that are equally good the earlier one is kept: by this fraction the last row counts less than the first."""


def unit_rows(model: Model, G: Mat) -> Mat:
    """G (..., rows, 6 n) for velocities over the model's length, with rows scaled to one; rows of zeros stay."""
    A = model.scales.columns(G)
    scale = np.linalg.norm(A, axis=-1, keepdims=True)
    scale[scale == 0.0] = 1.0
    return np.asarray(A / scale)


def kept_rows(model: Model, G: Mat) -> KeptRows:
    """The joint rows that are kept of G (rows, 6 n) at the start."""
    dropped = redundant_rows(model, G)
    if not dropped:
        return KeptRows()
    return KeptRows(dropped, strength(model, G, dropped), float(closeness(model, G, len(dropped))))


def redundant_rows(model: Model, G: Mat, prefer_trees: bool = True, at_least: int = 0) -> tuple[int, ...]:
    """Joint rows of G (rows, 6 n) that follow from the others, by QR factorisations with pivoting.

    Joints that close loops give way: rows of a tree stay independent while it moves, but a tree joint that has lost
    rows to a loop can become singular elsewhere (a hinge that keeps one of its two angles turns out of it). With
    `prefer_trees=False` the best conditioned subset at this state is kept; at least `at_least` rows are dropped,
    because drift hides exact redundancy from the rank test.
    """
    if G.shape[0] == 0:
        return ()
    from scipy.linalg import qr  # a slow import, which trees do not need

    A = unit_rows(model, G)
    A *= np.linspace(1.0, 1.0 - _EARLIER, len(A))[:, None]
    sizes = model.joint_rows
    closing = np.repeat(np.isin(np.arange(len(sizes)), list(model.tree.closing)), sizes)
    basis: Mat = np.zeros((G.shape[1], 0))
    dropped: list[int] = []
    parts = (np.flatnonzero(~closing), np.flatnonzero(closing)) if prefer_trees else (np.arange(len(A)),)
    for part in parts:
        if not part.size:
            continue
        rest = A[part]
        for _ in range(2):  # twice is enough against rounding
            rest = rest - (rest @ basis) @ basis.T
        Q, R, pivot = qr(rest.T, mode="economic", pivoting=True)
        rank = int(np.sum(np.abs(np.diag(R)) > RANK_TOLERANCE))
        if not prefer_trees:
            rank = min(rank, len(A) - at_least)
        basis = np.concatenate([basis, Q[:, :rank]], axis=1)
        dropped += [int(k) for k in part[pivot[rank:]]]
    return tuple(sorted(dropped))


def strength(model: Model, G: Mat, dropped: tuple[int, ...]) -> float:
    """(1 + |c|^2)^(-1/2) of the dropped row g = c G that needs the kept rows of G (rows, 6 n) most, rows scaled to one:
    the smallest singular value of the kept rows falls with it. As `rbdae.kernels.joint_rows.independence` has it, for
    velocities over the radius of gyration of the bodies."""
    A, kept = unit_rows(model, G), np.delete(np.arange(len(G)), dropped)
    turning, gone, bodies = model.scales.turning, list(dropped), model.bodies[: model.n]
    c = np.linalg.lstsq(A[kept].T, A[gone].T, rcond=None)[0]  # masses have no say in it
    points = np.sum(A[:, ~turning] ** 2, axis=1) / model.scales.length**2
    sizes: Mat = np.array([points, np.sum(A[:, turning] ** 2, axis=1)]).T
    reach = bodies["inertia"].trace(axis1=1, axis2=2).sum() / bodies["mass"].sum()
    needed, lost = (sizes[rows] @ (reach, 1.0) for rows in (kept, gone))
    return float((1.0 + np.max(needed @ c**2 / lost, initial=0.0)) ** -0.5)


def closeness(model: Model, G: Mat, n_dropped: int) -> Vec:
    """Smallest over largest singular value of G (..., rows, 6 n), rows scaled to one, without the `n_dropped` smallest:
    how close the joints are to a singular position."""
    s = np.linalg.svd(unit_rows(model, G), compute_uv=False)
    return np.asarray(s[..., G.shape[-2] - n_dropped - 1] / s[..., 0])


def nearly_redundant(model: Model, G: Mat) -> bool:
    """Whether Newton's method with a factorisation of G M^-1 G^T would take wild steps."""
    s = np.linalg.svd(unit_rows(model, G), compute_uv=False)
    return bool(G.shape[0] > G.shape[1] or s[-1] < 1e-3 * s[0])


def null_directions(model: Model, G: Mat, deficiency: Ints | int = 0) -> Mat:
    """An orthonormal basis (..., rows, k) of the multipliers that give no force, G^T la = 0, times the sizes of the
    equations, which are torques all: forces count times the model's length. Columns beyond the number of a state are
    zero.

    `deficiency` (...) equations at least are known to follow from the others; drift hides that from the singular
    values.
    """
    sizes = model.scales.sizes(model.scales.length)
    U, s, _ = np.linalg.svd(model.scales.columns(G) / sizes[:, None], full_matrices=True)
    rows = G.shape[-2]
    full = np.zeros((*s.shape[:-1], rows))
    full[..., : s.shape[-1]] = s
    null = full <= RANK_TOLERANCE * full[..., :1]
    null |= np.arange(rows) >= rows - np.asarray(deficiency)[..., None]
    first = rows - int(np.max(np.count_nonzero(null, axis=-1), initial=0))
    return np.asarray((U * null[..., None, :])[..., first:])


def minimum_norm(model: Model, la: Mat, null: Mat) -> Mat:
    """Multipliers (..., rows) of least norm, that of `null_directions`, with the same G^T la."""
    sizes = model.scales.sizes(model.scales.length)
    return np.asarray(la - np.einsum("...ij,...kj,...k->...i", null, null, la * sizes) / sizes)


def carried_by_kept(model: Model, la: Vec, null: Mat, dropped: tuple[int, ...]) -> Vec:
    """Multipliers (rows,) with the same G^T la that are zero in the dropped rows, as far as the kept ones carry them;
    `null` are the `null_directions`."""
    N = null / model.scales.sizes(model.scales.length)[:, None]
    at = list(dropped)
    out = np.asarray(la - N @ np.linalg.lstsq(N[at], la[at], rcond=None)[0])
    if np.max(np.abs(out[at]), initial=0.0) <= 1e-12 * np.max(np.abs(out)):
        out[at] = 0.0
    return out
