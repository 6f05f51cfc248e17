"""What of the fast tests runs on the oldest versions of other packages (`tools/oldest`, which sets ``RBDAE_VERSIONS``).

Versions change what is called: NumPy, SciPy, compilers, solver packages, libraries of pictures, tables and files. They
do not change the laws of mathematics, which the other tests hold on all pairings. So here each test function runs once
for each solver that its cases name; of the functions in `LAWS` only as many do as it takes that every public name that
is read by a test is read by one that runs. Of the pairings of formulation, rotation and velocity those of `PAIRINGS`
are taken where the function has one; of them one has generic kernels, which are a third of the time.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pkgutil
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import cases

import rbdae

SAMPLE = os.environ.get("RBDAE_VERSIONS", "") not in ("", "0")
"""Whether this is the run on other versions."""

LAWS = ("tests/laws/", "tests/models/")
"""Folders whose functions are laws of mathematics, or of the library by itself, in the main."""

PAIRINGS = frozenset(
    cases.Pairing(*names.split("/"))
    for names in (
        "index-2/quaternion/angular",
        "index-0/quaternion/angular",
        "null-space/quaternion/angular",
        "hamiltonian/directors/momentum",
    )
)
"""The pairings that are taken where a test has them: one for each kind of equations."""

WITH_KERNELS = cases.Pairing("index-2", "quaternion", "angular")
"""The one of them that may have generic kernels."""

assert set(cases.PAIRINGS) >= PAIRINGS > {WITH_KERNELS}, "pairings that are no more"


def has_kernels(item: Any) -> bool:
    """Whether a test may run generic kernels: it has the pairing that may, or says so itself; so few are compiled."""
    return item.get_closest_marker("generic") is not None or WITH_KERNELS in _values(item, cases.Pairing)


def chosen(items: Iterable[Any]) -> set[str]:
    """The node ids of the tests that run."""
    functions: dict[str, list[Any]] = defaultdict(list)
    for item in items:
        functions[item.nodeid.partition("[")[0]].append(item)
    order = sorted(functions, key=_number)
    taken = {name for name in order if not name.startswith(LAWS)}
    reads = {name: _names(mine[0].path)[mine[0].originalname] & public_names() for name, mine in functions.items()}
    known = {word for name in taken for word in reads[name]}
    for name in order:
        if not reads[name] <= known:
            taken.add(name)
            known |= reads[name]
    return {item.nodeid for name in taken for item in _cases(functions[name])}


def _cases(items: list[Any]) -> Iterator[Any]:
    """One for each solver that they name: with a pairing of `PAIRINGS` if there is one, else whichever is drawn."""
    of: dict[frozenset[str], list[Any]] = defaultdict(list)
    for item in items:
        of[frozenset(_values(item, str)) & solvers()].append(item)
    for mine in of.values():
        yield min(mine, key=lambda item: (PAIRINGS.isdisjoint(_values(item, cases.Pairing)), _number(item.nodeid)))


def _values(item: Any, kind: type) -> list[Any]:
    """What of this kind a test is parametrized with, itself or in a tuple."""
    found = []
    for value in item.callspec.params.values() if hasattr(item, "callspec") else ():
        found += [part for part in (value, *(value if isinstance(value, tuple) else ())) if isinstance(part, kind)]
    return found


@cache
def solvers() -> frozenset[str]:
    """By their names with and without the package."""
    names = [info.name for info in rbdae.solvers()]
    return frozenset(names) | {name.partition(":")[2] for name in names}


@cache
def public_names() -> frozenset[str]:
    """Names of functions and classes in modules without an underscore, and what these classes have."""
    found = set()
    for info in pkgutil.iter_modules(rbdae.__path__, "rbdae."):
        if "._" in info.name:
            continue
        for name, value in vars(importlib.import_module(info.name)).items():
            own = getattr(value, "__module__", None) or ""
            if callable(value) and own.startswith("rbdae"):
                found.add(name)
                found |= set(vars(value)) if inspect.isclass(value) else set()
    return frozenset(name for name in found if not name.startswith("_"))


@cache
def _names(path: Path) -> dict[str, frozenset[str]]:
    """The names and attributes in the source of each function of a file, by its name."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            inner = [*ast.walk(node)]
            words = {n.attr for n in inner if isinstance(n, ast.Attribute)}
            found[node.name] = frozenset(words | {n.id for n in inner if isinstance(n, ast.Name)})
    return found


def _number(name: str) -> int:
    """The same for a name in every process."""
    return zlib.crc32(name.encode())
