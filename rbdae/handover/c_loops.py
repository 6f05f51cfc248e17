"""Long models in C: loops over elements and over tables, which the machine code of such models is, too.

Elements of a kind (`rbdae.machine.elements`) are a function with a loop, whose body is written by
`rbdae.handover.c.Printer`. What eliminates, native functions (`rbdae.machine.loops`), is translated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.handover.c import Expression, Printer, block, comment, table
from rbdae.handover.c_native import translated
from rbdae.handover.recorded import Function, Handed, TooLong, walk
from rbdae.kernels import projection
from rbdae.machine.elements import Elements, Kind, Place, numbers_of
from rbdae.machine.loops import blocks
from rbdae.machine.pieces import in_pieces
from rbdae.multibody.code.code import Wanted, elements_for
from rbdae.multibody.code.rates_jacobian import made, rates_structure
from rbdae.multibody.elements.elements import RESIDUAL_FROM
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.recording import Recording

HEAD = """#ifndef RBDAE_MEMORY
#define RBDAE_MEMORY static /* large memory; static _Thread_local, for several threads */
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define RBDAE_EACH _Pragma("GCC ivdep") /* no pass needs what another one has done */
#else
#define RBDAE_EACH
#endif"""

_ARGUMENTS = {
    **{x: f"double {x}" for x in "tc"}, **{x: f"const double *{x}" for x in ("y", "yd", "u", "p")},
    **{x: f"double *restrict {x}" for x in ("out", "work")},
}  # fmt: skip

_TAKES = {"residual": ("t", "y", "yd"), "jacobian": ("t", "y", "yd", "c"), "correction": ("t", "y", "yd")}

_NAMES = re.compile(r"[A-Za-z_]\w*")

_CONSTRAINTS = """{{
    double all[2 * {4} + {1} + {2}], how = 1.0;
    (void)p;
    if ({0}_violated(t, y, &how, u, all)) return 1;
    for (int i = 0; i < 2 * {4}; i++) out[i] = all[i];
    return 0;
}}"""

_CORRECTION = """{{
    enum {{ Q = {1}, V = {2}, W = {3}, G = {4}, N = {5} }};
    double all[2 * G + Q + V], at[N], given[V + 2], moved[2 * V + Q + G + 1];
    (void)p;
    if ({0}_violated(t, y, yd + V, u, all)) return 1;
    for (int i = 0; i < N; i++) at[i] = i < Q + W ? all[2 * G + i] : y[i];
    for (int tangent = 0; tangent < 2; tangent++) {{
        for (int i = 0; i < V + 2; i++) given[i] = i >= V ? tangent * (i == V) : tangent ? 0.0 : -yd[i];
        if ({0}_step(t, at, given, u, moved)) return 1;
        for (int i = tangent * (V + Q); i < V + Q + tangent * W; i++) out[tangent * W + i] = moved[i];
    }}
    for (int i = 0; i < W; i++) out[V + Q + i] = at[Q + i];
    return 0;
}}"""

_RATES_JACOBIAN = """{{
    RBDAE_MEMORY double v[{1}];
    (void)p;
    for (int i = 0; i < {2}; i++) v[{3} + i] = {0}_floor[i];
    if ({4}(u, t, (double *)y, {0}_head, {0}_tables, v, out)) return 1;
    for (int k = 0; k < {5}; k += 16) /* to columns, a few at a time */
        for (int i = k; i < {5}; i++)
            for (int j = k; j < k + 16 && j < i; j++) {{
                const double x = out[{5} * i + j];
                out[{5} * i + j] = out[{5} * j + i], out[{5} * j + i] = x;
            }}
    return 0;
}}"""


_OF_PROJECTION = {"constraints": ("violated", _CONSTRAINTS), "correction": ("step", _CORRECTION)}


@final
class Loops:
    """Functions of a model as text; they `apply` if it is long, made of elements, and its parameters are numbers."""

    def __init__(self, handed: Handed, prefix: str) -> None:
        self._problem, self._sizes, self._prefix = handed.problem, handed.sizes, prefix
        own: Workspace = handed.problem.workspace
        memory = own.memory.with_code("auto", own.memory.regular, own.memory.numbers)
        self._workspace, self._ode = Workspace(memory, own.selection), handed.problem.kind == "ode"
        self.apply = own.model.n >= RESIDUAL_FROM and not handed.parameters
        self.apply = self.apply and self._elements("rhs" if self._ode else "residual") is not None

    def function(self, name: str, says: str) -> str | None:
        """A function of `rbdae.handover.c_file`; None for one that is written as a whole. Raises TooLong."""
        own, takes, ode = self._workspace, (*_TAKES.get(name, ("t", "y")), "u", "p"), self._ode
        if name == "rhs_jacobian":
            return self._rates_jacobian(says, takes)
        if name in _OF_PROJECTION:
            kernel, body = _OF_PROJECTION[name]
            found = elements_for(own, Wanted(getattr(projection, kernel), {"out": (0,)}, None, False))
            inner = found and self._of_elements(kernel, ("t", "y", "yd", "u"), found, own, f"For {name}")
            text = f"{self._head(name, takes)} {body.format(self._prefix, *self._sizes, own.layout.n)}"
            return inner and f"{inner}\n\n{comment(says)}\n{text}"
        found = None if name in ("energy", "quantities", "jacobian" * ode) else self._elements(name)
        if found is None and (name == "quantities" or (ode and name != "energy")):
            other = "; rhs and rhs_jacobian can be handed over, kind='cvode'" * ode
            what = f"{name} of {self._problem.formulation}{other}"
            raise TooLong(f"a model of {own.model.n} bodies is too long for {what}")
        return found and self._of_elements(name, takes, found, own, says)

    def _elements(self, name: str) -> Elements | None:
        of, data = self._problem.callbacks, "jacobian_data" if name == "jacobian" else name
        pattern = of._entries() if name == "jacobian" else None
        return elements_for(self._workspace, Wanted(of._kernel(name), of._shapes(data), pattern, False))

    def _head(self, name: str, arguments: Sequence[str]) -> str:
        static = "" if "p" in arguments else "static "
        return f"{static}int {self._prefix}_{name}({', '.join(_ARGUMENTS[x] for x in (*arguments, 'out'))})"

    def _of_elements(self, name: str, arguments: Sequence[str], elements: Elements, of: Workspace, says: str) -> str:
        """A function ``name(t, y, ..., u, p, out)``; one whose arguments have no p is for this file alone."""
        prefix, calls = f"{self._prefix}_{name}", list[str]()
        vectors = {"numbers": numbers_of(elements, of.open_numbers.values), "selection": of.numbers}
        for n, x in zip(elements.cleared, ("work", "out"), strict=True):
            calls += [f"for (int i = 0; i < {n}; i++) {x}[i] = 0.0;"] * (n > 0)
        of_kinds = [_of_kind(f"{prefix}_{k}", kind, vectors, of) for k, kind in enumerate(elements.kinds)]
        for k, first, end in elements.runs:
            calls.append(f"if ({prefix}_{k}({', '.join([*of_kinds[k][0], str(first), str(end)])})) return 1;")
        texts = [text for _, text in of_kinds]
        used, known = (set(_NAMES.findall("\n".join(x))) for x in (texts, calls))
        tables = [f"static {table('double', f'{prefix}_{x}', vectors[x])}" for x in vectors if f"{prefix}_{x}" in used]
        body = [f"double work[{elements.size}];"] * ("work" in known)
        body += [f"(void){x};" for x in (*arguments, "out") if x not in known]
        says = f"{says}: {sum(kind.length for kind in elements.kinds)} operations, one element of each kind."
        text = block(self._head(name, arguments), [*body, *calls, "return 0;"])
        return "\n\n".join([*tables, *texts, f"{comment(says)}\n{text}"])

    def _rates_jacobian(self, says: str, takes: Sequence[str]) -> str | None:
        """The Jacobian of a right-hand side; None if it has to be derived from that itself."""
        described = rates_structure(self._workspace)
        found = described and made(lambda: described[1](lambda of, _: of))
        if not described or not found:
            return None
        name, texts, calls, (parts, tables) = f"{self._prefix}_rhs_jacobian", list[str](), list[str](), found
        head, floor = tables.head, self._workspace.selection.rows.pivot_floor
        floor = np.zeros(0) if floor is None else floor
        what = "Rows of the form whose solution the rates are, and their entries"
        for k, (of, twin) in enumerate(zip(parts, described[0], strict=True)):
            if isinstance(of, Recording):
                needed = of.graph.needed([*of.guards, *of.outputs])
                of = in_pieces(of.graph, needed, of.outputs, of.guards, of.loaded)
            texts.append(self._of_elements(f"rows{k}", ("t", "y", "yd", "u"), of, twin, what))
            out = head[blocks.VALUES] + tables.tables[head[blocks.PARTS] + k]
            given = f"t, v + {head[blocks.STATE]}, v + {head[blocks.RATES]}, u, v + {out}"
            calls.append(f"{self._prefix}_rows{k}({given})")
        native: dict[Any, str] = {blocks.evaluate_parts: (rows := f"{self._prefix}_rows")}
        own = f"static int {rows}(const double *u, double t, const int *head, const int *tables, double *v)"
        texts.append(block(own, ["(void)head, (void)tables;", f"return {' || '.join(calls)};"]))
        texts += translated(blocks.rates_jacobian, self._prefix, native)
        arrays = {"head": head, "tables": tables.tables, "floor": floor}
        texts += [f"static {table('double' if x == 'floor' else 'int', f'{name}_{x}', arrays[x])}" for x in arrays]
        first, main = head[blocks.FLOOR] + head[blocks.SOLVED] - len(floor), native[blocks.rates_jacobian]
        body = _RATES_JACOBIAN.format(name, tables.size, len(floor), first, main, self._workspace.layout.n)
        return "\n\n".join([*texts, f"{comment(says)}\n{self._head('rhs_jacobian', takes)} {body}"])


def _of_kind(name: str, kind: Kind, vectors: Mapping[str, Vec], of: Workspace) -> tuple[list[str], str]:
    """The arguments and the text of the function of a kind: a loop from the first to the last element of a run."""
    inputs, prefix = of.places_of("inputs"), name.rpartition("_")[0]
    columns, tabled = dict[bytes, tuple[int, int]](), list[Any]()  # places that keep their distance share a column

    def entry(place: Place) -> str:
        """The entry of a vector that belongs to the element e."""
        vector, at = place.vector, np.asarray(place.at)
        if vector == "selection" and inputs.start <= at[0] < inputs.stop:
            vector, at = "u", at - inputs.start
        elif vector in vectors and (at == at[0]).all():
            return repr(float(vectors[vector][at[0]]))
        vector, steps = f"{prefix}_{vector}" if vector in vectors else vector, np.diff(at)
        if not len(steps) or (steps == steps[0]).all():
            return f"{vector}[{at[0]}{f' + {steps[0]} * e' if steps.any() else ''}]"
        column, begin = columns.setdefault((at - at[0]).tobytes(), (len(tabled), int(at[0])))
        if column == len(tabled):
            tabled.append(at)
        return f"{vector}[at[{column}] + {int(at[0]) - begin}]"

    outputs = [node for node, *_ in kind.results]
    function = Function(name, (), kind.graph, kind.order, outputs, kind.guards, (len(outputs),))
    printer = Printer(function, ())
    printer.to = [f"{entry(place)} {'+=' if adds else '='}" for _, place, adds in kind.results]
    lines = [f"const double v{k} = {entry(place)};" for k, place in kind.inputs.items()]
    results = walk(function, printer, {k: Expression(f"v{k}") for k in kind.inputs})
    lines += printer.statements + printer.left(results, outputs)
    known = set(_NAMES.findall("\n".join(lines)))
    given = [x for x in _ARGUMENTS if x in known]
    row = [f"const int *at = {name}_at + {len(tabled)} * e;"] * bool(tabled)
    loop = block("for (int e = first; e < end; e++)", row + lines).splitlines()
    head = f"static int {name}({', '.join([*(_ARGUMENTS[x] for x in given), 'int first', 'int end'])})"
    of_places = f"static {table('int', f'{name}_at', np.array(tabled).T.ravel())}\n\n" * bool(tabled)
    return given, of_places + block(head, [*loop, "return 0;"])
