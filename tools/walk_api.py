"""List the public names of packages as JSON, for `compare_api.py`.

    python tools/walk_api.py PACKAGE ... <names

Standard input has names by module that are looked for even where nothing lists them, so that aliases are found.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import sys
import warnings
from types import ModuleType
from typing import Any

Names = dict[str, dict[str, str]]


class Modules:
    """The modules of packages that have no underscore in their path.

    Attributes
    ----------
    found : by name, what its import warned of, or empty
    broken : by name, why it cannot be imported
    """

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.broken: dict[str, str] = {}

    def add(self, name: str) -> None:
        """A module and all that are in it."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                module = importlib.import_module(name)
            except Exception as error:
                if isinstance(error, ModuleNotFoundError) and f"{name}.".startswith(f"{error.name}."):
                    return  # it is not there
                self.broken[name] = repr(error)
                return
        self.found[name] = deprecation(caught, name)
        for info in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{name}."):
            if not info.name.rpartition(".")[2].startswith("_"):
                self.add(info.name)


def deprecation(caught: list[warnings.WarningMessage], name: str = "") -> str:
    """The first warning that something is old and has a name in it."""
    texts = [str(w.message) for w in caught if issubclass(w.category, DeprecationWarning)]
    return next((text for text in texts if name in text), "")


def signature(value: Any) -> tuple[str, str]:
    """Without and with annotations; empty for what has none."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "", ""
    bare = [p.replace(annotation=p.empty) for p in found.parameters.values()]
    texts = (str(found.replace(parameters=bare, return_annotation=found.empty)), str(found))
    without, with_annotations = (re.sub(r" at 0x[0-9a-f]+", "", text) for text in texts)
    return without, with_annotations


def described(value: Any, kind: str = "") -> dict[str, str]:
    """What a value is."""
    if not kind:
        kinds = {"class": inspect.isclass, "function": callable, "module": inspect.ismodule}
        kind = next((word for word, test in kinds.items() if test(value)), "value")
    bare, annotated = signature(value) if kind in ("class", "function") else ("", "")
    return {"kind": kind, "signature": bare, "annotated": annotated}


def attributes(cls: type) -> Names:
    """Public attributes of a class, but for those of classes of other packages."""
    ours = [c for c in cls.__mro__ if c.__module__.partition(".")[0] == cls.__module__.partition(".")[0]]
    out: Names = {}
    for owner in ours:
        for name in [*vars(owner), *vars(owner).get("__annotations__", {})]:
            if name.startswith("_") or name in out:
                continue
            value = inspect.getattr_static(cls, name, None)
            if isinstance(value, (staticmethod, classmethod)) or inspect.isfunction(value):
                out[name] = described(getattr(cls, name), "function")
            else:
                out[name] = described(None, "attribute")
    return out


def belongs(module: ModuleType, name: str, value: Any) -> bool:
    """Whether a name without `__all__` is meant to be public here: defined here, or handed on by a package."""
    if inspect.ismodule(value):
        return False
    home = getattr(value, "__module__", None) or module.__name__
    if home == module.__name__:
        return name not in ("annotations", "TYPE_CHECKING")
    return hasattr(module, "__path__") and str(home).partition(".")[0] == module.__name__.partition(".")[0]


def contents(module: ModuleType, wanted: list[str]) -> Names:
    """Public names of a module, with the attributes of classes as "Class.attribute"."""
    listed = getattr(module, "__all__", None)
    out: Names = {}
    for name in [*(dir(module) if listed is None else listed), *wanted]:
        if not name or name in out or name.startswith("_") or "." in name:
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                value = getattr(module, name)
            except AttributeError:
                continue
        if name not in wanted and listed is None and not belongs(module, name, value):
            continue
        out[name] = described(value)
        told = deprecation(caught)
        if told or (listed is not None and name not in listed):
            out[name]["alias"] = told
        if inspect.isclass(value):
            out |= {f"{name}.{attribute}": what for attribute, what in attributes(value).items()}
    return out


def objects(rbdae: Any) -> Names:
    """Public attributes of live objects, which have some that their classes do not show."""
    system = rbdae.models.linked_bodies()
    problem = rbdae.formulate(system, "index-0")
    solution = rbdae.solve(problem, (0.0, 1e-3), solver="scipy:RK45")
    state = next(iter(solution.states.values()))
    reaction = next(iter(next(iter(solution.reactions.values())).values()))
    live = {
        "System": system,
        "Body": system.bodies[0],
        "Joint": system.joints[0],
        "Force": system.forces[0],
        "Problem": problem,
        "Callbacks": problem.callbacks,
        "Solution": solution,
        "Stats": solution.stats,
        "BodyState": state,
        "Energy": solution.energy,
        "Momentum": solution.momentum,
        "Drift": solution.drift,
        "Reaction": reaction,
        "Constraints": problem.constraints(0.0, problem.y0),
        "SolverInfo": rbdae.solvers()[0],
        "Assembly": rbdae.assemble(system),
    }
    out = {name: described(None, "object") for name in live}
    for name, value in live.items():
        for attribute in dir(value):
            if not attribute.startswith("_"):
                out[f"{name}.{attribute}"] = described(None, "attribute")
    return out


def main() -> None:
    """Write the names to standard output."""
    wanted: dict[str, list[str]] = json.load(sys.stdin)
    modules = Modules()
    for name in [*sys.argv[1:], *wanted]:
        if name not in modules.found:
            modules.add(name)
    api: dict[str, Names] = {}
    for name, told in modules.found.items():
        api[name] = contents(sys.modules[name], wanted.get(name, []))
        if told:
            api[name][""] = described(None, "module") | {"alias": told}
    rbdae = importlib.import_module(sys.argv[1])
    api["objects"] = objects(rbdae)
    json.dump({"file": rbdae.__file__, "api": api, "broken": modules.broken}, sys.stdout)


if __name__ == "__main__":
    main()
