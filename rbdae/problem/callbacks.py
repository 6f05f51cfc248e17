"""The bare kernels of a problem, for the loops of solvers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NoReturn, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae._frozen import refuse_copies
from rbdae.formulations.base import Explicit
from rbdae.kernels.projection import project
from rbdae.multibody.unit_masses import with_unit_masses
from rbdae.multibody.workspace import Workspace
from rbdae.problem.violations import ViolationScales


@final
class Callbacks:
    """The bare kernels: in place, nothing checked, nothing returned; compiled, or loaded, when first asked for.

    Arrays must be float64, vectors contiguous (read-only inputs are fine); matrices may have any content and any
    positive strides (kernels trust them: with negative ones they write beyond the array).
    `rhs(t, y, out)` and `rhs_jacobian(t, y, out)` are for ODE kinds only. `jacobian_data(t, y, yd, c, data)` fills CSC
    data in the order of `Problem.sparsity`.
    """

    def __init__(self, workspace: Workspace, pattern: Callable[[], Any]) -> None:
        self._workspace = workspace
        self._kernels = workspace.settings.kernels
        self._pattern = pattern

    def __reduce__(self) -> NoReturn:
        refuse_copies()

    @cached_property
    def residual(self) -> Callable[[float, Vec, Vec, Vec], None]:
        """residual(t, y, yd, out)."""
        return self._workspace.compiled(self._kernels.residual)

    @cached_property
    def jacobian(self) -> Callable[[float, Vec, Vec, float, Mat], None]:
        """jacobian(t, y, yd, c, out)."""
        if self._workspace.settings.formulation.multipliers == "none":  # then it goes through dense matrices
            self._workspace.make_rhs_tangent()
        return self._workspace.compiled(self._kernels.jacobian)

    @cached_property
    def jacobian_data(self) -> Callable[[float, Vec, Vec, float, Vec], None]:
        """jacobian_data(t, y, yd, c, data)."""
        self._pattern()
        jacobian = self.jacobian

        def fill(t: float, y: Vec, yd: Vec, c: float, data: Vec) -> None:
            jacobian(t, y, yd, c, data.reshape(1, -1))

        return fill

    @cached_property
    def rhs(self) -> Callable[[float, Vec, Vec], None]:
        """rhs(t, y, out)."""
        return self._workspace.compiled(self._explicit().rates)

    @cached_property
    def rhs_jacobian(self) -> Callable[[float, Vec, Mat], None]:
        """rhs_jacobian(t, y, out)."""
        kernel = self._explicit().rhs_jacobian
        self._workspace.make_rhs_tangent()
        return self._workspace.compiled(kernel)

    @cached_property
    def project(self) -> Callable[[float, Vec, Vec], None]:
        """project(t, y, info), see `rbdae.kernels.projection`."""
        return self._workspace.compiled(project)

    @cached_property
    def identity_project(self) -> Callable[[float, Vec, Vec], None]:
        """The same with M = I, [NS] (64).

        Raises ValueError for momenta, which M makes of velocities, and where joint equations are suspended.
        """
        settings = self._workspace.settings
        if settings.momenta:
            raise ValueError(
                f"Projection: metric='identity' projects velocities, and {settings.formulation.name} has momenta, for "
                "which there is the mass metric; leave it out"
            )
        if self._workspace.selection.rows.pivot_floor is not None:
            raise ValueError(
                "Projection: metric='identity' does not go with redundant='minimum-norm' and loops: joint equations "
                "are suspended by their pivots in the mass metric; leave it out"
            )
        return with_unit_masses(self._workspace).compiled(project)

    @cached_property
    def violation_scales(self) -> ViolationScales:
        """What violations of the constraints are compared with, for `project`."""
        model = self._workspace.model
        internal = model.n * len(self._workspace.settings.chart.internal)
        scales = model.scales
        weights = np.concatenate([np.ones(internal), 1.0 / scales.sizes(scales.length)])
        return ViolationScales(weights, 1.0 / scales.rate, float(np.finfo(float).eps) * scales.reach / scales.length)

    def _explicit(self) -> Explicit:
        if not isinstance(self._kernels, Explicit):
            raise AttributeError(
                f"{self._workspace.settings.formulation.name} is a DAE and has no right-hand side; choose index-0, "
                "null-space or hamiltonian-eliminated for one"
            )
        return self._kernels


__all__ = ["Callbacks"]
