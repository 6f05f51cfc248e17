"""Random functions of users, as source text: arithmetic with branches, and what makes a function more than that."""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

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
