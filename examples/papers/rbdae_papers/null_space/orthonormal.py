"""Rotations near matrices that have drifted: the recommendation of [NS] section 6, and its alternatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat
from rbdae.rotations import checks
from rbdae.rotations.vectors import rotation_matrices, spurrier_klumpp

Method = Literal["spurrier-klumpp", "polar", "gram-schmidt", "logarithm"]


def _spurrier_klumpp(M: Mat) -> Mat:
    return rotation_matrices(spurrier_klumpp(M))


def _polar(M: Mat) -> Mat:
    U, _, V = np.linalg.svd(M)
    out: Mat = U @ V
    return out


def _gram_schmidt(M: Mat) -> Mat:
    Q, R = np.linalg.qr(M)
    out: Mat = Q * np.sign(np.diagonal(R, axis1=-2, axis2=-1))[..., None, :]
    return out


def _logarithm(M: Mat) -> Mat:
    from scipy.linalg import expm, logm  # slow imports, not needed to solve

    out = np.empty_like(M)
    for k in np.ndindex(M.shape[:-2]):
        g = np.real(logm(M[k]))
        out[k] = expm(0.5 * (g - g.T))
    return out


_METHODS: dict[str, Callable[[Mat], Mat]] = {
    "spurrier-klumpp": _spurrier_klumpp,
    "polar": _polar,
    "gram-schmidt": _gram_schmidt,
    "logarithm": _logarithm,
}


def orthonormalised(M: ArrayLike, method: Method = "spurrier-klumpp") -> Mat:
    """Rotation matrices near almost orthonormal matrices, such as directors after a step of a solver.

    - ``"spurrier-klumpp"``: the rotation of Spurrier and Klumpp's unit quaternion, explicit ([NS], section 6; used by
      `rbdae.Projection` for directors);
    - ``"polar"``: the orthogonal factor, R in M = S R with S symmetric. It solves (64, P), the nearest rotation in the
      sum of squares, and is the only one of the four that commutes with rotations of space and body;
    - ``"gram-schmidt"``: Remark 6.3 (a); depends on the order of the directors, keeps the direction of the first;
    - ``"logarithm"``: Remark 6.3 (b), exp of the skew part of log M; expensive, and fails near half a turn.

    For M = (I + S) R with S symmetric and of size eps, ``"polar"`` returns R. ``"logarithm"`` differs from it by
    eps^2, the other two by eps: contrary to Lemma 6.2 the first does not exactly solve (64, P).

    Parameters
    ----------
    M : (..., 3, 3) array_like
        Positive determinants.
    method : str

    Returns
    -------
    (..., 3, 3) array

    Raises
    ------
    ValueError
        for another shape, a determinant that is not positive, or an unknown method
    """
    if not isinstance(method, str) or method not in _METHODS:
        raise _check.unknown("method of orthonormalised", method, _METHODS)
    M = checks.numbers("orthonormalised", "M", M)
    if M.shape[-2:] != (3, 3) or not np.all(np.linalg.det(M) > 0.0):
        raise ValueError(
            f"orthonormalised: M must be 3 x 3 matrices with positive determinants, got {_check.show(M)} of shape "
            f"{M.shape}; pass e.g. np.eye(3)"
        )
    return _METHODS[method](M)
