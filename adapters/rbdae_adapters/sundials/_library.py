"""The shared libraries of SUNDIALS that are there already: in scikit-sundae's wheel, or the system's.

Nothing is compiled. The library says its version, whose headers say where the operations of a linear solver are.
Numbers are to be of double precision; indices may have any size. Every object that is made here is counted (`alive`)
and freed by `Objects.close`.
"""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import glob
import importlib.util
import os
import threading
import weakref
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

import numpy as np

from rbdae import _forks
from rbdae._arrays import Vec
from rbdae.adapter import MissingSolver, Unsupported

NAMES = ("scikit-sundae", "system")
"""Where libraries are looked for, in this order."""

OLDEST = (6, 0)
"""The first version with contexts."""

PLACES = (((7, 6), (2, 8)), ((7, 5), (1, 8)), (OLDEST, (1, 7)))
"""In a linear solver since a version, by its headers: the pointer to its table of operations, and `setup` in there,
which `solve` follows; `gettype` is the first. 7.5 has `setoptions` before them, 7.6 `python` before the table."""

POINTER, REAL, INT, LONG, INDEX = ctypes.c_void_p, ctypes.c_double, ctypes.c_int, ctypes.c_long, ctypes.c_int64

_MODULES = ("core", "generic", "nvecserial", "sunmatrixdense", "sunlinsoldense", "sunnonlinsolnewton", "ida", "cvode")
_NEEDED = (
    "SUNDIALSGetVersionNumber",
    "SUNContext_Create",
    "N_VNew_Serial",
    "IDACreate",
    "CVodeCreate",
    "SUNLinSolNewEmpty",
    "SUNDenseMatrix",
)

_LIVE: weakref.WeakSet[Objects] = weakref.WeakSet()


def alive() -> dict[str, int]:
    """How many objects of SUNDIALS there are, by kind."""
    return dict(Counter(kind for objects in list(_LIVE) for kind, _ in objects.frees))


@final
class Library:
    """One build of SUNDIALS.

    Attributes
    ----------
    name, files : what was asked for, and where it was found
    version : (major, minor, patch)
    places : see `PLACES`
    """

    def __init__(self, name: str, files: list[str]) -> None:
        self.name, self.files = name, files
        self._handles = [ctypes.CDLL(file, mode=ctypes.RTLD_LOCAL) for file in files]
        self._known: dict[str, Any] = {}
        self._made: dict[str, Any] = {}
        self._addresses: dict[str, int] = {}
        lacking = [needed for needed in _NEEDED if not self.has(needed)]
        if lacking:
            raise MissingSolver(f"the SUNDIALS of library={name!r} has no {', '.join(lacking)}; take another library")
        self.version = self._asked_version()
        if self.version[:2] < OLDEST:
            raise MissingSolver(
                f"the SUNDIALS of library={name!r} is {'.'.join(map(str, self.version))}; 6.0 or later is needed"
            )
        self.places = next(places for first, places in PLACES if self.version[:2] >= first)
        self._check_places()

    def has(self, name: str) -> bool:
        """Whether a function is exported."""
        return self._found(name) is not None

    def _found(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = next((getattr(h, name) for h in self._handles if hasattr(h, name)), None)
        return self._known[name]

    def address(self, name: str) -> int:
        """The address at which a function begins."""
        known = self._addresses.get(name)
        if known is None:
            found = self._found(name)
            if found is None:
                raise Unsupported(f"the SUNDIALS of library={self.name!r} has no {name}; take another library=")
            known = self._addresses[name] = ctypes.cast(found, POINTER).value or 0
        return known

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """Call a function; arguments are values of ctypes."""
        made = self._made.get(name)  # a function of C has one signature
        if made is None:
            made = self._made[name] = ctypes.CFUNCTYPE(result, *map(type, arguments))(self.address(name))
        return made(*arguments)

    # ------------------------------------------------------------ what it is

    def _asked_version(self) -> tuple[int, int, int]:
        parts = [INT() for _ in range(3)]
        label = ctypes.create_string_buffer(32)
        self.call("SUNDIALSGetVersionNumber", INT, *(POINTER(ctypes.addressof(p)) for p in (*parts, label)), INT(32))
        major, minor, patch = (part.value for part in parts)
        return major, minor, patch

    def _check_places(self) -> None:
        """Whether the operations of a linear solver are where the headers of this version have them."""
        with Objects(self) as objects:
            dense = objects.made("matrix", "SUNDenseMatrix", "SUNMatDestroy", INDEX(1), INDEX(1), objects.context)
            vector, _ = objects.vector(np.zeros(1))
            solver = objects.made("solver", "SUNLinSol_Dense", "SUNLinSolFree", vector, dense, objects.context)
            table, setup = self.places
            entries = (POINTER * 16).from_address((POINTER * 3).from_address(solver.value)[table] or 0)
            if entries[setup] != self.address("SUNLinSolSetup_Dense"):
                raise MissingSolver(f"the linear solvers of library={self.name!r} are not those of SUNDIALS' headers")


@final
class Objects:
    """Objects of one run in a context of its own, freed in the opposite order by `close`: `frees` by their kinds."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.frees: list[tuple[str, Callable[[], Any]]] = []
        _LIVE.add(self)
        place = POINTER()
        status = library.call("SUNContext_Create", INT, POINTER(0), POINTER(ctypes.addressof(place)))
        if status:
            raise MemoryError(f"SUNContext_Create has failed with {status}")
        self.context = POINTER(place.value)
        self._kept = place
        self._note("context", lambda: library.call("SUNContext_Free", INT, POINTER(ctypes.addressof(place))))

    def __enter__(self) -> Objects:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # a run that was left by an exception
            self.close()

    def _note(self, kind: str, free: Callable[[], Any]) -> None:
        self.frees.append((kind, free))

    def close(self) -> None:
        """Free all; nothing may use them from here on."""
        while self.frees:
            self.frees.pop()[1]()

    def _new(self, kind: str, constructor: str, arguments: tuple[Any, ...], free: Callable[[Any], Any]) -> Any:
        out = POINTER(self.library.call(constructor, POINTER, *arguments))
        if not out.value:
            raise MemoryError(f"{constructor} has made nothing")
        self._note(kind, lambda: free(out))
        return out

    def made(self, kind: str, constructor: str, destructor: str, *arguments: Any) -> Any:
        """A new object."""
        call, result = self.library.call, None if kind == "vector" else INT
        return self._new(kind, constructor, arguments, lambda out: call(destructor, result, out))

    def integrator(self, constructor: str, destructor: str, *arguments: Any) -> Any:
        """The memory of an integrator, whose destructor takes the address of its address."""

        def free(out: Any) -> None:
            place = POINTER(out.value)
            self.library.call(destructor, None, POINTER(ctypes.addressof(place)))

        return self._new("integrator", constructor, arguments, free)

    def vector(self, x: Vec) -> tuple[Any, Vec]:
        """A vector with these numbers, and its memory as an array."""
        out = self.made("vector", "N_VNew_Serial", "N_VDestroy", INDEX(len(x)), self.context)
        at = self.library.call("N_VGetArrayPointer", POINTER, out)
        memory: Any = (REAL * len(x)).from_address(at)
        values = np.frombuffer(memory)
        values[:] = x
        return out, values

    def linear_solver(self, setup: int, solve: int) -> Any:
        """A direct linear solver with these functions of machine code."""
        library, (place, first) = self.library, self.library.places
        free = "SUNLinSolFreeEmpty"
        out = self._new("solver", "SUNLinSolNewEmpty", (self.context,), lambda out: library.call(free, None, out))
        entries: Any = (POINTER * 16).from_address((POINTER * 3).from_address(out.value)[place] or 0)
        entries[0], entries[first], entries[first + 1] = library.address("SUNLinSolGetType_Dense"), setup, solve
        return out


# ---------------------------------------------------------------- where they are


def _wheel(module: str, *folders: str) -> list[str]:
    """The libraries beside an installed module."""
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        return []
    package = Path(next(iter(spec.submodule_search_locations)))
    places = [package.parent / folder for folder in folders] + [package / ".dylibs"]
    return next((found for place in places if (found := _in_folder(place))), [])


def _in_folder(folder: Path) -> list[str]:
    files = []
    for name in _MODULES:
        for pattern in (f"libsundials_{name}[-.]*", f"sundials_{name}[-.]*"):
            found = [f for f in sorted(glob.glob(str(folder / pattern))) if not f.endswith((".a", ".la", ".lib"))]
            if found:
                files.append(found[0])
                break
    return files


def _system() -> list[str]:
    found = (ctypes.util.find_library(f"sundials_{name}") for name in _MODULES)
    return [file for file in found if file]


def _files(name: str) -> list[str]:
    if name == "scikit-sundae":
        return _wheel("sksundae", "scikit_sundae.libs")
    if name == "system":
        return _system()
    path = Path(name)
    return _in_folder(path) if path.is_dir() else [str(path)] if path.is_file() else []


_LOADED: dict[str, Library | MissingSolver] = {}
_LOCK = threading.RLock()
_forks.protect(lambda: _LOCK, 55)


def _made(name: str) -> Library | MissingSolver:
    with _LOCK:
        if name not in _LOADED:
            files = _files(name)
            if not files:
                _LOADED[name] = MissingSolver(_LACKING.get(name, f"there is no SUNDIALS at {name!r}"))
            else:
                try:
                    _LOADED[name] = Library(name, files)
                except (OSError, MissingSolver) as error:
                    _LOADED[name] = MissingSolver(f"library={name!r} cannot be used: {error}")
        return _LOADED[name]


_LACKING = {
    "scikit-sundae": "scikit-sundae is not installed; pip install scikit-sundae",
    "system": "the system has no SUNDIALS; install Debian's libsundials-dev, or pip install scikit-sundae",
}


def library(name: object = None) -> Library:
    """A library by its name or path; the first that is there if none is given.

    Raises
    ------
    rbdae.adapter.MissingSolver
        if it is not there, or is not usable; the message says why
    """
    if name is None:
        for candidate in NAMES:
            found = _made(candidate)
            if isinstance(found, Library):
                return found
        raise MissingSolver("no SUNDIALS is there; pip install scikit-sundae")
    if not isinstance(name, str | os.PathLike):
        known = ", ".join(map(repr, NAMES))
        raise TypeError(f"library must be {known} or a path, got {name!r}; leave it out")
    found = _made(os.fspath(name))
    if isinstance(found, MissingSolver):
        raise MissingSolver(str(found))
    return found
