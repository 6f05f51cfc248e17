"""Forces: derivatives, hand calculations, the user's functions, bad input. Their formulas are those of `textbook`, in
random systems."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import cases
import force_cases
import numpy as np
import pytest
import test_derivatives as derivatives
from cases import Pairing
from force_cases import FORCES, axial, system_of, turn, two_bodies
from inside import Vec
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.forces import (
    Bushing,
    CalledBack,
    Force,
    Friction,
    Motor,
    SpringDamper,
    TorsionalSpringDamper,
    TranslationalSpringDamper,
    UserForce,
)
from rbdae.joints import Prismatic, Revolute, Spherical

T = 0.7

PAIRINGS = [
    Pairing("index-3", "quaternion", "coordinate"),
    Pairing("index-3", "directors", "angular"),
    Pairing("index-1", "euler-313", "angular"),
    Pairing("index-1", "directors", "coordinate"),
    Pairing("index-0", "quaternion", "angular"),
    Pairing("index-0", "directors", "coordinate"),
    Pairing("hamiltonian", "directors", "momentum"),
    Pairing("hamiltonian-differentiated", "quaternion", "momentum"),
    Pairing("null-space", "quaternion", "angular"),
    Pairing("null-space", "euler-313", "angular"),
]


# ---------------------------------------------------------------- derivatives


def check(kind, pairing, rng, monkeypatch, **where):
    name = f"force {kind} {where}"
    monkeypatch.setitem(cases.SYSTEMS, name, partial(system_of, kind, **where))
    derivatives.check(name, pairing, rng, t0=T)


@pytest.mark.parametrize("pairing", PAIRINGS, ids=str)
@pytest.mark.parametrize("kind", FORCES)
def test_jacobians(kind, pairing, rng, monkeypatch):
    check(kind, pairing, rng, monkeypatch, jointed=True)


@pytest.mark.parametrize("pairing", PAIRINGS[::3], ids=str)
@pytest.mark.parametrize("kind", FORCES)
def test_jacobians_with_a_pivot(kind, pairing, rng, monkeypatch):
    check(kind, pairing, rng, monkeypatch, pivot=True)


# ---------------------------------------------------------------- by hand


def accelerations(system: rbdae.System, t: float = 0.0) -> list[Vec]:
    """(xddot, Omegadot) of each body at the start."""
    problem = rbdae.formulate(system, "index-0", t0=t)
    return list(problem.yd0[problem.layout.v].reshape(-1, 6))


def one_body(**values: Any) -> tuple[rbdae.System, Any]:
    system = rbdae.System(gravity=(0, 0, 0))
    values = {"mass": 2.0, "inertia": cases.INERTIA} | values
    return system, system.add_body("a", **values)


def axle(kind: type[Revolute] | type[Prismatic], a: Any, b: Any) -> Any:
    """A joint about e3 of both bodies."""
    return kind(a, b, axis_b=(0, 0, 1), normal_a=(1, 0, 0), normal_b=(1, 0, 0))


def test_a_rotational_bushing_by_hand():
    R = Rotation.from_rotvec((0, 0, 0.4))
    system, a = one_body(inertia=(1.0, 1.0, 2.0), orientation=R, angular_velocity=(0, 0, 1.5))
    system.add_force(
        Bushing(a, stiffness=0.0, rotational_stiffness=(1, 1, 3.0), rotational_damping=0.5, rest=(1, 0, 0, 0))
    )
    torque = -3.0 * math.sin(0.4) - 0.5 * math.cos(0.4) ** 2 * 1.5
    np.testing.assert_allclose(accelerations(system)[0], (0, 0, 0, 0, 0, torque / 2.0), atol=1e-14)
    # as placed there is no torque
    for rest in (None, R, R.as_matrix()):
        still, a = one_body(orientation=R)
        still.add_force(Bushing(a, stiffness=0.0, rotational_stiffness=3.0, rest=rest))
        np.testing.assert_allclose(accelerations(still)[0], 0.0, atol=1e-14)
    still, a, b = two_bodies(gravity=(0, 0, 0))
    still.add_force(Bushing(a, b, stiffness=0.0, rotational_stiffness=force_cases.STIFF))
    bare = two_bodies(gravity=(0, 0, 0))[0]
    np.testing.assert_allclose(accelerations(still), accelerations(bare), atol=1e-13)


@pytest.mark.parametrize("angle", [0.01, 0.8, 2.0, 3.1])
def test_a_rotational_bushing_about_any_axis(angle, rng):
    """The potential (1 - cos phi) n . K n between two bodies, and opposite torques that are its derivative."""
    R, rest = turn(0.4, 0.3, -0.9), turn(-0.2, 0.7, 0.1)
    K = force_cases.STIFF
    n = rng.standard_normal(3)
    n /= np.linalg.norm(n)
    system = rbdae.System(gravity=(0, 0, 0))
    b = system.add_body("b", mass=1.0, inertia=cases.INERTIA, orientation=R)
    a = system.add_body("a", mass=1.0, inertia=cases.INERTIA, orientation=R * Rotation.from_rotvec(angle * n) * rest)
    system.add_force(Bushing(a, b, stiffness=0.0, rotational_stiffness=K, rest=rest))
    problem = rbdae.formulate(system, "index-0", rotation="directors")
    assert problem.energy(0.0, problem.y0).potential == pytest.approx((1.0 - math.cos(angle)) * n @ K @ n, rel=1e-11)
    spins = np.array([part[3:] for part in problem.yd0[problem.layout.v].reshape(-1, 6)])
    on_b = R.apply(cases.INERTIA @ spins[0])
    on_a = (R * Rotation.from_rotvec(angle * n) * rest).apply(cases.INERTIA @ spins[1])
    np.testing.assert_allclose(on_a, -on_b, atol=1e-10)
    along = on_a @ R.apply(n)  # the derivative of the potential in the angle
    assert along == pytest.approx(-math.sin(angle) * n @ K @ n, abs=1e-10)


# ---------------------------------------------------------------- the user's functions


def _bushing_as_user() -> tuple[Any, Any]:
    K, D, r = np.array(force_cases.STIFF), np.array(force_cases.DAMP), np.array((0.3, -0.1, 0.2))
    A = np.kron(np.array([1.0, *r, -1.0, 0.0, 0.0, 0.0]), np.eye(3))
    KK, DD = -A.T @ K @ A, -A.T @ D @ A

    def force(t, x, out):
        for i in range(24):
            out[i] = 0.0
            for j in range(24):
                out[i] += KK[i, j] * x[j] + DD[i, j] * x[24 + j]

    def jacobian(t, x, out):
        for i in range(24):
            for j in range(24):
                out[24 * i + j] = KK[i, j]
                out[576 + 24 * i + j] = DD[i, j]

    return force, jacobian


@pytest.mark.parametrize("steps", [False, True], ids=["analytic", "differences"])
def test_a_user_force_equals_a_bushing(steps, rng):
    """Between the centres of mass, where the natural coordinates of the user begin."""
    pairing = Pairing("index-3", "quaternion", "angular")
    problems = []
    for own in (False, True):
        system = rbdae.System()
        a = system.add_body("a", mass=1.0, inertia=(1, 2, 2.5), angular_velocity=(1, 2, 3))
        b = system.add_body("b", mass=1.0, inertia=(1, 2, 2.5), position=(1, 0, 0), velocity=(0, 1, 0))
        if own:
            force, jacobian = _bushing_as_user()
            system.add_force(
                UserForce((a, b), CalledBack(force, difference_step=1e-5))
                if steps
                else UserForce((a, b), force, jacobian, name="mine")
            )
        else:
            system.add_force(
                Bushing(a, b, stiffness=force_cases.STIFF, damping=force_cases.DAMP, at_a=(0.3, -0.1, 0.2))
            )
        problems.append(cases.formulate(system, pairing))
    one, two = problems
    y, yd = one.y0 + 0.1 * rng.standard_normal(one.n), rng.standard_normal(one.n)
    np.testing.assert_allclose(one.residual(0.0, y, yd), two.residual(0.0, y, yd), atol=1e-12)
    tolerance = 1e-7 if steps else 1e-12
    np.testing.assert_allclose(one.jacobian(0, y, yd, 2.0), two.jacobian(0, y, yd, 2.0), atol=tolerance)


def test_the_users_function_is_first_called_with_the_motion_at_the_start(rng):
    """Positions, directions and their rates of both bodies, whose centres of mass are not their origins."""
    seen: list[Vec] = []

    def force(t: float, x: Vec, out: Vec) -> None:
        seen.append(x.copy())
        out[:] = 0.0

    def jacobian(t: float, x: Vec, out: Vec) -> None:
        out[:] = 0.0

    system = rbdae.System()
    names = ("position", "velocity", "angular_velocity", "center_of_mass")
    for name in "ab":
        given = {what: rng.standard_normal(3) for what in names}
        q = rng.standard_normal(4)
        system.add_body(name, mass=1.0, inertia=(1.0, 2.0, 2.5), orientation=q / np.linalg.norm(q), **given)
    system.add_force(UserForce(system.bodies, force, jacobian))
    problem = rbdae.formulate(system, "index-0")
    Z = problem.natural(problem.t0, problem.y0)
    np.testing.assert_allclose(seen[0], np.concatenate([Z[:, :12].ravel(), Z[:, 12:].ravel()]), rtol=0, atol=1e-14)


class Trouble(Exception):
    pass


def test_what_the_users_function_raises_is_what_the_caller_sees():
    def trouble(t: float, *_: Any) -> Any:
        if t > 0.1:
            raise Trouble("no force today")
        return 0.0

    def user(t: float, x: Vec, out: Vec) -> None:
        out[:] = 0.0
        trouble(t)

    for make in (
        lambda a: UserForce(a, user, user),
        lambda a: SpringDamper(a, force=trouble, at_a=(1, 0, 0)),
        lambda a: Force(a, lambda t: np.zeros(3) + trouble(t)),
    ):
        system, a = one_body()
        system.add_force(make(a))
        problem = rbdae.formulate(system, "index-0")
        with pytest.raises(Trouble, match="no force today"):
            problem.rhs(1.0, problem.y0)
        # where a Jacobian does not depend on a force, as on one at the centre of mass, plain code asks for it too
        plain = cases.formulated(system, "index-0", code="plain")
        with pytest.raises(Trouble, match="no force today"):
            plain.rhs_jacobian(1.0, plain.y0)
        assert np.isfinite(problem.rhs(0.0, problem.y0)).all()
        with pytest.raises(Trouble, match="no force today"):
            rbdae.solve(problem, (0.0, 1.0), solver="scipy:RK45")


# ---------------------------------------------------------------- bad input

BAD: list[tuple[Any, type[Exception], list[str]]] = [
    (lambda s, a, b: Force(None, (1, 0, 0)), TypeError, ["force Force", "add_body returned"]),
    (lambda s, a, b: Force(a, (1, 0)), ValueError, ["force Force('a')", "force", "(1, 0)"]),
    (lambda s, a, b: Force(a, (1, 0, 0), frame="b"), ValueError, ["frame", "'space' or 'body'", "'b'"]),
    (lambda s, a, b: SpringDamper(a, b, stiffness=-1), ValueError, ["SpringDamper('a', 'b')", "stiffness", "sign"]),
    (lambda s, a, b: SpringDamper(a, a), ValueError, ["itself"]),
    (
        lambda s, a, b: TorsionalSpringDamper(Spherical(a, b, name="ball")),
        ValueError,
        ["joint 'ball' has no coordinate in rad", "revolute"],
    ),
    (
        lambda s, a, b: TranslationalSpringDamper(axial(a, b, "revolute")),
        ValueError,
        ["joint Revolute", "no coordinate in m", "prismatic"],
    ),
    (lambda s, a, b: Motor(axial(a, b, "revolute")), ValueError, ["torque=", "force="]),
    (lambda s, a, b: Friction(axial(a, b, "cylindrical"), 1.0), ValueError, ["turns and slides", "rotational="]),
    (lambda s, a, b: Friction(axial(a, b, "revolute")), ValueError, ["no coefficient"]),
    (lambda s, a, b: Friction(axial(a, b, "revolute"), -1.0), ValueError, ["coefficient", "-1.0"]),
    (lambda s, a, b: Bushing(a, stiffness=1, rest=(1, 1, 1)), ValueError, ["rest", "scipy.spatial.transform.Rotation"]),
    (lambda s, a, b: UserForce((a, b, a), max, max), ValueError, ["one body or two"]),
    (lambda s, a, b: CalledBack(max, difference_step=0.0), ValueError, ["difference_step", "positive"]),
]


@pytest.mark.parametrize("make, error, words", BAD, ids=[str(k) for k in range(len(BAD))])
def test_bad_input_is_refused(make, error, words):
    system, a, b = two_bodies()
    with pytest.raises(error) as caught:
        make(system, a, b)
    for word in words:
        assert word in str(caught.value)
