"""Joints and forces that were made for bodies and not added to a system: `rbdae.formulate` warns of them.

They are known by weak references, so that what nobody keeps is gone, and by the statement that makes one and drops it:
what is called as a statement of its own cannot be added any more. Copies and pickles are not made by a call of their
class, and do not count.
"""

from __future__ import annotations

import dis
import sys
from abc import ABCMeta
from collections.abc import Iterable
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

_POP, _CACHE = dis.opmap["POP_TOP"], dis.opmap.get("CACHE", 0)
_MOST = 8
"""Names of dropped ones that a body keeps."""

_open: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""What was made and not yet added, by its id."""

_dropped: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()
"""Names of what was made by a statement and dropped, by the bodies that move."""


class Made(ABCMeta):
    """The class of classes of joints and forces: it notes what is made."""

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        """The value, noted."""
        out = super().__call__(*arguments, **named)
        if _is_dropped(sys._getframe(1)):
            for body in out.bodies:
                known = _dropped.setdefault(body, [])
                if not body.fixed and len(known) < _MOST:
                    known.append(_named(out))
        else:
            _open[id(out)] = out
        return out


def _is_dropped(frame: FrameType) -> bool:
    """Whether the call that runs in a frame is a statement of its own, whose value nobody gets."""
    code, at = frame.f_code.co_code, frame.f_lasti + 2
    while at < len(code) and code[at] == _CACHE:
        at += 2
    return at < len(code) and code[at] == _POP


def _named(value: Any) -> str:
    kind = type(value).__name__
    if value.name is not None:
        return f"{kind} {value.name!r}"
    return f"{kind}({', '.join(repr(body.name) for body in value.bodies)})"


def forget(value: Any) -> None:
    """Note no more what is added, what is refused with a message, and a joint whose axis an added force has."""
    if value is not None and _open.get(id(value)) is value:
        _open.pop(id(value), None)


def never_added(bodies: Iterable[Any]) -> list[str]:
    """Names of what was made for some of these bodies, all of them moving, and never added; in the order of making."""
    mine = list(bodies)
    numbers = {id(body) for body in mine}
    out = []
    for body in mine:
        out += _dropped.get(body, [])
    for value in list(_open.values()):
        if any(id(body) in numbers for body in value.bodies):
            out.append(_named(value))
    return list(dict.fromkeys(out))


__all__ = ["Made", "forget", "never_added"]
