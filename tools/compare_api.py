"""Compare the public names of two versions of rbdae.

    python tools/compare_api.py OLD NEW

OLD and NEW are wheels, or source trees with `rbdae/` and `adapters/` in them. Each is walked in a process of its own:
all modules without an underscore in their path, their public names, the public attributes of classes, and those of a
few live objects. Printed are modules and names that vanished, with the place where a thing of this name is now, names
that are still found but warn (aliases), signatures that changed, and names that are new. The exit status is 1 where
something vanished without an alias, or a signature changed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

PACKAGES = ("rbdae", "rbdae_adapters")
WALK = Path(__file__).with_name("walk_api.py")
Api = dict[str, dict[str, dict[str, str]]]
"""By module and name, what it is: "kind", "signature", "annotated", perhaps "alias"."""


def walk(tree: Path, wanted: Api | None = None) -> Api:
    """The names of one version; `wanted` are names to look for beside those that are listed."""
    with tempfile.TemporaryDirectory() as folder:
        if tree.suffix == ".whl":
            zipfile.ZipFile(tree).extractall(folder)
            tree = Path(folder)
        if not (tree / "rbdae" / "__init__.py").is_file():
            raise SystemExit(f"{tree} is no wheel and has no rbdae/__init__.py")
        path = os.pathsep.join(map(str, (tree.resolve(), tree.resolve() / "adapters")))
        done = subprocess.run(
            [sys.executable, str(WALK), *PACKAGES],
            env=os.environ | {"PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1"},
            input=json.dumps({module: list(names) for module, names in (wanted or {}).items()}),
            stdout=subprocess.PIPE,
            cwd=folder,
            text=True,
            check=True,
        )
        found: dict[str, Any] = json.loads(done.stdout)
    if not Path(found["file"]).is_relative_to(tree.resolve()):
        raise SystemExit(f"{tree}: Python took rbdae from {found['file']}")
    for module, error in found["broken"].items():
        print(f"{tree}: {module} cannot be imported: {error}")
    return found["api"]


def heading(title: str, lines: list[str]) -> None:
    """A section of the report."""
    print(f"\n{title}: {len(lines)}")
    for line in lines:
        print(f"    {line}")


def report(old: Api, new: Api) -> int:
    """Print all differences."""

    def places(name: str) -> str:
        """Where a name is that was not there before."""
        found = [m for m, names in new.items() if name in names and name not in old.get(m, {})]
        return f"   (now in {', '.join(found)})" if found else ""

    gone_modules = [m for m in old if m not in new]
    heading("modules that vanished", gone_modules)
    told = {m: names[""]["alias"] for m, names in new.items() if "" in names}
    heading("modules that are aliases", [f"{m}   {told[m]}" for m in old if m in told])
    heading("modules added", [m for m in new if m not in old and m])
    vanished, hidden, aliases, changed, annotated = [], [], [], [], []
    for module in [m for m in old if m in new]:
        for name, was in old[module].items():
            here = f"{module}.{name}"
            if name not in new[module]:
                # the attributes of a class that is gone are gone with it
                if name.rpartition(".")[0] not in old[module] or name.rpartition(".")[0] in new[module]:
                    vanished.append(here + places(name))
                continue
            now = new[module][name]
            if "alias" in now:
                (aliases if now["alias"] else hidden).append(f"{here}   {now['alias']}".rstrip())
            if was["kind"] != now["kind"] or was["signature"] != now["signature"]:
                texts = [f"{x['kind']} {x['signature']}" for x in (was, now)]
                changed.append(f"{here}\n        {texts[0]}\n     -> {texts[1]}")
            elif was["annotated"] != now["annotated"]:
                annotated.append(f"{here}\n        {was['annotated']}\n     -> {now['annotated']}")
    heading("names that vanished from modules that are there", vanished)
    heading("names of vanished modules", [f"{m}.{n}{places(n)}" for m in gone_modules for n in old[m] if n])
    heading("aliases that warn", aliases)
    heading("still found, but no longer listed", hidden)
    heading("signatures that changed", changed)
    heading("annotations that changed", annotated)
    heading(
        "names added to modules that were there",
        [f"{m}.{n}" for m in new if m in old for n, now in new[m].items() if n not in old[m] and "alias" not in now],
    )
    return int(bool(gone_modules or vanished or changed))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    given = parser.parse_args()
    old = walk(given.old)
    return report(old, walk(given.new, old))


if __name__ == "__main__":
    sys.exit(main())
