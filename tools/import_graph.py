"""Reads who imports whom in rbdae/ and adapters/, and says which import breaks a law of the layers.

    python tools/import_graph.py             circles, and arrows that do not run down the layers
    python tools/import_graph.py --floors    every file with its floor: one above the highest that it imports
    python tools/import_graph.py --picture   the layers and the arrows between them, as mermaid

Every import counts: those under `TYPE_CHECKING`, those inside functions, and `import_module("...")` with a literal.
`from package import name` means the file of that name if there is one, and the package's `__init__` if there is none.
The layers are in tests/house/layers.toml. `tests/house/test_import_graph.py` makes laws of what is printed here.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
SOURCES = {"rbdae": ROOT / "rbdae", "rbdae_adapters": ROOT / "adapters" / "rbdae_adapters"}


@dataclass(frozen=True, order=True)
class Arrow:
    """One import: the importing module, the imported one, and the line that says so."""

    source: str
    target: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.source} -> {self.target} (line {self.line}: {self.text})"


@dataclass(frozen=True)
class Layers:
    """The layers from the lowest to the highest, and what some of them may import at most."""

    rows: list[list[str]]
    only: dict[str, list[str]]

    def name(self, module: str) -> str | None:
        """The longest name in the table that is the module or a package of it."""
        names = [name for row in self.rows for name in row if belongs(module, name)]
        return max(names, key=len, default=None)

    def height(self, module: str) -> int:
        name = self.name(module)
        return next(k for k, row in enumerate(self.rows) if name in row)


def belongs(module: str, name: str) -> bool:
    """Whether a module is, or lies in, what a name stands for; `package.__init__` is the package's own file."""
    return module == name or module.startswith(name + ".")


def read_layers(path: Path = ROOT / "tests" / "house" / "layers.toml") -> Layers:
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return Layers([row["names"] for row in table["layer"]], table["only"])


def modules(sources: dict[str, Path] = SOURCES) -> dict[str, Path]:
    """Name and file of every module; a package's own file is `package.__init__`."""
    found = {}
    for package, folder in sources.items():
        for path in sorted(folder.rglob("*.py")):
            found[".".join((package, *path.relative_to(folder).with_suffix("").parts))] = path
    return found


def _resolve(name: str, known: Iterable[str]) -> str | None:
    """The file that a dotted name stands for; None for other packages."""
    return next((full for full in (name, f"{name}.__init__") if full in known), None)


def _targets(node: ast.AST, module: str, known: Iterable[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            base = ".".join((*module.split(".")[: -node.level], *filter(None, [node.module])))
        names = []
        for alias in node.names:
            inner = f"{base}.{alias.name}"
            names.append(inner if _resolve(inner, known) else base)
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
        names = [a.value for a in node.args[:1] if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    else:
        return
    yield from names


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All statements, in the order of `ast.walk`: imports are statements, and most nodes are expressions."""
    waiting: deque[ast.AST] = deque([tree])
    while waiting:
        node = waiting.popleft()
        waiting.extend(n for n in ast.iter_child_nodes(node) if isinstance(n, STATEMENTS))
        yield node


def read_graph(sources: dict[str, Path] = SOURCES) -> tuple[dict[str, dict[str, Arrow]], list[Arrow]]:
    """(module: {imported module: the first such import}) inside the sources, and the imports of other packages."""
    known = modules(sources)
    graph: dict[str, dict[str, Arrow]] = {module: {} for module in known}
    others = []
    for module, path in known.items():
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        for node in ast.walk(tree) if "import_module" in text else _statements(tree):
            for name in _targets(node, module, known):
                arrow = Arrow(module, _resolve(name, known) or name, node.lineno, ast.unparse(node))
                if arrow.target not in known:
                    others.append(arrow)
                elif arrow.target != module:
                    graph[module].setdefault(arrow.target, arrow)
    return graph, others


def knots(graph: dict[str, dict[str, Arrow]]) -> list[list[str]]:
    """Strongly connected components of more than one file (Tarjan), the largest first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for target in graph[module]:
            if target not in index:
                visit(target)
                low[module] = min(low[module], low[target])
            elif target in stack:
                low[module] = min(low[module], index[target])
        if low[module] == index[module]:
            at = stack.index(module)
            component, stack[at:] = stack[at:], []
            if len(component) > 1:
                found.append(sorted(component))

    for module in graph:
        if module not in index:
            visit(module)
    return sorted(found, key=len, reverse=True)


def circle(graph: dict[str, dict[str, Arrow]], knot: list[str]) -> list[Arrow]:
    """A shortest circle of imports inside a knot."""
    best: list[Arrow] = []
    for start in knot:
        paths: dict[str, list[Arrow]] = {start: []}
        queue = [start]
        while queue:
            module = queue.pop(0)
            for target, arrow in graph[module].items():
                if target == start:
                    found = [*paths[module], arrow]
                    best = found if not best or len(found) < len(best) else best
                elif target in knot and target not in paths:
                    paths[target] = [*paths[module], arrow]
                    queue.append(target)
    return best


def circles(graph: dict[str, dict[str, Arrow]]) -> list[str]:
    """Each knot with a shortest circle in it and the imports that tie it."""
    messages = []
    for knot in knots(graph):
        ring = "\n".join(f"    {arrow}" for arrow in circle(graph, knot))
        messages.append(f"{len(knot)} files import each other: {', '.join(knot)}; a shortest circle:\n{ring}")
    return messages


def homeless(graph: dict[str, dict[str, Arrow]], layers: Layers) -> list[str]:
    """Modules without a layer, and names of layers without a module."""
    names = [name for row in layers.rows for name in row]
    lost = [f"{module} is in no layer" for module in graph if layers.name(module) is None]
    empty = [name for name in names if not any(layers.name(module) == name for module in graph)]
    return lost + [f"no file belongs to the layer {name}" for name in empty]


def rising(graph: dict[str, dict[str, Arrow]], layers: Layers) -> list[str]:
    """Imports that run from a lower layer to a higher one, across a layer, or out of what a layer may import."""
    messages = []
    for arrow in (arrow for arrows in graph.values() for arrow in arrows.values()):
        source, target = layers.name(arrow.source), layers.name(arrow.target)
        if source is None or target is None or source == target:
            continue
        step = layers.height(arrow.source) - layers.height(arrow.target)
        if step <= 0:
            where = f"up, from the layer {source} to {target}" if step else f"across, from {source} to {target}"
            messages.append(f"{arrow} runs {where}")
        for name, allowed in layers.only.items():
            fine = arrow.target.startswith("rbdae._") or any(belongs(arrow.target, n) for n in (name, *allowed))
            if belongs(arrow.source, name) and not fine:
                messages.append(f"{arrow}: {name} may import {', '.join(allowed) or 'none of the others'} only")
    return sorted(messages)


def floors(graph: dict[str, dict[str, Arrow]]) -> dict[str, int]:
    """The floor of each file: 0 if it imports nothing here, else one above the highest import. No circles allowed."""
    found: dict[str, int] = {}

    def floor(module: str) -> int:
        if module not in found:
            found[module] = max((floor(target) + 1 for target in graph[module]), default=0)
        return found[module]

    for module in graph:
        floor(module)
    return found


def picture(graph: dict[str, dict[str, Arrow]], layers: Layers) -> str:
    """The layers as a mermaid flow chart, without private files; an arrow that follows from others is not drawn."""
    rows = [[name for name in row if not re.match(r"rbdae\._[a-z]", name)] for row in layers.rows]
    below: dict[str, set[str]] = {name: set() for row in rows for name in row}
    for module, arrows in graph.items():
        for target in arrows:
            a, b = layers.name(module), layers.name(target)
            if a in below and b in below and layers.height(module) > layers.height(target):
                below[a].add(b)
    reach: dict[str, set[str]] = {}

    def reached(name: str) -> set[str]:
        if name not in reach:
            reach[name] = set().union(below[name], *(reached(other) for other in below[name]))
        return reach[name]

    lines = ["```mermaid", "flowchart TD"]
    for row in reversed(rows):
        for name in row:
            lines.append(f'    {_box(name)}["{name.removeprefix("rbdae.")}"]')
    for row in reversed(rows):
        for name in row:
            indirect = set().union(*(reached(other) for other in below[name]))
            lines.extend(f"    {_box(name)} --> {_box(other)}" for other in sorted(below[name] - indirect))
    return "\n".join([*lines, "```"])


def _box(name: str) -> str:
    return name.replace(".", "_").strip("_")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--floors", action="store_true", help="every file with its floor")
    parser.add_argument("--picture", action="store_true", help="the layers as mermaid")
    options = parser.parse_args()
    graph, _ = read_graph()
    layers = read_layers()
    found = circles(graph)
    if options.picture:
        print(picture(graph, layers))
    elif options.floors:
        if not found:
            for module, floor in sorted(floors(graph).items(), key=lambda item: (item[1], item[0])):
                print(f"{floor:3}  {module}")
    else:
        up = rising(graph, layers)
        print("\n".join([*homeless(graph, layers), *found, *up]))
        print(f"{len(graph)} files, {len(found)} circles, {len(up)} arrows that break the layers")
        return 1 if found or up else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
