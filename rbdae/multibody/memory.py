"""The memory of a model in one formulation: constants and scratch of its kernels, laid out once."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.multibody.filled import Filled
from rbdae.multibody.layout import Layout, lay_out
from rbdae.multibody.model import Model
from rbdae.multibody.settings import Settings
from rbdae.multibody.velocity_selection import Metric

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
@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """Everything of a model in memory that no selection decides.

    With a `scalar` other than float64 it is for plain kernels alone, for example complex for complex-step derivatives.
    The scratch matrices of dense Jacobians are made when the first of them is asked for. `head` is the one that each
    workspace copies. `recorded` has the machine code of recorded kernels
    (`rbdae.multibody.traced`), which is recorded at the state `regular` with the selection's numbers `numbers`,
    whatever the selection of the problem is that asks first: so it is the same in copies, and after switches. `known`
    has facts that are found once, such as its digest (`rbdae.multibody.contents`), also for those of other numbers.
    `preparation` counts the time in which code was made: it is no part of a run's.
    """

    filled: Filled
    settings: Settings
    layout: Layout
    scalar: Any
    code: Code
    regular: Vec
    numbers: Vec
    recorded: dict[Any, Any]
    known: dict[Any, Any]
    preparation: Preparation = field(default_factory=Preparation)

    @classmethod
    def of(
        cls,
        model: Model,
        settings: Settings,
        scalar: Any = np.float64,
        code: Code = "plain",
        regular: Vec = _NOWHERE,
        numbers: Vec = _NOWHERE,
    ) -> Self:
        """The memory of a model; `regular` is a state of the problem and `numbers` are those of its selection, for
        recordings."""
        layout = lay_out(model, settings)
        filled = Filled.of(model, settings, layout, scalar)
        return cls(filled, settings, layout, scalar, code, regular, numbers, {}, {})

    @property
    def model(self) -> Model:
        """The model in it."""
        return self.filled.store.model

    @property
    def arrays(self) -> dict[str, Any]:
        """All arrays by the names of `rbdae.kernels.memory`."""
        return self.filled.store.arrays

    @property
    def head(self) -> Any:
        """Sizes and kinds."""
        return self.filled.store.head

    @property
    def metric(self) -> Metric:
        """How velocities are compared."""
        return self.filled.store.metric

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are memories of their own."""
        return Memory.of, (self.model, self.settings, self.scalar, self.code, self.regular, self.numbers)

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

    def renumbered(self, filled: Filled, regular: Vec) -> Self:
        """A memory of its own for a model that differs in masses, inertias, gravity and numbers of forces alone; its
        code is that of the structure."""
        return replace(self, filled=filled, regular=regular, recorded={}, preparation=Preparation())
