"""What a first use does not need it does not import: numba and most of scipy take longer than a short run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SLOW = {"numba", "scipy", "pandas", "matplotlib"}

# they are imported by functions that need them
SLOW_TOO = {"rbdae_adapters.scipy_ivp"}


def _modules() -> list[str]:
    found = []
    for folder in (ROOT / "rbdae", ROOT / "adapters" / "rbdae_adapters"):
        for path in folder.rglob("*.py"):
            name = ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
            found.append(name)
    return sorted(found)


IMPORT = f"import {', '.join(m for m in _modules() if not m.endswith('__main__') and m not in SLOW_TOO)}"

SOLVE = """
import numpy as np
import rbdae
system = rbdae.models.linked_bodies()
for formulation in ("index-2", "null-space"):
    problem = rbdae.formulate(system, formulation)
    problem.residual(0.0, problem.y0, problem.yd0)
    problem.jacobian(0.0, problem.y0, problem.yd0, 1.0)
    problem.project(0.0, problem.y0)
    problem.energy(0.0, problem.y0)
system = rbdae.System()
body = system.add_body("b", mass=1.0, inertia=(1.0, 2.0, 2.5))
system.add_force(rbdae.forces.Force(body, lambda t: np.array((t, 0.0, 1.0))))
problem = rbdae.formulate(system, "index-0")
problem.rhs(0.0, problem.y0)
"""

TRACED = """
import numpy as np
import rbdae
for formulation in ("index-0", "index-2"):
    problem = rbdae.formulate(rbdae.models.heavy_top(), formulation)
    problem.residual(0.0, problem.y0, problem.yd0)
    problem.jacobian(0.0, problem.y0, problem.yd0, 1.0)
    problem.constraints(0.0, problem.y0)
    problem.energy(0.0, problem.y0)
    assert problem.code == "machine"
    if problem.kind == "ode":
        problem.rhs(0.0, problem.y0)
        problem.rhs_jacobian(0.0, problem.y0)
        assert rbdae.solve(problem, (0.0, 0.1), solver="rbdae:dopri5").success
"""

PLAIN = """
import numpy as np
import inside
import rbdae
residual = inside.plain_residual(rbdae.models.heavy_top(), "index-2")
out = np.zeros(14)
residual(0.0, np.full(14, 0.5), np.ones(14), out)
assert np.isfinite(out).all() and np.abs(out).max() > 0.0
"""

FIND = """
import importlib.metadata
import rbdae.solving
importlib.metadata.entry_points = None
rbdae.solving.find_method("scipy:RK45")
"""


def _imported(statements: str, **environment: str) -> set[str]:
    """What a fresh process has imported after some statements."""
    run = subprocess.run(
        [sys.executable, "-c", f"{statements}\nimport sys\nprint(*sys.modules)"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return set(run.stdout.split())


CASES = {
    "all modules, plain kernels": (IMPORT + PLAIN, {}),
    "traced code, in memory as developers' Python has it": (TRACED, {"PYTHONMALLOC": "debug"}),
    "equations in plain Python": (SOLVE, {"RBDAE_LLVM": "none"}),
}


@pytest.mark.parametrize("case", CASES)
def test_slow_packages_are_not_imported(case):
    statements, environment = CASES[case]
    imported = _imported(statements, **environment)
    assert "rbdae.kernels.entry" in imported
    assert imported & (SLOW | SLOW_TOO) == set()


def test_a_solver_imports_no_other_adapter():
    """And does not search through other distributions."""
    imported = _imported(FIND)
    adapters = {name for name in _modules() if name.startswith("rbdae_adapters.") and "toolkit" not in name}
    assert imported & adapters == {"rbdae_adapters.scipy_ivp"}
