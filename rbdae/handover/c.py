"""C99 with math.h alone: functions that read like code, and tables of numbers.

Results of what is used once are written where they are used. Everything else has a name: that of its unknown, or v with
its number. Functions return 0, or 1 where a guard does not hold: then the results mean nothing, and the step is to be
repeated with another size, or the model formulated at that state.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any, NamedTuple, final

import numpy as np

from rbdae.graph.graph import CONDITIONS, operands
from rbdae.handover.recorded import Function, walk

_ATOM, _PRODUCT, _SUM, _OTHER = 3, 2, 1, 0
"""How tightly an expression holds together."""

_FORMS: dict[str, tuple[str, int, int, int]] = {
    "add": ("{} + {}", _SUM, _SUM, _SUM),
    "sub": ("{} - {}", _SUM, _SUM, _PRODUCT),
    "mul": ("{} * {}", _PRODUCT, _PRODUCT, _ATOM),
    "neg": ("-{}", _SUM, _PRODUCT, _PRODUCT),
    "rcp": ("{one} / {}", _PRODUCT, _ATOM, _ATOM),
    "not": ("!{}", _ATOM, _ATOM, _ATOM),
    "select": ("{} ? {} : {}", _OTHER, _SUM, _SUM),
    **{kind: (f"{{}} {kind} {{}}", _OTHER, _SUM, _SUM) for kind in CONDITIONS},
}
"""How an operation is written, how tightly that holds together, and how tightly its first and its other operands have
to."""

_FUNCTIONS = {
    "abs": "fabs", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "arctan2": "atan2", "power": "pow",
}  # fmt: skip
"""Functions that C calls by another name."""

_LONGEST, _PART = 60, 500
"""Characters of an expression that is written where it is used; statements of one function."""

_DEFINED, _NAMES = re.compile(r"const \w+ (v\d+) ="), re.compile(r"[A-Za-z_]\w*")

_TAKEN = frozenset(
    re.split(
        " ",
        "auto break case char const continue default do double else enum extern float for goto if inline int long "
        "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
        "main t y yd c u p out yn jn",
    )
)
"""Words that are no names of unknowns: those of the language, of its library and of our arguments."""


def identifiers(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """C identifiers for names, each another one; none is a word of C or of those that are taken."""
    no_names = _TAKEN.union(taken)
    out: dict[str, None] = {}
    for name in names:
        base = re.sub(r"\W", "_", name, flags=re.ASCII).strip("_") or "x"
        base = f"x{base}" if base[0].isdigit() else base
        free = (each for k in range(1, 1_000_000) if (each := base if k == 1 else f"{base}_{k}") not in out)
        out[next(each for each in free if each not in no_names and not re.fullmatch(r"v\d+|j\d|y\d", each))] = None
    return list(out)


class Expression(NamedTuple):
    """Text, and how tightly it holds together."""

    text: str
    holds: int = _ATOM

    def within(self, holds: int) -> str:
        """The text as an operand."""
        return self.text if self.holds >= holds else f"({self.text})"


class Dialect(NamedTuple):
    """Differences of languages that are nearly C: the type of numbers, how one is written, what stands before a
    function, whether it returns the number of the guard that does not hold, from 1, and a word for results."""

    real: str = "double"
    literal: str = "{}"
    qualifier: str = ""
    numbered: bool = False
    restrict: str = "restrict "


C99 = Dialect()


@final
class Printer:
    """The statements of one function, a `Target`. `names` are those of y, by their places; `to` is where results go."""

    def __init__(self, function: Function, names: Sequence[str], dialect: Dialect = C99) -> None:
        self.statements: list[str] = []
        self.to = [f"out[{i}] =" for i in range(len(function.outputs))]
        self._dialect, self._guards = dialect, 0
        self.read: dict[int, str] = {}  # of y
        self._names, nodes = names, function.graph.nodes
        self._uses = Counter(j for k in function.order for j in operands(nodes[k]))
        self._uses.update([*function.outputs, *function.guards, *function.guards])
        self._places: dict[int, list[int]] = {}
        for i, node in enumerate(function.outputs):
            self._places.setdefault(node, []).append(i)

    def left(self, results: Sequence[Expression], outputs: Sequence[int]) -> list[str]:
        """The statements for results that are no operations."""
        return [f"{self.to[i]} {results[i].text};" for i, node in enumerate(outputs) if node in self._places]

    def number(self, x: float) -> Expression:
        """A constant, to the last bit."""
        written = f"{x!r}" if np.isfinite(x) else "NAN" if x != x else "HUGE_VAL" if x > 0 else "-HUGE_VAL"
        return Expression(self._dialect.literal.format(written), _ATOM if x >= 0 else _SUM)

    def input(self, name: str, place: int) -> Expression:
        """A number of t, c, y, yd, u, p."""
        if name in ("t", "c"):
            return Expression(name)
        if name == "y":
            self.read[place] = self._names[place]
            return Expression(self._names[place])
        return Expression(f"{name}[{place}]")

    def operation(self, node: int, kind: str, of: Sequence[Expression]) -> Expression:
        """An expression, or the name of what has it."""
        if kind in _FORMS:
            form, holds, first, other = _FORMS[kind]
            parts = (x.within(other if k else first) for k, x in enumerate(of))
            text = form.format(*parts, one=self._dialect.literal.format("1.0"))
        else:
            text, holds = f"{_FUNCTIONS.get(kind, kind)}({', '.join(x.text for x in of)})", _ATOM
        if self._uses[node] < 2 and (node in self._places or (len(text) < _LONGEST and kind not in CONDITIONS)):
            return self._stored(node, Expression(text, holds))
        type_ = "int" if kind in CONDITIONS or kind == "not" else self._dialect.real
        self.statements.append(f"const {type_} v{node} = {text};")
        return self._stored(node, Expression(f"v{node}"))

    def _stored(self, node: int, value: Expression) -> Expression:
        """A value, which goes to its places in the results at once: few of them wait for the end."""
        self.statements += [f"{self.to[i]} {value.text};" for i in self._places.pop(node, ())]
        return value

    def guard(self, condition: Expression, wanted: bool) -> None:
        """Return where it does not hold."""
        self._guards += 1
        code = self._guards if self._dialect.numbered else 1
        self.statements.append(f"if ({'!' if wanted else ''}{condition.within(_ATOM)}) return {code};")


def function_text(name: str, function: Function, names: Sequence[str], says: str, dialect: Dialect = C99) -> str:
    """A function ``int name(t, y, ..., u, p, out)`` with a comment. A long one is made of parts, which hand numbers on
    in an array: the time of compilers grows faster than the length of a function."""
    printer, real = Printer(function, names, dialect), dialect.real
    results = walk(function, printer)
    arguments = ", ".join(f"{real} {x}" if x in "tc" else f"const {real} *{x}" for x in (*function.arguments, *"up"))
    statements = printer.statements + printer.left(results, function.outputs)
    parts = [statements[k : k + _PART] for k in range(0, len(statements), _PART)] or [[]]
    cut, kept = len(parts) > 1, _handed_on(parts)
    of_y = {own: f"const {real} {own} = y[{place}];" for place, own in printer.read.items()}
    passed, texts = ", ".join([*function.arguments, *"up", "out", "w"]), list[str]()
    for k, part in enumerate(parts):
        used, stored = set(_NAMES.findall("\n".join(part))), list[str]()
        body = [line for own, line in of_y.items() if own in used]
        for statement in part:
            defined = _DEFINED.match(statement)
            stored.append(statement)
            if defined and defined[1] in kept:
                stored.append(f"w[{kept[defined[1]]}] = {defined[1]};")
                used.discard(defined[1])
        body += [f"const {real} {v} = w[{kept[v]}];" for v in sorted(used & kept.keys())]
        body += stored
        known = set(_NAMES.findall("\n".join(body)))
        work = ["w"] if cut else []
        body = [f"(void){x};" for x in (*function.arguments, *"up", "out", *work) if x not in known] + body
        more, own = (f", {real} *w", f"{name}_part{k}") if cut else ("", name)
        head = f"{dialect.qualifier}int {own}({arguments}, {real} *{dialect.restrict}out{more})"
        texts.append(block(head, [*body, "return 0;"]))
    if cut:
        calls = [f"if ((bad = {name}_part{k}({passed}))) return bad;" for k in range(len(parts))]
        head = f"{dialect.qualifier}int {name}({arguments}, {real} *{dialect.restrict}out)"
        texts.append(block(head, [f"{real} w[{max(len(kept), 1)}];", "int bad;", *calls, "return 0;"]))
    return "\n".join([comment(f"{says}: {function.n_operations} operations."), *texts])


def block(head: str, body: Iterable[str]) -> str:
    """A function, or what else has a head and a body of lines."""
    return "\n".join([f"{head} {{", *(f"    {line}" for line in body), "}"])


def _handed_on(parts: Sequence[Sequence[str]]) -> dict[str, int]:
    """The values that later parts read, with their places in the array."""
    part_of = {found[1]: k for k, part in enumerate(parts) for line in part if (found := _DEFINED.match(line))}
    read = ((v, k) for k, part in enumerate(parts) for line in part for v in _NAMES.findall(line))
    later = dict.fromkeys(v for v, k in read if part_of.get(v, k) != k)
    return {v: i for i, v in enumerate(later)}


def comment(text: str) -> str:
    """A comment in lines."""
    lines = wrap(text.replace("*/", "* /"), 110)
    return "\n".join([f"/* {lines[0]}", *(f"   {line}" for line in lines[1:])]) + " */"


def table(kind: str, name: str, values: Any) -> str:
    """An array; one with nothing in it has a 0, which C wants."""
    write = {"double": lambda x: repr(float(x)), "char *": _quoted}.get(kind, lambda x: str(int(x)))
    written = [write(x) for x in values] or ["0"]
    width = 6 if kind in ("double", "char *") else 18
    lines = [", ".join(written[k : k + width]) for k in range(0, len(written), width)]
    qualifier = "const char *const" if kind == "char *" else f"const {kind}"
    return "\n".join([f"{qualifier} {name}[{len(written)}] = {{", ",\n".join(f"    {line}" for line in lines), "};"])


def _quoted(text: str) -> str:
    safe = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return f'"{safe}"'
