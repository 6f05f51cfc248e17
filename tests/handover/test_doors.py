"""Five mechanisms through the doors of C, CasADi and JAX, and a called law, which no door lets pass."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import rbdae
from tests.handover.mechanisms import MECHANISMS
from tests.handover.test_c import built, computes_the_same
from tests.handover.test_casadi import jacobian
from tests.handover.test_readings import driven_four_bar

jax.config.update("jax_enable_x64", True)

MODELS = {name: model for name, (model, _) in MECHANISMS.items()} | {"chain": rbdae.models.chain}
FORMS = {"shaper": "index-2", "andrews": "index-1", "four-bar": "null-space", "arm6": "index-1", "chain": "index-3"}
ALL = [(name, form) for name in MODELS for form in ("index-3", "index-2", "index-1", "ggl", "null-space")]
CASES = [*FORMS.items(), *(pytest.param(*case, marks=pytest.mark.nightly) for case in ALL if case not in FORMS.items())]


def formulated(name: str, form: str) -> rbdae.Problem:
    return rbdae.formulate(MODELS[name](), form, redundant="minimum-norm")


@pytest.mark.parametrize(("name", "form"), CASES)
def test_c(name: str, form: str, tmp_path: Path) -> None:
    computes_the_same(formulated(name, form), tmp_path / "m.c", "-O0")


@pytest.mark.nightly
def test_a_long_chain_in_c(tmp_path: Path) -> None:
    computes_the_same(rbdae.formulate(MECHANISMS["chain"][0](), "index-3"), tmp_path / "m.c", "-O0")


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


@pytest.mark.parametrize("form", ["index-3", "hiller-anantharaman", "null-space"])
def test_radau5(form: str, tmp_path: Path) -> None:
    """FCN, JAC and MAS are those of `with_constant_mass`, in the order of the classes."""
    problem = rbdae.formulate(driven_four_bar(), form)
    library, mass = built(problem.c_source(tmp_path / "m.c", kind="radau5"), "-O0"), problem.with_constant_mass()
    n, order = mass.n, np.argsort(mass.variable_index, kind="stable")
    size, one, bad, t = ctypes.c_int(n), ctypes.c_int(1), ctypes.c_int(0), ctypes.c_double(0.2)
    by = ctypes.byref

    def double(name: str) -> Any:
        return np.array((ctypes.c_double * n).in_dll(library, name))

    u = mass.u0 + 1e-2 * np.random.default_rng(4).standard_normal(n)
    z, f, slopes, diagonal = u[order], np.full(n, np.nan), np.full((n, n), np.nan), np.full(n, np.nan)
    library.m_fcn(by(size), by(t), z.ctypes, f.ctypes, z.ctypes, by(bad))
    library.m_jac(by(size), by(t), z.ctypes, slopes.ctypes, by(size), z.ctypes, by(bad))
    library.m_mas(by(size), diagonal.ctypes, by(one), z.ctypes, by(bad))
    close(f, mass.f(0.2, u)[order], 1e-13)
    close(slopes.T, mass.jacobian(0.2, u)[np.ix_(order, order)], 1e-13)
    assert (diagonal == mass.diagonal[order]).all() and (double("m_z0") == mass.u0[order]).all() and bad.value == 0
    classes = [(mass.variable_index == k).sum() for k in (1, 2, 3)]
    assert [*(ctypes.c_int * 3).in_dll(library, "m_classes")] == classes
