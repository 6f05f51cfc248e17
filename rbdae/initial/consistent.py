"""A consistent start of a model: one path for all formulations, so that all start from the same state.

Positions and velocities are found in quaternions with angular velocities. Trees go through the sparse projection, whose
effort grows linearly; loops, and what it cannot solve, through the dense assembly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.formulations.table import FORMULATIONS
from rbdae.initial.assembly import LARGEST, Hold, assemble_dense, check_hold
from rbdae.kernels.constraints.drives import ANGLE
from rbdae.multibody.joint_values import joint_matrix
from rbdae.multibody.layout import BodyMotion, natural_coordinates, write
from rbdae.multibody.model import Model
from rbdae.multibody.row_selection import nearly_redundant, redundant_rows
from rbdae.multibody.selection import Selection
from rbdae.multibody.settings import Settings
from rbdae.multibody.workspace import Memory, Workspace
from rbdae.problem.assembly_report import Assembly, report
from rbdae.problem.callbacks import Callbacks
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.projection import Projection, ProjectionError, Projector
from rbdae.problem.quantities import Constraints, angular_velocities
from rbdae.problem.violations import ViolationScales
from rbdae.rotations import CHARTS

START_SETTINGS = Settings(FORMULATIONS["index-0"], CHARTS["quaternion"])
"""The equations by which the start is found."""

# violations of the given initial values, over their sizes in the model, up to here count as consistent
_CONSISTENT = 1e-8


@final
@dataclass(frozen=True, slots=True, eq=False)
class ConsistentState:
    """A consistent motion of the bodies, how it was found, the joint rows that follow from the others, and the memory
    of the equations by which it was found."""

    motion: BodyMotion
    assembly: Assembly | None
    dropped: tuple[int, ...]
    t0: float
    workspace: Workspace

    def joint_matrix(self) -> Mat:
        """G of the joints, (rows, 6 n), in this state."""
        return joint_matrix(self.workspace, self.t0, natural_coordinates(self.motion))


@final
class _Quaternions:
    """A model in quaternions and angular velocities: what the projection needs of a problem."""

    def __init__(self, model: Model, t0: float) -> None:
        self.model = model
        self.t0 = t0
        self.workspace = Workspace(Memory.of(model, START_SETTINGS), Selection())
        self._view = Interpretation(self.workspace)
        self.callbacks = Callbacks(self.workspace, lambda: None)
        self.n = self.workspace.layout.n

    def constraints(self, t: float, y: Vec) -> Constraints:
        return self._view.constraints(t, y)

    def singular_row(self) -> str | None:
        row = self.workspace.singular_row()
        return None if row is None else self.model.row_name(row)

    def write(self, motion: BodyMotion) -> Vec:
        """The unknowns of a motion."""
        return write(self.model, START_SETTINGS, self.workspace.layout, motion)

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
        """What the unknowns say."""
        Z = self.natural(y)
        return BodyMotion(Z[:, :3], y[self._quaternions()], Z[:, 12:15], angular_velocities(Z))

    def _quaternions(self) -> Ints:
        """Where the quaternions are in y, (n, 4)."""
        free = self.model.bodies["nt"][: self.model.n]
        return np.asarray((self.workspace.layout.iq + free)[:, None] + np.arange(4))


def consistent_state(
    model: Model, t0: float, *, check: bool = False, hold: Hold = (), reported: bool = False
) -> ConsistentState:
    """The state on the constraints that is nearest to the given one in the mass metric.

    `check` refuses given values that are not consistent, `hold` keeps what it names in place, `reported` asks for the
    report of the assembly in any case.

    Raises
    ------
    ValueError
        The given values are inconsistent, a loop cannot be closed, or the velocities contradict each other.
    ProjectionError
        The constraints cannot be satisfied near the given values.
    """
    hold = check_hold(hold)
    chart = _Quaternions(model, t0)
    y = chart.write(BodyMotion(model.x, model.p, model.xd, model.om))
    given = chart.constraints(t0, y)
    if not (np.isfinite(given.position).all() and np.isfinite(given.velocity).all()):
        raise ValueError(
            f"the constraints are not finite at the given initial values, t0 = {t0:g}; check the sizes of positions "
            "and velocities, and that the laws of drives return numbers"
        )
    if check:
        _refuse_inconsistent(chart.callbacks.violation_scales, given)
    small = (int(model.primitives["n"].sum()) if len(model.primitives) else 0) <= LARGEST
    if (hold or reported) and not small:
        raise ValueError(f"assembly with a report, or with something held, takes up to {LARGEST} joint equations")
    loops = small and len(model.tree.closing) > 0
    risky = loops and nearly_redundant(model, chart.joint_matrix(chart.natural(y)))
    failure: ProjectionError | None = None
    if not (risky or hold):
        try:
            return _projected(chart, y, loops, reported)
        except ProjectionError as error:
            if not small:
                raise
            failure = error
    return _assembled(chart, hold, failure)


def _refuse_inconsistent(scales: ViolationScales, found: Constraints) -> None:
    sizes = [float(np.max(np.abs(g), initial=0.0)) for g in (found.position, found.velocity)]
    if max(scales.relative(found)) > _CONSISTENT:
        raise ValueError(
            f"inconsistent initial values: constraint violation {sizes[0]:.3g} in positions, {sizes[1]:.3g} "
            "in velocities (SI units); correct them, or let formulate project them with consistent='project'"
        )


def _projected(chart: _Quaternions, y: Vec, loops: bool, reported: bool) -> ConsistentState:
    """By the sparse projection."""
    model, t0 = chart.model, chart.t0
    projector = Projector(Projection(max_iterations=50), chart)
    # a start that is consistent already does not cost the compilation of the projection
    if projector.drift(t0, y) > projector.projection.tolerance:
        projector(t0, y)
    Z, motion = chart.natural(y), chart.motion(y)
    _refuse_half_turns(model, t0, Z)
    dropped = redundant_rows(model, chart.joint_matrix(Z)) if loops else ()
    assembly = None
    if reported:
        g, _ = chart.violation(BodyMotion(model.x, model.p, model.xd, model.om))
        assembly = report(model, motion, float(np.max(np.abs(g), initial=0.0)), projector.iterations)
        assembly = replace(assembly, redundant=tuple(model.row_name(k) for k in dropped))
    return ConsistentState(motion, assembly, dropped, t0, chart.workspace)


def _assembled(chart: _Quaternions, hold: Hold, failure: ProjectionError | None) -> ConsistentState:
    """By the dense assembly."""
    model, t0 = chart.model, chart.t0
    try:
        assembly = assemble_dense(model, chart.violation, chart.joint_matrix, hold)
    except ValueError as error:
        raise error from failure
    motion = BodyMotion(assembly.position, assembly.orientation, assembly.velocity, assembly.angular_velocity)
    Z = natural_coordinates(motion)
    _refuse_half_turns(model, t0, Z)
    dropped = redundant_rows(model, chart.joint_matrix(Z))
    assembly = replace(assembly, redundant=tuple(model.row_name(k) for k in dropped))
    return ConsistentState(motion, assembly, dropped, t0, chart.workspace)


def _refuse_half_turns(model: Model, t0: float, Z: Mat) -> None:
    """The equation of a driven angle also holds half a turn away, where a start far from the angle is projected to."""
    for k, law in model.rheonomic.items():
        if law.kind != ANGLE or law.e1 is None or law.e2 is None:
            continue
        angle = float(law.motion(t0)[0][0])
        across = np.zeros(8)
        across[1:4] = np.cos(angle) * law.e2 - np.sin(angle) * law.e1
        pair = model.primitives[k]["body"]
        if _vector(model, across, pair, Z) @ _vector(model, model.primitives[k]["B"], pair, Z) < 0.0:
            raise ValueError(
                f"{law.motion.owner}: the bodies are placed nearer to half a turn beyond the angle than to the angle, "
                f"{angle:.4g} rad at t = {t0:g}; place them less than a quarter turn from it"
            )


def _vector(model: Model, c: Vec, pair: Ints, Z: Mat) -> Vec:
    """sum c_k Z_k over (x, d1, d2, d3) of two bodies."""
    ground = np.concatenate([np.zeros(3), np.eye(3).reshape(9)])
    both = [ground if b == model.n else Z[b, :12] for b in pair]
    return np.asarray(c @ np.concatenate(both).reshape(8, 3))


__all__ = ["START_SETTINGS", "ConsistentState", "consistent_state"]
