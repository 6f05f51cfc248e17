"""Kernels on dual numbers: a kernel and all its stages as one text, whose doubles are values with derivatives.

Any residual has its derivatives in this way, in seven directions a call (`rbdae.machine.directions`), whatever branches
it takes and pivots it chooses. It is for what code of a model does not do: models that are too long for it, and states
at which its guards do not hold.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, final

from rbdae import compiler
from rbdae.compiler.declared import Features, needed
from rbdae.compiler.fingerprint import fingerprint
from rbdae.compiler.jit import Entry
from rbdae.compiler.linking import link_python
from rbdae.compiler.machine_entry import machine_entry
from rbdae.compiler.stages import FAMILIES, STAGES, Stage
from rbdae.compiler.translation import Translation
from rbdae.machine import language
from rbdae.machine.language.body import Body
from rbdae.machine.language.calls import Callee, fitted
from rbdae.machine.language.kinds import DUAL, DUAL_WIDTH, FLOAT, INT, NOTHING, Array, Kind, Value, constant
from rbdae.machine.module import Module, Written, from_cache
from rbdae.machine.sources import sources

_VECTOR = Array(DUAL, ((None, DUAL_WIDTH),))
_KINDS: dict[str, Kind] = {"i": INT, "t": FLOAT, "y": _VECTOR, "o": _VECTOR}
_STAGE = "noinline nounwind"


def dual_kernel(kernel: Entry, features: Features | None) -> Module:
    """The kernel on dual numbers, for problems with these features, as a function of `rbdae.machine.function` with the
    symbol ``machine``. Vectors have eight doubles for each number."""
    functions = [kernel.function, *(stage.function for stage in needed(kernel.function, features))]
    made_of = ("duals", kernel.signs, [fingerprint(function, "dual") for function in functions])

    def text() -> str:
        translation = _Duals(features)
        translation.exported(kernel.function, "dual", tuple(_KINDS[sign] for sign in kernel.signs))
        translation.add_message()
        translation.add(machine_entry("dual", kernel.signs))
        return translation.text()

    link_python()
    features_of = None if features is None else sorted(features)
    return from_cache((made_of, features_of, sources(compiler, language)), lambda: Written(text(), loops=True))[0]


@final
class _Duals(Translation):
    """The text of a kernel on dual numbers; stages are functions in it."""

    def __init__(self, features: Features | None) -> None:
        super().__init__(DUAL)
        self._features = features

    def linked(self, symbol: str, kinds: str) -> Callee:
        """A stage."""
        return self._stage(STAGES[symbol])

    def in_cell(self, symbol: str, kinds: str, message: str) -> Callee:
        """A stage; without its features the message."""
        stage = STAGES[symbol]
        if stage.serves(self._features):
            return self._stage(stage)

        def complain(at: Body, arguments: list[Value]) -> Value:
            self.complain(at, message)
            return Value(NOTHING, ())

        return complain

    def in_table(self, symbol: str, kinds: str, message: str) -> Callee:
        """The members of a family that serve, by their number."""
        stages = {n: s for n, s in FAMILIES[symbol].members.items() if s.serves(self._features)}
        callees = {number: self._stage(stage) for number, stage in stages.items()}

        def call(at: Body, arguments: list[Value]) -> Value:
            number, *others = fitted(at, arguments, self.kinds("i" + kinds))
            done = at.name("done")
            for k, callee in callees.items():
                yes, no = at.name("member"), at.name("others")
                at.choose(at.compared("eq", number, constant(k)), yes, no)
                at.label(yes)
                callee(at, others)
                at.jump(done)
                at.label(no)
            self.complain(at, message)
            at.label(done)
            return Value(NOTHING, ())

        return call

    def _stage(self, stage: Stage) -> Callee:
        function: Callable[..., Any] = stage.function
        assert isinstance(function, FunctionType)
        kinds = self.kinds(stage.kinds)
        part = self._part(function, tuple(kinds), _STAGE)
        return lambda at, arguments: part(at, fitted(at, arguments, kinds))
