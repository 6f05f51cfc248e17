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
PROBLEM_ATTRIBUTES: Final = {
    "dropped": "selection.rows.dropped",
    "has_gauges": "selection.velocities",
    "joint_row": "model.row_name",
    "joint_volumes": "log_determinant",
}


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


def with_old_attributes(new: Mapping[str, str]) -> Callable[[T], T]:
    """A decorator of a class whose attributes have changed name or place: `new` has the path of each old one."""

    def decorate(cls: Any) -> Any:
        for old, path in new.items():
            setattr(cls, old, _old_attribute(old, path))
        return cls

    return decorate


def _old_attribute(old: str, path: str) -> property:
    def get(self: Any) -> Any:
        _warn(f"{type(self).__name__}.{old}", f"{type(self).__name__}.{path}")
        return attrgetter(path)(self)

    return property(get, doc=f"The old name of `{path}`.")


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
    "DRIVES",
    "ELEMENTS",
    "FORCES",
    "FORCE_METHODS",
    "FORMULATIONS",
    "JOINTS",
    "JOINT_METHODS",
    "PROBLEM_ATTRIBUTES",
    "old_names",
    "with_old_attributes",
    "with_old_methods",
]
