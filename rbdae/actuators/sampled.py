"""`Sampled`: a controller that runs at fixed times and holds its outputs between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self, final

import attrs

from rbdae import _check
from rbdae._frozen import twin
from rbdae.actuators.block import Block, given_mapping
from rbdae.body import Body
from rbdae.inputs import Input


@final
@attrs.frozen(eq=False, slots=False, init=False, repr=False)
class Sampled(Block):
    """A controller with the period T: at t = k T it reads its inputs and sets its outputs, which are held until then.

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

    The solver stops at each k T, k = 0, 1, ..., in the run, and starts again with the new outputs: no step reaches over
    a jump. The law is plain Python and called once a sample; it may call what it likes.

    Parameters
    ----------
    period : float
        T, s.
    law : function (t, u, m)
        Returns the outputs, a sequence in their order; or (outputs, memory), where memory is a mapping with names of
        `memory`, which the next call gets as m. u and m have their numbers by name and in order.
    outputs : names
        Quantities of this block, for other blocks and actuators.
    inputs : mapping
        Names, and numbers, functions of the time, inputs of the system or quantities.
    memory : mapping
        Names and values before the first sample. It belongs to the run, which begins with these values.
    start : mapping
        The outputs before the first sample, 0 if they are not given.
    name : str, optional
    """

    period: float = attrs.field(init=False)
    inputs: Sequence[str] = attrs.field(init=False)  # type: ignore[misc]
    outputs: Sequence[str] = attrs.field(init=False)  # type: ignore[misc]
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
        """None: there are no unknowns."""
        return []

    @property
    def default_name(self) -> str:
        """The name before the number, as it is in labels."""
        return "sampled"

    def bound(self, name: str, ground: Body) -> Self:
        """The same block with a name, and with inputs of the system for its outputs."""
        held = {key: Input(f"{name}.{key}", value) for key, value in self.first.items()}
        return twin(self, name=name, held=MappingProxyType(held))

    @property
    def observed_names(self) -> tuple[str, ...]:
        """None: what it holds are inputs."""
        return ()

    def observed(self, arguments: Any, observe: Any = None) -> dict[str, Any]:
        """No outputs."""
        return {}

    def sampled(self, t: float, inputs: Sequence[float], memory: Any) -> tuple[list[float], Any]:
        """Outputs and memory after a sample at t.

        Raises
        ------
        ValueError, TypeError
            for what are no finite numbers, by name and time
        """
        owner = f"{self._owner_of(self.name)} at t = {t:g}"
        u = self._values(self.inputs, inputs)
        found = self.function(t, u, memory)
        new = memory
        if self.memory and isinstance(found, tuple) and len(found) == 2 and isinstance(found[1], Mapping):
            found, given = found
            for key in given:
                if key not in self.memory:
                    raise _check.unknown(f"memory of {owner}", key, self.memory)
            new = memory._replace(**{k: _check.number(owner, k, v) for k, v in given.items()})
        values = list(found.values()) if isinstance(found, Mapping) else found
        numbers = values if isinstance(values, (list, tuple)) or hasattr(values, "__len__") else [values]
        if len(numbers) != len(self.outputs):
            raise ValueError(
                f"{owner}: its law gives {len(numbers)} outputs, and it has {len(self.outputs)}: "
                f"{', '.join(self.outputs)}; return one number for each"
            )
        return [_check.number(owner, k, v) for k, v in zip(self.outputs, numbers, strict=True)], new

    def first_memory(self) -> Any:
        """The memory before the first sample."""
        return self._values(tuple(self.memory), list(self.memory.values()))
