"""Independent velocities nu = S (xdot, Omega) of systems with loops: how S is selected from the null space of G.

S is constant, and good where T = [G; S]^-1 [0; I] is of moderate size. It is chosen from the null space of G and
prefers angular velocities: they are expressed in body frames, so the choice for a crank is as well conditioned after
half a turn as at the start. With spatial velocities nu = S (xdot, omega), which is so for axes that rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae.multibody.model import Model
from rbdae.multibody.selection import IndependentVelocities

# directions of motion of which less than this is rotation are measured by the velocities of points
_ROTATES = 0.01

# axes whose shares differ by less are equally good: the first one counts, whatever rounding says
_TIE = 1e-6


@final
@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """How velocities are compared: `scale` (nv,) is a length for xdot and 1 for Omega; `turning` marks Omega,
    `moving` (6 n,) what is a velocity at all (not that of a pivot)."""

    scale: Vec
    turning: Bools
    moving: Bools

    @property
    def length(self) -> float:
        """The length of the mechanism; 1 where nothing but pivots is there."""
        return float(self.scale[~self.turning].max(initial=0.0)) or 1.0

    def sizes(self, T: Mat) -> Vec:
        """The sizes of the columns of T."""
        return np.asarray(np.linalg.norm(T / self.scale[:, None], axis=0))

    def null_space(self, G: Mat, n_nu: int) -> Mat:
        """Orthonormal basis (nv, nnu), in velocities over `scale`."""
        A = G * self.scale
        A = A / np.linalg.norm(A, axis=1, keepdims=True).clip(1e-300)
        return np.asarray(np.linalg.svd(A)[2][len(self.scale) - n_nu :].T)

    def select(self, G: Mat, n_nu: int) -> IndependentVelocities:
        """Good independent velocities for the joints' matrix G (rows, 6 n)."""
        N = self.null_space(G[..., self.moving], n_nu)
        S = np.zeros(N.shape[::-1])
        U, s, Vt = np.linalg.svd(N[self.turning], full_matrices=True)
        r = int(np.count_nonzero(s > _ROTATES))
        S[:r, self.turning] = _along_axes(U[:, :r]).T
        if r < len(S):
            S[r:, ~self.turning] = _along_axes(np.linalg.qr(N[~self.turning] @ Vt[r:].T)[0]).T
        # rows of S are of one unit each: N is T over `scale`, so S N is S T over those of the rows
        units = np.where(S[:, self.turning].any(axis=1), 1.0, self.length)
        sizes = np.linalg.norm(N @ np.linalg.inv(S @ N), axis=0) / units
        S.flags.writeable = False
        return IndependentVelocities(S, sizes)


def spatial_columns(G: Mat, R: Mat) -> Mat:
    """G (rows, 6 n) with respect to (xdot, omega) of all bodies in place of (xdot, Omega); R (n, 3, 3)."""
    out = G.copy()
    for b, turn in enumerate(R):
        out[:, 6 * b + 3 : 6 * b + 6] = G[:, 6 * b + 3 : 6 * b + 6] @ turn.T
    return out


def _along_axes(Q: Mat) -> Mat:
    """Another orthonormal basis of the columns of Q, which depends on the space that they span alone.

    A singular value decomposition gives any basis where values are equal, and any sign. Here one vector after the other
    is the projection of the axis that has the largest one, and what is left is orthogonal to it.
    """
    P = Q @ Q.T
    out = np.empty_like(Q)
    for k in range(Q.shape[1]):
        share = np.diag(P)
        axis = int(np.argmax(share >= (1.0 - _TIE) * share.max()))
        out[:, k] = P[:, axis] / np.linalg.norm(P[:, axis])
        P = P - np.outer(out[:, k], out[:, k])
    return out


def metric(model: Model) -> Metric:
    """The metric by the model's length."""
    free = (model.bodies["nt"][: model.n] == 3).tolist()
    turning = np.array([x for moves in free for x in [False] * (3 * moves) + [True] * 3])
    moving = np.array([x for moves in free for x in [moves] * 3 + [True] * 3])
    return Metric(np.where(turning, 1.0, model.scales.length), turning, moving)


__all__ = ["Metric", "metric", "spatial_columns"]
