"""Native functions (`rbdae.machine.language`) in C: the loops of elimination that machine code of long models has."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any, final

from rbdae.handover.c import block, comment
from rbdae.machine.language.kinds import FLOAT, INT, INTS, NOTHING, VEC, Kind, Vector
from rbdae.machine.language.program import signature
from rbdae.machine.language.source import source_of

_TYPES = {FLOAT: "double ", INT: "int ", VEC: "double *", INTS: "const int *", NOTHING: "void "}


def translated(function: Any, prefix: str, known: dict[Any, str]) -> list[str]:
    """A native function after those that it calls. Names of functions that are there are in `known`, and go there; an
    argument ``functions`` is u, the inputs of the file's functions."""
    if function in known:
        return []
    known[function] = f"{prefix}_{function.__name__.strip('_')}"
    return _Translated(function, prefix, known).texts()


@final
class _Translated(ast.NodeTransformer):
    """Expressions become those of Python that C reads as it does, or names that are text of C."""

    def __init__(self, function: Any, prefix: str, known: dict[Any, str]) -> None:
        self._name, self._prefix, self._known, self._globals = known[function], prefix, known, function.__globals__
        source, self._before = source_of(function), list[str]()
        self._tree, (kinds, self._result) = deepcopy(source.tree), signature(source)
        self._locals = dict(zip((a.arg for a in self._tree.args.args), kinds, strict=True))
        self._declared = set(self._locals)

    def texts(self) -> list[str]:
        """The function after those that it calls."""
        types = {x: _TYPES[kind] for x, kind in self._locals.items()} | {"functions": "const double *"}
        head = f"{_TYPES[self._result]}{self._name}({', '.join(types[x] + x for x in self._locals)})"
        says, lines = ast.get_docstring(self._tree) or "", [*self._lines(self._tree.body)]
        own = [f"{_TYPES[kind]}{x};" for x, kind in self._locals.items() if x not in self._declared]
        says = " ".join(says.partition("\n\n")[0].split())
        return [*self._before, f"{comment(says)}\n{block(f'static {head}', own + lines)}"]

    def _lines(self, statements: Sequence[ast.stmt]) -> Iterator[str]:
        for node in statements:
            match node:
                case ast.Expr(ast.Constant()):
                    pass
                case ast.If(test, body, orelse):
                    yield from block(f"if ({self._c(test)})", self._lines(body)).splitlines()
                    yield from block("else", self._lines(orelse)).splitlines() if orelse else ()
                case ast.For(ast.Name(i), ast.Call(ast.Name(word), limits), body):
                    first, end = ["0"][len(limits) - 1 :] + [self._c(x) for x in limits]
                    self._locals[i] = INT
                    self._declared.add(i)
                    yield from ["RBDAE_EACH"] * (word == "each")
                    yield from block(f"for (int {i} = {first}; {i} < {end}; {i}++)", self._lines(body)).splitlines()
                case _:
                    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                        self._locals.setdefault(node.targets[0].id, self._kind(node.value))
                    yield f"{self._c(node)};"

    def _kind(self, node: ast.expr) -> Kind:
        match node:
            case ast.Name(x):
                return self._locals[x] if x in self._locals else self._kind(ast.Constant(self._globals[x]))
            case ast.Subscript(vector, at):
                kind = self._kind(vector)
                return kind.entry if isinstance(kind, Vector) and not isinstance(at, ast.Slice) else kind
            case ast.BinOp(a, _, b) | ast.IfExp(_, a, b):
                return FLOAT if FLOAT in (self._kind(a), self._kind(b)) else INT
            case ast.UnaryOp(_, a):
                return self._kind(a)
        return FLOAT if isinstance(node, ast.Constant) and isinstance(node.value, float) else INT

    def _c(self, node: ast.AST) -> str:
        text = ast.unparse(self.visit(node))  # what is divided is not negative
        return text.replace(" and ", " && ").replace(" or ", " || ").replace(" // ", " / ")

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self._locals or node.id == "abs":
            return ast.Name("fabs" if node.id == "abs" else node.id)
        found = self._globals[node.id]
        self._before += translated(found, self._prefix, self._known) if callable(found) else []
        return ast.Name(self._known[found] if callable(found) else repr(found))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        vector, at = self.visit(node.value), node.slice
        if isinstance(at, ast.Slice):
            return ast.BinOp(vector, ast.Add(), self.visit(at.lower))  # type: ignore[arg-type]
        return ast.Subscript(vector, self.visit(at))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        return ast.Name(f"!({self._c(node.operand)})") if isinstance(node.op, ast.Not) else self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.Name:
        return ast.Name(f"({self._c(node.test)} ? {self._c(node.body)} : {self._c(node.orelse)})")
