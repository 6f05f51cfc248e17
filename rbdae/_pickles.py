"""A refusal by name of what cannot be pickled: a user's function belongs to a force, or to the law of a drive."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterator
from typing import Any

from rbdae import _check
from rbdae.forces.element import TimeFunction
from rbdae.input_motion import InputMotion
from rbdae.motion import Motion


def check_pickles(owner: str, part: Any) -> None:
    """Refuse a joint or force with a function that pickle cannot find by its name.

    Raises
    ------
    pickle.PicklingError
        with the owner, the field, the function and the remedy
    """
    for field, function in _functions(part):
        try:
            pickle.dumps(function)
        except Exception as error:  # pickle has no common class of errors
            raise pickle.PicklingError(
                f"{owner}: its {field} {_check.show(function)} cannot be pickled ({error}); define it by def at the "
                "top of a module, or give an object of a class that is defined there"
            ) from error


def _functions(part: Any) -> Iterator[tuple[str, object]]:
    """The user's functions among the fields of a value, also in values of fields."""
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        if isinstance(value, (Motion, InputMotion, TimeFunction)):
            yield from ((field.name, function) for function in value.functions)
        elif callable(value):
            yield field.name, value


__all__ = ["check_pickles"]
