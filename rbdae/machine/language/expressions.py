"""Expressions of functions as LLVM IR."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from typing import final

from rbdae.machine.language import arrays
from rbdae.machine.language.body import Body
from rbdae.machine.language.kinds import (
    BOOL,
    INT,
    Array,
    Kind,
    Number,
    Object,
    Refused,
    Value,
    common,
    constant,
    whole,
)
from rbdae.machine.language.mathematics import FUNCTIONS, power
from rbdae.machine.language.names import Names

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}


@final
class Expressions(Names):
    """Writes the expressions of one function."""

    def condition(self, node: ast.expr) -> Value:
        """Whether an expression holds."""
        if isinstance(node, ast.BoolOp):
            return self._decided(node, self.condition)
        out = self.at.truth(self.number(node))
        if out.kind is not BOOL:
            raise Refused(f"{ast.unparse(node)!r} is {out.kind.name}, and must be one condition")
        return out

    # ------------------------------------------------------------ arithmetic

    def _binop(self, node: ast.BinOp) -> Value:
        return self.binary(type(node.op), self.number(node.left), self.number(node.right))

    def binary(self, operation: type[ast.operator], a: Value, b: Value) -> Value:
        """a operation b."""
        at = self.at
        if operation in _SIGNS:
            return at.arithmetic(_SIGNS[operation], a, b)
        if operation is ast.Pow:
            return at.arithmetic("*", a, a) if whole(b) == 2 else power(at, a, b)
        if operation in (ast.FloorDiv, ast.Mod) and {a.kind, b.kind} <= {BOOL, INT}:
            return at.floored(at.converted(a, INT), at.converted(b, INT), rest=operation is ast.Mod)
        raise Refused(f"{operation.__name__} of {a.kind.name} and {b.kind.name} has no machine code")

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.at.value(BOOL, f"xor i1 {self.condition(node.operand).text}, true")
        x = self.number(node.operand)
        if isinstance(node.op, ast.UAdd):
            return x
        if not isinstance(node.op, ast.USub):
            raise Refused(f"{ast.unparse(node)!r} has no machine code")
        assert isinstance(x.kind, Number)
        if x.kind in (BOOL, INT):
            return self.at.arithmetic("-", constant(0), x)
        return self.at.value(x.kind, f"fneg {x.kind.llvm} {x.text}")

    # ------------------------------------------------------------ conditions

    def _compare(self, node: ast.Compare) -> Value:
        out: Value | None = None
        left = self.number(node.left)
        for operation, right_node in zip(node.ops, node.comparators, strict=True):
            if isinstance(operation, ast.In) and isinstance(right_node, ast.Tuple):
                now = self._among(left, right_node)
            elif type(operation) in _COMPARISONS:
                right = self.number(right_node)
                now = self.at.compared(_COMPARISONS[type(operation)], left, right)
                left = right
            else:
                raise Refused(f"{ast.unparse(node)!r} has no machine code")
            out = now if out is None else self.at.value(BOOL, f"and i1 {out.text}, {now.text}")
        assert out is not None
        return out

    def _among(self, x: Value, numbers: ast.Tuple) -> Value:
        out = constant(False)
        for number in numbers.elts:
            now = self.at.compared("eq", x, self.number(number))
            out = self.at.value(BOOL, f"or i1 {out.text}, {now.text}")
        return out

    def _boolop(self, node: ast.BoolOp) -> Value:
        return self._decided(node, self._bool)

    def _bool(self, node: ast.expr) -> Value:
        """A condition in ``and`` or ``or`` whose value counts: of numbers it is one of them."""
        out = self(node)
        if out.kind is not BOOL:
            raise Refused(f"{ast.unparse(node)!r} is {out.kind.name}, and must be bool unless this is a condition")
        return out

    def _decided(self, node: ast.BoolOp, operand: Callable[[ast.expr], Value]) -> Value:
        """``and`` and ``or``: later operands are evaluated only where they count."""
        at = self.at
        is_or = isinstance(node.op, ast.Or)
        done, ways = at.name("decided"), []
        for k, one in enumerate(node.values):
            value = operand(one)
            if k == len(node.values) - 1:
                ways.append((value.text, at.block))
                at.label(done)
            else:
                ways.append(("true" if is_or else "false", at.block))
                further = at.name("further")
                at.choose(value, *((done, further) if is_or else (further, done)))
                at.label(further)
        return at.value(BOOL, "phi i1 " + ", ".join(f"[{value}, %{block}]" for value, block in ways))

    def _ifexp(self, node: ast.IfExp) -> Value:
        at = self.at
        test = self.condition(node.test)
        if test.text in ("true", "false"):
            return self(node.body if test.text == "true" else node.orelse)
        yes, no, done = at.name("yes"), at.name("no"), at.name("done")
        kind = self._kind_of(node)
        at.choose(test, yes, no)
        ends, values = [], []
        for label, way in ((yes, node.body), (no, node.orelse)):
            at.label(label)
            values.append(at.converted(self(way), kind))
            ends.append(at.block)
            at.jump(done)
        at.label(done)
        registers = []
        for part, a, b in zip(kind.types, values[0].registers, values[1].registers, strict=True):
            registers.append(at.register(f"phi {part} [{a}, %{ends[0]}], [{b}, %{ends[1]}]"))
        return Value(kind, tuple(registers))

    def _kind_of(self, node: ast.IfExp) -> Kind:
        """The common kind of both ways; they are written once for it, into a body that nobody reads."""
        at, self.at = self.at, Body(self.at.floats)
        try:
            a, b = self(node.body).kind, self(node.orelse).kind
        finally:
            self.at = at
        kind = common(a, b)
        if kind is None:
            raise Refused(f"{ast.unparse(node)!r} is {a.name} or {b.name}: write both alike")
        return kind

    # ------------------------------------------------------------ calls

    def _call(self, node: ast.Call) -> Value:
        if node.keywords:
            raise Refused("functions are called without keywords")
        meant = self._meant(node.func)
        function = meant.kind.object if isinstance(meant.kind, Object) else None
        arguments = [self._table(self._meant(argument)) for argument in node.args]
        if function is len:
            return self._length(node, arguments)
        kinds = tuple(argument.kind for argument in arguments)
        callee = FUNCTIONS.get(function) if isinstance(function, Hashable) else None
        if callee is None:
            callee = self._text.callee(function, kinds)
            if callee is None:
                raise Refused(f"{ast.unparse(node.func)!r} has no machine code")
            if self.lane is not None:
                raise Refused("loops over each(n) call no functions")
        try:
            return callee(self.at, arguments)
        except Refused as why:
            raise Refused(f"{ast.unparse(node.func)} {why}") from None

    def _length(self, node: ast.Call, arguments: list[Value]) -> Value:
        if len(arguments) != 1 or not isinstance(arguments[0].kind, Array):
            raise Refused(f"{ast.unparse(node)!r} is no length of an array")
        return self.at.several(arrays.shape(self.at, arguments[0]))[0]
