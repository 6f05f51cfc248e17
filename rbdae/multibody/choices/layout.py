"""The places of everything in the unknowns y: slices, offsets, labels.

y = (q, v, s, la, mu): positions; velocities, momenta or quasi-velocities; internal states of forces; multipliers; those
of the kinematic correction. Each part is ordered by bodies, then joints or forces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import final

import numpy as np

from rbdae._arrays import Ints, Vec
from rbdae.multibody.choices.settings import Settings
from rbdae.multibody.system.model import Model


@final
@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The places of the unknowns.

    Attributes
    ----------
    q, v, s, la, mu : slice
        Positions; velocities, momenta or quasi-velocities; internal states of forces; multipliers; multipliers of the
        kinematic correction (of `ggl`, `hiller-anantharaman` and `null-space-ggl`, which has no `la`).
    n : int
        Unknowns.
    n_velocities, n_internal, n_rows : int
        Numbers in (xdot, w) of all bodies, internal constraints of the velocities, joint equations.
    n_hidden : int
        Internal constraints, the first ones, whose multipliers are not among the unknowns: the unit norms of projected
        forms, else 0.
    order, rank : tuple of int, (n_bodies + 1,) int
        The bodies in the order of y, and the place of each of them; the ground comes last.
    iq, iv, il, inu : (n_bodies,) int
        For each body, in the order of y: where its positions, velocities, internal multipliers and quasi-velocities
        begin, each within its own part.
    labels : tuple of str
    """

    q: slice
    v: slice
    s: slice
    la: slice
    mu: slice
    n: int
    n_velocities: int
    n_internal: int
    n_rows: int
    n_hidden: int
    order: tuple[int, ...]
    rank: Ints
    iq: Ints
    iv: Ints
    il: Ints
    inu: Ints
    labels: tuple[str, ...]

    @property
    def n_differential(self) -> int:
        """Numbers in (q, v, s), whose rates appear."""
        return int(self.s.stop)

    @property
    def n_states(self) -> int:
        """Internal states of forces."""
        return int(self.s.stop - self.s.start)

    @property
    def n_constraints(self) -> int:
        """Internal constraints of the velocities and joint equations."""
        return self.n_internal + self.n_rows

    def among_unknowns(self, multipliers: Vec) -> Vec:
        """The multipliers that `la` has, from those of all constraints, (..., n_constraints)."""
        return multipliers[..., self.n_hidden :]


def lay_out(model: Model, settings: Settings) -> Layout:
    """The layout of a model."""
    n = model.n
    order = tuple(model.tree.order) if settings.structure in ("spherical tree", "tree") else tuple(range(n))
    rank = np.array(sorted(range(n + 1), key=(*order, n).__getitem__), dtype=np.int64)
    nt = model.bodies["nt"][list(order)].tolist()
    n_q, iq = _offsets(moves + settings.chart.n for moves in nt)
    n_v, iv = _offsets(moves + settings.kind.size for moves in nt)
    n_internal, il = _offsets([settings.kind.internal] * n)
    n_nu, inu = _offsets(_n_quasi_velocities(model, settings, b) for b in order)
    if settings.structure == "loops":
        n_nu = settings.n_independent
    n_rows = int(model.primitives["n"].sum()) if len(model.primitives) else 0
    q = slice(0, n_q)
    v = slice(n_q, n_q + (n_nu if settings.reduced else n_v))
    s = slice(v.stop, v.stop + model.forces.n_states)
    n_hidden = n_internal if settings.formulation.projected else 0
    n_la = n_internal - n_hidden + n_rows if settings.formulation.multipliers != "none" else 0
    la = slice(s.stop, s.stop + n_la)
    alone = settings.formulation.multipliers == "none"
    n_mu = n * len(settings.chart.internal) + n_rows if alone else n_la
    mu = slice(la.stop, la.stop + (n_mu if settings.formulation.corrected else 0))
    labels = tuple(_labels(model, settings, order, v.stop - v.start))
    return Layout(q, v, s, la, mu, mu.stop, n_v, n_internal, n_rows, n_hidden, order, rank, iq, iv, il, inu, labels)


def _offsets(sizes: Iterable[int]) -> tuple[int, Ints]:
    *begins, end = accumulate(sizes, initial=0)
    return end, np.array(begins, dtype=np.int64)


def _n_quasi_velocities(model: Model, settings: Settings, b: int) -> int:
    """The number of quasi-velocities of a body of a tree: a root has (xdot, Omega), a child what its joint leaves."""
    if model.tree.parent[b] < 0:
        return int(model.bodies["nt"][b]) + 3
    return len(settings.tree[b].S) if settings.structure == "tree" else 3


# ---------------------------------------------------------------- labels


def _labels(model: Model, settings: Settings, order: Sequence[int], n_v: int) -> Iterator[str]:
    """One label an unknown: ``"top.p0"``, ``"top.Omega1"``, ``"top.norm"``, ``"spherical-1.1"``."""
    for b, moves in zip(order, (model.bodies["nt"][list(order)] == 3).tolist(), strict=True):
        yield from (f"{model.names[b]}.{s}" for s in (*(("x", "y", "z") if moves else ()), *settings.chart.names))
    if settings.structure == "loops":
        yield from (f"nu{i + 1}" for i in range(n_v))
    else:
        for b in order:
            yield from (f"{model.names[b]}.{s}" for s in _velocity_names(model, settings, b))
    yield from model.forces.state_labels
    formulation = settings.formulation
    if formulation.unknown_multipliers == "none":
        return
    alone = formulation.multipliers == "none"
    has_internal = alone or (settings.kind.internal and not formulation.projected)
    internal = settings.internal_names if has_internal else ()
    la = [f"{model.names[b]}.{s}" for b in order for s in internal]
    for joint, n in zip(model.joints, model.joint_rows.tolist(), strict=True):
        la += [f"{joint.name}.{i + 1}" for i in range(n)]
    if formulation.unknown_multipliers == "integrals":
        la = [f"{name}.integral" for name in la]
    if not alone:
        yield from la
    if formulation.corrected:
        yield from (f"{name}.mu" for name in la)


def _velocity_names(model: Model, settings: Settings, b: int) -> Iterator[str]:
    momenta = settings.momenta
    child = settings.reduced and model.tree.parent[b] >= 0
    if child and settings.structure == "tree":
        yield from (f"nu{i + 1}" for i in range(len(settings.tree[b].S)))
        return
    if model.bodies["nt"][b] == 3 and not child:
        yield from ("px", "py", "pz") if momenta else ("vx", "vy", "vz")
    if settings.kind.spatial:
        yield from ("omega1", "omega2", "omega3")
    elif settings.kind.internal == 0:
        yield from ("Omega1", "Omega2", "Omega3")
    elif momenta:
        yield from (f"pi_{s}" for s in settings.chart.names)
    else:
        yield from (f"{s}dot" for s in settings.chart.names)
