"""Every example is imported here, and something that it claims is checked."""

from __future__ import annotations

import ast
import ctypes
import importlib.util
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rbdae
from rbdae import study

FOLDER = Path(__file__).parents[2] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_example_is_tested():
    tested = "".join(
        path.read_text(encoding="utf-8") for path in (Path(__file__), Path(__file__).with_name("test_mechanisms.py"))
    )
    for path in FOLDER.glob("*.py"):
        assert f'load("{path.stem}")' in tested, f"{path.name} has no test"


PAGES = ("README.md", *(f"docs/{name}.md" for name in ("start", "quantities", "inputs", "rotations")))
"""Pages with examples; the code of docs/equations.md has a test of its own."""


@pytest.mark.parametrize("page", PAGES)
def test_the_snippets_of_pages_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (FOLDER.parent / page).read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert snippets
    for snippet in snippets:
        names = {}
        exec(compile(snippet, page, "exec"), names)
        if "solution" not in names:  # a motion in closed form: |v| = |Omega x (0, 0.5, 0)|
            x, _, z = names["Omega"].T
            np.testing.assert_allclose(np.linalg.norm(names["tip"], axis=1), 0.5 * np.hypot(x, z), rtol=1e-12)
            continue
        solution = names["solution"]
        assert solution.success
        energy = solution.energy
        assert np.abs(energy.balance).max() < 1e-5 * abs(energy.total[0])
        assert solution.drift.position.max() < 1e-12
        written = re.findall(r"\(\"([\w-]+\.\w+)\"\)(?=\n|  #)", snippet)
        assert written and all((tmp_path / name).exists() for name in written), written
        if "run" in names:  # of IDA by hand: the run that rbdae drives
            angle = names["problem"].joints(names["run"].t, names["run"].y)["revolute-1"].angle[-1]
            turns = (angle - solution.joints["revolute-1"].angle[-1]) / (2.0 * np.pi)
            assert abs(turns - round(turns)) < 1e-5
        if "events=" in snippet:
            printed = [float(t) for t in re.findall(r"0\.\d+", snippet.split("print(solution.events[0].t)")[1])[:3]]
            np.testing.assert_allclose(solution.events[0].t, printed, rtol=0, atol=1e-5)


def _numbers(text):
    return [float(number) for number in re.findall(r"-?\b\d+(?:\.\d+)?(?:e-?\d+)?", text)]


@pytest.mark.parametrize("page", ("recipes", "by-hand", "handover-casadi-jax"))
def test_the_blocks_of_a_page_print_their_numbers(page, tmp_path, monkeypatch, capsys):
    """In one process, in the order of the page: every number that a line of it prints stands behind the line."""
    text = (FOLDER.parent / f"docs/{page}.md").read_text(encoding="utf-8")
    for code in re.findall(r"^```c\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        pytest.importorskip("scikits_odes", reason="its build has SUNDIALS' headers and a compiler")
        (tmp_path / "loop.c").write_text(code, encoding="utf-8")
    if "casadi" in page:
        pytest.importorskip("casadi")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page}
    for k, snippet in enumerate(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)):
        path = tmp_path / f"recipe{k}.py"  # laws are recorded from their source
        path.write_text(snippet, encoding="utf-8")
        exec(compile(snippet, str(path), "exec"), names)
        written = [_numbers(comment) for comment in re.findall(r"^ *print\(.*\)  # (.*)$", snippet, re.MULTILINE)]
        printed = [_numbers(line) for line in capsys.readouterr().out.splitlines()]
        assert written and len(printed) == len(written), snippet
        for found, wanted in zip(printed, written, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-8, err_msg=snippet)


def _stand_in():
    """Of gymnasium, where it is not installed: the two classes that the example names."""

    class Env:
        np_random: np.random.Generator

        def __class_getitem__(cls, of):
            return cls

        def reset(self, *, seed=None, options=None):
            self.np_random = np.random.default_rng(seed)

    class Box:
        def __init__(self, low, high, shape, dtype):
            self.low, self.high, self.shape = low, high, shape

    return SimpleNamespace(Env=Env, spaces=SimpleNamespace(Box=Box))


def test_swing_up_environment(monkeypatch, capsys):
    """A rod that is pushed along comes up; a step is that of a run, and resets are drawn again."""
    if importlib.util.find_spec("gymnasium") is None:
        monkeypatch.setitem(sys.modules, "gymnasium", _stand_in())
    example = load("swing_up_environment")
    example.main()
    assert re.fullmatch(r"after [2-9]\.\d\d s the rod stands\n", capsys.readouterr().out)
    environment = example.SwingUp()
    first, _ = environment.reset(seed=4)
    assert np.hypot(*first[:2]) == pytest.approx(1.0, abs=1e-12)
    again, _ = environment.reset(seed=4)
    np.testing.assert_array_equal(first, again)
    seen, reward, *_ = environment.step([1.0])
    run = rbdae.solve(environment.sim.problem, (0.0, 0.02), solver="rbdae:dop853", inputs={"torque": 1.0})
    assert seen[2] == pytest.approx(float(run.joints["hinge"].rate[-1]), abs=1e-6)
    assert reward == pytest.approx(seen[1] - 1e-3 * seen[2] ** 2, abs=1e-12)
    code = Path(example.__file__).read_text(encoding="utf-8")
    docstrings = {
        line
        for node in ast.walk(ast.parse(code))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node)
        for line in range(node.body[0].lineno, node.body[0].end_lineno + 1)
    }
    assert sum(bool(line.strip()) and k not in docstrings for k, line in enumerate(code.splitlines(), 1)) <= 30


def test_pictures(tmp_path):
    example = load("pictures")
    solution = example.run()
    for t, y in zip(solution.events[0].t, solution.events[0].y, strict=True):
        direction = solution.problem.states(t, y)["K1"].orientation.as_matrix()[:, 0]
        # the event is as good as the run: some tolerances, at 1,000 rad/s over the steps of its search
        np.testing.assert_allclose(direction, (1.0, 0.0, 0.0), rtol=0, atol=1e-6)
    # the angle of the crank at the end is that of the IVP test set, after two turns and more
    beta = 15.81077119629904
    assert len(solution.events[0].t) == int(beta // (2 * np.pi)) + 1
    for path in example.draw(solution, tmp_path):
        assert path.read_bytes().startswith(b"\x89PNG")
        shown = FOLDER.parent / "docs" / "pictures" / path.name
        assert 0 < shown.stat().st_size < 100_000


def test_spinning_top(tmp_path):
    """One case: eight panels with labels and units, the curves of four readings, and what each of them keeps."""
    example = load("spinning_top")
    solutions = {name: example.run(2, name, t_end=0.5) for name in example.STYLES}
    figure = example.draw(2, solutions)
    assert len(figure.axes) == 8
    for axes in figure.axes:
        assert len(axes.get_lines()) >= 4 and axes.get_title()
        for label in (axes.get_xlabel(), axes.get_ylabel()):
            assert " in " in label or label == "|E / E₀ - 1|"
    figure.savefig(tmp_path / "top.png", dpi=30)
    for name, solution in solutions.items():
        q = example.quantities(solution)
        assert (np.abs(q["energy"]).max() < 1e-12) == (name != "average-momentum")
        assert (np.abs(q["L_z"] / q["L_z"][0] - 1.0).max() < 1e-12) == (name == "rodrigues")
    q = example.quantities(solutions["rodrigues"])
    np.testing.assert_allclose((q["theta"].min(), q["theta"].max()), example.limits(solutions["rodrigues"]), atol=2e-4)
    # (345): the rate is the derivative of the angle; at the ends of steps it alternates by O(h^2), 2.3e-3 of 3.7 rad/s
    np.testing.assert_allclose(np.gradient(q["theta"], q["t"])[1:-1], q["thetadot"][1:-1], atol=7e-3)


def follows(problem, t, y):
    """Whether a run by hand has kept the energy and ends where the exact motion does."""
    assert t[-1] == 0.1
    energy = problem.energy(t, y).total
    assert np.ptp(energy) < 1e-6 * energy[0]
    exact = study.reference(problem.system, 0.1)
    assert study.errors(study.final_state(problem, 0.1, y[-1]), exact.against("index-2")).largest < 1e-5


def test_ida_by_hand():
    problem, t, y = load("ida_by_hand").run(t_end=0.1)
    follows(problem, t, y)
    twin = rbdae.formulate(problem.system, "index-0")
    run = rbdae.solve(twin, (0.0, 0.1), solver="scipy:DOP853", rtol=1e-10, atol=1e-10)
    found, wanted = problem.reactions(t, y), run.reactions
    for body, side in wanted["spherical-1"].items():
        size = np.abs(side.force).max()
        np.testing.assert_allclose(found["spherical-1"][body].force[-1], side.force[-1], rtol=0, atol=1e-5 * size)


def test_machine_functions_are_called_as_a_page_says():
    """All their names, and their signature."""
    text = (FOLDER.parent / "docs/by-hand.md").read_text(encoding="utf-8")
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-2")
    with pytest.raises(ValueError, match="choose from") as refused:
        problem.callbacks.machine("all")
    named = [
        name for row in re.findall(r'^\| (`"\w.*?) \|', text, re.MULTILINE) for name in re.findall(r'"(\w+)"', row)
    ]
    assert named == re.findall(r"'(\w+)'", str(refused.value).split("choose from")[1])
    kinds = {"void *": ctypes.c_void_p, "double ": ctypes.c_double, "double *": ctypes.c_void_p}
    (said,) = re.findall(r"^    int32_t f\((.*)\);$", text, re.MULTILINE)
    arguments = [kinds[re.sub(r"^const |\w+$", "", each)] for each in said.split(", ")]
    call, out = problem.callbacks.machine("residual"), np.empty(problem.n)
    y, yd = problem.y0 + 0.1, problem.yd0.copy()
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *arguments)(call.address)
    assert function(call.context, 0.0, y.ctypes.data, yd.ctypes.data, 0.0, out.ctypes.data) == 0
    np.testing.assert_array_equal(out, problem.residual(0.0, y, yd))


def needs(package):
    if not os.environ.get("CI"):
        pytest.importorskip(package)


def test_odes_by_hand():
    needs("scikits_odes")
    follows(*load("odes_by_hand").run(t_end=0.1))


def test_assimulo_by_hand():
    needs("assimulo")
    example = load("assimulo_by_hand")
    *run, passages = example.run(t_end=0.1)
    follows(*run)
    problem = rbdae.formulate(run[0].system, "index-0")
    height = rbdae.solve(
        problem, (0.0, 0.1), solver="scipy:DOP853", rtol=1e-10, atol=1e-10, events=lambda t, y: y[2] - example.HEIGHT
    )
    np.testing.assert_allclose(passages, height.events[0].t, rtol=0, atol=1e-7)


def test_sundials_by_hand():
    """The same steps as in `sundials:ida` with the same linear solver."""
    problem, t, y = load("sundials_by_hand").run(t_end=0.1)
    follows(problem, t, y)
    run = rbdae.solve(problem, (0.0, 0.1), solver="sundials:ida", rtol=1e-8, atol=1e-8, linsolver="dense")
    np.testing.assert_array_equal(t, run.t)
    np.testing.assert_array_equal(y, run.y)


def test_handover_crane():
    """The run of rbdae ends where CasADi's optimum does, in nearly the time that bounded force allows."""
    pytest.importorskip("casadi")
    crane = load("handover_crane")
    assert crane.duration == pytest.approx(2.666, abs=0.01)
    assert (abs(crane.force) > 0.99 * crane.MOST).sum() >= 35
    assert np.linalg.norm(crane.body.position - (crane.SHIFT, -2.0, 0.0)) < 1e-4
    assert np.linalg.norm(crane.body.velocity) < 1e-5


def test_handover_cuda(capsys):
    """A hundred runs, three of them poisoned, in both precisions."""
    for dtype, (y, t, info) in load("handover_cuda").measured(100).items():
        ended = np.delete(np.arange(100), (1, 3, 5))
        assert y.dtype == dtype and (info[0, ended] == 1).all() and (t[ended] == 1.0).all()
        assert info[0, 1] == 5 and (t[[1, 3, 5]] < 1.0).all()
        np.testing.assert_allclose(np.linalg.norm(y[:4, ended], axis=0), 1.0, rtol=1e-4)
    assert re.search("on the processor|^on ", said := capsys.readouterr().out) and "97 ENDED" in said


def test_compare_with_dask():
    """A real cluster, in this process to be quick."""
    distributed = pytest.importorskip("distributed")
    example = load("compare_with_dask")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = example.compare(client.get_executor(), t_end=0.01)
    assert len(found.rows) == 10 and not any(row.failure for row in found.rows)
    mine = rbdae.compare(
        rbdae.models.linked_bodies(), 0.01, formulations=["index-0"], rotations=["quaternion"], velocities=["angular"],
        solvers=["scipy:DOP853"], tolerances=[1e-5], repeats=1,
    )  # fmt: skip
    assert mine.rows[0].errors in [row.errors for row in found.rows]


@pytest.mark.parametrize(
    "example, t_end",
    [
        ("A", 0.05),
        pytest.param("B", 0.05, marks=pytest.mark.nightly),
        pytest.param("C", 0.01, marks=pytest.mark.nightly),
    ],
)
def test_compare_formulations(example, t_end, tmp_path):
    """The main job: its forms differ, all runs succeed, errors fall with tolerance and step, words come first."""
    needs("sksundae")
    needs("solve_dae")
    main_job = load("compare_formulations")
    found = main_job.compare(example, t_end=t_end, tolerances=(1e-4, 1e-7), repeats=1)
    rows = found.rows
    assert not any(row.failure for row in rows)
    curves = {}
    for row in rows:
        curves.setdefault(row.case.curve, []).append(row)
    for loose, *_, tight in curves.values():
        # so short a run may be as good at the loose tolerance already
        assert tight.errors.largest < max(0.1 * loose.errors.largest, 4e-7), (loose, tight)
    # the work of forms that differ does: the same counts would be those of one equation
    for solver in ("sundials:ida", "sksundae:ida"):
        counts = {row.case.form: row.stats.evaluations for row in rows if row.case.solver == solver}
        assert len(set(counts.values())) >= len(counts) - 1 and len(counts) == 4
    for package in ("matplotlib", "plotly", "itables"):
        pytest.importorskip(package)
    text, table, everything, picture, page = main_job.write(example, found, tmp_path)
    said = " ".join(text.read_text(encoding="utf-8").split())
    first = said.index("takes the fewest evaluations with")
    last = re.search("the fastest is|no time tells a winner", said)
    assert last and first < said.index("[NS] section 7") < said.index("Conserving schemes") < last.start()
    assert said.count("[NS] ") == len(re.findall("-> (?:agrees|differs|not judged)", said)) == 4 - 2 * (example == "C")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "<html" in page.read_text(encoding="utf-8")[:200]
    assert len(table.read_text().splitlines()) == 1 + len(rows)
    assert study.Comparison.from_json(everything).frame.equals(found.frame)


def test_free_body_and_gyro_top(tmp_path):
    """The errors that were measured beforehand, at a step of 1e-3 s; DIR.EM is the best for the top, by five."""
    example = load("free_body_and_gyro_top")
    before = {"QUAT.EM": 1.45e-3, "QUAT.EM-R": 3.36e-3, "DIR.EM": 2.91e-3, "QUAT.VI": 5.82e-3, "ALGO.C1": 1.12e-3}
    found = example.errors("free body", (0.01, 1e-3))
    for scheme, value in before.items():
        assert abs(found[scheme][1e-3] / value - 1.0) < 5e-3, scheme
    top = example.errors("gyro top", (0.01, 1e-3))
    assert 5.0 * top["DIR.EM"][1e-3] < min(top[scheme][1e-3] for scheme in before if scheme != "DIR.EM")
    assert 0.01 not in top["QUAT.VI"] and set(top["QUAT.EM"]) == {0.01, 1e-3}
    for figure, panels in (
        (example.draw("free body", found, 1.0), 2),
        (example.draw("gyro top", top, 1.0), 2),
        (example.draw_paths(0.1), 4),
    ):
        assert len(figure.axes) == panels
        assert all(axes.get_title() and len(axes.get_lines()) >= 2 for axes in figure.axes)
        figure.savefig(tmp_path / "picture.png", dpi=30)


def test_long_run(tmp_path):
    """Thirty revolutions at equal cost: what is kept to round-off, to second order, and not at all."""
    example = load("long_run")
    ways = {way.name: way for way in example.WAYS}
    chosen = ("IDA, index 2", "DOP853, projected", "QUAT.EM-R", "QUAT.EM", "DIR.EM")
    found = {name: example.measured(ways[name], 100.0, 30) for name in chosen}
    for name, one in found.items():
        assert not one.message and abs(one.evaluations / 100.0 - 1.0) < 0.25, name
        kept = name.startswith(("QUAT", "DIR"))
        assert (one.energy[-1] < 1e-12) == kept, name
        assert (one.momentum[-1] < 1e-12) == (kept and name != "QUAT.EM"), name
    assert found["QUAT.EM"].momentum[-1] < 1e-2 < found["IDA, index 2"].energy[-1]
    assert len(example.table(list(found.values())).splitlines()) == 2 + len(chosen)
    figure = example.draw(list(found.values()), 100.0)
    assert len(figure.axes) == 2 and all(len(axes.get_lines()) == len(chosen) for axes in figure.axes)
    figure.savefig(tmp_path / "picture.png", dpi=30)
