"""Expressions of native functions as LLVM IR."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Hashable, Mapping
from types import FunctionType, ModuleType
from typing import Any, final

from rbdae.machine.native import words
from rbdae.machine.native.builtin import BUILTINS, compare, intrinsic, same, to_float
from rbdae.machine.native.emitter import Emitter, constant
from rbdae.machine.native.types import NativeError, Source, Type, Value, source_of

_NUMBERS = (Type.INT, Type.FLOAT, Type.LANES)
_FLOAT_OPERATIONS = {ast.Add: "fadd contract", ast.Sub: "fsub contract", ast.Mult: "fmul contract", ast.Div: "fdiv"}
_INT_OPERATIONS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
_COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
_EVALUATED = (Type.FUNCTION, Type.ADDRESS, Type.FLOAT, Type.VEC, Type.VEC, Type.FLOAT, Type.VEC)


@final
class Expressions:
    """Writes the expressions of one function.

    Parameters
    ----------
    source : the function
    at : where instructions go
    bindings : names that stand for other functions or numbers than those of the function's module
    called : is told of every native function that is called

    Attributes
    ----------
    locals, assigned : local names with their types and addresses; those that have a value by now
    lane : the name that counts a loop over each(n), inside of one
    """

    def __init__(
        self, source: Source, at: Emitter, bindings: Mapping[str, Any], called: Callable[[Source], None]
    ) -> None:
        self.source, self.at = source, at
        self._bindings, self._called = bindings, called
        self.locals: dict[str, tuple[Type, str]] = {}
        self.assigned: set[str] = set()
        self.lane: str | None = None

    def error(self, node: ast.AST, what: str) -> NativeError:
        """An error at a part of the function."""
        return self.source.error(node, what)

    def _nothing(self, node: ast.AST) -> NativeError:
        return self.error(node, f"{ast.unparse(node)!r} has no machine code")

    def __call__(self, node: ast.expr) -> Value:
        """The value of an expression."""
        write = getattr(self, f"_{type(node).__name__.lower()}", None)
        if write is None:
            raise self._nothing(node)
        value: Value = write(node)
        return value

    def number(self, node: ast.expr) -> Value:
        """An int or a float."""
        return self._typed(node, self(node), *_NUMBERS)

    def of_type(self, node: ast.expr, kind: Type) -> Value:
        """A value of a type, an int as a float."""
        value = self(node)
        return (
            to_float(self.at, value)
            if kind is Type.FLOAT and value.type is Type.INT
            else self._typed(node, value, kind)
        )

    def _typed(self, node: ast.expr, value: Value, *kinds: Type) -> Value:
        if value.type not in kinds:
            wanted = " or ".join(kind.value for kind in kinds)
            raise self.error(node, f"{ast.unparse(node)!r} is {value.type.value}, and must be {wanted}")
        return value

    def known(self, name: str) -> Any:
        """The object that a name means outside of the function; None for nothing."""
        for names in (self._bindings, self.source.function.__globals__, vars(builtins)):
            if name in names:
                return names[name]
        return None

    # ------------------------------------------------------------ names and numbers

    def _constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, (bool, int, float)):
            raise self._nothing(node)
        return constant(node.value)

    def _name(self, node: ast.Name) -> Value:
        if node.id == self.lane:
            raise self.error(node, f"{node.id!r} counts a loop over each(n): it stands in v[{node.id}] only")
        if node.id in self.locals:
            if node.id not in self.assigned:
                raise self.error(node, f"{node.id!r} may be read before it is assigned")
            return self.at.load(*self.locals[node.id])
        value = self.known(node.id)
        if not isinstance(value, (bool, int, float)):
            raise self.error(node, f"{node.id!r} is no local name and no number of the module")
        return constant(value)

    def _attribute(self, node: ast.Attribute) -> Value:
        module = self.known(node.value.id) if isinstance(node.value, ast.Name) else None
        value = getattr(module, node.attr, None) if isinstance(module, ModuleType) else None
        if not isinstance(value, (bool, int, float)):
            raise self.error(node, f"{ast.unparse(node)!r} is no number of a module")
        return constant(value)

    def _subscript(self, node: ast.Subscript) -> Value:
        if isinstance(node.slice, ast.Slice):
            part = node.slice
            if part.upper is not None or part.step is not None or part.lower is None:
                raise self.error(node, "the only slices are v[k:]")
            vector = self(node.value)
            return Value(vector.type, self._place(node, vector, part.lower))
        vector = self(node.value)
        address = self._place(node, vector, node.slice)
        return self.at.load(self._entry(node, vector), address)

    def address(self, node: ast.Subscript) -> tuple[Type, str]:
        """Type and address of an entry v[i]."""
        if isinstance(node.slice, ast.Slice):
            raise self.error(node, "slices cannot be assigned to: write a loop")
        vector = self(node.value)
        address = self._place(node, vector, node.slice)
        return self._entry(node, vector), address

    def _entry(self, node: ast.Subscript, vector: Value) -> Type:
        """The type of v[i]: a vector register in a loop over each(n)."""
        assert vector.type.entry is not None
        if not (isinstance(node.slice, ast.Name) and node.slice.id == self.lane):
            return vector.type.entry
        if vector.type is not Type.VEC:
            raise self.error(node, "loops over each(n) have floats only")
        return Type.LANES

    def _place(self, node: ast.Subscript, vector: Value, index: ast.expr) -> str:
        entry = vector.type.entry
        if entry is None:
            raise self.error(node, f"{ast.unparse(node.value)!r} is {vector.type.value} and has no entries")
        if isinstance(index, ast.UnaryOp):
            raise self.error(index, "indices count from the beginning")
        if isinstance(index, ast.Name) and index.id == self.lane:
            k = self.at.load(*self.locals[index.id])
        else:
            k = self._typed(index, self(index), Type.INT)
        return self.at.value(vector.type, f"getelementptr {entry.llvm}, ptr {vector.text}, i64 {k.text}").text

    # ------------------------------------------------------------ arithmetic

    def _binop(self, node: ast.BinOp) -> Value:
        return self.binary(node, type(node.op), self.number(node.left), self.number(node.right))

    def binary(self, node: ast.AST, operation: type[ast.operator], a: Value, b: Value) -> Value:
        """a operation b."""
        at = self.at
        if operation is ast.Pow:
            if b == constant(2) or b == constant(2.0):
                return self.binary(node, ast.Mult, a, a)
            return intrinsic("pow")(at, [a, b])
        if operation in (ast.FloorDiv, ast.Mod) and a.type is b.type is Type.INT:
            return self._floored(operation, a, b)
        a, b = same(at, *((to_float(at, a), to_float(at, b)) if operation is ast.Div else (a, b)))
        names: Mapping[Any, str] = _INT_OPERATIONS if a.type is Type.INT else _FLOAT_OPERATIONS
        if operation not in names:
            raise self.error(node, f"{operation.__name__} has no machine code for {a.type.value}")
        return at.value(a.type, f"{names[operation]} {a.type.llvm} {a.text}, {b.text}")

    def _floored(self, operation: type[ast.operator], a: Value, b: Value) -> Value:
        """Python's // and %, which round towards minus infinity; the processor rounds towards zero."""
        at = self.at
        quotient = at.value(Type.INT, f"sdiv i64 {a.text}, {b.text}")
        rest = at.value(Type.INT, f"srem i64 {a.text}, {b.text}")
        signs = at.value(Type.INT, f"xor i64 {rest.text}, {b.text}")
        differ, left = compare(at, "lt", signs, constant(0)), compare(at, "ne", rest, constant(0))
        below = at.value(Type.BOOL, f"and i1 {differ.text}, {left.text}")
        if operation is ast.Mod:
            shift = at.value(Type.INT, f"select i1 {below.text}, i64 {b.text}, i64 0")
            return at.value(Type.INT, f"add i64 {rest.text}, {shift.text}")
        one = at.value(Type.INT, f"zext i1 {below.text} to i64")
        return at.value(Type.INT, f"sub i64 {quotient.text}, {one.text}")

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.at.value(Type.BOOL, f"xor i1 {self.of_type(node.operand, Type.BOOL).text}, true")
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            number = node.operand.value
            if isinstance(number, (int, float)):
                return constant(-number)
        x = self.number(node.operand)
        if isinstance(node.op, ast.UAdd):
            return x
        if not isinstance(node.op, ast.USub):
            raise self._nothing(node)
        if x.type is not Type.INT:
            return self.at.value(x.type, f"fneg {x.type.llvm} {x.text}")
        return self.at.value(Type.INT, f"sub i64 0, {x.text}")

    # ------------------------------------------------------------ conditions

    def _compare(self, node: ast.Compare) -> Value:
        out: Value | None = None
        left = self.number(node.left)
        for operation, part in zip(node.ops, node.comparators, strict=True):
            if type(operation) not in _COMPARISONS:
                raise self._nothing(node)
            right = self.number(part)
            now = compare(self.at, _COMPARISONS[type(operation)], left, right)
            out = now if out is None else self.at.value(Type.BOOL, f"and i1 {out.text}, {now.text}")
            left = right
        assert out is not None
        return out

    def _boolop(self, node: ast.BoolOp) -> Value:
        """``and`` and ``or``: later operands are evaluated only where they count."""
        at = self.at
        decided = constant(isinstance(node.op, ast.Or)).text
        done, ways = at.name("decided"), []
        for k, operand in enumerate(node.values):
            value = self.of_type(operand, Type.BOOL)
            if k == len(node.values) - 1:
                ways.append((value.text, at.block))
                at.label(done)
            else:
                ways.append((decided, at.block))
                further = at.name("further")
                at.choose(value, *((done, further) if decided == "true" else (further, done)))
                at.label(further)
        return at.value(Type.BOOL, "phi i1 " + ", ".join(f"[{value}, %{block}]" for value, block in ways))

    def _ifexp(self, node: ast.IfExp) -> Value:
        at = self.at
        yes, no, done = at.name("yes"), at.name("no"), at.name("done")
        at.choose(self.of_type(node.test, Type.BOOL), yes, no)
        at.label(yes)
        a = self(node.body)
        end_a = at.block
        at.jump(done)
        at.label(no)
        b = self(node.orelse)
        if a.type is not b.type:
            raise self.error(node, f"{ast.unparse(node)!r} is {a.type.value} or {b.type.value}: write both alike")
        end_b = at.block
        at.label(done)
        return at.value(a.type, f"phi {a.type.llvm} [{a.text}, %{end_a}], [{b.text}, %{end_b}]")

    # ------------------------------------------------------------ calls

    def _call(self, node: ast.Call) -> Value:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise self.error(node, "calls are of named functions, with plain arguments")
        function = self.known(node.func.id)
        if not callable(function):
            raise self.error(node, f"{node.func.id!r} is no function")
        if function is words.evaluate:
            return self._evaluate(node)
        if not isinstance(function, FunctionType):
            return self._builtin(node, function)
        if self.lane is not None:
            raise self.error(node, "loops over each(n) call no functions")
        called = source_of(function)
        expected = [kind for _, kind in called.parameters]
        self._called(called)
        text = f'call {called.result.llvm} @"{called.name}"({self._arguments(node, expected)})'
        if called.result is Type.NONE:
            self.at.add(text)
            return Value(Type.NONE, "")
        return self.at.value(called.result, text)

    def _arguments(self, node: ast.Call, expected: list[Type]) -> str:
        if len(node.args) != len(expected):
            raise self.error(node, f"{ast.unparse(node.func)} takes {len(expected)} arguments, not {len(node.args)}")
        values = [self.of_type(argument, kind) for argument, kind in zip(node.args, expected, strict=True)]
        return ", ".join(f"{value.type.llvm} {value.text}" for value in values)

    def _evaluate(self, node: ast.Call) -> Value:
        function = self.of_type(node.args[0], Type.FUNCTION) if node.args else None
        arguments = self._arguments(node, list(_EVALUATED)).partition(", ")[2]
        assert function is not None
        flag = self.at.value(Type.INT, f"call i32 {function.text}({arguments})")
        return self.at.value(Type.INT, f"sext i32 {flag.text} to i64")

    def _builtin(self, node: ast.Call, function: Any) -> Value:
        if not isinstance(function, Hashable) or function not in BUILTINS:
            raise self._nothing(node.func)
        least, most, write = BUILTINS[function]
        if not least <= len(node.args) <= most:
            raise self.error(node, f"{ast.unparse(node.func)} does not take {len(node.args)} arguments")
        kinds = (*_NUMBERS, Type.BOOL) if function is int else _NUMBERS
        return write(self.at, [self._typed(argument, self(argument), *kinds) for argument in node.args])


__all__ = ["Expressions"]
