"""The constraint matrix of the joints outside the kernels, vectorised: for assembly, ranks and reactions."""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.kernels.constraints.drives import ANGLE
from rbdae.multibody.model import Model


def combine(model: Model, A: Vec, pair: Vec, Z: Mat, order: int) -> Mat:
    """P = sum A_k Z_k (order 0) or its rate at constant A (order 1); A is (8,) or (..., 8), the result (..., 3)."""
    out: Mat = np.zeros((*Z.shape[:-2], 3))
    for side, b in enumerate(pair):
        c = A[..., 4 * side : 4 * side + 4]
        if b == model.n:  # the ground: x = 0, R = I
            if order == 0:
                out = out + c[..., 1:]
            continue
        z = Z[..., b, 12 * order : 12 * order + 12]
        out = out + np.einsum("...i,...ik->...k", c, z.reshape(*z.shape[:-1], 4, 3))
    return out


def coefficients(model: Model, k: int, t: Vec) -> Vec:
    """A of primitive k at the times t: (8,), or (..., 8) where it turns with time."""
    law = model.rheonomic.get(k)
    A: Vec = model.primitives["A"][k]
    if law is None or law.kind != ANGLE or law.e1 is None or law.e2 is None:
        return A
    angle = np.array([law.motion(time)[0][0] for time in np.atleast_1d(t)]).reshape(np.shape(t))
    out = np.zeros((*np.shape(t), 8))
    out[..., 1:4] = np.cos(angle)[..., None] * law.e1 + np.sin(angle)[..., None] * law.e2
    return out


def natural_gradients(model: Model, k: int, t: Vec, Z: Mat) -> list[tuple[Vec, Mat]]:
    """The gradient of primitive k in natural coordinates as products: for each equation a list of (coefficients,
    vector) with gradient = sum coefficients x vector over the eight 3-vectors of both bodies.

    Linear: three equations, A x e_i. Bilinear: one equation, scale (A x Q + B x P), its two terms as two entries.
    """
    primitive = model.primitives[k]
    A = coefficients(model, k, t)
    if primitive["linear"]:
        return [(A, np.eye(3)[i]) for i in range(3)]
    P = combine(model, A, primitive["body"], Z, 0)
    Q = combine(model, primitive["B"], primitive["body"], Z, 0)
    return [(A, primitive["scale"] * Q), (primitive["B"], primitive["scale"] * P)]


def gradient(model: Model, t: Vec, Z: Mat) -> Mat:
    """G of the joints with respect to (xdot, Omega) of all bodies, shape (..., rows, 6 n); zero columns for the x of
    bodies with a pivot."""
    lead = Z.shape[:-2]
    rows = int(model.primitives["n"].sum()) if len(model.primitives) else 0
    G: Mat = np.zeros((*lead, rows, model.n, 6))
    free = model.bodies["nt"][: model.n] == 3
    row = 0
    for k, primitive in enumerate(model.primitives):
        terms = natural_gradients(model, k, t, Z)
        n = int(primitive["n"])
        for side, b in enumerate(primitive["body"]):
            if b == model.n:
                continue
            G[..., row : row + n, b, :] = _of_body(terms, n, side, Z[..., b, :])
            if not free[b]:
                G[..., row : row + n, b, :3] = 0.0
        row += n
    return G.reshape(*lead, rows, 6 * model.n)


def pair_gradient(model: Model, k: int, t: Vec, Z: Mat, b: int) -> Mat:
    """The rows of primitive k with respect to (xdot, Omega) of body b, (n, 6); Z is one state."""
    primitive = model.primitives[k]
    side = list(primitive["body"]).index(b)
    return _of_body(natural_gradients(model, k, t, Z), int(primitive["n"]), side, Z[b])


def _of_body(terms: list[tuple[Vec, Mat]], n: int, side: int, z: Mat) -> Mat:
    """The rows (..., n, 6) of a primitive with respect to (xdot, Omega) of its body on one side, which is at z."""
    lead = z.shape[:-1]
    out: Mat = np.zeros((*lead, n, 6))
    directors = z[..., 3:12].reshape(*lead, 3, 3)
    for i, (c, f) in enumerate(terms):
        at = i if n == 3 else 0
        part = c[..., 4 * side : 4 * side + 4]
        out[..., at, :3] += part[..., :1] * f
        # sum_j d_j x (c_j f) = (sum_j c_j d_j) x f, in the body frame
        arm = np.einsum("...j,...jk->...k", part[..., 1:], directors)
        out[..., at, 3:] += np.einsum("...jk,...k->...j", directors, np.cross(arm, f))
    return out


__all__ = ["coefficients", "combine", "gradient", "natural_gradients", "pair_gradient"]
