"""Projection onto the constraint manifold: one object, used by every adapter after accepted steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae._frozen import refuse_copies
from rbdae.kernels import near_projection
from rbdae.kernels import projection as kernel
from rbdae.machine.function import PROTOTYPE, MachineFunction, Shapes, trampoline
from rbdae.machine.loops import correction as at
from rbdae.machine.loops.memory import NOT_PROJECTED
from rbdae.machine.projected import projected
from rbdae.multibody.closing_elements import code_of_closing
from rbdae.multibody.traced import Tally, TracedKernel, traced
from rbdae.multibody.unit_masses import with_unit_masses
from rbdae.multibody.workspace import Workspace
from rbdae.problem.closing import called_with_lock, closing
from rbdae.problem.contract import ProjectionError, StateProjector
from rbdae.problem.quantities import Constraints

TOLERANCE = 1e-14
"""Largest relative violation that counts as none, unless something else is asked for."""

HELD = 1e-12
"""Relative violation up to which positions are on the constraints: rounding, where no projection has to follow."""

_NEAR = 3
"""Least limit of iterations for which the first two look for the nearest state."""


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
        self._before = np.empty(problem.n)
        p = projection
        self._scales: ViolationScales = problem.callbacks._violation_scales
        if projection.metric == "identity":
            _refuse_identity(problem.workspace)
        self._info = self._scales.info(
            tolerance=p.tolerance,
            max_iterations=p.max_iterations,
            position=p.position,
            velocity=p.velocity * (1.0 + (p.velocities == "angular")),
        )

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
        self._before[:] = y
        info = self._info
        self._nearest(t, y, info)
        if info[kernel.ITERATIONS] < 0.0:
            raise ProjectionError(self._failure(t, info))
        if info[kernel.CHANGED] == 0.0:
            self.skipped += 1
            return False
        correction = float(np.max(np.abs(y - self._before)))
        self.count += 1
        self.iterations += int(info[kernel.ITERATIONS])
        self.largest = max(self.largest, correction)
        self.total += correction
        return True

    def machine(self) -> CompiledProjection | None:
        """This projection for a run in machine code; None if there is none."""
        if self.projection.max_iterations < _NEAR:
            return None
        near = self._nearest.machine()
        return None if near is None else CompiledProjection(self, near, self._info, self.problem.n)

    def _failure(self, t: float, info: Vec) -> str:
        """Why a projection failed."""
        violation = float(np.max(np.abs(self.problem.constraints(t, self._before).position), initial=0.0))
        if info[kernel.ITERATIONS] == kernel.SINGULAR:
            row = self.problem.singular_row() if self.projection.metric == "mass" else None
            return (
                f"t = {t:g}: the constraints are redundant or singular, first at "
                f"{row or 'a joint'}; remove the redundant joint equation or move away from "
                "the singular position"
            )
        return (
            f"t = {t:g}: Newton's method did not reach the constraint manifold (violation "
            f"{violation:.3g} before); start closer to a consistent position, or raise "
            "max_iterations"
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

    def info(self, *, tolerance: float, max_iterations: int = 10, position: bool = True, velocity: float = 2.0) -> Vec:
        """How to project, for `rbdae.kernels.projection`; see `rbdae.Projection`."""
        out = np.concatenate([np.zeros(kernel.N_INFO), self.weights])
        out[kernel.TIME] = self.time
        out[kernel.STEADY] = max(1e3 * tolerance, 30.0 * self.reach * np.finfo(float).eps)
        out[kernel.POSITION_TOLERANCE] = out[kernel.VELOCITY_TOLERANCE] = tolerance
        out[kernel.ITERATION_LIMIT] = max_iterations
        out[kernel.PROJECT_POSITIONS] = position
        out[kernel.PROJECT_VELOCITIES] = velocity
        return out

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
class Nearest:
    """``project(t, y, info)``: y in place to the nearest state on the constraints, see `rbdae.kernels.projection`. Near
    them by code of this model, elsewhere in plain Python, which takes milliseconds."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    __reduce__ = refuse_copies

    @cached_property
    def _anywhere(self) -> Callable[[float, Vec, Vec], None]:
        return self._workspace.plain(kernel.project)

    @cached_property
    def _steps(self) -> TracedKernel | None:
        """Newton steps of a long model; None for others."""
        code = code_of_closing(self._workspace)
        return None if code is None else TracedKernel("closing", code, self._workspace, lambda: _counts_not, Tally())

    @cached_property
    def _recorded(self) -> TracedKernel | None:
        """Code of `rbdae.kernels.near_projection`; None without code of this model."""
        workspace, n = self._workspace, self._workspace.layout.n
        if not workspace.memory.traced:
            return None
        info = kernel.N_INFO + len(ViolationScales.of(workspace).weights)
        shapes: Shapes = {"y": (n,), "yd": (info,), "out": (n + near_projection.N_MORE,)}
        return traced(workspace, near_projection.project_near, shapes, otherwise=lambda: _counts_not)

    def machine(self) -> MachineFunction | None:
        """Code of the model as a C function, for one run at a time; None without it, and where it calls Python. It
        returns 1 where a guard does not hold."""
        if self._steps is not None:
            return closing(self._workspace, self._steps)
        return None if self._recorded is None or self._recorded.code.functions else self._recorded.bare()

    @cached_property
    def _near(self) -> Callable[[float, Vec, Vec, Vec], None] | None:
        if self._steps is not None:
            return called_with_lock(closing(self._workspace, self._steps), _counts_not)
        return None if self._recorded is None else self._recorded.call

    def __call__(self, t: float, y: Vec, info: Vec) -> None:
        """Project y; `info` says how, and what was done."""
        if info[kernel.ITERATION_LIMIT] < _NEAR or self._near is None:
            self._anywhere(t, y, info)
            return
        n = len(y)
        out = np.empty(n + near_projection.N_MORE)
        self._near(t, y, info, out)
        found = out[n:]
        if found[near_projection.COUNTS] != 1.0 or not np.isfinite(out).all():
            self._anywhere(t, y, info)
            return
        info[kernel.POSITION_VIOLATION] = found[near_projection.POSITIONS]
        info[kernel.VELOCITY_VIOLATION] = found[near_projection.VELOCITIES]
        info[kernel.ITERATIONS] = found[near_projection.ITERATIONS]
        info[kernel.CHANGED] = found[near_projection.OFF]
        if found[near_projection.OFF]:
            y[:] = out[:n]


def _counts_not(t: float, y: Vec, info: Vec, out: Vec) -> None:
    """Say that a result does not count: in place of code whose guards do not hold."""
    out[:] = 0.0


@final
class CompiledProjection:
    """The two functions of `rbdae.machine.loops.correction`, and the memory that goes with them; of one run.

    Attributes
    ----------
    near, anywhere : machine functions
    memory : (k,)
    result : int
        Where results are in it.
    """

    def __init__(self, projector: Any, near: MachineFunction, info: Vec, n: int) -> None:
        self.near = near
        self._projector = projector
        self.result = at.INFO + len(info)
        self.memory = np.zeros(self.result + n + near_projection.N_MORE)
        self.memory[at.INFO : self.result] = info

        def anywhere(t: float, y: Vec, _: Vec, out: Vec) -> None:
            out[:n] = y
            out[n] = projector(t, out[:n])

        shapes: Shapes = {"y": (n,), "yd": (len(info),), "out": (n + near_projection.N_MORE,)}
        self.anywhere = trampoline(anywhere, "tyyo", shapes)

    def start(self, t: float, y: Vec) -> None:
        """Project y (n,) in place from Python, as the loop does, and count it.

        Raises `ProjectionError` where the constraints cannot be satisfied.
        """
        near, anywhere = _called(self.near), _called(self.anywhere)
        if at.project(near, self.near.context, anywhere, len(y), self.result, self.memory, t, y) == NOT_PROJECTED:
            self.anywhere.check()
        self.collect()

    __reduce__ = refuse_copies

    def collect(self) -> None:
        """Add what the loop has counted since the last time to the projector's statistics."""
        p, projector = self.memory, self._projector
        projector.count += int(p[at.COUNT])
        projector.skipped += int(p[at.SKIPPED])
        projector.iterations += int(p[at.NEWTON])
        projector.largest = max(projector.largest, float(p[at.LARGEST]))
        projector.total += float(p[at.TOTAL])
        p[: at.INFO] = 0.0


def _called(function: MachineFunction) -> Any:
    """A machine function that takes arrays."""
    call = PROTOTYPE(function.address)

    def called(context: int, t: float, y: Vec, yd: Vec, c: float, out: Vec) -> int:
        status: int = call(context, t, y.ctypes.data, yd.ctypes.data, c, out.ctypes.data)
        return status

    return called


def machine_projection(problem: Any) -> MachineFunction:
    """A machine function that projects y (n,) to out with the defaults of `Projection`, for loops of a user."""
    projector, n = Projection().bind(problem), problem.n
    compiled = projector.machine()
    if compiled is not None:
        return projected(compiled, n)

    def anywhere(t: float, y: Vec, out: Vec) -> None:
        out[:] = y
        projector(t, out)

    return trampoline(anywhere, "tyo", {"y": (n,), "out": (n,)})
