"""The content of a value with users' functions in it, as a hash: pickle finds functions by name, whatever they do."""

from __future__ import annotations

import hashlib
import io
import pickle
from types import CodeType, FunctionType, MethodType
from typing import Any, final

import numpy as np

from rbdae.laws.copies import names_of

_PLAIN = (bool, int, float, complex, str, tuple, np.ndarray, np.generic, FunctionType)
"""Values of global names that are covered; modules and classes count by their names in the code."""


def content_hash(value: object) -> str:
    """24 hexadecimal digits; the same in every process of one version of Python for the same content.

    Functions count by their code, defaults, the values that they close over, and the plain globals that they read;
    everything else counts as pickle sees it.

    Raises
    ------
    TypeError
        for what cannot be pickled
    """
    digest = io.BytesIO()
    try:
        _Content(digest).dump(value)
    except (TypeError, AttributeError, ValueError, pickle.PicklingError) as error:
        raise TypeError(
            f"a value has no content that can be read ({error}), so that results could not be recognised as those of "
            "this mechanism; keep what cannot be pickled out of its laws"
        ) from error
    return hashlib.sha256(digest.getvalue()).hexdigest()[:24]


@final
class _Content(pickle.Pickler):
    """A pickler whose output is not read again: the same text for equal values, whatever objects they share."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=4)
        self.fast = True  # no memory of what was there before
        self._begun: list[FunctionType] = []

    def reducer_override(self, value: Any) -> Any:
        """Of functions, methods, and classes that can be called: their content."""
        value = getattr(value, "py_func", value)  # of what numba has compiled
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
