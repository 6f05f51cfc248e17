"""Functions as LLVM IR: their expressions, their statements, and the whole."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import final

from rbdae.machine.language import arrays
from rbdae.machine.language.body import Body
from rbdae.machine.language.calls import packed, passed, returned
from rbdae.machine.language.kinds import (
    BOOL,
    FLOAT,
    INT,
    LANES,
    NOTHING,
    WIDTH,
    Array,
    Kind,
    Number,
    Object,
    Record,
    Refused,
    Several,
    Value,
    common,
    constant,
    contiguous,
    named,
    whole,
)
from rbdae.machine.language.mathematics import FUNCTIONS, power
from rbdae.machine.language.source import Source, source_of
from rbdae.machine.language.text import Text

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}


@final
class Expressions:
    """Writes the expressions of one function.

    Attributes
    ----------
    kinds, places : kinds of the local names, and where they are kept
    assigned : those that have a value by now
    lane : the name that counts a loop over each(n), inside of one
    """

    def __init__(self, source: Source, at: Body, text: Text, kinds: dict[str, Kind]) -> None:
        self.at, self.kinds = at, kinds
        self.places: dict[str, tuple[str, ...]] = {}
        self.assigned: set[str] = set()
        self.lane: str | None = None
        self._source, self._text = source, text
        function: FunctionType = source.function
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        enclosing = {name: cell.cell_contents for name, cell in cells}
        self._local = function.__code__.co_varnames
        self._outside = (text.bound, enclosing, function.__globals__, vars(builtins))

    def __call__(self, node: ast.expr) -> Value:
        """The value of an expression."""
        out = self._table(self._meant(node))
        if isinstance(out.kind, Object):
            raise Refused(f"{ast.unparse(node)!r} is no number and no array")
        return out

    def number(self, node: ast.expr) -> Value:
        """The number that an expression is."""
        out = self(node)
        if not isinstance(out.kind, Number):
            raise Refused(f"{ast.unparse(node)!r} is {out.kind.name}, and must be a number")
        return out

    def _meant(self, node: ast.expr) -> Value:
        """The value of an expression, or the object that it names."""
        write = getattr(self, f"_{type(node).__name__.lower()}", None)
        try:
            if write is None:
                raise Refused(f"{ast.unparse(node)!r} has no machine code")
            out: Value = write(node)
        except Refused as why:
            raise self._source.error(node, why) from None
        return out

    def _table(self, value: Value) -> Value:
        """A tuple of numbers as an array."""
        numbers = value.kind.object if isinstance(value.kind, Object) else None
        if not isinstance(numbers, tuple) or not all(isinstance(x, float) for x in numbers):
            return value
        return Value(contiguous(FLOAT, (len(numbers),)), (self._text.table(numbers),))

    def _constant(self, node: ast.Constant) -> Value:
        return named(node.value)

    def _name(self, node: ast.Name) -> Value:
        if node.id == self.lane:
            raise Refused(f"{node.id!r} counts a loop over each(n): it stands in v[{node.id}] only")
        if node.id in self.assigned:
            return self.at.value_of(self.kinds[node.id], self.places[node.id])
        if node.id in self._local:
            raise Refused(f"{node.id!r} may be read before it is assigned")
        for names in self._outside:
            if node.id in names:
                return named(names[node.id])
        raise Refused(f"{node.id!r} has no value here")

    def _tuple(self, node: ast.Tuple) -> Value:
        values = [self(part) for part in node.elts]
        return Value(Several(tuple(v.kind for v in values)), tuple(part for v in values for part in v.registers))

    def _attribute(self, node: ast.Attribute) -> Value:
        if node.attr == "data" and isinstance(node.value, ast.Attribute) and node.value.attr == "ctypes":
            array = self(node.value.value)
            return self.at.value(INT, f"ptrtoint ptr {array.registers[0]} to i64")
        owner = self._meant(node.value)
        if isinstance(owner.kind, Object):
            if isinstance(owner.kind.object, ModuleType) and hasattr(owner.kind.object, node.attr):
                return named(getattr(owner.kind.object, node.attr))
            raise Refused(f"{ast.unparse(node)!r} has no machine code")
        if isinstance(owner.kind, Array) and node.attr == "shape":
            return arrays.shape(self.at, owner)
        return arrays.read(self.at, self._field(owner, node.attr))

    def _field(self, owner: Value, name: str) -> Value:
        """The place of a field."""
        place = arrays.field(self.at, owner, name) if isinstance(owner.kind, Record) else None
        if place is None:
            raise Refused(f"{owner.kind.name} has no {name!r}")
        return place

    # ------------------------------------------------------------ entries and slices of arrays

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self._meant(node.value)
        if isinstance(owner.kind, Object):
            values = owner.kind.object
            if isinstance(values, tuple) and (k := whole(self.number(node.slice))) is not None:
                return named(values[k])
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
                raise Refused("the place in a tuple of different values must be known")
            kind = wider
        out = self.at.converted(values[-1], kind)
        for n, value in reversed(list(enumerate(values[:-1]))):
            out = self.at.chosen(self.at.compared("eq", place, constant(n)), self.at.converted(value, kind), out)
        return out

    def _part(self, node: ast.Subscript, array: Value) -> Value:
        """The place of an entry, or a part of an array."""
        given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not isinstance(array.kind, Array) or len(given) > len(array.kind.axes):
            raise Refused(f"{ast.unparse(node.value)!r} is {array.kind.name}, here with {len(given)} indices")
        if isinstance(node.slice, ast.Name) and node.slice.id == self.lane:
            return self._entries(array, array.kind)
        indices = [self._range(one) if isinstance(one, ast.Slice) else self.index(one) for one in given]
        return arrays.part(self.at, array, indices)

    def _entries(self, array: Value, kind: Array) -> Value:
        """The place of the entries v[i] that a loop over each(n) has in a vector register."""
        if kind.entry is not FLOAT or kind.axes[0][1] != 1:
            raise Refused("loops over each(n) have floats only, one beside the other")
        assert self.lane is not None
        k = self.at.value_of(INT, self.places[self.lane])
        return Value(Array(LANES, ()), (self.at.moved(array.registers[0], k),))

    def index(self, node: ast.expr, least: int | None = 0) -> Value:
        """A whole number, which counts from the beginning unless there is no least one."""
        out = self.number(node)
        n = whole(out)
        if out.kind is not INT or (n is not None and least is not None and n < least):
            raise Refused(f"{ast.unparse(node)!r} is no index: those are whole, and count from the beginning")
        return out

    def _range(self, part: ast.Slice) -> arrays.Part:
        if part.step is not None:
            raise Refused("slices have no step")
        first = constant(0) if part.lower is None else self.index(part.lower)
        if part.upper is None:
            return arrays.Part(first, None)
        n = None if part.lower is None else _difference(part.upper, part.lower)
        return arrays.Part(first, self.at.arithmetic("-", self.index(part.upper), first) if n is None else constant(n))

    def place(self, node: ast.expr) -> tuple[Number, str]:
        """Kind and address of an entry or a field that is assigned to."""
        if isinstance(node, ast.Attribute):
            place = self._field(self(node.value), node.attr)
        else:
            assert isinstance(node, ast.Subscript)
            place = self._part(node, self(node.value))
        found = arrays.number_at(place)
        if found is None:
            raise Refused(f"cannot assign to {ast.unparse(node)!r}, which is no number: write a loop")
        return found

    # ------------------------------------------------------------ conditions and arithmetic

    def condition(self, node: ast.expr) -> Value:
        """Whether an expression holds."""
        if isinstance(node, ast.BoolOp):
            return self._decided(node, self.condition)
        out = self.at.truth(self.number(node))
        if out.kind is not BOOL:
            raise Refused(f"{ast.unparse(node)!r} is {out.kind.name}, and must be one condition")
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
        at, self.at = self.at, Body()
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


@final
class Written:
    """A function as text.

    Parameters
    ----------
    function : in Python
    kinds : of its arguments
    declared : the kind that it returns; None if that is left to its statements
    text : where it is written

    Attributes
    ----------
    result : the kind that it returns
    """

    def __init__(self, function: FunctionType, kinds: Sequence[Kind], declared: Kind | None, text: Text) -> None:
        self._text = text
        self._declared = self.result = declared
        self._kinds: dict[str, Kind] = {}
        self._source = source_of(function)
        tree = self._source.tree
        names = [argument.arg for argument in tree.args.args]
        if tree.args.vararg or tree.args.kwonlyargs or len(names) != len(kinds):
            raise self._source.error(tree, f"takes {', '.join(names)}, and is called with {len(kinds)} arguments")
        self._kinds.update(zip(names, kinds, strict=True))
        registers = (f"%in.{k}" for k in range(sum(len(kind.types) for kind in kinds)))
        given = [Value(kind, tuple(next(registers) for _ in kind.types)) for kind in kinds]
        self._arguments = passed(given)
        while not self._write(tree, dict(zip(names, given, strict=True))):
            pass  # a name got another kind after it had been read

    def definition(self, symbol: str, linkage: str = "internal ", how: str = "nounwind") -> str:
        """The function with a symbol."""
        assert self.result is not None
        head = f'define {linkage}{returned(self.result)} @"{symbol}"({self._arguments}) {how}'
        return f"{head} {{\n{self._at.text()}\n}}"

    def _write(self, tree: ast.FunctionDef, given: dict[str, Value]) -> bool:
        """Write the body; False if kinds have changed meanwhile."""
        self._at = Body()
        self._value = Expressions(self._source, self._at, self._text, self._kinds)
        self._loops: list[tuple[str, str]] = []  # where continue and break lead
        self._left: set[str] = set()  # where breaks have led
        self._steady = True
        for name, value in given.items():
            self._name(name, value)
        self._all(tree.body)
        if not self._at.ended:
            if self.result not in (None, NOTHING):
                raise self._source.error(tree, "may end without a return")
            self.result = NOTHING
            self._at.end("ret void")
        return self._steady

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

    def _pass(self, node: ast.Pass) -> None:
        pass

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
        self._write_number(target, kind, address, after)

    def _to(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Tuple):
            if not isinstance(value.kind, Several) or len(value.kind.kinds) != len(target.elts):
                raise Refused(f"{len(target.elts)} names get {value.kind.name}")
            for part, one in zip(target.elts, self._at.several(value), strict=True):
                self._to(part, one)
        elif isinstance(target, (ast.Subscript, ast.Attribute)):
            self._write_number(target, *self._value.place(target), value)
        elif isinstance(target, ast.Name):
            self._name(target.id, value)
        else:
            raise Refused(f"cannot assign to {ast.unparse(target)!r}")

    def _write_number(self, target: ast.expr, kind: Kind, address: str, value: Value) -> None:
        if common(kind, value.kind) != kind:
            raise Refused(f"{ast.unparse(target)!r} is {kind.name} and gets {value.kind.name}")
        self._at.write(self._at.converted(value, kind), address)

    def _name(self, name: str, value: Value) -> None:
        if value.kind is NOTHING:
            raise Refused(f"{name!r} gets no value")
        known = self._value.kinds.get(name, value.kind)
        kind = common(known, value.kind)
        if kind is None or (kind != known and self._value.lane is not None):
            raise Refused(f"{name!r} is {known.name} and gets {value.kind.name}")
        if name not in self._value.places or kind != known:
            self._steady &= kind == known
            self._value.kinds[name] = kind
            self._value.places[name] = self._at.local(kind, name)
        self._at.assign(self._at.converted(value, kind), self._value.places[name])
        self._value.assigned.add(name)

    def _return(self, node: ast.Return) -> None:
        value = Value(NOTHING, ()) if node.value is None else self._value(node.value)
        known = value.kind if self.result is None else self.result
        kind = common(known, value.kind)
        if kind is None or (kind != known and self._declared is not None):
            raise Refused(f"returns {known.name}, and here {value.kind.name}")
        self._steady &= kind == known
        self.result = kind
        self._at.end(f"ret {packed(self._at, self._at.converted(value, kind))}")

    # ------------------------------------------------------------ branches and loops

    def _if(self, node: ast.If) -> None:
        at = self._at
        test = self._value.condition(node.test)
        if test.text in ("true", "false"):
            self._all(node.body if test.text == "true" else node.orelse)
            return
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
        k = at.value(INT, f"load i64, ptr {counter}")
        at.choose(at.compared("lt" if step > 0 else "gt", k, stop), body, done)
        at.label(body)
        with self._loop(further, done):
            self._name(node.target.id, k)
            if parallel:
                self._lanes(node.body, node.target.id)
            else:
                self._all(node.body)
        at.label(further)
        k = at.value(INT, f"load i64, ptr {counter}")
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
        """The body of a loop over each(n)."""
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
