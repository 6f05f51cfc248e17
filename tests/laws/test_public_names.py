"""`dir(rbdae)` shows what a user needs, with docstrings; public names of version 0.1 work, and warn if they moved."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from inside import MOVED, RENAMED

import rbdae

BEFORE: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parents[1] / "support/public_names_0_1.toml").read_text(encoding="utf-8")
)

NEEDED = {
    "describe a system": {"System", "joints", "drives", "forces", "models"},
    "assemble it": {"Assembly", "InitialValuesWarning", "NotAddedWarning", "assemble"},
    "formulate it": {"formulate", "norm_multipliers", "pairings", "Problem"},
    "project": {"Projection", "ProjectionError", "Projector"},
    "solve": {"Solution", "load", "scaled_atol", "solve", "solvers"},
    "compare": {"compare", "study"},
    "calculate by hand": {"closed_form", "kinematics", "rotations"},
}
PUBLIC = set().union(*NEEDED.values())
PACKAGES = [
    "rbdae",
    *(
        f"rbdae.{name}"
        for name in (
            "joints",
            "drives",
            "forces",
            "models",
            "study",
            "plotting",
            "kinematics",
            "rotations.quaternions",
            "closed_form",
        )
    ),
]


def public(module: ModuleType) -> list[str]:
    listed = getattr(module, "__all__", None)
    return [name for name in vars(module) if not name.startswith("_")] if listed is None else listed


@pytest.fixture
def not_imported_yet():
    """Forgets the modules of old paths, before and after: only the first import of each warns."""
    _forget()
    yield
    _forget()


def _forget() -> None:
    for path in set(MOVED) - {"rbdae.formulate"}:
        sys.modules.pop(path, None)
        package, _, name = path.rpartition(".")
        vars(importlib.import_module(package)).pop(name, None)


# ---------------------------------------------------------------- today's names


def test_the_package_shows_what_a_user_needs_and_nothing_else():
    assert set(dir(rbdae)) == PUBLIC | {"__version__"}
    assert set(rbdae.__all__) == PUBLIC
    for name in PUBLIC:
        assert getattr(rbdae, name) is not None


def test_a_star_import_brings_the_public_names():
    names: dict[str, object] = {}
    exec("from rbdae import *", names)
    assert set(names) - {"__builtins__"} == PUBLIC


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_documented(package):
    module = importlib.import_module(package)
    assert (module.__doc__ or "").strip()
    for name in public(module):
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value):
            assert (value.__doc__ or "").strip(), f"{package}.{name} has no docstring"
        if inspect.isclass(value):
            for part, member in vars(value).items():
                if not part.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                    assert inspect.getdoc(getattr(value, part)), f"{package}.{name}.{part} has no docstring"


def test_a_name_that_never_was_is_refused():
    with pytest.raises(AttributeError, match="module 'rbdae' has no attribute 'nothing'"):
        rbdae.nothing  # noqa: B018
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("rbdae.nothing")


def test_importing_rbdae_warns_of_nothing_and_imports_no_study():
    code = "import rbdae, sys; assert 'rbdae.study' not in sys.modules; rbdae.study.cases"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=300, env=_environment())


def _environment() -> dict[str, str]:
    root = Path(__file__).parents[2]
    return {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'adapters'}"}


# ---------------------------------------------------------------- names of before


@pytest.mark.parametrize("path", sorted(set(MOVED) - {"rbdae.formulate"}))
def test_an_old_path_is_importable_and_warns_with_the_new_one(path, not_imported_yet):
    with pytest.warns(DeprecationWarning, match=f"the module {re.escape(path)} is now {MOVED[path][0]};") as caught:
        exec(f"import {path}", {"__name__": "somewhere"})
    assert len(caught) == 1
    for home in MOVED[path]:
        importlib.import_module(home)


def test_no_file_is_at_an_old_path():
    root = Path(__file__).parents[2]
    for path in MOVED:
        file = root.joinpath(*path.split("."))
        assert not file.with_suffix(".py").exists() and not file.is_dir(), f"{path} is a module of today"


def test_the_warning_is_at_the_line_that_imports(not_imported_yet):
    with pytest.warns(DeprecationWarning) as caught:
        from rbdae.report import table
    assert caught[0].filename == __file__
    assert table is rbdae.study.table
    with pytest.warns(DeprecationWarning) as caught:
        from rbdae import solution
    assert solution.Solution is rbdae.Solution
    assert caught[0].filename == __file__


def test_an_old_module_is_an_attribute_of_the_package(not_imported_yet):
    with pytest.warns(DeprecationWarning, match="the module rbdae.solution is now") as caught:
        assert rbdae.solution.Solution is rbdae.Solution
    assert caught[0].filename == __file__
    assert rbdae.solution.load is rbdae.load  # the second time without a warning, as an import has it


def test_a_function_of_the_name_of_an_old_module_stays_a_function(not_imported_yet):
    with pytest.warns(DeprecationWarning, match=r"the module rbdae\.formulate is now"):
        from rbdae.formulate import formulate
    importlib.import_module("rbdae.formulate")
    assert rbdae.formulate is formulate


def test_a_star_import_of_an_old_path_brings_its_names(not_imported_yet):
    names: dict[str, object] = {}
    with pytest.warns(DeprecationWarning):
        exec("from rbdae.solution import *", names)
    assert names["Solution"] is rbdae.Solution


def test_a_name_that_an_old_path_never_had_is_refused_with_the_new_path(not_imported_yet):
    with pytest.warns(DeprecationWarning):
        old = importlib.import_module("rbdae.solution")
    with pytest.raises(AttributeError, match=r"rbdae\.solution has moved to rbdae\.solving\.solution and .*, where"):
        old.nothing  # noqa: B018


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("path", BEFORE)
def test_every_public_name_of_before_is_there(path, not_imported_yet):
    module = importlib.import_module(path)
    missing = []
    for name in BEFORE[path]:
        try:
            getattr(module, name)
        except AttributeError as error:
            missing.append(str(error))
    assert not missing, "\n".join(missing)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("old", RENAMED)
def test_a_renamed_name_leads_to_the_new_one(old):
    path, _, name = old.rpartition(".")
    module = importlib.import_module(path)
    with pytest.warns(DeprecationWarning, match=f"{re.escape(old)} is now {re.escape(RENAMED[old])};") as caught:
        found = getattr(module, name)
    assert found is pkgutil.resolve_name(RENAMED[old])
    assert caught[-1].filename == __file__
