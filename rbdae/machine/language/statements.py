"""Statements of functions, and functions as LLVM IR."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import final

from rbdae.machine.language.body import Body
from rbdae.machine.language.calls import packed, passed, returned
from rbdae.machine.language.expressions import Expressions
from rbdae.machine.language.kinds import INT, NOTHING, WIDTH, Kind, Refused, Several, Value, common, constant, whole
from rbdae.machine.language.source import source_of
from rbdae.machine.language.text import Text


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
        self._at = Body(self._text.floats)
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
