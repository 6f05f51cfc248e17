"""The formulations and examples of [NS], by its numbers and letters."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import rbdae
from rbdae.formulations.table import FormulationName

FORMS: Final[dict[str, tuple[FormulationName, dict[str, Any]]]] = {
    "q42": ("null-space", {"rotation": "quaternion", "velocity": "angular"}),
    "d25": ("null-space", {"rotation": "directors", "velocity": "angular"}),
    "q40": ("index-0", {"rotation": "quaternion", "velocity": "coordinate"}),
    "d23": ("index-0", {"rotation": "directors", "velocity": "coordinate"}),
    "E66": ("index-0", {"rotation": "euler-313", "velocity": "angular"}),
}
"""Arguments of `rbdae.formulate` for each form."""

NAMES: Final[dict[str, str]] = {
    "q42": "null space, quaternions (42)",
    "d25": "null space, directors (25)",
    "q40": "index 0, quaternions (40)",
    "d23": "index 0, directors (23)",
    "E66": "Euler angles (66)",
}

LEGEND: Final = "; ".join(f"{form}: {name}" for form, name in NAMES.items())
"""`NAMES` as a sentence."""

PROJECTION: Final = rbdae.Projection(velocities="tangential")
"""The projection of section 6, which divides only p by its norm; (63), (64)."""

PROJECTIONS: Final[dict[str, rbdae.Projection | None]] = {
    "no": None, "yes": PROJECTION, "keeps Ω": rbdae.Projection(),
}  # fmt: skip
"""No projection, the paper's, and the one that also divides pdot (docs/null-space.md)."""

KEEPING: Final[dict[str, str]] = {
    "q40*": "(40), projection keeps Ω (not in the paper)",
    "d23*": "(23), projection keeps Ω (not in the paper)",
}
"""Forms of index 0 with this projection."""

BODIES: Final[tuple[str, ...]] = ("q42", "d25", "q40", "d23")
"""The four descriptions for several bodies; Euler angles are only for Examples A and B."""

MODELS: Final[dict[str, Any]] = {
    "A": rbdae.models.heavy_top,
    "B": rbdae.models.tennis_racket,
    "C": rbdae.models.linked_bodies,
}


@lru_cache(maxsize=64)
def problem(example: str, form: str, *, code: Any = "auto", **options: Any) -> rbdae.Problem:
    """An example, "A", "B" or "C", with options of its model, in one of the forms."""
    formulation, chosen = FORMS[form]
    return rbdae.formulate(MODELS[example](**options), formulation, code=code, **chosen)
