"""A consistent start of a model: one path for all formulations, so that all start from the same state.

Trees go through the projection, whose effort grows linearly; loops, and what it cannot solve, through the dense
assembly. Both work on g, gdot and G of the joints in natural coordinates (`natural`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.initial.assembly import LARGEST, close, drive
from rbdae.initial.disagreement import of_positions, of_velocities
from rbdae.initial.given import Hold, Known
from rbdae.initial.merit import Merit
from rbdae.initial.natural import EXACT, Joints, largest
from rbdae.initial.sides import Sides
from rbdae.multibody.layout import BodyMotion
from rbdae.multibody.model import Model
from rbdae.multibody.row_selection import nearly_redundant, redundant_rows
from rbdae.problem.assembly_report import ROUNDING, Assembly, listed, report
from rbdae.problem.contract import ProjectionError

REMEDY = "correct them, leave them out to have them found, or say consistent='project' if these changes are wanted"


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
    search.sides.check(motion.p)
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


@final
class _Search:
    """The way to a consistent motion of the reference points, from a start.

    Where only one kind of values can move, the unknown or the given ones, the projection finds the nearest state. Where
    it is the given ones alone for rounding, it corrects all. Else, and where the joints are redundant or far from
    closed, the dense assembly does it.
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
        right = self.sides.right(self.start.p)
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
            return of_positions(self.joints.model, self._before, g)
        return of_velocities(self.joints.model, self._rates)

    def _placed(self, whole: bool) -> BodyMotion:
        """Positions on the constraints, with any velocities."""
        if whole and (len(self.known.position_moves()) == 1 or not self.small):
            found = self._projected(self.start, velocities=False)
            if found is not None:
                return found
        return self._assembled(self._close)

    def _close(self) -> BodyMotion:
        closed = close(self._merit, self.known.at_origins(self.start))
        self.steps += closed.steps
        self._before = self.known.at_references(closed.before)
        return closed.motion

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
        return None if positions and self.small and not self.sides.right(motion.p) else motion

    def _assembled(self, find: Callable[[], BodyMotion]) -> BodyMotion:
        """The motion of the reference points by the dense assembly."""
        try:
            return self.known.at_references(find())
        except ValueError as error:
            raise error from self.failure


__all__ = ["REMEDY", "ConsistentState", "consistent_state"]
