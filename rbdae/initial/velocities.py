"""Velocities of a start on the constraints, where bodies stay at their places.

On the constraints velocities are v0 + N a, whatever the masses. Of them those are taken that change given ones the
least in the mass metric, then unknown ones of what is held, and have the least kinetic energy of all with that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae.initial.given import Known
from rbdae.initial.joints import Joints, largest
from rbdae.multibody.system.bodies import BodyMotion

_RANK: Final = 1e-8  # singular values below this fraction of the largest count as zero
_FREE: Final = 1e-6  # smaller ones of what given velocities leave free count as zero
_EXACT: Final = 1e-14  # of velocities: smaller changes of what is given, or from rest, are rounding
_STEADY: Final = 1e-8  # of velocities


@final
@dataclass(frozen=True, eq=False)
class Velocities:
    """All velocities of the origins on the constraints, v0 + N a, (6 n,), by a stated motion of the origins at these
    positions with the given velocities.

    `units` (6 n,) are lengths for points, else 1; the columns of N (6 n, freedoms) over them are orthonormal. G (rows,
    6 n), the gradient by velocities over units, and g_t (rows,), gdot where all that may change is zero, are both over
    sizes of equations. `speed`, 1/s, is what violations are compared with.
    """

    known: Known
    joints: Joints
    stated: BodyMotion
    units: Vec
    G: Mat
    g_t: Vec
    v0: Vec
    N: Mat
    speed: float

    @classmethod
    def of(cls, known: Known, joints: Joints, stated: BodyMotion) -> Velocities:
        """Those at the positions of a motion of the origins. Raises ValueError if no velocities satisfy the
        constraints."""
        model, origins, told = known.model, joints.of_origins(known.arms), np.hstack([stated.xd, stated.om])
        free = known.free & ~(known.moving & known.held)
        fixed = stated.moving(np.where(free, 0.0, told))
        g_t = origins.rates(fixed) / joints.sizes
        speed = model.scales.rate + largest(origins.rates(stated) / joints.sizes)
        columns, units = free.ravel(), model.scales.columns(np.ones(6 * model.n))
        G = origins.matrix(stated) / joints.sizes[:, None] * units
        A = G[:, columns]
        U, s, Vt = np.linalg.svd(A)
        rank = int(np.count_nonzero(s > _RANK * s[:1]))
        v = np.zeros(len(Vt))
        for _ in range(2):  # the second time against rounding
            v -= ((g_t + A @ v) @ U[:, :rank] / s[:rank]) @ Vt[:rank]
        rest = g_t + A @ v
        if not largest(rest) <= _STEADY * speed:
            worst = int(np.argmax(np.abs(rest)))
            raise ValueError(
                f"no velocities satisfy the constraints: {abs(rest[worst]) * joints.sizes[worst]:.3g} remains at "
                f"{model.row_name(worst)}; check the drives and what is held"
            )
        v0, N = np.where(free, 0.0, told).ravel(), np.zeros((6 * model.n, len(Vt) - rank))
        v0[columns], N[columns] = units[columns] * v, Vt[rank:].T
        return cls(known, joints, stated, units, G, g_t, v0, N, speed)

    @property
    def determined(self) -> bool:
        """Whether given velocities determine all others, so that masses have no say."""
        given = self.N[(self.known.free & self.known.moving).ravel()]
        return bool(np.linalg.matrix_rank(given, tol=_FREE) == self.N.shape[1])

    def rates(self, v: Mat) -> Vec:
        """gdot of the joints over the sizes of equations, (rows,), at velocities (n, 6) that are the stated ones where
        nothing may change."""
        free = self.known.free & ~(self.known.moving & self.known.held)
        return np.asarray(self.g_t + self.G @ (np.where(free, v, 0.0).ravel() / self.units))

    def contradiction(self) -> Vec:
        """gdot of the joints, (rows,), that no change of unknown velocities can bring to zero."""
        known = self.known
        unknown = (known.free & ~known.moving).ravel()
        rest = self.rates(np.where(known.moving, self._told, 0.0))
        change = np.linalg.lstsq(self.G[:, unknown], rest, rcond=_RANK)[0]
        return np.asarray((rest - self.G[:, unknown] @ change) * self.joints.sizes)

    @cached_property
    def _told(self) -> Mat:
        """The stated velocities, (n, 6)."""
        return np.hstack([self.stated.xd, self.stated.om])

    def nearest(self) -> BodyMotion:
        """The motion of the origins that changes given velocities the least, in the mass metric."""
        known, told, v, N = self.known, self._told, self.v0, self.N
        given, unknown = known.free & known.moving & ~known.held, known.free & ~known.moving
        M, at_rest = known.masses(self.stated.R), np.where(known.jointed, 0.0, told)
        # masses have no say in what the next of these may still move
        for to, which in ((told, given), (told, unknown & known.held), (at_rest, known.free)):
            if N.shape[1] and which.any():
                _, s, Vt = np.linalg.svd(N[which.ravel()])
                rank = int(np.count_nonzero(s > _FREE))
                v = _nearest(v, to, which, self.units[:, None] * (N @ Vt[:rank].T), M)
                N = N @ Vt[rank:].T
        v = v.reshape(told.shape)
        rest = np.where(known.jointed & ~known.moving, 0.0, told)
        near = np.abs(v - rest) <= _EXACT * self.speed * self.units.reshape(told.shape)
        return self.stated.moving(np.where(near, rest, v))


def _nearest(v: Vec, to: Mat, which: Bools, N: Mat, M: Mat) -> Vec:
    """v + N a, whose entries `which` (n, 6) are the nearest to those of `to` in the mass metric M (n, 6, 6)."""
    n = len(to)
    Lt = np.swapaxes(np.linalg.cholesky(np.where(which[:, :, None] & which[:, None, :], M, np.eye(6))), 1, 2)
    A = (Lt @ np.where(which[..., None], N.reshape(n, 6, -1), 0.0)).reshape(6 * n, -1)
    b = (Lt @ np.where(which, to - v.reshape(n, 6), 0.0)[..., None]).ravel()
    return np.asarray(v + N @ np.linalg.lstsq(A, b, rcond=None)[0])
