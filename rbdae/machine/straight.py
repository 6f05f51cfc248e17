"""An expression graph as LLVM text: straight code in one function. `rbdae.machine.pieces` is for long graphs.

The function is ``i32 name(context, t, y, yd, c, out)``: 0 says that `out` is complete, 1 that a guard does not hold,
and that `out` means nothing. `context` is an array of addresses, see `rbdae.machine.function`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from struct import pack
from typing import final

from rbdae.graph.graph import FUNCTIONS, LEAVES, OF_TWO, Graph, operands
from rbdae.graph.latency import depths
from rbdae.graph.loaded import Loaded
from rbdae.machine.data import Table
from rbdae.machine.function import FIRST_FUNCTION, SELECTION

LONGEST = 8000
"""Nodes in one function: LLVM's passes take longer than in proportion to its length."""

ARGUMENTS = "ptr %context, double %t, ptr noalias %y, ptr noalias %yd, double %c, ptr noalias %out"
PASSED = "ptr %context, double %t, ptr %y, ptr %yd, double %c, ptr %out"
PAIR, _LATER = "<2 x double>", 25  # cycles

_INTRINSICS = {"sqrt": "llvm.sqrt.f64", "abs": "llvm.fabs.f64", "floor": "llvm.floor.f64"}
_LIBRARY = {name: name.replace("arc", "a") for name in (*FUNCTIONS, *OF_TWO) if name not in _INTRINSICS}
_LIBRARY["power"] = "pow"
_ARITHMETIC = {"add": "fadd contract", "sub": "fsub contract", "mul": "fmul contract"}
COMPARISONS = {"<": "olt", "<=": "ole", "==": "oeq"}
OF_VECTORS = frozenset({*_ARITHMETIC, *COMPARISONS, "neg", "rcp", "sqrt", "abs"})
"""The kinds of nodes that vector registers compute."""

DECLARATIONS = "\n".join(
    [
        "declare <2 x double> @llvm.sqrt.v2f64(<2 x double>)",
        "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        *(f"declare double @{name}(double)" for name in _INTRINSICS.values()),
        *(
            f"declare double @{name}({'double, double' if kind in OF_TWO else 'double'}) memory(none) nounwind"
            for kind, name in _LIBRARY.items()
        ),
    ]
)


def real(x: float) -> str:
    """A number as LLVM writes it, to the last bit."""
    return f"0x{pack('>d', x).hex()}"


@final
class Part:
    """The text of one function: its lines, and where values are. Constants that are loaded go to a table."""

    def __init__(self, graph: Graph, numbers: Table) -> None:
        self.lines: list[str] = []
        self._graph = graph
        self._numbers = numbers
        self._there: set[int] = set()
        self._pointers: set[str] = set()
        self._pairs: set[int] = set()
        self._tests: dict[int, str] = {}  # conditions that are bits; numbers where one is asked for

    def name(self, k: int) -> str:
        """How a value is written: a constant, an argument, or what holds it; an input is loaded first."""
        if k in self._there and k not in self._pairs:
            return f"%v{k}"
        node = self._graph.nodes[k]
        if node[0] == "const" and isinstance(node[1], float):
            return real(node[1])
        if node[0] == "pair":
            known = [x for j in node[1:] if isinstance(x := self._graph.value(j), float)]
            if len(known) == len(node) - 1:
                return f"<{', '.join(f'double {real(x)}' for x in known)}>"
        if node[0] == "input" and node[1] in ("t", "c"):
            return f"%{node[1]}"
        if k not in self._there:
            self._there.add(k)
            if k in self._tests:
                self.lines.append(f"%v{k} = uitofp i1 {self._tests[k]} to double")
            elif node[0] == "const":
                self._load(k, "%context", self._numbers.first + self._numbers.place(node[1]))
            else:
                self._load(k, f"%{node[1]}" if node[1] != "selection" else self._pointer(SELECTION), node[2])
        return f"%v{k}"

    def _load(self, k: int, base: str, place: int, kind: str = "double") -> None:
        self.lines += [
            f"%p{k} = getelementptr double, ptr {base}, i64 {place}",
            f"%v{k} = load {kind}, ptr %p{k}, align 8",
        ]

    def store(self, values: Sequence[int], base: str, place: int, label: str) -> None:
        """A value to memory, or two at once."""
        names = [self.name(k) for k in values]
        if len(names) == 2:
            self._pair(f"%{label}v", *names)
        kind, value = (PAIR, f"%{label}v") if len(names) == 2 else ("double", names[0])
        self.lines += [
            f"%{label} = getelementptr double, ptr {base}, i64 {place}",
            f"store {kind} {value}, ptr %{label}, align 8",
        ]

    def _pointer(self, place: int) -> str:
        name = f"%x{place}"
        if name not in self._pointers:
            self._pointers.add(name)
            self.lines += [
                f"{name}p = getelementptr ptr, ptr %context, i64 {place}",
                f"{name} = load ptr, ptr {name}p",
            ]
        return name

    def hold(self, k: int, wanted: bool, holds: str) -> str:
        """The conditions so far, and that one falls as it should."""
        test, out = self._tests.get(k), f"%g{k}"
        if test is None:
            fell = f"{out}x = fcmp {'one' if wanted else 'oeq'} double {self.name(k)}, 0.0"
            self.lines += [fell, f"{out} = and i1 {holds}, {out}x"]
        elif wanted:
            self.lines.append(f"{out} = and i1 {holds}, {test}")
        else:
            self.lines += [f"{out}x = xor i1 {test}, true", f"{out} = and i1 {holds}, {out}x"]
        return out

    def compute(self, k: int) -> None:
        """The lines of one node."""
        node = self._graph.nodes[k]
        kind = node[0]
        if kind in _ARITHMETIC and node[1] not in self._pairs:  # most of them
            self.lines.append(f"%v{k} = {_ARITHMETIC[kind]} double {self.name(node[1])}, {self.name(node[2])}")
            self._there.add(k)
            return
        if kind == "call":
            _, number, n_in, n_out, *values = node
            results = [f"%v{self._graph.node('result', k, i)}" for i in range(n_out)]
            self.lines += called(f"%u{k}", number, n_in, [self.name(j) for j in values], results)
            self._there |= {self._graph.node("result", k, i) for i in range(n_out)}
        if kind in LEAVES or kind in ("call", "result"):
            return
        if kind in COMPARISONS or (kind == "not" and node[1] in self._tests):
            opposite = f"xor i1 {self._tests.get(node[1])}, true"
            found = opposite if kind == "not" else _compared(kind, [self.name(j) for j in node[1:]])
            self.lines.append(f"%v{k}b = {found}")
            self._tests[k] = f"%v{k}b"
            return
        if kind == "select" and node[1] in self._tests:
            one, other = (self.name(j) for j in node[2:])
            self.lines.append(f"%v{k} = select i1 {self._tests[node[1]]}, double {one}, double {other}")
            self._there.add(k)
            return
        if kind == "pair":
            known = [x for j in node[1:] if (x := self._graph.value(j)) is not None]
            if len(known) == len(node) - 1 and any(isinstance(x, Loaded) for x in known):
                self._load(k, "%context", self._numbers.first + self._numbers.place(*known), PAIR)
            else:
                self._pair(f"%v{k}", *(self.name(j) for j in node[1:]))
            self._pairs.add(k)
        elif kind == "lane":
            self.lines.append(f"%v{k} = extractelement {PAIR} {self.name(node[1])}, i32 {node[2]}")
        else:
            width = 2 if node[1] in self._pairs else 1
            self.lines += instruction(kind, f"%v{k}", [self.name(j) for j in operands(node)], width)
            if width == 2:
                self._pairs.add(k)
        self._there.add(k)

    def _pair(self, target: str, first: str, second: str) -> None:
        self.lines += [
            f"{target}i = insertelement {PAIR} poison, double {first}, i32 0",
            f"{target} = insertelement {PAIR} {target}i, double {second}, i32 1",
        ]


def called(name: str, number: int, n_in: int, values: Sequence[str], results: Sequence[str]) -> list[str]:
    """The lines that call a user's function by its number, through memory of this `name`: (time, values) to results."""
    time, *others = values
    lines = [
        f"{name}.p = getelementptr ptr, ptr %context, i64 {FIRST_FUNCTION + number}",
        f"{name}.f = load ptr, ptr {name}.p",
        f"{name} = alloca [{max(len(others), 1)} x double]",
    ]
    for i, value in enumerate(others):
        lines += [f"{name}.{i} = getelementptr double, ptr {name}, i64 {i}", f"store double {value}, ptr {name}.{i}"]
    lines += [
        f"{name}.o = getelementptr double, ptr {name}, i64 {n_in}",
        f"call void {name}.f(double {time}, ptr {name}, ptr {name}.o)",
    ]
    return lines + [f"{result} = load double, ptr {name}.{n_in + i}" for i, result in enumerate(results)]


def register(width: int) -> str:
    """The type of so many numbers."""
    return "double" if width == 1 else f"<{width} x double>"


def everywhere(value: str, width: int, kind: str = "double") -> str:
    """A value in each lane of a register."""
    return value if width == 1 else f"<{', '.join([f'{kind} {value}'] * width)}>"


def instruction(kind: str, target: str, names: Sequence[str], width: int = 1) -> list[str]:
    """The lines that compute one node for so many lanes; conditions are numbers, 1 or 0, but for several lanes bits."""
    if kind == "select":
        test = f"{target}b = fcmp one double {names[0]}, 0.0"
        return [test, f"{target} = select i1 {target}b, double {names[1]}, double {names[2]}"]
    if kind in COMPARISONS:
        number = [f"{target} = uitofp i1 {target}b to double"] if width == 1 else []
        return [f"{target}b = {_compared(kind, names, width)}", *number]
    return [f"{target} = {_expression(kind, names, width)}"]


def _compared(kind: str, names: Sequence[str], width: int = 1) -> str:
    return f"fcmp {COMPARISONS[kind]} {register(width)} {names[0]}, {names[1]}"


def _expression(kind: str, names: Sequence[str], width: int) -> str:
    of = register(width)
    if kind in _ARITHMETIC:
        return f"{_ARITHMETIC[kind]} {of} {names[0]}, {names[1]}"
    if kind == "neg":
        return f"fneg {of} {names[0]}"
    if kind == "rcp":
        return f"fdiv {of} {everywhere(real(1.0), width)}, {names[0]}"
    if kind == "not":
        return f"fsub double 1.0, {names[0]}"
    function = _INTRINSICS.get(kind) or _LIBRARY[kind]
    if width > 1:
        function = function.replace(".f64", f".v{width}f64")
    return f"call {of} @{function}({', '.join(f'{of} {name}' for name in names)})"


def straight(
    name: str,
    graph: Graph,
    nodes: Sequence[int],
    outputs: Sequence[int],
    guards: Mapping[int, bool],
    numbers: Table,
    places: Sequence[int] | None = None,
    *,
    in_pairs: bool = True,
) -> str:
    """The text of a function that computes `nodes` one by one, which are all that is needed, stores the `outputs` at
    their `places`, or one after the other, and says whether the conditions `guards` fall as they should. With `places`
    it is one of several that do the same, which stay functions: so they are compiled once each. Code that is wanted
    soon stores nothing `in_pairs`: at such an instruction LLVM leaves its quickest way."""
    there = {k: i for i, k in enumerate(nodes)}
    after: dict[int, list[tuple[int, list[int]]]] = {}
    cycles = depths(graph, nodes) if in_pairs else {}
    for place, row in _beside(sorted(zip(places or range(len(outputs)), outputs, strict=True)), cycles):
        after.setdefault(max(row, key=lambda k: there[k]), []).append((place, row))
    part, holds = Part(graph, numbers), "true"
    for k in nodes:
        part.compute(k)
        for place, row in after.get(k, ()):
            part.store(row, "%out", place, f"o{place}")
        if k in guards:
            holds = part.hold(k, guards[k], holds)
    last = [f"%bad = xor i1 {holds}, true", "%status = zext i1 %bad to i32", "ret i32 %status", "}"]
    head = f"define internal i32 @{name}({ARGUMENTS}) nounwind{'' if places is None else ' noinline'} {{"
    return "\n".join([head, *part.lines, *last])


def _beside(stored: Sequence[tuple[int, int]], cycles: Mapping[int, int]) -> Iterator[tuple[int, list[int]]]:
    """Pairs of results that stand beside each other, and the place of the first; memory takes one store in a cycle, so
    that they are stored at once. Four at once are no quicker: some of them are in two lines of the cache. A result does
    not wait for one that comes `_LATER`. `cycles` until each node is there; without them there are no pairs."""
    i = 0
    while i < len(stored):
        place, first = stored[i]
        next_place, other = stored[min(i + 1, len(stored) - 1)]
        both = bool(cycles) and next_place == place + 1 and abs(cycles[first] - cycles[other]) < _LATER
        yield place, [first, other] if both else [first]
        i += 1 + both
