"""The text of one kernel in LLVM IR while it is written: registers, memory, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from rbdae.machine.language.kinds import (
    BOOL,
    FLOAT,
    INT,
    Array,
    Kind,
    Number,
    Several,
    Value,
    constant,
    whole,
)
from rbdae.machine.native.emitter import Emitter

_TAGS = {FLOAT: "!tbaa !3", INT: "!tbaa !4"}

METADATA = """
!0 = !{!"kernels"}
!1 = !{!"float", !0, i64 0}
!2 = !{!"int", !0, i64 0}
!3 = !{!1, !1, i64 0}
!4 = !{!2, !2, i64 0}
"""
"""Doubles and integers are at different addresses: a number that was read stays in its register while doubles are
written."""

_FLOATS = {"+": "fadd contract", "-": "fsub contract", "*": "fmul contract", "/": "fdiv"}
_INTS = {"+": "add nsw", "-": "sub nsw", "*": "mul nsw"}


@final
class Body(Emitter):
    """An emitter that knows the kinds of kernels."""

    # ------------------------------------------------------------ memory

    def read(self, kind: Number, address: str) -> Value:
        """The number at an address."""
        return Value(kind, (self.register(f"load {kind.llvm}, ptr {address}, align 8, {_TAGS[kind]}"),))

    def write(self, value: Value, address: str) -> None:
        """Write a number to an address."""
        assert isinstance(value.kind, Number)
        self.add(f"store {value.kind.llvm} {value.text}, ptr {address}, align 8, {_TAGS[value.kind]}")

    def local(self, kind: Kind, name: str) -> tuple[str, ...]:
        """Memory for a local name; the optimiser makes registers of it."""
        return tuple(self.room(part, name) for part in kind.types)

    def value_of(self, kind: Kind, places: Sequence[str]) -> Value:
        """The value of a local name."""
        pairs = zip(kind.types, places, strict=True)
        return Value(kind, tuple(self.register(f"load {part}, ptr {place}") for part, place in pairs))

    def assign(self, value: Value, places: Sequence[str]) -> None:
        """Give a local name a value."""
        for part, text, place in zip(value.kind.types, value.registers, places, strict=True):
            self.add(f"store {part} {text}, ptr {place}")

    def moved(self, address: str, offset: Value) -> str:
        """An address, some words further."""
        if offset.text == "0":
            return address
        return self.register(f"getelementptr inbounds double, ptr {address}, i64 {offset.text}")

    # ------------------------------------------------------------ numbers

    def converted(self, value: Value, kind: Kind) -> Value:
        """A value as one of a kind that it becomes (`rbdae.machine.language.kinds.common`)."""
        if value.kind == kind:
            return value
        if isinstance(kind, Array):
            registers = [value.registers[0]]
            for axis, wanted in zip(self.axes(value), kind.axes, strict=True):
                registers += [x.text for x, known in zip(axis, wanted, strict=True) if known is None]
            return Value(kind, tuple(registers))
        if isinstance(kind, Several):
            pairs = zip(self.several(value), kind.kinds, strict=True)
            return Value(kind, tuple(part for x, wanted in pairs for part in self.converted(x, wanted).registers))
        assert isinstance(kind, Number) and isinstance(value.kind, Number)
        n = whole(value)
        if value.kind is BOOL:
            word = Value(INT, (self.register(f"zext i1 {value.text} to i64"),))
            return word if kind is INT else self.converted(word, FLOAT)
        if kind is INT:
            return Value(INT, (self.register(f"fptosi double {value.text} to i64"),))
        if n is not None:
            return constant(float(n))
        return Value(FLOAT, (self.register(f"sitofp i64 {value.text} to double"),))

    def axes(self, value: Value) -> list[tuple[Value, Value]]:
        """Length and step of each axis of an array."""
        assert isinstance(value.kind, Array)
        unknown = iter(value.registers[1:])

        def word(known: int | None) -> Value:
            return Value(INT, (next(unknown),)) if known is None else constant(known)

        return [(word(length), word(step)) for length, step in value.kind.axes]

    @staticmethod
    def several(value: Value) -> list[Value]:
        """The values that a kernel has returned together."""
        assert isinstance(value.kind, Several)
        out, first = [], 0
        for kind in value.kind.kinds:
            end = first + len(kind.types)
            out.append(Value(kind, value.registers[first:end]))
            first = end
        return out

    def arithmetic(self, sign: str, a: Value, b: Value) -> Value:
        """a sign b for ``+``, ``-``, ``*``, ``/``; numbers that are known are calculated."""
        kind = FLOAT if sign == "/" or FLOAT in (a.kind, b.kind) else INT
        a, b = self.converted(a, kind), self.converted(b, kind)
        if kind is FLOAT:
            return Value(FLOAT, (self.register(f"{_FLOATS[sign]} double {a.text}, {b.text}"),))
        x, y = whole(a), whole(b)
        if x is not None and y is not None:
            return constant({"+": x + y, "-": x - y, "*": x * y}[sign])
        if (y == 0 and sign in "+-") or (y == 1 and sign == "*"):
            return a
        if (x == 0 and sign == "+") or (x == 1 and sign == "*"):
            return b
        return Value(INT, (self.register(f"{_INTS[sign]} i64 {a.text}, {b.text}"),))

    def floored(self, a: Value, b: Value, *, rest: bool) -> Value:
        """Python's a // b or a % b, which round towards minus infinity; the processor rounds towards zero."""
        quotient = self.register(f"sdiv i64 {a.text}, {b.text}")
        remainder = self.register(f"srem i64 {a.text}, {b.text}")
        signs = self.register(f"xor i64 {remainder}, {b.text}")
        differ = self.register(f"icmp slt i64 {signs}, 0")
        left = self.register(f"icmp ne i64 {remainder}, 0")
        below = self.register(f"and i1 {differ}, {left}")
        if rest:
            shift = self.register(f"select i1 {below}, i64 {b.text}, i64 0")
            return Value(INT, (self.register(f"add i64 {remainder}, {shift}"),))
        one = self.register(f"zext i1 {below} to i64")
        return Value(INT, (self.register(f"sub i64 {quotient}, {one}"),))

    def compared(self, how: str, a: Value, b: Value) -> Value:
        """A comparison: ``lt``, ``le``, ``gt``, ``ge``, ``eq`` or ``ne``, false for NaN unless it is ``ne``."""
        kind = FLOAT if FLOAT in (a.kind, b.kind) else INT
        a, b = self.converted(a, kind), self.converted(b, kind)
        if kind is FLOAT:
            return Value(BOOL, (self.register(f"fcmp {'u' if how == 'ne' else 'o'}{how} double {a.text}, {b.text}"),))
        sign = "" if how in ("eq", "ne") else "s"
        return Value(BOOL, (self.register(f"icmp {sign}{how} i64 {a.text}, {b.text}"),))

    def truth(self, value: Value) -> Value:
        """Whether a number is not zero."""
        return value if value.kind is BOOL else self.compared("ne", value, constant(0))

    def chosen(self, condition: Value, a: Value, b: Value) -> Value:
        """a where the condition holds, else b; of numbers the wider kind, else both are of one kind."""
        if isinstance(a.kind, Number) and isinstance(b.kind, Number):
            kind = FLOAT if FLOAT in (a.kind, b.kind) else INT
            a, b = self.converted(a, kind), self.converted(b, kind)
        triples = zip(a.kind.types, a.registers, b.registers, strict=True)
        test = f"select i1 {condition.text}"
        return Value(a.kind, tuple(self.register(f"{test}, {part} {x}, {part} {y}") for part, x, y in triples))


__all__ = ["METADATA", "Body"]
