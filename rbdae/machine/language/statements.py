"""Functions as LLVM IR: their expressions, their statements, and the whole."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, TypeAlias, final

from rbdae.machine.language.body import Body
from rbdae.machine.language.kinds import (
    BOOL,
    FLOAT,
    INT,
    LANES,
    NOTHING,
    WIDTH,
    Kind,
    Number,
    Refused,
    Value,
    Vector,
    common,
    constant,
    whole,
)
from rbdae.machine.language.mathematics import FUNCTIONS, power
from rbdae.machine.language.source import Source

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}

Call: TypeAlias = Callable[[Body, Any, list[Value]], Value]
"""Writes the call of a function that is none of numbers."""


@final
class Expressions:
    """Writes the expressions of one function.

    Attributes
    ----------
    kinds, places : kinds of the local names, and where they are kept
    assigned : those that have a value by now
    lane : the name that counts a loop over each(n), inside of one
    """

    def __init__(self, source: Source, at: Body, bound: Mapping[str, Any], call: Call) -> None:
        self.at = at
        self.kinds: dict[str, Kind] = {}
        self.places: dict[str, str] = {}
        self.assigned: set[str] = set()
        self.lane: str | None = None
        self._source, self._called = source, call
        self._local = source.function.__code__.co_varnames
        self._outside = (bound, source.function.__globals__, vars(builtins))

    def __call__(self, node: ast.expr) -> Value:
        write = getattr(self, f"_{type(node).__name__.lower()}", None)
        try:
            if write is None:
                raise Refused(f"{ast.unparse(node)!r} has no machine code")
            out: Value = write(node)
        except Refused as why:
            raise self._source.error(node, why) from None
        return out

    def number(self, node: ast.expr) -> Value:
        """The number that an expression is."""
        out = self(node)
        if not isinstance(out.kind, Number):
            raise Refused(f"{ast.unparse(node)!r} is {out.kind.name}, and must be a number")
        return out

    def _object(self, node: ast.expr) -> Any:
        """The object of Python that a name means, or the one of a module; None for values of this function."""
        if isinstance(node, ast.Name) and node.id not in self._local:
            for names in self._outside:
                if node.id in names:
                    return names[node.id]
            raise Refused(f"{node.id!r} has no value here")
        if isinstance(node, ast.Attribute) and isinstance(module := self._object(node.value), ModuleType):
            return getattr(module, node.attr, None)
        return None

    def _constant(self, node: ast.Constant) -> Value:
        return self._known(node, node.value)

    def _known(self, node: ast.expr, value: Any) -> Value:
        if isinstance(value, (bool, int, float)):
            return constant(value)
        raise Refused(f"{ast.unparse(node)!r} is no number and no array")

    def _name(self, node: ast.Name) -> Value:
        if node.id == self.lane:
            raise Refused(f"{node.id!r} counts a loop over each(n): it stands in v[{node.id}] only")
        if node.id in self.assigned:
            return self.at.value_at(self.kinds[node.id], self.places[node.id])
        if node.id in self._local:
            raise Refused(f"{node.id!r} may be read before it is assigned")
        return self._known(node, self._object(node))

    def _attribute(self, node: ast.Attribute) -> Value:
        known = self._object(node)
        if known is not None:
            return self._known(node, known)
        kind, address = self.at.field(self(node.value), node.attr)
        return self.at.read(kind, address) if isinstance(kind, Number) else Value(kind, address)

    def _subscript(self, node: ast.Subscript) -> Value:
        if not isinstance(node.slice, ast.Slice):
            return self.at.read(*self._entry(node))
        if node.slice.lower is None or node.slice.upper is not None or node.slice.step is not None:
            raise Refused("slices have a beginning only, v[k:]")
        vector = self._vector(node.value)
        return Value(vector.kind, self.at.moved(vector.text, self.index(node.slice.lower)))

    def _vector(self, node: ast.expr) -> Value:
        out = self(node)
        if not isinstance(out.kind, Vector):
            raise Refused(f"{ast.unparse(node)!r} is {out.kind.name}, and no vector")
        return out

    def _entry(self, node: ast.Subscript) -> tuple[Number, str]:
        """Kind and address of an entry; in a loop over each(n) of those in a vector register."""
        vector = self._vector(node.value)
        assert isinstance(vector.kind, Vector)
        if not (isinstance(node.slice, ast.Name) and node.slice.id == self.lane):
            return vector.kind.entry, self.at.moved(vector.text, self.index(node.slice))
        if vector.kind.entry is not FLOAT:
            raise Refused("loops over each(n) have floats only")
        return LANES, self.at.moved(vector.text, self.at.value_at(INT, self.places[node.slice.id]))

    def index(self, node: ast.expr, least: int | None = 0) -> Value:
        """A whole number, which counts from the beginning unless there is no least one."""
        out = self.number(node)
        n = whole(out)
        if out.kind is not INT or (n is not None and least is not None and n < least):
            raise Refused(f"{ast.unparse(node)!r} is no index: those are whole, and count from the beginning")
        return out

    def place(self, node: ast.expr) -> tuple[Number, str]:
        """Kind and address of an entry or a field that is assigned to."""
        kind, address = None, ""
        if isinstance(node, ast.Attribute):
            kind, address = self.at.field(self(node.value), node.attr)
        elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            kind, address = self._entry(node)
        if not isinstance(kind, Number):
            raise Refused(f"cannot assign to {ast.unparse(node)!r}, which is no number: write a loop")
        return kind, address

    # ------------------------------------------------------------ conditions and arithmetic

    def condition(self, node: ast.expr) -> Value:
        """Whether an expression holds; of numbers, ``and`` and ``or`` would be one of them in Python."""
        out = self(node)
        if out.kind is not BOOL:
            raise Refused(f"{ast.unparse(node)!r} is {out.kind.name}, and must be bool")
        return out

    def _binop(self, node: ast.BinOp) -> Value:
        return self.binary(type(node.op), self.number(node.left), self.number(node.right))

    def binary(self, operation: type[ast.operator], a: Value, b: Value) -> Value:
        """a operation b."""
        at = self.at
        if operation in _SIGNS:
            return at.arithmetic(_SIGNS[operation], a, b)
        if operation is ast.Pow:
            return at.arithmetic("*", a, a) if whole(b) == 2 else power(at, a, b)
        if operation in (ast.FloorDiv, ast.Mod) and a.kind is b.kind is INT:
            return at.floored(a, b, rest=operation is ast.Mod)
        raise Refused(f"{operation.__name__} of {a.kind.name} and {b.kind.name} has no machine code")

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.at.value(BOOL, f"xor i1 {self.condition(node.operand).text}, true")
        x = self.number(node.operand)
        if not isinstance(node.op, ast.USub):
            raise Refused(f"{ast.unparse(node)!r} has no machine code")
        assert isinstance(x.kind, Number)
        if x.kind is INT:
            return self.at.arithmetic("-", constant(0), x)
        return self.at.value(x.kind, f"fneg {x.kind.llvm} {x.text}")

    def _compare(self, node: ast.Compare) -> Value:
        out: Value | None = None
        left = self.number(node.left)
        for operation, right_node in zip(node.ops, node.comparators, strict=True):
            if type(operation) not in _COMPARISONS:
                raise Refused(f"{ast.unparse(node)!r} has no machine code")
            right = self.number(right_node)
            now = self.at.compared(_COMPARISONS[type(operation)], left, right)
            left = right
            out = now if out is None else self.at.value(BOOL, f"and i1 {out.text}, {now.text}")
        assert out is not None
        return out

    def _boolop(self, node: ast.BoolOp) -> Value:
        """``and`` and ``or``: later operands are evaluated only where they count."""
        at = self.at
        is_or = isinstance(node.op, ast.Or)
        done, ways = at.name("decided"), []
        for k, one in enumerate(node.values):
            value = self.condition(one)
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
        yes, no, done = at.name("yes"), at.name("no"), at.name("done")
        at.choose(test, yes, no)
        ends = []
        for label, branch in ((yes, node.body), (no, node.orelse)):
            at.label(label)
            ends.append((self(branch), at.block))
            at.jump(done)
        at.label(done)
        (a, end), (b, other) = ends
        if a.kind != b.kind:
            raise Refused(f"{ast.unparse(node)!r} is {a.kind.name} or {b.kind.name}: write both alike")
        return at.value(a.kind, f"phi {a.kind.llvm} [{a.text}, %{end}], [{b.text}, %{other}]")

    def _call(self, node: ast.Call) -> Value:
        if node.keywords:
            raise Refused("functions are called without keywords")
        function = self._object(node.func)
        arguments = [self(argument) for argument in node.args]
        of_numbers = FUNCTIONS.get(function) if isinstance(function, Hashable) else None
        try:
            if of_numbers is None:
                if self.lane is not None:
                    raise Refused("is called: loops over each(n) call no functions")
                return self._called(self.at, function, arguments)
            if not of_numbers.least <= len(arguments) <= of_numbers.most:
                raise Refused(f"does not take {len(arguments)} arguments")
            if other := [x.kind.name for x in arguments if not isinstance(x.kind, Number)]:
                raise Refused(f"takes numbers, and here {other[0]}")
            return of_numbers.written(self.at, *arguments)
        except Refused as why:
            raise Refused(f"{ast.unparse(node.func)} {why}") from None


@final
class Written:
    """A native function as text.

    Parameters
    ----------
    source : of the function
    kinds, result : of its arguments, and of what it returns
    bound : names that stand for other objects than those of the function's module
    call : writes calls
    """

    def __init__(
        self, source: Source, kinds: Sequence[Kind], result: Kind, bound: Mapping[str, Any], call: Call
    ) -> None:
        self._source, self._result, self._at = source, result, Body()
        self._value = Expressions(source, self._at, bound, call)
        self._loops: list[tuple[str, str]] = []  # where continue and break lead
        self._left: set[str] = set()  # where breaks have led
        self._arguments = ", ".join(f"{kind.llvm} %in.{k}" for k, kind in enumerate(kinds))
        for k, (argument, kind) in enumerate(zip(source.tree.args.args, kinds, strict=True)):
            self._name(argument.arg, Value(kind, f"%in.{k}"))
        self._all(source.tree.body)
        if not self._at.ended:
            if result is not NOTHING:
                raise source.error(source.tree, "may end without a return")
            self._at.end("ret void")

    def definition(self, symbol: str, linkage: str, how: str) -> str:
        """The function with a symbol."""
        head = f'define {linkage}{self._result.llvm} @"{symbol}"({self._arguments}) {how}'
        return f"{head} {{\n{self._at.text()}\n}}"

    def _all(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self._at.ended:
                return
            write = getattr(self, f"_{type(statement).__name__.lower()}", None)
            try:
                if write is None:
                    raise Refused(f"{type(statement).__name__} has no machine code")
                write(statement)
            except Refused as why:
                raise self._source.error(statement, why) from None

    def _expr(self, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            self._value(node.value)

    # ------------------------------------------------------------ assignments

    def _assign(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            raise Refused("assign to one name at a time")
        self._to(node.targets[0], self._value(node.value))

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            raise Refused("a local name needs a value")
        self._to(node.target, self._value(node.value))

    def _augassign(self, node: ast.AugAssign) -> None:
        target, value = node.target, self._value
        if isinstance(target, ast.Name):
            before = value.number(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            self._name(target.id, value.binary(type(node.op), before, value.number(node.value)))
            return
        kind, address = value.place(target)
        added = value.number(node.value)
        after = value.binary(type(node.op), self._at.read(kind, address), added)
        self._write(target, kind, address, after)

    def _to(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._name(target.id, value)
        elif isinstance(target, (ast.Subscript, ast.Attribute)):
            self._write(target, *self._value.place(target), value)
        else:
            raise Refused(f"cannot assign to {ast.unparse(target)!r}")

    def _write(self, target: ast.expr, kind: Kind, address: str, value: Value) -> None:
        if common(kind, value.kind) != kind:
            raise Refused(f"{ast.unparse(target)!r} is {kind.name} and gets {value.kind.name}")
        self._at.write(self._at.converted(value, kind), address)

    def _name(self, name: str, value: Value) -> None:
        """A name keeps the kind of its first value."""
        if value.kind is NOTHING:
            raise Refused(f"{name!r} gets no value")
        kind = self._value.kinds.setdefault(name, value.kind)
        if common(kind, value.kind) != kind:
            raise Refused(f"{name!r} is {kind.name} and gets {value.kind.name}")
        if name not in self._value.places:
            self._value.places[name] = self._at.room(kind.llvm, name)
        self._at.assign(self._at.converted(value, kind), self._value.places[name])
        self._value.assigned.add(name)

    def _return(self, node: ast.Return) -> None:
        value = Value(NOTHING, "") if node.value is None else self._value(node.value)
        if common(self._result, value.kind) != self._result:
            raise Refused(f"returns {self._result.name}, and here {value.kind.name}")
        out = self._at.converted(value, self._result)
        self._at.end(f"ret {out.kind.llvm} {out.text}".rstrip())

    # ------------------------------------------------------------ branches and loops

    def _if(self, node: ast.If) -> None:
        at = self._at
        test = self._value.condition(node.test)
        yes, no, done = at.name("if"), at.name("else"), at.name("done")
        at.choose(test, yes, no)
        before, ends = self._value.assigned, []
        for label, statements in ((yes, node.body), (no, node.orelse)):
            at.label(label)
            self._value.assigned = set(before)
            self._all(statements)
            if not at.ended:
                ends.append(self._value.assigned)
                at.jump(done)
        if ends:
            self._value.assigned = set.intersection(*ends)
            at.label(done)

    @contextmanager
    def _loop(self, again: str, done: str) -> Iterator[None]:
        """The body of a loop, of which later statements know nothing: it may not run."""
        before = set(self._value.assigned)
        self._loops.append((again, done))
        yield
        self._loops.pop()
        self._value.assigned = before

    def _while(self, node: ast.While) -> None:
        at = self._at
        if node.orelse:
            raise Refused("loops have no else")
        again, body, done = at.name("while"), at.name("do"), at.name("done")
        at.label(again)
        test = self._value.condition(node.test)
        at.choose(test, body, done) if test.text != "true" else at.jump(body)
        at.label(body)
        with self._loop(again, done):
            self._all(node.body)
        at.jump(again)
        if test.text != "true" or done in self._left:
            at.label(done)

    def _for(self, node: ast.For) -> None:
        """A counter of its own: the body may change the name that it counts with, as in Python."""
        at = self._at
        start, stop, step, parallel = self._range(node)
        assert isinstance(node.target, ast.Name)
        counter = at.room("i64", "counter")
        at.add(f"store i64 {start.text}, ptr {counter}")
        again, body, further, done = (at.name(hint) for hint in ("for", "do", "next", "done"))
        at.label(again)
        k = at.value_at(INT, counter)
        at.choose(at.compared("lt" if step > 0 else "gt", k, stop), body, done)
        at.label(body)
        with self._loop(further, done):
            self._name(node.target.id, k)
            if parallel:
                self._lanes(node.body, node.target.id)
            else:
                self._all(node.body)
        at.label(further)
        k = at.value_at(INT, counter)
        if step == WIDTH and whole(stop) is None:
            # a sum that may wrap: LLVM unrolls loops whose passes it can count, which takes as long as all else, and
            # gains nothing where each pass does four entries already
            k = at.value(INT, f"add i64 {k.text}, {step}")
        else:
            k = at.arithmetic("+", k, constant(step))
        at.add(f"store i64 {k.text}, ptr {counter}")
        at.jump(again)
        at.label(done)

    def _range(self, node: ast.For) -> tuple[Value, Value, int, bool]:
        """Start, stop and step of a loop, and whether it is one over each(n)."""
        call = node.iter
        word = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        if word not in ("range", "each") or node.orelse or not isinstance(node.target, ast.Name):
            raise Refused("loops are `for i in range(...)` or `for i in each(n)`, without else")
        assert isinstance(call, ast.Call)
        limits = [self._value.index(argument, least=None) for argument in call.args]
        if not 1 <= len(limits) <= (1 if word == "each" else 3):
            raise Refused(f"{word} does not take {len(limits)} arguments")
        step = WIDTH if word == "each" else whole(limits[2]) if len(limits) == 3 else 1
        if not step:
            raise Refused("the step of a range is a whole number, and not zero")
        start, stop = (constant(0), limits[0]) if len(limits) == 1 else limits[:2]
        return start, stop, step, word == "each"

    def _lanes(self, statements: Sequence[ast.stmt], counter: str) -> None:
        value = self._value
        outside, kinds = set(value.places), value.kinds
        value.kinds = {name: kind for name, kind in kinds.items() if name in outside}
        value.lane = counter
        for statement in statements:
            if not isinstance(statement, (ast.Assign, ast.AugAssign)):
                what = type(statement).__name__
                raise self._source.error(statement, f"loops over each(n) consist of assignments, not of {what}")
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            own = isinstance(target, ast.Name) and target.id not in outside
            if not own and not (isinstance(target, ast.Subscript) and ast.unparse(target.slice) == counter):
                raise self._source.error(statement, "loops over each(n) assign to v[i] and to names of their own")
        self._all(statements)
        value.lane, value.kinds = None, kinds
        value.places = {name: place for name, place in value.places.items() if name in outside}

    def _break(self, node: ast.Break) -> None:
        self._left.add(self._loops[-1][1])
        self._at.jump(self._loops[-1][1])

    def _continue(self, node: ast.Continue) -> None:
        self._at.jump(self._loops[-1][0])
