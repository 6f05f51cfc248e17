"""Kernels on dual numbers: a kernel and its stages compiled once more, whose doubles are values with derivatives.

Any residual has its derivatives in this way, in seven directions a call (`rbdae.machine.directions`), whatever branches
it takes and pivots it chooses. It is for what code of a model does not do: models that are too long for it, and states
at which its guards do not hold.
"""

from __future__ import annotations

from functools import cache

from rbdae import _process
from rbdae.compiler.declared import Features, needed
from rbdae.compiler.jit import Entry
from rbdae.compiler.linking import compiled_dual
from rbdae.compiler.options import COMPILING, collector_off
from rbdae.compiler.stages import Family, Stage
from rbdae.machine.module import Module


def dual_kernel(kernel: Entry, features: Features | None) -> Module:
    """The kernel on dual numbers, for problems with these features, as a function of `rbdae.machine.function` with the
    symbol ``dual.machine``."""
    with COMPILING:
        return _compiled(kernel, features, Family.size)


@cache
def _compiled(kernel: Entry, features: Features | None, _of_families: int) -> Module:
    with collector_off():
        for stage in needed(kernel.function, features):
            assert isinstance(stage, Stage)
            stage.ensure(dual=True)
            _process.check()
        return _entry(kernel)


@cache
def _entry(kernel: Entry) -> Module:
    return compiled_dual(kernel.function, "dual", kernel.signs)
