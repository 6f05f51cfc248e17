"""`Input`: a number that comes from outside of a mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """An input of a system, made by `rbdae.System.add_input`.

    Attributes
    ----------
    name : unique among the inputs of the system
    value : what it is where nothing else is given
    unit : for labels
    """

    name: str
    value: float = 0.0
    unit: str = ""


__all__ = ["Input"]
