"""A law is recorded if its source is arithmetic, and equals the function; any other is the function itself."""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import cases
import numpy as np
import pytest
from inside import law_of_motion
from scipy.special import digamma, gamma

import rbdae
from rbdae.forces import CalledBack, Motor


def sliding(law: Any, rate: float = 0.9, form: str = "index-0") -> rbdae.Problem:
    """A body of the mass 1 on a straight line, with a force."""
    system = rbdae.System(gravity=(0, 0, 0))
    body = system.add_body("b", mass=1.0, inertia=(1.0, 1.0, 1.0), velocity=(0, 0, rate))
    line = system.add_joint(rbdae.joints.Prismatic(system.ground, body, axis_a=(0, 0, 1), axis_b=(0, 0, 1), name="z"))
    system.add_force(Motor(line, force=law, name="m"))
    return rbdae.formulate(system, form)


def way(problem: rbdae.Problem) -> str:
    """Why the law is called, or "recorded"."""
    return problem.laws["force 'm': force"]


def at(problem: rbdae.Problem, s: float, rate: float) -> np.ndarray:
    """A state."""
    y = problem.y0.copy()
    y[[problem.labels.index("b.z"), problem.labels.index("b.vz")]] = s, rate
    return y


def force(problem: rbdae.Problem, s: float, rate: float = 0.9, t: float = 0.0) -> float:
    """The force as the right-hand side has it."""
    return float(problem.rhs(t, at(problem, s, rate))[problem.labels.index("b.vz")])


def slopes(problem: rbdae.Problem, s: float, rate: float = 0.9) -> np.ndarray:
    """Its derivatives by the displacement and the rate."""
    places = [problem.labels.index("b.z"), problem.labels.index("b.vz")]
    return problem.rhs_jacobian(0.0, at(problem, s, rate))[places[1], places]


def end(problem: rbdae.Problem, t: float = 1.0) -> float:
    run = rbdae.solve(problem, (0.0, t), solver="rbdae:dop853", rtol=1e-8, atol=1e-8)
    assert run.success
    return float(run.joints["z"].displacement[-1])


# ---------------------------------------------------------------- what was recorded as something else


def comparisons(t, a, r):
    return -1.0 if (a > 1.0) == (r < 5.0) else 0.2


def swallowing(t, a, r):
    try:
        return -0.5 * float(round(a, 2)) if a > 1.0 else 0.0
    except Exception:
        return 0.0


def kind(t, a, r):
    return (-1.0 if type(a) in (float, np.float64) else 0.2) if a > 1 else 0.0


def infinite(t, a, r):
    e = np.exp(2000 * a)
    return 1 / e if math.isfinite(e) else -3.0


def remainders(t, a, r):
    return a % 0.1 + (t + 1.7) % 0.1 + a // 0.3 - r // -0.7 + divmod(r, -0.2)[1]


def sign_of_zero(t, a, r):
    return math.copysign(1.0, r) + np.copysign(2.0, r)


def signs(t, a, r):
    return (r > 0.0) - (r < 0.0) + 0.1 * a


def unknown(t, a, r):
    return np.where(a > 0.2, np.nan, -a)


@pytest.mark.parametrize("law", [comparisons, swallowing, kind, infinite, remainders, sign_of_zero, signs, unknown])
def test_a_law_is_what_python_says(law):
    recorded, derived = law_of_motion(law)
    assert law is not unknown or not recorded.why
    wanted = np.errstate(all="ignore")(law)
    for t, a, r in [
        (0.0, 0.3, -0.0),
        (0.1, 0.9, 0.0),
        (1.7, 1.2, 5.0),
        (0.5, 2.0, 6.0),
        (0.3, 0.3, -0.7),
        (2.0, 3.0, 0.4),
    ]:
        out, slope = np.zeros(1), np.zeros(2)
        recorded(t, np.array([a, r]), out)
        np.testing.assert_allclose(out[0], wanted(np.float64(t), np.float64(a), np.float64(r)) if law is not signs else
                                   law(t, a, r), rtol=1e-13, atol=1e-13)  # fmt: skip
        derived(t, np.array([a, r]), slope)


def test_derivatives_are_those_of_the_branch_where_the_law_is_called():
    table = {True: 3.0, False: 5.0}
    laws = {
        "divmod": (lambda t, a, r: -(divmod(a, 5.0)[1] ** 2) * 40.0 if a > 0.2 else -a, -40.0),
        "whole": (lambda t, a, r: -60.0 * a * int(a > 0.0) if a > 0.2 else -a, -60.0),
        "half": (lambda t, a, r: -90.0 * a * ((a > 0.0) / 2) if a > 0.2 else -a, -45.0),
        "kind": (lambda t, a, r: -70.0 * a if isinstance(a, float) and not a.is_integer() else -a, -70.0),
        "table": (lambda t, a, r: -table[bool(a > 0)] * a * a if a > 0.2 else -a, -3.0),
    }
    for name, (law, slope) in laws.items():
        problem = sliding(law)
        assert slopes(problem, 0.5)[0] == pytest.approx(slope), name
        assert problem.outputs(["m.force"]).jacobian(0.0, problem.y0)[0].any()


# ---------------------------------------------------------------- what a law reads, and what it says


LIMIT = 10.0


def saturated(t, a, r):
    return max(-LIMIT, min(LIMIT, -3.0 * a))


def test_a_recorded_law_reads_at_formulate_and_a_called_one_at_each_call(monkeypatch):
    table = np.array([0.0, 1.0, 2.0])
    recorded, called = sliding(saturated), sliding(CalledBack(saturated))
    by_table = sliding(lambda t, a, r: -np.interp(a, [0.0, 1.0, 2.0], table))
    assert way(recorded) == way(by_table) == "recorded"
    monkeypatch.setitem(globals(), "LIMIT", 4.0)
    table[:] = 7.0
    assert (force(recorded, 2.0), force(called, 2.0), force(sliding(saturated), 2.0)) == (-6.0, -4.0, -4.0)
    assert force(by_table, 2.0) == -2.0
    plain = cases.formulated(recorded.system, "index-0", code="plain")
    monkeypatch.setitem(globals(), "LIMIT", 1.0)
    assert force(plain, 2.0) == -4.0  # all code has what was there


def test_the_message_of_a_run_names_the_laws_that_are_called():
    runs = [rbdae.solve(sliding(law), (0.0, 0.1), solver="rbdae:dop853") for law in (saturated, swallowing)]
    assert ["called in Python: force 'm': force" in run.message for run in runs] == [False, True]


def test_a_law_that_makes_floats_has_no_jacobian_and_says_so():
    """An explicit solver needs none."""
    problem = sliding(lambda t, a, r: -float(gamma(a + 2.0)))
    assert end(problem) == pytest.approx(end(sliding(CalledBack(lambda t, a, r: -float(gamma(a + 2.0))))))
    with pytest.raises(ValueError, match=r"force 'm': force: .*cannot be differentiated.*difference_step="):
        slopes(problem, 0.5)

    given = CalledBack(lambda t, a, r: -float(gamma(a + 2.0)), difference_step=1e-5)
    assert slopes(sliding(given), 0.5)[0] == pytest.approx(-gamma(2.5) * digamma(2.5), rel=1e-8)


# ---------------------------------------------------------------- random functions


VARIABLES = ("t", "a", "r")

_ONE = (
    "math.sin", "math.cos", "np.sin", "np.tanh", "math.atan", "abs", "np.abs", "np.arctan", "math.tanh", "np.cbrt",
    "np.sign", "np.floor", "np.sqrt", "np.log", "math.exp", "np.exp", "math.sqrt", "math.log", "math.floor",
    "np.log1p", "np.square", "-", "+", "math.radians", "np.trunc", "np.ceil", "math.fabs", "np.arcsinh", "math.sinh",
    "math.asin", "np.arccos"
)  # fmt: skip
_TWO = (
    "np.maximum({}, {})", "np.minimum({}, {})", "max({}, {})", "min({}, {})", "{} % {}", "{} // {}",
    "np.arctan2({}, {})", "math.atan2({}, {})", "np.hypot({}, {})", "math.hypot({}, {})", "np.copysign({}, {})",
    "np.fmax({}, {})",
    "np.fmin({}, {})", "math.fmod({}, {})", "np.where({} > 0.3, {}, 1.5)", "({}) ** 2 + {}", "({}) / (2.5 + abs({}))",
    "np.heaviside({}, {})", "divmod({}, {})[1]", "math.copysign({}, {})", "{} / {}"
)  # fmt: skip
_ARITHMETIC = ("({} + {})", "({} - {})", "({} * {})")
_TESTS = (
    "{} < {}", "{} >= {}", "({} > {}) == (r < 0.4)", "not {} > {}", "{} < {} < 2.0", "{} > 0.1 and {} < 1.2",
    "{} > 1.0 or {} < -1.0", "math.isfinite({}) and {} > 0.0", "np.isnan({}) or {} > 0.5", "({} > 0.0) != ({} > 0.7)"
)  # fmt: skip
_NO_ARITHMETIC = {
    "state": "STATE['n'] = STATE.get('n', 0) + 1\n    if STATE['n'] % 2 == 0: {v} = {v} + 0.125",
    "hysteresis": "if a > 1.0: STATE['on'] = 1\n    elif a < 0.5: STATE['on'] = -1\n    {v} = {v} + STATE.get('on', 0)",
    "counter": "COUNT.append(1)",
    "random": "{v} = {v} + RNG.standard_normal()",
    "caught": "try: {v} = {v} + math.sqrt(a - 0.7)\n    except ValueError: {v} = {v} - 1.0",
    "swallowed": "try: {v} = {v} + float(round(a, 1))\n    except Exception: {v} = 7.0",
    "bare": "try: {v} = {v} + STEPS[int(4 * a) % 3]\n    except: {v} = 7.0",
    "divided": "try: {v} = {v} + r / abs(r)\n    except ZeroDivisionError: {v} = {v} + 3.0",
    "overflow": "try: {v} = {v} + math.exp(400.0 * a) * 1e-300\n    except OverflowError: {v} = {v} + 9.0",
    "type": "if type(a) in (float, np.float64): {v} = {v} - 1.0",
    "kind": "if isinstance(a, float) and hasattr(a, 'is_integer'): {v} = {v} - 1.0",
    "file": "if a > 1.6: np.savetxt(FOLDER + '/a.txt', [a])",
    "write": "if a > 1.6: FILES.append(open(FOLDER + '/b.txt', 'a')); FILES[-1].close()",
    "print": "print(end='')",
    "whole": "{v} = {v} + STEPS[int(4.0 * a) % 3]",
    "rounded": "{v} = {v} + round(r, 2)",
    "text": "{v} = {v} + len(f'{{a:.1f}}')",
    "loop": "while abs({v}) > 2.0: {v} = {v} / 2.0",
    "global": "global SHARED\n    SHARED = a\n    {v} = {v} + SHARED",
    "sign": "{v} = {v} + (a > 0.2) - (a < -0.4)",
}
"""A line that makes a function more than arithmetic; the last is arithmetic with comparisons."""


class Drawn(NamedTuple):
    """A function, its text, and what it has beside arithmetic; `fresh` makes another one, whose states are new."""

    function: Callable[..., Any]
    text: str
    more: str
    fresh: Callable[[], Callable[..., Any]]


def drawn(seed: int, folder: str) -> Drawn:
    """A random function (t, a, r); functions with `folder` in them may write there."""
    rng = np.random.default_rng(seed)

    def pick(of: Any) -> Any:
        return of[int(rng.integers(len(of)))]

    def number() -> str:
        return pick(
            ["0.25", "1.0", "-1.0", "0.5", "2.0", "np.nan" if rng.random() < 0.1 else "3.0", f"{rng.normal():.3f}"]
        )

    names = [*VARIABLES]

    def expression(depth: int) -> str:
        kind = rng.random()
        if depth == 0 or kind < 0.15:
            return pick([*names, *names, number(), "GAIN", "TABLE[1]", "SETTINGS['k']", "BOX.k"])
        if kind < 0.45:
            one, other = expression(depth - 1), expression(depth - 1)
            return pick(_ARITHMETIC).format(one, other if other != one else "GAIN")  # x - x is 0 in a graph
        if kind < 0.65:
            return f"{pick(_ONE)}({expression(depth - 1)})"
        if kind < 0.85:
            return "(" + pick(_TWO).format(*(f"({expression(depth - 1)})" for _ in range(2))) + ")"
        if kind < 0.9:
            return f"np.interp({expression(depth - 1)}, TABLE, HEIGHTS)"
        if kind < 0.93:
            return f"np.clip({expression(depth - 1)}, -0.7, {expression(0)})"
        if kind < 0.96:
            return f"helper({expression(depth - 1)})"
        return f"({expression(depth - 1)} if {test()} else {expression(depth - 1)})"

    def test() -> str:
        return pick(_TESTS).format(expression(1), expression(1))

    def statements(depth: int, indent: str) -> list[str]:
        out = []
        for _ in range(int(rng.integers(1, 3))):
            kind = rng.random()
            if kind < 0.5 or depth == 0:
                out.append(f"{indent}v = {expression(2)}")
            elif kind < 0.85:
                out.append(f"{indent}if {test()}:")
                out += statements(depth - 1, indent + "    ")
                if rng.random() < 0.5:
                    out.append(f"{indent}else:")
                    out += statements(depth - 1, indent + "    ")
            elif kind < 0.93:
                out += [
                    f"{indent}for k in range(1, {int(rng.integers(2, 4))}):",
                    f"{indent}    v = v * 0.5 + k * {expression(1)}",
                ]
            else:
                out += [f"{indent}if {test()}:", f"{indent}    raise LookupError(f'beyond {{a}}')"]
        return out

    names.append("v")
    more = pick(list(_NO_ARITHMETIC)) if rng.random() < 0.45 else ""
    body = ["    v = 0.1 * a", *statements(2, "    ")]
    if more:
        body.append("    " + _NO_ARITHMETIC[more].format(v="v"))
        body += statements(1, "    ") if rng.random() < 0.5 else []
    helper = ["    if x > 0.4:", "        return math.sin(x) * GAIN", "    return x * x"]
    text = "\n".join(["def helper(x):", *helper, "", "def law(t, a, r):", *body, "    return v", ""])
    source = rng.random() < 0.85

    def fresh() -> Callable[..., Any]:
        box = type("Box", (), {})()
        box.k = 0.75
        scope: dict[str, Any] = {
            "math": math, "np": np, "GAIN": 1.7, "TABLE": np.array([-1.0, 0.25, 0.5, 1.5]), "SETTINGS": {"k": -0.3},
            "HEIGHTS": [0.0, 1.0, -0.5, 0.75], "BOX": box, "STATE": {}, "COUNT": [], "FILES": [],
            "STEPS": [0.5, -0.25, 2.0],
            "FOLDER": folder,
            "RNG": np.random.default_rng(seed), "SHARED": 0.0,
        }  # fmt: skip
        name = f"<random law {seed}>"
        if source:
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), scope)
        law: Callable[..., Any] = scope["law"]
        return law

    return Drawn(fresh(), text, more or ("" if source else "no source"), fresh)


def _value(function: Any, point: Any) -> Any:
    """What it gives, or the kind of its exception."""
    with np.errstate(all="ignore"):
        try:
            return float(function(*point))
        except Exception as error:
            return type(error)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, type) or isinstance(other, type):
        return one is other
    return one == other or (one != one and other != other) or abs(one - other) <= 1e-13 * max(1.0, abs(other))


def _points(seed: int) -> list[tuple[float, ...]]:
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(95, 3)) * rng.choice([0.5, 2.0, 30.0], size=(95, 1))
    drawn[:, 0] = abs(drawn[:, 0])
    special = [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.5, -1.0, 0.5), (0.0, 0.25, -0.0), (2.0, 1.5, -1.0)]
    return [tuple(map(float, point)) for point in (*drawn, *special)]


def _wrong(seed: int, folder: Path) -> str:
    """What is not as it should be of one random function; nothing else may be."""
    of = drawn(seed, str(folder))
    recorded, derived = law_of_motion(of.function)
    if [*folder.iterdir()]:
        return "it has written a file"
    other = of.fresh()
    law = recorded.law
    if law is None:  # the function itself, with its states
        for t, a, r in _points(seed):
            out = np.zeros(1)
            mine = _value(lambda t, a, r, out=out: recorded(t, np.array([a, r]), out) or out[0], (t, a, r))
            wanted = _value(other, (t, a, r))
            if mine is not wanted and not (mine == wanted or (mine != mine and wanted != wanted)):
                return f"it gives {mine} for {wanted} at {t, a, r}"
        return ""
    if of.more not in ("", "sign"):
        return f"it is recorded with {of.more}"
    for t, a, r in _points(seed):
        x, out, J = np.array([a, r]), np.zeros(1), np.zeros(2)
        mine = _value(lambda t, x, out=out: recorded(t, x, out) or out[0], (t, x))
        wanted = _value(of.function, (np.float64(t), np.float64(a), np.float64(r)))
        regular = law.at(t, x)[1]
        if wanted is ZeroDivisionError and not isinstance(mine, type) and not math.isfinite(mine):
            continue  # a recorded law divides by zero as NumPy does
        if not (_same(mine, wanted) if regular else _same(mine, _value(of.function, (t, a, r)))):
            return f"it gives {mine} for {wanted} at {t, a, r}"
        if not regular or isinstance(wanted, type) or not math.isfinite(wanted):
            continue
        try:
            near = recorded.at(t, x).by_x.at(t, x)[0]
        except ArithmeticError:  # where Python's floats divide by zero, and NumPy's do not
            continue
        derived(t, x, J)
        finite = np.isfinite(J) & np.isfinite(near)
        singular = not finite.all() and a in (0.0, t, r)
        if not (singular or np.all(abs(J - near)[finite] <= 1e-13 * np.maximum(1.0, abs(near[finite])))):
            return f"its derivatives are {J}, not {near}, at {t, a, r}"
    return ""


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_random_functions_are_recorded_as_they_are_or_called(tmp_path):
    wrong = {}
    for seed in range(cases.count(100, 2000)):
        for file in tmp_path.iterdir():
            file.unlink()
        said = _wrong(seed, tmp_path)
        if said:
            wrong[seed] = f"{said}\n{drawn(seed, str(tmp_path)).text}"
    assert not wrong, "\n".join(f"{seed}: {said}" for seed, said in wrong.items())


def test_derivatives_of_calls_are_those_of_differences():
    """Of smooth functions that are called: central differences."""
    laws = [
        lambda t, a, r: (
            math.sin(a) * math.exp(-r) + np.hypot(a, r) ** 1.5 / (1.0 + r * r) + np.arctan2(a, r) + a**3 % 7.0
        ),
        lambda t, a, r: np.cross([a, r, 1.0], [r, 2.0, a * a])[0] + np.linalg.norm([a, r]) + np.clip(a, -1.0, r),
        lambda t, a, r: (
            math.dist((a, r), (1.0, 2.0)) + math.log(a + 2.0, 3.0) + np.cbrt(a * r) + min(a, r * r) + abs(-a)
        ),
    ]
    for law in laws:
        recorded, _ = law_of_motion(CalledBack(law))
        x, h = np.array([0.7, 0.4]), 1e-6
        wanted = [(law(0.1, *(x + h * e)) - law(0.1, *(x - h * e))) / (2.0 * h) for e in np.eye(2)]
        np.testing.assert_allclose(recorded.at(0.1, x).by_x.at(0.1, x)[0], wanted, rtol=1e-8)
