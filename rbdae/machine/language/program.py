"""Native functions and all that they call as one text in LLVM IR, or bound to others in plain Python."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

from rbdae.machine.language import native, words
from rbdae.machine.language.calls import Callee, called
from rbdae.machine.language.kinds import Kind
from rbdae.machine.language.mathematics import FUNCTIONS, LANES_DECLARATIONS
from rbdae.machine.language.native import signature, symbol
from rbdae.machine.language.source import source_of
from rbdae.machine.language.statements import Written
from rbdae.machine.language.text import Text


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

        Raises LanguageError for what has no machine code.
        """
        return _ProgramText(self._entries, self._bound).text()

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


@final
class _ProgramText(Text):
    """The text of a program; entries are called by others and not copied into them."""

    def __init__(self, entries: list[Callable[..., Any]], bound: Mapping[str, Any]) -> None:
        super().__init__()
        self.bound = bound
        self._found: list[Any] = list(entries)
        self.add(LANES_DECLARATIONS)
        for k, function in enumerate(self._found):  # grows meanwhile
            written = Written(function, *signature(source_of(function)), self)
            how = ("", "noinline nounwind") if k < len(entries) else ("internal ", "nounwind")
            self.add(written.definition(symbol(function), *how))

    def callee(self, function: Any, kinds: tuple[Kind, ...]) -> Callee | None:
        """A native function, whose parameters have kinds of their own."""
        if function is words.evaluate:
            return native.evaluate
        if not _is_native(function):
            return None
        if function not in self._found:
            self._found.append(function)
        return called(f'@"{symbol(function)}"', *signature(source_of(function)))


def _is_native(value: object) -> bool:
    return isinstance(value, types.FunctionType) and value not in FUNCTIONS and value is not words.evaluate
