"""Projection onto the constraint manifold: one object, used by every adapter after accepted steps."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from operator import attrgetter
from typing import Any, Literal, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae._frozen import refuse_copies
from rbdae.kernels import projection as kernels
from rbdae.kernels.entry import Entry
from rbdae.machine.function import MachineFunction, Shapes, machine_text, trampoline
from rbdae.machine.language.program import Program, module_of
from rbdae.machine.loops.correction import Correction, add, copy, corrected, fill, largest, size
from rbdae.machine.loops.methods import LEVEL
from rbdae.machine.module import Module
from rbdae.multibody.code.traced import traced
from rbdae.multibody.memory.workspace import Workspace, with_unit_masses
from rbdae.problem.contract import ProjectionError, StateProjector

TOLERANCE = 1e-14
"""Largest relative violation that counts as none, unless something else is asked for."""

HELD = 1e-12
"""Relative violation up to which positions are on the constraints: rounding, where no projection has to follow."""


@final
@dataclass(frozen=True, slots=True)
class Projection:
    """How to project; [NS], section 6, with a correction (docs/null-space.md).

    Rotations are projected explicitly: normalisation (63) for quaternions, the algorithm of Spurrier and Klumpp for
    directors (`rbdae_papers.null_space.orthonormal` has others). Joints follow by Newton's method (62, P), velocities
    by the linear system (62, V); the velocities of the null-space form satisfy their constraints by construction and
    are left alone. Rates of coordinates and momenta, which drift with the coordinates, are divided as these are: the
    angular velocity stays.

    Parameters
    ----------
    position, velocity : bool
        What to project.
    tolerance : float
        Largest violation that counts as no drift; smaller ones are left alone. Relative: g over the length of the model
        where it is one, gdot over its length and time (`rbdae.multibody.system.model.Scales`).
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
            _check.one_of(f"{name} of a Projection", getattr(self, name), known)

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
    restart_tolerance : drift beyond which a multistep code is restarted
    reach : the size of positions in the unit of `drift`, the length of the model; at least 1
    """

    count, skipped, iterations, largest, total = (
        property(attrgetter(f"_p.{name}")) for name in ("count", "skipped", "iterations", "largest", "total")
    )

    def __init__(self, projection: Projection, problem: Any) -> None:
        self.projection, self.problem = projection, problem
        self.restart_tolerance = projection.restart_tolerance
        workspace: Workspace = problem.workspace
        if projection.metric == "identity":
            _refuse_identity(workspace)
        layout, scales = workspace.layout, workspace.model.scales
        internal = workspace.model.n * len(workspace.settings.chart.internal)
        self._weights = np.concatenate([np.ones(internal), 1.0 / scales.sizes(scales.length)])
        self.reach, n_g = scales.reach / scales.length, len(self._weights)
        sizes = (problem.n, layout.q.stop, layout.n_velocities, n_g)
        first = len(Correction.names)
        self._memory = np.zeros(first + size(*sizes))
        self._vectors = self._memory[first:]
        self._vectors[0] = projection.velocity * (1.0 + (projection.velocities == "angular"))
        self._vectors[1 : 1 + n_g] = self._weights
        self._p = p = Correction.of(self._memory)
        p.n, p.n_q, p.n_v, p.n_g = sizes
        p.n_joints, p.has_velocities = layout.n_rows, int(not workspace.settings.reduced)
        p.positions, p.limit, p.tolerance = int(projection.position), projection.max_iterations, projection.tolerance
        p.steady = max(1e3 * projection.tolerance, 30.0 * self.reach * np.finfo(float).eps)
        p.time = 1.0 / scales.rate

    __reduce__ = refuse_copies

    def __call__(self, t: float, y: Vec) -> bool:
        """Project `y` in place; returns whether it changed.

        Raises `ProjectionError` where the constraints cannot be satisfied.
        """
        if self._run(t, y) == 1:
            self.check()
        return bool(self._p.moved)

    @cached_property
    def _functions(self) -> tuple[MachineFunction, MachineFunction]:
        if self.projection.metric == "identity":  # with M = I, [NS] (64)
            return functions_of(with_unit_masses(self.problem.workspace))
        found: tuple[MachineFunction, MachineFunction] = self.problem.callbacks._projection
        return found

    def machine(self) -> MachineFunction:
        """f(t, y, out) for runs in machine code: y, projected, to out, which may be y, see
        `rbdae.machine.loops.correction.corrected`."""
        p, (violated, step) = self._p, self._functions
        p.violations, p.violations_context = violated.address, violated.context
        p.step, p.step_context = step.address, step.context
        return MachineFunction(_code()["corrected"], self._memory.ctypes.data, (_code(), self), [], [self])

    @cached_property
    def _run(self) -> Callable[[float, Vec], int]:
        function = self.machine()
        run, context = _WITH_LOCK(function.address), function.context

        def call(t: float, y: Vec) -> int:
            z = np.ascontiguousarray(y, dtype=float)
            at = z.ctypes.data
            status: int = run(context, t, at, None, 0.0, at)
            if z is not y:
                y[:] = z
            return status

        return call

    def check(self) -> None:
        """Raise why the last projection has failed, if it has."""
        for function in self._functions:
            function.check()
        p = self._p
        if p.steps >= 0.0:
            return
        if p.singular:
            row = self.problem.model.row_name(self.problem.workspace.row_of_pivot(int(p.singular) - 1))
            raise ProjectionError(
                f"t = {p.t:g}: the constraints are redundant or singular, first at {row}; remove the redundant joint "
                "equation or move away from the singular position"
            )
        raise ProjectionError(
            f"t = {p.t:g}: Newton's method did not reach the constraint manifold (relative violation "
            f"{p.violation:.3g} before); start closer to a consistent position, or raise max_iterations"
        )

    def drift(self, t: float, y: Vec) -> float:
        """Largest relative violation of the constraints that would be projected, max over positions and velocities."""
        found = self.problem.constraints(t, y)
        position, velocity = (
            float(np.max(self._weights * np.abs(each), initial=0.0)) for each in (found.position, found.velocity)
        )
        return max(
            position if self.projection.position else 0.0,
            self._p.time * velocity if self.projection.velocity else 0.0,
        )


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


# ------------------------------------------------------------ in machine code


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


def functions_of(workspace: Workspace) -> tuple[MachineFunction, MachineFunction]:
    """The functions of a model that its projections evaluate: violations at a state, and a step from there."""
    layout, n_v = workspace.layout, workspace.layout.n_velocities
    n_y, n_g = layout.q.stop + n_v, workspace.model.n * len(workspace.settings.chart.internal) + layout.n_rows
    given = n_v + kernels.MORE_GIVEN
    return (
        _function(workspace, kernels.violated, {"y": (layout.n,), "yd": (1,), "out": (2 * n_g + n_y,)}),
        _function(workspace, kernels.step, {"y": (layout.n,), "yd": (given,), "out": (n_v + n_y + n_g + 1,)}),
    )


def _function(workspace: Workspace, kernel: Entry, shapes: Shapes) -> MachineFunction:
    plain = partial(workspace.plain, kernel)
    found = traced(workspace, kernel, shapes, otherwise=plain)
    return trampoline(plain(), "tyyo", shapes) if found is None else found.function()


_PROGRAM = Program((corrected, add, copy, fill, largest))
"""Entries are not written into what calls them: with these four LLVM is quicker."""


@cache
def _code() -> Module:
    return module_of(_PROGRAM, LEVEL, machine_text("corrected", corrected))


_WITH_LOCK = ctypes.PYFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p
)
"""As `rbdae.machine.function.PROTOTYPE`, while the interpreter's lock is held: functions of a model have memory of
their own."""
