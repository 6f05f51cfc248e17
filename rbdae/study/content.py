"""A content hash of values with users' functions, which pickle identifies only by name."""

from __future__ import annotations

import hashlib
import io
import pickle
from types import CodeType, FunctionType, MethodType
from typing import Any, final

import numpy as np

from rbdae.laws.copies import names_of

_PLAIN = (bool, int, float, complex, str, tuple, np.ndarray, np.generic, FunctionType)
"""Types of globals that are included; modules and classes count by their names in the code."""


def content_hash(value: object) -> str:
    """24 hexadecimal digits, equal for equal content in all processes with the same version of Python.

    Functions count by code, defaults, closure and plain globals; everything else counts as pickled.

    Raises
    ------
    TypeError
        for values that cannot be pickled
    """
    digest = io.BytesIO()
    try:
        _Content(digest).dump(value)
    except (TypeError, AttributeError, ValueError, pickle.PicklingError) as error:
        raise TypeError(
            f"a value cannot be pickled ({error}), so results could not be recognised as results of "
            "this mechanism; keep such values out of its laws"
        ) from error
    return hashlib.sha256(digest.getvalue()).hexdigest()[:24]


@final
class _Content(pickle.Pickler):
    """A pickler for hashing only: the same output for equal values, whether or not they share objects."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=4)
        self.fast = True  # no memory of earlier objects
        self._begun: list[FunctionType] = []

    def reducer_override(self, value: Any) -> Any:
        """The content of functions, methods and callable classes."""
        value = getattr(value, "py_func", value)  # of a function compiled by numba
        if isinstance(value, FunctionType):
            return tuple, (self._function(value),)
        if isinstance(value, MethodType):
            return tuple, ((value.__func__, value.__self__),)
        if isinstance(value, type) and isinstance(call := vars(value).get("__call__"), FunctionType):
            return tuple, ((value.__module__, value.__qualname__, call),)
        return NotImplemented

    def _function(self, function: FunctionType) -> tuple[Any, ...]:
        if function in self._begun:
            return (function.__qualname__,)
        self._begun.append(function)
        names = {name: function.__globals__.get(name) for name in sorted(names_of(function.__code__))}
        return (
            _code(function.__code__),
            function.__defaults__,
            function.__kwdefaults__,
            [cell.cell_contents for cell in function.__closure__ or ()],
            {name: used for name, used in names.items() if isinstance(used, _PLAIN)},
        )


def _code(code: CodeType) -> tuple[Any, ...]:
    constants = [
        _code(value)
        if isinstance(value, CodeType)
        else sorted(map(repr, value))
        if isinstance(value, frozenset)
        else value
        for value in code.co_consts
    ]
    return code.co_code, code.co_names, code.co_varnames[: code.co_argcount], constants
