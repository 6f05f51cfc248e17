"""The definition of a chart, and the kernels that call a chart's own kernels by its number.

A chart is one file: a value of `Chart`, with NumPy functions for the boundary and kernels for the equations. `register`
gives it a number, by which other kernels call them. d = (d1, d2, d3) stacks the columns of R; Omega is the material
angular velocity, R^T Rdot = Omega^.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.graph.functions import Array

Kernel = Callable[..., Any]

RotationName: TypeAlias = Literal[
    "quaternion", "directors", "euler-313", "bryant-321", "rotation-vector", "rodrigues", "conformal", "linear",
    "quaternion-vector",
]  # fmt: skip
"""Name of a chart. For a chart registered by a user, type checkers need ``typing.cast(RotationName, "my-chart")``."""

NEAR_SINGULAR = 1e-6
"""A chart refuses parameters with K(a) above the inverse of this number: six digits are lost."""


def _given(a: Vec, b: Vec) -> Vec:
    """a, since a rotation has no other parameters."""
    return a


@final
@dataclass(frozen=True, slots=True)
class Chart:
    """A parametrisation of rotations by parameters a.

    Its duties, with their laws (`tests/laws/test_charts.py` checks them for every registered chart):

    1. `parameters(p, R)`, the inverse map: the parameters of a rotation, from its unit quaternion (scalar first) and
       its matrix, with R(parameters(p, R)) = R. A new array.
       `nearest(a, b)`: among all parameters of R(a), those nearest to b.
    2. `singular(a)` says why `a` cannot be used, or is empty.
    3. `rotation(a, d)`: d = R(a), orthonormal if the internal constraints hold.
    4. `rate(a, om, ad)`: ad = K(a) om, with dR/da K(a) om = R om^ if the internal constraints hold.
    5. With internal constraints: `internal_constraints(a, v, out, i, j)`: out[i:] = g(a) and out[j:] = dg/da v.
       `normalise(a, work)`: a onto g = 0, no farther away than some multiple of g; `work` has nine numbers.
    6. With a singular set: `distance(a)`, the smallest further rotation within the chart, in radians, that makes K(a)
       or its inverse unbounded; zero, negative or NaN beyond. `centre` has the parameters farthest from the singular
       set.
    7. If the parameters of R^T are linear in those of R: `inverted(a)`, for parameters along the last axis.

    3 to 6 are kernels on vectors. They do not branch on the parameters (`rbdae.graph.functions.select` chooses): so
    they can be recorded, and all derivatives follow from them.

    Attributes
    ----------
    name, source : the public name; paper and equations
    names : names of the parameters
    internal : names of the internal constraints
    coordinate_velocities : the kind of velocity of adot (`rbdae.rotations.velocities`), None if adot is not a velocity
    centre : the parameters (n,) farthest from the singular set; empty for charts without one
    whole : whether the chart reaches all rotations outside its singular set
    """

    name: str
    source: str
    names: tuple[str, ...]
    parameters: Callable[[Vec, Mat], Vec]
    singular: Callable[[Vec], str]
    rotation: Kernel
    rate: Kernel
    internal: tuple[str, ...] = ()
    internal_constraints: Kernel | None = None
    normalise: Kernel | None = None
    coordinate_velocities: int | None = None
    centre: tuple[float, ...] = ()
    distance: Kernel | None = None
    whole: bool = True
    nearest: Callable[[Vec, Vec], Vec] = _given
    inverted: Callable[[Any], Any] | None = None

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
        if self.distance is None:
            return np.inf
        out = np.zeros(1)
        distance(self.number, np.asarray(a, dtype=float), out)
        return float(out[0])

    @property
    def reach(self) -> float:
        """The angle from the centre to the singular set, in radians; inf for charts without one."""
        return self.distance_to_singularity(np.array(self.centre))


def never_singular(a: Vec) -> str:
    """No parameters are singular."""
    return ""


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


# ---------------------------------------------------------------- kernels


def rotation(chart: int, a: Array, d: Array) -> None:
    """d = R(a), stacked by columns."""
    _BY_NUMBER[chart].rotation(a, d)


def rate(chart: int, a: Array, om: Array, ad: Array) -> None:
    """ad[:na] = K(a) om, with the material angular velocity om."""
    _BY_NUMBER[chart].rate(a, om, ad)


def internal_constraints(chart: int, a: Array, v: Array, out: Array, i: int, j: int) -> None:
    """out[i:] = g(a), the internal constraints, and out[j:] = dg/da v."""
    _own(_BY_NUMBER[chart].internal_constraints)(a, v, out, i, j)


def normalise(chart: int, a: Array, work: Array) -> None:
    """a onto the internal constraints; `work` has nine numbers."""
    _own(_BY_NUMBER[chart].normalise)(a, work)


def distance(chart: int, a: Array, out: Array) -> None:
    """out[0] = the angle from a to the singular set, in radians."""
    out[0] = _own(_BY_NUMBER[chart].distance)(a)


def _own(kernel: Kernel | None) -> Kernel:
    assert kernel is not None, "the kernels ask first whether a chart has it"
    return kernel
