"""Statements of native functions as LLVM IR, and whole functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, final

from rbdae.machine.native import words
from rbdae.machine.native.builtin import compare, to_float, to_lanes
from rbdae.machine.native.emitter import Emitter, constant
from rbdae.machine.native.expressions import Expressions
from rbdae.machine.native.types import WIDTH, Source, Type, Value


@final
class Statements:
    """Writes one function; see `Expressions` for the parameters."""

    def __init__(self, source: Source, bindings: Mapping[str, Any], called: Callable[[Source], None]) -> None:
        self.at = Emitter()
        self._source = source
        self._value = Expressions(source, self.at, bindings, called)
        self._loops: list[tuple[str, str]] = []  # where continue and break lead
        self._left: set[str] = set()  # where breaks have led

    def text(self, *, entry: bool) -> str:
        """The function's definition; an entry is called by others and not copied into them."""
        source, names = self._source, self._value
        given = []
        for name, kind in source.parameters:
            given.append(f"{kind.llvm} %{name}")
            self._declare(name, kind)
            self.at.store(Value(kind, f"%{name}"), names.locals[name][1])
        self._all(source.tree.body)
        if not self.at.ended:
            if source.result is not Type.NONE:
                raise source.error(source.tree, "may end without a return")
            self.at.leave(None)
        linkage, how = ("", " noinline") if entry else ("internal ", "")
        head = f'define {linkage}{source.result.llvm} @"{source.name}"({", ".join(given)}){how}'
        return f"{head} {{\n{self.at.body()}\n}}"

    def _declare(self, name: str, kind: Type) -> None:
        self._value.locals[name] = (kind, self.at.variable(kind, name))
        self._value.assigned.add(name)

    def _all(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self.at.ended:
                raise self._value.error(statement, "is never reached")
            write = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if write is None:
                raise self._value.error(statement, f"{type(statement).__name__} has no machine code")
            write(statement)

    # ------------------------------------------------------------ simple statements

    def _expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return  # the docstring
        if not isinstance(node.value, ast.Call):
            raise self._value.error(node, f"{ast.unparse(node)!r} does nothing")
        self._value(node.value)

    def _pass(self, node: ast.Pass) -> None:
        """Nothing."""

    def _assign(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            raise self._value.error(node, "assign to one name at a time")
        self._to(node.targets[0], self._value(node.value))

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            raise self._value.error(node, "a local name needs a value")
        value = self._value.of_type(node.value, self._source.annotated(node, node.annotation))
        self._to(node.target, value)

    def _augassign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Subscript):
            kind, address = self._value.address(target)
            before = self.at.load(kind, address)
            after = self._value.binary(node, type(node.op), before, self._value.number(node.value))
            self._store(node, after, kind, address)
            return
        assert isinstance(target, ast.Name)
        before = self._value.number(ast.copy_location(ast.Name(target.id, ast.Load()), target))
        self._to(target, self._value.binary(node, type(node.op), before, self._value.number(node.value)))

    def _to(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Subscript):
            self._store(target, value, *self._value.address(target))
        elif isinstance(target, ast.Name):
            if value.type is Type.NONE:
                raise self._value.error(target, f"{target.id!r} gets no value")
            if target.id not in self._value.locals:
                self._declare(target.id, value.type)
            kind, address = self._value.locals[target.id]
            self._store(target, value, kind, address)
            self._value.assigned.add(target.id)
        else:
            raise self._value.error(target, f"cannot assign to {ast.unparse(target)!r}")

    def _store(self, node: ast.AST, value: Value, kind: Type, address: str) -> None:
        if kind is Type.FLOAT:
            value = to_float(self.at, value)
        if kind is Type.LANES:
            value = to_lanes(self.at, value)
        if value.type is not kind:
            raise self._value.error(node, f"is {kind.value} and gets {value.type.value}")
        self.at.store(value, address)

    def _return(self, node: ast.Return) -> None:
        kind = self._source.result
        if (node.value is None) != (kind is Type.NONE):
            raise self._value.error(node, f"returns {kind.value}")
        self.at.leave(None if node.value is None else self._value.of_type(node.value, kind))

    # ------------------------------------------------------------ branches and loops

    def _if(self, node: ast.If) -> None:
        at = self.at
        yes, no, done = at.name("if"), at.name("else"), at.name("done")
        at.choose(self._value.of_type(node.test, Type.BOOL), yes, no)
        before, ends = set(self._value.assigned), []
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
        at = self.at
        if node.orelse:
            raise self._value.error(node, "loops have no else")
        again, body, done = at.name("while"), at.name("do"), at.name("done")
        at.label(again)
        forever = isinstance(node.test, ast.Constant) and node.test.value is True
        if forever:
            at.jump(body)
        else:
            at.choose(self._value.of_type(node.test, Type.BOOL), body, done)
        at.label(body)
        with self._loop(again, done):
            self._all(node.body)
        at.jump(again)
        if not forever or done in self._left:
            at.label(done)

    def _for(self, node: ast.For) -> None:
        """A counter of its own: the body may change the name that it counts with, as in Python."""
        at, value = self.at, self._value
        start, stop, step, parallel = self._range(node)
        counter = at.variable(Type.INT, "counter")
        at.store(start, counter)
        again, body, further, done = (at.name(hint) for hint in ("for", "do", "next", "done"))
        at.label(again)
        k = at.load(Type.INT, counter)
        at.choose(compare(at, "lt" if step > 0 else "gt", k, stop), body, done)
        at.label(body)
        with self._loop(further, done):
            self._to(node.target, k)
            if parallel:
                self._lanes(node)
            else:
                self._all(node.body)
        at.label(further)
        k = at.load(Type.INT, counter)
        at.store(value.binary(node, ast.Add, k, constant(step)), counter)
        at.jump(again)
        at.label(done)

    def _range(self, node: ast.For) -> tuple[Value, Value, int, bool]:
        call, value = node.iter, self._value
        known = value.known(call.func.id) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else None
        if known is not range or node.orelse or not isinstance(node.target, ast.Name):
            raise value.error(node, "loops are `for i in range(...)` or `for i in each(n)`, without else")
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        parallel = call.func.id == "each" and known is words.each
        limits = [value.of_type(argument, Type.INT) for argument in call.args]
        if not 1 <= len(limits) <= (1 if parallel else 3):
            raise value.error(node, f"{call.func.id} does not take {len(limits)} arguments")
        step = WIDTH if parallel else 1
        if len(limits) == 3:
            if limits[2].text.startswith("%") or limits[2].text == "0":
                raise value.error(node, "the step of a range is a whole number, and not zero")
            step = int(limits[2].text)
        return (constant(0) if len(limits) == 1 else limits[0]), limits[min(1, len(limits) - 1)], step, parallel

    def _lanes(self, node: ast.For) -> None:
        """The body of a loop over each(n)."""
        value = self._value
        assert isinstance(node.target, ast.Name)
        outside = set(value.locals)
        value.lane = node.target.id
        for statement in node.body:
            if not isinstance(statement, (ast.Assign, ast.AugAssign)):
                what = type(statement).__name__
                raise value.error(statement, f"loops over each(n) consist of assignments, not of {what}")
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            own = isinstance(target, ast.Name) and target.id not in outside
            if not own and not (isinstance(target, ast.Subscript) and ast.unparse(target.slice) == value.lane):
                raise value.error(statement, "loops over each(n) assign to v[i] and to names of their own")
        self._all(node.body)
        value.lane = None
        for name in set(value.locals) - outside:
            del value.locals[name]

    def _break(self, node: ast.Break) -> None:
        self._left.add(self._loops[-1][1])
        self.at.jump(self._loops[-1][1])

    def _continue(self, node: ast.Continue) -> None:
        self.at.jump(self._loops[-1][0])


__all__ = ["Statements"]
