"""`dir(rbdae)` shows what a user needs, with docstrings; other names are refused."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rbdae

NEEDED = {
    "describe a system": {"System", "joints", "drives", "forces", "models"},
    "move and control it": {"Actuator", "Block", "Points", "Sampled", "actuators", "block"},
    "assemble it": {"Assembly", "InitialValuesWarning", "assemble"},
    "formulate it": {"formulate", "formulations", "pairings", "Problem"},
    "give inputs": {"Table"},
    "drive it": {"Simulator", "StepError"},
    "project": {"Projection", "ProjectionError", "Projector"},
    "solve": {"Event", "FailedRunWarning", "Solution", "load", "solve", "solvers"},
    "observe": {"observables", "scaled_atol"},
    "compare": {"compare", "study"},
    "cite": {"citation"},
    "actuate and control": {"Actuator", "Block", "Points", "Sampled", "actuators", "block"},
    "calculate by hand": {"closed_form", "kinematics", "rotations"},
}
PUBLIC = set().union(*NEEDED.values())


def test_the_package_shows_what_a_user_needs_and_nothing_else():
    assert set(dir(rbdae)) == PUBLIC | {"__version__"}
    assert set(rbdae.__all__) == PUBLIC
    for name in PUBLIC:
        assert getattr(rbdae, name) is not None


def test_a_star_import_brings_the_public_names():
    names: dict[str, object] = {}
    exec("from rbdae import *", names)
    assert set(names) - {"__builtins__"} == PUBLIC


def test_a_name_that_never_was_is_refused():
    with pytest.raises(AttributeError, match=r"^module 'rbdae' has no attribute 'nothing'$") as caught:
        rbdae.nothing  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("nothing", rbdae)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("rbdae.nothing")


def test_importing_rbdae_warns_of_nothing_and_imports_neither_study_nor_papers():
    code = (
        "import rbdae, sys; assert not {'rbdae.study', 'rbdae_papers'} & {*sys.modules}; rbdae.study.cases; "
        "assert 'rbdae_papers' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=300, env=_environment())


def _environment() -> dict[str, str]:
    root = Path(__file__).parents[2]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (root, root / "adapters", root / "examples/papers")))}


def test_parts_of_the_papers_have_a_name_of_the_library():
    code = (
        "import rbdae, rbdae_papers.closed_form; from rbdae.kinematics import spin; "
        "import rbdae.closed_form as there; assert rbdae.kinematics.spin is spin; "
        "assert rbdae.closed_form is there is rbdae_papers.closed_form"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=300, env=_environment())
