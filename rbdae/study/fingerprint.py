"""A number for what a mechanism is, by which stored results are recognised as its own.

It covers everything that decides a motion: gravity, bodies with their initial values, joints, forces, and the functions
of the user with their code, defaults and the values that they close over. Names of bodies, joints and forces count as
labels and are left out, so a mechanism with other names is the same one. Globals that a function reads are covered
where they are numbers, strings, arrays or functions themselves.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from rbdae._frozen import field_names
from rbdae.body import Body
from rbdae.input_motion import InputMotion
from rbdae.motion import Motion
from rbdae.system import System

_LABELS = {"name", "owner"}


def fingerprint(system: System) -> str:
    """24 hexadecimal digits; the same in every process for the same mechanism.

    Raises
    ------
    TypeError
        for a joint or force whose function has no content that can be read, with its name
    """
    walk = _Walk(system)
    digest = hashlib.sha256()
    for text in walk.system(system):
        digest.update(text.encode())
        digest.update(b"\0")
    return digest.hexdigest()[:24]


class _Walk:
    """Everything in a system as texts, one after another; bodies are numbers."""

    def __init__(self, system: System) -> None:
        self._numbers = {id(body): k for k, body in enumerate((system.ground, *system.bodies))}
        self._seen: list[Any] = []

    def system(self, system: System) -> Iterator[str]:
        yield from self.value(system.gravity)
        for body in system.bodies:
            yield from self._fields(body)
        for what, parts in (("joint", system.joints), ("force", system.forces)):
            yield what
            for part in parts:
                try:
                    yield from self.value(part)
                except (TypeError, AttributeError, pickle.PicklingError, ValueError) as error:
                    raise TypeError(
                        f"{what} {part.name!r}: its content cannot be read ({error}), so that results could not be "
                        "recognised as those of this mechanism; define its functions by def at the top of a module"
                    ) from error

    def value(self, value: Any) -> Iterator[str]:
        """The content of a value."""
        if isinstance(value, Body):
            yield f"body {self._numbers[id(value)]}"
        elif value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            yield f"{type(value).__name__} {value!r}"
        elif isinstance(value, (np.ndarray, np.generic)) and np.asarray(value).dtype != object:
            array = np.asarray(value)
            yield f"array {array.dtype.str} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
        elif isinstance(value, (tuple, list)):
            yield f"{len(value)} values"
            for item in value:
                yield from self.value(item)
        elif isinstance(value, (Motion, InputMotion)):
            yield f"motion {value.n}"
            yield from self.value(value.functions)
            yield from self.value(value.inputs)
        elif isinstance(value, (type, CodeType)) or any(value is seen for seen in self._seen):
            yield from self._known(value)
        else:
            self._seen.append(value)
            yield from self._compound(value)

    def _known(self, value: Any) -> Iterator[str]:
        if isinstance(value, type):
            yield f"class {value.__module__}.{value.__qualname__}"
        elif isinstance(value, CodeType):
            yield from self._code(value)
        else:
            yield f"seen {next(k for k, seen in enumerate(self._seen) if value is seen)}"

    def _compound(self, value: Any) -> Iterator[str]:
        function = getattr(value, "py_func", value)  # of what numba has compiled
        if isinstance(function, FunctionType):
            yield from self._function(function)
        elif isinstance(value, MethodType):
            yield from self.value(value.__func__)
            yield from self.value(value.__self__)
        elif isinstance(value, dict):
            for key in sorted(value, key=repr):
                yield from self.value(key)
                yield from self.value(value[key])
        elif field_names(type(value)):
            yield from self.value(type(value))
            yield from self._fields(value)
        else:
            yield from self._object(value)

    def _fields(self, value: Any) -> Iterator[str]:
        for name in field_names(type(value)):
            if name not in _LABELS:
                yield name
                yield from self.value(getattr(value, name))

    def _object(self, value: Any) -> Iterator[str]:
        """An object of somebody's class: its attributes; without any, as pickle sees it."""
        yield from self.value(type(value))
        attributes = getattr(value, "__dict__", None)
        if attributes:
            for name in sorted(attributes):
                yield name
                yield from self.value(attributes[name])
        else:
            yield hashlib.sha256(pickle.dumps(value)).hexdigest()
        call = vars(type(value)).get("__call__")
        if isinstance(call, FunctionType):
            yield from self.value(call)

    def _function(self, function: FunctionType) -> Iterator[str]:
        yield f"function {function.__qualname__}"
        yield from self._code(function.__code__)
        yield from self.value(function.__defaults__ or ())
        yield from self.value(dict(function.__kwdefaults__ or {}))
        for cell in function.__closure__ or ():
            yield from self.value(cell.cell_contents)
        for name in sorted(_names(function.__code__)):
            used = function.__globals__.get(name)
            if isinstance(used, (bool, int, float, complex, str, tuple, np.ndarray, np.generic, FunctionType)):
                yield f"global {name}"
                yield from self.value(used)

    def _code(self, code: CodeType) -> Iterator[str]:
        yield f"code {code.co_code.hex()} {code.co_names} {code.co_varnames[: code.co_argcount]}"
        for constant in code.co_consts:
            if isinstance(constant, frozenset):
                yield f"frozenset {sorted(map(repr, constant))}"
            elif constant is Ellipsis:
                yield "..."
            else:
                yield from self.value(constant)


def _names(code: CodeType) -> set[str]:
    """Names that a function, or one inside it, may read as globals."""
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*map(_names, inner))


__all__ = ["fingerprint"]
