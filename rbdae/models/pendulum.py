"""Plane pendulums: benchmark A01 of [IFToMM], and SUNDIALS' example with a period of 2 s."""

from __future__ import annotations

from typing import Final

from rbdae import _check
from rbdae.joints import Revolute
from rbdae.system import System

# cvPendulum of SUNDIALS: with a rod of 1 m that starts horizontally the period is 2 s
CV_GRAVITY: Final = 13.750371636040745654980191559621114395801712


def pendulum(*, gravity: float = 9.81, length: float = 1.0, mass: float = 1.0, side: float = -1.0) -> System:
    """A point mass on a massless rod, initially horizontal and at rest: body "bob", for 10 s.

    Its coordinates at 10 s are (-0.275087462576, -0.961419205099), its period is 2.367841947576 s (elliptic
    functions). Sources: [IFToMM], benchmark A01; `cv_pendulum` starts on the other side. A body must have a moment of
    inertia, unlike a point mass; so the model has twice the mass half way along the rod, with a moment of inertia that
    gives the point mass's motion and energy.

    Parameters
    ----------
    gravity : float
        m/s^2, against the second spatial axis.
    length, mass : float
        m, kg
    side : float
        The bob starts at (-length, 0) if negative, at (length, 0) if positive. The body frame's origin is the hinge,
        its first axis points to the bob.
    """
    l = _check.positive("model pendulum", "length", length, "give the length of the rod")
    system = System(gravity=(0.0, -gravity, 0.0))
    # m c = m_p l and J + m c^2 = m_p l^2 with c = l/2: mass 2 m_p, J = m_p l^2 / 2
    bob = system.add_body(
        "bob",
        mass=2.0 * mass,
        inertia=3 * (0.5 * mass * l * l,),
        center_of_mass=(0.5 * l, 0.0, 0.0),
        orientation=(1.0, 0.0, 0.0, 0.0) if side > 0.0 else (0.0, 0.0, 0.0, 1.0),
    )
    system.add_joint(Revolute(system.ground, bob, name="hinge"))
    return system


def cv_pendulum() -> System:
    """The pendulum of SUNDIALS' example cvPendulum: body "bob" starts at (1, 0) and returns every 2 s; for 30 s.

    The speed at the bottom, after 0.5 s, is 5.24411510858424 m/s.
    """
    return pendulum(gravity=CV_GRAVITY, side=1.0)
