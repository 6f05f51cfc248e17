"""Old names of what has been renamed: they work for one release, and warn with the new name."""

from __future__ import annotations

import pkgutil
import sys
import warnings
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final, TypeVar

T = TypeVar("T")

DRIVES: Final = {"Angle": "PrescribedAngle", "Displacement": "PrescribedDisplacement"}
FORCES: Final = {"Slide": "TranslationalSpringDamper", "Torsion": "TorsionalSpringDamper", "User": "UserForce"}
ELEMENTS: Final = {
    "Law": "TimeFunction",
    "Piece": "AnyElement",
    "alignment": "rbdae.forces.forms.alignment",
    "angle": "rbdae.forces.forms.angle",
    "follower": "rbdae.forces.forms.point_force",
    "law": "time_function",
    "point": "rbdae.forces.forms.point",
    "relative_turn": "rbdae.forces.forms.alignment_damping",
    "relative_turning": "rbdae.forces.forms.rotational_damping",
    "slide": "rbdae.forces.forms.displacement",
    "spring": "rbdae.forces.forms.distance",
    "turner": "rbdae.forces.forms.torque",
}
JOINTS: Final = {"ALL_TURNS": "ALL_ROTATIONS"}
FORCE_METHODS: Final = {"kept": "bound", "pieces": "elements"}
FORMULATIONS: Final = {"GAUGED": "FORMULATIONS"}
JOINT_METHODS: Final = {"freedoms": "velocity_rows"}

Way = str | tuple[str, Callable[[Any], Any]]
"""To the value of an old attribute: a path from its object, or the same in words with a function that goes it."""

CHART_ATTRIBUTES: Final[Mapping[str, Way]] = {"kind": "coordinate_velocities"}
FORMULATION_ATTRIBUTES: Final[Mapping[str, Way]] = {
    "baumgarte": ("gains", lambda f: bool(f.gains)),
    "extra": "further_levels",
    "has_multipliers": ('multipliers != "none"', lambda f: f.multipliers != "none"),
    "integral": ('multipliers == "integrals"', lambda f: f.multipliers == "integrals"),
    "jacobian": "kernels.jacobian",
    "level": ("levels[0]", lambda f: f.levels[0] if f.levels and not f.corrected and not _reduced(f) else 2),
    "momenta": ('unknowns == "momenta"', lambda f: f.unknowns == "momenta"),
    "reduced": ('unknowns == "quasi-velocities"', lambda f: _reduced(f)),
    "residual": "kernels.residual",
    "rhs": "kernels.rates",
    "rhs_jacobian": ("kernels.rhs_jacobian", lambda f: f.kernels.rhs_jacobian if f.kind == "ode" else None),
}
PROBLEM_ATTRIBUTES: Final[Mapping[str, Way]] = {
    "dropped": "selection.rows.dropped",
    "guarded": ("selection.rows.pivot_floor is not None", lambda p: p.selection.rows.pivot_floor is not None),
    "has_gauges": ("selection.velocities is not None", lambda p: p.selection.velocities is not None),
    "joint_row": "model.row_name",
    "joint_volumes": "log_determinant",
    "pivots": "interpretation.pivots",
}


def _reduced(formulation: Any) -> bool:
    return bool(formulation.unknowns == "quasi-velocities")


def old_names(module: str, new: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module whose names have changed: `new` has the new name of each old one, with a path
    if it is in another module.

    An old name gives the very object that has the new name, so `isinstance` and pickles written with it work. A module
    assigns it as ``__getattr__`` out of sight of type checkers, which would take any name for known.
    """

    def find(name: str) -> Any:
        if name not in new:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules[module])
        path = new[name] if "." in new[name] else f"{module}.{new[name]}"
        _warn(f"{module}.{name}", path)
        return pkgutil.resolve_name(path)

    return find


def with_old_methods(new: Mapping[str, str]) -> Callable[[T], T]:
    """A decorator of an abstract class whose methods have changed their names: `new` has the new name of each old one.

    A call by the old name reaches the new method. A subclass that overrides a method by its old name gets the new name,
    too; without this its override would be ignored.
    """

    def decorate(cls: Any) -> Any:
        for old, name in new.items():
            setattr(cls, old, _old_method(old, name))

        def adopt(subclass: Any, /, **options: Any) -> None:
            super(cls, subclass).__init_subclass__(**options)
            for old, name in new.items():
                if old in vars(subclass) and name not in vars(subclass):
                    _warn(f"{subclass.__name__}.{old}", f"{subclass.__name__}.{name}")
                    setattr(subclass, name, vars(subclass)[old])

        cls.__init_subclass__ = classmethod(adopt)
        return cls

    return decorate


def with_old_attributes(new: Mapping[str, Way]) -> Callable[[T], T]:
    """A decorator of a class whose attributes have changed name or place: `new` has the way to each old one."""

    def decorate(cls: Any) -> Any:
        for old, way in new.items():
            words, read = (way, attrgetter(way)) if isinstance(way, str) else way
            setattr(cls, old, _old_attribute(old, words, read))
        return cls

    return decorate


def _old_attribute(old: str, words: str, read: Callable[[Any], Any]) -> property:
    def get(self: Any) -> Any:
        _warn(f"{type(self).__name__}.{old}", f"{type(self).__name__}.{words}")
        return read(self)

    return property(get, doc=f"The old name of `{words}`.")


def _old_method(old: str, new: str) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **options: Any) -> Any:
        _warn(f"{type(self).__name__}.{old}", f"{type(self).__name__}.{new}")
        return getattr(self, new)(*args, **options)

    call.__name__ = old
    call.__doc__ = f"The old name of `{new}`."
    return call


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old} is now {new}; the next release drops the old name", DeprecationWarning, stacklevel=3)


__all__ = [
    "CHART_ATTRIBUTES",
    "DRIVES",
    "ELEMENTS",
    "FORCES",
    "FORCE_METHODS",
    "FORMULATIONS",
    "FORMULATION_ATTRIBUTES",
    "JOINTS",
    "JOINT_METHODS",
    "PROBLEM_ATTRIBUTES",
    "old_names",
    "with_old_attributes",
    "with_old_methods",
]
