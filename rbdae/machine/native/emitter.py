"""The text of one function in LLVM IR while it is written: blocks, registers, variables."""

from __future__ import annotations

import struct
from typing import Protocol

from rbdae.machine.native.types import Type, Value


def constant(value: float | int | bool) -> Value:
    """A number of Python as a value."""
    if isinstance(value, bool):
        return Value(Type.BOOL, "true" if value else "false")
    if isinstance(value, int):
        return Value(Type.INT, str(value))
    return Value(Type.FLOAT, f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}")


class Condition(Protocol):
    """A truth value in a register."""

    @property
    def text(self) -> str:
        """The register, or ``true`` or ``false``."""


def _aligned(kind: Type) -> str:
    """Vectors in memory are aligned as doubles are."""
    return ", align 8" if kind is Type.LANES else ""


class Emitter:
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

    def value(self, kind: Type, instruction: str) -> Value:
        """The result of an instruction."""
        return Value(kind, self.register(instruction))

    def variable(self, kind: Type, hint: str) -> str:
        """Memory for a local name; the optimiser makes registers of it."""
        return self.room(kind.llvm, hint)

    def room(self, llvm: str, hint: str) -> str:
        """Memory for a value of a type of LLVM."""
        register = "%" + self.name(hint)
        self._variables.append(f"  {register} = alloca {llvm}")
        return register

    def load(self, kind: Type, address: str) -> Value:
        """The value at an address."""
        return self.value(kind, f"load {kind.llvm}, ptr {address}{_aligned(kind)}")

    def store(self, value: Value, address: str) -> None:
        """Write to an address."""
        self.add(f"store {value.type.llvm} {value.text}, ptr {address}{_aligned(value.type)}")

    # ------------------------------------------------------------ blocks

    def label(self, name: str) -> None:
        """Begin a block; the one before it falls into it."""
        self.jump(name)
        self._text.append(f"{name}:")
        self.block, self.ended = name, False

    def jump(self, name: str) -> None:
        """End the block."""
        self.add(f"br label %{name}")
        self.ended = True

    def choose(self, condition: Condition, yes: str, no: str) -> None:
        """End the block in one of two ways."""
        self.add(f"br i1 {condition.text}, label %{yes}, label %{no}")
        self.ended = True

    def leave(self, value: Value | None) -> None:
        """End the function."""
        self.add("ret void" if value is None else f"ret {value.type.llvm} {value.text}")
        self.ended = True

    def body(self) -> str:
        """The text of the function's body."""
        return "\n".join(["entry:", *self._variables, *self._text])


__all__ = ["Emitter", "constant"]
