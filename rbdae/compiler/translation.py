"""A kernel that is compiled for itself, and all that becomes part of it, as one text in LLVM IR."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, final

from rbdae.compiler.declared import declared
from rbdae.machine.language.body import METADATA, Body
from rbdae.machine.language.expressions import Callee
from rbdae.machine.language.kinds import FLOAT, INT, NOTHING, Kind, Number, Value, constant
from rbdae.machine.language.mathematics import DECLARATIONS, FUNCTIONS
from rbdae.machine.language.statements import Written, returned, unpacked

POINTER = Number("an address", "ptr", 9)
"""The address that `rbdae.compiler.access.carray` opens."""

MESSAGE = "rbdae.message"
"""The symbol of the cell for the message of a kernel that was called without the features that it needs."""

ARGUMENTS = {"i": INT, "f": FLOAT}
"""Kinds of the arguments of a stage by their letters."""


@final
class Translation:
    """The text of a kernel. It is the `rbdae.compiler.declared.Machine` of what the kernel calls."""

    def __init__(self) -> None:
        self._functions: dict[tuple[Any, ...], tuple[str, Kind]] = {}
        self._texts: list[str] = []
        self._outside: dict[str, str] = {}

    def exported(self, function: Callable[..., Any], symbol: str, kinds: tuple[Kind, ...]) -> None:
        """A function that can be called by its symbol; it returns nothing."""
        written = self._written(function, kinds)
        self._texts.append(f'define void @"{symbol}"({written.arguments}) nounwind {{\n{written.body}\n}}')

    def add(self, text: str) -> None:
        """A text that calls what is exported."""
        self._texts.append(text)

    def add_message(self) -> None:
        """The cell for messages."""
        self._outside[MESSAGE] = f"@{MESSAGE} = external global ptr"

    def text(self) -> str:
        """All of it."""
        return "\n".join([DECLARATIONS, *self._outside.values(), *self._texts, METADATA])

    def _written(self, function: Callable[..., Any], kinds: tuple[Kind, ...]) -> Written:
        assert isinstance(function, FunctionType)
        return Written(function, kinds, self)

    # ------------------------------------------------------------ what kernels call

    def callee(self, value: Any, kinds: tuple[Kind, ...]) -> Callee | None:
        """A kernel for arguments of these kinds; None for what is none."""
        known = declared(value)
        found = value if known is None else known.callee(self)
        if known is not None and isinstance(found, FunctionType) and found is known.source:
            return self._inlined(found, kinds)
        written = FUNCTIONS.get(found)
        callee: Callee | None = found if written is None and known is not None else written
        return callee

    def _inlined(self, source: FunctionType, kinds: tuple[Kind, ...]) -> Callee:
        key = (source, kinds)
        if key not in self._functions:
            written = self._written(source, kinds)
            assert written.result is not None
            symbol = f'@"{source.__qualname__}.{len(self._functions)}"'
            self._functions[key] = (symbol, written.result)
            self._texts.append(
                f"define internal {returned(written.result)} {symbol}({written.arguments}) nounwind {{\n"
                f"{written.body}\n}}"
            )
        symbol, result = self._functions[key]
        return lambda at, arguments: unpacked(at, result, f"{symbol}({_given(arguments)})")

    def inlined(self, source: Callable[..., Any]) -> Any:
        """A function that becomes part of its callers."""
        return source

    def linked(self, symbol: str, kinds: str) -> Callee:
        """A C function by its symbol; `kinds` are those of its arguments, as of a stage."""
        types = ", ".join(ARGUMENTS[kind].llvm for kind in kinds)
        self._outside[symbol] = f'declare void @"{symbol}"({types}) nounwind'

        def call(at: Body, arguments: list[Value]) -> Value:
            at.add(f'call void @"{symbol}"({_given(_as(at, arguments, kinds))})')
            return Value(NOTHING, ())

        return call

    def in_cell(self, symbol: str, kinds: str, message: str, cell: int) -> Callee:
        """A C function by the address in the cell with this symbol; `message` is left behind if that is 0."""
        self._outside[symbol] = f'@"{symbol}" = external global ptr'

        def call(at: Body, arguments: list[Value]) -> Value:
            function = at.register(f'load ptr, ptr @"{symbol}"')
            return self._call_or_complain(at, function, _given(_as(at, arguments, kinds)), message)

        return call

    def in_table(self, symbol: str, kinds: str, message: str, table: int) -> Callee:
        """Several of them by their number, in a table."""
        self._outside[symbol] = f'@"{symbol}" = external global [0 x ptr]'

        def call(at: Body, arguments: list[Value]) -> Value:
            number, *others = _as(at, arguments, "i" + kinds)
            place = at.register(f'getelementptr ptr, ptr @"{symbol}", i64 {number.text}')
            function = at.register(f"load ptr, ptr {place}")
            return self._call_or_complain(at, function, _given(others), message)

        return call

    def _call_or_complain(self, at: Body, function: str, given: str, message: str) -> Value:
        """Call a function if there is one; leave the message behind if not, unless it is empty."""
        there = at.register(f"icmp ne ptr {function}, null")
        yes, no, done = at.name("there"), at.name("absent"), at.name("done")
        at.choose(Value(INT, (there,)), yes, no)
        at.label(yes)
        at.add(f"call void {function}({given})")
        at.jump(done)
        at.label(no)
        if message:
            self.add_message()
            at.add(f"store ptr {self._constant(_text(message))}, ptr @{MESSAGE}")
        at.label(done)
        return Value(NOTHING, ())

    def table(self, numbers: tuple[float, ...]) -> str:
        """The address of a tuple of numbers."""
        entries = ", ".join(f"double {constant(number).text}" for number in numbers)
        return self._constant(f"[{len(numbers)} x double] [{entries}]")

    def _constant(self, value: str) -> str:
        known = self._outside.get(f"constant {value}")
        if known is None:
            name = f"@constant.{len(self._outside)}"
            known = self._outside[f"constant {value}"] = f"{name} = private unnamed_addr constant {value}"
        return known.split(" ", 1)[0]

    def known(self, name: str) -> Callee:
        """What plain Python does not have (`rbdae.compiler.access`)."""
        return {"as_pointer": _as_pointer, "call_address": _call_address}[name]


def _as_pointer(at: Body, arguments: list[Value]) -> Value:
    return Value(POINTER, (at.register(f"inttoptr i64 {arguments[0].text} to ptr"),))


def _call_address(at: Body, arguments: list[Value]) -> Value:
    function, t, x, out = arguments
    pointer = _as_pointer(at, [function])
    at.add(f"call void {pointer.text}(double {at.converted(t, FLOAT).text}, i64 {x.text}, i64 {out.text})")
    return Value(NOTHING, ())


def _text(message: str) -> str:
    data = message.encode() + b"\0"
    letters = "".join(rf"\{byte:02x}" for byte in data)
    return f'[{len(data)} x i8] c"{letters}"'


def _as(at: Body, arguments: list[Value], kinds: str) -> list[Value]:
    """Arguments of a stage."""
    if len(arguments) != len(kinds):
        raise TypeError(f"a stage takes {len(kinds)} arguments, and is called with {len(arguments)}")
    return [at.converted(value, ARGUMENTS[kind]) for value, kind in zip(arguments, kinds, strict=True)]


def _given(arguments: list[Value]) -> str:
    return ", ".join(
        f"{part} {text}" for value in arguments for part, text in zip(value.kind.types, value.registers, strict=True)
    )


__all__ = ["ARGUMENTS", "MESSAGE", "Translation"]
