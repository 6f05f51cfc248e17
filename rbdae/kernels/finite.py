"""Whether values are numbers, asked after every evaluation of a run: numpy's way costs more than some evaluations."""

from __future__ import annotations

from rbdae.compiler.access import Array
from rbdae.compiler.jit import entry


@entry("yo")
def zero_or_nan(values: Array, out: Array) -> None:
    """out[0] = 0 if all values are finite, else nan."""
    total = 0.0
    for k in range(values.shape[0]):
        total += 0.0 * values[k]
    out[0] = total


__all__ = ["zero_or_nan"]
