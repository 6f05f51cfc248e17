"""Projection onto the constraint manifold: one object, used by every adapter after accepted steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae._frozen import refuse_copies
from rbdae.machine.function import MachineFunction, trampoline
from rbdae.machine.loops import correction as at
from rbdae.multibody.unit_masses import with_unit_masses
from rbdae.multibody.workspace import Workspace
from rbdae.problem.contract import ProjectionError, StateProjector
from rbdae.problem.nearest import Nearest, info_of, with_info
from rbdae.problem.quantities import Constraints

TOLERANCE = 1e-14
"""Largest relative violation that counts as none, unless something else is asked for."""

HELD = 1e-12
"""Relative violation up to which positions are on the constraints: rounding, where no projection has to follow."""


@final
@dataclass(frozen=True, slots=True)
class Projection:
    """How to project; [NS], section 6, with a correction (docs/null-space.md).

    Rotations are projected explicitly: normalisation (63) for quaternions, the algorithm of Spurrier and Klumpp for
    directors (others: `rbdae.rotations.orthonormalised`). Joints follow by Newton's method (62, P), velocities by the
    linear system (62, V); the velocities of the null-space form satisfy their constraints by construction and are left
    alone. Rates of coordinates and momenta, which drift with the coordinates, are divided as these are: the angular
    velocity stays.

    Parameters
    ----------
    position, velocity : bool
        What to project.
    tolerance : float
        Largest violation that counts as no drift; smaller ones are left alone. Relative: g over the length of the model
        where it is one, gdot over its length and time (`rbdae.multibody.scales`).
    restart_tolerance : float
        Violation, relative likewise, beyond which an adapter of a multistep code interrupts it to feed the projected
        state back (each such restart costs the code its order and step size).
    max_iterations : int
        Of Newton's method, whose steps are halved where a whole one does not reduce the violation. The first half of
        them looks for the nearest consistent state, the others, from far away, for any.
    metric : ``"mass"`` or ``"identity"``
        M of (62): the mass matrix, or the identity for the velocities of the formulation, which is (64, V) for
        directors. The identity counts a metre as one radian, or as a unit of the directors; so with joints, or where
        bodies have x, it depends on the unit of length. It is for forms in velocities.
    velocities : ``"angular"`` or ``"tangential"``
        What rates of coordinates, and momenta, become where positions are projected: pdot* / ``|p*|`` and ddot* S^-1
        for D* = R S, tangential then, which keeps the angular velocity; or the tangential part of pdot* and ddot*
        alone, which is the paper's (63), (64), and changes it. Other velocities are the same by both.
    """

    position: bool = True
    velocity: bool = True
    tolerance: float = TOLERANCE
    restart_tolerance: float = 1e-8
    max_iterations: int = 10
    metric: Literal["mass", "identity"] = "mass"
    velocities: Literal["angular", "tangential"] = "angular"

    def __post_init__(self) -> None:
        for name in ("position", "velocity"):
            _check.flag("Projection", name, getattr(self, name))
        for name in ("tolerance", "restart_tolerance"):
            if _check.number("Projection", name, getattr(self, name)) < 0.0:
                raise ValueError(
                    f"Projection: {name} = {getattr(self, name)!r} must be a finite number >= 0; give 1e-14"
                )
        _check.count("Projection", "max_iterations", self.max_iterations)
        for name, known in (("metric", ("mass", "identity")), ("velocities", ("angular", "tangential"))):
            given = getattr(self, name)
            if not isinstance(given, str) or given not in known:
                raise _check.unknown(f"{name} of a Projection", given, known)

    def bind(self, problem: Any) -> Projector:
        """A projector for one problem."""
        return Projector(self, problem)


@final
class Projector:
    """A `Projection` at work on one problem; counts and sizes of its corrections are kept.

    Attributes
    ----------
    count : corrections made
    skipped : calls that found no drift
    iterations : Newton iterations in all
    largest : largest correction of an unknown, max norm
    total : sum of the corrections, max norm
    """

    def __init__(self, projection: Projection, problem: Any) -> None:
        self.projection = projection
        self.problem = problem
        self.count = 0
        self.skipped = 0
        self.iterations = 0
        self.largest = 0.0
        self.total = 0.0
        p = projection
        self._scales: ViolationScales = problem.callbacks._violation_scales
        if projection.metric == "identity":
            _refuse_identity(problem.workspace)
        self._info = info = info_of(problem.workspace, self._scales.weights)
        info[at.TIME] = self._scales.time
        info[at.STEADY] = max(1e3 * p.tolerance, 30.0 * self._scales.reach * np.finfo(float).eps)
        info[at.TOLERANCE] = p.tolerance
        info[at.ITERATION_LIMIT] = p.max_iterations
        info[at.PROJECT_POSITIONS] = p.position
        info[at.PROJECT_VELOCITIES] = p.velocity * (1.0 + (p.velocities == "angular"))

    @cached_property
    def _nearest(self) -> Nearest:
        """The projection without statistics, made when it is first needed."""
        if self.projection.metric == "identity":  # with M = I, [NS] (64)
            return Nearest(with_unit_masses(self.problem.workspace))
        nearest: Nearest = self.problem.callbacks.project
        return nearest

    @property
    def restart_tolerance(self) -> float:
        """Drift beyond which a multistep code is restarted."""
        return self.projection.restart_tolerance

    @property
    def reach(self) -> float:
        """The size of positions in the unit of `drift`, the length of the model; at least 1."""
        return self._scales.reach

    def __call__(self, t: float, y: Vec) -> bool:
        """Project `y` in place; returns whether it changed.

        Raises `ProjectionError` where the constraints cannot be satisfied.
        """
        before, info = y.copy(), self._info
        self._nearest(t, y, info)
        if info[at.ITERATIONS] < 0.0:
            raise ProjectionError(self.failure(info))
        if info[at.CHANGED] == 0.0:
            self.skipped += 1
            return False
        correction = float(np.max(np.abs(y - before)))
        self.count += 1
        self.iterations += int(info[at.ITERATIONS])
        self.largest = max(self.largest, correction)
        self.total += correction
        return True

    def machine(self) -> CompiledProjection | None:
        """This projection for a run in machine code; None where there is no machine code."""
        near = self._nearest.machine()
        return None if near is None else CompiledProjection(self, near, self._info, self.problem.n)

    def failure(self, info: Vec) -> str:
        """Why a projection failed."""
        t, place = info[at.LAST_TIME], int(info[at.SINGULAR])
        if place:
            row = self.problem.model.row_name(self.problem.workspace.row_of_pivot(place - 1))
            return (
                f"t = {t:g}: the constraints are redundant or singular, first at {row}; remove the redundant joint "
                "equation or move away from the singular position"
            )
        return (
            f"t = {t:g}: Newton's method did not reach the constraint manifold (relative violation "
            f"{info[at.VIOLATION]:.3g} before); start closer to a consistent position, or raise max_iterations"
        )

    def drift(self, t: float, y: Vec) -> float:
        """Largest relative violation of the constraints that would be projected, max over positions and velocities."""
        position, velocity = self._scales.relative(self.problem.constraints(t, y))
        return max(position if self.projection.position else 0.0, velocity if self.projection.velocity else 0.0)


def has_drifted(problem: Any, t: float, y: Vec) -> bool:
    """Whether positions are off the constraints by more than rounding."""
    return not Projection(velocity=False).bind(problem).drift(t, y) <= HELD


def project_drift(problem: Any, t: float, y: Vec) -> None:
    """Project y in place after other joint rows have been selected, if positions have drifted.

    Integrators that hold positions at rounding have velocities off the constraints to second order, and an energy that
    a projection would change: their states are left alone.
    """
    if has_drifted(problem, t, y):
        Projection().bind(problem)(t, y)


def bind_projection(problem: Any, projection: Any) -> StateProjector | None:
    """The projector that a `projection` argument asks for, or None: True stands for `Projection()`, and anything that
    can be bound to the problem will do."""
    if projection is None or projection is False:
        return None
    if projection is True:
        return Projection().bind(problem)
    if not callable(getattr(projection, "bind", None)):
        raise TypeError(
            f"projection must be True, False, None or a rbdae.Projection, got {_check.show(projection)}; pass e.g. True"
        )
    bound: StateProjector = projection.bind(problem)
    return bound


# ------------------------------------------------------------ how large, and in machine code


@final
@dataclass(frozen=True, slots=True, eq=False)
class ViolationScales:
    """How large violations of the constraints are, as numbers without units.

    Parameters
    ----------
    weights : what violations of positions are multiplied by: 1 for the chart's internal constraints, the inverse sizes
        of joint equations in a model of this length
    time : s; what those of velocities are multiplied by besides
    reach : the size of positions over this length, at least 1
    """

    weights: Vec
    time: float
    reach: float

    @classmethod
    def of(cls, workspace: Workspace) -> Self:
        """The scales of a model in its chart."""
        internal = workspace.model.n * len(workspace.settings.chart.internal)
        scales = workspace.model.scales
        weights = np.concatenate([np.ones(internal), 1.0 / scales.sizes(scales.length)])
        return cls(weights, 1.0 / scales.rate, scales.reach / scales.length)

    def relative(self, found: Constraints) -> tuple[float, float]:
        """The largest violations, without units, of positions and of velocities."""
        position = float(np.max(self.weights * np.abs(found.position), initial=0.0))
        return position, self.time * float(np.max(self.weights * np.abs(found.velocity), initial=0.0))


def _refuse_identity(workspace: Workspace) -> None:
    """Refuse M = I for momenta, which M makes of velocities, and where joint equations are suspended."""
    if workspace.settings.momenta:
        raise ValueError(
            f"Projection: metric='identity' projects velocities, and {workspace.settings.formulation.name} has "
            "momenta, for which there is the mass metric; leave it out"
        )
    if workspace.selection.rows.pivot_floor is not None:
        raise ValueError(
            "Projection: metric='identity' does not go with redundant='minimum-norm' and loops: joint equations "
            "are suspended by their pivots in the mass metric; leave it out"
        )


@final
class CompiledProjection:
    """The projection of a run in machine code, see `rbdae.machine.loops.correction`.

    Attributes
    ----------
    near : f(t, y, info, out), a machine function
    memory : (k,)
    result : int
        Where results are in it.
    """

    def __init__(self, projector: Projector, near: MachineFunction, info: Vec, n: int) -> None:
        self.near = near
        self._projector = projector
        self.result = at.INFO + len(info)
        self.memory = np.zeros(self.result + n)
        self.memory[at.INFO : self.result] = info

    __reduce__ = refuse_copies

    @property
    def info(self) -> Vec:
        """What says how to project, and what was done last."""
        return self.memory[at.INFO : self.result]

    def check(self) -> None:
        """Raise why the last projection has failed, if it has."""
        self.near.check()
        if self.info[at.ITERATIONS] < 0.0:
            raise ProjectionError(self._projector.failure(self.info))

    def collect(self) -> None:
        """Add what the loop has counted since the last time to the projector's statistics."""
        p, projector = self.memory, self._projector
        projector.count += int(p[at.COUNT])
        projector.skipped += int(p[at.SKIPPED])
        projector.iterations += int(p[at.NEWTON])
        projector.largest = max(projector.largest, float(p[at.LARGEST]))
        projector.total += float(p[at.TOTAL])
        p[: at.INFO] = 0.0


def machine_projection(problem: Any) -> MachineFunction:
    """A machine function that projects y (n,) to out with the defaults of `Projection`, for loops of a user. It returns
    1 where that fails, and 3 where the projected state is not finite."""
    projector, n = Projection().bind(problem), problem.n
    compiled = projector.machine()
    if compiled is not None:
        return with_info(compiled.near, compiled.info, compiled)

    def anywhere(t: float, y: Vec, out: Vec) -> None:
        out[:] = y
        projector(t, out)

    return trampoline(anywhere, "tyo", {"y": (n,), "out": (n,)})
