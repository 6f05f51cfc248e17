"""`rbdae_papers.closed_form`: the free body over many turnovers against 200 bits and runs, limits of the top."""

from __future__ import annotations

import math

import numpy as np
import precise_body
import pytest
from cases import count
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from rbdae.rotations import quaternions as Q
from rbdae_papers import kinematics
from rbdae_papers.closed_form import FreeBody, SymmetricTop

# moments, Omega at the start, regime; each followed over many turnovers
BODIES = {
    "about the largest": ((1, 2, 3), (0.1, 0.2, 3), "largest"),
    "about the smallest": ((1, 2, 3), (3, 0.2, 0.1), "smallest"),
    "axes in another order": ((3, 1, 2), (-1, -2, 0.7), "smallest"),
    "backwards": ((2, 3, 1), (0.1, -2, 0.01), "largest"),
    "m = 1/2": ((1, 2, 3), (1, 1, -1), "largest"),
    "no component": ((2, 1, 3), (1, 0, 1), "largest"),
    "tennis racket, 1.0": ((41.6, 11.6, 50), (50, 1, 1), "largest"),
    "tennis racket, 0.1": ((41.6, 11.6, 50), (50, 0.1, 0.1), "largest"),
    "oblate": ((1, 1, 2), (1, 2, 3), "largest"),
    "prolate": ((1, 2, 2), (3, 2, 1), "smallest"),
    "nearly oblate": ((1, 1 + 1e-12, 2), (1, 2, 3), "largest"),
    "nearly steady": ((1, 2, 3), (1e-9, 0, 1), "largest"),
    "thin rod": ((1e-3, 1, 1.5), (500, 2, 3), "smallest"),
}


def compared(body: FreeBody, t_end: float, samples: int = 8, angle: float = 0.6) -> tuple[float, float]:
    """The errors of Omega, relative to its size, and of the quaternion."""
    t, Omega, q, defect = precise_body.free_body(body.moments, body.initial_velocity, t_end, samples, angle)
    assert defect < 1e-25
    q = Q.product(body.initial_quaternion, q)
    found = body.quaternion(t)
    found *= np.where((found * q).sum(-1) < 0.0, -1.0, 1.0)[:, None]
    size = np.linalg.norm(body.initial_velocity)
    return float(np.abs(body.angular_velocity(t) - Omega).max() / size), float(np.abs(found - q).max())


@pytest.mark.sampled
@pytest.mark.parametrize("name", BODIES)
def test_many_turnovers(name, rng):
    """Fifty at night; the oracle's 200 bits cost the same for each of them."""
    moments, Omega, regime = BODIES[name]
    body = FreeBody(moments, Omega, Rotation.random(None, rng))
    assert body.regime == regime
    assert max(compared(body, count(3, 50) * body.half_period)) < 2e-14


@pytest.mark.sampled
@pytest.mark.parametrize("number", range(count(5, 400)))
def test_random_bodies(number):
    """Moments that are nearly equal, half periods that are long, starts anywhere on them."""
    rng = np.random.default_rng(number)
    J = 10.0 ** rng.uniform(-1.0, 1.0, 3)
    if rng.random() < 0.5:
        i, j = rng.permutation(3)[:2]
        J[j] = J[i] * (1.0 + 10.0 ** -rng.uniform(0.0, 15.0))
    Omega = rng.standard_normal(3) * 10.0 ** -(rng.uniform(0.0, 10.0, 3) * (rng.random(3) < 0.5))
    Omega /= np.abs(Omega).max()
    body = FreeBody(J, Omega)
    assert max(compared(body, min(50.0 * body.half_period, 10.0), 2, 0.2 * math.sqrt(J.min() / J.max()))) < 2e-14


@pytest.mark.sampled
@pytest.mark.parametrize("side", [-1e-9, -2e-16, 2e-16, 1e-3])
def test_near_the_separatrix(side):
    """Both sides; (3, w, 1) with (1, 5, 9) lies on it."""
    body = FreeBody((1, 5, 9), (3.0, -1.0, 1.0 + side))
    assert body.regime == ("largest" if side > 0.0 else "smallest")
    assert max(compared(body, count(1, 3) * body.half_period, angle=0.3)) < 2e-14


@pytest.mark.parametrize("Omega", [(3.0, -1.0, 1.0), (3e-3, 5.0, 1e-3)])
def test_the_separatrix(Omega):
    """Hyperbolic functions: Omega ends on the medial axis."""
    body = FreeBody((1, 5, 9), Omega)
    assert body.regime == "separatrix"
    assert body.half_period == math.inf
    assert max(compared(body, 15.0, angle=0.3)) < 2e-14
    assert max(compared(body, -15.0, angle=0.3)) < 2e-14
    late = body.angular_velocity([-1e6, 1e6])
    size = math.sqrt(2.0 * body.energy / 5.0)
    assert np.abs(np.abs(late) - (0.0, size, 0.0)).max() < 1e-14 * size
    assert late[0, 1] == -late[1, 1]


# ---------------------------------------------------------------- limits, invariants, input


@pytest.mark.parametrize(
    "moments, Omega",
    [
        ((2, 2, 2), (1, 2, 3)),
        ((1, 2, 3), (0, 4, 0)),
        ((1, 2, 2), (0, 2, 3)),
        ((1, 1, 2), (1, 2, 0)),
        ((1, 2, 3), (0, 0, 0)),
    ],
)
def test_steady_rotation(moments, Omega):
    body = FreeBody(moments, Omega)
    assert body.regime == "steady"
    t = np.linspace(-3.0, 3.0, 7)
    assert (body.angular_velocity(t) == Omega).all()
    exact = Rotation.from_rotvec(np.outer(t, Omega))
    assert (body.orientation(t) * exact.inv()).magnitude().max() < 1e-15


moments_of_bodies = st.tuples(*[st.floats(0.1, 10.0)] * 3)
components = st.one_of(st.sampled_from([0.0, 1e-50, -1e-12, 1.0, -1.0]), st.floats(0.01, 5.0), st.floats(-5.0, -0.01))


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(moments_of_bodies, st.tuples(components, components, components), st.floats(-100.0, 100.0))
@example((1.0, 5.0, 9.0), (3.0, 1.0, 1.0), 100.0)
@example((1.0, 1.0, 1.0 + 2e-16), (1.0, 1.0, 1.0), 100.0)
@example((1.0, 2.0, 2.0 + 1e-14), (1e-9, 1.0, 1.0), 100.0)
def test_any_free_body(moments, Omega, t):
    """Momentum in space and energy are constant, the start is met, and Omega is that of the attitude."""
    body = FreeBody(moments, Omega)
    J, size = np.array(moments), max(np.linalg.norm(Omega), 1e-300)
    assert np.abs(body.angular_velocity(0.0) - Omega).max() < 3e-15 * size
    assert body.orientation(0.0).magnitude() < 3e-15
    now = body.angular_velocity(t)
    L = J * np.array(Omega)
    assert np.abs(body.orientation(t).apply(J * now) - L).max() < 1e-13 * np.linalg.norm(L) + 1e-300
    assert abs(0.5 * now @ (J * now) - body.energy) <= 1e-13 * body.energy
    # R(t + h) = R(t) exp(h Omega + h^2 / 2 Omegadot + ...): Omega by a central difference
    h = 1e-4 / size
    turned = body.orientation(t - h).inv() * body.orientation(t + h)
    assert np.abs(turned.as_rotvec() / (2.0 * h) - now).max() < 1e-5 * size


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: FreeBody((1, 2, -3), (1, 2, 3)), "moments must be positive"),
        (lambda: FreeBody((1, 2, 3), (1e-70, 1, 0)), "angular_velocity must lie between 1e-60 and 1e.60 in size"),
        (lambda: FreeBody((1, 2, 3), (1, 2, 3)).quaternion(np.inf), "t must be finite"),
        (lambda: SymmetricTop(1.0, 1.0, 1.0).nutation_limits(-2.0, 0.0, 0.0), "must belong to a motion"),
        (lambda: SymmetricTop(1.0, 1.0, 1.0).steady_precession(0.1, 1.0), "L_3 must be at least 1.99"),
    ],
)
def test_wrong_input_is_refused(call, message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        call()
    assert ";" in str(caught.value)


# ---------------------------------------------------------------- runs


@pytest.mark.parametrize("which", ["slow", "fast"])
@pytest.mark.parametrize("tilt", [0.3, 1.0, 2.5])
def test_steady_precession_does_not_nutate(tilt, which):
    top = SymmetricTop(1.2, 0.7, 3.0)
    L_3 = 9.0
    rate = getattr(top.steady_precession(tilt, L_3), which)
    # Euler angles 3-1-3 with psidot = rate, thetadot = 0: Omega = (0, rate sin, rate cos + spin)
    Omega = (0.0, rate * math.sin(tilt), L_3 / 0.7)
    R = kinematics.from_axis_angle((1, 0, 0), tilt)
    integrals = top.integrals(R, Omega)
    assert abs(integrals.L_3 - L_3) < 1e-14 * L_3
    # a double root: the square root of rounding
    assert np.abs(np.subtract(top.nutation_limits(*integrals), tilt)).max() < 1e-6
    # thetaddot = 0 of Lagrange's equation, by 1.2 rate^2 sin cos - L_3 rate sin + 3 sin
    balance = 1.2 * rate**2 * math.cos(tilt) - L_3 * rate + 3.0
    assert abs(balance) < 1e-14 * (L_3 * abs(rate) + 3.0)
