"""Native functions and all that they call as one text in LLVM IR, or bound to others in plain Python."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

from rbdae.machine.native.builtin import BUILTINS, DECLARATIONS
from rbdae.machine.native.statements import Statements
from rbdae.machine.native.types import Source, source_of


@final
@dataclass(frozen=True)
class Program:
    """Entries and the names that they leave open.

    Parameters
    ----------
    entries : native functions that are called from outside; one that is bound to another stands for it, with its types
    bindings : functions and numbers by the names under which the entries, and what they call, use them: one loop serves
        several methods. A function that gives them is called when they are needed
    """

    entries: tuple[Callable[..., Any], ...]
    bindings: Mapping[str, Any] | Callable[[], Mapping[str, Any]] = field(default_factory=dict)

    @cached_property
    def _bound(self) -> Mapping[str, Any]:
        return self.bindings() if callable(self.bindings) else self.bindings

    @property
    def _entries(self) -> list[Callable[..., Any]]:
        """The entries, those that are bound in place of those that stand for them."""
        return [self._bound.get(entry.__name__, entry) for entry in self.entries]

    def text(self) -> str:
        """All of it in LLVM IR.

        Raises NativeError for what has no machine code.
        """
        entries = self._entries
        found = [source_of(entry) for entry in entries]

        def called(source: Source) -> None:
            if source not in found:
                found.append(source)

        functions = []
        for source in found:  # grows meanwhile
            entry = source.function in entries
            functions.append(Statements(source, self._bound, called).text(entry=entry))
        return "\n".join([*DECLARATIONS, *functions, ""])

    def plain(self) -> tuple[Callable[..., Any], ...]:
        """The entries as Python, with the names bound."""
        made: dict[Callable[..., Any], Callable[..., Any]] = {}

        def bound(function: Callable[..., Any]) -> Callable[..., Any]:
            if function not in made:
                names = dict(function.__globals__)
                twin = types.FunctionType(function.__code__, names, function.__name__)
                made[function] = twin
                used = {name: names[name] for name in function.__code__.co_names if name in names}
                used |= {name: self._bound[name] for name in function.__code__.co_names if name in self._bound}
                names |= {name: bound(value) if _is_native(value) else value for name, value in used.items()}
            return made[function]

        return tuple(bound(entry) for entry in self._entries)


def _is_native(value: object) -> bool:
    return isinstance(value, types.FunctionType) and value not in BUILTINS and value.__name__ != "evaluate"


__all__ = ["Program"]
