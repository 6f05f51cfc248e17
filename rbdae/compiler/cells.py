"""Calls of kernels whose address is found at run time: in a cell, or in a table by a number.

A cell or place in a table is empty if the kernel was not compiled for the problem at hand. Then a call of an optional
kernel does nothing. For all others it leaves a message behind; `done`, the type that entries return, becomes None in
Python, or raises RuntimeError with that message.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

import llvmlite.binding as llvm
import llvmlite.ir as ir
import numba as _numba
from numba import types
from numba.core import cgutils as _cgutils
from numba.core import typeconv as _typeconv
from numba.extending import box, intrinsic, lower_cast, models, register_model

numba: Any = _numba  # it is not typed throughout
cgutils: Any = _cgutils
typeconv: Any = _typeconv

_TEXT = ir.IntType(8).as_pointer()
_NUMBER = ir.IntType(64)

_MESSAGE = "rbdae.message"
_message = ctypes.c_void_p(0)
llvm.add_symbol(_MESSAGE, ctypes.addressof(_message))


def _global(builder: Any, kind: Any, symbol: str) -> Any:
    return builder.module.globals.get(symbol) or ir.GlobalVariable(builder.module, kind, symbol)


def _call_or_complain(context: Any, builder: Any, function: Any, args: Any, message: str) -> None:
    """Call a function if there is one; leave the message behind if not, unless it is empty."""
    there = cgutils.is_not_null(builder, function)
    if not message:
        with builder.if_then(there, likely=True):
            builder.call(function, args)
        return
    with builder.if_else(there, likely=True) as (then, otherwise):
        with then:
            builder.call(function, args)
        with otherwise:
            text = context.insert_const_string(builder.module, message)
            builder.store(text, _global(builder, _TEXT, _MESSAGE))


def _intrinsic(signature: Any, codegen: Callable[..., Any]) -> Any:
    def call(typingctx: Any, *arguments: Any) -> Any:
        return signature, codegen

    # numba reads the number of arguments from it
    names = ["typingctx", *(f"a{k}" for k in range(len(signature.args)))]
    call.__signature__ = Signature([Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in names])  # type: ignore[attr-defined]
    return intrinsic(call)


def _pointer(context: Any, arguments: Any) -> Any:
    return ir.FunctionType(ir.VoidType(), [context.get_value_type(a) for a in arguments]).as_pointer()


def call_cell(symbol: str, signature: Any, message: str) -> Any:
    """A function for kernels that calls the address in the cell at `symbol`."""

    def codegen(context: Any, builder: Any, _: Any, args: Any) -> Any:
        function = builder.load(_global(builder, _pointer(context, signature.args), symbol))
        _call_or_complain(context, builder, function, args, message)
        return context.get_dummy_value()

    return _intrinsic(signature, codegen)


def call_table(symbol: str, signature: Any, message: str) -> Any:
    """A function for kernels, f(number, ...), that calls the address with this number in the table at `symbol`."""

    def codegen(context: Any, builder: Any, _: Any, args: Any) -> Any:
        pointer = _pointer(context, signature.args)
        table = _global(builder, ir.ArrayType(pointer, 0), symbol)
        function = builder.load(builder.gep(table, [_NUMBER(0), args[0]]))
        _call_or_complain(context, builder, function, args[1:], message)
        return context.get_dummy_value()

    return _intrinsic(types.void(types.int64, *signature.args), codegen)


class _Done(types.Opaque):
    def __init__(self) -> None:
        super().__init__(name="rbdae.done")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        return typeconv.Conversion.safe if other is types.none else None


done = _Done()
"""The type that entries return."""

register_model(_Done)(models.OpaqueModel)


@lower_cast(types.NoneType, _Done)  # type: ignore[no-untyped-call,untyped-decorator]
def _none_is_done(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    return context.get_dummy_value()


@box(_Done)  # type: ignore[no-untyped-call,untyped-decorator]
def _box_done(kind: Any, value: Any, c: Any) -> Any:
    """None, or nothing and the exception."""
    cell = _global(c.builder, _TEXT, _MESSAGE)
    text = c.builder.load(cell)
    out = cgutils.alloca_once_value(c.builder, c.pyapi.make_none())
    with c.builder.if_then(cgutils.is_not_null(c.builder, text), likely=False):
        c.builder.store(ir.Constant(_TEXT, None), cell)
        raise_ = ir.FunctionType(ir.VoidType(), [c.pyapi.pyobj, _TEXT])
        error = c.pyapi.get_c_object("PyExc_RuntimeError")
        c.builder.call(cgutils.get_or_insert_function(c.builder.module, raise_, "PyErr_SetString"), (error, text))
        c.pyapi.decref(c.builder.load(out))
        c.builder.store(c.pyapi.get_null_object(), out)
    return c.builder.load(out)


@intrinsic
def _as_pointer(typingctx: Any, address: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(types.intp), codegen


@intrinsic
def _call_address(typingctx: Any, at: Any, t: Any, x_at: Any, out_at: Any) -> Any:
    signature = types.void(types.int64, types.float64, types.int64, types.int64)

    def codegen(context: Any, builder: Any, _: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [ir.DoubleType(), _NUMBER, _NUMBER])
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])
        return context.get_dummy_value()

    return signature, codegen


ONLY_HERE: dict[str, Any] = {"as_pointer": _as_pointer, "call_address": _call_address, "carray": numba.carray}
"""What plain Python does not have (`rbdae.compiler.access`)."""
