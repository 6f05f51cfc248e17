"""Nodes of a graph as Python statements: what evaluates a recording where there is no machine code."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any, final

import numpy as np

from rbdae.graph.graph import FUNCTIONS, OF_TWO, Graph
from rbdae.graph.loaded import value_of

_LINES = 2000
"""Statements that are compiled together: the parser needs a kilobyte for each."""


def _of_a_number(name: str) -> Callable[..., Any]:
    function = getattr(np, name)
    return lambda *x: function(*x).item()  # complex numbers have complex results


def _numbers(values: Any) -> list[Any]:
    """Python's floats, which are quicker than NumPy's; complex numbers of NumPy."""
    out: list[Any] = values.tolist() if values.dtype.kind == "f" else list(values)
    return out


def _inverse_of_a_number(x: Any) -> Any:
    return 1.0 / x if x else math.copysign(math.inf, x.real)


def _arctan2(y: Any, x: Any) -> Any:
    """The angle of (x, y); of complex steps with its derivative."""
    angle = math.atan2(y.real, x.real)
    if not (isinstance(y, complex) or isinstance(x, complex)):
        return angle
    return complex(angle, (x.real * y.imag - y.real * x.imag) / (x.real**2 + y.real**2))


def _called(function: Callable[..., None], n_in: int, n_out: int, *numbers: Any) -> list[Any]:
    """The vector that a function of the user has filled."""
    values = np.array(numbers)
    x, out = values[1 : 1 + n_in], values[1 + n_in : 1 + n_in + n_out]
    function(values[0], x, out)
    return [*out.tolist()]


TEXTS = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "neg": "-{}", "rcp": "_rcp({})",
    "<": "1.0 * ({}.real < {}.real)", "<=": "1.0 * ({}.real <= {}.real)", "==": "1.0 * ({} == {})",
    "not": "1.0 - {}", "select": "{1} if {0} else {2}",
    **{name: f"_{name}({{}})" for name in FUNCTIONS}, **{name: f"_{name}({{}}, {{}})" for name in OF_TWO},
}  # fmt: skip
"""The expression of a node."""

NAMES = {f"_{name}": _of_a_number(name) for name in (*FUNCTIONS, *OF_TWO)}
NAMES |= {"_rcp": _inverse_of_a_number, "_arctan2": _arctan2, "_floor": lambda x: float(np.floor(x.real))}
"""What is called in them."""


@lru_cache(maxsize=256)
def _compiled(text: str) -> CodeType:
    """Compiled text, cached: many lines take 10 ms, and laws that differ only in constants share it."""
    return compile(text, "<a recording>", "exec")


@final
class InPython:
    """Nodes of a graph as a function of numbers: floats, or complex ones for complex steps.

    Parameters
    ----------
    graph : its vectors of inputs are given by name
    outputs : nodes
    functions : those of the user, f(t, x, out)
    """

    def __init__(self, graph: Graph, outputs: Sequence[int], functions: Sequence[Callable[..., None]] = ()) -> None:
        lines: list[str] = []
        self._scope: dict[str, Any] = {**NAMES, "_called": _called}
        self._scope |= {f"_f{k}": function for k, function in enumerate(functions)}
        for k in graph.needed(outputs):
            kind, *rest = graph.nodes[k]
            if kind == "const":
                self._scope[f"v{k}"] = value_of(rest[0])
            elif kind == "input":
                lines.append(f"v{k} = {rest[0]}[{rest[1]}]")
            elif kind == "call":
                f, n_in, n_out, *given = rest
                lines.append(f"v{k} = _called(_f{f}, {n_in}, {n_out}, {', '.join(f'v{j}' for j in given)})")
            elif kind == "result":
                lines.append(f"v{k} = v{rest[0]}[{rest[1]}]")
            else:
                lines.append(f"v{k} = {TEXTS[kind].format(*(f'v{j}' for j in rest))}")
        self._parts = [_compiled("\n".join(lines[k : k + _LINES])) for k in range(0, len(lines), _LINES)]
        self._outputs = [f"v{k}" for k in outputs]

    def __call__(self, inputs: Mapping[str, Any]) -> list[Any]:
        """The values of the outputs."""
        scope = {**self._scope, **{name: _numbers(np.asarray(values)) for name, values in inputs.items()}}
        with np.errstate(all="ignore"):  # both branches of a choice are computed
            for part in self._parts:
                exec(part, scope)
        return [scope[name] for name in self._outputs]
