"""Invalid calls: of a valid call of something public, one argument becomes a value of a wrong kind.

`CALLS` has a valid call of every public callable: how it is made, and the role of each argument. A role says which of
the wrong values are right for it after all. `spoilt(seed)` draws a call, an argument and a value.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from inside import chart_functions, show
from scipy.spatial.transform import Rotation

import rbdae
from rbdae import closed_form, drives, forces, joints, kinematics, models, rotations, solving, study
from rbdae.rotations import CHARTS, quaternions

NUMBERS = {"int", "zero", "negative", "float32"}

# values of many kinds, each with a word by which roles accept it
VALUES: list[tuple[str, Any]] = [
    ("none", None),
    ("true", True),
    ("true", False),
    ("true", np.True_),
    ("int", 3),
    ("zero", 0),
    ("negative", -1.0),
    ("float32", np.float32(0.25)),
    ("nan", float("nan")),
    ("infinite", float("inf")),
    ("infinite", -float("inf")),
    ("complex", 1j),
    ("complex", np.complex128(0.5)),
    ("huge", 10**400),
    ("decimal", Decimal(1)),
    ("text", "123"),
    ("text", "x"),
    ("empty text", ""),
    ("bytes", b"x"),
    ("date", np.datetime64("2020-01-01")),
    ("object", object()),
    ("ellipsis", ...),
    ("class", int),
    ("class", dict),
    ("function of none", lambda: None),
    ("function of five", lambda a, b, c, d, e: None),
    ("dict", {}),
    ("dict", {"a": 1.0}),
    ("set", {1.0, 2.0, 3.0}),
    ("empty list", []),
    ("list", [None]),
    ("names", ["a", "b", "c"]),
    ("two numbers", [1.0, 2.0]),
    ("numbers", [1.0, 2.0, 3.0, 4.0, 5.0]),
    ("list", [[1.0, 2.0], [1.0]]),
    ("list", (1.0, "2", 3.0)),
    ("list", (0.5, None, 0.5)),
    ("complex", [1j, 2.0, 3.0]),
    ("nan", (0.0, float("nan"), 1.0)),
    ("empty array", np.zeros(0)),
    ("zeros", np.zeros((2, 2, 2))),
    ("array", np.array(["a", "b", "c"])),
    ("array", np.array([object(), 1.0, 2.0], dtype=object)),
    ("array", np.ones(3, dtype=bool)),
    ("masked", np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])),
    ("masked", np.ma.masked),
    ("system", rbdae.System()),
]


class Role(NamedTuple):
    """What an argument is, and the words of values that are no mistake in it."""

    name: str
    accepts: frozenset[str] = frozenset()


def _role(name: str, *accepts: str) -> Role:
    return Role(name, frozenset(accepts))


NUMBER = _role("number", *NUMBERS)
POSITIVE = _role("positive number", "int", "float32")
NOT_NEGATIVE = _role("number >= 0", "int", "zero", "float32")
COUNT = _role("count", "int")
VECTOR = _role("vector")
FLAG = _role("flag", "true")
NAME = _role("name", "text")
TEXT = _role("one of some words")
THING = _role("a body, joint, system, problem or the like")
LAW = _role("number or law; a class is called at formulate", "class", *NUMBERS)
FUNCTION = _role("function; a class is called at formulate", "class")
STACK = _role("numbers of any shape", *NUMBERS, "two numbers", "numbers", "zeros", "empty list", "empty array")
STATE = _role("unknowns")
STATES = _role("unknowns; not a number is answered by not a number", "nan")
TIME = _role("time", *NUMBERS)


def optional(role: Role) -> Role:
    return Role(f"{role.name} or None", role.accepts | {"none"})


def also(role: Role, *words: str) -> Role:
    return Role(role.name, role.accepts | set(words))


@dataclass(frozen=True)
class Call:
    """`make` gives the callable and valid arguments by name; `roles` those that are spoilt."""

    make: Callable[[], tuple[Callable[..., Any], dict[str, Any]]]
    roles: dict[str, Role]


class Spoilt(NamedTuple):
    """A call with wrong arguments."""

    call: str
    wrong: dict[str, Any]
    run: Callable[[], Any]


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
def problem(formulation: str = "index-0") -> rbdae.Problem:
    return rbdae.formulate(hinged()[0], formulation)


@cache
def rates_problem() -> rbdae.Problem:
    return rbdae.formulate(hinged()[0], "index-0", velocity="coordinate")


@cache
def solution() -> rbdae.Solution:
    return rbdae.solve(problem(), (0.0, 0.01), solver="scipy:RK45")


@cache
def folder() -> Path:
    import tempfile

    return Path(tempfile.mkdtemp())


def path() -> Path:
    out = folder() / "run.npz"
    return out if out.exists() else solution().save(out)


WHAT = {"a": THING, "b": THING, "name": optional(NAME), "at_a": VECTOR, "at_b": VECTOR}
AXES = {"axis_a": VECTOR, "axis_b": optional(VECTOR), "normal_a": optional(VECTOR), "normal_b": optional(VECTOR)}
PLACES: dict[str, Any] = {"at_a": (0, 0, 0), "at_b": (0, 0, 0), "name": "one"}
DIRECTIONS: dict[str, Any] = {
    "axis_a": (0, 0, 1),
    "axis_b": (0, 0, 1),
    "normal_a": (1, 0, 0),
    "normal_b": (1, 0, 0),
}


def _between(kind: Any, roles: dict[str, Role], **given: Any) -> Call:
    """A constructor that takes two bodies."""

    def make() -> tuple[Callable[..., Any], dict[str, Any]]:
        _, a, b = pair()
        return kind, {"a": a, "b": b, **given}

    return Call(make, {"a": THING, "b": THING, **roles})


def _plain(function: Any, roles: dict[str, Role], **given: Any) -> Call:
    return Call(lambda: (function, given), roles)


def _on_joint(kind: Any, joint: Any, roles: dict[str, Role], **given: Any) -> Call:
    return Call(lambda: (kind, {"joint": hinged(joint)[1], **given}), {"joint": THING, "name": optional(NAME), **roles})


LAWS = (lambda t: 0.0 * t, lambda t: 0.0, lambda t: 0.0)
LAWS3 = tuple(lambda t: (0.0, 0.0, 0.0) for _ in range(3))
RODLAW = (lambda t: 1.0, lambda t: 0.0, lambda t: 0.0)


def _nothing(t: float, x: Any, out: Any) -> None:
    out[:] = 0.0


def _of_problem(name: str, roles: dict[str, Role], form: str = "index-0", **given: Any) -> Call:
    def make() -> tuple[Callable[..., Any], dict[str, Any]]:
        here = problem(form)
        known = {"t": 0.0, "y": here.y0, "yd": here.yd0, "c": 2.0}
        return getattr(here, name), {key: known[key] for key in roles if key in known} | given

    return Call(make, roles)


def _body() -> tuple[Callable[..., Any], dict[str, Any]]:
    given = {"name": "c", "mass": 1.0, "inertia": (1, 1, 1), "center_of_mass": (0, 0, 0), "orientation": (1, 0, 0, 0)}
    rest = {"velocity": (0, 0, 0), "angular_velocity": (0, 0, 0), "position": (0, 0, 0), "allow_unphysical": False}
    return pair()[0].add_body, given | rest | {"pivot": None}


def _add(what: str) -> Call:
    def make() -> tuple[Callable[..., Any], dict[str, Any]]:
        system, a, b = pair()
        thing = joints.Spherical(a, b) if what == "joint" else forces.Torque(a, (0, 0, 1))
        return getattr(system, f"add_{what}"), {what: thing}

    return Call(make, {what: THING})


FORMULATE = {
    "system": also(THING, "system"),  # an empty one is refused in its own words
    "formulation": TEXT,
    "rotation": TEXT,
    "velocity": optional(TEXT),
    "consistent": TEXT,
    "radial_inertia": optional(TEXT),
    "gyroscopic": optional(TEXT),
    "pull_back": optional(TEXT),
    "alpha": optional(NOT_NEGATIVE),
    "beta": optional(NOT_NEGATIVE),
    "redundant": TEXT,
    "hold": _role("names of bodies", "empty list"),
    "reference": TEXT,
    "director_constraints": optional(TEXT),
    "t0": TIME,
}


def _formulate() -> tuple[Callable[..., Any], dict[str, Any]]:
    given: dict[str, Any] = {"formulation": "baumgarte", "rotation": "quaternion", "velocity": "angular", "hold": ["a"]}
    given |= {"consistent": "project", "radial_inertia": "zero", "alpha": 5.0, "beta": 5.0, "redundant": "error"}
    given |= {"reference": "space", "director_constraints": "rows"}
    return rbdae.formulate, {"system": hinged()[0], "t0": 0.0, **given}


def _solve() -> tuple[Callable[..., Any], dict[str, Any]]:
    given: dict[str, Any] = {"problem": problem("index-0"), "t_span": (0.0, 0.01), "solver": "scipy:RK45"}
    given |= {"rtol": 1e-4, "atol": 1e-4, "t_eval": [0.0, 0.005], "projection": True, "events": None, "progress": False}
    return rbdae.solve, given | {"on_singularity": "stop", "recentre": "due"}


SOLVE = {
    "problem": THING,
    "t_span": _role("two times"),
    "solver": optional(TEXT),
    "rtol": _role("tolerance", "float32"),
    "atol": POSITIVE,
    "t_eval": optional(_role("times")),
    "projection": optional(_role("a projection", "true")),
    "events": optional(_role("functions of t and y", "empty list", "class")),
    "progress": _role("flag or function", "true", "class"),
    "step": optional(_role("nothing")),
    "on_singularity": TEXT,
    "recentre": TEXT,
}

MODELS: dict[str, Any] = {
    name: getattr(models, name)
    for name in dir(models)
    if inspect.isfunction(getattr(models, name)) and name not in ("dataclass", "final")
}


def _model(name: str) -> Call:
    """A model's parameters; their defaults say what they are."""
    roles = {}
    for key, parameter in inspect.signature(MODELS[name]).parameters.items():
        default = parameter.default
        if isinstance(default, bool):
            roles[key] = FLAG
        elif isinstance(default, (int, float)):
            roles[key] = NUMBER if isinstance(default, float) else _role("count", "int", "zero")
        elif isinstance(default, str):
            roles[key] = TEXT
        elif default is not inspect.Parameter.empty and default is not None:
            roles[key] = optional(VECTOR) if key == "angular_velocity" else VECTOR
    return Call(lambda: (MODELS[name], {}), roles)


def _closed_forms() -> dict[str, Call]:
    body = closed_form.FreeBody((1, 2, 3), (0.1, 0.2, 3.0))
    top = closed_form.SymmetricTop(1.0, 0.5, 2.0)
    return {
        "closed_form.FreeBody": _plain(
            closed_form.FreeBody,
            {"moments": VECTOR, "angular_velocity": VECTOR, "orientation": optional(VECTOR)},
            moments=(1, 2, 3),
            angular_velocity=(1, 2, 3),
        ),
        **{
            f"FreeBody.{name}": _plain(getattr(body, name), {"t": STACK}, t=0.5)
            for name in ("angular_velocity", "orientation", "quaternion")
        },
        "closed_form.SymmetricTop": _plain(
            closed_form.SymmetricTop,
            {"transverse": POSITIVE, "axial": POSITIVE, "moment": NUMBER},
            transverse=1.0,
            axial=0.5,
            moment=2.0,
        ),
        "SymmetricTop.integrals": _plain(
            top.integrals,
            {"rotation": VECTOR, "angular_velocity": VECTOR},
            rotation=np.eye(3),
            angular_velocity=(1, 2, 3),
        ),
        "SymmetricTop.nutation_limits": _plain(
            top.nutation_limits, {"energy": NUMBER, "L_z": NUMBER, "L_3": NUMBER}, energy=3.0, L_z=1.0, L_3=1.0
        ),
        "SymmetricTop.steady_precession": _plain(
            top.steady_precession, {"tilt": NUMBER, "L_3": NUMBER}, tilt=1.0, L_3=9.0
        ),
    }


def _calculations(module: ModuleType, where: str) -> dict[str, Call]:
    """Functions of vectors, quaternions and rotations; the names of the arguments say what they are."""
    out = {}
    for name in module.__all__:
        function = getattr(module, name)
        if inspect.isclass(function):
            continue
        given: dict[str, Any] = {}
        roles = {}
        for key in inspect.signature(function).parameters:
            if key == "motion":
                given[key] = _screw(name)
            elif key.startswith("angle") or (function.__name__, key) == ("plane_rate", "omega"):
                given[key], roles[key] = 0.5, STACK
            elif key == "z":
                given[key], roles[key] = (0.6, 0.8), also(VECTOR, "two numbers", "zeros")
            elif key == "radial_inertia":
                given[key], roles[key] = 0.5, NOT_NEGATIVE
            else:
                roles[key] = VECTOR
                given[key] = _valid(module, function, key)
        out[f"{where}.{name}"] = _plain(function, roles, **given)
    return out


def _charts() -> dict[str, Call]:
    """The functions of every chart, at the parameters of a rotation by a third of a right angle."""
    R = Rotation.from_euler("ZXZ", (0.2, 0.5, -0.1)).as_matrix()
    out = {}
    for chart in CHARTS.values():
        module = import_module(f"rbdae.rotations.{chart.name.replace('-', '_')}")
        a = module.parameters(R)
        for name in chart_functions.NAMES:
            given: dict[str, Any] = {}
            roles = {}
            for key in inspect.signature(getattr(module, name)).parameters:
                given[key] = {"rotation": R, "frame": "spatial"}.get(key, a)
                roles[key] = TEXT if key == "frame" else VECTOR
            out[f"{module.__name__.split('.')[-1]}.{name}"] = _plain(getattr(module, name), roles, **given)
    return out


def _valid(module: ModuleType, function: Any, key: str) -> Any:
    if key in ("rotation", "frame", "relative", "reference", "increment", "fixed", "moved", "R"):
        return np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    if key in ("A", "variation") or (key in ("rate", "second_rate") and "angular" in function.__name__):
        return np.eye(3)
    if key == "inertia":
        return (1.0, 2.0, 3.0)
    if module is quaternions and key in ("p", "q", "qdot"):
        one = (0.5, 0.5, -0.5, 0.5)
        return (one, one) if function.__name__.startswith("system_") else one
    return (0.0, 0.0, 1.0)


def _screw(name: str) -> Any:
    if name == "screw_velocity":
        return kinematics.instantaneous_screw((0, 0, 0), (1, 0, 0), (0, 0, 1))
    return kinematics.screw(np.eye(3), (1, 0, 0))


SOURCE = also(NUMBER, "class")
NAMED = _role("numbers by name", "dict", "none")
LAW_OF_FIVE = also(FUNCTION, "function of five")


def _acting(kind: Any, **values: Any) -> Call:
    """An actuator on a hinge, or a block: its sources, its parameters and its start."""
    acts = issubclass(kind, rbdae.Actuator)

    def make() -> tuple[Callable[..., Any], dict[str, Any]]:
        where = {"along": hinged()[1]} if acts else {}
        return kind, {**where, **dict.fromkeys(kind.inputs, 0.5), **values}

    roles = {**dict.fromkeys(kind.inputs, SOURCE), **dict.fromkeys(kind.parameters, NUMBER), "name": optional(NAME)}
    return Call(make, {**({"along": THING} if acts else {}), **({"start": NAMED} if kind.states else {}), **roles})


def _blocks() -> dict[str, Call]:
    """Actuators, controllers and other blocks."""
    kinds = [each for each in vars(rbdae.actuators).values() if isinstance(each, type) and "__final__" in vars(each)]
    out = {
        f"actuators.{kind.__name__}": _acting(kind)
        for kind in kinds
        if kind.__name__ not in ("FunctionBlock", "Points", "Sampled")
    }
    law = {"states": NAMED, "algebraic": NAMED, "inputs": NAMED, "parameters": NAMED, "name": optional(NAME)}
    return out | {
        "Points": _between(rbdae.Points, {"at_a": VECTOR, "at_b": VECTOR}, at_a=(0, 0, 0), at_b=(0, 0, 0)),
        "block": _plain(
            rbdae.block,
            {"law": LAW_OF_FIVE, "observe": LAW_OF_FIVE, "outputs": _role("names", "names"), **law},
            law=lambda t, s, z, u, p: [],
            outputs=("one",),
            observe=lambda t, s, z, u, p: [0.0],
        ),
        "Sampled": _plain(
            rbdae.Sampled,
            {
                "period": POSITIVE,
                "law": FUNCTION,
                "outputs": _role("names", "text", "names"),
                **{key: law["states"] for key in ("inputs", "memory", "start")},
                "name": optional(NAME),
            },
            period=0.1,
            law=lambda t, u, m: (0.0,),
            outputs=("a",),
        ),
        "System.add_block": Call(
            lambda: (rbdae.System().add_block, {"block": rbdae.block(lambda t, s, z, u, p: [-s.x], states={"x": 1.0})}),
            {"block": THING},
        ),
    }


PRESSING = {
    "stiffness": POSITIVE,
    "exponent": _role("a number of at least 1", "int"),
    "damping": optional(NOT_NEGATIVE),
}
RESTITUTION = {"restitution": _role("a fraction", "float32", "none"), "impact_velocity": also(POSITIVE, "none")}


def _dry() -> dict[str, Call]:
    """End stops, dry friction and contacts."""
    rebound: dict[str, Any] = {"stiffness": 1.0, "restitution": 0.5, "impact_velocity": 1.0}
    limit = {"low": optional(NUMBER), "high": optional(NUMBER), "coordinate": optional(TEXT)}
    rubbing = {"mu": NOT_NEGATIVE, "velocity": POSITIVE}
    points = {"at_a": VECTOR, "at_b": VECTOR, "b": optional(THING), "name": optional(NAME)}
    normal = also(NOT_NEGATIVE, "class")
    return {
        "forces.Limit": _on_joint(
            forces.Limit, joints.Revolute, {**limit, **PRESSING}, low=-2.0, high=9.0, stiffness=1.0, exponent=1.5
        ),
        "forces.Limit by restitution": _on_joint(forces.Limit, joints.Revolute, RESTITUTION, low=-2.0, **rebound),
        "forces.Coulomb": _on_joint(
            forces.Coulomb,
            joints.Revolute,
            {**rubbing, "normal": normal, "radius": also(POSITIVE, "none"), "coordinate": optional(TEXT)},
            mu=0.1,
            normal=1.0,
            radius=0.1,
        ),
        "forces.Coulomb of a reaction": _on_joint(
            forces.Coulomb,
            joints.Prismatic,
            {**rubbing, "length": optional(POSITIVE), "floor": optional(POSITIVE)},
            mu=0.1,
            normal="reaction",
        ),
        "forces.Contact": _between(
            forces.Contact, {**points, **rubbing, **PRESSING, "normal": optional(VECTOR)}, stiffness=1.0
        ),
        "forces.Contact of a sphere": _between(
            forces.Contact, {"b": optional(THING), "radius": optional(POSITIVE), **RESTITUTION}, radius=1.0, **rebound
        ),
    }


@cache
def calls() -> dict[str, Call]:
    """All of them, by name."""
    name = {"name": optional(NAME)}
    ends = {"at_a": VECTOR, "at_b": VECTOR, **name}
    stiff = also(NOT_NEGATIVE)
    out: dict[str, Call] = {
        "System": _plain(rbdae.System, {"gravity": VECTOR}, gravity=(0, 0, -9.81)),
        "System.add_body": Call(
            _body,
            {
                "name": NAME,
                "mass": POSITIVE,
                "inertia": VECTOR,
                "center_of_mass": VECTOR,
                "pivot": optional(VECTOR),
                "position": optional(VECTOR),
                "orientation": optional(VECTOR),
                "velocity": optional(VECTOR),
                "angular_velocity": optional(VECTOR),
                "allow_unphysical": FLAG,
            },
        ),
        "System.add_input": Call(
            lambda: (rbdae.System().add_input, {"name": "torque", "value": 1.0}), {"name": NAME, "value": NUMBER}
        ),
        "System.add_joint": _add("joint"),
        "System.add_force": _add("force"),
        "Projection": _plain(
            rbdae.Projection,
            {
                "position": FLAG,
                "velocity": FLAG,
                "tolerance": NOT_NEGATIVE,
                "restart_tolerance": NOT_NEGATIVE,
                "max_iterations": COUNT,
                "metric": TEXT,
            },
        ),
        "assemble": Call(
            lambda: (rbdae.assemble, {"system": hinged()[0], "hold": [], "t0": 0.0}),
            {"system": also(THING, "system"), "hold": FORMULATE["hold"], "t0": TIME},
        ),
        "formulate": Call(_formulate, FORMULATE),
        "solve": Call(_solve, SOLVE),
        "load": Call(
            lambda: (rbdae.load, {"path": path(), "problem": problem()}),
            {"path": also(THING, "text"), "problem": optional(THING)},
        ),
        "scaled_atol": Call(
            lambda: (rbdae.scaled_atol, {"problem": problem(), "tolerance": 1e-6}),
            {"problem": THING, "tolerance": POSITIVE},
        ),
        "norm_multipliers": Call(
            lambda: (rbdae.norm_multipliers, {"problem": rates_problem(), "t": 0.0, "y": rates_problem().y0}),
            {"problem": THING, "t": TIME, "y": STATES},
        ),
        "skeel_condition": _plain(rbdae.skeel_condition, {"A": _role("matrix")}, A=np.diag([1.0, 2.0])),
        "adapter": _plain(solving.adapter, {"package": TEXT}, package="scipy"),
        "find_method": _plain(solving.find_method, {"solver": TEXT}, solver="scipy:RK45"),
        "solvers_for": Call(lambda: (solving.solvers_for, {"problem": problem()}), {"problem": THING}),
        "Solution.projected": Call(
            lambda: (solution().projected, {"projection": None}), {"projection": optional(_role("projection", "true"))}
        ),
        "Solution": Call(
            lambda: (solution(), {"t": 0.005}), {"t": _role("times", "zero", "empty list", "empty array")}
        ),
        "Solution.problem_at": Call(lambda: (solution().problem_at, {"t": 0.005}), {"t": TIME}),
        "Solution.plot": Call(
            lambda: (solution().plot, {}),
            {key: optional(_role("names")) for key in ("bodies", "quantities", "joints")}
            | {"title": also(optional(TEXT), "text", "empty text"), "over": optional(_role("quantity"))},
        ),
        "Solution.to_pandas": Call(
            lambda: (solution().to_pandas, {"quantities": "energy"}), {"quantities": _role("names", "empty list")}
        ),
        "Solution.report": Call(
            lambda: (solution().report, {"path": folder() / "run.html"}),
            {"path": _role("a path"), "bodies": optional(_role("names")), "over": optional(_role("quantity"))},
        ),
        "Solution.animate": Call(
            lambda: (solution().animate, {}),
            {
                "path": optional(_role("a path")),
                "fps": POSITIVE,
                **{key: optional(also(POSITIVE)) for key in ("duration", "speed")},
                "bodies": optional(_role("names")),
                "traces": _role("traces", "true"),
                **{key: also(NUMBER, "none") for key in ("elevation", "azimuth")},
                "size": _role("width and height", "two numbers"),
                "dpi": POSITIVE,
                "title": also(optional(TEXT), "text", "empty text"),
            },
        ),
        "Solution.quantity": Call(
            lambda: (solution().quantity, {"quantity": "hinge.angle", "t": 0.005}),
            {"quantity": _role("quantity"), "t": _role("times", "none", "zero", "empty list", "empty array")},
        ),
        "Solution.save": Call(lambda: (solution().save, {"path": path()}), {"path": also(THING, "text")}),
        "compare": Call(
            lambda: (
                rbdae.compare,
                {"system": pair()[0], "t_end": 0.01, "formulations": ["null-space"], "rotations": ["quaternion"]}
                | {"velocities": ["angular"], "solvers": ["scipy:RK45"], "tolerances": [1e-3]},
            ),
            {
                "system": THING,
                "t_end": also(POSITIVE, "negative"),
                **{key: optional(_role("names")) for key in ("formulations", "rotations", "velocities", "solvers")},
                "tolerances": _role("tolerances", "array", "zeros"),
                "redundant": TEXT,
                "hold": FORMULATE["hold"],
                "projection": optional(_role("a projection", "true")),
                "options": optional(_role("options by solver", "dict")),
                "on_singularity": TEXT,
                "reference": optional(_role("a reference")),
                "quantity": optional(_role("quantity")),
                "executor": optional(_role("an executor")),
                "resume": optional(_role("a path", "text")),
                "progress": FLAG,
                "limit": POSITIVE,
                "repeats": COUNT,
            },
        ),
        "study.cases": _plain(
            study.cases,
            {key: optional(_role("names")) for key in ("formulations", "rotations", "velocities", "solvers")}
            | {"tolerances": _role("tolerances", "array", "zeros")},
            formulations=["index-0"],
            rotations=["quaternion"],
            velocities=["angular"],
            solvers=["scipy:RK45"],
            tolerances=[1e-4],
        ),
        # joints
        **{
            f"joints.{kind.__name__}": _between(kind, {**WHAT, **AXES}, **PLACES, **DIRECTIONS)
            for kind in (joints.Revolute, joints.Prismatic, joints.Cylindrical, joints.Planar, joints.Fixed)
        },
        "joints.Universal": _between(
            joints.Universal,
            {**WHAT, **AXES, "axis_b": VECTOR},
            **PLACES,
            axis_a=(0, 0, 1),
            axis_b=(1, 0, 0),
            normal_a=None,
            normal_b=None,
        ),
        **{
            f"joints.{kind.__name__}": _between(kind, {**WHAT, "axis_a": VECTOR}, **PLACES, axis_a=(0, 0, 1))
            for kind in (joints.PointOnLine, joints.PointOnPlane)
        },
        "joints.Spherical": _between(joints.Spherical, WHAT, **PLACES),
        "joints.Rod": _between(joints.Rod, {**WHAT, "length": optional(POSITIVE)}, **PLACES, length=1.0),
        "joints.Coincidence": _plain(
            joints.Coincidence, {"r1": VECTOR, "r2": VECTOR, "offset": VECTOR}, r1=(0, 0, 0), r2=(0, 0, 0)
        ),
        "joints.Dot1": _plain(
            joints.Dot1, {"a": VECTOR, "b": VECTOR, "value": NUMBER}, a=(0, 0, 1), b=(1, 0, 0), value=0.0
        ),
        "joints.Dot2": _plain(
            joints.Dot2,
            {"a": VECTOR, "r1": VECTOR, "r2": VECTOR, "value": NUMBER},
            a=(0, 0, 1),
            r1=(0, 0, 0),
            r2=(0, 0, 0),
        ),
        "joints.Distance": _plain(
            joints.Distance, {"r1": VECTOR, "r2": VECTOR, "length": POSITIVE}, r1=(0, 0, 0), r2=(0, 0, 0), length=1.0
        ),
        # drives
        "drives.PrescribedAngle": _on_joint(drives.PrescribedAngle, joints.Revolute, {"angle": FUNCTION}, angle=LAWS),
        "drives.PrescribedDisplacement": _on_joint(
            drives.PrescribedDisplacement, joints.Prismatic, {"displacement": FUNCTION}, displacement=LAWS
        ),
        "drives.DrivenRod": _between(drives.DrivenRod, {**ends, "length": FUNCTION}, **PLACES, length=RODLAW),
        "drives.PointMotion": _between(drives.PointMotion, {**ends, "vector": FUNCTION}, **PLACES, vector=LAWS3),
        # forces
        "forces.Force": Call(
            lambda: (forces.Force, {"body": pair()[1], "force": (0, 0, 1), "at": (0, 0, 0), "frame": "space"}),
            {"body": THING, "force": also(VECTOR, "class"), "at": VECTOR, "frame": TEXT, **name},
        ),
        "forces.Torque": Call(
            lambda: (forces.Torque, {"body": pair()[1], "torque": (0, 0, 1), "frame": "body"}),
            {"body": THING, "torque": also(VECTOR, "class"), "frame": TEXT, **name},
        ),
        "forces.SpringDamper": _between(
            forces.SpringDamper,
            {"b": optional(THING), "stiffness": stiff, "damping": stiff, "length": stiff, "force": LAW, **ends},
        ),
        "forces.Bushing": _between(
            forces.Bushing,
            {
                "b": optional(THING),
                "rest": optional(VECTOR),
                **{k: stiff for k in ("stiffness", "damping", "rotational_stiffness", "rotational_damping")},
                **ends,
            },
            stiffness=1.0,
        ),
        "forces.TorsionalSpringDamper": _on_joint(
            forces.TorsionalSpringDamper,
            joints.Revolute,
            {"stiffness": stiff, "damping": stiff, "angle": NUMBER, "torque": LAW},
        ),
        "forces.TranslationalSpringDamper": _on_joint(
            forces.TranslationalSpringDamper,
            joints.Prismatic,
            {"stiffness": stiff, "damping": stiff, "displacement": NUMBER, "force": LAW},
        ),
        "forces.Motor": _on_joint(forces.Motor, joints.Revolute, {"torque": also(LAW, "none")}, torque=1.0),
        "forces.Friction": _on_joint(
            forces.Friction, joints.Revolute, {"coefficient": also(stiff, "none")}, coefficient=1.0
        ),
        "forces.CalledBack": Call(  # how many numbers it takes is seen where it is used
            lambda: (forces.CalledBack, {"function": max}),
            {"function": also(FUNCTION, "function of none", "function of five")},
        ),
        "forces.UserForce": Call(
            lambda: (forces.UserForce, {"bodies": pair()[1], "force": _nothing, "jacobian": _nothing}),
            {
                "bodies": THING,
                "force": FUNCTION,
                "jacobian": also(FUNCTION, "none"),
                "potential": also(FUNCTION, "none"),
                **name,
            },
        ),
        "forces.UserForce by differences": Call(
            lambda: (forces.UserForce, {"bodies": pair()[1], "force": _nothing, "difference_step": 1e-6}),
            {"difference_step": also(POSITIVE, "none")},
        ),
        # evaluations
        "Problem.residual": _of_problem("residual", {"t": TIME, "y": STATES, "yd": STATES}, "index-2"),
        "Problem.jacobian": _of_problem("jacobian", {"t": TIME, "y": STATES, "yd": STATES, "c": NUMBER}, "index-2"),
        "Problem.sparse_jacobian": _of_problem(
            "sparse_jacobian", {"t": TIME, "y": STATES, "yd": STATES, "c": NUMBER}, "index-2"
        ),
        "Problem.parameter_jacobian": _of_problem(
            "parameter_jacobian", {"t": TIME, "y": STATES, "yd": STATES}, names=["gravity.z"]
        ),
        "Problem.with_parameters": _of_problem(
            "with_parameters", {"values": also(THING, "dict")}, values={"gravity.z": -9.0}
        ),
        "Problem.rhs_parameter_jacobian": _of_problem(
            "rhs_parameter_jacobian", {"t": TIME, "y": STATES}, names=["gravity.z"]
        ),
        "Problem.rhs": _of_problem("rhs", {"t": TIME, "y": STATES, "out": optional(_role("array", "zeros"))}),
        "Problem.rhs_jacobian": _of_problem(
            "rhs_jacobian", {"t": TIME, "y": STATES, "out": optional(_role("array", "zeros"))}
        ),
        "Problem.input_jacobian": _of_problem("input_jacobian", {"t": TIME, "y": STATES}),
        "Problem.with_inputs": _of_problem("with_inputs", {"values": also(THING, "dict")}, values={}),
        "Problem.outputs": _of_problem("outputs", {"quantities": also(THING, "empty list")}, quantities=[]),
        "Simulator": Call(
            lambda: (rbdae.Simulator, {"problem": problem(), "dt": 1e-3}), {"dt": POSITIVE, "record": FLAG}
        ),
        "Problem.at": _of_problem("at", {"t": TIME, "y": STATE}),
        "Table": _plain(
            rbdae.Table,
            {"t": _role("array", "zeros"), "values": _role("array", "zeros"), "kind": TEXT},
            t=(0.0, 1.0, 2.0),
            values=(0.0, 1.0, 2.0),
            kind="linear",
        ),
        "Problem.matrices": _of_problem("matrices", {"t": TIME, "y": STATES, "sparse": optional(FLAG)}),
        "Problem.project": _of_problem(
            "project", {"t": TIME, "y": STATE, "projection": optional(_role("projection", "true"))}
        ),
        **{
            f"Problem.{method}": _of_problem(method, {"t": TIME, "y": STATES})
            for method in (
                "natural",
                "states",
                "joints",
                "forces",
                "energy",
                "momentum",
                "constraints",
                "log_determinant",
                "rates",
                "multipliers",
                "reactions",
            )
        },
        "Problem.quantity": _of_problem(
            "quantity", {"quantity": _role("quantity"), "t": TIME, "y": STATES}, quantity="hinge.angle"
        ),
        "Problem.gradient": _of_problem(
            "gradient", {"quantity": _role("quantity"), "t": TIME, "y": STATE}, quantity="hinge.angle"
        ),
        "Problem.event_function": _of_problem(
            "event_function", {"quantity": _role("quantity"), "above": NUMBER}, quantity="hinge.angle", above=1.0
        ),
        "Event": _plain(
            rbdae.Event,
            {
                "what": also(FUNCTION, "text", "empty text"),
                "above": optional(NUMBER),
                "terminal": _role("flag or count", "true", "int", "zero", "none"),
            },
            what="pin.angle",
            above=0.5,
        ),
        "Problem.with_constant_mass": _of_problem("with_constant_mass", {}),
        "Problem.norm_defect": Call(
            lambda: (rates_problem().norm_defect, {"t": 0.0, "y": rates_problem().y0}), {"t": TIME, "y": STATES}
        ),
        **{
            f"Problem.{name}": _of_problem(name, {"t": TIME, "y": STATES}, "hamiltonian-eliminated")
            for name in ("pi", "eta")
        },
        "Problem.run_multipliers": _of_problem("run_multipliers", {"t": TIME, "y": STATES}, "index-2"),
        **{f"models.{model}": _model(model) for model in MODELS},
        **_calculations(kinematics, "kinematics"),
        **_calculations(quaternions, "quaternions"),
        **_closed_forms(),
        "rotations.orthonormalised": _plain(
            rotations.orthonormalised, {"M": _role("matrices"), "method": TEXT}, M=np.eye(3), method="polar"
        ),
        **_charts(),
        **_blocks(),
        **_dry(),
    }
    return out


@cache
def _cases() -> list[tuple[str, str, int]]:
    return [
        (name, argument, k)
        for name, call in calls().items()
        for argument, role in call.roles.items()
        for k, (word, _) in enumerate(VALUES)
        if word not in role.accepts
    ]


def cases() -> int:
    """How many invalid calls there are."""
    return len(_cases())


def spoilt(number: int) -> Spoilt:
    """A call with one wrong argument."""
    name, argument, k = _cases()[number]
    return _spoilt(name, {argument: VALUES[k][1]})


def spoilt_twice(seed: int) -> Spoilt:
    """A call with two wrong arguments; the message may be about either."""
    rng = np.random.default_rng(seed)
    able = [name for name, call in calls().items() if len(call.roles) > 1]
    name = able[int(rng.integers(len(able)))]
    roles = calls()[name].roles
    wrong = {}
    for argument in rng.choice(list(roles), 2, replace=False):
        values = [value for word, value in VALUES if word not in roles[str(argument)].accepts]
        wrong[str(argument)] = values[int(rng.integers(len(values)))]
    return _spoilt(name, wrong)


def _spoilt(name: str, wrong: dict[str, Any]) -> Spoilt:
    def run() -> Any:
        function, given = calls()[name].make()
        return function(**(given | wrong))

    return Spoilt(name, wrong, run)


# how else messages name an argument
ALIASES = {
    "a": ("bodies",),
    "b": ("bodies",),
    "body": ("bodies",),
    "along": ("acts along",),
    "coordinate": ("coordinates",),
    "bodies": ("body",),
    "system": ("System",),
    "angle": ("functions of time",),
    "displacement": ("functions of time",),
    "vector": ("functions of time",),
    "length": ("functions of time",),
    "r1": ("points",),
    "package": ("adapter",),
    "velocities": ("velocity",),
    "formulations": ("formulation",),
    "rotations": ("rotation",),
    "quantities": ("quantity",),
    "joints": ("joint",),
    "traces": ("body",),
    "path": ("its name",),
}

REMEDIES = (";", "must be", "such as", "takes", "give ", "choose", "leave out")


def complaint(call: Spoilt, message: str) -> str:
    """What the message of a refusal lacks: the argument, the value, the remedy; empty if nothing."""
    found = [_lacking(argument, value, message) for argument, value in call.wrong.items()]
    return "" if "" in found else found[0]


def _lacking(argument: str, value: Any, message: str) -> str:
    if not any(name in message for name in (argument, *ALIASES.get(argument, ()))):
        return "the argument is not named"
    several = isinstance(value, (list, tuple, set)) or (isinstance(value, np.ndarray) and value.ndim > 0)
    parts = list(value) if several else []
    shown = [show(value)[:12], str(value)[:12], *(show(part)[:20] for part in parts), "shape", type(value).__name__]
    if not any(text in message for text in shown):
        return "the value is not shown"
    return "" if any(words in message for words in REMEDIES) else "there is no remedy"


__all__ = ["CALLS_SKIPPED", "Spoilt", "calls", "cases", "complaint", "spoilt", "spoilt_twice"]

CALLS_SKIPPED = {
    "Actuator": "a class for classes of users",
    "Block": "a class for classes of users",
    "Assembly": "made by assemble",
    "FailedRunWarning": "a warning",
    "InitialValuesWarning": "a warning",
    "Problem": "made by formulate",
    "ProjectionError": "an exception",
    "StepError": "an exception",
    "Projector": "made by Projection",
    "pairings": "no argument",
    "solvers": "no argument",
}
