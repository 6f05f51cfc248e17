"""Of a valid call of something public one argument becomes a value of a wrong kind: a `TypeError` or `ValueError` of
ours comes. It names the argument and shows the value. Never another error, a silent pass, a crash.

`calls` has a valid call of each, with the arguments that are spoilt. Some values are wrong for every argument, others
for arguments like the valid one: numbers, vectors, words, functions.
"""

from __future__ import annotations

import inspect
import os
import tempfile
import traceback
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from by_numba import needs_numba, njit
from inside import show
from toy_force import Maxwell

import rbdae
from rbdae import drives, forces, joints, models, solving, study
from rbdae.adapter import MissingSolver
from rbdae.rotations import quaternions
from rbdae_papers import closed_form, kinematics
from rbdae_papers.norm_multipliers import norm_multipliers

EVERYWHERE: tuple[Any, ...] = (object(), 1j, b"x", [[1.0, 2.0], [1.0]], np.ma.masked, np.datetime64("2020-01-01"))
"""No argument takes these."""

NUMBERS: tuple[Any, ...] = ("123", True, float("nan"), float("inf"), 10**400, Decimal(1), (1.0, 2.0), {}, lambda: None)
NEGATIVE = -1.0
VECTORS: tuple[Any, ...] = (
    "abc", True, 3, float("nan"), (1.0, 2.0), (1.0, "2", 3.0), (0.5, None, 0.5), (0.0, float("nan"), 1.0), [1j, 2, 3],
    np.zeros((2, 2, 2)), np.ones(3, dtype=bool), np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]), {}, [],
)  # fmt: skip
WORDS: tuple[Any, ...] = ("nonsense", "", 3, True, float("nan"), {}, ["a", None])
THINGS: tuple[Any, ...] = ("x", 3, True, float("nan"), None, {}, [1.0, 2.0], int)
FUNCTIONS: tuple[Any, ...] = ("x", True, {}, [None])
STATES: tuple[Any, ...] = ("x", None, True, 3.0, (1.0, 2.0), {}, np.zeros((2, 2, 2)), [1j])

NOT_NEGATIVE = {
    *("mass", "period", "tolerance", "limit", "fps", "dpi", "stiffness", "damping", "mu", "radius", "velocity", "dt"),
    *("rtol", "atol", "length", "exponent", "impact_velocity", "floor", "speed", "duration", "restart_tolerance"),
}
"""Numbers of these names are not below zero."""

NAMES = {"name"}
"""Words that may be any text."""


def _wrong(name: str, valid: Any) -> tuple[Any, ...]:
    """What an argument like this does not take."""
    if isinstance(valid, (rbdae.System, rbdae.Problem, rbdae.actuators.Block)) or hasattr(valid, "bodies"):
        return THINGS
    if type(valid).__name__ == "Body":
        return THINGS
    if name in ("y", "yd"):
        return STATES
    if isinstance(valid, str):
        return WORDS[2:] if name in NAMES else WORDS
    if isinstance(valid, bool):
        return ("x", 3, None, {}, float("nan"))
    if isinstance(valid, int):
        return (*NUMBERS, -1, 0.5)
    if isinstance(valid, float):
        return (*NUMBERS, NEGATIVE) if name in NOT_NEGATIVE else NUMBERS
    if callable(valid) or (isinstance(valid, tuple) and callable(valid[0])):
        return FUNCTIONS
    return VECTORS if np.shape(valid) == (3,) else ("x", True, float("nan"), {}, [None])


class Call(NamedTuple):
    """A callable, valid arguments by name, and those that are spoilt."""

    function: Callable[..., Any]
    given: dict[str, Any]
    spoilt: tuple[str, ...]


def _call(function: Any, names: str = "", /, **given: Any) -> Call:
    """Spoilt are the arguments in `names`, by default all."""
    return Call(function, given, tuple(names.split() or given))


def pair() -> tuple[rbdae.System, Any, Any]:
    """Two bodies."""
    system = rbdae.System()
    a = system.add_body("a", mass=1.0, inertia=(1, 1, 1))
    b = system.add_body("b", mass=1.0, inertia=(1, 1, 1), position=(0.5, 1.0, 0.3))
    return system, a, b


def hinged(kind: Any = joints.Revolute) -> tuple[rbdae.System, Any]:
    """A body on a joint, and the joint."""
    system = rbdae.System()
    body = system.add_body("a", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 1))
    return system, system.add_joint(kind(system.ground, body, name="hinge"))


@cache
def problem(formulation: str = "index-0", velocity: Any = None) -> rbdae.Problem:
    return rbdae.formulate(hinged()[0], formulation, velocity=velocity)


def _nothing(t: float, x: Any, out: Any) -> None:
    out[:] = 0.0


def _number(t: float) -> float:
    return 0.0


UP, AT = (0.0, 0.0, 1.0), (0.1, 0.2, 0.3)
LAWS = (_number, _number, _number)
ROD_LAWS = (lambda t: 1.0, _number, _number)


def _parts() -> dict[str, Call]:
    """Joints, drives, forces, actuators."""
    _, a, b = pair()
    two: dict[str, Any] = {"a": a, "b": b, "at_a": AT, "at_b": AT, "name": "it"}
    pin: dict[str, Any] = {"joint": hinged()[1], "name": "it"}
    rail: dict[str, Any] = {"joint": hinged(joints.Prismatic)[1], "name": "it"}
    axes: dict[str, Any] = {"axis_a": UP, "axis_b": UP}
    across: dict[str, Any] = {"axis_a": UP, "axis_b": (1.0, 0.0, 0.0)}
    push: dict[str, Any] = {"stiffness": 1.0, "damping": 0.5, "exponent": 1.5}
    rebound: dict[str, Any] = {"stiffness": 1.0, "restitution": 0.5, "impact_velocity": 1.0}
    of_axes = (joints.Revolute, joints.Prismatic, joints.Cylindrical, joints.Planar, joints.Fixed)
    out = {
        **{f"joints.{kind.__name__}": _call(kind, **two, **axes) for kind in of_axes},
        "joints.Universal": _call(joints.Universal, **two, **across),
        "joints.Spherical": _call(joints.Spherical, **two),
        "joints.Rod": _call(joints.Rod, **two, length=1.0),
        "joints.PointOnLine": _call(joints.PointOnLine, **two, axis_a=UP),
        "joints.PointOnPlane": _call(joints.PointOnPlane, **two, axis_a=UP),
        "joints.Screw": _call(joints.Screw, **two, **axes, pitch=0.1),
        "drives.PrescribedAngle": _call(drives.PrescribedAngle, **pin, angle=LAWS),
        "drives.PrescribedDisplacement": _call(drives.PrescribedDisplacement, **rail, displacement=LAWS),
        "drives.DrivenRod": _call(drives.DrivenRod, **two, length=ROD_LAWS),
        "drives.PointMotion": _call(drives.PointMotion, **two, vector=tuple(lambda t: (0.0, 0.0, 0.0) for _ in "123")),
        "forces.Force": _call(forces.Force, body=a, force=UP, at=AT, frame="body", name="it"),
        "forces.Torque": _call(forces.Torque, body=a, torque=UP, frame="body", name="it"),
        "forces.SpringDamper": _call(forces.SpringDamper, **two, stiffness=1.0, damping=1.0, length=1.0),
        "forces.Bushing": _call(forces.Bushing, **two, stiffness=1.0, damping=1.0, rotational_stiffness=1.0),
        "forces.TorsionalSpringDamper": _call(
            forces.TorsionalSpringDamper, **pin, stiffness=1.0, damping=1.0, angle=0.5),
        "forces.TranslationalSpringDamper": _call(
            forces.TranslationalSpringDamper, **rail, stiffness=1.0, damping=1.0, displacement=0.5),
        "forces.Motor": _call(forces.Motor, **pin, torque=1.0),
        "forces.Friction": _call(forces.Friction, **pin, coefficient=1.0),
        "forces.UserForce": _call(forces.UserForce, bodies=a, force=_nothing, jacobian=_nothing, name="it"),
        "forces.Limit": _call(forces.Limit, **pin, low=-2.0, high=9.0, coordinate="angle", **push),
        "forces.Limit by restitution": _call(forces.Limit, **pin, low=-2.0, **rebound),
        "forces.Coulomb": _call(forces.Coulomb, **pin, mu=0.1, normal=1.0, radius=0.1, velocity=0.1),
        "forces.Coulomb of a reaction": _call(forces.Coulomb, "floor", **rail, mu=0.1, normal="reaction", floor=0.1),
        "forces.Contact": _call(forces.Contact, **two, mu=0.1, velocity=0.1, normal=UP, **push),
        "forces.Contact of a sphere": _call(forces.Contact, **two, radius=1.0, **rebound),
        "Points": _call(rbdae.Points, a=a, b=b, at_a=AT, at_b=AT),
        "block": _call(rbdae.block, law=lambda t, s, z, u, p: [], outputs=("one",), observe=lambda *_: [0.0]),
        "Sampled": _call(rbdae.Sampled, "period law", period=0.1, law=lambda t, u, m: (0.0,), outputs=("a",)),
    }  # fmt: skip
    kinds: list[Any] = [each for each in vars(rbdae.actuators).values() if "__final__" in getattr(each, "__dict__", {})]
    for kind in kinds:
        if kind.__name__ not in ("FunctionBlock", "Points", "Sampled"):
            along = {"along": hinged()[1]} if issubclass(kind, rbdae.Actuator) else {}
            numbers = dict.fromkeys((*kind.inputs, *kind.parameters), 0.5)
            out[f"actuators.{kind.__name__}"] = _call(kind, **along, **numbers, name="it")
    return out


def _of_systems() -> Iterator[tuple[str, Call]]:
    """`System`, `formulate`, `solve` and what is beside them."""

    def of(name: str) -> Callable[..., Any]:
        """A method of a new system each time."""
        return lambda **given: getattr(pair()[0], name)(**given)

    here, (system, a, b) = hinged()[0], pair()
    body: dict[str, Any] = {
        "name": "c",
        "mass": 1.0,
        "inertia": (1, 1, 1),
        "position": AT,
        "velocity": AT,
    }
    yield "System", _call(rbdae.System, gravity=UP)
    yield (
        "System.add_body",
        _call(of("add_body"), **body, center_of_mass=AT, angular_velocity=AT, allow_unphysical=True),
    )
    yield "System.add_body of a pivot", _call(of("add_body"), "pivot", name="p", mass=1.0, inertia=(1, 1, 1), pivot=AT)
    yield "System.add_input", _call(of("add_input"), name="torque", value=1.0)
    yield "System.add_joint", _call(system.add_joint, joint=joints.Spherical(a, b))
    yield "System.add_force", _call(system.add_force, force=forces.Torque(a, (0, 0, 1)))
    yield "System.add_block", _call(system.add_block, block=rbdae.block(lambda *x: [-x[1].x], states={"x": 1.0}))
    yield "assemble", _call(rbdae.assemble, system=here, hold=["a"], t0=0.0)
    choices = {"formulation": "baumgarte", "rotation": "quaternion", "consistent": "project", "redundant": "error"}
    yield "formulate", _call(rbdae.formulate, system=here, **choices, reference="space", hold=["a"], t0=0.0)
    run = {"problem": problem(), "t_span": (0.0, 0.01), "solver": "scipy:RK45", "rtol": 1e-4, "atol": 1e-4}
    yield "solve", _call(rbdae.solve, **run, t_eval=[0.0, 0.005], on_singularity="stop", recentre="due")
    yield "Projection", _call(rbdae.Projection, max_iterations=5, metric="mass", tolerance=1e-9, restart_tolerance=1.0)
    yield "scaled_atol", _call(rbdae.scaled_atol, problem=problem(), tolerance=1e-6)
    rates = problem(velocity="coordinate")
    yield "norm_multipliers", _call(norm_multipliers, problem=rates, t=0.0, y=rates.y0)
    yield "adapter", _call(solving.adapter, package="scipy")
    yield "find_method", _call(solving.find_method, solver="scipy:RK45")
    yield "Simulator", _call(rbdae.Simulator, problem=problem(), dt=1e-3)
    yield "Table", _call(rbdae.Table, t=(0.0, 1.0, 2.0), values=(0.0, 1.0, 2.0), kind="linear")
    yield "Event", _call(rbdae.Event, "above", what="pin.angle", above=0.5)
    few = {"formulations": ["null-space"], "rotations": ["quaternion"], "solvers": ["scipy:RK45"], "tolerances": [1e-3]}
    yield "compare", _call(rbdae.compare, "system t_end redundant on_singularity limit",
        system=pair()[0], t_end=0.01, **few, redundant="error", on_singularity="stop", limit=60.0)  # fmt: skip
    yield "study.cases", _call(study.cases, "rotations solvers", **few)
    moving = {"moments": (1, 2, 3), "angular_velocity": (1, 2, 3)}
    yield "closed_form.FreeBody", _call(closed_form.FreeBody, **moving)


def _of_solutions() -> Iterator[tuple[str, Call]]:
    run, folder = rbdae.solve(problem(), (0.0, 0.01), solver="scipy:RK45"), Path(tempfile.mkdtemp())
    yield "load", _call(rbdae.load, "problem", path=run.save(folder / "run.npz"), problem=problem())
    yield "Solution", _call(run, t=0.005)
    yield "Solution.problem_at", _call(run.problem_at, t=0.005)
    yield "Solution.quantity", _call(run.quantity, quantity="hinge.angle", t=0.005)
    yield "Solution.plot", _call(run.plot, bodies=["a"], quantities=["reactions"], joints=["hinge"])
    yield "Solution.to_pandas", _call(run.to_pandas, quantities=["energy"])
    yield "Solution.animate", _call(run.animate, bodies=["a"], fps=10.0, speed=1.0, elevation=30.0, dpi=50.0)


def _of_problems() -> Iterator[tuple[str, Call]]:
    form, other = problem(), problem("index-2")

    def of(name: str, one: rbdae.Problem = form, rates: str = "", **more: Any) -> tuple[str, Call]:
        known = {"t": 0.0, "y": one.y0} | ({"yd": one.yd0} if rates else {}) | ({"c": 2.0} if "c" in rates else {})
        return f"Problem.{name}", _call(getattr(one, name), "" if "names" not in more else "t y", **known, **more)

    names = ("natural", "states", "joints", "forces", "energy", "momentum", "constraints", "rates")
    for name in (*names, "multipliers", "reactions", "input_jacobian", "rhs", "rhs_jacobian", "at", "project"):
        yield of(name)
    yield of("residual", other, "yd")
    yield of("jacobian", other, "c")
    yield of("sparse_jacobian", other, "c")
    yield of("run_multipliers", other)
    yield of("matrices")
    yield of("parameter_jacobian", form, "yd", names=["gravity.z"])
    yield of("rhs_parameter_jacobian", names=["gravity.z"])
    yield of("quantity", quantity="hinge.angle")


@cache
def calls() -> dict[str, Call]:
    """All of them, by name."""
    return {**_parts(), **dict(_of_systems()), **dict(_of_solutions()), **dict(_of_problems())}


def spoilt(name: str) -> Iterator[tuple[str, Any]]:
    """The arguments of a call with wrong values for each."""
    call = calls()[name]
    for argument in call.spoilt:
        parameter = inspect.signature(call.function).parameters.get(argument)
        optional = parameter is not None and parameter.default is None
        for value in (*EVERYWHERE, *_wrong(argument, call.given[argument])):
            taken = (value is None and optional) or (value is NEGATIVE and name.startswith("actuators."))
            if not taken:
                yield argument, value


ALIASES = {
    **dict.fromkeys(("a", "b", "body", "bodies"), ("bodies", "body")), "along": ("acts along",), "system": ("System",),
    **dict.fromkeys(("angle", "displacement", "vector", "length"), ("functions of time",)), "package": ("adapter",),
    "formulations": ("formulation",), "rotations": ("rotation",), "quantities": ("quantity",), "joints": ("joint",),
    "coordinate": ("coordinates",),
}  # fmt: skip
"""How else messages name an argument."""


def lacking(argument: str, value: Any, message: str) -> str:
    """Which fact the message of a refusal lacks, the argument or the value; empty if neither."""
    if not any(name in message for name in (argument, *ALIASES.get(argument, ()))):
        return "the argument is not named"
    several = isinstance(value, (list, tuple, set)) or (isinstance(value, np.ndarray) and value.ndim > 0)
    parts = list(value) if several else []
    shown = [show(value)[:12], str(value)[:12], *(show(part)[:20] for part in parts), "shape", type(value).__name__]
    return "" if any(text in message for text in shown) else "the value is not shown"


# ---------------------------------------------------------------- the law

HOUSE = tuple(str(Path(__import__(name).__file__ or "").parent) for name in ("rbdae", "rbdae_adapters", "rbdae_papers"))


def _complaint(call: Callable[[], Any], argument: str, value: Any) -> str:
    """What is wrong with the answer to an invalid call."""
    try:
        call()
    except (TypeError, ValueError) as error:
        where = traceback.extract_tb(error.__traceback__)[-1].filename
        if not where.startswith(HOUSE):
            return f"raised in {where}: {error}"
        lacks = lacking(argument, value, str(error))
        return lacks and f"{lacks}: {error}"
    except MissingSolver as error:
        return f"{type(error).__name__}: {error}" if "CI" in os.environ else ""  # as `conftest.py` has it for all tests
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def test_an_invalid_call_is_refused_by_name():
    found = []
    for name, call in calls().items():
        call.function(**call.given)
        for argument, value in spoilt(name):
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
    known = {name.split(".")[-1].split(" ")[0] for name in calls()}
    parts = {n for n, kind in vars(module).items() if "__final__" in getattr(kind, "__dict__", {})}
    others = {"FunctionBlock", "CalledBack", "Coincidence", "Combination", "Distance", "Dot1", "Dot2", "StateElement"}
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


SLIDE, IT = joints.Prismatic, {"name": "it"}
NUMBER_LAWS: dict[str, Callable[[Any], rbdae.System]] = {
    "motor": lambda law: _system(lambda a, j: forces.Motor(j, torque=law, **IT)),
    "motor along": lambda law: _system(lambda a, j: forces.Motor(j, force=law, **IT), SLIDE),
    "torsion": lambda law: _system(lambda a, j: forces.TorsionalSpringDamper(j, torque=law, **IT)),
    "slide": lambda law: _system(lambda a, j: forces.TranslationalSpringDamper(j, force=law, **IT), SLIDE),
    "spring": lambda law: _system(lambda a, j: forces.SpringDamper(a, force=law, at_b=(1, 0, 0), **IT)),
}
VECTOR_LAWS: dict[str, Callable[[Any], rbdae.System]] = {
    "force": lambda law: _system(lambda a, j: forces.Force(a, law, **IT)),
    "torque": lambda law: _system(lambda a, j: forces.Torque(a, law, frame="body", **IT)),
}
DRIVEN: dict[str, Callable[[Any], rbdae.System]] = {
    "angle": lambda laws: _system(lambda a, j: drives.PrescribedAngle(j, laws, **IT)),
    "displacement": lambda laws: _system(lambda a, j: drives.PrescribedDisplacement(j, laws, **IT), SLIDE),
}


def _refused(system: rbdae.System) -> str:
    with pytest.raises((TypeError, ValueError)) as caught:
        rbdae.formulate(system, "index-0")
    where = traceback.extract_tb(caught.value.__traceback__)[-1].filename
    assert where.startswith(HOUSE), (where, caught.value)
    return str(caught.value)


@pytest.mark.parametrize("kind", [*NUMBER_LAWS, *VECTOR_LAWS])
def test_a_law_that_gives_no_number_or_vector_is_refused(kind):
    make, wrong = (NUMBER_LAWS | VECTOR_LAWS)[kind], WRONG_NUMBERS if kind in NUMBER_LAWS else WRONG_VECTORS
    for value in wrong:
        message = _refused(make(lambda t, value=value: value))
        assert "force 'it'" in message and ";" in message, (value, message)
        assert kind in VECTOR_LAWS or "t = 0" in message, (value, message)


@pytest.mark.parametrize("order", range(3))
@pytest.mark.parametrize("kind", DRIVEN)
def test_a_law_of_a_drive_that_gives_no_number_is_refused(kind, order):
    for value in WRONG_NUMBERS:
        if isinstance(value, (tuple, np.ndarray)) and np.size(value) == 1:
            continue  # a spline of one component gives (1,)
        laws: list[Any] = [_number] * 3
        laws[order] = lambda t, value=value: value
        assert "joint 'it'" in _refused(DRIVEN[kind](laws)), value


@pytest.mark.parametrize("value", [None, "123", 1j, (1.0, 2.0), True, {}], ids=repr)
def test_a_law_that_goes_wrong_later_is_refused_at_that_time(value):
    made = rbdae.formulate(NUMBER_LAWS["motor"](lambda t: 1.0 if t < 0.004 else value), "index-0")
    with pytest.raises((TypeError, ValueError), match=r"force 'it': torque at t = 0\.0\d+ must be a real number, got"):
        rbdae.solve(made, (0.0, 0.1), solver="scipy:RK45")


@needs_numba
def test_compiled_laws_of_a_wrong_length_are_refused():
    @njit
    def four(t):
        return np.array((1.0, 2.0, 3.0, 4.0))

    assert "shape (4,)" in _refused(VECTOR_LAWS["force"](four))


def _filling(do: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A function that fills out with zeros, and then does something wrong with x or out."""

    def function(t: float, x: Any, out: Any) -> Any:
        out[:] = 0.0
        return do(x, out)

    return function


WRONG_FILLERS: dict[str, tuple[Any, str]] = {
    "short": (lambda t, x, out: out[:20].fill(0.0), r"out\[20\] = nan"),
    "returning": (_filling(lambda x, out: out), "must fill out and return nothing"),
    "rebinding": (lambda t, x, out: None, r"out\[0\] = nan"),
    "complex": (_filling(lambda x, out: out.__setitem__(slice(2, 4), np.array((1j, 2.0)))), "writes complex numbers"),
    "changing": (_filling(lambda x, out: x.__setitem__(3, x[3] + 1.0)), "changes x"),
    "infinite": (_filling(lambda x, out: out.fill(np.inf)), r"out\[0\] = inf"),
}


class WithState(forces.AbstractForce):
    """A force with an internal state by a function."""

    name, bodies = "it", ()

    def __init__(self, body: Any, function: Any) -> None:
        self.bodies, self.function = (body,), function

    def bound(self, name: str, ground: Any) -> Any:
        return self

    def elements(self) -> Any:
        return (forces.StateElement(self.function, _nothing, ("s",), np.zeros(1)),)


@pytest.mark.parametrize("kind", WRONG_FILLERS)
@pytest.mark.parametrize("what", ["force", "jacobian", "state"])
def test_a_user_force_that_fills_wrongly_is_refused(kind, what):
    function, words = WRONG_FILLERS[kind]
    functions = {"force": _nothing, "jacobian": _nothing} | {what: function}
    with pytest.raises((TypeError, ValueError), match=words):
        if what == "state":
            rbdae.formulate(_system(lambda a, j: WithState(a, function)), "index-0")
        else:
            rbdae.formulate(_system(lambda a, j: forces.UserForce(a, **functions, **IT)), "index-0")


@pytest.mark.parametrize("value", [None, "x", 1j, (1.0, 2.0), {}], ids=repr)
def test_an_event_that_gives_no_number_is_refused(value):
    with pytest.raises((TypeError, ValueError), match="event: its value at t = 0"):
        rbdae.solve(problem(), (0.0, 0.01), solver="scipy:RK45", events=lambda t, y: value)


def test_what_fits_is_still_taken():
    system, a, b = pair()
    system.add_force(Maxwell(a, b, stiffness=2.0, viscosity=1.0))
    system.add_force(forces.Force(a, lambda t: [1, 2, 3]))
    system.add_force(forces.Torque(a, lambda t: np.float32((1.0, 2.0, 3.0))))
    system.add_force(forces.SpringDamper(a, b, force=lambda t: np.float64(1.0)))
    system.add_force(forces.SpringDamper(b, force=lambda t: 3))
    system.add_force(forces.SpringDamper(a, force=np.polynomial.Polynomial([1.0, 2.0]), at_b=(1, 2, 3)))
    made = rbdae.formulate(system, "index-0")
    assert np.isfinite(made.rhs(0.5, list(made.y0))).all()
    assert rbdae.solve(made, [0, 0.01], solver="scipy:RK45", rtol=np.float32(1e-3), max_step=None).success
