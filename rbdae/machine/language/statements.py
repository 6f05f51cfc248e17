"""Statements of kernels, and a kernel as a function in LLVM IR."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from textwrap import dedent
from types import CodeType, FunctionType, ModuleType
from typing import final

from rbdae.machine.language.body import Body
from rbdae.machine.language.expressions import Around, Expressions, KernelError
from rbdae.machine.language.kinds import INT, NOTHING, Kind, Several, Value, common, constant, whole


@cache
def _tree(function: FunctionType) -> tuple[ast.FunctionDef, int]:
    """The source of a kernel, and the line in which it begins."""
    file = function.__code__.co_filename
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError as error:
        raise KernelError(f"{file}: the source of kernel {function.__name__} is not there ({error})") from None
    try:
        tree = ast.parse(dedent("".join(lines))).body[0]
    except SyntaxError:
        tree = ast.Pass()
    if not (isinstance(tree, ast.FunctionDef) and _is_of(tree, function)):
        raise KernelError(f"{file}:{first}: the source of kernel {function.__name__} has changed since it was imported")
    return tree, first


def _is_of(tree: ast.FunctionDef, function: FunctionType) -> bool:
    """Whether a source is that of a function: files change while processes run. Functions inside of others have other
    instructions there."""
    if tree.name != function.__name__ or function.__code__.co_freevars:
        return tree.name == function.__name__
    scope = function.__globals__
    # of imported modules functions are called by other instructions
    modules = [name for name in function.__code__.co_names if isinstance(scope.get(name), ModuleType)]
    alone = ast.parse("\n".join(["from __future__ import annotations", *(f"import {name}" for name in modules)]))
    alone.body.append(ast.FunctionDef(tree.name, tree.args, tree.body, [], tree.returns))
    made = compile(ast.fix_missing_locations(alone), "", "exec", dont_inherit=True)
    code = next(constant for constant in made.co_consts if isinstance(constant, CodeType))
    mine = function.__code__
    return (code.co_code, code.co_names, code.co_varnames) == (mine.co_code, mine.co_names, mine.co_varnames)


@final
class Written:
    """A kernel as text.

    Attributes
    ----------
    result : the kind that it returns
    body : its instructions
    arguments : the types and registers of its arguments
    """

    def __init__(self, function: FunctionType, kinds: Sequence[Kind], around: Around) -> None:
        self._function = function
        self._around = around
        self.result: Kind | None = None
        self._kinds: dict[str, Kind] = {}
        tree, self._first = _tree(function)
        names = [argument.arg for argument in tree.args.args]
        if tree.args.vararg or tree.args.kwonlyargs or len(names) != len(kinds):
            raise self._refuse(tree, f"takes {', '.join(names)}, and is called with {len(kinds)} arguments")
        self._kinds.update(zip(names, kinds, strict=True))
        registers = (f"%in.{k}" for k in range(sum(len(kind.types) for kind in kinds)))
        given = [Value(kind, tuple(next(registers) for _ in kind.types)) for kind in kinds]
        self.arguments = ", ".join(
            f"{part} {text}" for value in given for part, text in zip(value.kind.types, value.registers, strict=True)
        )
        while not self._write(tree, dict(zip(names, given, strict=True))):
            pass  # a name got another kind after it had been read

    def _refuse(self, node: ast.AST, what: str) -> KernelError:
        line = self._first + getattr(node, "lineno", 1) - 1
        return KernelError(f"{self._function.__code__.co_filename}:{line}: in {self._function.__name__}: {what}")

    def _write(self, tree: ast.FunctionDef, given: dict[str, Value]) -> bool:
        """Write the body; False if kinds have changed meanwhile."""
        self._at = Body()
        self._value = Expressions(self._function, self._at, self._around, self._refuse)
        self._value.kinds = self._kinds
        self._loops: list[tuple[str, str]] = []
        self._left: set[str] = set()
        self._steady = True
        for name, value in given.items():
            self._assign(tree, name, value)
        self._all(tree.body)
        if not self._at.ended:
            if self.result is None:
                self.result = NOTHING
            self._at.add("ret void" if self.result is NOTHING else "unreachable")
            self._at.ended = True
        self.body = self._at.body()
        return self._steady

    def _all(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if not self._at.ended:
                write = getattr(self, f"_{type(statement).__name__.lower()}", None)
                if write is None:
                    raise self._refuse(statement, f"{type(statement).__name__} has no machine code")
                write(statement)

    def _pass(self, node: ast.Pass) -> None:
        pass

    def _expr(self, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            self._value(node.value)

    # ------------------------------------------------------------ assignments

    def _assign(self, node: ast.AST, target: ast.expr | str = "", value: Value | None = None) -> None:
        if value is None:
            assert isinstance(node, ast.Assign)
            if len(node.targets) != 1:
                raise self._refuse(node, "assign to one name at a time")
            target, value = node.targets[0], self._value(node.value)
        if isinstance(target, ast.Tuple):
            if not isinstance(value.kind, Several) or len(value.kind.kinds) != len(target.elts):
                raise self._refuse(node, f"{len(target.elts)} names get {value.kind.name}")
            for part, one in zip(target.elts, self._at.several(value), strict=True):
                self._assign(node, part, one)
        elif isinstance(target, (ast.Subscript, ast.Attribute)):
            kind, address = self._value.place(target)
            if common(kind, value.kind) != kind:
                raise self._refuse(node, f"{ast.unparse(target)!r} is {kind.name} and gets {value.kind.name}")
            self._at.write(self._at.converted(value, kind), address)
        else:
            self._name(node, target.id if isinstance(target, ast.Name) else str(target), value)

    def _name(self, node: ast.AST, name: str, value: Value) -> None:
        if value.kind is NOTHING:
            raise self._refuse(node, f"{name!r} gets no value")
        known = self._kinds.get(name, value.kind)
        kind = common(known, value.kind)
        if kind is None:
            raise self._refuse(node, f"{name!r} is {known.name} and gets {value.kind.name}")
        if name not in self._value.places or kind != known:
            self._steady &= kind == known
            self._kinds[name] = kind
            self._value.places[name] = self._at.local(kind, name)
        self._at.assign(self._at.converted(value, kind), self._value.places[name])

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            raise self._refuse(node, "a local name needs a value")
        self._assign(node, node.target, self._value(node.value))

    def _augassign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            before = self._value.number(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
            self._name(
                node, node.target.id, self._value.binary(node, type(node.op), before, self._value.number(node.value))
            )
            return
        kind, address = self._value.place(node.target)
        value = self._value.number(node.value)
        after = self._value.binary(node, type(node.op), self._at.read(kind, address), value)
        if common(kind, after.kind) != kind:
            raise self._refuse(node, f"{ast.unparse(node.target)!r} is {kind.name} and gets {after.kind.name}")
        self._at.write(self._at.converted(after, kind), address)

    def _return(self, node: ast.Return) -> None:
        value = Value(NOTHING, ()) if node.value is None else self._value(node.value)
        known = value.kind if self.result is None else self.result
        kind = common(known, value.kind)
        if kind is None:
            raise self._refuse(node, f"returns {known.name}, and here {value.kind.name}")
        self._steady &= kind == known
        self.result = kind
        self._at.add(f"ret {packed(self._at, self._at.converted(value, kind))}")
        self._at.ended = True

    # ------------------------------------------------------------ branches and loops

    def _if(self, node: ast.If) -> None:
        at = self._at
        test = self._value.condition(node.test)
        if test.text in ("true", "false"):
            self._all(node.body if test.text == "true" else node.orelse)
            return
        yes, no, done = at.name("if"), at.name("else"), at.name("done")
        at.choose(test, yes, no)
        meet = False
        for label, statements in ((yes, node.body), (no, node.orelse)):
            at.label(label)
            self._all(statements)
            if not at.ended:
                meet = True
                at.jump(done)
        if meet:
            at.label(done)

    @contextmanager
    def _loop(self, again: str, done: str) -> Iterator[None]:
        self._loops.append((again, done))
        yield
        self._loops.pop()

    def _while(self, node: ast.While) -> None:
        at = self._at
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
        at, value = self._at, self._value
        call = node.iter
        plain = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
        if not plain or node.orelse or not isinstance(node.target, ast.Name):
            raise self._refuse(node, "loops are `for i in range(...)`, without else")
        assert isinstance(call, ast.Call)
        limits = [at.converted(value.number(argument), INT) for argument in call.args]
        step = whole(limits[2]) if len(limits) == 3 else 1
        if not step:
            raise self._refuse(node, "the step of a range is a whole number, and not zero")
        start, stop = (constant(0), limits[0]) if len(limits) == 1 else limits[:2]
        counter = at.room("i64", "counter")
        at.add(f"store i64 {start.text}, ptr {counter}")
        again, body, further, done = (at.name(hint) for hint in ("for", "do", "next", "done"))
        at.label(again)
        k = Value(INT, (at.register(f"load i64, ptr {counter}"),))
        at.choose(at.compared("lt" if step > 0 else "gt", k, stop), body, done)
        at.label(body)
        with self._loop(further, done):
            self._name(node, node.target.id, k)
            self._all(node.body)
        at.label(further)
        k = Value(INT, (at.register(f"load i64, ptr {counter}"),))
        at.add(f"store i64 {at.arithmetic('+', k, constant(step)).text}, ptr {counter}")
        at.jump(again)
        at.label(done)

    def _break(self, node: ast.Break) -> None:
        self._left.add(self._loops[-1][1])
        self._at.jump(self._loops[-1][1])

    def _continue(self, node: ast.Continue) -> None:
        self._at.jump(self._loops[-1][0])


def returned(kind: Kind) -> str:
    """The type of LLVM that a function with a result of this kind returns."""
    registers = kind.types
    return "void" if not registers else registers[0] if len(registers) == 1 else f"{{ {', '.join(registers)} }}"


def packed(at: Body, value: Value) -> str:
    """A value as a function returns it."""
    kind = returned(value.kind)
    if len(value.registers) < 2:
        return " ".join((kind, *value.registers))
    out = "poison"
    for k, (part, text) in enumerate(zip(value.kind.types, value.registers, strict=True)):
        out = at.register(f"insertvalue {kind} {out}, {part} {text}, {k}")
    return f"{kind} {out}"


def unpacked(at: Body, kind: Kind, call: str) -> Value:
    """The value of a call."""
    if not kind.types:
        at.add(f"call void {call}")
        return Value(kind, ())
    result = at.register(f"call {returned(kind)} {call}")
    if len(kind.types) == 1:
        return Value(kind, (result,))
    return Value(
        kind, tuple(at.register(f"extractvalue {returned(kind)} {result}, {k}") for k in range(len(kind.types)))
    )


__all__ = ["Written", "returned", "unpacked"]
