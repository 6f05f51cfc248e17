"""The free rotation of [BS09], section 5.1."""

from __future__ import annotations

from rbdae import _check
from rbdae._arrays import ArrayLike
from rbdae.system import System


def free_body(angular_velocity: ArrayLike = (10.0, 20.0, 20.0)) -> System:
    """A body that turns without torques: body "body", moments of inertia (6, 8, 3) kg m^2; to be followed for 1 s.

    The paper gives no mass; translation is left out, so the centre of mass is a pivot here, and the mass (1 kg) has no
    influence. `rbdae.closed_form.FreeBody` has the motion in closed form.

    Parameters
    ----------
    angular_velocity : (3,) array_like
        At the start, in the body frame, rad/s.
    """
    system = System(gravity=(0.0, 0.0, 0.0))
    system.add_body(
        "body",
        mass=1.0,
        inertia=(6.0, 8.0, 3.0),
        pivot=(0.0, 0.0, 0.0),
        angular_velocity=_check.vector("model free_body", "angular_velocity", angular_velocity),
    )
    return system
