"""Invalid calls: of a valid call of something public, one argument becomes a value of a wrong kind.

`calls` has a valid call of every public callable. The role of an argument follows from its name (`ROLES`), unless the
call says otherwise; it says which of the wrong values are right for it after all. `spoilt(number)` is a call with one
wrong argument. A refusal has to give facts: the argument, the value and a remedy, in whatever words.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
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
from rbdae import drives, forces, joints, models, rotations, solving, study
from rbdae.rotations import CHARTS, quaternions
from rbdae_papers import closed_form, kinematics
from rbdae_papers.norm_multipliers import norm_multipliers
from rbdae_papers.null_space.benefits import skeel_condition

NUMBERS = {"int", "zero", "negative", "float32"}

VALUES: list[tuple[str, Any]] = [
    ("none", None), ("true", True), ("true", False), ("true", np.True_), ("int", 3), ("zero", 0), ("negative", -1.0),
    ("float32", np.float32(0.25)), ("nan", float("nan")), ("infinite", float("inf")), ("infinite", -float("inf")),
    ("complex", 1j), ("complex", np.complex128(0.5)), ("huge", 10**400), ("decimal", Decimal(1)), ("text", "123"),
    ("text", "x"), ("empty text", ""), ("bytes", b"x"), ("date", np.datetime64("2020-01-01")), ("object", object()),
    ("ellipsis", ...), ("class", int), ("class", dict), ("function of none", lambda: None),
    ("function of five", lambda a, b, c, d, e: None), ("dict", {}), ("dict", {"a": 1.0}), ("set", {1.0, 2.0, 3.0}),
    ("empty list", []), ("list", [None]), ("names", ["a", "b", "c"]), ("two numbers", [1.0, 2.0]),
    ("numbers", [1.0, 2.0, 3.0, 4.0, 5.0]), ("list", [[1.0, 2.0], [1.0]]), ("list", (1.0, "2", 3.0)),
    ("list", (0.5, None, 0.5)), ("complex", [1j, 2.0, 3.0]), ("nan", (0.0, float("nan"), 1.0)),
    ("empty array", np.zeros(0)), ("zeros", np.zeros((2, 2, 2))), ("array", np.array(["a", "b", "c"])),
    ("array", np.array([object(), 1.0, 2.0], dtype=object)), ("array", np.ones(3, dtype=bool)),
    ("masked", np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])), ("masked", np.ma.masked),
    ("system", rbdae.System()),
]  # fmt: skip
"""Values of many kinds, each with a word by which roles accept it."""


class Role(NamedTuple):
    """What an argument is, and the words of values that are no mistake in it."""

    name: str
    accepts: frozenset[str] = frozenset()


def _role(name: str, *accepts: str) -> Role:
    return Role(name, frozenset(accepts))


def also(role: Role, *words: str) -> Role:
    return Role(role.name, role.accepts | set(words))


def optional(role: Role) -> Role:
    return Role(f"{role.name} or None", role.accepts | {"none"})


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
NAMES = _role("names")
QUANTITY = _role("quantity")
NAMED = _role("numbers by name", "dict", "none")
PATH = _role("a path")
ARRAY = _role("array", "zeros")

_BY_NAME: dict[Role, str] = {
    THING: "a b joint body bodies along problem block",
    also(THING, "system"): "system",  # an empty one is refused in its own words
    VECTOR: "at_a at_b at axis_a gravity r1 r2 offset inertia center_of_mass moments",
    optional(VECTOR): "axis_b normal_a normal_b rest pivot position orientation angular_velocity",
    NOT_NEGATIVE: "stiffness damping rotational_stiffness rotational_damping mu",
    optional(NOT_NEGATIVE): "alpha beta",
    POSITIVE: "mass period tolerance limit fps dpi",
    optional(POSITIVE): "radius floor duration speed difference_step impact_velocity",
    NUMBER: "value moment energy L_z L_3 tilt c angle displacement",
    optional(NUMBER): "low high elevation azimuth above",
    TEXT: "formulation rotation consistent redundant reference on_singularity recentre frame metric kind package "
    "solver method",
    optional(TEXT): "velocity director_constraints radial_inertia gyroscopic pull_back coordinate",
    NAMED: "states algebraic inputs parameters memory start",
    optional(NAMES): "formulations rotations velocities solvers",
    FLAG: "allow_unphysical record",
    COUNT: "max_iterations repeats",
    optional(NAME): "name",
    _role("a number of at least 1", "int"): "exponent",
    _role("a fraction", "float32", "none"): "restitution",
    _role("names of bodies", "empty list"): "hold",
    TIME: "t0 t",
    STATES: "y yd",
    optional(ARRAY): "out",
    QUANTITY: "quantity",
    optional(QUANTITY): "over",
    optional(_role("text", "text", "empty text")): "title",
    _role("tolerances", "array", "zeros"): "tolerances",
    optional(_role("a projection", "true")): "projection",
    _role("traces", "true"): "traces",
    _role("width and height", "two numbers"): "size",
}
ROLES = {name: role for role, names in _BY_NAME.items() for name in names.split()}
"""By the names of arguments."""


class Call(NamedTuple):
    """A callable, valid arguments by name, and the roles of those that are spoilt."""

    function: Callable[..., Any]
    given: dict[str, Any]
    roles: dict[str, Role]


class Spoilt(NamedTuple):
    """A call with wrong arguments."""

    call: str
    wrong: dict[str, Any]
    run: Callable[[], Any]


def _call(function: Any, given: dict[str, Any] | None = None, names: str | None = None, /, **roles: Role) -> Call:
    """Spoilt are `roles` and the arguments in `names`, by default all that have a role by their name."""
    known = inspect.signature(function).parameters if names is None else names.split()
    return Call(function, given or {}, {name: ROLES[name] for name in known if name in ROLES} | roles)


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
    return Call(MODELS[name], {}, roles)


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
        out[f"{where}.{name}"] = Call(function, given, roles)
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
            out[f"{module.__name__.split('.')[-1]}.{name}"] = Call(getattr(module, name), given, roles)
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


def _solve(solver: str, form: str = "index-0") -> dict[str, Any]:
    given = {"problem": problem(form), "t_span": (0.0, 0.01), "solver": solver, "rtol": 1e-4, "atol": 1e-4}
    return given | {"t_eval": [0.0, 0.005]}


def _nothing(t: float, x: Any, out: Any) -> None:
    out[:] = 0.0


LAWS = (lambda t: 0.0 * t, lambda t: 0.0, lambda t: 0.0)
LAWS3 = tuple(lambda t: (0.0, 0.0, 0.0) for _ in range(3))
RODLAW = (lambda t: 1.0, lambda t: 0.0, lambda t: 0.0)
BY_NAME = "formulations rotations velocities solvers tolerances"


def _parts() -> dict[str, Call]:
    """Joints, drives, forces, actuators."""
    _, a, b = pair()
    two, rail = {"a": a, "b": b}, {"joint": hinged(joints.Prismatic)[1]}
    pin, rebound = {"joint": hinged()[1]}, {"stiffness": 1.0, "restitution": 0.5, "impact_velocity": 1.0}
    some, loaded, free = optional(THING), also(VECTOR, "class"), also(FUNCTION, "none")
    pressing: dict[str, Any] = {"damping": optional(NOT_NEGATIVE), "stiffness": POSITIVE}
    user, five = {"bodies": a, "force": _nothing}, also(FUNCTION, "function of five")
    points = {"r1": (0, 0, 0), "r2": (0, 0, 0)}
    out = {
        **{f"joints.{kind.__name__}": _call(kind, two) for kind in joints.JOINTS},
        "joints.Universal": _call(joints.Universal, two, axis_b=VECTOR),
        "joints.Rod": _call(joints.Rod, two, length=optional(POSITIVE)),
        "joints.Coincidence": _call(joints.Coincidence, points),
        "joints.Dot1": _call(joints.Dot1, {"a": (0, 0, 1), "b": (1, 0, 0)}, a=VECTOR, b=VECTOR),
        "joints.Dot2": _call(joints.Dot2, {"a": (0, 0, 1), **points}, a=VECTOR),
        "joints.Distance": _call(joints.Distance, {**points, "length": 1.0}, length=POSITIVE),
        "drives.PrescribedAngle": _call(drives.PrescribedAngle, {**pin, "angle": LAWS}, "joint name", angle=FUNCTION),
        "drives.PrescribedDisplacement": _call(
            drives.PrescribedDisplacement, {**rail, "displacement": LAWS}, "joint name", displacement=FUNCTION),
        "drives.DrivenRod": _call(drives.DrivenRod, {**two, "length": RODLAW}, "a b at_a at_b name", length=FUNCTION),
        "drives.PointMotion": _call(
            drives.PointMotion, {**two, "vector": LAWS3}, "a b at_a at_b name", vector=FUNCTION),
        "forces.Force": _call(forces.Force, {"body": a, "force": (0, 0, 1)}, force=loaded),
        "forces.Torque": _call(forces.Torque, {"body": a, "torque": (0, 0, 1)}, torque=loaded),
        "forces.SpringDamper": _call(
            forces.SpringDamper, two, "a at_a at_b name stiffness damping", b=some, length=NOT_NEGATIVE, force=LAW),
        "forces.Bushing": _call(forces.Bushing, {**two, "stiffness": 1.0}, b=some),
        "forces.TorsionalSpringDamper": _call(
            forces.TorsionalSpringDamper, pin, "joint name stiffness damping angle", torque=LAW),
        "forces.TranslationalSpringDamper": _call(
            forces.TranslationalSpringDamper, rail, "joint name stiffness damping displacement", force=LAW),
        "forces.Motor": _call(forces.Motor, {**pin, "torque": 1.0}, "joint name", torque=also(LAW, "none")),
        "forces.Friction": _call(
            forces.Friction, {**pin, "coefficient": 1.0}, "joint name", coefficient=also(NOT_NEGATIVE, "none")),
        "forces.CalledBack": _call(  # how many numbers it takes is seen where it is used
            forces.CalledBack, {"function": max}, "", function=also(five, "function of none")),
        "forces.UserForce": _call(
            forces.UserForce, user | {"jacobian": _nothing}, "bodies name",
            force=FUNCTION, jacobian=free, potential=free),
        "forces.UserForce by differences": _call(forces.UserForce, user | {"difference_step": 1e-6}, "difference_step"),
        "forces.Limit": _call(forces.Limit, {**pin, "low": -2.0, "high": 9.0, "stiffness": 1.0, "exponent": 1.5},
            "joint name low high coordinate exponent", **pressing),
        "forces.Limit by restitution": _call(
            forces.Limit, {**pin, "low": -2.0, **rebound}, "restitution impact_velocity"),
        "forces.Coulomb": _call(forces.Coulomb, {**pin, "mu": 0.1, "normal": 1.0, "radius": 0.1},
            "joint name mu coordinate radius", velocity=POSITIVE, normal=also(NOT_NEGATIVE, "class")),
        "forces.Coulomb of a reaction": _call(forces.Coulomb, {**rail, "mu": 0.1, "normal": "reaction"},
            "joint mu floor", velocity=POSITIVE, length=optional(POSITIVE)),
        "forces.Contact": _call(forces.Contact, {**two, "stiffness": 1.0}, "a at_a at_b name mu exponent",
            b=some, velocity=POSITIVE, normal=optional(VECTOR), **pressing),
        "forces.Contact of a sphere": _call(
            forces.Contact, {**two, "radius": 1.0, **rebound}, "a restitution impact_velocity radius", b=some),
        "Points": _call(rbdae.Points, two),
        "block": _call(
            rbdae.block,
            {"law": lambda t, s, z, u, p: [], "outputs": ("one",), "observe": lambda t, s, z, u, p: [0.0]},
            law=five, observe=five, outputs=_role("names", "names")),
        "Sampled": _call(rbdae.Sampled, {"period": 0.1, "law": lambda t, u, m: (0.0,), "outputs": ("a",)},
            law=FUNCTION, outputs=_role("names", "text", "names")),
    }  # fmt: skip
    kinds: list[Any] = [each for each in vars(rbdae.actuators).values() if "__final__" in getattr(each, "__dict__", {})]
    for kind in kinds:
        if kind.__name__ not in ("FunctionBlock", "Points", "Sampled"):
            along = {"along": hinged()[1]} if issubclass(kind, rbdae.Actuator) else {}
            names = " ".join(["name", *along, *(["start"] if kind.states else [])])
            roles = {**dict.fromkeys(kind.inputs, also(NUMBER, "class")), **dict.fromkeys(kind.parameters, NUMBER)}
            out[f"actuators.{kind.__name__}"] = _call(kind, along | dict.fromkeys(kind.inputs, 0.5), names, **roles)
    return out


def _of_systems() -> dict[str, Call]:
    """`System`, `formulate`, `solve` and what is beside them."""
    here, (system, a, b), rates = hinged()[0], pair(), rates_problem()
    room = rbdae.block(lambda t, s, z, u, p: [-s.x], states={"x": 1.0})
    few = {"formulations": ["index-0"], "rotations": ["quaternion"], "velocities": ["angular"]}
    few |= {"solvers": ["scipy:RK45"]}
    solve = dict(
        t_span=_role("two times"),
        solver=optional(TEXT),
        rtol=_role("tolerance", "float32"),
        atol=POSITIVE,
        t_eval=optional(_role("times")),
        events=optional(_role("functions of t and y", "empty list", "class")),
        progress=_role("flag or function", "true", "class"),
        step=optional(_role("nothing")),
    )
    body = closed_form.FreeBody((1, 2, 3), (0.1, 0.2, 3.0))
    top = closed_form.SymmetricTop(1.0, 0.5, 2.0)
    turning = {"rotation": np.eye(3), "angular_velocity": (1, 2, 3)}
    return {
        "System": _call(rbdae.System),
        "System.add_body": _call(
            system.add_body, {"name": "c", "mass": 1.0, "inertia": (1, 1, 1)}, name=NAME, velocity=optional(VECTOR)),
        "System.add_input": _call(system.add_input, {"name": "torque"}, "value", name=NAME),
        "System.add_joint": _call(system.add_joint, {"joint": joints.Spherical(a, b)}),
        "System.add_force": _call(system.add_force, {"force": forces.Torque(a, (0, 0, 1))}, force=THING),
        "System.add_block": _call(system.add_block, {"block": room}),
        "Projection": _call(rbdae.Projection, {}, "max_iterations metric", position=FLAG, velocity=FLAG,
            tolerance=NOT_NEGATIVE, restart_tolerance=NOT_NEGATIVE),
        "assemble": _call(rbdae.assemble, {"system": here}, "system hold t0"),
        "formulate": _call(rbdae.formulate, {"system": here, "formulation": "baumgarte", "hold": ["a"]}),
        "solve": _call(rbdae.solve, _solve("scipy:RK45"), "problem projection on_singularity recentre", **solve),
        "load": _call(
            rbdae.load, {"path": path(), "problem": problem()}, "", path=also(THING, "text"), problem=optional(THING)),
        "scaled_atol": _call(rbdae.scaled_atol, {"problem": problem(), "tolerance": 1e-6}, "problem tolerance"),
        "norm_multipliers": _call(norm_multipliers, {"problem": rates, "t": 0.0, "y": rates.y0}, "problem t y"),
        "skeel_condition": _call(skeel_condition, {"A": np.diag([1.0, 2.0])}, A=_role("matrix")),
        "adapter": _call(solving.adapter, {"package": "scipy"}),
        "find_method": _call(solving.find_method, {"solver": "scipy:RK45"}),
        "solvers_for": _call(solving.solvers_for, {"problem": problem()}, "problem"),
        "Simulator": _call(rbdae.Simulator, {"problem": problem(), "dt": 1e-3}, "record", dt=POSITIVE),
        "Table": _call(rbdae.Table, {"t": (0.0, 1.0, 2.0), "values": (0.0, 1.0, 2.0)}, "kind", t=ARRAY, values=ARRAY),
        "Event": _call(rbdae.Event, {"what": "pin.angle", "above": 0.5}, "above",
            what=also(FUNCTION, "text", "empty text"), terminal=_role("flag or count", "true", "int", "zero", "none")),
        "compare": _call(
            rbdae.compare,
            {"system": pair()[0], "t_end": 0.01, "tolerances": [1e-3], **few, "formulations": ["null-space"]},
            f"{BY_NAME} redundant hold projection on_singularity limit repeats", system=THING,
            t_end=also(POSITIVE, "negative"), options=optional(_role("options by solver", "dict")),
            reference=optional(_role("a reference")), quantity=optional(QUANTITY),
            executor=optional(_role("an executor")), resume=optional(_role("a path", "text")), progress=FLAG),
        "study.cases": _call(study.cases, {**few, "tolerances": [1e-4]}, BY_NAME),
        "closed_form.FreeBody": _call(
            closed_form.FreeBody, {"moments": (1, 2, 3), "angular_velocity": (1, 2, 3)}, angular_velocity=VECTOR),
        **{f"FreeBody.{name}": _call(getattr(body, name), {"t": 0.5}, t=STACK)
            for name in ("angular_velocity", "orientation", "quaternion")},
        "closed_form.SymmetricTop": _call(closed_form.SymmetricTop, {"transverse": 1.0, "axial": 0.5, "moment": 2.0},
            transverse=POSITIVE, axial=POSITIVE),
        "SymmetricTop.integrals": _call(top.integrals, turning, "", rotation=VECTOR, angular_velocity=VECTOR),
        "SymmetricTop.nutation_limits": _call(top.nutation_limits, {"energy": 3.0, "L_z": 1.0, "L_3": 1.0}),
        "SymmetricTop.steady_precession": _call(top.steady_precession, {"tilt": 1.0, "L_3": 9.0}),
        "rotations.orthonormalised": _call(
            rotations.orthonormalised, {"M": np.eye(3), "method": "polar"}, M=_role("matrices")),
    }  # fmt: skip


def _of_solutions() -> dict[str, Call]:
    run, names, times = solution(), optional(NAMES), _role("times", "zero", "empty list", "empty array")
    return {
        "Solution": _call(run, {"t": 0.005}, t=times),
        "Solution.projected": _call(run.projected, {"projection": None}),
        "Solution.problem_at": _call(run.problem_at, {"t": 0.005}),
        "Solution.plot": _call(run.plot, {}, "title over", bodies=names, quantities=names, joints=names),
        "Solution.to_pandas": _call(run.to_pandas, {"quantities": "energy"}, "", quantities=also(NAMES, "empty list")),
        "Solution.report": _call(run.report, {"path": folder() / "run.html"}, "over", path=PATH, bodies=names),
        "Solution.animate": _call(run.animate, {},
            "fps duration speed traces elevation azimuth size dpi title", path=optional(PATH), bodies=names),
        "Solution.quantity": _call(run.quantity, {"quantity": "hinge.angle", "t": 0.005}, t=also(times, "none")),
        "Solution.save": _call(run.save, {"path": path()}, path=also(THING, "text")),
    }  # fmt: skip


def _of_problem(
    name: str, names: str = "t y", form: str = "index-0", given: Any = None, **roles: Role
) -> tuple[str, Call]:
    here = problem(form)
    known = {"t": 0.0, "y": here.y0, "yd": here.yd0, "c": 2.0}
    valid = {key: known[key] for key in names.split() if key in known} | (given or {})
    return f"Problem.{name}", _call(getattr(here, name), valid, names, **roles)


def _of_problems() -> Iterator[tuple[str, Call]]:
    angle, numbers = {"quantity": "hinge.angle"}, also(THING, "dict")
    for name in ("natural", "states", "joints", "forces", "energy", "momentum", "constraints", "log_determinant"):
        yield _of_problem(name)
    for name in ("rates", "multipliers", "reactions", "input_jacobian"):
        yield _of_problem(name)
    yield _of_problem("residual", "t y yd", "index-2")
    yield _of_problem("jacobian", "t y yd c", "index-2")
    yield _of_problem("sparse_jacobian", "t y yd c", "index-2")
    yield _of_problem("run_multipliers", form="index-2")
    yield _of_problem("parameter_jacobian", "t y yd", given={"names": ["gravity.z"]})
    yield _of_problem("rhs_parameter_jacobian", given={"names": ["gravity.z"]})
    yield _of_problem("with_parameters", "", given={"values": {"gravity.z": -9.0}}, values=numbers)
    yield _of_problem("with_inputs", "", given={"values": {}}, values=numbers)
    yield _of_problem("with_constant_mass", "")
    yield _of_problem("rhs", "t y out")
    yield _of_problem("rhs_jacobian", "t y out")
    yield _of_problem("outputs", "", given={"quantities": []}, quantities=also(THING, "empty list"))
    yield _of_problem("at", y=STATE)
    yield _of_problem("matrices", sparse=optional(FLAG))
    yield _of_problem("project", "t y projection", y=STATE)
    yield _of_problem("quantity", "t y quantity", given=angle)
    yield _of_problem("event_function", "quantity", given={**angle, "above": 1.0}, above=optional(NUMBER))


@cache
def calls() -> dict[str, Call]:
    """All of them, by name."""
    return {
        **_of_systems(),
        **_of_solutions(),
        **_parts(),
        **dict(_of_problems()),
        **{f"models.{model}": _model(model) for model in MODELS},
        **_calculations(kinematics, "kinematics"),
        **_calculations(quaternions, "quaternions"),
        **_charts(),
    }


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
    call = calls()[name]
    return Spoilt(name, wrong, lambda: call.function(**(call.given | wrong)))


# how else messages name an argument
ALIASES = {
    "a": ("bodies",), "b": ("bodies",), "body": ("bodies",), "bodies": ("body",), "traces": ("body",),
    "along": ("acts along",), "coordinate": ("coordinates",), "system": ("System",), "r1": ("points",),
    **dict.fromkeys(("angle", "displacement", "vector", "length"), ("functions of time",)), "path": ("its name",),
    "package": ("adapter",), "velocities": ("velocity",), "formulations": ("formulation",), "joints": ("joint",),
    "rotations": ("rotation",), "quantities": ("quantity",),
}  # fmt: skip

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


CALLS_SKIPPED = {
    *("Actuator", "Block"),  # classes for classes of users
    *("Assembly", "Problem", "Projector"),  # made by functions
    *("FailedRunWarning", "InitialValuesWarning", "ProjectionError", "StepError"),
    *("pairings", "solvers"),  # no argument
}
