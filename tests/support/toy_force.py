"""A force with an internal state, in one file: what such a force of one's own needs, and a case with a closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.linalg import expm

import rbdae
from rbdae import _check
from rbdae._arrays import ArrayLike, Vec
from rbdae._frozen import fill
from rbdae.body import Body, describe
from rbdae.forces.base import AbstractPairForce
from rbdae.forces.element import AnyElement, StateElement


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Maxwell(AbstractPairForce):
    """A spring and a damper one after the other between two points (Maxwell's model of a viscoelastic strut).

    With l the distance of the points and s the stretch of the damper, an internal state, the tension is

        f = stiffness (l - length - s),    viscosity sdot = f.

    Parameters
    ----------
    a : Body
    b : Body, optional
        Without it, the ground of the system to which the strut is added.
    stiffness, viscosity : float
        N/m and N s/m, positive.
    length : float
        Free length while the damper is not stretched, m.
    stretch : float
        Of the damper at the start, m.
    at_a, at_b : (3,) array_like
        The points in the body frames.
    name : str, optional
    """

    a: Body
    b: Body | None
    stiffness: float
    viscosity: float
    length: float
    stretch: float
    at_a: Vec
    at_b: Vec
    name: str | None

    def __init__(
        self,
        a: Body,
        b: Body | None = None,
        *,
        stiffness: float,
        viscosity: float,
        length: float = 0.0,
        stretch: float = 0.0,
        at_a: ArrayLike = (0.0, 0.0, 0.0),
        at_b: ArrayLike = (0.0, 0.0, 0.0),
        name: str | None = None,
    ) -> None:
        owner = describe("force", "Maxwell", a, b, name)
        fill(
            self,
            a=a,
            b=b,
            stiffness=_check.positive(owner, "stiffness", stiffness, "leave the strut out"),
            viscosity=_check.positive(owner, "viscosity", viscosity, "leave the strut out"),
            length=_check.number(owner, "length", length),
            stretch=_check.number(owner, "stretch", stretch),
            at_a=_check.vector(owner, "at_a", at_a),
            at_b=_check.vector(owner, "at_b", at_b),
            name=name,
        )

    def elements(self) -> tuple[AnyElement, ...]:
        """One, with the stretch of the damper as its state."""
        function, jacobian = self._functions()
        return (StateElement(function, jacobian, ("stretch",), np.array([self.stretch])),)

    def _functions(self) -> tuple[Callable[..., None], Callable[..., None]]:
        k, c, length = self.stiffness, self.viscosity, self.length
        # P = A Z is the vector from the point of b to that of a; Z begins at the reference points of the bodies
        coefficients = np.zeros(8)
        for side, (body, at, sign) in enumerate(((self.a, self.at_a, 1.0), (self.b, self.at_b, -1.0))):
            arm = at if body is None else at - body.reference
            coefficients[4 * side : 4 * side + 4] = sign * np.array([1.0, *arm])
        A = np.kron(coefficients, np.eye(3))

        def function(t: float, x: Any, out: Any) -> None:
            P = A @ x[:24]
            l = (P @ P) ** 0.5
            f = k * (l - length - x[48])
            out[:24] = -f / l * (P @ A)
            out[24] = f / c

        def jacobian(t: float, x: Any, out: Any) -> None:
            P = A @ x[:24]
            l = (P @ P) ** 0.5
            f = k * (l - length - x[48])
            slope = P @ A / l  # dl/dZ
            J = out.reshape(25, 49)
            J[:] = 0.0
            J[:24, :24] = (f / l - k) * np.outer(slope, slope) - f / l * (A.T @ A)
            J[:24, 48] = k * slope
            J[24, :24] = k / c * slope
            J[24, 48] = -k / c

        return function, jacobian


def swinging() -> tuple[rbdae.System, Callable[[float], Vec]]:
    """A body that swings along x at the end of a strut, and (x, xdot, s) as a function of the time.

    m xddot = -k (x - length - s) and viscosity sdot = k (x - length - s) are linear: the exponential of a matrix.
    """
    m, k, c, length, stretch, x0, v0 = 1.5, 40.0, 3.0, 1.0, 0.1, 1.4, -0.5
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    body = system.add_body("bob", mass=m, inertia=(1.0, 1.2, 1.4), position=(x0, 0.0, 0.0), velocity=(v0, 0.0, 0.0))
    system.add_force(Maxwell(body, stiffness=k, viscosity=c, length=length, stretch=stretch))
    matrix = np.array([[0.0, 1.0, 0.0], [-k / m, 0.0, k / m], [k / c, 0.0, -k / c]])
    rest = np.array([length, 0.0, 0.0])

    def exact(t: float) -> Vec:
        return np.asarray(rest + expm(t * matrix) @ (np.array([x0, v0, stretch]) - rest))

    return system, exact


__all__ = ["Maxwell", "swinging"]
