"""No two files import each other in a circle, and every import runs down the layers.

`python tools/import_graph.py` prints the same without pytest, `--floors` the floor of each file.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import import_graph

LAYERS = import_graph.read_layers()

SOLVER_PACKAGES = {"sksundae", "scikits_odes", "scikits_odes_sundials", "assimulo", "solve_dae"}

read = cache(import_graph.read_graph)


def test_no_two_files_import_each_other_in_a_circle():
    """Then every file has a floor, one above the highest that it imports."""
    found = import_graph.circles(read()[0])
    assert not found, "\n".join(found)


def test_no_arrow_runs_from_a_lower_layer_to_a_higher_one():
    found = import_graph.rising(read()[0], LAYERS)
    assert not found, "\n".join(found)


def test_every_file_has_a_layer_and_every_layer_a_file():
    found = import_graph.homeless(read()[0], LAYERS)
    assert not found, "\n".join(found)


def test_the_core_imports_no_adapter_and_no_solver_package():
    def core(arrow: import_graph.Arrow) -> bool:
        return import_graph.belongs(arrow.source, "rbdae")

    graph, others = read()
    inside = [arrow for arrows in graph.values() for arrow in arrows.values() if core(arrow)]
    adapters = [arrow for arrow in inside if import_graph.belongs(arrow.target, "rbdae_adapters")]
    packages = [arrow for arrow in others if core(arrow) and arrow.target.partition(".")[0] in SOLVER_PACKAGES]
    # scipy is a dependency of the core, its integrators are a solver package
    packages += [a for a in others if core(a) and import_graph.belongs(a.target, "scipy.integrate")]
    assert not adapters + packages, "\n".join(map(str, adapters + packages))


# ---------------------------------------------------------------- the reading itself


@pytest.fixture
def package(tmp_path):
    """Writes a package "p" of some files and reads its graph."""

    def read(**files):
        (tmp_path / "p").mkdir()
        for name, text in ({"__init__": ""} | files).items():
            (tmp_path / "p" / f"{name}.py").write_text(text)
        return import_graph.read_graph({"p": tmp_path / "p"})

    return read


@pytest.mark.parametrize(
    "text",
    [
        "import p.b",
        "from p import b",
        "from p.b import x",
        "from .b import x",
        "from . import b",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.b import x",
        "def f():\n    from p import b as c\n    return c",
        "import importlib\ndef f():\n    return importlib.import_module('p.b')",
    ],
)
def test_every_import_counts(package, text):
    graph, _ = package(a=text, b="x = 1")
    assert list(graph["p.a"]) == ["p.b"]
    assert not import_graph.circles(graph)
    assert import_graph.floors(graph)["p.a"] == 1


def test_a_name_of_a_package_is_the_packages_own_file(package):
    graph, others = package(a="from p import x\nfrom numpy import y")
    assert list(graph["p.a"]) == ["p.__init__"]
    assert [arrow.target for arrow in others] == ["numpy"]


def test_a_circle_is_printed_with_the_lines_that_tie_it(package):
    graph, _ = package(a="import p.b", b="\nfrom p.c import x", c="def f():\n    from p import a", d="import p.a")
    (message,) = import_graph.circles(graph)
    assert message.startswith("3 files import each other: p.a, p.b, p.c;")
    for line in ("p.a -> p.b (line 1", "p.b -> p.c (line 2: from p.c import x)", "p.c -> p.a (line 2"):
        assert line in message


def test_an_arrow_that_runs_up_is_named(package):
    graph, _ = package(a="import p.b", b="", c="import p.a")
    layers = import_graph.Layers([["p.__init__"], ["p.a"], ["p.b"], ["p.c"]], {"p.c": ["p.b"]})
    up, out = import_graph.rising(graph, layers)
    assert up == "p.a -> p.b (line 1: import p.b) runs up, from the layer p.a to p.b"
    assert out == "p.c -> p.a (line 1: import p.a): p.c may import p.b only"
    assert import_graph.homeless(graph, import_graph.Layers([["p.a", "q"]], {})) == [
        "p.__init__ is in no layer",
        "p.b is in no layer",
        "p.c is in no layer",
        "no file belongs to the layer q",
    ]
