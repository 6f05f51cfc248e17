"""The text of one function in LLVM IR while it is written: blocks, registers, memory, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from rbdae.machine.language.kinds import (
    BOOL,
    FLOAT,
    INT,
    LANES,
    MASK,
    NOTHING,
    VEC,
    WIDTH,
    Kind,
    Number,
    Record,
    Refused,
    Value,
    common,
    constant,
    whole,
)
from rbdae.machine.language.words import Fields

_TAGS = {FLOAT: "!tbaa !3", LANES: "!tbaa !3", INT: "!tbaa !4"}

METADATA = """
!0 = !{!"kernels"}
!1 = !{!"float", !0, i64 0}
!2 = !{!"int", !0, i64 0}
!3 = !{!1, !1, i64 0}
!4 = !{!2, !2, i64 0}
"""
"""Doubles and integers are at different addresses: numbers stay in registers while doubles are written."""

_FLOATS = {"+": "fadd contract", "-": "fsub contract", "*": "fmul contract", "/": "fdiv"}
_INTS = {"+": "add nsw", "-": "sub nsw", "*": "mul nsw"}


@final
class Body:
    """Collects instructions.

    Attributes
    ----------
    block : the label of the block that is written
    ended : whether it has its terminator: what follows cannot be reached
    """

    def __init__(self) -> None:
        self._variables: list[str] = []
        self._text: list[str] = []
        self._count = 0
        self.block = "entry"
        self.ended = False

    def name(self, hint: str) -> str:
        """A new name."""
        self._count += 1
        return f"{hint}.{self._count}"

    def add(self, instruction: str) -> None:
        """An instruction without a result."""
        if not self.ended:
            self._text.append(f"  {instruction}")

    def register(self, instruction: str) -> str:
        """The register with the result of an instruction."""
        register = "%" + self.name("v")
        self.add(f"{register} = {instruction}")
        return register

    def value(self, kind: Kind, instruction: str) -> Value:
        """The result of an instruction."""
        return Value(kind, self.register(instruction))

    def text(self) -> str:
        """The text of the function's body."""
        return "\n".join(["entry:", *self._variables, *self._text])

    # ------------------------------------------------------------ blocks

    def label(self, name: str) -> None:
        """Begin a block; the one before it falls into it."""
        self.jump(name)
        self._text.append(f"{name}:")
        self.block, self.ended = name, False

    def end(self, instruction: str) -> None:
        """End the block."""
        self.add(instruction)
        self.ended = True

    def jump(self, name: str) -> None:
        """Continue in another block."""
        self.end(f"br label %{name}")

    def choose(self, condition: Value, yes: str, no: str) -> None:
        """Continue in one of two blocks."""
        self.end(f"br i1 {condition.text}, label %{yes}, label %{no}")

    # ------------------------------------------------------------ memory

    def read(self, kind: Number, address: str) -> Value:
        """The number at an address."""
        return self.value(kind, f"load {kind.llvm}, ptr {address}, align 8, {_TAGS[kind]}")

    def write(self, value: Value, address: str) -> None:
        """Write a number to an address."""
        assert isinstance(value.kind, Number)
        self.add(f"store {value.kind.llvm} {value.text}, ptr {address}, align 8, {_TAGS[value.kind]}")

    def room(self, llvm: str, hint: str) -> str:
        """Memory for a value of a type of LLVM; the optimiser makes a register of it."""
        register = "%" + self.name(hint)
        self._variables.append(f"  {register} = alloca {llvm}")
        return register

    def value_at(self, kind: Kind, place: str) -> Value:
        """The value of a local name."""
        return self.value(kind, f"load {kind.llvm}, ptr {place}")

    def assign(self, value: Value, place: str) -> None:
        """Give a local name a value."""
        self.add(f"store {value.kind.llvm} {value.text}, ptr {place}")

    def moved(self, address: str, offset: Value) -> str:
        """An address, some words further."""
        if offset.text == "0":
            return address
        return self.register(f"getelementptr inbounds double, ptr {address}, i64 {offset.text}")

    def field(self, record: Value, name: str) -> tuple[Kind, str]:
        """Kind and address of a field."""
        fields = record.kind.fields if isinstance(record.kind, Record) else Fields
        if name == "vectors" and fields.names:
            return VEC, self.moved(record.text, constant(len(fields.names)))
        if name not in fields.names:
            raise Refused(f"{record.kind.name} has no {name!r}")
        address = self.moved(record.text, constant(fields.names.index(name)))
        if fields.kinds[name] == "p8":
            return VEC, self.register(f"load ptr, ptr {address}, align 8, {_TAGS[INT]}")
        return FLOAT if fields.kinds[name] == "f8" else INT, address

    # ------------------------------------------------------------ conversions

    def converted(self, value: Value, kind: Kind) -> Value:
        """A value as one of a kind that it becomes (`rbdae.machine.language.kinds.common`), or a number as an int."""
        if value.kind == kind:
            return value
        assert isinstance(kind, Number) and isinstance(value.kind, Number)
        n = whole(value)
        if value.kind is LANES:
            raise Refused(f"{value.kind.name} is no {kind.name}")
        if kind is LANES:
            number = self.converted(value, FLOAT)
            one = self.register(f"insertelement {LANES.llvm} poison, double {number.text}, i64 0")
            zeros = f"<{WIDTH} x i32> zeroinitializer"
            return self.value(LANES, f"shufflevector {LANES.llvm} {one}, {LANES.llvm} poison, {zeros}")
        if kind is INT:
            return self.value(INT, f"fptosi double {value.text} to i64")
        if n is not None:
            return constant(float(n))
        return self.value(FLOAT, f"sitofp i64 {value.text} to double")

    def widened(self, *values: Value, least: Number = INT) -> tuple[Number, list[Value]]:
        """Numbers as those of the widest kind among them, which `least` is, too."""
        kinds = [value.kind for value in values if isinstance(value.kind, Number)]
        kind = max(least, *kinds, key=lambda kind: kind.rank)
        return kind, [self.converted(value, kind) for value in values]

    # ------------------------------------------------------------ numbers

    def arithmetic(self, sign: str, a: Value, b: Value) -> Value:
        """a sign b for ``+``, ``-``, ``*``, ``/``; ints that are known are calculated."""
        kind, (a, b) = self.widened(a, b, least=FLOAT if sign == "/" else INT)
        if kind is not INT:
            return self.value(kind, f"{_FLOATS[sign]} {kind.llvm} {a.text}, {b.text}")
        x, y = whole(a), whole(b)
        if x is not None and y is not None:
            return constant({"+": x + y, "-": x - y, "*": x * y}[sign])
        if (y == 0 and sign in "+-") or (y == 1 and sign == "*"):
            return a
        if (x == 0 and sign == "+") or (x == 1 and sign == "*"):
            return b
        return self.value(INT, f"{_INTS[sign]} i64 {a.text}, {b.text}")

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
            return self.value(INT, f"add i64 {remainder}, {shift}")
        one = self.register(f"zext i1 {below} to i64")
        return self.value(INT, f"sub i64 {quotient}, {one}")

    def compared(self, how: str, a: Value, b: Value) -> Value:
        """A comparison: ``lt``, ``le``, ``gt``, ``ge``, ``eq`` or ``ne``, false for NaN unless it is ``ne``; of vector
        registers in each lane."""
        kind, (a, b) = self.widened(a, b)
        if kind is INT:
            sign = "" if how in ("eq", "ne") else "s"
            return self.value(BOOL, f"icmp {sign}{how} i64 {a.text}, {b.text}")
        order = "u" if how == "ne" else "o"
        return self.value(MASK if kind is LANES else BOOL, f"fcmp {order}{how} {kind.llvm} {a.text}, {b.text}")

    def chosen(self, condition: Value, a: Value, b: Value) -> Value:
        """a where the condition holds, else b, as numbers of the wider kind."""
        kind, (a, b) = self.widened(a, b)
        test = f"select {condition.kind.llvm} {condition.text}"
        return self.value(kind, f"{test}, {kind.llvm} {a.text}, {kind.llvm} {b.text}")

    # ------------------------------------------------------------ calls

    def called(self, function: str, arguments: Sequence[Value], kinds: Sequence[Kind], result: Kind) -> Value:
        """The value of a call of a function by its symbol or address."""
        if len(arguments) != len(kinds):
            raise Refused(f"takes {len(kinds)} arguments, not {len(arguments)}")
        for value, kind in zip(arguments, kinds, strict=True):
            if common(value.kind, kind) != kind:
                raise Refused(f"takes {kind.name}, and here {value.kind.name}")
        given = [self.converted(value, kind) for value, kind in zip(arguments, kinds, strict=True)]
        call = f"call {result.llvm} {function}({', '.join(f'{x.kind.llvm} {x.text}' for x in given)})"
        if result is not NOTHING:
            return self.value(result, call)
        self.add(call)
        return Value(NOTHING, "")
