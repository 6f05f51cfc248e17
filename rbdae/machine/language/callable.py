"""Native functions that Python can call."""

from __future__ import annotations

import ctypes
from typing import Any

from rbdae.machine.language.native import symbol
from rbdae.machine.language.program import Program
from rbdae.machine.module import compiled

_C_TYPES: dict[str, Any] = {"float": ctypes.c_double, "int": ctypes.c_int64, "bool": ctypes.c_bool, "None": None}


def callables(
    program: Program, level: int = 2, *, made_of: object = None, prototype: Any = ctypes.CFUNCTYPE
) -> tuple[Any, ...]:
    """The entries of a program in machine code; they take addresses where they take vectors, and let other threads run
    unless the prototype is `ctypes.PYFUNCTYPE`.

    `address` of each is where it begins. `made_of` is all that the program depends on, where that is known: its text is
    then written only if the cache does not have its code.
    """
    module = compiled(program.text, level, made_of=made_of) if made_of else compiled(program.text(), level)
    out = []
    for entry in program.entries:
        *given, result = entry.__annotations__.values()
        types = [_C_TYPES.get(kind, ctypes.c_void_p) for kind in given]
        address = module.address(symbol(entry))
        function = prototype(_C_TYPES[result], *types)(address)
        function.address, function.module = address, module  # the code lives as long as the function
        out.append(function)
    return tuple(out)
