"""C99 with math.h alone: functions of a problem that read like code, with its numbers as tables.

Results of what is used once are written where they are used. Everything else has a name: that of its unknown, or v with
its number. Functions return 0, or 1 where a guard does not hold: then the results mean nothing, and the step is to be
repeated with another size, or the model formulated at that state.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple, final

import numpy as np

from rbdae import _check
from rbdae._version import __version__
from rbdae.graph.graph import CONDITIONS, operands
from rbdae.handover.recorded import Function, Handed, TooLong, walk

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
    """The statements of one function, a `Target`. `names` are those of y, by their places."""

    def __init__(self, function: Function, names: Sequence[str], dialect: Dialect = C99) -> None:
        self.statements: list[str] = []
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
        return [f"out[{i}] = {results[i].text};" for i, node in enumerate(outputs) if node in self._places]

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
        self.statements += [f"out[{i}] = {value.text};" for i in self._places.pop(node, ())]
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
        texts.append(
            _block(
                f"{dialect.qualifier}int {own}({arguments}, {real} *{dialect.restrict}out{more})", [*body, "return 0;"]
            )
        )
    if cut:
        calls = [f"if ((bad = {name}_part{k}({passed}))) return bad;" for k in range(len(parts))]
        head = f"{dialect.qualifier}int {name}({arguments}, {real} *{dialect.restrict}out)"
        texts.append(_block(head, [f"{real} w[{max(len(kept), 1)}];", "int bad;", *calls, "return 0;"]))
    return "\n".join([comment(f"{says}: {function.n_operations} operations."), *texts])


def _block(head: str, body: Iterable[str]) -> str:
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
    lines = [", ".join(written[k : k + 6]) for k in range(0, len(written), 6)]
    qualifier = "const char *const" if kind == "char *" else f"const {kind}"
    return "\n".join([f"{qualifier} {name}[{len(written)}] = {{", ",\n".join(f"    {line}" for line in lines), "};"])


def _quoted(text: str) -> str:
    safe = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return f'"{safe}"'


KINDS: Mapping[str, tuple[str, ...]] = {
    "ida": ("residual", "jacobian"),
    "cvode": ("rhs", "rhs_jacobian"),
    "plain": ("residual", "jacobian", "rhs", "rhs_jacobian", "energy", "quantities", "project"),
}
"""What there is for a solver of a kind."""

_SAYS = {
    "residual": "The residual F(t, y, yd)",
    "jacobian": "dF/dy + c dF/dyd, the entries of its pattern",
    "rhs": "The right-hand side, yd = f(t, y)",
    "rhs_jacobian": "df/dy, the entries of its pattern",
    "energy": "Kinetic and potential energy, J",
    "constraints": "Constraints: positions, then velocities; of rotations, then of joints",
    "correction": "A step onto the constraints after displacements with the sum yd, at whose end is 2 if velocities "
    "turn with rotations, else 1: the next displacement, positions and velocities after it, projected velocities",
    "quantities": "Quantities of joints and forces, and reactions. An event where one of them reaches a value has the "
    "root function quantity - value",
}

_DENSE = """/* Entries of a pattern to a matrix with so many rows, column by column; its other entries are 0. */
void {0}_dense(int rows, int columns, const RBDAE_INDEX *row, const RBDAE_INDEX *pointer, const double *data,
               double *out) {{
    for (int k = 0; k < rows * columns; k++) out[k] = 0.0;
    for (int j = 0; j < columns; j++)
        for (RBDAE_INDEX k = pointer[j]; k < pointer[j + 1]; k++) out[rows * j + row[k]] = data[k];
}}"""


_PROJECT = """static double {0}_largest(int n, const double *weight, const double *g) {{
    double found = 0.0;
    for (int i = 0; i < n && found == found; i++)
        if (!(weight[i] * fabs(g[i]) <= found)) found = weight[i] * fabs(g[i]);
    return found;
}}

/* y to the nearest state on the constraints, in the metric of the masses. Violations count times their weights; a
   tolerance of 1e-14 and at most 10 steps are usual. Where it returns 1, the constraints are not reached. */
int {0}_project(double t, double *y, const double *u, const double *p, double tolerance, int most) {{
    enum {{ Q = {1}, V = {2}, W = {3}, G = {4} }};
    double g[2 * G + 1], out[V + Q + 2 * W], sum[V] = {{0.0}}, back[V + 1], before = HUGE_VAL, zero = 0.0;
    for (int k = 0;; k++) {{
        if ({0}_constraints(t, y, u, p, g)) return 1;
        const double violation = {0}_largest(G, {0}_weights, g);
        const int there = violation <= (violation >= 0.5 * before ? fmax(1e3 * tolerance, {5!r}) : tolerance);
        if (there && (W == 0 || {0}_largest(G, {0}_weights + G, g + G) <= tolerance)) return 0;
        if (!there && k >= most) return 1;
        for (int i = 0; i < V; i++) back[i] = 2 * k + 1 <= most ? sum[i] : 0.0;
        back[V] = k ? 1.0 : 2.0;
        if ({0}_correction(t, y, back, u, p, out)) return 1;
        for (int i = 0; i < W && there; i++) zero += 0.0 * (y[Q + i] = out[V + Q + W + i]);
        if (there) return zero != 0.0;
        for (int i = 0; i < V; i++) sum[i] += out[i];
        for (int i = 0; i < Q + W; i++) y[i] = out[V + i];
        before = violation;
    }}
}}"""


def functions_of(problem: Any, kind: str) -> list[str]:
    """The functions for a solver of a kind. Raises ValueError for another one, and for a right-hand side of a DAE."""
    if kind not in KINDS:
        raise _check.unknown("kind", kind, KINDS)
    explicit = problem.kind == "ode"
    if kind == "cvode" and not explicit:
        raise ValueError(
            f"c_source: {problem.formulation} is a DAE and has no right-hand side; take kind='ida', or index-0, "
            "null-space or hamiltonian-eliminated"
        )
    return [name for name in KINDS[kind] if explicit or not name.startswith("rhs")]


def source(handed: Handed, prefix: str, functions: Sequence[str]) -> str:
    """The file: tables, then the functions by their names. Its names begin with the prefix."""
    problem, names = handed.problem, identifiers(handed.problem.labels)
    form, n, (prefix,) = problem.workspace.settings.formulation, problem.n, identifiers([prefix])
    size = [
        f"{prefix}_N = {n}",
        f"{prefix}_EQUATIONS = {problem.n_equations}",
        f"{prefix}_INPUTS = {len(handed.inputs)}",
        f"{prefix}_PARAMETERS = {len(handed.parameters)}",
    ]
    parts = [
        comment(
            f"{prefix}: {form.name}, {form.summary}, {form.source}; rotations by {problem.rotation}, "
            f"velocities {problem.velocity}. {n} unknowns, {problem.n_equations} equations. Written by rbdae "
            f"{__version__}; SI units."
        ),
        "#include <math.h>\n\n#ifndef RBDAE_INDEX\n#define RBDAE_INDEX int /* or long long, for 64 bits */\n#endif",
        comment("Functions return 0, or 1 where the results mean nothing: a guard does not hold."),
        f"enum {{ {', '.join(size)} }};",
        table("char *", f"{prefix}_labels", problem.labels),
        comment("The start, and which unknowns have rates: 1; multipliers and algebraic unknowns have none: 0."),
        f"const double {prefix}_t0 = {float(problem.t0)!r};",
        table("double", f"{prefix}_y0", problem.y0),
        table("double", f"{prefix}_yd0", problem.yd0),
        table("int", f"{prefix}_differential", problem.differential),
        comment("Unknowns that a BDF code does not test: 1, for an absolute tolerance of 1e10 ([HW96] section VII.3)."),
        table("int", f"{prefix}_untested", (problem.variable_index >= 2) | ~(problem.differential | problem.algebraic)),
        comment("Hairer's classes of the unknowns of a DAE: 1, 2, 3; 0 for an ODE."),
        table("int", f"{prefix}_variable_index", problem.variable_index),
    ]
    for what, numbers in (("inputs", handed.inputs), ("parameters", handed.parameters)):
        if numbers:
            parts += [table("char *", f"{prefix}_{what}", numbers)]
            parts += [table("double", f"{prefix}_{what}0", numbers.values())]
    needed = ((*(("constraints", "correction") if name == "project" else ()), name) for name in functions)
    for name in dict.fromkeys(chain.from_iterable(needed)):
        if name == "project":
            parts += _project(handed, prefix)
            continue
        if name == "quantities":
            labels, units, function = handed.quantities()
            parts += [
                f"enum {{ {prefix}_QUANTITIES = {len(labels)} }};",
                table("char *", f"{prefix}_quantity_labels", labels),
                table("char *", f"{prefix}_quantity_units", units),
            ]
        else:
            try:
                function = handed.function(name)
            except TooLong as error:
                if name != "rhs_jacobian":  # which codes make of differences
                    raise
                parts.append(comment(f"Left out: {error}."))
                continue
        if function.pattern is not None:
            parts += [
                comment(f"The pattern of {name}, compressed columns: rows of its entries, and where columns begin."),
                f"enum {{ {prefix}_{name}_NNZ = {len(function.outputs)} }};",
                table("RBDAE_INDEX", f"{prefix}_{name}_rows", function.pattern.rows),
                table("RBDAE_INDEX", f"{prefix}_{name}_pointers", function.pattern.pointers(n)),
            ]
        parts.append(function_text(f"{prefix}_{name}", function, names, _SAYS[name]))
    return "\n\n".join([*parts, _DENSE.format(prefix)]) + "\n"


def _project(handed: Handed, prefix: str) -> list[str]:
    """Weights of the constraints, and the loop of the projection."""
    scales, sizes = handed.problem.model.scales, handed.sizes
    rows, rounding = 1.0 / scales.sizes(scales.length), 30.0 * scales.reach / scales.length * float(np.finfo(float).eps)
    weights = np.concatenate([np.ones(sizes[3] - len(rows)), rows])
    text = _PROJECT.format(prefix, *sizes, rounding)
    return [table("double", f"{prefix}_weights", [*weights, *(weights / scales.rate)]), text]


def write(problem: Any, path: str | Path, kind: str, parameters: bool | Sequence[str] = False) -> Path:
    """`rbdae.Problem.c_source`."""
    path = Path(path)
    path.write_text(source(Handed(problem, parameters), path.stem, functions_of(problem, kind)))
    return path
