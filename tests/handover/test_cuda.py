"""The CUDA source built by g++ for the host: right-hand side and runs beside those of rbdae, and poisoned runs."""

import ctypes
import runpy
from pathlib import Path

import numpy as np
import pytest

import rbdae
from tests.handover.mechanisms import MECHANISMS, mechanism

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples/handover_cuda.py"))
ENDED, GUARD, TOO_SMALL, TOO_MANY, NOT_FINITE = range(1, 6)
compiled, run, TOL = EXAMPLE["compiled"], EXAMPLE["run"], 1e-7
ASKED = {"solver": "rbdae:dopri5", "rtol": TOL, "atol": TOL}
EXPORT = '\nextern "C" int f(real t, const real *y, real *out) { return rhs(t, y, 0, 0, out); }\n'
CASES = [("heavy_top", "index-0", 1.0, {}), ("linked_bodies", "null-space", 0.5, {"first_step": 1e-3})]


@pytest.mark.parametrize("model, form, t_end, first", CASES)
def test_runs_are_those_of_dopri5(model, form, t_end, first, tmp_path):
    problem = rbdae.formulate(getattr(rbdae.models, model)(), form)
    source = problem.cuda_source(tmp_path / "model.cu")
    source.write_text(source.read_text(encoding="utf-8") + EXPORT, encoding="utf-8")
    library, random = compiled(source, np.float64), np.random.default_rng(5)
    starts = [problem.at(0.0, problem.y0 + 0.05 * random.standard_normal(problem.n)) for _ in range(20)]
    y0 = np.stack([start.y0 for start in starts], axis=1)
    wanted, out = starts[0].rhs(0.0, starts[0].y0), np.empty(problem.n)
    assert library.f(ctypes.c_double(0.0), starts[0].y0.ctypes, out.ctypes) == 0
    np.testing.assert_allclose(out, wanted, rtol=0, atol=1e-13 * np.abs(wanted).max())
    y, t, info = run(library, y0, t_end, TOL, **first)
    runs = [rbdae.solve(start, (0.0, t_end), **ASKED, **first) for start in starts]
    assert (info[0] == ENDED).all() and (t == t_end).all()
    np.testing.assert_allclose(info[2:].T, [(one.stats.steps, one.stats.rejected) for one in runs], rtol=0.01)
    np.testing.assert_allclose(y.T, [one.y[-1] for one in runs], rtol=0, atol=0.1 * TOL)
    y, single = run(library, y0, 0.2, 1e-9)[0], run(compiled(source, np.float32), y0.astype(np.float32), 0.2, 1e-6)
    np.testing.assert_allclose(single[0], y, rtol=0, atol=1e-4 * np.abs(y).max())


def test_poisoned_runs_have_their_codes_and_the_others_are_as_before(tmp_path):
    top = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    library = compiled(top.cuda_source(tmp_path / "top.cu"), np.float64)
    y0 = np.repeat(top.y0[:, None], 5, axis=1)
    y0[4, 1:4] = np.nan, 1e18, 1e7
    y, t, info = run(library, y0, 1.0, TOL, max_steps=500)
    assert info[0].tolist() == [ENDED, NOT_FINITE, TOO_SMALL, TOO_MANY, ENDED]
    assert t[1] == t[2] == 0.0 < t[3] < 1.0 and info[2, 3] == 500
    assert (y[:, [0, 4]] == run(library, y0[:, [0, 4]], 1.0, TOL)[0]).all()
    y0 = np.delete(EXAMPLE["starts"](top, 20), (1, 3, 5), axis=1)
    np.testing.assert_allclose(EXAMPLE["by_diffrax"](20), run(library, y0, 1.0, TOL)[0], rtol=0, atol=1e-5)
    bars = rbdae.formulate(rbdae.models.n_four_bar(1), "null-space")  # comes to a singular position
    library = compiled(bars.cuda_source(tmp_path / "bars.cu"), np.float64)
    y0 = np.outer(bars.y0, (1.0, 0.0, 1.0))  # one without quaternions
    y, t, info = run(library, y0, 10.0, TOL)
    assert info[0].tolist() == [GUARD] * 3 and (info[1] > 0).all() and np.isfinite(y).all()
    assert t[1] == 0.0 < t[0] == t[2] < 10.0 and info[3, 0] > 10
    assert run(library, y0, 0.1, TOL)[2][0].tolist() == [ENDED, GUARD, ENDED]


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_run_and_each_end_has_its_code(name, tmp_path):
    problem, t_end = mechanism(name)
    source = problem.cuda_source(tmp_path / "model.cu")
    library, random = compiled(source, np.float64, (*EXAMPLE["HOST"], "-O0")), np.random.default_rng(5)
    near = (problem.y0 + 0.01 * random.standard_normal(problem.n) for _ in range(2))
    starts = [problem.at(0.0, problem.project(0.0, y)) for y in near]
    y0 = np.column_stack([*(start.y0 for start in starts), *3 * [problem.y0]])
    y0[-1, 2:4], y0[:, 4] = (np.nan, 1e18), 0.0
    y, t, info = run(library, y0, t_end, TOL)
    runs = [rbdae.solve(start, (0.0, t_end), **ASKED) for start in starts]
    without = {"andrews": GUARD, "arm6": NOT_FINITE, "four-bar": NOT_FINITE}.get(name, ENDED)  # rotations
    assert info[0].tolist() == [ENDED, ENDED, NOT_FINITE, TOO_SMALL, without]
    assert (t[:2] == t_end).all() and (t[2:4] == 0.0).all() and (info[1, 4] > 0) == (without == GUARD)
    steps = [(one.stats.steps, one.stats.rejected) for one in runs]
    np.testing.assert_allclose(info[2:, :2].T, steps, rtol=0.01)
    np.testing.assert_allclose(y[:, :2].T, [one.y[-1] for one in runs], rtol=0, atol=0.1 * TOL)
    assert run(library, y0[:, :2], t_end, TOL, max_steps=3)[2][0].tolist() == [TOO_MANY, TOO_MANY]


def test_each_run_has_its_inputs_and_parameters_and_a_dae_is_refused(tmp_path):
    system = rbdae.System()
    rod = system.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0, 0, -0.5))
    pin = system.add_joint(rbdae.joints.Revolute(system.ground, rod, at_b=(0, 0, 0.5), axis_a=(1, 0, 0)))
    system.add_force(rbdae.forces.Motor(pin, torque=system.add_input("torque")))
    problem, torques, masses = rbdae.formulate(system, "null-space"), [[0.3, -1.0, 2.0]], [[1.0, 1.0, 2.0]]
    library = compiled(problem.cuda_source(tmp_path / "rod.cu", parameters=["rod.mass"]), np.float64)
    y = run(library, np.repeat(problem.y0[:, None], 3, axis=1), 0.5, TOL, u=torques, p=masses)[0]
    each = zip(torques[0], (problem.with_parameters({"rod.mass": mass}) for mass in masses[0]), strict=True)
    runs = [rbdae.solve(other, (0.0, 0.5), **ASKED, inputs={"torque": torque}) for torque, other in each]
    np.testing.assert_allclose(y.T, [one.y[-1] for one in runs], rtol=0, atol=0.1 * TOL)
    with pytest.raises(ValueError, match=r"is a DAE of index 2; formulate the system as one of index-0, .*null-space"):
        rbdae.formulate(system, "index-2").cuda_source(tmp_path / "dae.cu")
