"""[NS] Table 2, and the numbers of unknowns in Table 1 and section 7."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import rbdae
from rbdae.papers.finding import Comparison, Finding, close
from rbdae.papers.item import Item
from rbdae.papers.null_space.equations import FORMS, NAMES, problem

_PAIRS: Final[dict[str, tuple[Any, tuple[int, int, int, int]]]] = {
    "planar": (partial(rbdae.joints.Planar, axis_a=(0, 0, 1)), (3, 9, 15, 5)),
    "spherical": (rbdae.joints.Spherical, (3, 9, 15, 5)),
    "cylindrical": (partial(rbdae.joints.Cylindrical, axis_a=(0, 0, 1)), (4, 8, 16, 6)),
    "prismatic": (partial(rbdae.joints.Prismatic, axis_a=(0, 0, 1)), (5, 7, 17, 7)),
    "revolute": (partial(rbdae.joints.Revolute, axis_a=(0, 0, 1)), (5, 7, 17, 7)),
}
_COUNTS = ("external constraints", "degrees of freedom", "multipliers, directors", "multipliers, quaternions")
_UNKNOWNS: Final[dict[str, dict[str, int]]] = {
    "A": {"q42": 7, "d25": 12, "q40": 8, "d23": 18, "E66": 6},
    "C": {"d23": 48, "q40": 28, "d25": 33, "q42": 23},
}


def counts(joint: Any) -> tuple[int, int, int, int]:
    """The numbers of Table 2 of two bodies with a joint, from the unknowns of three formulations."""
    system = rbdae.System()
    bodies = [system.add_body(name, mass=1.0, inertia=(1.0, 2.0, 2.5), position=(0, 0, 0)) for name in "ab"]
    system.add_joint(joint(*bodies))
    directors = rbdae.formulate(system, "index-3", rotation="directors", velocity="coordinate").n - 2 * 24
    quaternions = rbdae.formulate(system, "index-3", rotation="quaternion", velocity="coordinate").n - 2 * 14
    free = rbdae.formulate(system, "null-space", rotation="quaternion").n - 14
    return directors - 12, free, directors, quaternions


def _run(quick: bool) -> Finding:
    rows: list[tuple[str, str, int, int]] = []
    comparisons: list[Comparison] = []

    def add(of: str, what: str, printed: int, found: int) -> None:
        rows.append((of, what, printed, found))
        comparisons.append(close(f"{of}: {what}", found, printed, says=str(printed)))

    for name, (joint, printed) in _PAIRS.items():
        for what, wanted, found in zip(_COUNTS, printed, counts(joint), strict=True):
            add(f"{name} pair", what, wanted, found)
    for example, unknowns in _UNKNOWNS.items():
        for form in FORMS:
            if form in unknowns:
                add(f"Example {example}", f"unknowns, {NAMES[form]}", unknowns[form], problem(example, form).n)
    return Finding(("of", "number", "paper", "rbdae"), rows, tuple(comparisons))


ITEM: Final = Item(
    name="ns-table-2",
    paper="null_space",
    place="Table 2; Table 1 and section 7, unknowns",
    says="A pair of bodies has 3 to 5 joint constraints, 9 to 7 degrees of freedom, and 10 multipliers fewer in "
    "quaternions than in directors; the forms have 7, 12, 8, 18 and 6 unknowns in Examples A and B, 48, 28, 33 and 23 "
    "in C.",
    verdict="agrees",
    run=_run,
)

__all__ = ["ITEM", "counts"]
