"""Time derivatives of unit quaternions, and angular velocities."""

from __future__ import annotations

from rbdae._arrays import ArrayLike, Vec
from rbdae.rotations import checks
from rbdae.rotations.quaternions.algebra import conjugated, multiplied, purely


def rate_from_material(q: ArrayLike, Omega: ArrayLike) -> Vec:
    """qdot = q (0, Omega / 2) = G(q)^T Omega / 2, (..., 4).

    [BS09] (3), [NS] (41), [GR95] (235).

    Parameters
    ----------
    q : (..., 4) array_like
    Omega : (..., 3) array_like
        The angular velocity in material components, rad/s.
    """
    q, Omega = _both("rate_from_material", "Omega", q, Omega, 3)
    return multiplied(q, purely(0.5 * Omega))


def rate_from_spatial(q: ArrayLike, omega: ArrayLike) -> Vec:
    """qdot = (0, omega / 2) q = E(q)^T omega / 2, (..., 4), of omega (..., 3) in spatial components, rad/s.

    [BS09] (4), [GR95] (230).
    """
    q, omega = _both("rate_from_spatial", "omega", q, omega, 3)
    return multiplied(purely(0.5 * omega), q)


def material_angular_velocity(q: ArrayLike, qdot: ArrayLike) -> Vec:
    """Omega = 2 conj(q) qdot = 2 G(q) qdot, (..., 3), of q (..., 4), |q| = 1, and qdot (..., 4).

    [NS] lemma 4.1, [BS09] (14), [GR95] (208), (238), (249), (250), [SNS15] (17). A part of qdot along q is ignored.
    """
    q, qdot = _both("material_angular_velocity", "qdot", q, qdot, 4)
    return 2.0 * multiplied(conjugated(q), qdot)[..., 1:]


def spatial_angular_velocity(q: ArrayLike, qdot: ArrayLike) -> Vec:
    """omega = 2 qdot conj(q) = 2 E(q) qdot, (..., 3), of q (..., 4), |q| = 1, and qdot (..., 4).

    [NS] lemma 4.1, [BS09] (14), [GR95] (208), (233), (249), (250). A part of qdot along q is ignored.
    """
    q, qdot = _both("spatial_angular_velocity", "qdot", q, qdot, 4)
    return 2.0 * multiplied(qdot, conjugated(q))[..., 1:]


def momentum_map(q: ArrayLike, p: ArrayLike) -> Vec:
    """L = E(q) p / 2, (..., 3), the angular momentum in spatial components, of q (..., 4) and its momentum p (..., 4).

    [BS09] (45) and above (46), (35): the momentum map of spatial rotations. With p = M4 qdot, for example ``pi_p0``,
    ... of the Hamiltonian forms, it is R J Omega, kg m^2/s, about the reference point of J (centre of mass or
    pivot). A part of p along q is ignored.
    """
    q, p = _both("momentum_map", "p", q, p, 4)
    return 0.5 * multiplied(p, conjugated(q))[..., 1:]


def second_rate(q: ArrayLike, Omega: ArrayLike, Omega_rate: ArrayLike) -> Vec:
    """qddot = q (-|Omega|^2 / 4, Omegadot / 2), (..., 4): the derivative of [BS09] (3).

    Parameters
    ----------
    q : (..., 4) array_like
    Omega, Omega_rate : (..., 3) array_like
        The angular velocity and its rate in material components, rad/s and rad/s^2.
    """
    owner = "second_rate"
    q, Omega = _both(owner, "Omega", q, Omega, 3)
    change = checks.vectors(owner, "Omega_rate", Omega_rate)
    checks.together(owner, q=(q, 1), Omega=(Omega, 1), Omega_rate=(change, 1))
    inner = purely(0.5 * change) + purely(0.0 * Omega)
    inner[..., 0] = -0.25 * (Omega * Omega).sum(-1)
    return multiplied(q, inner)


def _both(owner: str, what: str, q: ArrayLike, x: ArrayLike, n: int) -> tuple[Vec, Vec]:
    first, second = checks.vectors(owner, "q", q, 4), checks.vectors(owner, what, x, n)
    checks.together(owner, **{"q": (first, 1), what: (second, 1)})
    return first, second
