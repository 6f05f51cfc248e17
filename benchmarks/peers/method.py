"""What a peer offers: whole runs with something that can be turned to make them more exact, and compiled functions."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from .mechanisms import Array, Mechanism
from .missing import Missing

TOLERANCES = tuple(10.0 ** (-0.5 * k) for k in range(4, 27))
"""From 1e-2 to 1e-13, two in a decade."""


def steps(coarsest: float, finest: float) -> tuple[float, ...]:
    """Step sizes for methods without control of the error, each half as long as the one before, s."""
    found = [coarsest]
    while found[-1] > finest:
        found.append(0.5 * found[-1])
    return tuple(found)


@dataclass(frozen=True)
class Method:
    """A way to run a mechanism to its end.

    Parameters
    ----------
    name : str
        Of the integrator, in the table.
    prepare : callable
        ``prepare(knob)`` returns a run, a function without arguments whose time counts; what is done before does not
        count: models, compiling.
    centres : callable
        (n_bodies, 3) positions of the centres at the end from what a run returned. This does not count.
    knobs : tuple of float
        Tolerances or step sizes, from coarse to fine.
    """

    name: str
    prepare: Callable[[float], Callable[[], Any]]
    centres: Callable[[Any], Array]
    knobs: tuple[float, ...] = TOLERANCES


@dataclass(frozen=True)
class Compiled:
    """A compiled function of the signature of `c/peers.h`, to be called in a compiled loop.

    Parameters
    ----------
    name : str
        What it computes, in the table.
    address, context : int
        The function and its first argument.
    shape : tuple of int
        Of its output.
    keep : object
        What must live as long as the function.
    """

    name: str
    address: int
    context: int
    shape: tuple[int, ...]
    keep: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class Peer:
    """One package.

    Parameters
    ----------
    name : str
        For the table and the command line.
    methods : callable
        Ways to run a mechanism; none, if it is not for this package. Raises `Missing`.
    functions : callable
        Compiled functions of a mechanism. Raises `Missing`.
    packages : tuple of str
        Distributions, for their versions.
    """

    name: str
    methods: Callable[[Mechanism], list[Method]]
    functions: Callable[[Mechanism], list[Compiled]] = lambda mechanism: []
    packages: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """Versions of the packages that are here."""
        return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in self.packages)


def needed(install: str, packages: Iterable[str]) -> None:
    """Raises `Missing` where one of the packages cannot be imported."""
    for name in packages:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise Missing(name, install) from error


PIP = "python -m pip install '.[peers]'"
"""The command for all peers that come as wheels."""
