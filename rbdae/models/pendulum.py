"""The plane pendulum: benchmark A01 of [IFToMM], and that of SUNDIALS with a period of 2 s."""

from __future__ import annotations

from typing import Final

from rbdae import _check
from rbdae.joints.revolute import Revolute
from rbdae.system import System

# cvPendulum of SUNDIALS: with a rod of 1 m that starts horizontally the period is 2 s
CV_GRAVITY: Final = 13.750371636040745654980191559621114395801712


def pendulum(*, gravity: float = 9.81, length: float = 1.0, mass: float = 1.0, side: float = -1.0) -> System:
    """A point mass on a massless rod, horizontally at rest at first: body "bob", to be followed for 10 s.

    Its coordinates at 10 s are (-0.275087462576, -0.961419205099), its period is 2.367841947576 s (elliptic
    functions). Sources: [IFToMM], benchmark A01; `cv_pendulum` is the same from the other side. A body
    must have a moment of inertia, a point mass has none: so twice the mass sits half way, with a moment of inertia that
    makes the motion and the energy those of the point mass.

    Parameters
    ----------
    gravity : float
        m/s^2, against the second spatial axis.
    length, mass : float
        m, kg
    side : float
        Negative: the bob starts at (-length, 0), positive: at (length, 0). The body frame sits in the hinge, with its
        first axis to the bob.
    """
    owner = "model pendulum"
    l = _check.positive(owner, "length", length, "give the length of the rod")
    m = _check.positive(owner, "mass", mass, "give the mass of the bob")
    system = System(gravity=(0.0, -_check.number(owner, "gravity", gravity), 0.0))
    # m c = m_p l and J + m c^2 = m_p l^2 with c = l/2: mass 2 m_p, J = m_p l^2 / 2
    bob = system.add_body(
        "bob",
        mass=2.0 * m,
        inertia=3 * (0.5 * m * l * l,),
        center_of_mass=(0.5 * l, 0.0, 0.0),
        orientation=(1.0, 0.0, 0.0, 0.0) if _check.number(owner, "side", side) > 0.0 else (0.0, 0.0, 0.0, 1.0),
    )
    system.add_joint(Revolute(system.ground, bob, name="hinge"))
    return system


def cv_pendulum() -> System:
    """The pendulum of SUNDIALS' example cvPendulum: body "bob" starts at (1, 0) and is back there every 2 s.

    The speed at the bottom, after 0.5 s, is 5.24411510858424 m/s. To be followed for 30 s.
    """
    return pendulum(gravity=CV_GRAVITY, side=1.0)
