"""The path of the angular velocity in a free body: its axis, amplitudes, modulus and rate, from exact data.

With axes a, b, c of the other extreme moment, of the medial moment, and of the moment that the path encircles,

    Omega = (A_a cn u, s A_b sn u, A_c dn u),  u = lambda t + u0,  s = +1 if I_c is the largest moment, else -1.

Floating-point numbers are fractions, so the side of the separatrix and the distance from it are known exactly.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae_papers.closed_form.elliptic import Functions, complete, decimal, in_parts

_PI_2 = 2 * Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211707"
)


class Polhode(NamedTuple):
    """Constants of the motion.

    Attributes
    ----------
    frame : (3, 3) array, the axes a, b, c as rows, right-handed
    moments : (3,) array, I_a, I_b, I_c
    amplitudes : (3,) array, A_a, s A_b, A_c, rad/s
    L, twice_energy : the norm of the angular momentum, and 2 T
    sign : s
    rate : lambda, 1/s
    u0 : the argument at t = 0, in [-K, K]
    functions : functions on a half period
    half_period : 2 K / lambda, s, in parts with exact integer multiples; infinite on the separatrix
    turns : the advance of the angle chi about the angular momentum in a half period, in turns between -1/2 and 1/2,
        in parts
    K_low : rounding error of the double-precision K
    advance : rad/s; chi = advance t + arc S(u) - s atan2(tilt[1] sn u, tilt[0] cn u) on a half period
    arc, tilt : see advance
    step : growth of chi - advance t from u to u + 2 K
    """

    frame: Mat
    moments: Vec
    amplitudes: Vec
    L: float
    twice_energy: float
    sign: float
    rate: float
    u0: float
    functions: Functions
    half_period: tuple[float, float, float]
    turns: tuple[float, float, float]
    K_low: float
    advance: float
    arc: float
    tilt: tuple[float, float]
    step: float


def is_steady(moments: Vec, Omega: Vec) -> bool:
    """Whether Omega is constant: J Omega and Omega are parallel, without rounding."""
    I, W = _exact(moments), _exact(Omega)
    return all((I[i] - I[j]) * W[i] * W[j] == 0 for i, j in ((0, 1), (1, 2), (2, 0)))


def polhode(moments: Vec, Omega: Vec) -> Polhode:
    """Constants of an unsteady motion; call under `with_digits`."""
    I, W = _exact(moments), _exact(Omega)
    low, b, high = sorted(range(3), key=I.__getitem__)
    side = sum((I[i] * (I[i] - I[b]) * W[i] ** 2 for i in range(3)), Fraction(0))  # L^2 - 2 T I_b
    a, c = (low, high) if side >= 0 else (high, low)
    sign = 1 if c == high else -1
    frame = _frame(a, b, c, W)
    d_a, d_b, d_ab = abs(I[c] - I[a]), abs(I[c] - I[b]), abs(I[b] - I[a])
    e = I[a] * d_a * W[a] ** 2 + I[b] * d_b * W[b] ** 2  # |2 T I_c - L^2|
    x = I[b] * d_ab * W[b] ** 2 + I[c] * d_a * W[c] ** 2  # |L^2 - 2 T I_a|
    m, m1 = decimal(d_ab * e / (d_b * x)), decimal(d_a * abs(side) / (d_b * x))
    nu = decimal(I[c] * d_ab / (I[a] * d_b))
    rate = decimal(d_b * x / (I[a] * I[b] * I[c])).sqrt()
    L = decimal(sum((i * i * w * w for i, w in zip(I, W, strict=True)), Fraction(0))).sqrt()
    integrals = complete(m, m1, nu)
    functions = Functions.of(m, m1, nu, integrals)
    amplitudes = [decimal(q).sqrt() for q in (e / (I[a] * d_a), e / (I[b] * d_b), x / (I[c] * d_a))]
    # chi' = (2 T + L Omega_c) / (L + I_c Omega_c) = L / I_b + s kappa lambda cn^2 / (1 + nu sn^2) - s d/dt atan2(...)
    steady = L / decimal(I[b])
    kappa = sign * L * decimal(d_ab / (I[a] * I[b])) / rate
    arc = kappa * ((1 + nu) / (nu * (nu + m))).sqrt() if d_ab else Decimal(0)
    half_period = turns = (math.inf, 0.0, 0.0)
    advance, at_K, K_low = float(steady), 0.0, 0.0
    if m1:
        K_low = float(integrals.K - Decimal(functions.K))
        half_period = in_parts(2 * integrals.K / rate)
        chi = (2 * (steady / rate * integrals.K + kappa * integrals.G_K) - sign * _PI_2 / 2) / _PI_2
        turns = in_parts(chi - chi.to_integral_value())
        at_K = float(functions.arcs(np.array(functions.K)))
        advance += float(rate * kappa * integrals.G_K / integrals.K) - float(rate * arc / integrals.K) * at_K
    body = frame @ Omega
    tilt = decimal(I[a] * d_b).sqrt(), decimal(I[b] * d_a).sqrt()
    return Polhode(
        frame=frame,
        moments=np.array([float(I[i]) for i in (a, b, c)]),
        amplitudes=np.array([float(A) for A in amplitudes]) * (1.0, sign, 1.0),
        L=float(L),
        twice_energy=float(sum((i * w * w for i, w in zip(I, W, strict=True)), Fraction(0))),
        sign=float(sign),
        rate=float(rate),
        u0=_argument(body[0] / float(amplitudes[0]), sign * body[1] / float(amplitudes[1]), float(m1)),
        functions=functions,
        half_period=half_period,
        turns=turns,
        K_low=K_low,
        advance=advance,
        step=2.0 * float(arc) * at_K - sign * math.pi,
        arc=float(arc),
        tilt=(float(tilt[0] / (tilt[0] + tilt[1])), float(tilt[1] / (tilt[0] + tilt[1]))),
    )


def _exact(x: Vec) -> list[Fraction]:
    return [Fraction(value) for value in x.tolist()]


def _frame(a: int, b: int, c: int, W: list[Fraction]) -> Mat:
    """Rows e_a, e_b, e_c with signs such that Omega_a >= 0, Omega_c > 0 and the frame is right-handed."""
    out = np.zeros((3, 3))
    out[0, a] = -1.0 if W[a] < 0 else 1.0
    out[2, c] = -1.0 if W[c] < 0 else 1.0
    out[1] = np.cross(out[2], out[0])
    return out


def _argument(cn: float, sn: float, m1: float) -> float:
    """u in [-K, K] with these proportions of cn u >= 0 and sn u."""
    from scipy.special import elliprf

    size = math.hypot(cn, sn)
    c, s = cn / size, sn / size
    if m1 == 0.0:
        return math.asinh(s / c)
    return s * float(elliprf(c * c, c * c + m1 * s * s, 1.0))
