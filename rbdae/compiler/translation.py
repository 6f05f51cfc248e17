"""A kernel that is compiled for itself, and all that becomes part of it, as one text in LLVM IR."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from rbdae.compiler.declared import declared, symbol_of
from rbdae.machine.language import arrays
from rbdae.machine.language.body import Body
from rbdae.machine.language.calls import Callee, called, fitted, passed, pointer
from rbdae.machine.language.kinds import (
    ADDRESS,
    BOOL,
    DUAL,
    DUAL_WIDTH,
    FLOAT,
    INT,
    LONG,
    NOTHING,
    Array,
    Kind,
    Number,
    Object,
    Refused,
    Several,
    Value,
    constant,
    words,
)
from rbdae.machine.language.mathematics import FUNCTIONS
from rbdae.machine.language.statements import Written
from rbdae.machine.language.text import Text

MESSAGE = "rbdae.message"
"""The symbol of the cell for the message of a kernel that was called without the features that it needs."""


class Translation(Text):
    """The text of a kernel. It is the `rbdae.compiler.declared.Machine` of what the kernel calls.

    Parameters
    ----------
    dual : whether doubles that depend on the kernel's arguments are values with derivatives
    """

    def __init__(self, dual: bool = False) -> None:
        super().__init__()
        self._dual = dual
        self.floats = DUAL if dual else FLOAT
        self._inlined: dict[tuple[Any, ...], Callee] = {}

    def exported(self, function: Callable[..., Any], symbol: str, kinds: tuple[Kind, ...]) -> None:
        """A function that can be called by its symbol; it returns nothing."""
        assert isinstance(function, FunctionType)
        self.add(Written(function, kinds, None, self).definition(symbol, ""))

    def add_message(self) -> None:
        """The cell for messages."""
        self.declare(MESSAGE, f"@{MESSAGE} = external global ptr")

    # ------------------------------------------------------------ what kernels call

    def callee(self, function: Any, kinds: tuple[Kind, ...]) -> Callee | None:
        """A kernel for arguments of these kinds; None for what is none."""
        known = declared(function)
        if known is None:
            return None
        found = known.callee(self)
        if isinstance(found, FunctionType) and found is known.source:
            return self._part(found, kinds)
        callee: Callee = FUNCTIONS.get(found, found)
        return callee

    def _part(self, source: FunctionType, kinds: tuple[Kind, ...]) -> Callee:
        """A function that becomes part of its callers, translated once for all arguments of these kinds."""
        key = (source, kinds)
        if key not in self._inlined:
            if any(isinstance(kind, Object) for kind in kinds):
                raise Refused("takes numbers and arrays")
            written = Written(source, kinds, None, self)
            assert written.result is not None
            symbol = f"{source.__qualname__}.{len(self._inlined)}"
            self._inlined[key] = called(f'@"{symbol}"', kinds, written.result)
            self.add(written.definition(symbol))
        return self._inlined[key]

    def inlined(self, source: Callable[..., Any]) -> Any:
        """A function that becomes part of its callers."""
        return source

    def linked(self, symbol: str, kinds: str) -> Callee:
        """A C function by its symbol; `kinds` are those of its arguments, as of a stage."""
        types, symbol = self.kinds(kinds), symbol_of(symbol, self._dual)
        self.declare(symbol, f'declare void @"{symbol}"({", ".join(kind.llvm for kind in types)}) nounwind')
        return called(f'@"{symbol}"', types, NOTHING)

    def in_cell(self, symbol: str, kinds: str, message: str) -> Callee:
        """A C function by the address in the cell with this symbol; `message` is left behind if that is 0."""
        symbol = symbol_of(symbol, self._dual)
        self.declare(symbol, f'@"{symbol}" = external global ptr')

        def call(at: Body, arguments: list[Value]) -> Value:
            function = at.register(f'load ptr, ptr @"{symbol}"')
            return self._call_or_complain(at, function, fitted(at, arguments, self.kinds(kinds)), message)

        return call

    def in_table(self, symbol: str, kinds: str, message: str) -> Callee:
        """Several of them by their number, in a table."""
        symbol = symbol_of(symbol, self._dual)
        self.declare(symbol, f'@"{symbol}" = external global [0 x ptr]')

        def call(at: Body, arguments: list[Value]) -> Value:
            number, *others = fitted(at, arguments, self.kinds("i" + kinds))
            place = at.register(f'getelementptr ptr, ptr @"{symbol}", i64 {number.text}')
            return self._call_or_complain(at, at.register(f"load ptr, ptr {place}"), others, message)

        return call

    def _call_or_complain(self, at: Body, function: str, arguments: list[Value], message: str) -> Value:
        """Call a function if there is one; leave the message behind if not, unless it is empty."""
        there = at.value(BOOL, f"icmp ne ptr {function}, null")
        yes, no, done = at.name("there"), at.name("absent"), at.name("done")
        at.choose(there, yes, no)
        at.label(yes)
        at.add(f"call void {function}({passed(arguments)})")
        at.jump(done)
        at.label(no)
        self.complain(at, message)
        at.label(done)
        return Value(NOTHING, ())

    def complain(self, at: Body, message: str) -> None:
        """Leave the message behind, unless it is empty."""
        if message:
            self.add_message()
            at.add(f"store ptr {self.constant(letters(message))}, ptr @{MESSAGE}")

    def kinds(self, letters: str) -> list[Number]:
        """Kinds of the arguments of a stage."""
        return [{"i": INT, "f": self.floats}[letter] for letter in letters]

    def known(self, name: str) -> Callee:
        """What plain Python does not have (`rbdae.compiler.access`)."""
        return _KNOWN[name]


def _as_pointer(at: Body, arguments: list[Value]) -> Value:
    (address,) = fitted(at, arguments, (INT,))
    return Value(ADDRESS, (pointer(at, address),))


def _carray(at: Body, arguments: list[Value]) -> Value:
    address, shape, dtype = arguments
    assert isinstance(dtype.kind, Object)
    lengths = at.several(shape) if isinstance(shape.kind, Several) else [shape]
    return arrays.opened(at, address.text, lengths, dtype.kind.object)


def _call_address(at: Body, arguments: list[Value]) -> Value:
    function, t, x, out = arguments
    at.add(f"call void {pointer(at, function)}({passed(fitted(at, (t, x, out), (FLOAT, INT, INT)))})")
    return Value(NOTHING, ())


def _doubles(at: Body, arguments: list[Value]) -> Value:
    (address,) = fitted(at, arguments, (INT,))
    return Value(Array(FLOAT, ((LONG, 1),)), (pointer(at, address),))


def _as_double(at: Body, arguments: list[Value]) -> Value:
    (x,) = arguments
    return at.converted(x, FLOAT)


def _is_zero(at: Body, arguments: list[Value]) -> Value:
    """Of a dual number with its derivatives."""
    (x,) = arguments
    if x.kind is not DUAL:
        return at.compared("eq", x, constant(0.0))
    each = at.register(f"fcmp oeq {DUAL.llvm} {x.text}, zeroinitializer")
    bits = at.register(f"bitcast <{DUAL_WIDTH} x i1> {each} to i{DUAL_WIDTH}")
    return at.value(BOOL, f"icmp eq i{DUAL_WIDTH} {bits}, -1")


def _n_doubles(at: Body, arguments: list[Value]) -> Value:
    return constant(words(at.floats))


_KNOWN: dict[str, Callee] = {
    "as_pointer": _as_pointer,
    "call_address": _call_address,
    "carray": _carray,
    "doubles": _doubles,
    "as_double": _as_double,
    "is_zero": _is_zero,
    "n_doubles": _n_doubles,
}


def letters(message: str) -> str:
    """A message as a constant."""
    data = message.encode() + b"\0"
    codes = "".join(rf"\{byte:02x}" for byte in data)
    return f'[{len(data)} x i8] c"{codes}"'
