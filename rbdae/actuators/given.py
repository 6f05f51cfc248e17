"""Names and numbers by name that are given to blocks, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rbdae import _check
from rbdae.inputs import check_number_names
from rbdae.quantities.quantity import Quantity


def given_mapping(owner: str, what: str, value: Any) -> dict[str, Any]:
    """A mapping by name; nothing of None. Raises TypeError for anything else."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(
            f'{owner}: {what} must be a mapping by name, got {_check.show(value)}; pass e.g. {{"name": 1.0}}'
        )
    return dict(value)


def check_names(owner: str, own: Sequence[str], inputs: Sequence[str], parameters: Mapping[str, float]) -> None:
    """Refuse names that are no attributes, or that two things have."""
    check_number_names(owner, (*own, *parameters))
    for key in own:
        if own.count(key) > 1 or (key in inputs and key in parameters):
            raise ValueError(f"{owner}: two of its quantities and parameters are called {key!r}; rename one")


def contents(block: Any) -> str:
    """The states, algebraic unknowns, inputs and outputs of a block by name."""
    what = {name: getattr(block, name) for name in ("states", "algebraic", "inputs", "outputs")}
    return "; ".join(f"{name} {', '.join(each)}" for name, each in what.items() if each)


def readable(owner: str, what: str, source: Quantity) -> Quantity:
    """A quantity that a block may read. Raises ValueError for what follows from the accelerations, and for what belongs
    to no coordinate."""
    if source.aspect in ("value", "rate", "own"):
        return source
    if source.aspect in ("turn", "axis", "spin"):
        raise ValueError(
            f"{owner}: {what} cannot be {source!r}: it belongs to no coordinate; give one, its rate, a state or an "
            "output"
        )
    raise ValueError(
        f"{owner}: {what} cannot be {source!r}: it follows from the accelerations, and they from the forces; "
        "give a position, a rate, a state or an output"
    )


__all__ = ["check_names", "contents", "given_mapping", "readable"]
