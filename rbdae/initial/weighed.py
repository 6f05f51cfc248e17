"""`weighed`: the velocities of a start with other masses, where bodies stay at their places.

Velocities on the constraints are v0 + N a there, whatever the masses. Of them those are taken that change given ones
the least in the mass metric, and have the least energy of all with that: what `rbdae.initial.start.drive` finds by
steps in all velocities.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae.initial.given import Known
from rbdae.initial.joints import EXACT, Joints, largest
from rbdae.initial.report import changes_of, report
from rbdae.initial.start import LARGEST
from rbdae.multibody.bodies import BodyMotion
from rbdae.multibody.model import Model
from rbdae.problem.start import Assembly

RANK, _ROUNDING = 1e-6, 1e-11
"""Singular values over the largest: a velocity with one between them may be free, and is left to the search."""

_STEADY = 1e-8

_FREE = 30
"""Velocities that joints leave free, at most: for more, as trees have, the search in all velocities is as quick."""


class Plane(NamedTuple):
    """Velocities of the origins (6 n,) at the start's positions: `v0` + `N` a are on the constraints, and `stated` has
    the given ones. `joints` are those of the reference points, and G is theirs."""

    known: Known
    joints: Joints
    stated: BodyMotion
    G: Mat
    v0: Vec
    N: Mat

    @classmethod
    def of(cls, model: Model, t0: float, at: Assembly) -> Plane | None:
        """The plane at the positions of an assembly; None if it is large, empty, or in doubt."""
        known, joints, rest = Known.of(model, ()), Joints(model, t0), np.zeros((model.n, 3))
        if len(joints.sizes) > LARGEST or np.count_nonzero(known.free) - len(joints.sizes) > _FREE:
            return None
        here = BodyMotion(at.position, at.orientation, rest, rest).at(-known.arms)
        origins, free = joints.of_origins(known.arms), known.free.ravel()
        units = model.scales.columns(np.ones(6 * model.n))[free]
        G = origins.matrix(here)[:, free] * units / joints.sizes[:, None]
        pull = origins.rates(here) / joints.sizes
        U, s, Vt = np.linalg.svd(G)
        rank = int(np.count_nonzero(s > RANK * s[:1]))
        v = -(U[:, :rank].T @ pull / s[:rank]) @ Vt[:rank]
        if largest(s[rank:]) > _ROUNDING * largest(s) or largest(G @ v + pull) > _STEADY * model.scales.rate:
            return None
        v0, N = np.zeros(len(free)), np.zeros((len(free), len(Vt) - rank))
        v0[free], N[free] = units * v, units[:, None] * Vt[rank:].T
        stated = replace(known.stated(), x=here.x, p=here.p)
        return cls(known, joints, stated, joints.matrix(here.at(known.arms)), v0, N)


def weighed(plane: Plane, bodies: Any, before: Assembly) -> Assembly | None:
    """The assembly with the velocities that belong to the masses of these records, in the order of addition; None
    where that takes a search."""
    known, stated = replace(plane.known, bodies=bodies), plane.stated
    least = known.of_least_energy(stated)
    rate = plane.joints.rates(least.at(known.arms))
    if largest(rate / plane.joints.sizes) <= EXACT * known.model.scales.rate:
        used = least
    else:
        found = _nearest(plane, known)
        if found is None:
            return None
        used = found
    changes = () if used is least else changes_of(known.model, stated, used)
    if bool(changes) != bool(before.changes):
        return None
    first, gaps = stated.at(known.arms), (before.gap, largest(rate))
    out = report(known.model, first, used.at(known.arms), gaps, before.steps)
    # what unknown velocities cannot do, and so the disagreement, is the same for all masses
    return replace(
        before, velocity=out.velocity, angular_velocity=out.angular_velocity, velocity_change=out.velocity_change,
        spin_change=out.spin_change, changes=changes, rate_gap=out.rate_gap,
    )  # fmt: skip


def _nearest(plane: Plane, known: Known) -> BodyMotion | None:
    """The motion on the plane that changes given velocities the least, with the least energy of all that do; None for
    masses that are no metric."""
    stated = plane.stated
    n, given = known.model.n, known.free & known.moving
    told, M = np.hstack([stated.xd, stated.om]), known.masses(stated.R)

    def on_plane(to: Mat, which: Bools, v: Vec, N: Mat) -> tuple[Vec, Mat]:
        """v + N a with these entries the nearest to others in the mass metric, and what of N they leave free."""
        L = np.linalg.cholesky(np.where(which[:, :, None] & which[:, None, :], M, np.eye(6)))
        Lt = np.swapaxes(L, 1, 2)
        A = (Lt @ np.where(which[..., None], N.reshape(n, 6, -1), 0.0)).reshape(6 * n, -1)
        b = (Lt @ np.where(which, to - v.reshape(n, 6), 0.0)[..., None]).ravel()
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        rank = int(np.count_nonzero(s > RANK * scale))
        return v + N @ ((U[:, :rank].T @ b / s[:rank]) @ Vt[:rank]), N @ Vt[rank:].T

    scale = float(np.sqrt(np.einsum("nii->ni", M).max())) * float(np.abs(plane.N).max(initial=0.0))
    try:
        v, N = on_plane(told, given, plane.v0, plane.N)
        if N.shape[1]:
            v, _ = on_plane(np.where(known.jointed, 0.0, told), known.free, v, N)
    except np.linalg.LinAlgError:  # masses that are zero
        return None
    v = v.reshape(n, 6)
    return replace(stated, xd=np.where(known.free[:, :3], v[:, :3], stated.xd), om=v[:, 3:])
