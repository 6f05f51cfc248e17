"""Algebra of quaternions, and rotation of vectors by them."""

from __future__ import annotations

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec
from rbdae.rotations import checks


def product(p: ArrayLike, q: ArrayLike) -> Vec:
    """p q = (p0 q0 - p . q, p0 q + q0 p + p x q), [GR95] (212), [NS] (30), [BS09] (1).

    The rotation e1 followed by e2 is the product e2 e1, [GR95] (226).

    Parameters
    ----------
    p, q : (..., 4) array_like
        Leading axes are broadcast.

    Returns
    -------
    (..., 4) array
    """
    owner = "product"
    p, q = checks.vectors(owner, "p", p, 4), checks.vectors(owner, "q", q, 4)
    checks.together(owner, p=(p, 1), q=(q, 1))
    return multiplied(p, q)


def multiplied(p: Vec, q: Vec) -> Vec:
    """The product of checked quaternions."""
    p, q = np.broadcast_arrays(p, q)
    out = np.empty(p.shape)
    out[..., 0] = p[..., 0] * q[..., 0] - (p[..., 1:] * q[..., 1:]).sum(-1)
    out[..., 1:] = p[..., :1] * q[..., 1:] + q[..., :1] * p[..., 1:] + np.cross(p[..., 1:], q[..., 1:])
    return out


def conjugate(q: ArrayLike) -> Vec:
    """(q0, -q) of q (..., 4), [GR95] (213), [BS09] section 2.1."""
    return conjugated(checks.vectors("conjugate", "q", q, 4))


def conjugated(q: Vec) -> Vec:
    """The conjugate of checked quaternions."""
    out: Vec = q * np.array((1.0, -1.0, -1.0, -1.0))
    return out


def norm(q: ArrayLike) -> Vec:
    """|q| = sqrt(q conj(q)), (...), of q (..., 4), [GR95] (214); without overflow and underflow."""
    return checks.norm(checks.vectors("norm", "q", q, 4))


def inverse(q: ArrayLike) -> Vec:
    """conj(q) / |q|^2 of q (..., 4), [BS09] section 2.1.

    Raises
    ------
    ValueError
        for the zero quaternion
    """
    given = checks.vectors("inverse", "q", q, 4)
    size = checks.norm(given)[..., None]
    if not size.all():
        raise ValueError(f"inverse: q must not be the zero quaternion, got {_check.show(q)}; it has no inverse")
    # in this order |q|^2 neither overflows nor underflows
    out: Vec = conjugated(given / size) / size
    return out


def pure(v: ArrayLike) -> Vec:
    """The vector quaternion (0, v), (..., 4), of v (..., 3), [GR95] (216)."""
    return purely(checks.vectors("pure", "v", v))


def purely(v: Vec) -> Vec:
    """(0, v) of checked vectors."""
    return np.concatenate((np.zeros((*v.shape[:-1], 1)), v), axis=-1)


def rotate(q: ArrayLike, x: ArrayLike) -> Vec:
    """R(q) x = q x conj(q) / |q|^2: material components to spatial ones, [GR95] (219), [NS] (29), [BS09] (7).

    Parameters
    ----------
    q : (..., 4) array_like
        Nonzero; only its direction counts.
    x : (..., 3) array_like

    Returns
    -------
    (..., 3) array

    Raises
    ------
    ValueError
        for the zero quaternion
    """
    owner = "rotate"
    q, x = checks.nonzero_quaternions(owner, "q", q), checks.vectors(owner, "x", x)
    checks.together(owner, q=(q, 1), x=(x, 1))
    return rotated(q, x)


def rotate_back(q: ArrayLike, x: ArrayLike) -> Vec:
    """R(q)^T x = conj(q) x q / |q|^2: spatial components to material ones, [GR95] (222), [NS] (29).

    Parameters, results and errors as for `rotate`.
    """
    owner = "rotate_back"
    q, x = checks.nonzero_quaternions(owner, "q", q), checks.vectors(owner, "x", x)
    checks.together(owner, q=(q, 1), x=(x, 1))
    return rotated(conjugated(q), x)


def rotated(q: Vec, x: Vec) -> Vec:
    """R(q) x of checked unit quaternions: x + 2 q0 (q x x) + 2 q x (q x x), exact in x for small rotations."""
    turned = 2.0 * np.cross(q[..., 1:], x)
    out: Vec = x + q[..., :1] * turned + np.cross(q[..., 1:], turned)
    return out
