"""A test set for authors of DAE codes: models in seven forms, each as a C file and as a NumPy archive, and a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from rbdae._version import __version__
from rbdae.handover.c import identifiers
from rbdae.handover.c_file import functions_of, source
from rbdae.handover.recorded import Handed

FORMS: Final = ("index-3", "index-2", "index-1", "index-0", "ggl", "hiller-anantharaman", "null-space")
"""Names as `rbdae.pairings` has them; in quaternions and angular velocities."""

_HEAD = """# Test set

Rigid-body models in seven forms, written by rbdae {version}; SI units. `MODEL_FORM.c` is C99 with math.h alone:
residual, Jacobian, patterns, start, classes of the unknowns; of ODE forms also the right-hand side and its Jacobian.
`MODEL_FORM.npz` (`numpy.load`) has

- `t0`, `y0`, `yd0`: a consistent start; `labels` of the unknowns
- `differential`: 1 where the rate of an unknown appears; `variable_index`: Hairer's classes 1, 2, 3, of an ODE 0
- `rows`, `pointers`: the pattern of dF/dy + c dF/dyd in compressed columns
- `reference_t` (20,), `reference_y` (20, n): the motion in these unknowns, NaN for integrals of multipliers
- `reference_position`, `reference_velocity` (20, bodies, 3): of the centres of mass, in space; `reference_orientation`
  (20, bodies, 4): unit quaternions, scalar first; `reference_angular_velocity` (20, bodies, 3), in the body frames
- `agreement` (20,): relative errors of the reference beside another form and method; digits beyond them mean nothing
- `growth` (20,): by how much small errors of the start have grown, so that a code cannot be better

Forms: index-3, index-2, index-1, ggl and hiller-anantharaman are DAEs, of index 1 where a model has no constraints;
index-0 and null-space are ODEs. C functions return 1 where a guard does not hold: this happens where a null-space form
would take other independent velocities.
"""


class Entry(NamedTuple):
    """A model of the set; `problems` are by form, or why there is none. The reference is that of `rbdae.models`."""

    name: str
    summary: str
    reference: Any
    problems: Mapping[str, Any]


def write(folder: str | Path, entries: Iterable[Entry]) -> Path:
    """Write the set into a folder, which is made, a folder for each model, and return its page, README.md."""
    folder, parts = Path(folder), [_HEAD.format(version=__version__)]
    for entry in entries:
        (folder / entry.name).mkdir(parents=True, exist_ok=True)
        lines = [_files(folder / entry.name, entry, form) for form in entry.problems]
        parts.append(
            f"## {entry.name}\n\n{entry.summary}; to t = {entry.reference.t[-1]:g} s. The reference agrees to "
            f"{entry.reference.agreement.max():.0e}, errors grow by {entry.reference.growth.max():.3g}.\n\n"
            "| form | index | unknowns | equations | entries of the Jacobian | operations of residual, Jacobian |\n"
            "| --- | --- | --- | --- | --- | --- |\n" + "\n".join(lines) + "\n"
        )
    page = folder / "README.md"
    page.write_text("\n".join(parts))
    return page


def _files(folder: Path, entry: Entry, form: str) -> str:
    """Write the two files of a form; the line of the page, with the reason where they cannot be."""
    problem, (prefix,) = entry.problems[form], identifiers([f"{entry.name}_{form}"])
    try:
        if isinstance(problem, str):
            raise ValueError(problem)
        handed = Handed(problem)
        text = source(handed, prefix, functions_of(problem, "plain"))
    except ValueError as error:
        return f"| {form} | not here: {error} |"
    (folder / f"{prefix}.c").write_text(text)
    np.savez(folder / f"{prefix}.npz", **_archive(problem, entry.reference))
    operations = [handed.function(name).n_operations for name in ("residual", "jacobian")]
    sizes = [problem.index, problem.n, problem.n_equations, problem.sparsity.nnz, "{}, {}".format(*operations)]
    return f"| {form} | {' | '.join(map(str, sizes))} |"


def _archive(problem: Any, reference: Any) -> dict[str, Any]:
    own = {what: getattr(problem, what) for what in ("t0", "y0", "yd0", "labels", "differential", "variable_index")}
    moving = ("t", "position", "orientation", "velocity", "angular_velocity")
    found = {f"reference_{what}": getattr(reference, what) for what in moving}
    pattern = {"rows": problem.sparsity.indices, "pointers": problem.sparsity.indptr}
    motion = {"reference_y": reference.unknowns(problem), "agreement": reference.agreement, "growth": reference.growth}
    return own | pattern | found | motion
