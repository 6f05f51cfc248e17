"""`Sampled`: a controller that runs at fixed times and holds its outputs in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Self, final

import attrs

from rbdae import _check
from rbdae._frozen import twin
from rbdae.actuators.block import Block, given_mapping
from rbdae.body import Body
from rbdae.inputs import Input


@final
@attrs.frozen(eq=False, slots=False, init=False, repr=False)
class Sampled(Block):
    """A controller with period T: at t = k T it reads its inputs and sets its outputs, held until the next sample::

        control = system.add_block(
            rbdae.Sampled(
                1e-3,
                lambda t, u, m: (-40.0 * u.angle - 2.0 * u.rate,),
                inputs={"angle": pin.angle, "rate": pin.rate},
                outputs=("torque",),
                name="control",
            )
        )
        system.add_force(rbdae.actuators.Source(pin, effort=control.torque))

    The solver stops at each k T, k = 0, 1, ..., in the run, and starts again with the new outputs: no step crosses a
    jump. The law is plain Python, called once per sample; it may call anything.

    Parameters
    ----------
    period : float
        T, s.
    law : function (t, u, m)
        Returns the outputs as a sequence in order, or (outputs, memory), where memory is a mapping with names of
        `memory` that the next call gets as m. u and m have their numbers by name and in order.
    outputs : names
        Quantities of this block, for other blocks and actuators.
    inputs : mapping
        Names, and numbers, functions of time, inputs of the system or quantities.
    memory : mapping
        Names and values before the first sample. Each run begins with these values.
    start : mapping
        The outputs before the first sample, by default 0.
    name : str, optional
    """

    default_name: ClassVar = "sampled"

    period: float = attrs.field(init=False)
    memory: Mapping[str, float] = attrs.field(init=False)
    function: Callable[..., Any] = attrs.field(init=False)
    first: Mapping[str, float] = attrs.field(init=False)
    held: Mapping[str, Input] = attrs.field(init=False)

    def __init__(
        self,
        period: float,
        law: Callable[..., Any],
        outputs: Sequence[str],
        *,
        inputs: Mapping[str, Any] | None = None,
        memory: Mapping[str, float] | None = None,
        start: Mapping[str, float] | None = None,
        name: str | None = None,
    ) -> None:
        owner = self._owner_of(name)
        _check.takes(owner, "law", law, "t", "u", "m")
        names = tuple(_check.names(f"{owner}: outputs", [outputs] if isinstance(outputs, str) else outputs))
        if not all(names) or not names:
            raise ValueError(
                f"{owner}: it has no outputs, got {_check.show(outputs)}; name one, e.g. outputs=('torque',)"
            )
        read, start = given_mapping(owner, "inputs", inputs), given_mapping(owner, "start", start)
        for key in start:
            if key not in names:
                raise _check.unknown(f"output of {owner}", key, names)
        self._set(
            period=_check.positive(owner, "period", period, "give e.g. 1e-3 s"),
            inputs=tuple(read),
            outputs=names,
            memory=MappingProxyType(
                {k: _check.number(owner, k, v) for k, v in given_mapping(owner, "memory", memory).items()}
            ),
            function=law,
            first=MappingProxyType({k: _check.number(owner, k, start.get(k, 0.0)) for k in names}),
            held=MappingProxyType({}),
        )
        super().__init__(name=name, **read)

    def law(self, *_: Any) -> Any:
        return []

    def bound(self, name: str, ground: Body) -> Self:
        """The same block with a name, and with inputs of the system for its outputs."""
        held = {key: Input(f"{name}.{key}", value) for key, value in self.first.items()}
        return twin(self, name=name, held=MappingProxyType(held))

    def sampled(self, t: float, inputs: Sequence[float], memory: Any) -> tuple[list[float], Any]:
        """Outputs and memory after a sample at t. Raises ValueError and TypeError, by name and time, for results that
        are not finite numbers."""
        owner = f"{self._owner_of(self.name)} at t = {t:g}"
        u = self._values(self.inputs, inputs)
        outputs = self.function(t, u, memory)
        new = memory
        if self.memory and isinstance(outputs, tuple) and len(outputs) == 2 and isinstance(outputs[1], Mapping):
            outputs, new_memory = outputs
            for key in new_memory:
                if key not in self.memory:
                    raise _check.unknown(f"memory of {owner}", key, self.memory)
            new = memory._replace(**{k: _check.number(owner, k, v) for k, v in new_memory.items()})
        values = list(outputs.values()) if isinstance(outputs, Mapping) else outputs
        numbers = values if isinstance(values, (list, tuple)) or hasattr(values, "__len__") else [values]
        if len(numbers) != len(self.outputs):
            raise ValueError(
                f"{owner}: its law returns {len(numbers)} outputs, and it has {len(self.outputs)}: "
                f"{', '.join(self.outputs)}; return one number for each"
            )
        return [_check.number(owner, k, v) for k, v in zip(self.outputs, numbers, strict=True)], new

    def first_memory(self) -> Any:
        """The memory before the first sample."""
        return self._values(tuple(self.memory), list(self.memory.values()))
