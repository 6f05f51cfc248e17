"""The solvers of all adapters: which there are, which are installed, which take a problem."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Final, Literal, TypeAlias, final

from rbdae import _check
from rbdae.adapter import AbstractAdapter, Method, MissingSolver, Unsupported
from rbdae.problem.contract import Solvable
from rbdae.solving.checks import check_problem

SolverName: TypeAlias = Literal[
    "rbdae:dopri5", "rbdae:dop853", "rbdae:odex", "rbdae:energy-momentum", "rbdae:variational", "rbdae:simo-wong",
    "rbdae:midpoint",
    "scipy:RK23", "scipy:RK45", "scipy:DOP853", "scipy:Radau", "scipy:BDF", "scipy:LSODA",
    "scikits.odes:ida", "scikits.odes:cvode", "scikits.odes:ddaspk",
    "sksundae:ida", "sksundae:cvode", "sundials:ida", "sundials:cvode", "solve_dae:Radau", "solve_dae:BDF",
    "assimulo:Radau5DAE", "assimulo:ODASSL", "assimulo:Radau5ODE", "assimulo:RodasODE", "assimulo:Dopri5",
    "assimulo:LSODAR", "assimulo:ExplicitEuler", "assimulo:ImplicitEuler",
]  # fmt: skip
"""A solver of the adapters of this distribution; other distributions have more."""

_GROUP = "rbdae.adapters"
_HOUSE = "rbdae_adapters"
"""The adapters of this distribution: its `ADAPTERS` map names to modules. To find them takes no search through all that
is installed, which costs as much as an integration, and no installation: a checkout on the path will do."""

_Source = Callable[[], AbstractAdapter]

_PRESENT: set[str] = set()
"""Adapters whose packages were there when they were asked for: to find a version takes as long as a short run."""

_FORMS = {
    "ode": "ODE forms (index-0, null-space, ...)",
    "dae": "DAEs",
    "overdetermined": "overdetermined forms",
}


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


def _turns(solver: SolverInfo) -> str:
    return "" if solver.threads == "any number" else f"; runs {solver.threads}"


@final
class SolverTable(list[SolverInfo]):
    """A list of `SolverInfo` that prints as a table."""

    def __str__(self) -> str:
        rows = [("solver", "version", "takes", "what it is")]
        rows += [(s.name, s.version or "missing", s.takes, s.summary + _turns(s)) for s in self]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = ["  ".join([*(row[k].ljust(widths[k]) for k in range(3)), row[3]]).rstrip() for row in rows]
        missing = {s.package: s.install for s in self if not s.available}
        lines += [f"{package} is missing: run {install}" for package, install in missing.items()]
        return "\n".join(lines)

    __repr__ = __str__


def _adapter_in(module: str) -> AbstractAdapter:
    found: AbstractAdapter = importlib.import_module(module).ADAPTER
    return found


@lru_cache(maxsize=1)
def _own() -> dict[str, str]:
    """The modules of this distribution's adapters by name; none where their folder is not on the path."""
    if importlib.util.find_spec(_HOUSE) is None:
        return {}
    modules: dict[str, str] = importlib.import_module(_HOUSE).ADAPTERS
    return modules


@lru_cache(maxsize=1)
def _installed() -> dict[str, _Source]:
    """How to load each adapter that is installed, by its name."""
    from importlib.metadata import entry_points  # a slow import

    return {point.name: point.load for point in entry_points(group=_GROUP)}


def _source(package: str) -> _Source | None:
    """How to load one adapter, or None; other distributions are asked for names that are not ours."""
    module = _own().get(package)
    return partial(_adapter_in, module) if module else _installed().get(package)


def _sources() -> dict[str, _Source]:
    """How to load each adapter, by its name."""
    sources = _installed() | {name: partial(_adapter_in, module) for name, module in _own().items()}
    if not sources:
        raise MissingSolver(
            "no adapters found: rbdae is neither installed nor is its folder adapters/ on the path; "
            "run `pip install -e .`, or set PYTHONPATH=adapters"
        )
    return sources


@cache
def _load(package: str) -> AbstractAdapter | None:
    """One adapter, None if there is no such one; this does not import its package, and no other adapter."""
    source = _source(package)
    return None if source is None else source()


def _adapters() -> dict[str, AbstractAdapter]:
    """Every adapter; one of another distribution that cannot be loaded is left out with a warning."""
    found = {}
    for name in _sources():
        try:
            one = _load(name)
        except Exception as error:
            if name in _own():
                raise
            warnings.warn(f"the adapter {name!r} cannot be loaded: {error}", stacklevel=3)
        else:
            assert one is not None
            found[name] = one
    return found


def solvers() -> SolverTable:
    """Every solver of every adapter, available or not; prints as a table."""
    table = SolverTable()
    for package, adapter in _adapters().items():
        version = adapter.version()
        for m in adapter.methods:
            table.append(
                SolverInfo(
                    name=f"{package}:{m.name}",
                    package=package,
                    available=version is not None,
                    version=version,
                    kinds=m.kinds,
                    indices=m.indices,
                    overdetermined_indices=m.overdetermined_indices,
                    one_step=m.one_step,
                    install=adapter.install,
                    summary=m.summary,
                    threads="one at a time" if m.shared_state else "any number",
                )
            )
    return table


def adapter(package: str) -> AbstractAdapter:
    """The adapter of a package, for its `native` objects: ``adapter("scipy").native(problem, "RK45")``."""
    if not isinstance(package, str):
        raise TypeError(f"adapter: package must be a string such as 'scipy', got {_check.show(package)}")
    found = _load(package)
    if found is None:
        raise ValueError(f"no adapter {package!r}; {_hint(package, _sources())}")
    return found


def package_version(solver: str) -> dict[str, str]:
    """The package of a solver and its version, for reports; empty for one that no adapter here knows."""
    package = solver.partition(":")[0]
    found = _load(package)
    return {} if found is None else {package: found.version() or "not installed"}


def _hint(name: str, names: Iterable[str]) -> str:
    """'did you mean ...?', or all names if none is near."""
    known = sorted(names)
    return _check.nearest(name, known) or "there are " + ", ".join(known)


def find_method(solver: str) -> tuple[AbstractAdapter, Method]:
    """The adapter and the method of a solver's name; refuses unknown names and missing packages.

    Raises
    ------
    ValueError
        for a name that no adapter has, with the nearest ones
    MissingSolver
        for a package that is not installed, with the command that installs it
    """
    if not isinstance(solver, str):
        raise TypeError(f"solver must be a string such as 'scipy:RK45', got {_check.show(solver)}")
    package, _, name = solver.partition(":")
    found = _load(package)
    if found is not None:
        for method in found.methods:
            if method.name == name:
                if package not in _PRESENT and found.version() is None:
                    raise MissingSolver(f"{solver!r} needs {package}, which is missing: run {found.install}")
                _PRESENT.add(package)
                return found, method
    names = [f"{p}:{m.name}" for p, a in _adapters().items() for m in a.methods]
    raise ValueError(f"unknown solver {solver!r}; {_hint(solver, names)} (rbdae.solvers() lists them all)")


def solvers_for(problem: Solvable) -> list[str]:
    """Names of the solvers that take a problem's form, installed or not."""
    check_problem("solvers_for", problem)
    return list(methods_for(problem))


def methods_for(problem: Solvable) -> dict[str, Method]:
    """The same with their methods."""
    return {
        f"{package}:{m.name}": m
        for package, a in _adapters().items()
        for m in a.methods
        if m.accepts(problem.kind, problem.index, _pairing(problem))
    }


def _pairing(problem: Solvable) -> tuple[str, str, str]:
    """Formulation, rotation and velocity; problems of the user's own have no rotations."""
    rotation, velocity = (getattr(problem, name, "") for name in ("rotation", "velocity"))
    return problem.formulation, rotation, velocity


def _forms_of(method: Method) -> str:
    """The forms of a method that is made for a few, in words."""
    forms: dict[tuple[str, str], list[str]] = {}
    for formulation, rotation, velocity in sorted(method.pairings):
        forms.setdefault((rotation, velocity), []).append(repr(formulation))
    return " and ".join(f"{', '.join(names)} with rotation={r!r}, velocity={v!r}" for (r, v), names in forms.items())


def check_pairing(problem: Solvable, solver: str, method: Method) -> None:
    """Refuse a form that the method cannot take, with the solvers that can."""
    kind = problem.kind
    own = _pairing(problem)
    if method.accepts(kind, 0 if kind == "ode" else problem.index, own):
        return
    is_a = {
        "ode": "an ODE form",
        "dae": f"a DAE of index {problem.index}",
        "overdetermined": "an overdetermined DAE"
        + (f" of index {problem.index}" if problem.kind in method.kinds else ""),
    }[problem.kind]
    takes = " and ".join(
        _FORMS[k] + (f" of index {', '.join(map(str, sorted(indices)))}" if indices is not None else "")
        for k, indices in (("ode", None), ("dae", method.indices), ("overdetermined", method.overdetermined_indices))
        if k in method.kinds
    )
    if method.pairings:
        is_a += f" with rotation={own[1]!r}, velocity={own[2]!r}" if own[1] else ""
        takes = _forms_of(method)
    able = solvers_for(problem)
    raise Unsupported(
        f"{problem.formulation!r} is {is_a}, but {solver} takes {takes}. "
        f"Solvers for it: {', '.join(able) if able else 'none'}"
    )


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


def default_solver(problem: Solvable, step: float | None = None) -> str:
    """The first solver of a list that is installed and takes the problem; of those that keep invariants with a `step`.

    Raises
    ------
    Unsupported
        if none is installed, with those that would take it, and if no method of fixed steps takes the problem
    """
    able = methods_for(problem)
    names = [name for name, method in able.items() if method.fixed_step == (step is not None)]
    for name in _PREFERRED if step is None else _OF_FIXED_STEPS:
        if name in names and adapter(name.partition(":")[0]).version() is not None:
            return name
    form = problem.formulation
    if step is not None:
        raise Unsupported(
            f"solve: no solver is named, and step= is for methods of fixed steps, which keep invariants: no such "
            f"method takes {form!r}; leave step out, or name a solver"
        )
    raise Unsupported(
        f"solve: no solver is named, and none that would be chosen for {form!r} is installed; those that take it are "
        f"{', '.join(names)}: `pip install scikit-sundae` brings one, or choose an ODE form such as 'null-space'"
    )
