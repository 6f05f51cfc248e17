"""`block`: equations beside those of a mechanism, by a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import attrs

from rbdae import _check
from rbdae.actuators.block import Block, given_mapping


@final
@attrs.frozen(eq=False, slots=False, init=False, repr=False)
class FunctionBlock(Block):
    """Equations without a force: sdot = f(t, s, z, u, p) and 0 = g(t, s, z, u, p), in one DAE with the mechanism.

        room = system.add_block(
            rbdae.block(
                lambda t, s, z, u, p: [(u.loss - 20.0 * (s.temperature - 283.0)) / 4e4],
                states={"temperature": 293.0},
                inputs={"loss": motor.loss},
                name="room",
            )
        )

    Parameters
    ----------
    law : function (t, s, z, u, p)
        Returns sdot, or (sdot, g) if there are algebraic unknowns; g alone if there is no state. Plain Python, pure;
        s, z, u and p have their numbers by name and in order.
    states, algebraic : mappings
        Names and values at the start; of algebraic unknowns where Newton's method begins. dg/dz is regular.
    inputs : mapping
        Names, and numbers, functions of the time, inputs of the system or quantities.
    outputs, observe : names, and a function (t, s, z, u, p) that gives them
    parameters : mapping of numbers
    name : str, optional
    """

    states: Mapping[str, float] = attrs.field(init=False)  # type: ignore[misc]
    algebraic: Mapping[str, float] = attrs.field(init=False)  # type: ignore[misc]
    inputs: Sequence[str] = attrs.field(init=False)  # type: ignore[misc]
    outputs: Sequence[str] = attrs.field(init=False)  # type: ignore[misc]
    parameters: Mapping[str, float] = attrs.field(init=False)  # type: ignore[misc]
    law: Callable[..., Any] = attrs.field(init=False)  # type: ignore[misc]
    observe: Callable[..., Any] | None = attrs.field(init=False)  # type: ignore[misc]

    def __init__(
        self,
        law: Callable[..., Any],
        *,
        states: Mapping[str, float] | None = None,
        algebraic: Mapping[str, float] | None = None,
        inputs: Mapping[str, Any] | None = None,
        outputs: Sequence[str] = (),
        observe: Callable[..., Any] | None = None,
        parameters: Mapping[str, float] | None = None,
        name: str | None = None,
    ) -> None:
        owner = self._owner_of(name)
        _check.takes(owner, "law", law, "t", "s", "z", "u", "p")
        names = tuple(_check.names(f"{owner}: outputs", outputs))
        if (observe is None) != (not names):
            raise ValueError(
                f"{owner}: outputs and observe go together, got outputs={_check.show(outputs)} and "
                f"observe={_check.show(observe)}; give the names, and the function that gives their numbers"
            )
        if observe is not None:
            _check.takes(owner, "observe", observe, "t", "s", "z", "u", "p")
        read = given_mapping(owner, "inputs", inputs)
        self._set(
            states=given_mapping(owner, "states", states),
            algebraic=given_mapping(owner, "algebraic", algebraic),
            inputs=tuple(read),
            outputs=names,
            parameters=given_mapping(owner, "parameters", parameters),
            law=law,
            observe=observe,
        )
        super().__init__(name=name, **read)

    @property
    def default_name(self) -> str:
        """The name before the number, as it is in labels."""
        return "block"


block = FunctionBlock
"""The name of the class for users: `rbdae.block`."""
