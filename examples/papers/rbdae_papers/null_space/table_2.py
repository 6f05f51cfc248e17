"""[NS] Table 2, and the numbers of unknowns in Table 1 and section 7."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import rbdae
from rbdae_papers.finding import Finding, claim, close
from rbdae_papers.item import Settings, item, numbers
from rbdae_papers.null_space.equations import NAMES, problem

_JOINTS: Final[dict[str, Any]] = {
    "planar": partial(rbdae.joints.Planar, axis_a=(0, 0, 1)),
    "spherical": rbdae.joints.Spherical,
    "cylindrical": partial(rbdae.joints.Cylindrical, axis_a=(0, 0, 1)),
    "prismatic": partial(rbdae.joints.Prismatic, axis_a=(0, 0, 1)),
    "revolute": partial(rbdae.joints.Revolute, axis_a=(0, 0, 1)),
}
_COUNTS = ("external constraints", "degrees of freedom", "multipliers, directors", "multipliers, quaternions")


def counts(joint: Any) -> tuple[int, int, int, int]:
    """The numbers of Table 2 for two bodies with a joint, from the unknowns of three formulations."""
    system = rbdae.System()
    bodies = [system.add_body(name, mass=1.0, inertia=(1.0, 2.0, 2.5), position=(0, 0, 0)) for name in "ab"]
    system.add_joint(joint(*bodies))
    directors = rbdae.formulate(system, "index-3", rotation="directors", velocity="coordinate").n - 2 * 24
    quaternions = rbdae.formulate(system, "index-3", rotation="quaternion", velocity="coordinate").n - 2 * 14
    free = rbdae.formulate(system, "null-space", rotation="quaternion").n - 14
    return directors - 12, free, directors, quaternions


def _run(how: Settings) -> Finding:
    known = numbers("null_space", "ns-table-2")
    rows: list[tuple[str, str, int, int]] = []
    for name, printed in known["pairs"].items():
        found = counts(_JOINTS[name])
        rows += [(f"{name} pair", *row) for row in zip(_COUNTS, printed, found, strict=True)]
    for example, unknowns in known["unknowns"].items():
        rows += [(f"Example {example}", f"unknowns, {NAMES[form]}", printed, problem(example, form).n)
                 for form, printed in unknowns.items()]  # fmt: skip
    compared = [claim(f"{of}: {what}", found, close(printed), f"{printed}") for of, what, printed, found in rows]
    return Finding(("of", "number", "paper", "rbdae"), rows, tuple(compared))


ITEM: Final = item("ns-table-2", _run)
