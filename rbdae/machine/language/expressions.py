"""Expressions of kernels as LLVM IR."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, Protocol, TypeAlias, final

import numpy as np

from rbdae.machine.language import arrays
from rbdae.machine.language.body import Body
from rbdae.machine.language.kinds import (
    BOOL,
    FLOAT,
    INT,
    Array,
    Kind,
    Meaning,
    Number,
    Record,
    Several,
    Value,
    common,
    constant,
    contiguous,
    whole,
)
from rbdae.machine.language.mathematics import FUNCTIONS, power

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}


class KernelError(TypeError):
    """A kernel says something that has no machine code; the message has its file and line."""


Callee: TypeAlias = Callable[[Body, list[Value]], Value]
"""A kernel as its callers see it: writes a call."""


class Around(Protocol):
    """The translation that a kernel is part of."""

    def callee(self, value: Any, kinds: tuple[Kind, ...]) -> Callee | None:
        """A kernel for arguments of these kinds; None for what is none."""

    def table(self, numbers: tuple[float, ...]) -> str:
        """The address of a tuple of numbers."""


@final
class Expressions:
    """Writes the expressions of one kernel.

    Attributes
    ----------
    kinds, places : kinds of the local names, and where they are kept; a name with a kind and no place has no value yet
    """

    def __init__(
        self, function: FunctionType, at: Body, around: Around, refuse: Callable[[ast.AST, str], KernelError]
    ) -> None:
        self.at = at
        self.refuse = refuse
        self.kinds: dict[str, Kind] = {}
        self.places: dict[str, tuple[str, ...]] = {}
        self._around = around
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        self._outside = (
            {name: cell.cell_contents for name, cell in cells},
            function.__globals__,
            vars(builtins),
        )

    def __call__(self, node: ast.expr) -> Value:
        """The value of an expression."""
        out = self._meant(node)
        if isinstance(out, Value):
            return out
        if isinstance(out.object, tuple) and all(isinstance(x, float) for x in out.object):
            return Value(contiguous(FLOAT, (len(out.object),)), (self._around.table(out.object),))
        raise self.refuse(node, f"{ast.unparse(node)!r} is no number and no array")

    def number(self, node: ast.expr) -> Value:
        """The number that an expression is."""
        out = self(node)
        if not isinstance(out.kind, Number):
            raise self.refuse(node, f"{ast.unparse(node)!r} is {out.kind.name}, and must be a number")
        return out

    def condition(self, node: ast.expr) -> Value:
        """Whether an expression holds."""
        return self.at.truth(self.number(node))

    def _meant(self, node: ast.expr) -> Value | Meaning:
        """The value of an expression, or the object that it names."""
        write = getattr(self, f"_{type(node).__name__.lower()}", None)
        if write is None:
            raise self.refuse(node, f"{ast.unparse(node)!r} has no machine code")
        out: Value | Meaning = write(node)
        return out

    # ------------------------------------------------------------ names and numbers

    def _constant(self, node: ast.Constant) -> Value | Meaning:
        return self._of_object(node.value)

    @staticmethod
    def _of_object(value: Any) -> Value | Meaning:
        is_number = isinstance(value, (bool, int, float, np.integer, np.floating, np.bool_))
        return constant(value) if is_number else Meaning(value)

    def _name(self, node: ast.Name) -> Value | Meaning:
        if node.id in self.places:
            return self.at.value_of(self.kinds[node.id], self.places[node.id])
        for names in self._outside:
            if node.id in names:
                return self._of_object(names[node.id])
        raise self.refuse(node, f"{node.id!r} has no value here")

    def _tuple(self, node: ast.Tuple) -> Value:
        values = [self(part) for part in node.elts]
        return Value(Several(tuple(v.kind for v in values)), tuple(part for v in values for part in v.registers))

    def _attribute(self, node: ast.Attribute) -> Value | Meaning:
        if node.attr == "data" and isinstance(node.value, ast.Attribute) and node.value.attr == "ctypes":
            array = self(node.value.value)
            return Value(INT, (self.at.register(f"ptrtoint ptr {array.registers[0]} to i64"),))
        owner = self._meant(node.value)
        if isinstance(owner, Meaning):
            if isinstance(owner.object, ModuleType) and hasattr(owner.object, node.attr):
                return self._of_object(getattr(owner.object, node.attr))
            raise self.refuse(node, f"{ast.unparse(node)!r} has no machine code")
        if isinstance(owner.kind, Array) and node.attr in ("shape", "strides"):
            return {"shape": arrays.shape, "strides": arrays.strides}[node.attr](self.at, owner)
        return arrays.read(self.at, self._field(node, owner, node.attr))

    # ------------------------------------------------------------ entries and registers of arrays

    def _field(self, node: ast.AST, owner: Value, name: str) -> Value:
        """The place of a field."""
        place = arrays.field(self.at, owner, name) if isinstance(owner.kind, Record) else None
        if place is None:
            raise self.refuse(node, f"{owner.kind.name} has no {name!r}")
        return place

    def _subscript(self, node: ast.Subscript) -> Value | Meaning:
        owner = self._meant(node.value)
        if isinstance(owner, Meaning):
            if isinstance(owner.object, tuple) and (k := whole(self.number(node.slice))) is not None:
                return self._of_object(owner.object[k])
            owner = self(node.value)
        if isinstance(owner.kind, Several):
            return self._of_tuple(node, self.at.several(owner))
        return arrays.read(self.at, self._part(node, owner))

    def _of_tuple(self, node: ast.Subscript, values: list[Value]) -> Value:
        """A value of a tuple; if its place is not known, all of them are there, and it is chosen."""
        place = self.number(node.slice)
        k = whole(place)
        if k is not None:
            return values[k]
        kind = values[0].kind
        for value in values:
            wider = common(kind, value.kind)
            if wider is None:
                raise self.refuse(node, "the place in a tuple of different values must be known")
            kind = wider
        out = self.at.converted(values[-1], kind)
        for n, value in reversed(list(enumerate(values[:-1]))):
            out = self.at.chosen(self.at.compared("eq", place, constant(n)), self.at.converted(value, kind), out)
        return out

    def _part(self, node: ast.Subscript, array: Value) -> Value:
        """The place of an entry, or a part of an array."""
        given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not isinstance(array.kind, Array) or len(given) > len(array.kind.axes):
            raise self.refuse(node, f"{ast.unparse(node.value)!r} is {array.kind.name}, here with {len(given)} indices")
        indices = [self._range(one) if isinstance(one, ast.Slice) else self.index(one) for one in given]
        return arrays.part(self.at, array, indices)

    def index(self, node: ast.expr) -> Value:
        """A whole number that counts from the beginning."""
        out = self.number(node)
        n = whole(out)
        if out.kind is FLOAT or (n is not None and n < 0):
            raise self.refuse(node, f"{ast.unparse(node)!r} is no index: those are whole, and count from the beginning")
        return self.at.converted(out, INT)

    def _range(self, part: ast.Slice) -> arrays.Part:
        if part.step is not None:
            raise self.refuse(part, "slices have no step")
        first = constant(0) if part.lower is None else self.index(part.lower)
        if part.upper is None:
            return arrays.Part(first, None)
        n = None if part.lower is None else _difference(part.upper, part.lower)
        return arrays.Part(first, self.at.arithmetic("-", self.index(part.upper), first) if n is None else constant(n))

    def place(self, node: ast.expr) -> tuple[Number, str]:
        """Kind and address of an entry or a field that is assigned to."""
        if isinstance(node, ast.Attribute):
            place = self._field(node, self(node.value), node.attr)
        else:
            assert isinstance(node, ast.Subscript)
            place = self._part(node, self(node.value))
        found = arrays.number_at(place)
        if found is None:
            raise self.refuse(node, f"cannot assign to {ast.unparse(node)!r}, which is no number: write a loop")
        return found

    # ------------------------------------------------------------ arithmetic

    def _binop(self, node: ast.BinOp) -> Value:
        return self.binary(node, type(node.op), self.number(node.left), self.number(node.right))

    def binary(self, node: ast.AST, operation: type[ast.operator], a: Value, b: Value) -> Value:
        """a operation b."""
        at = self.at
        if operation in _SIGNS:
            return at.arithmetic(_SIGNS[operation], a, b)
        if operation is ast.Pow and whole(b) == 2:
            return at.arithmetic("*", a, a)
        if operation is ast.Pow:
            return power(at, [a, b])
        if operation in (ast.FloorDiv, ast.Mod) and FLOAT not in (a.kind, b.kind):
            return at.floored(at.converted(a, INT), at.converted(b, INT), rest=operation is ast.Mod)
        raise self.refuse(node, f"{operation.__name__} of {a.kind.name} and {b.kind.name} has no machine code")

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value(BOOL, (self.at.register(f"xor i1 {self.condition(node.operand).text}, true"),))
        x = self.number(node.operand)
        if isinstance(node.op, ast.UAdd):
            return x
        if not isinstance(node.op, ast.USub):
            raise self.refuse(node, f"{ast.unparse(node)!r} has no machine code")
        if x.kind is FLOAT:
            return Value(FLOAT, (self.at.register(f"fneg double {x.text}"),))
        return self.at.arithmetic("-", constant(0), x)

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
                raise self.refuse(node, f"{ast.unparse(node)!r} has no machine code")
            out = now if out is None else Value(BOOL, (self.at.register(f"and i1 {out.text}, {now.text}"),))
        assert out is not None
        return out

    def _among(self, x: Value, numbers: ast.Tuple) -> Value:
        out = constant(False)
        for number in numbers.elts:
            now = self.at.compared("eq", x, self.number(number))
            out = Value(BOOL, (self.at.register(f"or i1 {out.text}, {now.text}"),))
        return out

    def _boolop(self, node: ast.BoolOp) -> Value:
        """``and`` and ``or``: later operands are evaluated only where they count."""
        at = self.at
        is_or = isinstance(node.op, ast.Or)
        done, ways = at.name("decided"), []
        for k, operand in enumerate(node.values):
            value = self.condition(operand)
            if k == len(node.values) - 1:
                ways.append((value.text, at.block))
                at.label(done)
            else:
                ways.append(("true" if is_or else "false", at.block))
                further = at.name("further")
                at.choose(value, *((done, further) if is_or else (further, done)))
                at.label(further)
        return Value(BOOL, (at.register("phi i1 " + ", ".join(f"[{value}, %{block}]" for value, block in ways)),))

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
        at, self.at = self.at, Body()
        try:
            a, b = self(node.body).kind, self(node.orelse).kind
        finally:
            self.at = at
        kind = common(a, b)
        if kind is None:
            raise self.refuse(node, f"{ast.unparse(node)!r} is {a.name} or {b.name}: write both alike")
        return kind

    # ------------------------------------------------------------ calls

    def _call(self, node: ast.Call) -> Value | Meaning:
        if node.keywords:
            raise self.refuse(node, "kernels are called without keywords")
        meant = self._meant(node.func)
        function = meant.object if isinstance(meant, Meaning) else None
        if getattr(function, "name", "") == "carray":
            return self._carray(node)
        if function is len:
            (array,) = map(self, node.args)
            return self.at.axes(array)[0][0]
        arguments = [self(argument) for argument in node.args]
        written = FUNCTIONS.get(function) if isinstance(function, Callable) else None  # type: ignore[arg-type]
        if written is not None:
            return written(self.at, arguments)
        callee = self._around.callee(function, tuple(argument.kind for argument in arguments))
        if callee is None:
            raise self.refuse(node, f"{ast.unparse(node.func)!r} is no kernel")
        return callee(self.at, arguments)

    def _carray(self, node: ast.Call) -> Value:
        """carray(pointer, shape, dtype)."""
        pointer, shape, dtype = node.args
        meant = self._meant(dtype)
        assert isinstance(meant, Meaning)
        return arrays.opened(self.at, self(pointer).text, self(shape), meant.object)


def _difference(upper: ast.expr, lower: ast.expr) -> int | None:
    """n of a slice [k : k + n] or [n * i + j : ...]; None where it is not seen."""
    if (
        isinstance(upper, ast.BinOp)
        and isinstance(upper.op, ast.Add)
        and isinstance(upper.right, ast.Constant)
        and isinstance(upper.right.value, int)
        and ast.dump(upper.left) == ast.dump(lower)
    ):
        return upper.right.value
    return None


__all__ = ["Around", "Callee", "Expressions", "KernelError"]
