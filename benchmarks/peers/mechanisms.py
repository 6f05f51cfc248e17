"""The mechanisms of the comparison for those who write their equations themselves, all numbers from rbdae's models.

The unknowns are those of `index-0` with quaternions: first the positions of all bodies (centre of mass and Euler
parameters; a body on a fixed point has these alone), then their velocities (of the centre, and angular in the body).
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable
from typing import TypeVar, final

import numpy as np
import numpy.typing as npt

import rbdae

Array = npt.NDArray[np.float64]
T = TypeVar("T")


class Mechanism(abc.ABC):
    """A model, and what is asked of a run of it.

    Attributes
    ----------
    name : str
        For the table and the command line.
    t_end : float
        End of the run, s; it starts at 0.
    length : float
        The length that errors of positions are divided by, m.
    targets : tuple of float
        Errors at the end to be reached.
    """

    name: str
    t_end: float
    length: float
    targets: tuple[float, ...] = (1e-6, 1e-9)

    @abc.abstractmethod
    def build(self) -> rbdae.System:
        """The model."""

    @abc.abstractmethod
    def centres(self, y: Array) -> Array:
        """(n_bodies, 3) positions of the centres of mass at the unknowns y."""

    @abc.abstractmethod
    def numbers(self) -> dict[str, float]:
        """What the C code is compiled with, by the names that it has there."""

    @functools.cached_property
    def system(self) -> rbdae.System:
        """One of them."""
        return self.build()

    @functools.cached_property
    def problem(self) -> rbdae.Problem:
        """Its `index-0`: everybody's unknowns and start."""
        return rbdae.formulate(self.system, "index-0")

    @functools.cached_property
    def y0(self) -> Array:
        """(n,) the start."""
        return np.array(self.problem.y0)


@final
class HeavyTop(Mechanism):
    """A top on a fixed point, its centre on d3, principal axes those of the body."""

    name = "heavy_top"
    t_end = 5.0

    def __init__(self) -> None:
        top = self.system.bodies[0]
        self.mass = float(top.mass)
        self.inertia = diagonal(top.inertia)  # about the fixed point
        self.length = float(top.center_of_mass[2])
        self.gravity = -float(self.system.gravity[2])

    def build(self) -> rbdae.System:
        return rbdae.models.heavy_top()

    def centres(self, y: Array) -> Array:
        p = np.asarray(y)[:4] / np.linalg.norm(y[:4])
        d3 = (2.0 * (p[1] * p[3] + p[0] * p[2]), 2.0 * (p[2] * p[3] - p[0] * p[1]), 1.0 - 2.0 * (p[1] ** 2 + p[2] ** 2))
        return self.length * np.array([d3])

    def numbers(self) -> dict[str, float]:
        own = {"TOP_WEIGHT": self.mass * self.gravity, "TOP_LENGTH": self.length}
        return own | {f"TOP_J{k + 1}": self.inertia[k] for k in range(3)}


@final
class LinkedBodies(Mechanism):
    """Two bodies with a spherical joint, the first one held by a spring of one stiffness, no gravity."""

    name = "linked_bodies"
    t_end = 0.5
    targets = (1e-3, 1e-6)

    def __init__(self) -> None:
        bodies, joint = self.system.bodies, self.system.joints[0]
        self.masses = tuple(float(b.mass) for b in bodies)
        self.inertias = tuple(diagonal(b.inertia) for b in bodies)
        self.points = (np.array(joint.at_a), np.array(joint.at_b))
        self.stiffness = float(diagonal(self.system.forces[0].stiffness)[0])
        self.length = float(np.linalg.norm(bodies[1].position))  # of the centres from each other, at the start

    def build(self) -> rbdae.System:
        return rbdae.models.linked_bodies()

    def centres(self, y: Array) -> Array:
        return np.array((y[:3], y[7:10]))

    def numbers(self) -> dict[str, float]:
        found = {"STIFFNESS": self.stiffness}
        for name, mass, J, point in zip(("FIRST", "SECOND"), self.masses, self.inertias, self.points, strict=True):
            found[f"{name}_MASS"] = mass
            found |= {f"{name}_J{k + 1}": float(J[k]) for k in range(3)}
            found |= {f"{name}_RHO{k + 1}": float(point[k]) for k in range(3)}
        return found


@final
class Chain(Mechanism):
    """Round rods on spherical joints that fall from the horizontal at rest."""

    t_end = 0.5

    def __init__(self, n: int) -> None:
        self.n = n
        self.name = f"chain({n})"
        link = self.system.bodies[0]
        self.mass = float(link.mass)
        self.inertia = diagonal(link.inertia)  # about the centre; the axis is the first
        self.length = 2.0 * float(link.center_of_mass[0])  # of a link
        self.gravity = -float(self.system.gravity[2])

    def build(self) -> rbdae.System:
        return rbdae.models.chain(self.n)

    def centres(self, y: Array) -> Array:
        return np.array(y[: 7 * self.n].reshape(-1, 7)[:, :3])

    def numbers(self) -> dict[str, float]:
        own = {"LINK_MASS": self.mass, "LINK_LENGTH": self.length, "LINK_GRAVITY": self.gravity}
        return own | {f"LINK_J{k + 1}": float(self.inertia[k]) for k in range(2)}


def written(
    mechanism: Mechanism,
    top: Callable[[HeavyTop], T],
    pair: Callable[[LinkedBodies], T],
    chain: Callable[[Chain], T],
) -> T:
    """What a peer has for a mechanism: one function for each of them.

    Raises
    ------
    ValueError
        for another mechanism
    """
    match mechanism:
        case HeavyTop():
            return top(mechanism)
        case LinkedBodies():
            return pair(mechanism)
        case Chain():
            return chain(mechanism)
    raise ValueError(mechanism.name)


def diagonal(matrix: Array) -> Array:
    """(3,) the diagonal of a matrix that has nothing beside it: the equations by hand are written for no other."""
    matrix = np.asarray(matrix)
    if np.any(matrix - np.diag(np.diag(matrix))):
        raise ValueError(f"the equations by hand are for principal axes, got {matrix}")
    return np.diag(matrix).astype(float)


CASES = {
    "heavy_top": HeavyTop,
    "linked_bodies": LinkedBodies,
    "chain10": functools.partial(Chain, 10),
    "chain100": functools.partial(Chain, 100),
    "chain1000": functools.partial(Chain, 1000),
}
"""Names of the command line, and what makes the mechanism."""
