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

Steps of velocities begin at those of least kinetic energy without the joints (`Known.of_least_energy`), so that they
lead to those of least energy on the joints.

Welds, slides and driven angles fix a rotation by directions at right angles: their equations also hold half a turn
away. The search keeps the directions that agree less than 60 degrees apart, from where the equations lead to the
rotation that is meant (`Sides`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec, cross
from rbdae.initial.given import Hold, Known, turned
from rbdae.initial.joints import EXACT, Joints, largest
from rbdae.joints.primitives import Coincidence, Distance, Dot1, Dot2
from rbdae.kernels.constraints.drives import ANGLE
from rbdae.multibody.layout import BodyMotion
from rbdae.multibody.model import Model
from rbdae.multibody.row_selection import nearly_redundant, redundant_rows
from rbdae.problem.contract import ProjectionError
from rbdae.problem.start import ROUNDING, Assembly, listed, report

LARGEST: Final = 800
"""Joint equations beyond which a dense decomposition takes minutes; larger systems have the sparse projection alone."""

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
_RANK = 1e-8  # singular values below this fraction of the largest count as zero
_DIFFERENCE = 1e-5  # of gradients, for the curvature
_CURVED = 1e-3  # curvature over the violation, from which on a direction leads down
_WAY_OUT = 0.3  # rad, or lengths of the model
_NEAR = 0.5  # cosine of the angle between directions from which on the equations are trusted

REMEDY: Final = (
    "correct them, leave them out to have them found, or say consistent='project' if these changes are wanted"
)

_GAPS = {
    Coincidence: "points are {:.3g} m apart",
    Dot1: "directions are {:.3g} deg off",
    Dot2: "points are {:.3g} m off",
    Distance: "points are not at the given distance",
}
_RATES = {
    Coincidence: "velocities of the points differ by {:.3g} m/s",
    Dot1: "angular velocities differ by {:.3g} rad/s",
    Dot2: "velocities of the points differ by {:.3g} m/s",
    Distance: "velocities along the rod differ",
}


@final
@dataclass(frozen=True, slots=True, eq=False)
class ConsistentState:
    """A consistent motion of the bodies, how it was found, the joint rows that follow from the others, and the joints
    at that time."""

    motion: BodyMotion
    assembly: Assembly
    dropped: tuple[int, ...]
    joints: Joints

    def joint_matrix(self) -> Mat:
        """G of the joints, (rows, 6 n), in this state."""
        return self.joints.matrix(self.motion)


def consistent_state(model: Model, t0: float, *, check: bool = False, hold: Hold = ()) -> ConsistentState:
    """A state on the constraints: what is not given is found, what is given changes as little as possible.

    `check` refuses given values that would have to change, `hold` keeps what it names in place.

    Raises
    ------
    ValueError
        The given values are inconsistent, a loop cannot be closed, or the velocities contradict each other.
    ProjectionError
        The constraints cannot be satisfied near the given values.
    """
    known = Known.of(model, hold)
    joints = Joints(model, t0)
    stated = known.stated()
    start = known.at_references(known.of_least_energy(stated))
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by name
        g, rate = joints.violation(start)
    if not (np.isfinite(g).all() and np.isfinite(rate).all()):
        raise ValueError(
            f"the constraints are not finite at the given initial values, t0 = {t0:g}; check the sizes of positions "
            "and velocities, and that the laws of drives return numbers"
        )
    search = _Search(joints, known, start, g, rate)
    motion = search.motion()
    if wrong := search.sides.opposite(motion):
        raise ValueError(wrong)
    dropped = redundant_rows(model, joints.matrix(motion)) if search.loops or search.failure is not None else ()
    gaps = largest(g), largest(rate)
    assembly = report(model, known.at_references(stated), motion, gaps, search.steps, motion is not start)
    if dropped:
        assembly = replace(assembly, redundant=tuple(model.row_name(k) for k in dropped))
    if assembly.changes:
        assembly = replace(assembly, disagreement=search.disagreement())
    if check and assembly.changes:
        raise ValueError(
            f"inconsistent initial values: constraint violation {gaps[0]:.3g} in positions, {gaps[1]:.3g} in "
            f"velocities (SI units); {assembly.disagreement}; {listed(assembly.changes)}; {REMEDY}"
        )
    return ConsistentState(motion, assembly, dropped, joints)


def _worst_joint(model: Model, gaps: Vec, words: Mapping[type, str]) -> str:
    """The joint with the largest of the gaps (rows,) over its size, or of their rates, and what disagrees there: all
    its equations of the same kind together."""
    at = int(np.argmax(np.abs(gaps / model.scales.sizes(model.scales.length))))
    ends = np.cumsum(model.primitives["n"])
    i = int(np.searchsorted(ends, at, side="right"))
    k = next(k for k, joint in enumerate(model.joints) if i in joint.primitives)
    own = dict(zip(model.joints[k].primitives, model.system.joints[k].primitives(), strict=True))
    kind = type(own[i])
    alike = [gaps[ends[j] - model.primitives["n"][j] : ends[j]] for j, each in own.items() if type(each) is kind]
    size = float(np.linalg.norm(np.concatenate(alike)))
    if words is _GAPS and kind is Dot1:
        size = float(np.rad2deg(np.arcsin(min(1.0, size))))
    return f"joint {model.joints[k].name!r}: {words[kind].format(size)}"


@final
class _Search:
    """The way from a start to a consistent motion of the reference points.

    The projection corrects all values if only one kind of them can move, or if they are off by rounding; else, and if
    the joints are redundant or far from closed, dense steps move what is cheapest.
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
        self._merit = Merit(known, self.sides, joints, np.ones(len(joints.sizes), dtype=bool))
        # where given values begin to change: positions, and gdot
        self._before, self._rates = start, rate
        self._gap, self._rate = joints.relative(g, rate)

    def motion(self) -> BodyMotion:
        """A consistent motion.

        Raises
        ------
        ValueError, ProjectionError
            There is none near the start.
        """
        gap, rate = self._gap, self._rate
        right = self.sides.agree(self.start)
        exact = right and gap <= EXACT
        if exact and rate <= EXACT:
            return self.start
        risky = self.loops and nearly_redundant(self.joints.model, self.joints.matrix(self.start))
        whole = not (risky or self.known.held.any())
        alike = len(self.known.position_moves()) < 2 and len(self.known.velocity_moves()) < 2
        if whole and right and (alike or max(gap, rate) <= ROUNDING):
            found = self._projected(self.start)
            if found is not None:
                return found
        placed = self.start if exact else self._placed(whole)
        moving = placed if exact else self.known.at_references(self.known.replaced(self.known.at_origins(placed)))
        if self.joints.relative(*self.joints.violation(moving))[1] <= EXACT:
            return moving
        if whole and (len(self.known.velocity_moves()) == 1 or not self.small):
            found = self._projected(moving, positions=False)
            if found is not None:
                return found
        return self._assembled(lambda: self._drive(self.known.at_origins(moving)))

    def disagreement(self) -> str:
        """The joint that the given values contradict most."""
        g = self.joints.violation(self._before)[0]
        if largest(g / self.joints.sizes) > ROUNDING:
            return _worst_joint(self.joints.model, g, _GAPS)
        return _worst_joint(self.joints.model, self._rates, _RATES)

    def _placed(self, whole: bool) -> BodyMotion:
        """Positions on the constraints, with any velocities."""
        if whole and (len(self.known.position_moves()) == 1 or not self.small):
            found = self._projected(self.start, velocities=False)
            if found is not None:
                return found
        return self._assembled(self._close)

    def _close(self) -> BodyMotion:
        motion, before, steps = close(self._merit, self.known.at_origins(self.start))
        self.steps += steps
        self._before = self.known.at_references(before)
        return motion

    def _drive(self, moving: BodyMotion) -> BodyMotion:
        out, rates = drive(self._merit, moving)
        self._rates = rates * self.joints.sizes
        return out

    def _projected(self, motion: BodyMotion, *, positions: bool = True, velocities: bool = True) -> BodyMotion | None:
        """The nearest motion on the constraints; None where there is none, or one on the wrong side of an axis that the
        dense assembly can avoid."""
        try:
            if positions:
                motion, steps = self.joints.nearest_positions(motion)
                self.steps += steps
            if velocities:
                motion = self.joints.nearest_velocities(motion)
        except ProjectionError as error:
            if not self.small:
                raise
            self.failure = error
            return None
        return None if positions and self.small and not self.sides.agree(motion) else motion

    def _assembled(self, find: Callable[[], BodyMotion]) -> BodyMotion:
        """The motion of the reference points by the dense assembly."""
        try:
            return self.known.at_references(find())
        except ValueError as error:
            raise error from self.failure


# ---------------------------------------------------------------- what the search brings to zero


class _Side(NamedTuple):
    """Directions a and b of two bodies, by their numbers, that agree; the primitives whose equations also hold for
    opposite ones; and what to say of opposite ones."""

    bodies: tuple[int, int]
    primitives: tuple[int, ...]
    a: Vec
    b: Vec
    opposite: str


@final
class Sides:
    """All directions of a model that agree; `rows` (joint rows,) bool are the equations that they stand for."""

    rows: Bools

    def __init__(self, model: Model, t0: float) -> None:
        self._sides: list[_Side] = []
        for joint, packed in zip(model.system.joints, model.joints, strict=True):
            opposite = (
                f"joint {packed.name!r}: the bodies are placed nearer to half a turn beyond the rotation in which axes "
                "and normals agree than to that rotation; place them less than a quarter turn from it"
            )
            for a, b in joint.agreements():
                self._sides.append(_Side(packed.bodies, _turning(model, packed.primitives), a, b, opposite))
        for k, law in model.rheonomic.items():
            if law.kind != ANGLE or law.e1 is None or law.e2 is None:
                continue
            angle = float(law.motion(t0)[0][0])
            primitive = model.primitives[k]
            opposite = (
                f"{law.motion.owner}: the bodies are placed nearer to half a turn beyond the angle than to the angle, "
                f"{angle:.4g} rad at t = {t0:g}; place them less than a quarter turn from it"
            )
            across = np.cos(angle) * law.e2 - np.sin(angle) * law.e1
            pair = int(primitive["body"][0]), int(primitive["body"][1])
            self._sides.append(_Side(pair, (k,), across, primitive["B"][5:8].copy(), opposite))
        sizes = model.primitives["n"]
        of_sides = np.zeros(len(sizes), dtype=bool)
        of_sides[[k for side in self._sides for k in side.primitives]] = True
        self.rows = np.repeat(of_sides, sizes)

    def _cosines(self, here: BodyMotion) -> Vec:
        """The cosines of the angles between directions."""
        R = _rotations(here)
        return np.array([float((R[side.bodies[0]] @ side.a) @ (R[side.bodies[1]] @ side.b)) for side in self._sides])

    def gaps(self, here: BodyMotion) -> Vec:
        """How far the cosines are from where the equations are trusted; zero beyond."""
        return np.maximum(0.0, _NEAR - self._cosines(here))

    def slopes(self, here: BodyMotion) -> Mat:
        """The derivatives of `gaps`, (sides, n, 6), with respect to displacements and turns of the bodies."""
        R = _rotations(here)
        out = np.zeros((len(self._sides), len(R), 6))
        for row, side, cosine in zip(out, self._sides, self._cosines(here), strict=True):
            if cosine < _NEAR:
                first, second = side.bodies
                relative = R[first].T @ R[second]
                row[first, 3:] -= cross(side.a, relative @ side.b)
                row[second, 3:] -= cross(side.b, relative.T @ side.a)
        return out[:, :-1]

    def agree(self, here: BodyMotion) -> bool:
        """Whether all directions are nearer to each other than to their opposites."""
        return bool((self._cosines(here) >= 0.0).all())

    def opposite(self, here: BodyMotion) -> str:
        """A message on the first directions that are opposite; empty if none are."""
        wrong = np.flatnonzero(self._cosines(here) < 0.0)
        return self._sides[wrong[0]].opposite if len(wrong) else ""


def _turning(model: Model, primitives: range) -> tuple[int, ...]:
    """The primitives of a joint that only concern directions."""
    table = model.primitives
    return tuple(k for k in primitives if not table[k]["A"][[0, 4]].any() and not table[k]["B"][[0, 4]].any())


def _rotations(here: BodyMotion) -> Mat:
    """Rotation matrices of the bodies and the ground."""
    return np.concatenate([here.R, np.eye(3)[None]])


@final
@dataclass(frozen=True, slots=True, eq=False)
class Merit:
    """The numbers that the search brings to zero: gaps of the joints over their sizes, then those of the sides.

    Parameters
    ----------
    known, sides : what may move, and directions that agree
    joints : whose equations these are
    counted : (rows,) bool, the joint equations that count; the others are zero
    """

    known: Known
    sides: Sides
    joints: Joints
    counted: Bools

    @property
    def units(self) -> Vec:
        """(6,), what displacements and turns are measured by."""
        length = self.known.model.scales.length
        return np.array((length, length, length, 1.0, 1.0, 1.0))

    def by_sides(self) -> Merit:
        """Without the equations that the sides stand for."""
        return replace(self, counted=~self.sides.rows)

    def gaps(self, here: BodyMotion) -> Vec:
        """At a motion of the origins: the joints', then the sides'."""
        g = self.joints.values(self.known.at_references(here)) / self.joints.sizes
        return np.concatenate([np.where(self.counted, g, 0.0), self.sides.gaps(here)])

    def slopes(self, here: BodyMotion) -> Mat:
        """Their gradient, (rows, n, 6), in displacements of the origins and turns about the axes of the bodies."""
        T = self.known.columns(here.R)
        G = self.joints.matrix(self.known.at_references(here)).reshape(-1, len(T), 6)
        G = np.einsum("rni,nij->rnj", G, T) * (self.counted / self.joints.sizes)[:, None, None]
        return np.concatenate([G, self.sides.slopes(here)])

    def rates(self, motion: BodyMotion) -> Vec:
        """gdot of the joints over their sizes."""
        return np.asarray(self.joints.violation(self.known.at_references(motion))[1] / self.joints.sizes)


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
    when given values began to move; the number of steps.

    On the wrong side of an axis the joints are closed, too: that is for the caller to refuse.

    Raises
    ------
    ValueError
        The joints cannot be closed.
    """
    known, rest = merit.known, np.zeros_like(start.x)
    start = replace(start, p=start.p / np.linalg.norm(start.p, axis=1)[:, None], xd=rest, om=rest)
    limit = _CLOSED * known.model.scales.reach / known.model.scales.length
    best, before, steps = _cheapest(merit, start)
    for elsewhere in _other_starts(known, start):
        if largest(best.gaps) <= limit:
            break
        other, other_before, more = _cheapest(merit, elsewhere)
        steps += more
        if float(np.linalg.norm(other.gaps)) < float(np.linalg.norm(best.gaps)):
            best, before = other, other_before
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
    return best.motion, before, steps


def _cheapest(merit: Merit, start: BodyMotion) -> tuple[_Place, BodyMotion, int]:
    """The end of the search that moves no more than it has to; where the last kind of values began to move; steps."""
    scales = merit.known.model.scales
    exact = max(_TOLERANCE, 30.0 * float(np.finfo(float).eps) * scales.reach / scales.length)
    moves = merit.known.position_moves()
    found, steps, before = _Place(start, merit.gaps(start)), 0, start
    for k in range(len(moves)):
        before = found.motion
        found, more = _descended(merit, start, moves[: k + 1])
        steps += more
        if largest(found.gaps) <= exact:
            break
    return found, before, steps


def _other_starts(known: Known, start: BodyMotion) -> Iterator[BodyMotion]:
    """The start with its unknown orientations turned, always in the same ways."""
    unknown = (known.free & ~known.held & ~known.placed)[:, 3:]
    random = np.random.default_rng(0)
    for _ in range(_RESTARTS if unknown.any() else 0):
        yield replace(start, p=turned(start.p, np.where(unknown, random.standard_normal(unknown.shape), 0.0)))


def _descended(merit: Merit, start: BodyMotion, moves: Sequence[Bools]) -> tuple[_Place, int]:
    """The end of steps in some coordinates, and their number: from the wrong side of an axis first to the right one."""
    moved, steps, here = np.zeros((len(start.x), 6)), 0, _Place(start, merit.gaps(start))
    if not merit.sides.agree(start):
        by_sides = merit.by_sides()
        there, moved, steps = _steps(by_sides, _Place(start, by_sides.gaps(start)), moves, moved)
        here = _Place(there.motion, merit.gaps(there.motion))
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
        found = _shortened(merit, here, *_step(merit, here, moves, moved if pull and not last else None))
        if found is None and last:
            break
        if found is None and pull and moved.any():
            pull = False  # looking for the nearest place stands in the way of finding any
            continue
        if found is None and escapes < _ESCAPES:
            escapes, pull = escapes + 1, True
            away = _way_out(here.motion, moves, merit)
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
    M = merit.known.masses(merit.known.columns(here.R))
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
    for W, at, z, old in zip(inverses, columns, _least(groups, rhs), before, strict=True):
        part = np.zeros(out.size)
        part[at] = z - old
        out += np.einsum("nij,nj->ni", W, part.reshape(out.shape))
    return out


def _pairs(some: Bools) -> Bools:
    """(n, 6, 6), where both the row and the column may move."""
    return np.asarray(some[:, :, None] & some[:, None, :])


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
    size = max((float(np.linalg.norm(A, 2)) for A in groups if A.size), default=0.0)
    out: list[Vec] = []
    for k in reversed(range(len(groups))):
        cheaper = np.hstack(groups[:k]) if k else np.zeros((len(rhs), 0))
        U = _range(cheaper, _RANK * size)
        z = _least_norm(groups[k] - U @ (U.T @ groups[k]), rhs - U @ (U.T @ rhs), _RANK * size)
        rhs = rhs - groups[k] @ z
        out.append(z)
    return out[::-1]


def _range(A: Mat, floor: float) -> Mat:
    """An orthonormal basis of the columns of A."""
    if not A.size:
        return np.zeros((len(A), 0))
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    return np.asarray(U[:, s > floor])


def _least_norm(A: Mat, rhs: Vec, floor: float) -> Vec:
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    kept = s > floor
    return np.asarray(Vt[kept].T @ ((U[:, kept].T @ rhs) / s[kept]))


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
    before, G = rest, merit.slopes(start)[: len(rest)]
    while n < len(moves) and (n == 0 or largest(rest) > _EXACT * speed):
        n, before = n + 1, rest
        out, rest = _steered(merit, start, G, moves[:n], _EXACT * speed)
    if not largest(rest) <= _STEADY * speed:
        worst = int(np.argmax(np.abs(rest)))
        raise ValueError(
            f"no velocities satisfy the constraints: {abs(rest[worst]) * merit.joints.sizes[worst]:.3g} remains at "
            f"{known.model.row_name(worst)}; check the drives and what is held"
        )
    if n < 2:
        return out, before
    # what has to change besides the unknown velocities has changed: others have the least energy beside it
    best, rest = _steered(merit, known.of_least_energy(out), G, moves[:1], _EXACT * speed)
    return best if largest(rest) <= _STEADY * speed else out, before


def _steered(merit: Merit, start: BodyMotion, G: Mat, moves: Sequence[Bools], exact: float) -> tuple[BodyMotion, Vec]:
    """A motion with other velocities, the nearest on the constraints that changes in these ways reach, and gdot; G are
    the slopes at these positions."""
    out, rest = start, merit.rates(start)
    for _ in range(2):  # the second time against rounding
        step = _solved(merit, start, G, -rest, moves, None)
        out = replace(out, xd=out.xd + step[:, :3], om=out.om + step[:, 3:])
        rest = merit.rates(out)
        if largest(rest) <= exact:
            break
    return out, rest
