"""Five mechanisms through the doors of C, CasADi and JAX, and a called law, which no door lets pass."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import rbdae
from rbdae.models import andrews, arm6, chain, quick_return_shaper
from tests.handover.test_c import computes_the_same
from tests.handover.test_casadi import jacobian
from tests.handover.test_readings import driven_four_bar

jax.config.update("jax_enable_x64", True)

MECHANISMS = {
    "shaper": quick_return_shaper,
    "andrews": andrews,
    "four_bar": partial(driven_four_bar, redundant=True),
    "arm": arm6,
    "chain": chain,
}
FORMS = {"shaper": "index-2", "andrews": "index-1", "four_bar": "null-space", "arm": "index-1", "chain": "index-3"}
ALL = [(name, form) for name in MECHANISMS for form in ("index-3", "index-2", "index-1", "ggl", "null-space")]
CASES = [*FORMS.items(), *(pytest.param(*case, marks=pytest.mark.nightly) for case in ALL if case not in FORMS.items())]


def formulated(name: str, form: str, **options: Any) -> rbdae.Problem:
    return rbdae.formulate(MECHANISMS[name](**options), form, redundant="minimum-norm")


@pytest.mark.parametrize(("name", "form"), CASES)
def test_c(name: str, form: str, tmp_path: Path) -> None:
    computes_the_same(formulated(name, form), tmp_path / f"{name}.c", "-O0")


@pytest.mark.nightly
def test_a_long_chain_in_c(tmp_path: Path) -> None:
    computes_the_same(formulated("chain", "index-3", n=100), tmp_path / "chain.c", "-O0")


def at(problem: rbdae.Problem) -> tuple[tuple[Any, ...], Any, Any, str]:
    """Arguments, value and Jacobian of what describes a problem, and its name."""
    rng, t = np.random.default_rng(5), 0.1
    y, yd = problem.y0 + 1e-3 * rng.standard_normal(problem.n), problem.yd0 + rng.standard_normal(problem.n)
    if problem.kind == "ode":
        return (t, y), problem.rhs(t, y), problem.rhs_jacobian(t, y), "rhs"
    return (t, y, yd), problem.residual(t, y, yd), problem.jacobian(t, y, yd, 0.0), "residual"


def close(found: Any, wanted: Any, tolerance: float, size: Any = None) -> None:
    assert np.abs(found - wanted).max() <= tolerance * np.abs(wanted if size is None else size).max()


@pytest.mark.parametrize(("name", "form"), CASES)
def test_casadi(name: str, form: str) -> None:
    problem = formulated(name, form)
    given, value, slopes, what = at(problem)
    model = problem.casadi()
    function = getattr(model, what)
    close(np.array(function(*given, model.u0, model.p0)).ravel(), value, 1e-13)
    close(jacobian(function)(*given, model.u0, model.p0), slopes, 1e-12)


@pytest.mark.parametrize(("name", "form"), CASES)
def test_jax(name: str, form: str) -> None:
    problem = formulated(name, form)
    (t, y, *yd), value, slopes, what = at(problem)
    function, along = getattr(problem.jax(), what), np.cos(np.arange(problem.n))
    with jax.disable_jit():  # which compiles each kind of operation once
        found, slope = jax.jvp(lambda y: function(t, y, *yd), (y,), (along,))
    close(found, value, 1e-13)
    close(slope, slopes @ along, 1e-12, slopes)


DOORS: dict[str, Any] = {
    "c_source": lambda problem, path: problem.c_source(path),
    "cuda_source": lambda problem, path: problem.cuda_source(path),
    "fmu": lambda problem, path: problem.fmu(path),
    "casadi": lambda problem, path: problem.casadi().rhs,
    "jax": lambda problem, path: problem.jax().rhs(0.0, problem.y0),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_called_law_is_refused_by_name_with_the_remedy(door: str, tmp_path: Path) -> None:
    system = rbdae.models.n_four_bar(1)
    law = lambda t, angle, rate: 8.0 - float(str(rate))  # noqa: E731
    system.add_force(rbdae.forces.Motor(system.joints[0], torque=law, name="odd motor"))
    with pytest.raises(ValueError, match=r"calls Python: .*'odd motor'.*write laws with arithmetic.*problem\.laws"):
        DOORS[door](rbdae.formulate(system, "null-space"), tmp_path / "x")
