"""The public names of a package: `dir()` shows them alone, and errors for other names say where the right one is."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Final

_PACKAGES: Final = (
    "joints", "drives", "forces", "formulations", "models", "study", "observables", "kinematics", "closed_form",
    "step_equations", "plotting", "rotations", "rotations.quaternions",
)  # fmt: skip

_OTHER_WORDS: Final = {
    "ball": "joints.Spherical",
    "balljoint": "joints.Spherical",
    "cardan": "joints.Universal",
    "cylinder": "joints.Cylindrical",
    "damper": "forces.SpringDamper",
    "gravity": "System",
    "hinge": "joints.Revolute",
    "hooke": "joints.Universal",
    "integrate": "solve",
    "mechanism": "System",
    "pin": "joints.Revolute",
    "rotational": "joints.Revolute",
    "run": "solve",
    "simulate": "solve",
    "slider": "joints.Prismatic",
    "spring": "forces.SpringDamper",
    "translational": "joints.Prismatic",
    "weld": "joints.Fixed",
}
"""The names that other programs have for the same."""

_NOT_CLASSES: Final = {"body": "make bodies with System().add_body(name, mass=..., inertia=...)"}

_ALIKE = 0.75


def show_only(package: str, further: Iterable[str] = ()) -> None:
    """Give a package its `__dir__`, with the names of its ``__all__`` and some more, and its error for others. Called
    at its end; type checkers see no `__getattr__`."""
    module = sys.modules[package]
    names = [*getattr(module, "__all__", ()), *further]

    def missing(name: str) -> None:
        raise no_attribute(module, name)

    module.__dict__["__dir__"] = lambda: sorted(names)
    module.__dict__["__getattr__"] = missing


def no_attribute(module: ModuleType, name: str) -> AttributeError:
    """The error for a name that a package does not have."""
    hint = "" if name.startswith("_") else _hint(module.__name__, name)
    text = f"module {module.__name__!r} has no attribute {name!r}{hint}"
    return AttributeError(text, name=name, obj=module)


def _hint(package: str, name: str) -> str:
    wanted = name.casefold()
    if wanted in _NOT_CLASSES:
        return f"; {_NOT_CLASSES[wanted]}"
    every: dict[str, list[str]] = {}
    for place in _names(package):
        every.setdefault(place.rpartition(".")[2].casefold(), []).append(place)
    found = every.get(wanted, [])
    if not found and wanted in _OTHER_WORDS:
        found = [f"rbdae.{_OTHER_WORDS[wanted]}"]
    if not found:
        close = difflib.get_close_matches(wanted, list(every), n=2, cutoff=_ALIKE)
        found = [every[each][0] for each in close]
    return f"; did you mean {' or '.join(found[:2])}?" if found else ""


def _names(package: str) -> Iterator[str]:
    """All public names, those of the package itself first."""
    own = sys.modules[package]
    yield from (f"{package}.{name}" for name in dir(own) if not name.startswith("_"))
    for place in ("", *_PACKAGES):
        full = f"rbdae.{place}" if place else "rbdae"
        if full != package:
            module = sys.modules["rbdae.problem.observables"] if place == "observables" else import_module(full)
            yield from (f"{full}.{name}" for name in module.__all__)


__all__ = ["no_attribute", "show_only"]
