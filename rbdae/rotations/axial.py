"""Charts with parameters along the axis of rotation: a = f(phi) n.

With t = |a|^2 and the skew matrix a^ (a^ x = a x x),

    R = I + alpha a^ + beta a^ a^              alpha = sin(phi) / f,  beta = (1 - cos(phi)) / f^2
    K = kappa I + a^ / 2 + gamma a a^T         kappa = (f / 2) cot(phi / 2),  gamma = (f' - kappa) / f^2

where adot = K Omega. A chart is a few functions of t. From (46), (104) and (105) of [GR95], like its (165)-(171),
(183)-(192), (256)-(266), (269)-(273).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec, cross
from rbdae.graph.functions import Array
from rbdae.rotations.chart import NEAR_SINGULAR, Chart
from rbdae.rotations.vectors import skew


def along_axis(
    *,
    sines: Callable[[Any], Any],
    cotangents: Callable[[Any], Any],
    length: Callable[[Vec, Vec], Vec],
    distance: Callable[[Any], Any],
    halves: Callable[[Vec], tuple[Vec, Vec]],
    singularity: str,
    **fields: Any,
) -> Chart:
    """A chart of parameters along the axis.

    Parameters
    ----------
    sines, cotangents : (alpha, beta) and (kappa, gamma) of t
    length : f of cos(phi / 2) >= 0 and sin(phi / 2)
    distance : the angle to the singular set, rad, of t
    halves : cos(phi / 2) and sin(phi / 2) / f of t (..., 1)
    singularity : where the chart ends, for messages
    fields : further ones of `Chart`
    """

    def parameters(p: Vec, R: Mat) -> Vec:
        cosine, sine, n = half_angle(p)
        return length(cosine, sine) * n

    def rotation(a: Array) -> Array:
        t = a @ a
        alpha, beta = sines(t)
        return np.eye(3) * (1.0 - beta * t) + skew(a) * alpha + np.multiply.outer(a * beta, a)

    def rate(a: Array, om: Array) -> Array:
        kappa, gamma = cotangents(a @ a)
        return om * kappa + 0.5 * cross(a, om) + a * (gamma * (a @ om))

    def quaternion(a: Vec) -> Vec:
        cosine, sine = halves(np.sum(a * a, axis=-1, keepdims=True))
        return np.concatenate([cosine, sine * a], axis=-1)

    def singular(a: Vec) -> str:
        t = a @ a
        with np.errstate(all="ignore"):  # beyond the chart's end they are no numbers
            kappa, gamma = cotangents(t)
            along, across = kappa + gamma * t, np.sqrt(kappa * kappa + 0.25 * t)  # |K n|, and |K e| of e across n
            good = distance(t) > 0.0 and along > NEAR_SINGULAR and max(along, across) * NEAR_SINGULAR < 1.0
        return "" if good else f"a length of {np.sqrt(t):.6g} is beyond or too near to the singularity {singularity}"

    return Chart(
        parameters=parameters,
        singular=singular,
        rotation=rotation,
        rate=rate,
        distance=lambda a: distance(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]),
        quaternion=quaternion,
        centre=(0.0, 0.0, 0.0),
        **fields,
    )


def half_angle(p: Vec) -> tuple[Vec, Vec, Vec]:
    """cos(phi / 2), sin(phi / 2) (..., 1) and the axis n (..., 3), zero for the identity, of unit quaternions (..., 4),
    with the sign of p that gives phi <= pi. Even the smallest angles keep their digits."""
    p = np.where(np.signbit(p[..., :1]), -p, p)
    largest = np.max(np.abs(p[..., 1:]), axis=-1, keepdims=True)
    m = np.where(largest > 0.0, largest, 1.0)
    norm = np.linalg.norm(p[..., 1:] / m, axis=-1, keepdims=True)
    return p[..., :1], m * norm, p[..., 1:] / m / np.where(norm > 0.0, norm, 1.0)
