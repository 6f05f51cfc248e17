"""`Memory`: a model in arrays, as kernels read them in one formulation."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.multibody.choices.layout import Layout, lay_out
from rbdae.multibody.choices.settings import Settings
from rbdae.multibody.choices.velocity_selection import Metric, metric
from rbdae.multibody.memory.arrays import arrays_of, head_of, renumbered
from rbdae.multibody.system.model import Model

Code = Literal["auto", "folded", "plain"]
"""How kernels run: recorded and compiled for all models of a structure; the same with the numbers of one model as
constants; on floats as they stand, as the one evaluation of a start does."""

_NOWHERE = np.empty(0)


@final
class Preparation:
    """The time that making code has taken so far, of the processor and on the wall, s: a context that may be nested."""

    def __init__(self) -> None:
        self.seconds = self.wall_seconds = 0.0
        self._depth = 0
        self._since = 0.0, 0.0

    def __enter__(self) -> None:
        if self._depth == 0:
            self._since = time.thread_time(), time.perf_counter()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.thread_time() - self._since[0]
            self.wall_seconds += time.perf_counter() - self._since[1]


@final
@dataclass(frozen=True, eq=False)
class Memory:
    """Everything of a model in memory that no selection decides.

    Parameters
    ----------
    arrays : those that the model fills, by the names of `rbdae.kernels.memory`
    sizes : sizes and kinds of the head (`rbdae.kernels.memory.head`)
    code : how kernels run
    regular, numbers : a state of the problem and the numbers of its selection, at which code is recorded, whatever the
        selection of the problem is that asks first: so it is the same in copies, and after switches
    recorded : the machine code of recorded kernels (`rbdae.multibody.code.traced`)
    known : facts that are found once, such as its digest (`rbdae.multibody.memory.contents`), also for those of other
        numbers
    preparation : counts the time in which code was made, which is no part of a run's
    """

    model: Model
    settings: Settings
    layout: Layout
    arrays: Mapping[str, Any]
    sizes: Mapping[str, Any]
    code: Code
    regular: Vec
    numbers: Vec
    recorded: dict[Any, Any]
    known: dict[Any, Any]
    preparation: Preparation = field(default_factory=Preparation)

    @classmethod
    def of(
        cls, model: Model, settings: Settings, code: Code = "plain", regular: Vec = _NOWHERE, numbers: Vec = _NOWHERE
    ) -> Self:
        """The memory of a model, whose numbers may be complex for kernels that run in Python."""
        layout = lay_out(model, settings)
        arrays = arrays_of(model, settings, layout)
        return cls(model, settings, layout, arrays, head_of(model, settings, layout), code, regular, numbers, {}, {})

    @cached_property
    def metric(self) -> Metric:
        """How velocities are compared."""
        return metric(self.model)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are memories of their own."""
        return Memory.of, (self.model, self.settings, self.code, self.regular, self.numbers)

    @property
    def traced(self) -> bool:
        """Whether kernels become machine code."""
        return self.code != "plain"

    @property
    def name(self) -> Literal["machine", "folded"]:
        """The public name of recorded code."""
        return "folded" if self.code == "folded" else "machine"

    @property
    def opened(self) -> bool:
        """Whether they load the numbers of the model."""
        return self.code == "auto"

    def with_code(self, code: Code, regular: Vec, numbers: Vec) -> Self:
        """The same memory for kernels that run in another way."""
        return replace(
            self, code=code, regular=regular, numbers=numbers, recorded={}, known={}, preparation=Preparation()
        )

    def renumbered(self, model: Model, regular: Vec) -> Self:
        """A memory for other masses, inertias, gravity and numbers of forces; its code is the structure's."""
        arrays = renumbered(self.arrays, self.model, model, self.settings, self.layout)
        return replace(self, model=model, arrays=arrays, regular=regular, recorded={}, preparation=Preparation())
