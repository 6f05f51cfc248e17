"""A text in LLVM IR that functions are written to, with the declarations and constants that they need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rbdae.machine.language.body import METADATA
from rbdae.machine.language.calls import Callee
from rbdae.machine.language.kinds import Kind, constant
from rbdae.machine.language.mathematics import DECLARATIONS


class Text(ABC):
    """What functions are written to.

    Attributes
    ----------
    bound : names that stand for other objects than those of a function's module
    """

    bound: Mapping[str, Any] = MappingProxyType({})

    def __init__(self) -> None:
        self._outside: dict[str, str] = {}
        self._functions: list[str] = []

    @abstractmethod
    def callee(self, function: Any, kinds: tuple[Kind, ...]) -> Callee | None:
        """A function for arguments of these kinds; None for what is none."""

    def add(self, function: str) -> None:
        """A function's definition."""
        self._functions.append(function)

    def constant(self, value: str) -> str:
        """The address of a constant."""
        known = self._outside.get(f"constant {value}")
        if known is None:
            name = f"@constant.{len(self._outside)}"
            known = self._outside[f"constant {value}"] = f"{name} = private unnamed_addr constant {value}"
        return known.split(" ", 1)[0]

    def table(self, numbers: tuple[float, ...]) -> str:
        """The address of a tuple of numbers."""
        entries = ", ".join(f"double {constant(number).text}" for number in numbers)
        return self.constant(f"[{len(numbers)} x double] [{entries}]")

    def text(self) -> str:
        """All of it."""
        return "\n".join([DECLARATIONS, *self._outside.values(), *self._functions, METADATA])
