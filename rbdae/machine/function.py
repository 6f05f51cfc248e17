"""Machine code of a problem as C functions, and as functions that Python calls.

All C functions here have one signature,

    int32 f(void* context, double t, const double* y, const double* yd, double c, double* out)

and return 0 when `out` is complete. What a function does not need may be null. `context` is an array of addresses: of
the numbers of the selection, of what to do elsewhere, and of the user's functions, at places that have names from
`SELECTION` to `FIRST_FUNCTION`.

Where a guard of recorded code does not hold, the kernel in plain Python takes over. Loops in machine code call it
through ctypes; Python calls it directly.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NoReturn, final
from weakref import WeakValueDictionary

import numpy as np

from rbdae._arrays import Ints, Vec, address_of
from rbdae._frozen import refuse_copies
from rbdae.machine.data import Data
from rbdae.machine.language.kinds import Record
from rbdae.machine.language.program import signature, symbol
from rbdae.machine.language.source import source_of

PROTOTYPE = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p
)
"""The signature of all of them, for ctypes."""

(
    SELECTION, OTHERWISE, ARRAY_TYPE, FLOAT_TYPE, FLOAT64_TYPE, VECTORCALL, CONVERTING, PLAIN, NONE, INDICES,
    NUMBERS, SCRATCH, FIRST_FUNCTION,
) = range(13)  # fmt: skip
"""Places in a context: the selection's numbers; the C function for states where a guard does not hold; then what calls
from Python need: the types of arrays, floats and NumPy's floats, CPython's function for calls, the Python function for
arguments that are not just as they should be, the plain kernel, None; the tables and the memory of long graphs
(`rbdae.machine.pieces`); then the user's functions, and the numbers that code loads."""


@final
class MachineFunction:
    """A C function with its context, for loops in machine code. It keeps alive what it needs.

    Attributes
    ----------
    address, context : int
        ``f(context, t, y, yd, c, out)`` is the call.
    """

    def __init__(
        self, address: int, context: int, owner: Any, errors: list[BaseException], calls: Sequence[Any] = ()
    ) -> None:
        self.address = address
        self.context = context
        self._owner = owner
        self.errors = errors
        self._calls = tuple(calls)  # others that it calls, with a `check` of their own errors

    def at(self, t: float, y: Vec, out: Vec) -> None:
        """Fill `out` at (t, y). Raises as `check`; without an error, what cannot be had is left as it was."""
        y = np.array(y)  # addresses of arrays that are read only take longer
        if self._function(self.context, t, address_of(y), None, 0.0, address_of(out)) != 0:
            self.check()

    @cached_property
    def _function(self) -> Any:
        return PROTOTYPE(self.address)

    def check(self) -> None:
        """Raise what a Python function behind it has raised, if anything; a call that does not return 0 asks for it."""
        if self.errors:
            error = self.errors[0]
            self.errors.clear()
            raise error
        for each in self._calls:
            each.check()


def machine_text(name: str, native: Any) -> str:
    """A C function of the one signature around a native function, as LLVM text. Parameters other than t, y, yd, c and
    out are words of the context, in their order; a record is the context itself."""
    source = source_of(native)
    kinds, _ = signature(source)
    loads, given, k = "", [], 0
    for parameter, kind in zip((a.arg for a in source.tree.args.args), kinds, strict=True):
        register = "words" if isinstance(kind, Record) else parameter
        given.append(f"{kind.llvm} %{register}")
        if register not in ("words", "t", "y", "yd", "c", "out"):
            loads += f"  %{register}.p = getelementptr i64, ptr %words, i64 {k}\n"
            loads += f"  %{register} = load {kind.llvm}, ptr %{register}.p\n"
            k += 1
    return f"""define i32 @{name}(ptr %words, double %t, ptr %y, ptr %yd, double %c, ptr %out) nounwind {{
{loads}  %word = call i64 @"{symbol(native)}"({", ".join(given)})
  %status = trunc i64 %word to i32
  ret i32 %status
}}
"""


Shapes = Mapping[str, tuple[int, ...]]
"""The shapes of y, yd and out."""


def names_of(signs: str) -> list[str]:
    """The names of arguments by their kinds: ``t`` a number, first t, then c; ``y`` an input, first y, then yd; ``o``
    or ``M`` the output."""
    numbers, vectors = iter(("t", "c")), iter(("y", "yd"))
    return [next(numbers) if sign == "t" else next(vectors) if sign == "y" else "out" for sign in signs]


def trampoline(call: Callable[..., None], signs: str, shapes: Shapes, context: int = 0) -> MachineFunction:
    """A Python function as a C function: ``call(t, y, out)``, ``call(t, y, yd, out)``, ... by the kinds of arguments in
    `signs` (`names_of`). It takes a microsecond or two. All are one C function, which knows them by their context: an
    address that is theirs, else a number of their own."""
    made = _Called(call, signs, shapes)
    at = context or id(made)
    _CALLED[at] = made
    return MachineFunction(_any_of_them()[1], at, made, made.errors)


@final
class _Called:
    """A Python function behind a C function, and what it has raised."""

    def __init__(self, call: Callable[..., None], signs: str, shapes: Shapes) -> None:
        self._call, self._views, order = call, _Views(shapes), ("t", "y", "yd", "c", "out")
        self._places = [(order.index(name), "" if name in ("t", "c") else name) for name in names_of(signs)]
        self.errors: list[BaseException] = []

    def status(self, t: float, y: int, yd: int, c: float, out: int) -> int:
        """The call; 0, or 1 where it has raised."""
        try:
            given: tuple[Any, ...] = (t, y, yd, c, out)
            self._call(*[self._views[name, given[k]] if name else given[k] for k, name in self._places])
        except BaseException as error:
            self.errors.append(error)
            return 1
        return 0


_CALLED: WeakValueDictionary[int, _Called] = WeakValueDictionary()


@cache
def _any_of_them() -> tuple[Any, int]:
    function = PROTOTYPE(lambda context, *given: _CALLED[context].status(*given))
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return function, address


@final
class _Views(dict[tuple[str, int], Any]):
    """Arrays at addresses, of which a loop has few: they are made once. One is read only while its address is given."""

    def __init__(self, shapes: Shapes) -> None:
        self._shapes = shapes

    def __missing__(self, key: tuple[str, int]) -> Any:
        if len(self) >= _MANY:
            self.clear()
        name, at = key
        shape = self._shapes[name]
        numbers = ctypes.cast(at, ctypes.POINTER(ctypes.c_double))
        out = self[key] = np.ctypeslib.as_array(numbers, shape)
        return out


_MANY = 64
"""Arrays that are kept at a time."""


@final
class Context(np.ndarray):
    """The array of addresses that machine code takes, and what keeps them valid; `sound` if the numbers are finite."""

    address: int
    sound: bool
    alive: list[Any]
    places: tuple[int, ...]

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Pickles of functions would be pickles of their context: addresses."""
        refuse_copies()

    @classmethod
    def begun(cls, functions: Sequence[int], data: Data) -> Context:
        """What all contexts of one code have: addresses of the user's functions, tables, constants; then come places
        for what follows from the numbers of a model and for what code leaves there."""
        first = FIRST_FUNCTION + len(functions)
        places = [first + len(data.numbers)]
        places += [places[0] + data.scratch, places[0] + data.scratch + len(data.tape.constants)]
        out = np.zeros(places[-1] + data.tape.n_inputs + len(data.tape.rows), dtype=np.int64).view(cls)
        out[:FIRST_FUNCTION] = _of_python()
        out[FIRST_FUNCTION:first], out[first : places[0]] = functions, data.numbers.view(np.int64)
        out[INDICES], out[places[1] : places[2]] = data.place, data.tape.constants.view(np.int64)
        out.places = (first, *places)
        return out

    @classmethod
    def of(cls, begun: Context, selection: Vec, data: Data, inputs: Vec) -> Context:
        """A context with the numbers of a selection and the data of code for the numbers of a model. It has memory of
        its own, so that calls with one context must not overlap."""
        out = begun.copy()
        out.address = at = address_of(out)
        numbers, scratch, values, given = begun.places
        out[SELECTION], out[NUMBERS], out[SCRATCH] = address_of(selection), at + 8 * numbers, at + 8 * scratch
        out.sound = True
        if len(data.loaded):
            n = data.tape.n_inputs
            out[given : given + n] = inputs[:n].view(np.int64)
            out.sound = data.follow(at + 8 * values, at + 8 * numbers)
        out.alive = [selection, data]
        return out


@cache
def _of_python() -> Ints:
    """A context in which only the addresses of CPython are."""
    out = np.zeros(FIRST_FUNCTION, dtype=np.int64)
    for place, value in ((ARRAY_TYPE, np.ndarray), (FLOAT_TYPE, float), (FLOAT64_TYPE, np.float64), (NONE, None)):
        out[place] = id(value)
    out[VECTORCALL] = ctypes.cast(ctypes.pythonapi.PyObject_Vectorcall, ctypes.c_void_p).value or 0
    return out
