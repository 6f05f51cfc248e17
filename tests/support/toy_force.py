"""Forces with internal states, in one file: what such a force of one's own needs, and a case with a closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

import rbdae
from rbdae.body import Body, describe
from rbdae.forces import AbstractPairForce, StateElement

Point: TypeAlias = tuple[float, float, float]


def between(force: Any) -> NDArray[np.float64]:
    """A with A Z = P, the vector from the point of b to that of a; Z begins at the reference points of the bodies."""
    coefficients = np.zeros(8)
    for side, (body, at, sign) in enumerate(((force.a, force.at_a, 1.0), (force.b, force.at_b, -1.0))):
        arm = np.array(at) if body is None else np.array(at) - body.reference
        coefficients[4 * side : 4 * side + 4] = sign * np.array([1.0, *arm])
    return np.kron(coefficients, np.eye(3))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Maxwell(AbstractPairForce):
    """A spring and a damper one after the other between two points (Maxwell's model of a viscoelastic strut).

    With l the distance of the points and s the stretch of the damper, an internal state, the tension is

        f = stiffness (l - length - s),    viscosity sdot = f.

    Stiffness and viscosity are positive, N/m and N s/m; `length` is the free length while the damper is not stretched,
    `stretch` that of the damper at the start, m. Without b it is the ground of the system.
    """

    a: Body
    b: Body | None = None
    _: KW_ONLY
    stiffness: float
    viscosity: float
    length: float = 0.0
    stretch: float = 0.0
    at_a: Point = (0.0, 0.0, 0.0)
    at_b: Point = (0.0, 0.0, 0.0)
    name: str | None = None

    def __post_init__(self) -> None:
        owner = describe("force", "Maxwell", self.a, self.b, self.name)
        for what in ("stiffness", "viscosity"):
            if not getattr(self, what) > 0.0:
                raise ValueError(f"{owner}: {what} must be positive, got {getattr(self, what)!r}; leave the strut out")

    def elements(self) -> tuple[StateElement]:
        """One, with the stretch of the damper as its state; its Jacobian is derived."""
        k, c, length = self.stiffness, self.viscosity, self.length
        A = between(self)

        def law(t: float, x: Any, out: Any) -> None:
            P = A @ x[:24]
            l = (P @ P) ** 0.5
            f = k * (l - length - x[48])
            out[:24] = -f / l * (P @ A)
            out[24] = f / c

        return (StateElement(law, None, ("stretch",), np.array([self.stretch])),)


@final
@dataclass(frozen=True, slots=True, eq=False)
class LaggedDamper(AbstractPairForce):
    """A damper between two points whose force follows the rate of their distance l through a chain of lags.

        lag s1dot = ldot - s1,    lag sidot = s(i-1) - si,    f = damping (sn + direct ldot)

    Both functions depend on Zdot, and take complex numbers. With `derived` there is no Jacobian by hand.

    Damping in N s/m, of the part `direct` of the rate without a lag; lags in s, `order` of them.
    """

    a: Body
    b: Body | None = None
    _: KW_ONLY
    damping: float
    direct: float = 0.3
    lag: float = 0.5
    order: int = 2
    at_a: Point = (0.0, 0.0, 0.0)
    at_b: Point = (0.0, 0.0, 0.0)
    derived: bool = False
    name: str | None = None

    def elements(self) -> tuple[StateElement]:
        """One, with a state per lag."""
        law, jacobian = self._functions()
        names = tuple(f"lag{i + 1}" for i in range(self.order))
        start = np.linspace(0.1, -0.2, self.order)
        return (StateElement(law, None if self.derived else jacobian, names, start),)

    def _functions(self) -> tuple[Callable[..., None], Callable[..., None]]:
        c, d, lag, n = self.damping, self.direct, self.lag, self.order
        A, one = between(self), np.eye(3)

        def function(t: float, x: Any, out: Any) -> None:
            P = A @ x[:24]
            e = P / (P @ P) ** 0.5
            rate = e @ (A @ x[24:48])
            out[:24] = -c * (x[47 + n] + d * rate) * (e @ A)
            out[24] = (rate - x[48]) / lag
            for i in range(1, n):
                out[24 + i] = (x[47 + i] - x[48 + i]) / lag

        def jacobian(t: float, x: Any, out: Any) -> None:
            P, V = A @ x[:24], A @ x[24:48]
            l = (P @ P) ** 0.5
            e = P / l
            H = (one - np.outer(e, e)) / l
            by_rate, by_position = e @ A, (V @ H) @ A  # of ldot
            J = out.reshape(24 + n, 48 + n)
            J[:] = 0.0
            J[:24, :24] = -c * d * np.outer(by_rate, by_position) - c * (x[47 + n] + d * (e @ V)) * (A.T @ (H @ A))
            J[:24, 24:48] = -c * d * np.outer(by_rate, by_rate)
            J[:24, 47 + n] = -c * by_rate
            J[24, :24] = by_position / lag
            J[24, 24:48] = by_rate / lag
            for i in range(n):
                J[24 + i, 48 + i] = -1.0 / lag
                if i > 0:
                    J[24 + i, 47 + i] = 1.0 / lag

        return function, jacobian


def swinging() -> tuple[rbdae.System, Callable[[float], NDArray[np.float64]]]:
    """A body that swings along x at the end of a strut, and (x, xdot, s) as a function of the time.

    m xddot = -k (x - length - s) and viscosity sdot = k (x - length - s) are linear: the exponential of a matrix.
    """
    m, k, c, length, stretch, x0, v0 = 1.5, 40.0, 3.0, 1.0, 0.1, 1.4, -0.5
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    body = system.add_body("bob", mass=m, inertia=(1.0, 1.2, 1.4), position=(x0, 0.0, 0.0), velocity=(v0, 0.0, 0.0))
    system.add_force(Maxwell(body, stiffness=k, viscosity=c, length=length, stretch=stretch))
    matrix = np.array([[0.0, 1.0, 0.0], [-k / m, 0.0, k / m], [k / c, 0.0, -k / c]])
    rest = np.array([length, 0.0, 0.0])

    def exact(t: float) -> NDArray[np.float64]:
        return np.asarray(rest + expm(t * matrix) @ (np.array([x0, v0, stretch]) - rest))

    return system, exact
