"""A sparse system that is solved between elements, by `rbdae.machine.loops.elimination` on the work vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae._arrays import Ints
from rbdae.machine.element_text import ARGUMENTS_OF_ELEMENTS, word
from rbdae.machine.factors import Tables
from rbdae.machine.language.program import Program, symbol
from rbdae.machine.loops import elimination as at
from rbdae.machine.straight import real

PROGRAM = Program((at.factorise, at.substitute))
"""What the text calls."""

_MOST = 1e40
"""Squares of multipliers, in sum, up to which factors are used. Units alone make them large: 1 / (m l) of a body."""

_TABLES, _VECTORS = ("head", "steps", "forth", "back"), ("v", "b", "w", "x")


@final
@dataclass(frozen=True, eq=False)
class Solving:
    """A x = b.

    Parameters
    ----------
    tables : the order of the elimination
    memory : where the memory `v` of the matrix begins in the work vector
    right : where b (n,) begins
    """

    tables: Tables
    memory: int
    right: int

    @property
    def solution(self) -> int:
        """The place where x (n,) begins: after `v` and the memory for `substitute`."""
        return self.memory + int(self.tables.head[at.FREE] + self.tables.head[at.N])

    @property
    def data(self) -> Ints:
        """The places where the tables and the vectors begin; then the tables."""
        tables = [getattr(self.tables, name).view(np.int32) for name in _TABLES]
        begins = len(_TABLES) + len(_VECTORS) + np.cumsum([0, *map(len, tables[:-1])])
        free = self.memory + self.tables.head[at.FREE]
        places = np.array([*begins, self.memory, self.right, free, self.solution], dtype=np.int32)
        return np.concatenate([places, *tables])

    def text(self, name: str) -> str:
        """A function as those of kinds of elements: whether the factors serve. Numbers that are not finite pass."""
        lines = [f"define internal i1 @{name}({ARGUMENTS_OF_ELEMENTS}) nounwind noinline {{", "entry:"]
        for k, table in enumerate(_TABLES):
            lines += [
                *word(f"{table}.at", k),
                f"%{table}.from = add i64 %data, %{table}.at",
                f"%{table} = getelementptr i32, ptr %indices, i64 %{table}.from",
            ]
        for k, vector in enumerate(_VECTORS):
            lines += word(f"{vector}.at", len(_TABLES) + k)
            lines.append(f"%{vector} = getelementptr double, ptr %work, i64 %{vector}.at")
        tables = "ptr %head, ptr %forth, ptr %back, ptr %v, ptr %b, ptr %w, ptr %x"
        lines += [
            f"%factors = call i64 @{symbol(at.factorise)}(ptr %head, ptr %steps, ptr %v, double {real(_MOST)})",
            f"call void @{symbol(at.substitute)}({tables})",
            f"%growth.p = getelementptr double, ptr %v, i64 {at.GROWTH}",
            "%growth = load double, ptr %growth.p",
            f"%ok = fcmp ule double %growth, {real(_MOST)}",
            "ret i1 %ok",
            "}",
        ]
        return "\n".join(lines)
