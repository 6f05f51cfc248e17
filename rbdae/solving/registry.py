"""The solvers of all adapters: which there are, which are installed, which take a problem."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, final

from rbdae import _check
from rbdae._frozen import Table
from rbdae.adapter import AbstractAdapter, Method, MissingSolver, Unsupported
from rbdae.problem.contract import Solvable

_GROUP = "rbdae.adapters"
_HOUSE = "rbdae_adapters"
"""The adapters of this distribution: its `ADAPTERS` map names to modules. To find them takes no search through all that
is installed, which costs as much as an integration, and no installation: a checkout on the path will do."""


@final
@dataclass(frozen=True, slots=True)
class SolverInfo:
    """One line of `solvers`.

    Parameters
    ----------
    name : as given to `solve`, ``"package:method"``
    package : the adapter's name
    available : whether the package is installed
    version : the package's version, or None
    kinds : kinds of problems that the solver takes
    indices : for DAEs, the differentiation indices that it takes
    overdetermined_indices : for overdetermined forms, those that it takes; None for all
    one_step : whether it is a one-step method, which takes projected states back without a restart
    install : how to get the package
    summary : one line on the method
    threads : ``"any number"`` of runs at a time, each with a problem of its own; or ``"one at a time"``: runs in other
        threads wait, because the package keeps the state of a run in static memory
    """

    name: str
    package: str
    available: bool
    version: str | None
    kinds: frozenset[str]
    indices: frozenset[int]
    overdetermined_indices: frozenset[int] | None
    one_step: bool
    install: str
    summary: str
    threads: str = "any number"

    @property
    def takes(self) -> str:
        """The kinds of problems in words, as in ``"ode, dae 1-2"``."""
        words = []
        for kind, indices in (("ode", None), ("dae", self.indices), ("overdetermined", self.overdetermined_indices)):
            if kind in self.kinds:
                words.append(kind if indices is None else f"{kind} {','.join(map(str, sorted(indices)))}")
        return ", ".join(words)


@final
class SolverTable(Table[SolverInfo]):
    """A list of `SolverInfo` that prints as a table."""

    def rows(self) -> list[Sequence[str]]:
        """One line a solver."""
        turns = {s.name: "" if s.threads == "any number" else f"; runs {s.threads}" for s in self}
        body = [(s.name, s.version or "missing", s.takes, s.summary + turns[s.name]) for s in self]
        return [("solver", "version", "takes", "what it is"), *body]

    def notes(self) -> list[str]:
        """The packages that are missing, and how to get them."""
        missing = {s.package: s.install for s in self if not s.available}
        return [f"{package} is missing: run {install}" for package, install in missing.items()]


@cache
def _own() -> dict[str, str]:
    """The modules of this distribution's adapters by name; empty where their folder is not on the path."""
    if importlib.util.find_spec(_HOUSE) is None:
        return {}
    modules: dict[str, str] = importlib.import_module(_HOUSE).ADAPTERS
    return modules


@cache
def _installed() -> dict[str, Callable[[], AbstractAdapter]]:
    """How to load each adapter that is installed, by its name."""
    from importlib.metadata import entry_points  # a slow import

    return {point.name: point.load for point in entry_points(group=_GROUP)}


@cache
def _load(package: str) -> AbstractAdapter | None:
    """One adapter, None if there is no such one; this does not import its package, and no other adapter. Other
    distributions are asked for names that are not ours."""
    if package in _own():
        ours: AbstractAdapter = importlib.import_module(_own()[package]).ADAPTER
        return ours
    source = _installed().get(package)
    return None if source is None else source()


def _adapters() -> dict[str, AbstractAdapter]:
    found = {name: adapter(name) for name in {**_installed(), **_own()}}
    if not found:
        raise MissingSolver(
            "no adapters found: rbdae is neither installed nor is its folder adapters/ on the path; "
            "run `pip install -e .`, or set PYTHONPATH=adapters"
        )
    return found


def solvers() -> SolverTable:
    """Every solver of every adapter, available or not; prints as a table."""
    table = SolverTable()
    for package, found in _adapters().items():
        version = found.version()
        table += (
            SolverInfo(
                f"{package}:{m.name}", package, version is not None, version, m.kinds, m.indices,
                m.overdetermined_indices, m.one_step, found.install, m.summary,
                "one at a time" if m.shared_state else "any number",
            )
            for m in found.methods
        )  # fmt: skip
    return table


def adapter(package: str) -> AbstractAdapter:
    """The adapter of a package, for its `native` objects: ``adapter("scipy").native(problem, "RK45")``."""
    if not isinstance(package, str):
        raise TypeError(f"adapter: package must be a string such as 'scipy', got {_check.show(package)}")
    found = _load(package)
    if found is None:
        raise _check.unknown("adapter", package, {**_own(), **_installed()})
    return found


def package_version(solver: str) -> dict[str, str]:
    """The package of a solver and its version, for reports; empty for one that no adapter here knows."""
    package = solver.partition(":")[0]
    found = _load(package)
    return {} if found is None else {package: found.version() or "not installed"}


def _methods() -> dict[str, Method]:
    """The methods of all solvers by name, installed or not."""
    return {f"{package}:{m.name}": m for package, a in _adapters().items() for m in a.methods}


def find_method(solver: str) -> tuple[AbstractAdapter, Method]:
    """The adapter and the method of a solver's name. Raises ValueError for a name that no adapter has, with the nearest
    ones, and MissingSolver, with the command that installs it, for a package that is not installed."""
    if not isinstance(solver, str):
        raise TypeError(f"solver must be a string such as 'scipy:RK45', got {_check.show(solver)}")
    return _found(solver)


@cache
def _found(solver: str) -> tuple[AbstractAdapter, Method]:
    """The same, kept once it is there: to find a version takes as long as a short run."""
    package, _, name = solver.partition(":")
    found = _load(package)
    if found is not None:
        for method in found.methods:
            if method.name == name:
                if found.version() is None:
                    raise MissingSolver(f"{solver!r} needs {package}, which is missing: run {found.install}")
                return found, method
    raise _check.unknown("solver", solver, _methods())


# ------------------------------------------------------------ which solver takes a problem


_PREFERRED: Final = (
    "rbdae:dop853",
    "sundials:ida",
    "sksundae:ida",
    "scikits.odes:ida",
    "solve_dae:Radau",
    "assimulo:Radau5DAE",
    "assimulo:ODASSL",
)
"""Explicit, then DAEs by variable order and the least time for a right digit, then overdetermined forms."""

_OF_FIXED_STEPS: Final = ("rbdae:energy-momentum", "rbdae:variational", "rbdae:simo-wong", "rbdae:midpoint")


def solver_for(problem: Solvable, solver: str | None, step: object) -> tuple[str, AbstractAdapter, Method]:
    """Find a solver that takes a problem, with its adapter and method: the named one, or the first of a list that is
    installed. With a `step` the list has the methods that keep invariants. Raises as `find_method`, and Unsupported,
    with the solvers that can, for a form that none of these takes."""
    names = (_PREFERRED if step is None else _OF_FIXED_STEPS) if solver is None else (solver,)
    for name in names:
        try:
            adapter, method = find_method(name)
        except MissingSolver:
            if solver is not None:
                raise
            continue
        if method.can_solve(problem):
            return name, adapter, method
    able = {name: m for name, m in _methods().items() if m.can_solve(problem)}
    if solver is not None:
        raise Unsupported(f"{method.refusal(problem, solver)}. Solvers for it: {', '.join(able) or 'none'}")
    if step is not None:
        raise Unsupported(
            "solve: no solver is named, and step= is for methods of fixed steps, which keep invariants: no such "
            f"method takes {problem.formulation!r}; leave step out, or name a solver"
        )
    raise Unsupported(
        f"solve: no solver is named, and none that would be chosen for {problem.formulation!r} is installed; those "
        f"that take it are {', '.join(name for name, m in able.items() if not m.fixed_step)}: `pip install "
        "scikit-sundae` brings one, or choose an ODE form such as 'null-space'"
    )
