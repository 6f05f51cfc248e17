"""Tests go through public names, or through tests/support/inside.py, which alone reaches inside.

Run as a script it prints what is open.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
INSIDE = TESTS / "support" / "inside.py"

# Modules that users import from, to use the library or to extend it; a name in one of them is public if it has no
# underscore in front.
PUBLIC = {
    "rbdae",
    "rbdae.actuators",
    "rbdae.adapter",
    "rbdae.body",
    "rbdae.cli",
    "rbdae.closed_form",
    "rbdae.compiler.access",
    "rbdae.compiler.jit",
    "rbdae.compiler.plain",
    "rbdae.drives",
    "rbdae.forces",
    "rbdae.forces.base",
    "rbdae.forces.element",
    "rbdae.formulations",
    "rbdae.graph.corresponding",
    "rbdae.graph.derivatives",
    "rbdae.graph.evaluate",
    "rbdae.graph.factoring",
    "rbdae.graph.graph",
    "rbdae.graph.order",
    "rbdae.graph.repeats",
    "rbdae.graph.sharing",
    "rbdae.graph.sums",
    "rbdae.graph.twos",
    "rbdae.inputs",
    "rbdae.joints",
    "rbdae.kinematics",
    "rbdae.machine.loops.memory",
    "rbdae.machine.loops.methods",
    "rbdae.machine.language.callable",
    "rbdae.machine.language.program",
    "rbdae.machine.language.source",
    "rbdae.machine.language.words",
    "rbdae.models",
    "rbdae.motion",
    "rbdae.observables",
    "rbdae.papers",
    "rbdae.plotting",
    "rbdae.problem",
    "rbdae.quantities",
    "rbdae.problem.contract",
    "rbdae.reports",
    "rbdae.rotations",
    "rbdae.rotations.algebra",
    "rbdae.rotations.bryant_321",
    "rbdae.rotations.chart",
    "rbdae.rotations.conformal",
    "rbdae.rotations.directors",
    "rbdae.rotations.euler_313",
    "rbdae.rotations.euler_map",
    "rbdae.rotations.quaternion_algebra",
    "rbdae.rotations.linear",
    "rbdae.rotations.quaternion",
    "rbdae.rotations.quaternion_vector",
    "rbdae.rotations.quaternions",
    "rbdae.rotations.rodrigues",
    "rbdae.rotations.rotation_vector",
    "rbdae.show",
    "rbdae.show.figures",
    "rbdae.show.page",
    "rbdae.solving",
    "rbdae.study",
    "rbdae.step_equations",
    "rbdae.system",
    "rbdae_adapters",
    "rbdae_adapters.assimulo",
    "rbdae_adapters.rbdae_loops",
    "rbdae_adapters.scikits_odes",
    "rbdae_adapters.scipy_ivp",
    "rbdae_adapters.sksundae",
    "rbdae_adapters.solve_dae",
    "rbdae_adapters.toolkit",
}
# the equations of a formulation are written in the library's kernels
FORMULATIONS = {"toy_augmented.py", "toy_formulation.py"}
OURS = ("rbdae", "rbdae_adapters")
# by convention public, in spite of the underscore
FINE = {"_replace", "_asdict", "_fields", "_make", "_repr_html_", "_repr_png_"}


LOOKED_AT = (ast.Import, ast.ImportFrom, ast.Attribute, ast.Call, ast.Constant)
"""What `_imports` and `_accesses` match."""


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in FINE


def ours(module: str) -> bool:
    return module.partition(".")[0] in OURS


def _imports(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            for alias in names:
                if ours(alias.name) and alias.name not in PUBLIC and _exists(alias.name):
                    yield f"import of {alias.name}"
        case ast.ImportFrom(module=str(module), names=names) if ours(module) and _exists(module):
            for alias in names:
                full = f"{module}.{alias.name}"
                if module not in PUBLIC and full not in PUBLIC:
                    yield f"import from {module}"
                elif private(alias.name) or (full not in PUBLIC and _only_a_module(module, alias.name)):
                    yield f"import of {full}"


def _path(module: str) -> Path:
    root = TESTS.parent / "adapters" if module.startswith("rbdae_adapters") else TESTS.parent
    return root.joinpath(*module.split("."))


def _exists(module: str) -> bool:
    """Whether there is such a module; old paths, which warn, have no file any more."""
    path = _path(module)
    return path.is_dir() or path.with_suffix(".py").exists()


@cache
def _only_a_module(package: str, name: str) -> bool:
    """Whether a name of a package is a file in it and nothing that the package offers."""
    path = _path(package)
    if not _exists(f"{package}.{name}"):
        return False
    tree = ast.parse((path / "__init__.py").read_text(encoding="utf-8"))
    offered = {a.asname or a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    return name not in offered


def _accesses(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Attribute(value=value, attr=attr) if private(attr):
            if not (isinstance(value, ast.Name) and value.id in ("self", "cls")):
                yield f"access to {ast.unparse(node)}"
        case ast.Call(func=ast.Attribute(attr="setattr"), args=[_, ast.Constant(value=str(name)), *_]) if private(name):
            yield f"patch of {name}"
        case ast.Constant(value=str(text)) if "import rbdae" in text or "from rbdae" in text:
            # the code of another process
            try:
                yield from found_in(text)
            except SyntaxError:
                return


def found_in(source: str) -> Iterator[str]:
    """What of the inside a source reaches for."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, LOOKED_AT):
            continue
        line = getattr(node, "lineno", 0)
        for found in (*_imports(node), *_accesses(node)):
            yield f"line {line}: {found}"


def reaching() -> list[str]:
    return [
        f"{path.relative_to(TESTS.parent).as_posix()}, {found}"
        for path in sorted(TESTS.rglob("*.py"))
        if path not in (INSIDE, Path(__file__))
        for found in found_in(path.read_text(encoding="utf-8"))
        if not (path.name in FORMULATIONS and "import from rbdae.kernels." in found)
    ]


def test_only_one_file_reaches_inside():
    assert not reaching(), "\n".join(reaching())


@pytest.mark.parametrize(
    "source, found",
    [
        ("from rbdae._arrays import Vec", "import from rbdae._arrays"),
        ("from rbdae import _check", "import of rbdae._check"),
        ("import rbdae.compiler.stages as c", "import of rbdae.compiler.stages"),
        ("from rbdae.problem.problem import Problem", "import from rbdae.problem.problem"),
        ("from rbdae import multibody", "import of rbdae.multibody"),
        ("problem._workspace.m", "access to problem._workspace"),
        ("monkeypatch.setattr(rbdae.study, '_run', f)", "patch of _run"),
        ("CODE = '''\nfrom rbdae.compiler import stages\n'''", "import from rbdae.compiler"),
    ],
)
def test_what_is_inside_is_found(source, found):
    assert any(found in message for message in found_in(source))


@pytest.mark.parametrize(
    "source",
    [
        "import rbdae\nrbdae.solve(problem, (0, 1))",
        "from rbdae.joints import Revolute",
        "from rbdae.rotations import CHARTS",
        "class A:\n    def f(self):\n        return self._x",
        "pairing._replace(formulation='ggl')",
    ],
)
def test_what_is_public_is_not(source):
    assert not list(found_in(source))


if __name__ == "__main__":
    sys.exit("\n".join(reaching()))
