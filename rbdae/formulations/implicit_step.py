"""A step of an integration scheme, compiled for a model like a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from rbdae.kernels.entry import Entry


@final
@dataclass(frozen=True, slots=True)
class ImplicitStep:
    """A step of an integration scheme, compiled for a model as one function (`rbdae.machine.implicit_step`).

    Parameters
    ----------
    newton, advance : kernels of one iteration, and of the end of the step
    """

    newton: Entry
    advance: Entry

    @property
    def name(self) -> str:
        """For messages and files."""
        return f"{self.newton.name}_and_{self.advance.name.rpartition(':')[2]}"

    @property
    def signs(self) -> str:
        """The arguments of its kernels."""
        return self.newton.signs
