"""`Evaluation`: what blocks of a network get, on numbers of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rbdae.actuators.block import Block, is_number
from rbdae.inputs import Input
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity


@final
@dataclass(frozen=True, eq=False)
class Motion:
    """A coordinate of two bodies: `owner` has it, `first` is the place of its bodies in the element; `turn` that of its
    turn among the states, or -1."""

    coordinate: Coordinate
    bodies: tuple[int, int]
    turn: int


@final
class Evaluation:
    """The arguments of laws at one x, each computed once; `users` are the functions of users by their keys."""

    def __init__(self, of: Any, users: Mapping[Any, Callable[..., Any]], t: Any, x: Any) -> None:
        self._of, self._t, self._x = of, t, x.tolist() if type(x) is np.ndarray else x
        self._users = users
        self._known: dict[Any, Any] = {}
        self._asked: list[Block] = []

    def _coordinate(self, motion: Motion) -> Any:
        if motion not in self._known:
            n = 12 * len(self._of.bodies)
            at = [12 * b + i for b in motion.bodies for i in range(12)]
            picked = [self._x[i] for i in at] + [self._x[n + i] for i in at]
            self._known[motion] = motion.coordinate.at(picked)
        return self._known[motion]

    def motion(self, motion: Motion) -> tuple[Any, Any]:
        """A coordinate, unwound if it has a turn, and its rate."""
        s, rate, _ = self._coordinate(motion)
        if motion.turn < 0:
            return s, rate
        turn = self._x[24 * len(self._of.bodies) + motion.turn]
        return turn + np.arctan2(np.sin(s - turn), np.cos(s - turn)), rate

    def gradient(self, motion: Motion) -> Any:
        """ds/dZ of a coordinate."""
        return self._coordinate(motion)[2]

    def unknowns(self, block: Block) -> list[Any]:
        """The states and algebraic unknowns of a block."""
        first = 24 * len(self._of.bodies)
        return [self._x[first + k] for k in self._of.states[id(block)]]

    def inputs(self, block: Block) -> list[Any]:
        """The inputs of a block."""
        return [self._input(block, name) for name in block.inputs]

    def _constants(self, block: Block) -> dict[str, Any] | None:
        """Its constants among the last numbers of x; None if x has none."""
        first = 24 * len(self._of.bodies) + len(self._of.names) + len(self._of.inputs)
        if len(self._x) == first:
            return None
        at = first + self._of.constants_at[id(block)]
        names = block.constants
        return dict(zip(names, self._x[at : at + len(names)], strict=True))

    def _input(self, block: Block, name: str) -> Any:
        source = self._of.resolved(block.sources[name])
        if is_number(source):
            known = self._constants(block)
            return float(np.real(source)) if known is None else known[name]
        if isinstance(source, Input):
            return self._x[24 * len(self._of.bodies) + len(self._of.names) + self._of.inputs.index(source)]
        if isinstance(source, Quantity):
            owner = self._of.owner_of(source)
            if source.aspect == "own":
                return self._own(owner, source.name)
            return self.motion(self._of.source_motion(source))[source.aspect == "rate"]
        return self._users[block, name](self._t) if callable(source) else source

    def _own(self, block: Block, name: str) -> Any:
        if name in block.unknown_names:
            return self.unknowns(block)[block.unknown_names.index(name)]
        if name in block.inputs:
            return self._input(block, name)
        return self.outputs(block)[name]

    def arguments(self, block: Block) -> Any:
        """The arguments of its law."""
        if (block, "law") not in self._known:
            motion = None if block.coordinate is None else self.motion(self._of.motion_of(block))
            known = self._constants(block)
            numbers = None if known is None else [known[name] for name in block.values]
            self._known[block, "law"] = block.arguments(
                self._t, motion, self.unknowns(block), self.inputs(block), numbers
            )
        return self._known[block, "law"]

    def results(self, block: Block) -> tuple[Any, list[Any], list[Any]]:
        """Effort, sdot and g of its law."""
        return block.results(self._users[block, "law()"](*self.arguments(block)))

    def outputs(self, block: Block) -> dict[str, Any]:
        """Its outputs; refuses those that depend on themselves."""
        if (block, "outputs") not in self._known:
            if block in self._asked:
                names = " -> ".join(str(each.name) for each in [*self._asked[self._asked.index(block) :], block])
                raise ValueError(
                    f"the outputs of {names} depend on each other; make one of them an algebraic unknown or a state"
                )
            self._asked.append(block)
            observe = self._users[block, "observe()"] if block.outputs else None
            self._known[block, "outputs"] = block.observed(self.arguments(block), observe)
            self._asked.pop()
        found: dict[str, Any] = self._known[block, "outputs"]
        return found


__all__ = ["Evaluation", "Motion"]
