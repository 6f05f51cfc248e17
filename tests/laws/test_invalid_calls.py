"""Of a valid call one argument becomes a value of a wrong kind: a `TypeError` or `ValueError` of ours comes. It names
the argument and shows the value. Never another error, a silent pass, a crash."""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import invalid_calls
import numpy as np
import pytest
from by_numba import needs_numba, njit
from invalid_calls import hinged, pair
from toy_force import Maxwell

import rbdae
from rbdae import drives, forces, joints, models
from rbdae.adapter import MissingSolver
from rbdae.rotations import quaternions
from rbdae_papers import kinematics

HOUSE = tuple(str(Path(__import__(name).__file__ or "").parent) for name in ("rbdae", "rbdae_adapters", "rbdae_papers"))


def _complaint(call: Callable[[], Any], argument: str, value: Any) -> str:
    """What is wrong with the answer to an invalid call."""
    try:
        call()
    except (TypeError, ValueError) as error:
        where = traceback.extract_tb(error.__traceback__)[-1].filename
        if not where.startswith(HOUSE):
            return f"raised in {where}: {error}"
        lacking = invalid_calls.lacking(argument, value, str(error))
        return lacking and f"{lacking}: {error}"
    except MissingSolver as error:
        return f"{type(error).__name__}: {error}" if "CI" in os.environ else ""  # as `conftest.py` has it for all tests
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def test_an_invalid_call_is_refused_by_name():
    found = []
    for name, call in invalid_calls.calls().items():
        call.function(**call.given)
        for argument, value in invalid_calls.spoilt(name):
            given = call.given | {argument: value}
            complaint = _complaint(lambda f=call.function, given=given: f(**given), argument, value)
            found += [f"{name}({argument}={value!r}): {complaint}"] if complaint else []
    assert not found, "\n".join(found)


@pytest.mark.parametrize("module", [models, kinematics, quaternions])
def test_functions_of_numbers_refuse_words(module):
    for name in getattr(module, "__all__", models.MODELS):
        function: Any = getattr(module, name)
        if inspect.isfunction(function):
            for parameter in inspect.signature(function).parameters:
                with pytest.raises((TypeError, ValueError)):
                    function(**dict.fromkeys(inspect.signature(function).parameters, "x") | {parameter: object()})


@pytest.mark.parametrize("module", [forces, rbdae.actuators, drives, joints])
def test_every_part_has_an_invalid_call(module):
    known = {name.split(".")[-1].split(" ")[0] for name in invalid_calls.calls()}
    parts = {n for n, kind in vars(module).items() if "__final__" in getattr(kind, "__dict__", {})}
    others = {"FunctionBlock", "CalledBack", "Coincidence", "Distance", "Dot1", "Dot2", "UserElement", "StateElement"}
    assert parts - known <= others


# ---------------------------------------------------------------- functions of the user

WRONG_NUMBERS: list[Any] = [
    None, "123", "x", {}, {"a": 1.0}, 1j, (1.0,), [1.0, 2.0], np.zeros(2), True, float("nan"), float("inf"), object(),
    np.array([1.0]), np.ma.masked, 10**400, [],
]  # fmt: skip
WRONG_VECTORS: list[Any] = [
    None, 1.0, "123", {}, {0: 1.0, 1: 2.0, 2: 3.0}, (1.0, 2.0), (1.0, 2.0, 3.0, 4.0), (1j, 0, 0), np.zeros((3, 1)),
    (1.0, None, 0.0), (float("nan"), 0.0, 0.0), np.ma.masked_array([1.0, 2.0, 3.0], [True, False, False]),
    [[1.0], [2.0, 3.0]],
]  # fmt: skip


def _system(make: Callable[[Any, Any], Any], kind: Any = joints.Revolute) -> rbdae.System:
    system, joint = hinged(kind)
    part = make(system.bodies[0], joint)
    (system.add_joint if isinstance(part, rbdae.joints.AbstractJoint) else system.add_force)(part)
    return system


NUMBER_LAWS: dict[str, Callable[[Any], rbdae.System]] = {
    "motor": lambda law: _system(lambda a, j: forces.Motor(j, torque=law, name="it")),
    "motor along": lambda law: _system(lambda a, j: forces.Motor(j, force=law, name="it"), joints.Prismatic),
    "torsion": lambda law: _system(lambda a, j: forces.TorsionalSpringDamper(j, torque=law, name="it")),
    "slide": lambda law: _system(
        lambda a, j: forces.TranslationalSpringDamper(j, force=law, name="it"), joints.Prismatic
    ),
    "spring": lambda law: _system(lambda a, j: forces.SpringDamper(a, force=law, at_b=(1, 0, 0), name="it")),
}
VECTOR_LAWS: dict[str, Callable[[Any], rbdae.System]] = {
    "force": lambda law: _system(lambda a, j: forces.Force(a, law, name="it")),
    "torque": lambda law: _system(lambda a, j: forces.Torque(a, law, frame="body", name="it")),
}


def _refused(system: rbdae.System) -> str:
    with pytest.raises((TypeError, ValueError)) as caught:
        rbdae.formulate(system, "index-0")
    where = traceback.extract_tb(caught.value.__traceback__)[-1].filename
    assert where.startswith(HOUSE), (where, caught.value)
    return str(caught.value)


@pytest.mark.parametrize("kind", NUMBER_LAWS)
def test_a_law_that_gives_no_number_is_refused(kind):
    for value in WRONG_NUMBERS:
        message = _refused(NUMBER_LAWS[kind](lambda t, value=value: value))
        assert "force 'it'" in message, value
        assert "t = 0" in message, (value, message)
        assert ";" in message, (value, message)


@pytest.mark.parametrize("kind", VECTOR_LAWS)
def test_a_law_that_gives_no_vector_is_refused(kind):
    for value in WRONG_VECTORS:
        message = _refused(VECTOR_LAWS[kind](lambda t, value=value: value))
        assert "force 'it'" in message, value
        assert ";" in message, (value, message)


@needs_numba
def test_a_compiled_law_of_a_wrong_length_is_refused():
    @njit
    def four(t):
        return np.array((1.0, 2.0, 3.0, 4.0))

    @njit
    def one(t):
        return (1.0, 2.0)

    assert "shape (4,)" in _refused(VECTOR_LAWS["force"](four))
    assert "shape (2,)" in _refused(NUMBER_LAWS["motor"](one))


@pytest.mark.parametrize("value", [None, "123", 1j, (1.0, 2.0), True, {}], ids=repr)
def test_a_law_that_goes_wrong_later_is_refused_at_that_time(value):
    problem = rbdae.formulate(NUMBER_LAWS["motor"](lambda t: 1.0 if t < 0.004 else value), "index-0")
    with pytest.raises((TypeError, ValueError), match=r"force 'it': torque at t = 0\.0\d+ must be a real number, got"):
        rbdae.solve(problem, (0.0, 0.1), solver="scipy:RK45")


DRIVEN: dict[str, Callable[[Any], rbdae.System]] = {
    "angle": lambda laws: _system(lambda a, j: drives.PrescribedAngle(j, laws, name="it")),
    "displacement": lambda laws: _system(
        lambda a, j: drives.PrescribedDisplacement(j, laws, name="it"), joints.Prismatic
    ),
}


@pytest.mark.parametrize("order", range(3))
@pytest.mark.parametrize("kind", DRIVEN)
def test_a_law_of_a_drive_that_gives_no_number_is_refused(kind, order):
    for value in WRONG_NUMBERS:
        if isinstance(value, (tuple, np.ndarray)) and np.size(value) == 1:
            continue  # a spline of one component gives (1,)
        laws: list[Any] = [lambda t: 0.0] * 3
        laws[order] = lambda t, value=value: value
        assert "joint 'it'" in _refused(DRIVEN[kind](laws)), value


@njit
def _beyond(t, x, out):
    for k in range(len(out) + 3):
        out[k] = 0.0


@needs_numba
def test_a_compiled_law_that_writes_too_far_is_refused():
    assert "fills more than 3 numbers" in _refused(DRIVEN["angle"](_beyond))
    system = _system(lambda a, j: forces.UserForce(a, _beyond, _nothing, name="it"))
    assert "fills more than the 24 numbers" in _refused(system)


def _nothing(t: float, x: Any, out: Any) -> None:
    out[:] = 0.0


def _short(t: float, x: Any, out: Any) -> None:
    out[:20] = 0.0


def _returning(t: float, x: Any, out: Any) -> Any:
    out[:] = 0.0
    return out


def _complex(t: float, x: Any, out: Any) -> None:
    out[:] = 0.0
    out[2:4] = np.array((1j, 2.0))


def _changing(t: float, x: Any, out: Any) -> None:
    out[:] = 0.0
    x[3] += 1.0


def _infinite(t: float, x: Any, out: Any) -> None:
    out[:] = np.inf


WRONG_FILLERS: dict[str, tuple[Any, str]] = {
    "short": (_short, r"does not fill out: out\[20\] is unset"),
    "returning": (_returning, "must fill out and return nothing"),
    "rebinding": (lambda t, x, out: None, r"does not fill out: out\[0\] is unset"),
    "complex": (_complex, "writes complex numbers"),
    "changing": (_changing, "changes x"),
    "infinite": (_infinite, r"out\[0\] = inf"),
}


@pytest.mark.parametrize("kind", WRONG_FILLERS)
@pytest.mark.parametrize("what", ["force", "jacobian"])
def test_a_user_force_that_fills_wrongly_is_refused(kind, what):
    function, words = WRONG_FILLERS[kind]
    functions = {"force": _nothing, "jacobian": _nothing} | {what: function}
    with pytest.raises((TypeError, ValueError), match=words):
        rbdae.formulate(_system(lambda a, j: forces.UserForce(a, **functions, name="it")), "index-0")


@pytest.mark.parametrize("kind", WRONG_FILLERS)
def test_a_force_with_states_that_fills_wrongly_is_refused(kind):
    function, words = WRONG_FILLERS[kind]

    class Wrong(forces.AbstractForce):
        name = "it"

        def __init__(self, body: Any) -> None:
            self._body = body

        @property
        def bodies(self) -> tuple[Any, ...]:
            return (self._body,)

        def bound(self, name: str, ground: Any) -> Any:
            return self

        def elements(self) -> Any:
            return (forces.StateElement(function, _nothing, ("s",), np.zeros(1)),)

    with pytest.raises((TypeError, ValueError), match=words):
        rbdae.formulate(_system(lambda a, j: Wrong(a)), "index-0")


@pytest.mark.parametrize("value", [None, "x", 1j, (1.0, 2.0), {}], ids=repr)
def test_an_event_that_gives_no_number_is_refused(value):
    problem = invalid_calls.problem()
    with pytest.raises((TypeError, ValueError), match="event: its value at t = 0"):
        rbdae.solve(problem, (0.0, 0.01), solver="scipy:RK45", events=lambda t, y: value)


def test_what_fits_is_still_taken():
    system, a, b = pair()
    system.add_force(Maxwell(a, b, stiffness=2.0, viscosity=1.0))
    system.add_force(forces.Force(a, lambda t: [1, 2, 3]))
    system.add_force(forces.Torque(a, lambda t: np.float32((1.0, 2.0, 3.0))))
    system.add_force(forces.SpringDamper(a, b, force=lambda t: np.float64(1.0)))
    system.add_force(forces.SpringDamper(b, force=lambda t: 3))
    system.add_force(forces.SpringDamper(a, force=np.polynomial.Polynomial([1.0, 2.0]), at_b=(1, 2, 3)))
    problem = rbdae.formulate(system, "index-0")
    assert np.isfinite(problem.rhs(0.5, list(problem.y0))).all()
    assert rbdae.solve(problem, [0, 0.01], solver="scipy:RK45", rtol=np.float32(1e-3), max_step=None).success
