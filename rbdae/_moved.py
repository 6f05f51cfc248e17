"""Module paths of version 0.1, importable for one release: each import warns and names the new path.

A finder at the end of `sys.meta_path` is asked only for paths that have no file. It hands out a module that has no
names of its own and reads them from the modules that took its place. Nothing is imported before it is asked for.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final, cast, final

MOVED: Final[dict[str, tuple[str, ...]]] = {
    "rbdae.assembly": (
        "rbdae.initial.assemble",
        "rbdae.initial.given",
        "rbdae.problem.assembly_report",
        "rbdae.multibody.layout",
    ),
    "rbdae.branches": ("rbdae.multibody.tree_velocities",),
    "rbdae.forces.slide": ("rbdae.forces.translational_spring_damper", "rbdae.forces"),
    "rbdae.forces.torsion": ("rbdae.forces.torsional_spring_damper", "rbdae.forces"),
    "rbdae.forces.user": ("rbdae.forces.user_force", "rbdae.forces"),
    "rbdae.formulate": (
        "rbdae.initial.formulate",
        "rbdae.formulations.pairing",
        "rbdae.formulations.table",
        "rbdae.initial.given",
        "rbdae.initial.choices",
    ),
    "rbdae.formulations.gauge": ("rbdae.formulations.null_space",),
    "rbdae.gauges": ("rbdae.multibody.velocity_selection", "rbdae.multibody.selection"),
    "rbdae.gradient": ("rbdae.multibody.row_selection", "rbdae.multibody.joint_values"),
    "rbdae.kernels.applied": ("rbdae.kernels.forces.applied",),
    "rbdae.kernels.block": ("rbdae.kernels.memory", "rbdae.kernels.records", "rbdae.kernels.scratch"),
    "rbdae.kernels.branches": ("rbdae.kernels.null_space.trees", "rbdae.kernels.null_space.tree_frames"),
    "rbdae.kernels.bushings": ("rbdae.kernels.forces.bushings",),
    "rbdae.kernels.charts": (
        "rbdae.rotations.chart",
        "rbdae.rotations.algebra",
        "rbdae.rotations.euler_map",
        "rbdae.rotations.quaternion_algebra",
    ),
    "rbdae.kernels.correction": ("rbdae.kernels.constraints.correction",),
    "rbdae.kernels.drives": ("rbdae.kernels.constraints.drives",),
    "rbdae.kernels.elements": ("rbdae.kernels.forces.elements", "rbdae.kernels.forces.element_tangents"),
    "rbdae.kernels.foreign": ("rbdae.compiler.user_functions",),
    "rbdae.kernels.gauge": (
        "rbdae.kernels.null_space.square_system",
        "rbdae.kernels.null_space.square_tangents",
        "rbdae.kernels.null_space.quasi_velocities",
        "rbdae.kernels.null_space.loops",
    ),
    "rbdae.kernels.lines": ("rbdae.kernels.row_operations",),
    "rbdae.kernels.primitives": (
        "rbdae.kernels.constraints.primitives",
        "rbdae.kernels.constraints.gradients",
        "rbdae.kernels.constraints.hessians",
        "rbdae.kernels.constraints.primitive_tangents",
        "rbdae.kernels.constraints.redundant_rows",
    ),
    "rbdae.kernels.project": (
        "rbdae.kernels.projection",
        "rbdae.kernels.closing",
        "rbdae.rotations.quaternion_algebra",
    ),
    "rbdae.kernels.quaternion": ("rbdae.rotations.quaternion_algebra",),
    "rbdae.kernels.saddle": (
        "rbdae.kernels.linear.saddle",
        "rbdae.kernels.linear.saddle_tangent",
        "rbdae.kernels.linear.schur",
        "rbdae.kernels.linear.small",
    ),
    "rbdae.kernels.sink": ("rbdae.kernels.scatter",),
    "rbdae.kernels.tree": (
        "rbdae.kernels.null_space.spherical_trees",
        "rbdae.kernels.null_space.spherical_tangents",
        "rbdae.kernels.null_space.reduction",
    ),
    "rbdae.kernels.volume": ("rbdae.kernels.log_determinant",),
    "rbdae.labels": ("rbdae.multibody.layout",),
    "rbdae.model": ("rbdae.multibody.model",),
    "rbdae.projection": ("rbdae.problem.projection",),
    "rbdae.quantities": ("rbdae.problem.quantities", "rbdae.problem.reactions"),
    "rbdae.redundancy": ("rbdae.problem.switches.rows", "rbdae.multibody.row_selection"),
    "rbdae.reference": ("rbdae.study",),
    "rbdae.relay": ("rbdae.solving.segments",),
    "rbdae.report": ("rbdae.study",),
    "rbdae.singular": ("rbdae.solving.singular",),
    "rbdae.solution": ("rbdae.solving.solution", "rbdae.solving.loading"),
    "rbdae.spanning": ("rbdae.multibody.graph",),
    "rbdae.tasks": ("rbdae.study",),
    "rbdae.workspace": ("rbdae.multibody.workspace", "rbdae.multibody.settings"),
}
"""Old paths, and the modules that have their names now; the first one is what the warning recommends.

Kernels had no public names: those that have another name or other arguments now are not here.
"""

RENAMED: Final[dict[str, str]] = {
    "rbdae.assembly.assemble_dense": "rbdae.initial.assemble.assembled",
    "rbdae.branches.Branch": "rbdae.multibody.tree_velocities.TreeVelocity",
    "rbdae.branches.branches": "rbdae.multibody.tree_velocities.tree_velocities",
    "rbdae.formulate.GAUGED": "rbdae.formulations.FORMULATIONS",
    "rbdae.formulate.starting_state": "rbdae.initial.assemble.assembled",
    "rbdae.gauges.Gauge": "rbdae.multibody.selection.IndependentVelocities",
    "rbdae.gauges.LIMIT": "rbdae.problem.switches.velocities.VelocitySwitch.limit",
    "rbdae.gauges.Measure": "rbdae.multibody.velocity_selection.Metric",
    "rbdae.gauges.measure": "rbdae.multibody.velocity_selection.metric",
    "rbdae.gradient.SINGULAR": "rbdae.multibody.row_selection.SUSPENDED_FROM",
    "rbdae.kernels.foreign.Foreign": "rbdae.compiler.user_functions.UserFunction",
    "rbdae.quantities.reactions": "rbdae.problem.interpretation.Interpretation.reactions",
    "rbdae.redundancy.CHANGE": "rbdae.problem.switches.rows.RowSwitch.limit",
    "rbdae.redundancy.LIMIT": "rbdae.problem.switches.rows.WEAKENED",
    "rbdae.singular.spans": "rbdae.solving.singular.scale_of_positions",
}
"""Names that are called otherwise now, with their paths: old to new."""

_FUNCTION: Final = "rbdae.formulate"
"""`rbdae` has a function of this module's name. Importing a submodule sets it as an attribute of its package, so this
module is there from the start, and it warns when a name is read from it."""


@final
class _Moved(ModuleType):
    """Stands at an old path; its names are those of the modules in `MOVED`."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"Moved to {_listed(path)}.")

    def __getattr__(self, name: str) -> Any:
        path = self.__name__
        if name == "__all__":
            return sorted({public for home in _homes(path) for public in _public(home)})
        if name.startswith("__"):
            raise AttributeError(f"module {path!r} has no attribute {name!r}")
        if f"{path}.{name}" in RENAMED:
            new = RENAMED[f"{path}.{name}"]
            _warn(f"{path}.{name}", new)
            from pkgutil import resolve_name  # it and `importlib.abc` take as long to import as a small problem to make

            return resolve_name(new)
        if path == _FUNCTION:
            _warn(f"the module {path}", MOVED[path][0])
        for home in _homes(path):
            try:
                return getattr(home, name)
            except AttributeError:
                continue
        raise AttributeError(f"the module {path} has moved to {_listed(path)}, where there is no {name!r}")

    def __dir__(self) -> list[str]:
        return list(self.__all__)


def _homes(path: str) -> list[ModuleType]:
    return [importlib.import_module(home) for home in MOVED[path]]


def _listed(path: str) -> str:
    return " and ".join(MOVED[path])


def _public(module: ModuleType) -> list[str]:
    names: list[str] | None = getattr(module, "__all__", None)
    return [name for name in vars(module) if not name.startswith("_")] if names is None else names


def _warn(old: str, new: str, level: int = 3) -> None:
    """At the line with the import or the attribute: `level` frames up, without those of the import system."""
    warnings.warn(f"{old} is now {new}; the next release drops the old path", DeprecationWarning, stacklevel=level)


@final
class _Finder:
    """Finds and loads old paths, and nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, cast(Any, self)) if fullname in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Moved(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        _warn(f"the module {module.__name__}", MOVED[module.__name__][0])


def install() -> None:
    """Make the old paths importable; a second call does nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
        sys.modules.setdefault(_FUNCTION, _Moved(_FUNCTION))


def submodule(name: str) -> ModuleType:
    """The module at an old path of `rbdae`, for the ``__getattr__`` of the package.

    Raises
    ------
    AttributeError
        for any other name
    """
    path = f"rbdae.{name}"
    if path not in MOVED:
        raise AttributeError(f"module 'rbdae' has no attribute {name!r}", name=name, obj=sys.modules["rbdae"])
    _warn(f"the module {path}", MOVED[path][0], level=4)
    module = sys.modules.setdefault(path, _Moved(path))
    # as an import does: the next use need not come here
    setattr(sys.modules["rbdae"], name, module)
    return module


__all__ = ["MOVED", "RENAMED", "install", "submodule"]
