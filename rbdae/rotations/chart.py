"""The definition of a chart, the registry, and the chart of a number.

A chart is one file: a value of `Chart`. `register` gives it a number, by which kernels know it. Omega is the material
angular velocity, R^T Rdot = Omega^.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.graph.functions import Array
from rbdae.graph.on_stacks import OnStacks

RotationName: TypeAlias = Literal[
    "quaternion", "directors", "euler-313", "bryant-321", "rotation-vector", "rodrigues", "conformal", "linear",
    "quaternion-vector",
]  # fmt: skip
"""Name of a chart. For a chart registered by a user, type checkers need ``typing.cast(RotationName, "my-chart")``."""

ANGULAR = 0
"""The kind of velocity Omega, the material angular velocity."""

QUATERNION_RATE = 1
"""pdot."""

DIRECTOR_RATE = 2
"""(d1dot, d2dot, d3dot)."""

NEAR_SINGULAR = 1e-6
"""A chart refuses parameters with K(a) above the inverse of this number: six digits are lost."""


@final
@dataclass(frozen=True, eq=False)
class Chart:
    """A parametrisation of rotations by parameters a.

    Its duties, with their laws (`tests/laws/test_charts.py` checks them for every registered chart):

    1. `parameters(p, R)`, the inverse map: the parameters of a rotation, from its unit quaternion (scalar first) and
       its matrix, with R(parameters(p, R)) = R. A new array.
       `nearest(a, b)`: among all parameters of R(a), those nearest to b.
    2. `singular(a)` says why `a` cannot be used, or is empty.
    3. `rotation(a)`: R(a) (3, 3), orthonormal if the internal constraints hold.
    4. `rate(a, om)`: K(a) om (n,), with dR/da K(a) om = R om^ if the internal constraints hold.
    5. With internal constraints: `internal_constraints(a)`: g(a). `internal_rate(a, v)`: dg/da v. `normalise(a)`: a
       onto g = 0, no farther away than some multiple of g.
    6. With a singular set: `distance(a)`, the smallest further rotation within the chart, in radians, that makes K(a)
       or its inverse unbounded; zero, negative or NaN beyond; also of (n, ...) arrays. `centre` has the parameters
       farthest from the singular set.

    3 to 6 take arrays of numbers of any kind, floats and symbols. They do not branch on the parameters
    (`rbdae.graph.functions.select` chooses): so they can be recorded, and all derivatives follow from them.

    Attributes
    ----------
    name, source : the public name; paper and equations
    names : names of the parameters
    internal : names of the internal constraints
    coordinate_velocities : the kind of velocity of adot, None if adot is not a velocity
    centre : the parameters (n,) farthest from the singular set; empty for charts without one
    whole : whether the chart reaches all rotations outside its singular set
    tangent : T(a) (3, n) with Omega = T adot; without it T follows from R and dR/da
    quaternion : the unit quaternions (..., 4) of parameters (..., n); without it they follow from R
    """

    name: str
    source: str
    names: tuple[str, ...]
    parameters: Callable[[Vec, Mat], Vec]
    rotation: Callable[[Array], Array]
    rate: Callable[[Array, Array], Array]
    singular: Callable[[Vec], str] = lambda a: ""
    internal: tuple[str, ...] = ()
    internal_constraints: Callable[[Array], Array] | None = None
    internal_rate: Callable[[Array, Array], Array] | None = None
    normalise: Callable[[Array], Array] | None = None
    coordinate_velocities: int | None = None
    centre: tuple[float, ...] = ()
    distance: Callable[[Array], Any] | None = None
    whole: bool = True
    nearest: Callable[[Vec, Vec], Vec] = lambda a, b: a
    tangent: Callable[[Array], Array] | None = None
    quaternion: Callable[[Vec], Vec] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are the registered chart of the same name."""
        return _named, (self.name,)

    @property
    def number(self) -> int:
        """The number by which kernels know it."""
        return _BY_NUMBER.index(self)

    @property
    def n(self) -> int:
        return len(self.names)

    def distance_to_singularity(self, a: Vec) -> float:
        """The angle from parameters a (n,) to the singular set, in radians; inf for charts without one."""
        return np.inf if self.distance is None else float(self.distance(np.asarray(a, dtype=float)))

    @property
    def reach(self) -> float:
        """The angle from the centre to the singular set, in radians; inf for charts without one."""
        return self.distance_to_singularity(np.array(self.centre))

    def kinematics(self, a: Array) -> Array:
        """K(a) (n, 3): the rates for unit angular velocities."""
        return np.array([self.rate(a, om) for om in np.eye(3)]).T

    @cached_property
    def matrices(self) -> OnStacks:
        """R (..., 3, 3) of stacks of parameters (..., n)."""
        return OnStacks(self.n, lambda of: self.rotation(of.x))

    @cached_property
    def constraints(self) -> OnStacks:
        """g (..., m) of stacks of parameters."""
        g = self.internal_constraints
        assert g is not None, "the kernels ask first whether a chart has it"
        return OnStacks(self.n, lambda of: g(of.x))


# ---------------------------------------------------------------- registry

CHARTS: dict[str, Chart] = {}
"""All charts by name."""

_BY_NUMBER: list[Chart] = []


def _named(name: str) -> Chart:
    if name not in CHARTS:
        raise LookupError(f"no chart {name!r} is registered here: import the module that registers it first")
    return CHARTS[name]


def register(chart: Chart) -> None:
    """Give a chart its number."""
    if chart.name in CHARTS:
        raise ValueError(f"there is a chart {chart.name!r} already: give this one another name")
    CHARTS[chart.name] = chart
    _BY_NUMBER.append(chart)


# ---------------------------------------------------------------- for kernels


def numbered(chart: int) -> Chart:
    """The chart of a number."""
    return _BY_NUMBER[chart]
