"""Nothing that is passed to code of one model ends the process: it is refused, or gives numbers that are none."""

from __future__ import annotations

import subprocess
import sys
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import traced_cases
from cases import Pairing, count
from traced_cases import Case

import rbdae

SCRIPT = """
import sys
import numpy as np
import rbdae

number = int(sys.argv[1])
rng = np.random.default_rng(3)
PROBLEMS = [
    rbdae.formulate(rbdae.models.MODELS[name](), form, consistent="project")
    for name, form in (("heavy_top", "index-0"), ("linked_bodies", "index-2"), ("spatial_slider_crank", "null-space"))
]
BAD = [np.nan, np.inf, -np.inf, 1e308, -1e200, 1e-320, -0.0, 0.0]


def vector(n, good):
    out = good + rng.standard_normal(n)
    for _ in range(rng.integers(4)):
        out[rng.integers(n)] = BAD[rng.integers(len(BAD))]
    wrong = [
        lambda v: v.astype(np.float32), lambda v: v.astype(object), lambda v: v[:-1], lambda v: v.tolist(),
        lambda v: None, lambda v: np.repeat(v, 2)[::2], lambda v: v.astype(">f8"), lambda v: v.reshape(1, -1),
        lambda v: np.frombuffer(b"x" + v.tobytes(), np.uint8)[1:].view(np.float64), lambda v: np.ma.array(v),
        lambda v: np.broadcast_to(v[:1], v.shape), lambda v: "state",
    ]
    return wrong[rng.integers(len(wrong))](np.nan_to_num(out, posinf=1.0, neginf=1.0)) if rng.random() < 0.3 else out


def result(shape):
    good = np.empty(shape)
    wrong = [
        lambda: np.empty(shape, np.float32), lambda: np.empty((*shape, 1)), lambda: None, lambda: np.empty(shape)[::-1],
        lambda: np.empty(shape, order="F"), lambda: good, lambda: np.empty(shape, int), lambda: [0.0] * shape[0],
        lambda: np.broadcast_to(np.empty(1), shape), lambda: np.empty(tuple(k - 1 for k in shape)),
        lambda: np.empty(8 * int(np.prod(shape)) + 1, np.uint8)[1:].view(np.float64).reshape(shape),
    ]
    if rng.random() < 0.2:
        good.flags.writeable = False
    return wrong[rng.integers(len(wrong))]() if rng.random() < 0.3 else good


refused = 0
for k in range(number):
    p = PROBLEMS[rng.integers(len(PROBLEMS))]
    n, m = p.n, p.n_equations
    names = ["residual", "jacobian", "jacobian_data"] + (["rhs", "rhs_jacobian"] if p.kind == "ode" else [])
    name = names[rng.integers(len(names))]
    shapes = {"residual": (m,), "jacobian": (m, n), "jacobian_data": (p.sparsity.nnz,)}
    shapes |= {"rhs": (n,), "rhs_jacobian": (n, n)}
    t = [0.0, np.nan, 1e300, np.float64(1.0), 1, True, None, "now", 1j][rng.integers(9) if rng.random() < 0.3 else 0]
    arguments = [t, vector(n, p.y0)]
    if not name.startswith("rhs"):
        arguments.append(vector(n, p.yd0))
    if name in ("jacobian", "jacobian_data"):
        arguments.append([1.0, np.nan, np.inf, None][rng.integers(4) if rng.random() < 0.3 else 0])
    arguments.append(result(shapes[name]))
    if rng.random() < 0.02:
        arguments = arguments[: rng.integers(len(arguments))]
    try:
        getattr(p.callbacks, name)(*arguments)
    except (TypeError, ValueError):
        refused += 1
assert number // 20 < refused < number, refused
print("done", refused)
"""


@pytest.mark.sampled
def test_bad_states_do_not_end_the_process():
    number = count(250, 10_000)
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", SCRIPT, str(number)], capture_output=True, text=True
    )
    assert run.returncode == 0 and run.stdout.startswith("done"), run.stderr[-3000:]


MOST_UNKNOWNS = 60
CASES = [
    Case("model-pendulum", Pairing("index-2", "directors", "angular")),
    Case("model-bruels_cardona_top", Pairing("ggl", "linear", "angular")),
    Case("model-heavy_top", Pairing("index-0", "rotation-vector", "angular")),
    *traced_cases.drawn(7)[: count(0, 300)],
]


def _callbacks(problem: rbdae.Problem) -> dict[str, Callable[..., Any]]:
    """As functions of (t, y, yd), by name."""
    n, m = problem.n, problem.n_equations
    found = problem.callbacks
    size = problem.sparsity.nnz

    def filled(call: Callable[..., None], shape: Any, *arguments: Any) -> Any:
        out = np.full(shape, np.nan)
        call(*arguments, out)
        return out

    out: dict[str, Callable[..., Any]] = {
        "residual": lambda t, y, yd: filled(found.residual, m, t, y, yd),
        "jacobian": lambda t, y, yd: filled(found.jacobian, (m, n), t, y, yd, 3.0),
        "jacobian_data": lambda t, y, yd: filled(found.jacobian_data, size, t, y, yd, 3.0),
    }
    if problem.kind == "ode":
        out["rhs"] = lambda t, y, yd: filled(found.rhs, n, t, y)
        out["rhs_jacobian"] = lambda t, y, yd: filled(found.rhs_jacobian, (n, n), t, y)
    return out


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_finite_beside_a_nan_does_not_depend_on_it(case: Case):
    """0 x is folded to 0, so entries that do not depend on y[k] stay numbers where y[k] is none, as in C by hand; the
    plain kernel has nan in more of them. A number that did depend on it would be a wrong one."""
    try:
        traced, plain = case.problems()
    except ValueError as error:
        assert "singular" in str(error)
        return
    if traced.n > MOST_UNKNOWNS:
        return
    rng = np.random.default_rng(zlib.crc32(str(case).encode()))
    other = _callbacks(plain)
    lost = 0
    for name, call in _callbacks(traced).items():
        for k in rng.permutation(traced.n)[:8]:
            y = traced.y0.copy()
            y[k] = np.nan
            found = call(traced.t0, y, traced.yd0)
            finite = np.isfinite(found)
            lost += not finite.all()
            assert finite[np.isfinite(other[name](traced.t0, y, traced.yd0))].all(), (name, traced.labels[k])
            for change in (-0.1, 0.01, 0.3):
                y[k] = traced.y0[k] + change
                here = call(traced.t0, y, traced.yd0)[finite]
                level = 1e-13 * np.abs(here).max(initial=0.0)  # at a nan a guard may have handed over
                np.testing.assert_allclose(found[finite], here, rtol=0.0, atol=level, err_msg=f"{name} {k}")
    assert lost
