"""Laws of users on symbols: exact derivatives, no Python in the loops, the numbers of laws that are called back."""

from __future__ import annotations

import concurrent.futures
import functools
import gc
import logging
import math
import os
import pickle
import queue
import re
import signal
import sys
import time
import warnings
import weakref
from math import atan, tanh
from pathlib import Path

import cases
import numpy as np
import pytest
from numpy import array, zeros
from scipy.interpolate import CubicSpline, PchipInterpolator

import rbdae
from rbdae.forces import CalledBack

GAIN = 1.7
TABLE = np.linspace(-3.0, 3.0, 13), np.sin(np.linspace(-3.0, 3.0, 13))
SPLINE = CubicSpline(np.linspace(-4.0, 4.0, 15), np.cos(np.linspace(-4.0, 4.0, 15)))
SLOPES = PchipInterpolator(np.linspace(-4.0, 4.0, 9), np.tanh(np.linspace(-4.0, 4.0, 9)))
WEIGHTS = [0.3, -1.2, 0.5]


def helper(s):
    return GAIN * math.atan(s)


def branches(s):
    if s > 0.3:
        return s * s
    if s < -0.2:
        return math.exp(s)
    return 2.0 * s


def slope_of_branches(s):
    return 2.0 * s if s > 0.3 else math.exp(s) if s < -0.2 else 2.0


def nested(s):
    def inner(x):
        return np.sin(x) if x > 0 else np.cosh(x)

    return inner(s) + inner(-s)


def loop(s):
    out = 0.0
    for k, w in enumerate(WEIGHTS):
        out += w * s**k
    return out


def made_array(s):
    a = np.zeros(3)
    a[0], a[1], a[2] = s, s * s, 1.0
    return a @ np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, 0.0, 1.0]]) @ np.ones(3)


def closure(k):
    def law(s):
        return k["stiffness"] * s - k["cubic"] * s**3

    return law


class Magic:
    def __init__(self, b, c):
        self.b, self.c = b, c

    def __call__(self, s):
        return math.sin(self.c * math.atan(self.b * s))

    def method(self, s):
        return self.b * s + self.c


def backlash(s):
    return np.where(s > 0.1, s - 0.1, np.where(s < -0.1, s + 0.1, 0.0))


def by_names(s):
    a = zeros(2)
    a[0] = s
    a[1] = array([s, 2.0]).sum() + np.mean([s, s]) + np.prod([s, 2.0]) + np.max([s, -100.0])
    return a.sum()


def polynomial(s):
    return np.polyval([1.0, -2.0, 0.5, 3.0], s)


LAWS = {
    "line": (lambda s: 3.0 * s + 1.0, lambda s: 3.0),
    "power": (lambda s: s**3, lambda s: 3.0 * s**2),
    "real power": (lambda s: (s * s + 1.0) ** 1.7, lambda s: 3.4 * s * (s * s + 1.0) ** 0.7),
    "root": (lambda s: math.sqrt(s * s + 0.3), lambda s: s / math.sqrt(s * s + 0.3)),
    "numpy root": (lambda s: np.sqrt(1.0 + s**2), lambda s: s / np.sqrt(1.0 + s**2)),
    "sine": (lambda s: math.sin(2.0 * s), lambda s: 2.0 * math.cos(2.0 * s)),
    "cosine": (lambda s: np.cos(s) ** 2, lambda s: -2.0 * np.cos(s) * np.sin(s)),
    "tangent": (lambda s: np.tan(0.2 * s), lambda s: 0.2 / np.cos(0.2 * s) ** 2),
    "arcsine": (lambda s: math.asin(0.1 * s), lambda s: 0.1 / math.sqrt(1.0 - 0.01 * s * s)),
    "arccosine": (lambda s: np.arccos(0.1 * s), lambda s: -0.1 / np.sqrt(1.0 - 0.01 * s * s)),
    "arctangent": (lambda s: atan(s), lambda s: 1.0 / (1.0 + s * s)),
    "angle": (lambda s: math.atan2(s, 2.0), lambda s: 2.0 / (s * s + 4.0)),
    "exponential": (lambda s: math.exp(-0.5 * s), lambda s: -0.5 * math.exp(-0.5 * s)),
    "expm1": (lambda s: np.expm1(s), lambda s: math.exp(s)),
    "logarithm": (lambda s: math.log(s * s + 2.0), lambda s: 2.0 * s / (s * s + 2.0)),
    "log10": (lambda s: np.log10(s * s + 2.0), lambda s: 2.0 * s / (s * s + 2.0) / math.log(10.0)),
    "log1p": (lambda s: np.log1p(s * s), lambda s: 2.0 * s / (1.0 + s * s)),
    "sinh": (lambda s: math.sinh(s), lambda s: math.cosh(s)),
    "cosh": (lambda s: np.cosh(0.5 * s), lambda s: 0.5 * math.sinh(0.5 * s)),
    "tanh": (lambda s: tanh(5.0 * s), lambda s: 5.0 / math.cosh(5.0 * s) ** 2),
    "arcsinh": (lambda s: np.arcsinh(s), lambda s: 1.0 / math.sqrt(1.0 + s * s)),
    "absolute": (lambda s: abs(s) * s, lambda s: 2.0 * abs(s)),
    "numpy absolute": (lambda s: np.abs(s), lambda s: math.copysign(1.0, s)),
    "sign": (lambda s: np.sign(s) * s * s, lambda s: 2.0 * abs(s)),
    "maximum": (lambda s: np.maximum(s, 0.2 * s), lambda s: 1.0 if s > 0.0 else 0.2),
    "max": (lambda s: max(0.0, s, 2.0 * s - 1.0), lambda s: 0.0 if s < 0.0 else 1.0 if s < 1.0 else 2.0),
    "minimum": (lambda s: min(s, 0.5), lambda s: 1.0 if s < 0.5 else 0.0),
    "clip": (lambda s: np.clip(2.0 * s, -1.0, 1.0), lambda s: 2.0 if abs(s) < 0.5 else 0.0),
    "branches": (branches, slope_of_branches),
    "both sides": (nested, lambda s: math.cos(s) + math.sinh(s) if s > 0 else math.sinh(s) - math.cos(s)),
    "conditional": (lambda s: s * s if 0.0 < s < 2.0 else -s, lambda s: 2.0 * s if 0.0 < s < 2.0 else -1.0),
    "where": (backlash, lambda s: 0.0 if abs(s) < 0.1 else 1.0),
    "and": (
        lambda s: s if (s > 0 and s < 1) or s < -2 else 2 * s,
        lambda s: 1.0 if 0 < s < 1 or s < -2 else 2.0,
    ),
    "table": (lambda s: np.interp(s, *TABLE), lambda s: np.diff(TABLE[1])[_segment(s)] / 0.5),
    "spline": (SPLINE, SPLINE.derivative()),
    "monotone spline": (lambda s: 2.0 * SLOPES(s), lambda s: 2.0 * SLOPES.derivative()(s)),
    "loop": (loop, lambda s: WEIGHTS[1] + 2.0 * WEIGHTS[2] * s),
    "array": (made_array, lambda s: 3.0 + 6.0 * s),
    "names of numpy": (by_names, lambda s: 6.0),
    "polynomial": (polynomial, lambda s: 3.0 * s * s - 4.0 * s + 0.5),
    "helper": (lambda s: helper(s) * 2.0, lambda s: 2.0 * GAIN / (1.0 + s * s)),
    "closure": (closure({"stiffness": 4.0, "cubic": 0.3}), lambda s: 4.0 - 0.9 * s * s),
    "object": (Magic(1.5, 1.3), lambda s: 1.3 * 1.5 / (1 + 2.25 * s * s) * math.cos(1.3 * math.atan(1.5 * s))),
    "method": (Magic(1.5, 1.3).method, lambda s: 1.5),
    "partial": (functools.partial(lambda k, s: k * s * s, 0.7), lambda s: 1.4 * s),
    "norm": (lambda s: np.linalg.norm([s, 2.0 * s, 1.0]), lambda s: 5.0 * s / math.sqrt(5.0 * s * s + 1.0)),
    "hypot": (lambda s: math.hypot(s, 1.0), lambda s: s / math.hypot(s, 1.0)),
    "cross": (lambda s: np.cross([s, 0.0, 1.0], [0.0, s, 2.0])[2], lambda s: 2.0 * s),
    "remainder": (lambda s: (s + 20.0) % 3.0, lambda s: 1.0),
    "float": (lambda s: float(s) * float(2), lambda s: 2.0),
}
"""A function of one number, and its derivative by hand."""


def _segment(s):
    return min(int((s + 3.0) / 0.5), 11)


FORMS = ("index-0", "index-2", "null-space", "hamiltonian")
ALONG, ACROSS = np.array([0.6, -0.8, 0.0]), np.array([0.3, 0.5, 1.1])


class Derivative:
    """Of the law F = g(s) e on the point of a body, with s = a . x + b . xdot, by hand."""

    def __init__(self, slope):
        self.slope = slope

    def __call__(self, t, x, out):
        out[:] = 0.0
        slope = self.slope(float(ALONG @ x[:3] + ACROSS @ x[24:27]))
        out[:576].reshape(24, 24)[:3, :3] = slope * np.outer(ACROSS, ALONG)
        out[576:].reshape(24, 24)[:3, :3] = slope * np.outer(ACROSS, ACROSS)


def law_of(g):
    """The law with g in reach of the function itself: its globals are those that are looked through."""

    def law(t, x, out):
        out[:] = 0.0
        out[:3] = g(ALONG @ x[:3] + ACROSS @ x[24:27]) * ACROSS

    return law


def formulated(form, law, jacobian=None, **options):
    """A body on a ball joint under a law."""
    return formulated_with(form, [(law, jacobian)], **options)


def formulated_with(form, laws, **options):
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    start = {"position": (0.9, 0.2, 0.1), "angular_velocity": (0.3, -0.2, 0.5)}
    arm = system.add_body("arm", mass=1.3, inertia=(1.0, 2.0, 2.5), **start)
    system.add_joint(rbdae.joints.Spherical(system.ground, arm, at_b=(-0.9, -0.2, -0.1)))
    for law, jacobian in laws:
        system.add_force(rbdae.forces.UserForce(arm, law, jacobian, **options))
    return rbdae.formulate(system, form)


def values(problem, y):
    """The residual at a state, and what it depends on."""
    yd = np.cos(np.arange(problem.n))
    return problem.residual(0.4, y, yd), problem.jacobian(0.4, y, yd, 1.3)


TOGETHER = 10
NAMES = [*LAWS]


@pytest.mark.parametrize("form", [pytest.param(f, marks=[pytest.mark.nightly] * (f == "hamiltonian")) for f in FORMS])
@pytest.mark.parametrize("k", range(0, len(LAWS), TOGETHER))
def test_laws_are_what_they_are_where_they_are_called_back(k, form):
    """Each alone, and some of them as forces of one body, so that code is made for a few models."""
    if not cases.NIGHTLY and form != FORMS[k // TOGETHER % 3]:
        pytest.skip("the forms take turns; a law is recorded before its form")
    of = [LAWS[name] for name in NAMES[k : k + TOGETHER]]
    for g, slope in of:
        x = np.linspace(-2.9, 2.9, 7) + 0.0123
        e = 1e-6
        np.testing.assert_allclose([(g(s + e) - g(s - e)) / (2 * e) for s in x], [slope(s) for s in x], atol=1e-7)
    recorded = formulated_with(form, [(law_of(g), None) for g, _ in of])
    by_hand = formulated_with(form, [(CalledBack(law_of(g)), CalledBack(Derivative(slope))) for g, slope in of])
    assert set(recorded.laws.values()) == {"recorded"} and not recorded.workspace.code_calls_python
    assert "recorded" not in by_hand.laws.values() and by_hand.workspace.code_calls_python
    rng = np.random.default_rng(k)
    for size in (0.0, 0.3, 0.9):
        y = recorded.y0 + size * rng.standard_normal(recorded.n)
        (F, J), (F2, J2) = values(recorded, y), values(by_hand, y)
        np.testing.assert_allclose(F, F2, rtol=0.0, atol=1e-13 * np.abs(F2).max())
        np.testing.assert_allclose(J, J2, rtol=0.0, atol=1e-12 * np.abs(J2).max())


def test_a_recorded_law_has_its_own_jacobian_and_a_called_one_that_which_is_given():
    g, _ = LAWS["tanh"]
    wrong = Derivative(lambda s: 1e3)
    wanted = formulated("index-0", law_of(g))
    y = wanted.y0 + 0.1
    recorded, called = (formulated("index-0", law, wrong) for law in (law_of(g), CalledBack(law_of(g))))
    plain = cases.formulated(recorded.system, "index-0", code="plain")
    J = wanted.rhs_jacobian(0.4, y)
    for problem in (recorded, plain):
        np.testing.assert_allclose(problem.rhs_jacobian(0.4, y), J, rtol=0.0, atol=1e-12 * np.abs(J).max())
    assert np.abs(called.rhs_jacobian(0.4, y) - J).max() > 1.0


@pytest.mark.parametrize("name", ["branches", "spline"])
def test_no_python_is_called_in_the_loop(name):
    g, _ = LAWS[name]
    law, calls = law_of(g), []
    codes = {law.__code__, *(f.__code__ for f in (g,) if hasattr(f, "__code__"))}
    problem = formulated("index-0", law)
    more = {"solver": "rbdae:dop853", "rtol": 1e-8, "atol": 1e-8}
    rbdae.solve(problem, (0.0, 0.1), **more)

    def seen(frame, event, argument):
        if event == "call" and frame.f_code in codes:
            calls.append(frame.f_code.co_name)

    sys.setprofile(seen)
    try:
        run = rbdae.solve(problem, (0.0, 2.0), **more)
    finally:
        sys.setprofile(None)
    assert run.success and run.stats.evaluations > 100
    assert not calls
    assert run.stats.fallbacks == 0


# ---------------------------------------------------------------- what cannot be recorded


COUNTED = [0]


def counting(s):
    COUNTED[0] += 1
    return s


def halving(s):
    table = HALVED
    if s > 1.0:
        table *= 0.5
    return s + table[0]


HALVED = np.ones(2)


def printing(s):
    print(s)
    return s


def endless(s):
    while abs(s) > 1e-3:
        s = s / 2.0
    return s


class Calls:
    n = 0

    def __call__(self, s):
        Calls.n += 1
        return 2.0 * s


def own_calls(s):
    own_calls.n += 1
    return s


own_calls.n = 0

RNG = np.random.default_rng(5)
DRAW = np.random.RandomState(5).rand

UNRECORDED = {
    "a counter": (counting, "cannot change.*item assignment"),
    "a table": (halving, "changes objects outside"),
    "a variable of its class": (Calls(), "changes Calls.n"),
    "an attribute of its own": (own_calls, "changes own_calls.n"),
    "random numbers": (lambda s: s * DRAW(), "it uses (DRAW|__call__)"),
    "a generator": (lambda s: s + RNG.standard_normal(), "it uses standard_normal"),
    "output": (printing, "it uses print"),
    "a loop without end": (endless, "not arithmetic .while"),
    "a whole number": (lambda s: WEIGHTS[int(s) % 3], "it uses int"),
    "text": (lambda s: len(f"{s:.3f}") + s, "text of a number"),
    "no source": (eval("lambda s: 2.0 * s"), "no source"),
}


DONE, LOG, MAIL = [], logging.getLogger("of a law"), queue.SimpleQueue()
LOG.addFilter(DONE.append)


def imports(s):
    import os

    return os.nice(0) and s


ACTING = {
    "a signal": lambda: os.kill(os.getpid(), signal.SIGINT),
    "a log": lambda: LOG.warning("far"),
    "a module of a module": lambda: concurrent.futures.ThreadPoolExecutor(1),
    "a queue": lambda: MAIL.put(1),
    "a warning": lambda: warnings.warn("far", stacklevel=1),
    "a file": lambda: Path("far").write_text("far"),
    "a command": lambda: os.system("touch far"),
    "a stream": lambda: sys.stdout.write("far"),
    "a clock": lambda: time.sleep(1e4),
    "an import": lambda: imports(1.0),
    "a generator of values": lambda: next(TURNS),
}
TURNS = (DONE.append(1) for _ in range(3))


def test_what_acts_is_not_touched_where_no_motion_goes(capsys, tmp_path, monkeypatch):
    """Every way is walked at the recording; a signal of a law came there, and what a log or a queue would have had was
    lost in the run."""
    monkeypatch.chdir(tmp_path)

    def law(act):
        return law_of(lambda s: act() if s > 1e3 else s)

    problem = formulated_with("index-0", [(law(act), None) for act in ACTING.values()])
    for k, name in enumerate(ACTING, 1):
        assert problem.laws[f"force 'user-{k}': law"] != "recorded", name
    assert np.isfinite(problem.rhs(0.0, problem.y0)).all()
    assert not DONE and MAIL.empty() and not capsys.readouterr().out and not [*tmp_path.iterdir()]


def test_what_cannot_be_recorded_is_called_with_the_reason(capsys):
    problem = formulated_with("index-0", [(law_of(g), None) for g, _ in UNRECORDED.values()])
    for k, (name, (_, why)) in enumerate(UNRECORDED.items(), 1):
        said = problem.laws[f"force 'user-{k}': law"]
        assert said != "recorded" and re.search(why, said), (name, said)
    assert np.isfinite(problem.rhs(0.0, problem.y0)).all() and np.isfinite(problem.rhs_jacobian(0.0, problem.y0)).all()


def test_what_has_no_derivatives_says_so_where_they_are_asked_for():
    def law(s):
        return np.linalg.solve(np.array([[2.0, s], [0.0, 1.0]]), np.ones(2))[0]

    problem = formulated("index-0", law_of(law))
    assert "numpy.linalg.solve" in problem.laws["force 'user-1': law"]
    assert np.isfinite(problem.rhs(0.0, problem.y0)).all()
    with pytest.raises(ValueError, match=r"'user-1': law: .*cannot be differentiated at .*difference_step=1e-6"):
        problem.rhs_jacobian(0.0, problem.y0)
    by_differences = formulated("index-0", CalledBack(law_of(law), difference_step=1e-6))
    assert np.isfinite(by_differences.rhs_jacobian(0.0, problem.y0)).all()


@pytest.mark.parametrize("called", [False, True], ids=["recorded", "called back"])
def test_an_exception_of_a_law_comes_out_as_itself(called):
    def law(t, x, out):
        if t > 0.3:
            raise LookupError("beyond the table")
        out[:] = -x[:24]

    problem = formulated("index-0", CalledBack(law) if called else law)
    assert (problem.laws["force 'user-1': law"] == "recorded") is not called
    for solver in ("rbdae:dop853", "scipy:DOP853"):
        with pytest.raises(LookupError, match="beyond the table"):
            rbdae.solve(problem, (0.0, 1.0), solver=solver)


@pytest.mark.parametrize("kept", [True, False])
def test_code_calls_the_functions_of_its_own_model(kept):
    """Code is recorded at t = 0.1234, where this law raises, so that it is called: by the address of one of the models
    before, or of none that is there any more (seen: an illegal instruction)."""
    problems = []
    for k in range(3):

        def law(t, x, out, k=k):
            if t > 0.1:
                raise LookupError(f"table {k}")
            out[:] = -x[:24]

        problem = formulated("index-0", law)
        assert np.isfinite(problem.rhs(0.0, problem.y0)).all()
        with pytest.raises(LookupError, match=f"table {k}$"):
            problem.rhs(0.2, problem.y0)
        if kept:
            problems.append(problem)
        del problem, law
        gc.collect()


def test_a_problem_that_is_gone_leaves_neither_its_system_nor_its_laws():
    """A cache that held laws held the mechanisms of a process, 3 MB each, up to 4,096 of them."""
    problem = formulated("index-0", lambda t, x, out: out.__setitem__(slice(None), -x[:24]))
    problem.system.add_block(rbdae.block(lambda t, s, z, u, p: [-s.x], states={"x": 1.0}, name="own"))
    for form in ("index-0", "index-2"):
        assert np.isfinite(rbdae.formulate(problem.system, form).yd0).all()
    gone = weakref.ref(problem.system.bodies[0])
    del problem
    gc.collect()
    assert gone() is None


# ---------------------------------------------------------------- where laws are


def test_laws_of_time_drives_potentials_and_states_are_recorded():
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    crank = system.add_body("crank", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(1.0, 0.0, 0.0))
    rod = system.add_body("rod", mass=0.5, inertia=(0.2, 0.3, 0.4), position=(2.0, 0.0, 0.0))
    hinge = system.add_joint(rbdae.joints.Revolute(system.ground, crank, at_b=(-1.0, 0.0, 0.0), axis_a=(0, 0, 1)))
    elbow = system.add_joint(rbdae.joints.Revolute(crank, rod, at_a=(0.5, 0, 0), at_b=(-0.5, 0, 0), axis_a=(0, 0, 1)))
    system.add_joint(rbdae.drives.PrescribedAngle(hinge, lambda t: 0.3 * math.sin(2.0 * t)))
    system.add_force(rbdae.forces.Motor(elbow, torque=lambda t: np.exp(-t)))
    system.add_force(rbdae.forces.Force(rod, at=(0.2, 0, 0), force=lambda t: [math.sin(t), 0.0, t * t]))

    def force(t, x, out):
        out[:] = 0.0
        out[:3] = -3.0 * x[:3]

    def potential(t, Z, out):
        out[0] = 1.5 * (Z[0] ** 2 + Z[1] ** 2 + Z[2] ** 2)

    system.add_force(rbdae.forces.UserForce(rod, force, potential=potential))
    problem = rbdae.formulate(system, "index-0")
    assert len(problem.laws) >= 5 and set(problem.laws.values()) == {"recorded"}
    run = rbdae.solve(problem, (0.0, 1.0), solver="rbdae:dop853", rtol=1e-10, atol=1e-10)
    assert run.success and np.abs(run.energy.balance).max() < 1e-6
    angle = run.states["crank"].orientation.as_euler("xyz")[:, 2]
    np.testing.assert_allclose(angle, 0.3 * np.sin(2.0 * run.t), atol=1e-8)


def test_pickled_problems_have_their_laws():
    problem = formulated("index-0", MODULE_LAW)
    other = pickle.loads(pickle.dumps(problem))
    assert other.laws == problem.laws
    y = problem.y0 + 0.1
    np.testing.assert_array_equal(problem.rhs(0.0, y), other.rhs(0.0, y))


def MODULE_LAW(t, x, out):
    out[:] = -2.0 * np.tanh(x[:24])
