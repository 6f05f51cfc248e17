"""Whether a user's function is arithmetic alone, by its source: then what its branches do is a choice of numbers.

Allowed are local names, reads of constants and attributes, branches, loops and calls. What is called, read and assigned
to is seen to where the function runs (`rbdae.laws.copies`).
"""

from __future__ import annotations

import ast
import inspect
import linecache
import types
from functools import lru_cache
from threading import Lock
from typing import Any

from rbdae.laws.numbers import NotRecorded

_NODES = (
    ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign,
    ast.NamedExpr, ast.If, ast.For, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Raise, ast.Assert, ast.BinOp,
    ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.keyword, ast.Constant, ast.Name, ast.Attribute,
    ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.ListComp, ast.GeneratorExp,
    ast.comprehension, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip


_PARSING = Lock()
"""Python's parser counts its depth for all threads."""


@lru_cache(maxsize=32)
def _functions(text: str) -> dict[int, list[Any]]:
    """The functions of a file by the lines in which they begin, without annotations, which nothing evaluates."""
    out: dict[int, list[Any]] = {}
    with _PARSING:
        tree: Any = ast.parse(text)
    for node in ast.walk(tree):
        for name in {"annotation", "returns"} & {*node._fields}:
            setattr(node, name, None)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            first = [each.lineno for each in getattr(node, "decorator_list", ())]
            out.setdefault(min([node.lineno, *first]), []).append(node)
    return out


def _body(node: Any) -> list[Any]:
    """Nodes of the body of a function, nested ones included."""
    return [each for part in (node.body if isinstance(node.body, list) else [node.body]) for each in ast.walk(part)]


def _sources(code: types.CodeType, text: str) -> list[Any]:
    """The source of a function in the text of its file; several where they begin in one line and use the same names."""
    try:
        known = _functions(text)
    except SyntaxError:
        return []
    out = []
    more = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    mine = sorted(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + more])
    for node in known.get(code.co_firstlineno, ()):
        same = sorted(each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)) == mine
        body = _body(node)
        names = {getattr(each, key) for each in body for key in ("id", "attr") if hasattr(each, key)}
        own = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
        own |= {each.id for each in body if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        own |= {each.name for each in body if isinstance(each, ast.FunctionDef)}
        wanted = names_of(code).union(code.co_freevars) - {"__class__"}  # which super() has
        if getattr(node, "name", "<lambda>") == code.co_name and same and wanted - own == names - own:
            out.append(node)
    return out


def names_of(code: types.CodeType) -> set[str]:
    """The names that a function and those inside it use."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*map(names_of, inner))


def check_arithmetic(function: types.FunctionType) -> None:
    """Raise NotRecorded unless a function is arithmetic alone."""
    lines = linecache.getlines(function.__code__.co_filename, function.__globals__)
    why = _why_not(function.__code__, "".join(lines))
    if why:
        raise NotRecorded(why)


@lru_cache(maxsize=1024)
def _why_not(code: types.CodeType, text: str) -> str:
    """Why a function is no arithmetic, or nothing."""
    found = _sources(code, text)
    if not found:
        return f"{code.co_name} has no source"
    nodes = [each for source in found for each in _body(source)]
    said = {id(each) for node in nodes if isinstance(node, (ast.Raise, ast.Assert)) for each in ast.walk(node)}
    for node in nodes:
        if isinstance(node, (ast.JoinedStr, ast.FormattedValue)) and id(node) in said:
            continue
        if not isinstance(node, _NODES) or getattr(node, "decorator_list", None):
            return f"line {node.lineno} of {code.co_name} is no arithmetic ({type(node).__name__.lower()})"
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            return f"line {node.lineno} of {code.co_name} changes {ast.unparse(node)}"
    return ""
