"""What is shipped, and what importing it brings in."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from functools import partial
from pathlib import Path

import pytest

import rbdae
from rbdae.adapter import AbstractAdapter

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ENTRY_POINTS = PYPROJECT["project"]["entry-points"]["rbdae.adapters"]

SOLVER_PACKAGES = ["sksundae", "scikits_odes", "scikits_odes_sundials", "assimulo", "solve_dae", "scipy.integrate"]
FURTHER = {"rbdae_adapters": "adapters", "rbdae_papers": "examples/papers"}
"""The other packages of the distribution, and where they are."""
ALIASES = ["rbdae.closed_form", "rbdae.kinematics", "rbdae.rotations.quaternions"]
"""Modules of `rbdae_papers` by other names."""
OTHERS = [*FURTHER, "matplotlib", "tqdm", "pandas", "plotly", "jinja2", "itables"]


def modules_after(statement):
    """Names in sys.modules of a fresh process after a statement."""
    path = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'adapters')!r}]; "
    code = f"{path}{statement}; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    return set(ended.stdout.split())


def core_modules():
    folder = ROOT / "rbdae"
    for path in sorted(folder.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if not name.endswith("__main__") and name not in ALIASES:
            yield name


def test_the_core_imports_no_adapter_and_no_solver_package():
    loaded = modules_after("import " + ", ".join(core_modules()))
    assert "rbdae.cli" in loaded and "rbdae.study" in loaded
    assert not loaded.intersection(SOLVER_PACKAGES + OTHERS)


def test_an_adapter_does_not_import_its_package():
    modules = [target.partition(":")[0] for target in ENTRY_POINTS.values()]
    loaded = modules_after("import " + ", ".join(modules))
    assert loaded.issuperset(modules)
    assert not loaded.intersection(SOLVER_PACKAGES[:-1])  # scipy is always there


def test_no_file_imports_numba_and_only_the_machine_llvmlite():
    for path in (ROOT / "rbdae").rglob("*.py"):
        folder = path.relative_to(ROOT / "rbdae").parts[0]
        others = "numba" if folder == "machine" else "numba|llvmlite"
        text = path.read_text(encoding="utf-8")
        assert not re.search(rf"^\s*(import|from) ({others})\b", text, re.MULTILINE), path


def test_adapters_name_no_formulation_and_the_core_no_adapter():
    for path in (ROOT / "adapters").rglob("*.py"):
        assert "rbdae.formulations" not in path.read_text(encoding="utf-8"), path
    for path in (ROOT / "rbdae").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(import|from) rbdae_(adapters|papers)", text, re.MULTILINE), path


def test_what_a_module_exports_is_there_and_documented():
    papers = [f"rbdae_papers.{name}" for name in ("kinematics", "closed_form", "step_equations")]
    users = ("joints", "drives", "actuators", "forces", "formulations", "models", "study", "show")
    whole = {"rbdae", *(f"rbdae.{name}" for name in users), *papers}
    for name in (*core_modules(), *papers):
        module = importlib.import_module(name)
        if Path(module.__file__).stat().st_size:
            assert (module.__doc__ or "").strip(), f"{name} has no docstring"
        for public in getattr(module, "__all__", vars(module) if name == "rbdae.show" else ()):
            value = getattr(module, public)
            if public[0] != "_" and (inspect.isclass(value) or inspect.isfunction(value)):
                assert (value.__doc__ or "").strip(), f"{name}.{public} has no docstring"
            members = vars(value) if inspect.isclass(value) and name in whole else {}
            for part, member in members.items():
                if part[0] != "_" and (inspect.isfunction(member) or isinstance(member, property)):
                    assert inspect.getdoc(getattr(value, part)), f"{name}.{public}.{part} has no docstring"


def test_the_version_is_the_one_of_the_distribution():
    assert rbdae.__version__ == PYPROJECT["project"]["version"]


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_entry_points_lead_to_adapters(name):
    module, _, attribute = ENTRY_POINTS[name].partition(":")
    adapter = getattr(importlib.import_module(module), attribute)
    assert isinstance(adapter, AbstractAdapter)
    assert adapter.package == name
    assert adapter.methods and adapter.install


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=300)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_has_the_packages_with_their_types(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for package, place in (("rbdae", "rbdae"), *((name, f"{root}/{name}") for name, root in FURTHER.items())):
        folder = ROOT / place
        files = [p for p in folder.rglob("*") if p.suffix in (".py", ".html", ".css", ".js", ".toml", ".h")]
        sources = {f"{package}/{p.relative_to(folder).as_posix()}" for p in files}
        assert sources <= set(names)
        assert f"{package}/py.typed" in names
    assert not [n for n in names if not n.startswith(("rbdae/", "rbdae-", *(f"{name}/" for name in FURTHER)))]


def test_the_extra_of_all_solvers_asks_where_there_are_wheels_for_what_each_extra_asks(wheel):
    """Seen: hatchling resolves ``rbdae[sundae]; condition`` to what the extra has, without the condition."""
    lines = zipfile.ZipFile(wheel).read(f"rbdae-{rbdae.__version__}.dist-info/METADATA").decode().splitlines()
    asked = [line.removeprefix("Requires-Dist: ") for line in lines if line.endswith("extra == 'solvers'")]
    extras = PYPROJECT["project"]["optional-dependencies"]
    single = [line for name in ("sundae", "assimulo", "solve-dae") for line in extras[name]]
    assert sorted(line.partition(";")[0].replace("_", "-") for line in asked) == sorted(
        line.replace("_", "-") for line in single
    )
    conditions = {line.partition(">=")[0]: line.partition(";")[2] for line in asked}
    assert "platform_machine != 'aarch64'" in conditions["scikit-sundae"]
    assert "sys_platform != 'darwin'" in conditions["assimulo-testing"]


def test_the_wheel_works_in_an_environment_of_its_own(wheel, tmp_path):
    """Installed by pip beside the other packages of this environment, without the checkout; an item of a paper runs."""
    there = tmp_path / "env"
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = partial(subprocess.run, cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=300, check=True)
    run([sys.executable, "-m", "venv", "--without-pip", str(there)])
    run([sys.executable, "-m", "pip", "--python", str(there / "bin/python"), "install", "--no-deps", str(wheel)])
    (site,) = there.glob("lib/*/site-packages")
    (site / "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")  # whose .pth files are not read
    code = (
        "import rbdae; from importlib.metadata import entry_points; "
        "print(rbdae.__file__, *sorted(p.load().package for p in entry_points(group='rbdae.adapters')))"
    )
    place, *adapters = run([there / "bin/python", "-c", code]).stdout.split()
    assert place == str(site / "rbdae/__init__.py") and adapters == sorted(ENTRY_POINTS)
    printed = run([there / "bin/rbdae", "papers", "--only", "ns-table-2", "--out", "found"]).stdout
    assert "-> agrees (29 of 29)" in printed and (tmp_path / "found/ns-table-2.csv").exists()
