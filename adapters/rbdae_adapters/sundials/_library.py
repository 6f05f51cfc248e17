"""The shared libraries of SUNDIALS, from scikit-sundae or from a folder named by the user.

Nothing is compiled. The library reports its version, which determines where the operations of a linear solver are
(`PLACES`). Numbers must be of double precision; indices may have any size. Every object made here is freed by
`Objects.close`.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import glob
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import MissingSolver, Unsupported

OLDEST = (7, 0)
"""The first version with error handlers in its contexts."""

PLACES = (((7, 6), (2, 8)), ((7, 5), (1, 8)), (OLDEST, (1, 7)))
"""Places in a linear solver since each version, from the headers: the pointer to the table of operations, and `setup`
in this table, followed by `solve`; `gettype` is first. 7.5 has `setoptions` before them, 7.6 `python` before the
table."""

POINTER, REAL, INT, LONG, INDEX = ctypes.c_void_p, ctypes.c_double, ctypes.c_int, ctypes.c_long, ctypes.c_int64

_MODULES = ("core", "generic", "nvecserial", "sunmatrixdense", "sunlinsoldense", "sunnonlinsolnewton", "ida", "cvode")
_NEEDED = ("SUNContext_PushErrHandler", "N_VNew_Serial", "IDACreate", "CVodeCreate", "SUNLinSolNewEmpty")


@final
class Library:
    """One build of SUNDIALS: paths of its `files`, its `version` (major, minor, patch), and `places`, see `PLACES`."""

    def __init__(self, files: list[str]) -> None:
        self.files = files
        self._handles = [ctypes.CDLL(file, mode=ctypes.RTLD_LOCAL) for file in files]
        self._functions: dict[str, Any] = {}
        self._addresses: dict[str, int] = {}
        if lacking := [needed for needed in _NEEDED if not self.has(needed)]:
            raise MissingSolver(f"it has no {', '.join(lacking)}, which SUNDIALS 7.0 or later has")
        parts, label = [INT() for _ in range(3)], ctypes.create_string_buffer(32)
        places = (POINTER(ctypes.addressof(each)) for each in (*parts, label))
        self.call("SUNDIALSGetVersionNumber", INT, *places, INT(32))
        self.version = tuple(part.value for part in parts)
        if self.version[:2] < OLDEST:
            raise MissingSolver(f"it is SUNDIALS {'.'.join(map(str, self.version))}; 7.0 or later is needed")
        self.places = next(places for first, places in PLACES if self.version[:2] >= first)
        self._check_places()

    def has(self, name: str) -> bool:
        return any(hasattr(handle, name) for handle in self._handles)

    def address(self, name: str) -> int:
        if name not in self._addresses:
            function = next((getattr(h, name) for h in self._handles if hasattr(h, name)), None)
            if function is None:
                raise Unsupported(f"the SUNDIALS of {self.files[0]!r} has no {name}; take another library=")
            self._addresses[name] = ctypes.cast(function, POINTER).value or 0
        return self._addresses[name]

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """Call a function with ctypes values."""
        function = self._functions.get(name)  # a C function has one signature
        if function is None:
            function = self._functions[name] = ctypes.CFUNCTYPE(result, *map(type, arguments))(self.address(name))
        return function(*arguments)

    def _check_places(self) -> None:
        """Check that the operations of a linear solver are where this version's headers have them."""
        objects = Objects(self)
        try:
            dense = objects.made("SUNDenseMatrix", "SUNMatDestroy", INDEX(1), INDEX(1), objects.context)
            vector, _ = objects.vector(np.zeros(1))
            solver = objects.made("SUNLinSol_Dense", "SUNLinSolFree", vector, dense, objects.context)
            table, setup = self.places
            entries = (POINTER * 16).from_address((POINTER * 3).from_address(solver.value)[table] or 0)
            if entries[setup] != self.address("SUNLinSolSetup_Dense"):
                raise MissingSolver("its linear solvers differ from SUNDIALS' headers")
        finally:
            objects.close()


@final
class Objects:
    """Objects of one run in their own context; `close` frees them in reverse order."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.frees: list[Callable[[], Any]] = []
        place = POINTER()
        status = library.call("SUNContext_Create", INT, POINTER(0), POINTER(ctypes.addressof(place)))
        if status:
            raise MemoryError(f"SUNContext_Create failed with {status}")
        self.context = POINTER(place.value)
        self.frees.append(lambda: library.call("SUNContext_Free", None, POINTER(ctypes.addressof(place))))

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # a run left by an exception
            self.close()

    def close(self) -> None:
        """Free all objects; nothing may use them afterwards."""
        while self.frees:
            self.frees.pop()()

    def made(self, constructor: str, destructor: str, *arguments: Any, by_address: bool = False) -> Any:
        """A new object; an integrator's destructor takes the address of its address."""
        out = POINTER(self.library.call(constructor, POINTER, *arguments))
        if not out.value:
            raise MemoryError(f"{constructor} returned no object")

        def free() -> None:
            self.library.call(destructor, None, POINTER(ctypes.addressof(out) if by_address else out.value))

        self.frees.append(free)
        return out

    def vector(self, x: Vec) -> tuple[Any, Vec]:
        """A vector with these numbers, and its memory as an array."""
        out = self.made("N_VNew_Serial", "N_VDestroy", INDEX(len(x)), self.context)
        memory: Any = (REAL * len(x)).from_address(self.library.call("N_VGetArrayPointer", POINTER, out))
        values = np.frombuffer(memory)
        values[:] = x
        return out, values

    def linear_solver(self, setup: int, solve: int) -> Any:
        """A direct linear solver with these machine functions."""
        place, first = self.library.places
        out = self.made("SUNLinSolNewEmpty", "SUNLinSolFreeEmpty", self.context)
        entries: Any = (POINTER * 16).from_address((POINTER * 3).from_address(out.value)[place] or 0)
        entries[0], entries[first], entries[first + 1] = self.library.address("SUNLinSolGetType_Dense"), setup, solve
        return out


# ---------------------------------------------------------------- finding the libraries


def _in_wheel() -> list[str]:
    """The libraries of scikit-sundae: next to its package, or in a conda environment."""
    spec = importlib.util.find_spec("sksundae")
    if spec is None or not spec.submodule_search_locations:
        return []
    package = Path(next(iter(spec.submodule_search_locations)))
    places = (package.parent / "scikit_sundae.libs", package / ".dylibs", Path(sys.prefix) / "lib")
    return next((files for place in places if (files := _in_folder(place))), [])


def _in_folder(folder: Path) -> list[str]:
    files = []
    for name in _MODULES:
        for pattern in (f"libsundials_{name}[-.]*", f"sundials_{name}[-.]*"):
            matches = [f for f in sorted(glob.glob(str(folder / pattern))) if not f.endswith((".a", ".la", ".lib"))]
            if matches:
                files.append(matches[0])
                break
    return files


@functools.cache
def _library(folder: str | None) -> Library:
    files = _in_wheel() if folder is None else _in_folder(Path(folder))
    if not files:
        where = "was found; pip install scikit-sundae" if folder is None else f"in {folder!r}"
        raise MissingSolver(f"no SUNDIALS {where}")
    try:
        return Library(files)
    except (OSError, MissingSolver) as error:
        raise MissingSolver(f"the SUNDIALS of {files[0]!r} cannot be used: {error}") from error


def library(folder: object = None) -> Library:
    """The library in a folder, by default scikit-sundae's; MissingSolver says why it is not usable."""
    if folder is not None and not isinstance(folder, str | os.PathLike):
        raise TypeError(f"library must be the path of a folder, got {folder!r}; leave it out")
    return _library(None if folder is None else os.fspath(folder))
