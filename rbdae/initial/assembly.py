"""Assembly: what is unknown of positions and velocities is found, and what is given moves as little as possible.

Gauss-Newton steps of least mass-weighted size ([NS] (62)),

    min |M^(1/2) dq|  with  G dq = -g,

by singular value decompositions, so that redundant equations do no harm; steps are limited and shortened until the
violation falls. First unknown positions move, then unknown orientations, then what is given, each only as far as the
ones before cannot do it (`least`). What is held does not move. Where all steps vanish though the joints gape, the
bodies sit at a saddle point, such as two axes at right angles that are to agree, and leave it by a turn (`saddle`).

Steps of velocities begin at those of least kinetic energy without the joints (`Known.of_least_energy`), so that they
lead to those of least energy on the joints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae.initial.given import Known, turned
from rbdae.initial.least import least
from rbdae.initial.merit import Merit, displaced
from rbdae.initial.natural import largest
from rbdae.initial.saddle import way_out
from rbdae.multibody.layout import BodyMotion
from rbdae.rotations.euler_map import rotation_matrices

# beyond this size a dense decomposition takes minutes; such systems are assembled by the sparse projection
LARGEST = 800

_STEPS = 100
_TOLERANCE = 1e-12  # of violations over their sizes
_CLOSED = 1e-9  # the same where rounding stops the steps
_EXACT = 1e-13  # of velocities: what is dearer need not change
_STEADY = 1e-8  # of velocities
_TURN = 0.5  # rad, the largest turn of a body in one step
_NOTHING = 1e-8  # of the violation; the smallest part of a step has to reduce it by 5e-5
_ESCAPES = 6
_RESTARTS = 8  # from other orientations, where they are unknown and no way leads from the first ones
_FLAT = 1e-6  # rows of G below this fraction of the largest have no direction to move in


@final
@dataclass(frozen=True, slots=True, eq=False)
class Closed:
    """Positions of the origins, at rest; violations there (`Merit`); the number of steps; the positions that the
    search had reached when given values began to move."""

    motion: BodyMotion
    gaps: Vec
    steps: int
    before: BodyMotion

    @property
    def largest(self) -> float:
        """The largest violation."""
        return largest(self.gaps)


# ---------------------------------------------------------------- positions


def close(merit: Merit, start: BodyMotion) -> Closed:
    """Positions on the constraints, from those of a motion of the origins.

    On the wrong side of an axis the joints are closed, too: that is for the caller to refuse.

    Raises
    ------
    ValueError
        The joints cannot be closed.
    """
    known, rest = merit.known, np.zeros_like(start.x)
    start = replace(start, p=start.p / np.linalg.norm(start.p, axis=1)[:, None], xd=rest, om=rest)
    limit = _CLOSED * known.model.scales.reach / known.model.scales.length
    best = _cheapest(merit, start)
    steps = best.steps
    for elsewhere in _other_starts(known, start):
        if best.largest <= limit:
            break
        other = _cheapest(merit, elsewhere)
        steps += other.steps
        if float(np.linalg.norm(other.gaps)) < float(np.linalg.norm(best.gaps)):
            best = other
    g = best.gaps[: len(merit.joints.sizes)]
    if not largest(g) <= limit:
        worst = int(np.argmax(np.abs(g)))
        before = largest(merit.gaps(start)[: len(g)] * merit.joints.sizes)
        with_held = " with what is held" if known.held.any() else ""
        raise ValueError(
            f"the joints cannot be closed{with_held}: at best a gap of {abs(g[worst]) * merit.joints.sizes[worst]:.3g} "
            f"remains at {known.model.row_name(worst)} (before: {before:.3g}); check lengths, points and axes, "
            "or start from another placement"
        )
    return replace(best, steps=steps)


def _cheapest(merit: Merit, start: BodyMotion) -> Closed:
    """The end of the search that moves no more than it has to."""
    scales = merit.known.model.scales
    exact = max(_TOLERANCE, 30.0 * float(np.finfo(float).eps) * scales.reach / scales.length)
    moves = merit.known.position_moves()
    found, steps, before = Closed(start, merit.gaps(start), 0, start), 0, start
    for k in range(len(moves)):
        before = found.motion
        found = _descended(merit, start, moves[: k + 1])
        steps += found.steps
        if found.largest <= exact:
            break
    return replace(found, steps=steps, before=before)


def _other_starts(known: Known, start: BodyMotion) -> Iterator[BodyMotion]:
    """The start with its unknown orientations turned, always in the same ways."""
    unknown = (known.free & ~known.held & ~known.placed)[:, 3:]
    random = np.random.default_rng(0)
    for _ in range(_RESTARTS if unknown.any() else 0):
        yield replace(start, p=turned(start.p, np.where(unknown, random.standard_normal(unknown.shape), 0.0)))


def _descended(merit: Merit, start: BodyMotion, moves: Sequence[Bools]) -> Closed:
    """The end of steps in some coordinates: first, from the wrong side of an axis, to the right one."""
    moved, steps, here = np.zeros((len(start.x), 6)), 0, _Place(start, merit.gaps(start))
    if not merit.sides.right(start.p):
        by_sides = merit.by_sides()
        there, moved, steps = _steps(by_sides, _Place(start, by_sides.gaps(start)), moves, moved)
        here = _Place(there.motion, merit.gaps(there.motion))
    here, _, count = _steps(merit, here, moves, moved)
    return Closed(here.motion, here.gaps, steps + count, start)


class _Place(NamedTuple):
    """Positions of the origins, and the violations there."""

    motion: BodyMotion
    gaps: Vec


def _steps(merit: Merit, here: _Place, moves: Sequence[Bools], moved: Mat) -> tuple[_Place, Mat, int]:
    """Steps until nothing falls, to the place nearest to where all began: where they end, the displacement from the
    beginning, and their number."""
    steps, escapes, pull, last = 0, 0, True, False
    while steps < _STEPS and not last and largest(here.gaps) > 0.0:
        # to the nearest place steps converge linearly: one more goes straight to a closed one
        last = largest(here.gaps) <= _TOLERANCE
        steps += not last
        found = _shortened(merit, here, *_step(merit, here, moves, moved if pull and not last else None))
        if found is None and last:
            break
        if found is None and pull and moved.any():
            pull = False  # looking for the nearest place stands in the way of finding any
            continue
        if found is None and escapes < _ESCAPES:
            escapes, pull = escapes + 1, True
            away = way_out(here.motion, moves, merit)
            found = None if away is None else (_moved(merit, here, away), away)
        if found is None:
            break  # no descent: at the rounding level, or the joints cannot be closed
        here, moved = found[0], moved + found[1]
        pull = pull and 2 * steps < _STEPS
    return here, moved, steps


def _moved(merit: Merit, here: _Place, step: Mat) -> _Place:
    motion = displaced(here.motion, step)
    return _Place(motion, merit.gaps(motion))


def _shortened(merit: Merit, here: _Place, step: Mat, change: Vec) -> tuple[_Place, Mat] | None:
    """The place after a part of the step that reduces the violation, and that part; `change` is what the whole step
    does to the violations, but for its square."""
    turn = float(np.max(np.linalg.norm(step[:, 3:], axis=1)))
    fraction = min(1.0, _TURN / turn) if turn > 0.0 else 1.0
    norm = float(np.linalg.norm(here.gaps))
    if largest(step / merit.units) <= _NOTHING * norm and largest(change) <= _NOTHING * norm:
        return None
    for _ in range(12):
        part = fraction * step
        there = _moved(merit, here, part)
        if float(np.linalg.norm(there.gaps)) < (1.0 - 0.1 * fraction) * norm:
            return there, part
        fraction *= 0.5
    return None


def _step(merit: Merit, here: _Place, moves: Sequence[Bools], moved: Mat | None) -> tuple[Mat, Vec]:
    """The displacement (n, 6) of least size, with what has moved so far that to the nearest place; and G times it."""
    G = merit.slopes(here.motion)
    step = _solved(merit, here.motion, G, -here.gaps, moves, moved)
    return step, np.einsum("rni,ni->r", G, step)


def _solved(merit: Merit, here: BodyMotion, G: Mat, rhs: Vec, moves: Sequence[Bools], moved: Mat | None) -> Mat:
    """d (n, 6) with G d = rhs in the sense of least squares and the least mass-weighted size, or the least size of d
    with what has moved."""
    M = merit.known.masses(merit.known.columns(rotation_matrices(here.p)))
    scale = np.linalg.norm((G * merit.units).reshape(len(G), -1), axis=1)
    scale = np.maximum(scale, _FLAT * largest(scale))
    scale[scale == 0.0] = 1.0
    rhs = rhs / scale
    columns = [np.flatnonzero(some) for some in moves]
    factors = [np.linalg.cholesky(np.where(_pairs(some), M, np.eye(6))) for some in moves]
    inverses = [np.swapaxes(np.linalg.inv(L), 1, 2) for L in factors]
    groups = [
        np.einsum("rni,nij->rnj", G, W).reshape(len(G), -1)[:, at] / scale[:, None]
        for W, at in zip(inverses, columns, strict=True)
    ]
    before = [np.zeros(len(at)) for at in columns]
    if moved is not None:
        before = [
            np.einsum("nji,nj->ni", L, np.where(some, moved, 0.0)).reshape(-1)[at]
            for L, some, at in zip(factors, moves, columns, strict=True)
        ]
        for A, z in zip(groups, before, strict=True):
            rhs = rhs + A @ z
    out = np.zeros_like(M[:, 0])
    for W, at, z, old in zip(inverses, columns, least(groups, rhs), before, strict=True):
        part = np.zeros(out.size)
        part[at] = z - old
        out += np.einsum("nij,nj->ni", W, part.reshape(out.shape))
    return out


def _pairs(some: Bools) -> Bools:
    """(n, 6, 6), where both the row and the column may move."""
    return np.asarray(some[:, :, None] & some[:, None, :])


# ---------------------------------------------------------------- velocities


def drive(merit: Merit, start: BodyMotion) -> tuple[BodyMotion, Vec]:
    """A motion of the origins with its velocities on the constraints, and gdot over the sizes where given ones began to
    change.

    Raises
    ------
    ValueError
        No velocities satisfy the constraints.
    """
    known = merit.known
    moves = known.velocity_moves()
    speed = known.model.scales.rate + largest(merit.rates(start))
    out, rest, n = start, merit.rates(start), 0
    before = rest
    while n < len(moves) and (n == 0 or largest(rest) > _EXACT * speed):
        n, before = n + 1, rest
        out, rest = _steered(merit, start, moves[:n], _EXACT * speed)
    if not largest(rest) <= _STEADY * speed:
        worst = int(np.argmax(np.abs(rest)))
        raise ValueError(
            f"no velocities satisfy the constraints: {abs(rest[worst]) * merit.joints.sizes[worst]:.3g} remains at "
            f"{known.model.row_name(worst)}; check the drives and what is held"
        )
    if n < 2:
        return out, before
    # what has to change besides the unknown velocities has changed: others have the least energy beside it
    best, rest = _steered(merit, known.of_least_energy(out), moves[:1], _EXACT * speed)
    return best if largest(rest) <= _STEADY * speed else out, before


def _steered(merit: Merit, start: BodyMotion, moves: Sequence[Bools], exact: float) -> tuple[BodyMotion, Vec]:
    """A motion with other velocities, the nearest on the constraints that changes in these ways reach, and gdot."""
    out, rest = start, merit.rates(start)
    G = merit.slopes(start)[: len(rest)]
    for _ in range(2):  # the second time against rounding
        step = _solved(merit, start, G, -rest, moves, None)
        out = replace(out, xd=out.xd + step[:, :3], om=out.om + step[:, 3:])
        rest = merit.rates(out)
        if largest(rest) <= exact:
            break
    return out, rest


__all__ = ["LARGEST", "Closed", "close", "drive"]
