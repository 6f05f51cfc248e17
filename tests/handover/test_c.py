"""C files of problems: their values, and programs around them."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rbdae
from rbdae.handover.c import identifiers
from rbdae_adapters.sundials import ADAPTER
from tests.support.cases import PAIRINGS, Pairing, covering

HERE = Path(__file__).parent
MODELS = ("heavy_top", "linked_bodies", "driven_pendulum", "rotations_top")
STRICT = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror"]
LIBRARIES = ["ida", "nvecserial", "sunmatrixdense", "sunlinsoldense"]


def built(path: Path, *more: str) -> Any:
    """A C file as a library."""
    library = path.with_suffix(".so")
    subprocess.run([*STRICT, *more, "-shared", "-fPIC", "-o", library, path, "-lm"], check=True)
    return ctypes.CDLL(str(library))


def called(function: Any, n: int, *arguments: Any, u: Any = (0.0,)) -> Any:
    """The n results of one of its functions."""
    out = np.full(n, np.nan)
    arrays = [np.asarray(x, dtype=float) for x in (*arguments, u, [0.0], out)]
    given = [ctypes.c_double(x) if x.ndim == 0 else x.ctypes.data_as(ctypes.c_void_p) for x in arrays[:-1]]
    assert function(*given, out.ctypes.data_as(ctypes.c_void_p)) == 0
    return out


@pytest.mark.sampled
@pytest.mark.parametrize(("model", "pairing"), covering([(m, p) for m in MODELS for p in PAIRINGS], 42))
def test_values(model: str, pairing: Pairing, tmp_path: Path) -> None:
    form, rotation, velocity = pairing
    p = rbdae.formulate(getattr(rbdae.models, model)(), form, rotation=rotation, velocity=velocity)
    library, rng = built(p.c_source(tmp_path / f"{model}.c")), np.random.default_rng(3)
    y, yd = p.y0 + 1e-3 * rng.standard_normal(p.n), p.yd0 + rng.standard_normal(p.n)

    def agrees(name: str, wanted: Any, *arguments: Any) -> None:
        function, found = library[f"{model}_{name}"], np.empty(wanted.shape[::-1])
        if wanted.ndim == 1:
            found = called(function, len(wanted), *arguments)
        else:
            rows, pointers = (library[f"{model}_{name}_{part}"] for part in ("rows", "pointers"))
            entries = called(function, (ctypes.c_int * (p.n + 1)).in_dll(library, pointers.__name__)[p.n], *arguments)
            addresses = (x.ctypes.data_as(ctypes.c_void_p) for x in (entries, found))
            library[f"{model}_dense"](*wanted.shape, rows, pointers, *addresses)
        assert np.abs(found.T - wanted).max() <= 1e-13 * np.abs(wanted).max()

    agrees("residual", p.residual(0.1, y, yd), 0.1, y, yd)
    agrees("jacobian", p.jacobian(0.1, y, yd, 2.5), 0.1, y, yd, 2.5)
    if p.kind == "ode":
        agrees("rhs", p.rhs(0.1, y), 0.1, y)
        agrees("rhs_jacobian", p.rhs_jacobian(0.1, y), 0.1, y)


@pytest.mark.parametrize("form", ["index-3", "index-0", "null-space"])
def test_long_models_are_loops(form: str, tmp_path: Path) -> None:
    """Values of a chain of unequal links with a motor, whose torque is an input, and its projection."""
    system = rbdae.System()
    before, end = system.ground, (0.0, 0.0, 0.0)
    for k in range(40):
        link = system.add_body(f"link{k}", mass=1.0 + 0.01 * k, inertia=(0.1, 0.2, 0.2), position=(k + 0.5, 0, 0))
        ends = {"at_a": end, "at_b": (-0.5, 0, 0)}
        joint = rbdae.joints.Spherical(before, link, **ends)
        if k == 0:
            joint = rbdae.joints.Revolute(before, link, **ends, axis_a=(0, 1, 0), name="pin")
            system.add_force(rbdae.forces.Motor(joint, torque=system.add_input("torque", unit="N m"), name="motor"))
        system.add_joint(joint)
        before, end = link, (0.5, 0.0, 0.0)
    p = rbdae.formulate(system, form)
    path, rng, u = p.c_source(tmp_path / "chain.c"), np.random.default_rng(3), np.array([30.0])
    text, library = path.read_text(), built(path)
    assert text.count("\n") < 12_000 and "Left out: a model of 40 bodies is too long for quantities" in text
    y, yd = p.y0 + 1e-3 * rng.standard_normal(p.n), p.yd0 + rng.standard_normal(p.n)

    def agrees(name: str, wanted: Any, *arguments: Any) -> None:
        found = called(library[f"chain_{name}"], wanted.size, *arguments, u=u).reshape(wanted.shape)
        assert np.abs(found - wanted).max() <= 1e-13 * np.abs(wanted).max()

    if p.kind == "ode":
        agrees("rhs", p.rhs(0.1, y, u=u), 0.1, y)
        agrees("rhs_jacobian", p.rhs_jacobian(0.1, y, u=u).T, 0.1, y)
    else:
        agrees("residual", p.residual(0.1, y, yd, u=u), 0.1, y, yd)
        agrees("jacobian", p.sparse_jacobian(0.1, y, yd, 2.5, u=u).data, 0.1, y, yd, 2.5)
    closed, zero = y.copy(), np.zeros(1)
    at = [x.ctypes.data_as(ctypes.c_void_p) for x in (closed, u, zero)]
    assert library.chain_project(ctypes.c_double(0.1), *at, ctypes.c_double(1e-14), 10) == 0
    assert np.abs(closed - p.project(0.1, y)).max() <= 1e-10
    if form == "null-space":
        with pytest.raises(ValueError, match=r"too long for residual of null-space; .* kind='cvode'"):
            p.c_source(path, kind="ida")


@pytest.mark.parametrize("formulation", ["index-3", "index-2", "index-1", "null-space"])
def test_ida_in_c(formulation: str, tmp_path: Path) -> None:
    """SUNDIALS in C makes the steps that it makes here, from the start, classes and pattern in the file."""
    p = rbdae.formulate(rbdae.models.heavy_top(), formulation)
    path, own = p.c_source(tmp_path / "top.c", kind="ida"), ADAPTER.native(p, "ida")
    names = [f'-DMODEL="{path}"', "-DNAME(x)=top_##x"]
    libraries = [f"-lsundials_{name}" for name in LIBRARIES]
    subprocess.run([*STRICT, *names, "-o", tmp_path / "ida", HERE / "ida.c", *libraries, "-lm"], check=True)
    given = [0.5, own.rtol, np.min(own.atol), own.options["first_step"]]
    ran = subprocess.run([tmp_path / "ida", *map(repr, map(float, given))], check=True, capture_output=True, text=True)
    steps, *y = map(float, ran.stdout.split())
    wanted = rbdae.solve(p, (0.0, 0.5), solver="sundials:ida", linsolver="dense", projection=False)
    assert steps == pytest.approx(wanted.stats.steps, rel=0.01)
    assert np.abs(np.array(y) - wanted.y[-1])[p.differential].max() < 1e-5


def test_fortran(tmp_path: Path) -> None:
    p = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    subprocess.run([*STRICT, "-c", "-o", tmp_path / "top.o", p.c_source(tmp_path / "top.c")], check=True)
    program = [HERE / "rk4.f90", tmp_path / "top.o", "-J", tmp_path, "-o", tmp_path / "rk4"]
    subprocess.run(["gfortran", "-Wall", "-Werror", *program, "-lm"], check=True)
    found = subprocess.run([tmp_path / "rk4"], check=True, capture_output=True, text=True).stdout.split()
    y, h = p.y0, 1e-3
    for i in range(100):
        t, k = i * h, [p.rhs(i * h, y)]
        for a in (0.5, 0.5, 1.0):
            k.append(p.rhs(t + a * h, y + a * h * k[-1]))
        y = y + h / 6.0 * (k[0] + 2.0 * k[1] + 2.0 * k[2] + k[3])
    assert np.array(found, dtype=float) == pytest.approx(y, rel=1e-12, abs=1e-12)


def test_names_and_refusals(tmp_path: Path) -> None:
    names = ["a.b", "a b", "2", "int", "y", "j0", "v7", "ä"]
    assert identifiers(names) == ["a_b", "a_b_2", "x2", "int_2", "y_2", "j0_2", "v7_2", "x"]
    system = rbdae.System()
    body = system.add_body('rod "/* 1', mass=1.0, inertia=(1.0, 1.0, 1.0))
    joint = system.add_joint(rbdae.joints.Revolute(system.ground, body, at_b=(0, 0, 1), axis_a=(0, 1, 0), name="int"))
    built(rbdae.formulate(system, "index-2").c_source(tmp_path / "double.c"))
    system.add_force(rbdae.forces.Motor(joint, torque=lambda t, angle, rate: float(str(t)), name="odd"))
    p = rbdae.formulate(system, "index-2")
    with pytest.raises(ValueError, match="odd"):
        p.c_source(tmp_path / "b.c")
    with pytest.raises(ValueError, match="kind='ida'"):
        p.c_source(tmp_path / "b.c", kind="cvode")
