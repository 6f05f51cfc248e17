"""The schemes of [BS09] and rbdae's QUAT.EM-R; runs of both examples, and their errors."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np

import rbdae
from rbdae._arrays import Mat, Vec
from rbdae._figure import COLOURS
from rbdae.formulations.table import FormulationName
from rbdae_papers import closed_form
from rbdae_papers.item import attempt

_MOMENTA: Final = {"velocity": "momentum"}
SCHEMES: Final[dict[str, tuple[FormulationName, dict[str, Any], dict[str, Any]]]] = {
    "QUAT.EM": ("hamiltonian-eliminated", _MOMENTA, {"solver": "rbdae:energy-momentum", "variant": "paper"}),
    "QUAT.EM-R": ("hamiltonian-eliminated", _MOMENTA, {"solver": "rbdae:energy-momentum"}),
    "DIR.EM": (
        "hamiltonian-eliminated",
        {"rotation": "directors", **_MOMENTA},
        {"solver": "rbdae:energy-momentum"},
    ),
    "QUAT.VI": ("hamiltonian-eliminated", _MOMENTA, {"solver": "rbdae:variational"}),
    "ALGO.C1": ("index-0", {"velocity": "angular"}, {"solver": "rbdae:simo-wong"}),
}
"""Formulation and options of each scheme."""

MODELS: Final[dict[str, Any]] = {"free body": rbdae.models.free_body, "gyro top": rbdae.models.gyro_top}
INERTIA: Final = (6.0, 8.0, 3.0)
"""Moments of the free body, kg m^2."""
_OMEGA: Final = (10.0, 20.0, 20.0)
_TILT, _PRECESSION, LENGTH = np.pi / 3.0, 10.0, 0.075

_LOOK: Final[dict[str, tuple[str, str]]] = {
    "QUAT.EM": (COLOURS[0], "o"),
    "QUAT.EM-R": (COLOURS[5], "s"),
    "DIR.EM": (COLOURS[1], "^"),
    "QUAT.VI": (COLOURS[3], "v"),
    "ALGO.C1": (COLOURS[2], "D"),
}


def look(scheme: str, *, marks: bool = True) -> dict[str, Any]:
    """Colour and mark of a scheme's curve, and its name in the legend."""
    colour, marker = _LOOK[scheme]
    return {
        "color": colour, "marker": marker if marks else None, "markersize": 4.5, "linewidth": 1.3, "label": scheme,
    }  # fmt: skip


@lru_cache(maxsize=32)
def problem(model: str, scheme: str) -> rbdae.Problem:
    """An example formulated for a scheme."""
    formulation, options, _ = SCHEMES[scheme]
    return rbdae.formulate(MODELS[model](), formulation, **options)


@lru_cache(maxsize=128)
def run(model: str, scheme: str, step: float, t_end: float) -> rbdae.Solution:
    """A run, unsuccessful if the step is too large."""
    return attempt(problem(model, scheme), (0.0, t_end), step=step, **SCHEMES[scheme][2])


def circle(t: Any) -> Mat:
    """The centre of mass of the top in closed form, (m, 3), m."""
    turned = _PRECESSION * np.asarray(t, dtype=float)
    across, up = LENGTH * np.sin(_TILT), LENGTH * np.cos(_TILT)
    return np.stack([across * np.sin(turned), -across * np.cos(turned), np.full_like(turned, up)], axis=-1)


def error(model: str, solution: rbdae.Solution) -> float:
    """The error at the end: |R_ref R^T - I| (Frobenius norm) for the free body, relative error of the centre for the
    top."""
    if model == "gyro top":
        wanted = circle(solution.t[-1])
        centre = solution.states["top"].center_of_mass[-1]
        return float(np.linalg.norm(centre - wanted) / np.linalg.norm(wanted))
    body = closed_form.FreeBody(INERTIA, _OMEGA)
    difference = body.orientation(solution.t[-1]) * solution.states["body"].orientation[-1].inv()
    return float(np.linalg.norm(difference.as_matrix() - np.eye(3)))


def changes(solution: rbdae.Solution) -> dict[str, Vec]:
    """Relative changes of energy and of the components of the angular momentum along a run."""
    energy, momentum = solution.energy.total, solution.momentum.angular
    size = float(np.linalg.norm(momentum[0]))
    named = {f"L{k + 1}": (momentum[:, k] - momentum[0, k]) / size for k in range(3)}
    return {"energy": energy / energy[0] - 1.0, **named}


def order(steps: list[float], errors: list[float]) -> float:
    """The exponent of the step size in the error."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
