"""A consistent start of a model: one path for all formulations, so that all start from the same state.

Positions and velocities are found in quaternions with angular velocities. Trees go through the sparse projection, whose
effort grows linearly; loops, and what it cannot solve, through the dense assembly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.formulations.table import FORMULATIONS
from rbdae.initial.assembly import LARGEST, close, drive
from rbdae.initial.disagreement import of_positions, of_velocities
from rbdae.initial.given import Hold, Known
from rbdae.initial.merit import Merit
from rbdae.initial.sides import Sides
from rbdae.multibody.joint_values import joint_matrix
from rbdae.multibody.layout import BodyMotion, natural_coordinates, write
from rbdae.multibody.memory import Code, Memory
from rbdae.multibody.model import Model
from rbdae.multibody.row_selection import nearly_redundant, redundant_rows
from rbdae.multibody.selection import Selection
from rbdae.multibody.settings import Settings
from rbdae.multibody.workspace import Workspace
from rbdae.problem.assembly_report import ROUNDING, Assembly, listed, report
from rbdae.problem.callbacks import Callbacks
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.projection import Projection, ProjectionError, Projector
from rbdae.problem.quantities import Constraints, angular_velocities
from rbdae.rotations import CHARTS

START_SETTINGS = Settings(FORMULATIONS["index-0"], CHARTS["quaternion"])
"""The equations by which the start is found."""

REMEDY = "correct them, leave them out to have them found, or say consistent='project' if these changes are wanted"

_EXACT = 1e-14
"""Violations over their sizes up to here are left alone."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class ConsistentState:
    """A consistent motion of the bodies, how it was found, the joint rows that follow from the others, and the memory
    of the equations by which it was found."""

    motion: BodyMotion
    assembly: Assembly
    dropped: tuple[int, ...]
    t0: float
    workspace: Workspace

    def joint_matrix(self) -> Mat:
        """G of the joints, (rows, 6 n), in this state."""
        return joint_matrix(self.workspace, self.t0, natural_coordinates(self.motion))


def _no_pattern() -> NoReturn:
    raise TypeError("the equations of the start have no Jacobian")


@final
class _Quaternions:
    """A model in quaternions and angular velocities: what the projection needs of a problem."""

    def __init__(self, model: Model, t0: float, code: Code) -> None:
        self.model = model
        self.t0 = t0
        self.workspace = Workspace(Memory.of(model, START_SETTINGS, code=code), Selection())
        self._view = Interpretation(self.workspace)
        self.callbacks = Callbacks(self.workspace, _no_pattern)
        self.n = self.workspace.layout.n

    def constraints(self, t: float, y: Vec) -> Constraints:
        return self._view.constraints(t, y)

    def singular_row(self) -> str | None:
        row = self.workspace.singular_row()
        return None if row is None else self.model.row_name(row)

    def write(self, motion: BodyMotion) -> Vec:
        """The unknowns of a motion."""
        return write(self.model, START_SETTINGS, self.workspace.layout, motion, Selection())

    def natural(self, y: Vec) -> Mat:
        return self._view.natural(self.t0, y)

    def joint_matrix(self, Z: Mat) -> Mat:
        """G of the joints, (rows, 6 n), at natural coordinates."""
        return joint_matrix(self.workspace, self.t0, Z)

    def violation(self, motion: BodyMotion) -> tuple[Vec, Vec]:
        """g and gdot of the joints."""
        g = self.constraints(self.t0, self.write(motion))
        return g.position[self.model.n :], g.velocity[self.model.n :]

    def motion(self, y: Vec) -> BodyMotion:
        """The motion that the unknowns stand for."""
        Z = self.natural(y)
        return BodyMotion(Z[:, :3], y[self._quaternions()], Z[:, 12:15], angular_velocities(Z))

    def _quaternions(self) -> Ints:
        """The places of the quaternions in y, (n, 4)."""
        free = self.model.bodies["nt"][: self.model.n]
        return np.asarray((self.workspace.layout.iq + free)[:, None] + np.arange(4))


def consistent_state(
    model: Model, t0: float, *, check: bool = False, hold: Hold = (), code: Code = "generic"
) -> ConsistentState:
    """A state on the constraints: what is not given is found, what is given changes as little as possible.

    `check` refuses given values that would have to change, `hold` keeps what it names in place, `code` says how the
    kernels run by which it is found.

    Raises
    ------
    ValueError
        The given values are inconsistent, a loop cannot be closed, or the velocities contradict each other.
    ProjectionError
        The constraints cannot be satisfied near the given values.
    """
    known = Known.of(model, hold)
    chart = _Quaternions(model, t0, code)
    start = known.at_references(known.start())
    given = chart.constraints(t0, chart.write(start))
    if not (np.isfinite(given.position).all() and np.isfinite(given.velocity).all()):
        raise ValueError(
            f"the constraints are not finite at the given initial values, t0 = {t0:g}; check the sizes of positions "
            "and velocities, and that the laws of drives return numbers"
        )
    search = _Search(chart, known, start, given)
    motion = search.motion()
    Z = natural_coordinates(motion)
    search.sides.check(motion.p)
    dropped = redundant_rows(model, chart.joint_matrix(Z)) if search.loops or search.failure is not None else ()
    gaps = _largest(given.position[model.n :]), _largest(given.velocity[model.n :])
    assembly = report(model, known.at_references(known.stated()), motion, gaps, search.steps, motion is not start)
    if dropped:
        assembly = replace(assembly, redundant=tuple(model.row_name(k) for k in dropped))
    if assembly.changes:
        assembly = replace(assembly, disagreement=search.disagreement())
    if check and assembly.changes:
        raise ValueError(
            f"inconsistent initial values: constraint violation {_largest(given.position):.3g} in positions, "
            f"{_largest(given.velocity):.3g} in velocities (SI units); {assembly.disagreement}; "
            f"{listed(assembly.changes)}; {REMEDY}"
        )
    return ConsistentState(motion, assembly, dropped, t0, chart.workspace)


@final
class _Search:
    """The way to a consistent motion of the reference points, from a start and its violations of the constraints.

    Where only one kind of values can move, the unknown or the given ones, the sparse projection finds the nearest
    state. Where it is the given ones alone for rounding, it corrects all. Else, and where the joints are redundant or
    far from closed, the dense assembly does it.
    """

    def __init__(self, chart: _Quaternions, known: Known, start: BodyMotion, given: Constraints) -> None:
        model = chart.model
        self.chart, self.known, self.start = chart, known, start
        self.steps = 0
        self.failure: ProjectionError | None = None
        self.small = (int(model.primitives["n"].sum()) if len(model.primitives) else 0) <= LARGEST
        if known.held.any() and not self.small:
            raise ValueError(f"assembly with something held takes up to {LARGEST} joint equations")
        self.loops = self.small and len(model.tree.closing) > 0
        self._gaps = chart.callbacks.violation_scales.relative(given)
        self.sides = Sides(model, chart.t0)
        sizes = model.scales.sizes(model.scales.length)
        counted = np.ones(len(sizes), dtype=bool)
        self._merit = Merit(known, self.sides, chart.violation, chart.joint_matrix, sizes, counted)
        # where given values begin to change: positions, and gdot
        self._before, self._rates = start, given.velocity[model.n :]

    def motion(self) -> BodyMotion:
        """A consistent motion.

        Raises
        ------
        ValueError, ProjectionError
            There is none near the start.
        """
        right = self.sides.right(self.start.p)
        exact = right and self._gaps[0] <= _EXACT
        if exact and self._gaps[1] <= _EXACT:
            return self.start
        risky = self.loops and nearly_redundant(
            self.chart.model, self.chart.joint_matrix(natural_coordinates(self.start))
        )
        whole = not (risky or self.known.held.any())
        alike = len(self.known.position_moves()) < 2 and len(self.known.velocity_moves()) < 2
        if whole and right and (alike or max(self._gaps) <= ROUNDING):
            found = self._projected(self.start, Projection(max_iterations=50))
            if found is not None and (self.sides.right(found.p) or not self.small):
                return found
        placed = self.start if exact else self._placed(whole)
        moving = placed if exact else self.known.at_references(self.known.replaced(self.known.at_origins(placed)))
        _, rates = self.chart.violation(moving)
        scales = self.chart.model.scales
        if _largest(rates / scales.sizes(scales.length)) <= _EXACT * scales.rate:
            return moving
        if whole and (len(self.known.velocity_moves()) == 1 or not self.small):
            found = self._projected(moving, Projection(position=False))
            if found is not None:
                return found
        return self._assembled(lambda: self._drive(self.known.at_origins(moving)))

    def disagreement(self) -> str:
        """The joint that the given values contradict most."""
        model = self.chart.model
        g = self.chart.violation(self._before)[0]
        if _largest(g / model.scales.sizes(model.scales.length)) > ROUNDING:
            return of_positions(model, self._before, g)
        return of_velocities(model, self._rates)

    def _placed(self, whole: bool) -> BodyMotion:
        """Positions on the constraints, with any velocities."""
        if whole and (len(self.known.position_moves()) == 1 or not self.small):
            found = self._projected(self.start, Projection(velocity=False, max_iterations=50))
            if found is not None and (self.sides.right(found.p) or not self.small):
                return found
        return self._assembled(self._close)

    def _close(self) -> BodyMotion:
        closed = close(self._merit, self.known.at_origins(self.start))
        self.steps += closed.steps
        self._before = self.known.at_references(closed.before)
        return closed.motion

    def _drive(self, moving: BodyMotion) -> BodyMotion:
        out, rates = drive(self._merit, moving)
        self._rates = rates * self._merit.sizes
        return out

    def _projected(self, motion: BodyMotion, projection: Projection) -> BodyMotion | None:
        """The motion by the sparse projection; None where it fails."""
        projector, y = Projector(projection, self.chart), self.chart.write(motion)
        try:
            projector(self.chart.t0, y)
        except ProjectionError as error:
            if not self.small:
                raise
            self.failure = error
            return None
        self.steps += projector.iterations
        return self.chart.motion(y)

    def _assembled(self, find: Callable[[], BodyMotion]) -> BodyMotion:
        """The motion of the reference points by the dense assembly."""
        try:
            return self.known.at_references(find())
        except ValueError as error:
            raise error from self.failure


def _largest(g: Vec) -> float:
    return float(np.max(np.abs(g), initial=0.0))


__all__ = ["REMEDY", "START_SETTINGS", "ConsistentState", "consistent_state"]
