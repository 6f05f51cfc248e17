"""A consistent start of a model: one path for all formulations, so that all start from the same state.

What is unknown of positions and velocities is found, and what is given moves as little as possible: the least
mass-weighted change on the constraints, [NS] (62),

    min |M^(1/2) dq|  with  G dq = -g.

Where only one kind of values can move, and joints are neither redundant nor far from closed, the sparse projection of
`Joints` finds it, whose effort grows linearly. Else dense steps of Gauss and Newton do, by singular value
decompositions, so that redundant equations do no harm; they are limited, and shortened until the violation falls. First
unknown positions move, then unknown orientations, then what is given, each only as far as the ones before cannot do it.
What is held does not move. Where all steps vanish though the joints gape, the bodies sit at a saddle point, such as two
axes at right angles that are to agree, and leave it by a turn.

Velocities on the joints are then those of least kinetic energy beside the given ones (`Velocities`).

Welds, slides and driven angles fix a rotation by directions at right angles: their equations also hold half a turn
away. The search keeps the directions that agree less than 60 degrees apart, from where the equations lead to the
rotation that is meant (`Sides`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple, final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec, cross
from rbdae.initial.given import (
    REMEDY,
    ROUNDING,
    Hold,
    Known,
    changes_of,
    disagreement,
    distances,
    listed,
    turned,
)
from rbdae.initial.joints import EXACT, Joints, largest
from rbdae.kernels.constraints.drives import ANGLE
from rbdae.multibody.choices.row_selection import kept_rows, nearly_redundant
from rbdae.multibody.choices.selection import KeptRows
from rbdae.multibody.system.bodies import BodyMotion
from rbdae.multibody.system.model import Model
from rbdae.problem.contract import ProjectionError
from rbdae.problem.start import Assembly

LARGEST: Final = 800
"""Joint equations beyond which a dense decomposition takes minutes; larger systems have the sparse projection alone."""

_STEPS = 100
_TOLERANCE = 1e-12  # of violations over their sizes
_CLOSED = 1e-9  # the same where rounding stops the steps
_TURN = 0.5  # rad, the largest turn of a body in one step
_NOTHING = 1e-8  # of the violation; the smallest part of a step has to reduce it by 5e-5
_ESCAPES = 6
_RESTARTS = 8  # from other orientations, where they are unknown and no way leads from the first ones
_FLAT = 1e-6  # rows of G below this fraction of the largest have no direction to move in
_RANK = 1e-8  # singular values below this fraction of the largest count as zero
_DIFFERENCE = 1e-5  # of gradients, for the curvature
_CURVED = 1e-3  # curvature over the violation, from which on a direction leads down
_WAY_OUT = 0.3  # rad, or lengths of the model
_FREE = 1e-6  # smaller singular values of what given velocities leave free count as zero
_EXACT = 1e-14  # of velocities: smaller changes of what is given, or from rest, are rounding
_STEADY = 1e-8  # of velocities
_NEAR = 0.5  # cosine of the angle between directions from which on the equations are trusted


@final
@dataclass(frozen=True, slots=True, eq=False)
class ConsistentState:
    """A consistent motion of the bodies, how it was found, the joint rows that are kept, and the joints at its time."""

    motion: BodyMotion
    assembly: Assembly
    rows: KeptRows
    joints: Joints

    def joint_matrix(self) -> Mat:
        """G of the joints, (rows, 6 n), in this state."""
        return self.joints.matrix(self.motion)


def consistent_state(model: Model, t0: float, *, check: bool = False, hold: Hold = ()) -> ConsistentState:
    """A state on the constraints: what is not given is found, what is given changes as little as possible. `check`
    refuses given values that would have to change, `hold` keeps what it names in place.

    Raises ValueError for inconsistent values, a loop that cannot be closed and velocities that contradict each other,
    ProjectionError where the constraints cannot be satisfied near the given values.
    """
    known = Known.of(model, hold)
    stated = known.stated()
    least = known.of_least_energy(stated)
    before, start = stated.at(known.arms), least.at(known.arms)
    joints = Joints(model, t0)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by name
        g, rate = joints.violations(start)
    if not (np.isfinite(g).all() and np.isfinite(rate).all()):
        raise ValueError(
            f"the constraints are not finite at the given initial values, t0 = {t0:g}; check the sizes of positions "
            "and velocities, and that the laws of drives return numbers"
        )
    search = _Search(joints, known, start, g, rate)
    try:
        motion = search.motion()
    except ValueError as error:
        raise error from search.failure
    if wrong := search.sides.opposite(motion):
        raise ValueError(wrong)
    rows = KeptRows()
    if search.loops or search.failure is not None:
        rows = kept_rows(model, joints.matrix(motion))
    names = tuple(model.row_name(k) for k in rows.dropped)
    gaps = largest(g), largest(rate)
    changes = changes_of(model, stated, motion.at(-known.arms)) if motion is not start else ()
    why = disagreement(model, *search.contradiction()) if changes else ""
    if check and changes:
        raise ValueError(
            f"inconsistent initial values: constraint violation {gaps[0]:.3g} in positions, {gaps[1]:.3g} in "
            f"velocities (SI units); {why}; {listed(changes)}; {REMEDY}"
        )
    assembly = Assembly(
        names=model.names,
        position=motion.x,
        orientation=motion.p,
        velocity=motion.xd,
        angular_velocity=motion.om,
        moved=distances(before.x, motion.x),
        turned=distances(before.p, motion.p),
        velocity_change=distances(before.xd, motion.xd),
        spin_change=distances(before.om, motion.om),
        gap=gaps[0],
        steps=search.steps,
        given=tuple(
            body.given if body.pivot is None else ("position", "velocity", *body.given) for body in model.system.bodies
        ),
        rate_gap=gaps[1],
        redundant=names,
        changes=changes,
        disagreement=why,
    )
    return ConsistentState(motion, assembly, rows, joints)


@final
class _Search:
    """The way from a start to a consistent motion of the reference points.

    The projection corrects all values if only one kind of them can move, if they are off by rounding, or if there are
    many; else, and if the joints are redundant or far from closed, dense steps move what is cheapest.
    """

    def __init__(self, joints: Joints, known: Known, start: BodyMotion, g: Vec, rate: Vec) -> None:
        model = joints.model
        self.joints, self.known, self.start = joints, known, start
        self.steps = 0
        self.failure: ProjectionError | None = None
        self.small = len(joints.sizes) <= LARGEST
        if known.held.any() and not self.small:
            raise ValueError(f"assembly with something held takes up to {LARGEST} joint equations")
        self.loops = self.small and len(model.tree.closing) > 0
        self.sides = Sides(model, joints.t)
        self._before = start  # where given values begin to change
        self._velocities: Velocities | None = None
        self._violation = g, rate

    def motion(self) -> BodyMotion:
        """A consistent motion. Raises ValueError or ProjectionError if there is none near the start."""
        known, joints, here = self.known, self.joints, self.start
        gap, rate = joints.relative(*self._violation)
        right = self.sides.agree(here)
        exact = right and gap <= EXACT
        if exact and rate <= EXACT:
            return here
        risky = self.loops and nearly_redundant(joints.model, joints.matrix(here))
        alike = known.alike or max(gap, rate) <= ROUNDING
        if right and alike and not risky and not known.held.any():
            found = self._projected(here)
            if found is not None:
                return found
        if not exact:
            placed = self._closed() if self.small else self._nearest_positions(here).at(-known.arms)
            here = known.replaced(placed).at(known.arms)
        if joints.relative(*joints.violations(here))[1] <= EXACT:
            return here
        if not self.small:
            return joints.nearest_velocities(here)
        placed = here.at(-known.arms)
        self._velocities = Velocities.of(known, joints, replace(known.stated(), x=placed.x, p=placed.p))
        return self._velocities.nearest().at(known.arms)

    def contradiction(self) -> tuple[Vec, Vec]:
        """g and gdot of the joints where given values began to change."""
        rates = self._violation[1] if self._velocities is None else self._velocities.contradiction()
        return self.joints.values(self._before), rates

    def _closed(self) -> BodyMotion:
        """The origins with positions on the constraints, by dense steps, and any velocities."""
        known, joints = self.known, self.joints
        merit = Merit(known, self.sides, joints.of_origins(known.arms), np.ones(len(joints.sizes), dtype=bool))
        placed, before, steps = close(merit, self.start.at(-known.arms))
        self.steps += steps
        self._before = before.at(known.arms)
        return placed

    def _nearest_positions(self, motion: BodyMotion) -> BodyMotion:
        motion, steps = self.joints.nearest_positions(motion)
        self.steps += steps
        return motion

    def _projected(self, motion: BodyMotion) -> BodyMotion | None:
        """The nearest motion on the constraints; None where there is none, or one on the wrong side of an axis that the
        dense assembly can avoid."""
        try:
            motion = self.joints.nearest_velocities(self._nearest_positions(motion))
        except ProjectionError as error:
            if not self.small:
                raise
            self.failure = error
            return None
        return None if self.small and not self.sides.agree(motion) else motion


# ---------------------------------------------------------------- what the search brings to zero


@final
class Sides:
    """Directions of a model that agree, a of one body and b of another one (sides, 3)."""

    def __init__(self, model: Model, t0: float) -> None:
        table = model.primitives
        found: list[tuple[tuple[int, int], Vec, Vec]] = []
        self._opposite: list[str] = []  # what to say of opposite ones
        turning = np.zeros(len(table), dtype=bool)
        for joint, packed in zip(model.system.joints, model.joints, strict=True):
            for a, b in joint.agreements():
                turning[list(packed.primitives)] = True
                found.append((packed.bodies, a, b))
                self._opposite.append(
                    f"joint {packed.name!r}: the bodies are placed nearer to half a turn beyond the rotation in which "
                    "axes and normals agree than to that rotation; place them less than a quarter turn from it"
                )
        for k, law in model.rheonomic.items():
            if law.kind != ANGLE or law.e1 is None or law.e2 is None:
                continue
            angle = float(law.motion(t0)[0][0])
            turning[k] = True
            found.append((table["body"][k], np.cos(angle) * law.e2 - np.sin(angle) * law.e1, table["B"][k, 5:8]))
            self._opposite.append(
                f"{law.motion.owner}: the bodies are placed nearer to half a turn beyond the angle than to the angle, "
                f"{angle:.4g} rad at t = {t0:g}; place them less than a quarter turn from it"
            )
        self._bodies = np.array([bodies for bodies, _, _ in found], dtype=int).reshape(-1, 2)
        self._a, self._b = (np.array([side[k] for side in found]).reshape(-1, 3) for k in (1, 2))
        self._table, self._turning = table, turning

    @property
    def rows(self) -> Bools:
        """The equations that they stand for, which also hold for opposite ones, (joint rows,)."""
        of_points = self._table["A"][:, ::4].any(axis=1) | self._table["B"][:, ::4].any(axis=1)
        return np.repeat(self._turning & ~of_points, self._table["n"])

    def _relative(self, here: BodyMotion) -> Mat:
        """The rotations of second bodies relative to first ones, (sides, 3, 3)."""
        R = here.places[:, 3:].reshape(-1, 3, 3)[self._bodies]  # transposed
        return np.asarray(R[:, 0] @ np.swapaxes(R[:, 1], 1, 2))

    def _cosines(self, here: BodyMotion) -> Vec:
        if not self._opposite:
            return np.zeros(0)
        return np.asarray(np.einsum("ki,kij,kj->k", self._a, self._relative(here), self._b))

    def gaps(self, here: BodyMotion) -> Vec:
        """How far the cosines are from where the equations are trusted; zero beyond."""
        return np.maximum(0.0, _NEAR - self._cosines(here))

    def slopes(self, here: BodyMotion) -> Mat:
        """The derivatives of `gaps`, (sides, n, 6), with respect to displacements and turns of the bodies."""
        near, relative = self._cosines(here)[:, None] < _NEAR, self._relative(here)
        out, sides = np.zeros((len(near), len(here.x) + 1, 6)), np.arange(len(near))
        for side, (one, other, turn) in enumerate(((self._a, self._b, "kij,kj->ki"), (self._b, self._a, "kij,ki->kj"))):
            out[sides, self._bodies[:, side], 3:] = np.where(near, -cross(one, np.einsum(turn, relative, other)), 0.0)
        return out[:, :-1]

    def agree(self, here: BodyMotion) -> bool:
        """Whether all directions are nearer to each other than to their opposites."""
        return bool((self._cosines(here) >= 0.0).all())

    def opposite(self, here: BodyMotion) -> str:
        """A message on the first directions that are opposite; empty if none are."""
        wrong = np.flatnonzero(self._cosines(here) < 0.0)
        return self._opposite[wrong[0]] if len(wrong) else ""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Merit:
    """The numbers that the search brings to zero: gaps of the joints of motions of the origins over their sizes, zero
    but for the rows that are `counted`, then those of the sides. `known` says what may move."""

    known: Known
    sides: Sides
    joints: Joints
    counted: Bools

    @property
    def units(self) -> Vec:
        """(6,), what displacements and turns are measured by."""
        length = self.known.model.scales.length
        return np.array((length, length, length, 1.0, 1.0, 1.0))

    def place(self, here: BodyMotion) -> _Place:
        """A motion of the origins with its gaps."""
        return _Place(here, self.gaps(here))

    def gaps(self, here: BodyMotion) -> Vec:
        """At a motion of the origins: the joints', then the sides'."""
        g = self.joints.values(here) / self.joints.sizes
        return np.concatenate([np.where(self.counted, g, 0.0), self.sides.gaps(here)])

    def slopes(self, here: BodyMotion) -> Mat:
        """Their gradient, (rows, n, 6), in displacements of the origins and turns about the axes of the bodies."""
        G = self.joints.matrix(here).reshape(-1, len(here.x), 6) * (self.counted / self.joints.sizes)[:, None, None]
        return np.concatenate([G, self.sides.slopes(here)])


def displaced(here: BodyMotion, step: Mat) -> BodyMotion:
    """The origins after displacements and turns (n, 6)."""
    return replace(here, x=here.x + step[:, :3], p=turned(here.p, step[:, 3:]))


class _Place(NamedTuple):
    """Positions of the origins, at rest, and the violations there (`Merit`)."""

    motion: BodyMotion
    gaps: Vec


# ---------------------------------------------------------------- positions


def close(merit: Merit, start: BodyMotion) -> tuple[BodyMotion, BodyMotion, int]:
    """Positions on the constraints, from those of a motion of the origins; the positions that the search had reached
    when given values began to move; the number of steps. Raises ValueError if the joints cannot be closed.

    On the wrong side of an axis the joints are closed, too: that is for the caller to refuse.
    """
    known, rest = merit.known, np.zeros_like(start.x)
    start = replace(start, p=start.p / np.linalg.norm(start.p, axis=1)[:, None], xd=rest, om=rest)
    limit = _CLOSED * known.model.scales.reach / known.model.scales.length
    found = []
    for elsewhere in _starts(known, start):
        found.append(_cheapest(merit, elsewhere))
        if largest(found[-1][0].gaps) <= limit:
            break
    best, before, _ = min(found, key=lambda each: float(np.linalg.norm(each[0].gaps)))
    g = best.gaps[: len(merit.joints.sizes)]
    if not largest(g) <= limit:
        worst = int(np.argmax(np.abs(g)))
        first = largest(merit.gaps(start)[: len(g)] * merit.joints.sizes)
        with_held = " with what is held" if known.held.any() else ""
        raise ValueError(
            f"the joints cannot be closed{with_held}: at best a gap of {abs(g[worst]) * merit.joints.sizes[worst]:.3g} "
            f"remains at {known.model.row_name(worst)} (before: {first:.3g}); check lengths, points and axes, "
            "or start from another placement"
        )
    return best.motion, before, sum(steps for _, _, steps in found)


def _cheapest(merit: Merit, start: BodyMotion) -> tuple[_Place, BodyMotion, int]:
    """The end of the search that moves no more than it has to; where the last kind of values began to move; steps."""
    scales = merit.known.model.scales
    exact = max(_TOLERANCE, 30.0 * float(np.finfo(float).eps) * scales.reach / scales.length)
    moves = merit.known.position_moves()
    found, steps, before = merit.place(start), 0, start
    for k in range(len(moves)):
        before = found.motion
        found, more = _descended(merit, start, moves[: k + 1])
        steps += more
        if largest(found.gaps) <= exact:
            break
    return found, before, steps


def _starts(known: Known, start: BodyMotion) -> Iterator[BodyMotion]:
    """The start, then the same with its unknown orientations turned, always in the same ways."""
    yield start
    unknown = (known.free & ~known.held & ~known.placed)[:, 3:]
    random = np.random.default_rng(0)
    for _ in range(_RESTARTS if unknown.any() else 0):
        yield replace(start, p=turned(start.p, np.where(unknown, random.standard_normal(unknown.shape), 0.0)))


def _descended(merit: Merit, start: BodyMotion, moves: Sequence[Bools]) -> tuple[_Place, int]:
    """The end of steps in some coordinates, and their number: from the wrong side of an axis first to the right one."""
    moved, steps, here = np.zeros((len(start.x), 6)), 0, merit.place(start)
    if not merit.sides.agree(start):
        by_sides = replace(merit, counted=~merit.sides.rows)  # without the equations that the sides stand for
        there, moved, steps = _steps(by_sides, by_sides.place(start), moves, moved)
        here = merit.place(there.motion)
    here, _, count = _steps(merit, here, moves, moved)
    return here, steps + count


def _steps(merit: Merit, here: _Place, moves: Sequence[Bools], moved: Mat) -> tuple[_Place, Mat, int]:
    """Steps until nothing falls, to the place nearest to where all began: where they end, the displacement from the
    beginning, and their number."""
    steps, escapes, pull, last = 0, 0, True, False
    while steps < _STEPS and not last and largest(here.gaps) > 0.0:
        # to the nearest place steps converge linearly: one more goes straight to a closed one
        last = largest(here.gaps) <= _TOLERANCE
        steps += not last
        G = merit.slopes(here.motion)
        step = _solved(merit, here.motion, G, -here.gaps, moves, moved if pull and not last else 0.0)
        found = _shortened(merit, here, step, np.einsum("rni,ni->r", G, step))
        if found is None and last:
            break
        if found is None and pull and moved.any():
            pull = False  # looking for the nearest place stands in the way of finding any
            continue
        if found is None and escapes < _ESCAPES:
            escapes, pull = escapes + 1, True
            away = _way_out(here.motion, moves, merit)
            found = None if away is None else (merit.place(displaced(here.motion, away)), away)
        if found is None:
            break  # no descent: at the rounding level, or the joints cannot be closed
        here, moved = found[0], moved + found[1]
        pull = pull and 2 * steps < _STEPS
    return here, moved, steps


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
        there = merit.place(displaced(here.motion, part))
        if float(np.linalg.norm(there.gaps)) < (1.0 - 0.1 * fraction) * norm:
            return there, part
        fraction *= 0.5
    return None


def _solved(merit: Merit, here: BodyMotion, G: Mat, rhs: Vec, moves: Sequence[Bools], moved: Mat | float = 0.0) -> Mat:
    """d (n, 6) with G d = rhs in the sense of least squares and the least mass-weighted size of d + `moved`."""
    from scipy.linalg import block_diag  # a slow import, which consistent values do not need

    M = merit.known.masses(here.R)
    scale = np.linalg.norm((G * merit.units).reshape(len(G), -1), axis=1)
    scale = np.maximum(scale, _FLAT * largest(scale))
    scale[scale == 0.0] = 1.0
    G, rhs = G.reshape(len(G), -1) / scale[:, None], rhs / scale
    bases, before = [], []
    for some in moves:  # z = L^T d of each kind, with M = L L^T
        L = np.linalg.cholesky(np.where(some[:, :, None] & some[:, None, :], M, np.eye(6)))
        bases.append(block_diag(*np.swapaxes(np.linalg.inv(L), 1, 2))[:, some.ravel()])
        before.append(np.einsum("nji,nj->ni", L, np.where(some, moved, 0.0))[some])
    groups = [G @ basis for basis in bases]
    rest = rhs + sum(A @ z for A, z in zip(groups, before, strict=True))
    found = zip(bases, _least(groups, rest), before, strict=True)
    return np.asarray(sum(basis @ (z - old) for basis, z, old in found)).reshape(-1, 6)


def _way_out(here: BodyMotion, moves: Sequence[Bools], merit: Merit) -> Mat | None:
    """A displacement (n, 6) along the direction in which |gaps|^2 / 2 bends down most, of those that may move; None
    where it bends down in none. Always the same one: among equal directions the one nearest to the first coordinate,
    and of its two senses the one that closes more, or else the positive one."""
    free = np.flatnonzero(np.any(moves, axis=0))
    units = merit.units
    n = len(here.x)

    def gradient(step: Mat) -> Mat:
        there = displaced(here, step)
        return np.asarray(np.einsum("rni,r->ni", merit.slopes(there), merit.gaps(there)) * units).reshape(-1)[free]

    def size(step: Mat) -> float:
        return float(np.linalg.norm(merit.gaps(displaced(here, step))))

    hessian = np.empty((len(free), len(free)))
    for i, column in enumerate(free):
        step = np.zeros(6 * n)
        step[column] = _DIFFERENCE
        step = step.reshape(n, 6) * units
        hessian[:, i] = (gradient(step) - gradient(-step)) / (2.0 * _DIFFERENCE)
    curvature, directions = np.linalg.eigh(0.5 * (hessian + hessian.T))
    before = float(np.linalg.norm(merit.gaps(here)))
    if not curvature[0] < -_CURVED * before:
        return None
    steepest = directions[:, curvature < curvature[0] + 1e-4 * abs(curvature[0])]
    nearest = int(np.argmax(np.round(np.linalg.norm(steepest, axis=1), 6)))
    along = np.zeros(6 * n)
    along[free] = steepest @ steepest[nearest]
    way = _WAY_OUT * (along / np.max(np.abs(along))).reshape(n, 6) * units
    forward, back = size(way), size(-way)
    if not min(forward, back) < before:
        return None
    return np.asarray(-way if back < (1.0 - 1e-9) * forward else way)


def _least(groups: Sequence[Mat], rhs: Vec) -> list[Vec]:
    """z_k with sum_k A_k z_k = rhs in the sense of least squares.

    Of all solutions that with the least last z; of these that with the least z before it, and so on to the first.
    """
    floor = _RANK * max((float(np.linalg.norm(A, 2)) for A in groups if A.size), default=0.0)
    out: list[Vec] = []
    for k in reversed(range(len(groups))):
        cheaper, _, _ = _svd(np.hstack([np.zeros((len(rhs), 0)), *groups[:k]]), floor)
        U, s, Vt = _svd(groups[k] - cheaper @ (cheaper.T @ groups[k]), floor)
        out.append(Vt.T @ ((U.T @ (rhs - cheaper @ (cheaper.T @ rhs))) / s))
        rhs = rhs - groups[k] @ out[-1]
    return out[::-1]


def _svd(A: Mat, floor: float) -> tuple[Mat, Vec, Mat]:
    """The singular value decomposition without values up to a floor."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    kept = s > floor
    return U[:, kept], s[kept], Vt[kept]


# ---------------------------------------------------------------- velocities


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
