"""The class of joints and forces: arguments that a constructor does not take, and what was made and not added to a
system, of which `rbdae.formulate` warns.

They are known by weak references, so that what nobody keeps is gone, and by the statement that makes one and drops it:
what is called as a statement of its own cannot be added any more. Copies and pickles are not made by a call of their
class, and do not count.
"""

from __future__ import annotations

import dis
import inspect
import sys
from abc import ABCMeta
from collections.abc import Iterable
from types import FrameType
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakValueDictionary

from rbdae import _check

_POP, _CACHE = dis.opmap["POP_TOP"], dis.opmap.get("CACHE", 0)
_MOST = 8
"""Names of dropped ones that a body keeps."""

_open: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""What was made and not yet added, by its id."""

_dropped: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()
"""Names of what was made by a statement and dropped, by the bodies that move."""

_OTHER_WORDS: Final = {
    "axis": ("axis_a", "axis_b", "axis"),
    "body_a": ("a",),
    "body_b": ("b",),
    "c": ("damping", "coefficient"),
    "d": ("damping",),
    "k": ("stiffness",),
    "location": ("at_a", "at_b"),
    "mu": ("coefficient",),
    "point": ("at_a", "at_b"),
    "position": ("at_a", "at_b"),
}
"""The arguments that other programs have for the same, with those that are meant."""


class Made(ABCMeta):
    """The class of classes of joints and forces: it notes what is made."""

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        """The value, noted."""
        try:
            out = super().__call__(*arguments, **named)
        except TypeError:
            _check_arguments(cls, arguments, named)
            raise
        if _is_dropped(sys._getframe(1)):
            for body in out.bodies:
                known = _dropped.setdefault(body, [])
                if not body.fixed and len(known) < _MOST:
                    known.append(_named(out))
        else:
            _open[id(out)] = out
        return out


def _check_arguments(cls: type, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Refuse a call that does not fit the constructor; Python would name an abstract class, and no remedy."""
    constructor: Any = cls
    signature = inspect.signature(constructor.__init__)
    try:
        signature.bind(None, *arguments, **named)
    except TypeError as error:
        known = list(signature.parameters)[1:]
        wrong = [name for name in named if name not in known]
        said = f"there is no argument {_either(wrong)}" if wrong else str(error)
        hints = [hint for name in wrong if (hint := _meant(name, known))]
        hint = f"; {hints[0]}" if hints else ""
        takes = ", ".join(str(each.replace(annotation=each.empty)) for each in list(signature.parameters.values())[1:])
        end = " It" if hint else "; it"
        raise TypeError(f"{cls.__name__}: {said}{hint}{end} takes ({takes})") from None


def _meant(name: str, known: list[str]) -> str:
    """A question with the arguments that a wrong name may stand for; empty if there are none."""
    meant = [other for other in _OTHER_WORDS.get(name.casefold(), ()) if other in known]
    return f"did you mean {_either(meant)}?" if meant else _check.nearest(name, known)


def _either(words: list[str]) -> str:
    return " or ".join(repr(word) for word in words)


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
