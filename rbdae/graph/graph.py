"""`Graph`: operations on real numbers as nodes of an acyclic graph, with constants folded and equal nodes shared.

A node is a tuple, its operation first; operands are numbers of earlier nodes:

================================ ==============================================================================
node                             value
================================ ==============================================================================
("const", x)                     the number x, or a loaded one (`rbdae.graph.loaded`)
("input", name, i)               the i-th number of the input vector `name`
("add", a, b), ("sub", a, b),    arithmetic; ("rcp", a) is 1/a, so that quotients by one number share it
("mul", a, b), ("neg", a),
("rcp", a)
("sqrt", a), ("sin", a), ...     functions, see `FUNCTIONS`
("<", a, b), ("<=", a, b),       conditions, 1 or 0; comparisons are 0 if an operand is NaN
("==", a, b), ("not", c)
("select", c, a, b)              a where c is 1, else b
("arctan2", a, b), ...           functions of two numbers, see `OF_TWO`
("call", k, m, n, t, x..., o...) the user's k-th function, called with the time t, the vector x of length m and a
                                 vector of length n with the values o before the call
("result", call, i)              the i-th number of that vector after the call
("pair", a, b)                   both numbers, as one value; arithmetic, rcp and sqrt of pairs are pairs
("lane", p, i)                   the i-th number of the pair p
================================ ==============================================================================

Nodes are in an order in which they can be computed. Sums and products with a constant 0 or 1 are folded, also 0 x: so a
number that is not finite may not reach a result that does not depend on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeAlias, final

from rbdae import _process
from rbdae.graph.loaded import Loaded

Node: TypeAlias = tuple[Any, ...]

Constant: TypeAlias = float | Loaded

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "arcsin": math.asin,
    "arccos": math.acos,
    "arctan": math.atan,
    "exp": math.exp,
    "expm1": math.expm1,
    "log": math.log,
    "log1p": math.log1p,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "arcsinh": math.asinh,
    "arccosh": math.acosh,
    "arctanh": math.atanh,
    "abs": abs,
    "floor": lambda x: float(math.floor(x)),
}
"""Functions of one number, by NumPy's names."""

OF_TWO: dict[str, Callable[[float, float], float]] = {"arctan2": math.atan2, "power": math.pow, "fmod": math.fmod}
"""Functions of two numbers: the angle of (b, a), a^b, and the remainder of a / b with the sign of a."""

CONDITIONS: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
}

_LOOK = 256
"""Nodes between two checks for signals, since large graphs take seconds."""

LEAVES = frozenset({"const", "input"})

_OTHERS = frozenset({"call", "result", "lane"})
"""Kinds whose nodes have more than operands."""


SUMS = frozenset({"add", "sub", "mul"})


def operands(node: Node) -> tuple[int, ...]:
    """The numbers of a node's operands."""
    kind = node[0]
    if kind in LEAVES:
        return ()
    if kind == "call":
        return node[4:]
    return node[1:2] if kind in _OTHERS else node[1:]


@final
class Graph:
    """Nodes, in an order in which they can be computed.

    Attributes
    ----------
    slopes : for each user's function, by number: the number of its Jacobian, (n_out, n_in) by rows
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.slopes: dict[int, int] = {}
        self._numbers: dict[Node, int] = {}
        self._constants: dict[Constant, int] = {}

    def copy(self) -> Graph:
        """The same nodes, to which others may be added."""
        out = Graph()
        out.nodes, out.slopes = [*self.nodes], dict(self.slopes)
        out._numbers, out._constants = dict(self._numbers), dict(self._constants)
        return out

    def node(self, *node: Any) -> int:
        """The number of a node, which is added unless it exists."""
        return self._numbered(node)

    def _numbered(self, node: Node) -> int:
        numbers = self._numbers
        k = numbers.get(node)
        if k is None:
            k = numbers[node] = len(self.nodes)
            self.nodes.append(node)
            if not k % _LOOK:
                _process.check()
        return k

    def const(self, x: Constant) -> int:
        """A constant; zeros of both signs are one node."""
        k = self._constants.get(x)
        if k is None:
            k = self._constants[x] = self._numbered(("const", x + 0.0))
        return k

    def value(self, k: int) -> Constant | None:
        """The number of a constant, or None."""
        node = self.nodes[k]
        return node[1] if node[0] == "const" else None

    # ------------------------------------------------------------ arithmetic

    def add(self, a: int, b: int) -> int:
        left, right = self.nodes[a], self.nodes[b]
        if left[0] == "const":
            if right[0] == "const":
                return self.const(left[1] + right[1])
            if left[1] == 0.0:
                return b
        elif right[0] == "const" and right[1] == 0.0:
            return a
        if right[0] == "neg":
            return self.sub(a, right[1])
        if left[0] == "neg":
            return self.sub(b, left[1])
        return self._numbered(("add", a, b) if a < b else ("add", b, a))

    def sub(self, a: int, b: int) -> int:
        if a == b:
            return self.const(0.0)
        left, right = self.nodes[a], self.nodes[b]
        if right[0] == "const":
            if left[0] == "const":
                return self.const(left[1] - right[1])
            if right[1] == 0.0:
                return a
        elif left[0] == "const" and left[1] == 0.0:
            return self.neg(b)
        if right[0] == "neg":
            return self.add(a, right[1])
        return self._numbered(("sub", a, b))

    def neg(self, a: int) -> int:
        node = self.nodes[a]
        if node[0] == "const":
            return self.const(-node[1])
        if node[0] == "neg":
            out: int = node[1]
            return out
        if node[0] == "sub":
            return self.node("sub", node[2], node[1])
        return self.node("neg", a)

    def mul(self, a: int, b: int) -> int:
        left, right = self.nodes[a], self.nodes[b]
        if left[0] == "const":
            if right[0] == "const":
                return self.const(left[1] * right[1])
            return self._multiple(left[1], a, b)
        if right[0] == "const":
            return self._multiple(right[1], b, a)
        negative = False
        if left[0] == "neg":
            a, negative = left[1], True
        if right[0] == "neg":
            b, negative = right[1], not negative
        out = self._numbered(("mul", a, b) if a < b else ("mul", b, a))
        return self.neg(out) if negative else out

    def _multiple(self, x: Constant, c: int, a: int) -> int:
        """x a for the node c of the constant x."""
        if x == 0.0:
            return self.const(0.0)
        if x == 1.0:
            return a
        if x == -1.0:
            return self.neg(a)
        node = self.nodes[a]
        b = node[1] if node[0] == "neg" else a
        out = self._numbered(("mul", c, b) if c < b else ("mul", b, c))
        return self.neg(out) if b != a else out

    def div(self, a: int, b: int) -> int:
        x, y = self.value(a), self.value(b)
        if y is not None and y != 0.0:
            return self.const(x / y) if x is not None else self.mul(a, self.const(1.0 / y))
        if x == 0.0:
            return a
        return self.mul(a, self.node("rcp", b))

    def power(self, a: int, n: int) -> int:
        """a^n for a whole number n."""
        out = self.const(1.0)
        for _ in range(abs(n)):
            out = self.mul(out, a)
        return out if n >= 0 else self.div(self.const(1.0), out)

    def function(self, name: str, a: int) -> int:
        """One of `FUNCTIONS`; outside its domain it is NaN."""
        x = self.value(a)
        if not isinstance(x, float):
            return self.node(name, a) if x is None or name != "sqrt" else self.const(x.sqrt())
        try:
            return self.const(FUNCTIONS[name](x))
        except (ValueError, OverflowError):
            return self.const(math.nan)

    def arctan2(self, a: int, b: int) -> int:
        """The angle of (b, a)."""
        return self.of_two("arctan2", a, b)

    def of_two(self, name: str, a: int, b: int) -> int:
        """One of `OF_TWO`; outside its domain it is NaN."""
        x, y = self.value(a), self.value(b)
        if not (isinstance(x, float) and isinstance(y, float)):
            return self.node(name, a, b)
        try:
            return self.const(OF_TWO[name](x, y))
        except (ValueError, OverflowError):
            return self.const(math.nan)

    # ------------------------------------------------------------ conditions

    def condition(self, kind: str, a: int, b: int) -> int:
        """``"<"``, ``"<="`` or ``"=="``."""
        x, y = self.value(a), self.value(b)
        if isinstance(x, float) and isinstance(y, float):
            return self.const(float(CONDITIONS[kind](x, y)))
        if kind == "<" and y == 0.0 and self.nodes[a][0] == "abs":
            return self.const(0.0)
        return self.node(kind, a, b)

    def negation(self, c: int) -> int:
        node = self.nodes[c]
        if node[0] == "const":
            return self.const(1.0 - node[1])
        if node[0] == "not":
            out: int = node[1]
            return out
        return self.node("not", c)

    def select(self, c: int, a: int, b: int) -> int:
        """a where the condition c holds, else b."""
        x = self.value(c)
        if x is not None:
            return a if x else b
        return a if a == b else self.node("select", c, a, b)

    # ------------------------------------------------------------ two at a time

    def pair(self, a: int, b: int) -> int:
        """Two numbers as one value."""
        left, right = self.nodes[a], self.nodes[b]
        if left[0] == right[0] == "lane" and left[1] == right[1] and (left[2], right[2]) == (0, 1):
            out: int = left[1]
            return out
        return self.node("pair", a, b)

    def lane(self, p: int, i: int) -> int:
        """One number of a pair."""
        node = self.nodes[p]
        if node[0] == "pair":
            out: int = node[1 + i]
            return out
        return self.node("lane", p, i)

    # ------------------------------------------------------------ as a whole

    def needed(self, outputs: Iterable[int], given: Collection[int] = ()) -> list[int]:
        """The nodes needed for some outputs, each shortly before its first use, so that values stay in registers.
        Results of a call follow it at once. Nodes in `given` need no operands."""
        nodes, numbers = self.nodes, self._numbers
        done = bytearray(len(nodes))
        out: list[int] = []
        todo = [*outputs]
        todo.reverse()
        while todo:
            k = todo.pop()
            if k >= 0:
                if done[k]:
                    continue
                node = nodes[k]
                kind = node[0]
                if kind in SUMS:  # most of them
                    if not (given and k in given):
                        _, a, b = node
                        if not done[b]:
                            todo += (~k, b) if done[a] else (~k, b, a)
                            continue
                        if not done[a]:
                            todo += (~k, a)
                            continue
                elif kind not in LEAVES and not (given and k in given):
                    missing = [j for j in (operands(node) if kind in _OTHERS else node[1:]) if not done[j]]
                    if missing:
                        todo.append(~k)  # when they are there
                        todo += missing[::-1]
                        continue
            else:
                k = ~k
                if done[k]:
                    continue
            done[k] = 1
            out.append(k)
            if nodes[k][0] == "call":
                results = [numbers.get(("result", k, i), k) for i in range(nodes[k][3])]
                out += [j for j in results if not done[j]]
                for j in results:
                    done[j] = 1
        return out
