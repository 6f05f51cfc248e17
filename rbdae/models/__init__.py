"""Mechanisms from the literature, as functions that return a `System`; `MODELS` lists them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

from rbdae.models.arm6 import arm6 as arm6
from rbdae.models.loops import andrews as andrews
from rbdae.models.loops import bricard as bricard
from rbdae.models.loops import flyball_governor as flyball_governor
from rbdae.models.loops import n_four_bar as n_four_bar
from rbdae.models.loops import planar_slider_crank as planar_slider_crank
from rbdae.models.loops import spatial_slider_crank as spatial_slider_crank
from rbdae.models.pendulums import chain as chain
from rbdae.models.pendulums import cv_pendulum as cv_pendulum
from rbdae.models.pendulums import double_pendulum as double_pendulum
from rbdae.models.pendulums import driven_pendulum as driven_pendulum
from rbdae.models.pendulums import linked_bodies as linked_bodies
from rbdae.models.pendulums import pendulum as pendulum
from rbdae.models.quick_return_shaper import quick_return_shaper as quick_return_shaper
from rbdae.models.tops import bruels_cardona_top as bruels_cardona_top
from rbdae.models.tops import free_body as free_body
from rbdae.models.tops import gyro_top as gyro_top
from rbdae.models.tops import heavy_top as heavy_top
from rbdae.models.tops import rotations_top as rotations_top
from rbdae.models.tops import tennis_racket as tennis_racket
from rbdae.system import System


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """A line of `MODELS`; calling it builds the system.

    Attributes
    ----------
    build : the function; its keyword arguments are the source's parameters
    t_end : end time up to which two good solvers can be compared, s
    summary : one line
    """

    build: Callable[..., System]
    t_end: float
    summary: str

    def __call__(self, **options: Any) -> System:
        return self.build(**options)


MODELS: Final[dict[str, Entry]] = {
    "heavy_top": Entry(heavy_top, 2.0, "heavy top on a fixed point (null-space paper, Example A)"),
    "tennis_racket": Entry(tennis_racket, 0.5, "unstable free rotation (null-space paper, Example B)"),
    "free_body": Entry(free_body, 1.0, "free rotation (Hamiltonian paper, section 5.1)"),
    "gyro_top": Entry(gyro_top, 1.0, "cone on its tip in steady precession (Hamiltonian paper, section 5.2)"),
    "linked_bodies": Entry(linked_bodies, 0.5, "chaotic pair, spherical joint, bushing (null-space paper, Example C)"),
    "pendulum": Entry(pendulum, 5.0, "plane pendulum from the horizontal (IFToMM A01)"),
    "cv_pendulum": Entry(cv_pendulum, 5.0, "plane pendulum with a period of 2 s (SUNDIALS cvPendulum)"),
    "n_four_bar": Entry(n_four_bar, 0.2, "windows of rods, through singular positions later (IFToMM A02)"),
    "andrews": Entry(andrews, 0.03, "Andrews' squeezing mechanism, seven bodies, three loops (IVP test set)"),
    "bricard": Entry(bricard, 1.0, "six hinges in a loop, one redundant equation (IFToMM A04)"),
    "flyball_governor": Entry(flyball_governor, 0.1, "shaft, slider, rods with balls, stiff springs (IFToMM A05)"),
    "planar_slider_crank": Entry(planar_slider_crank, 5.0, "slider crank with a spring (SUNDIALS idaSlCrank)"),
    "spatial_slider_crank": Entry(spatial_slider_crank, 1.0, "spatial slider crank with four kinds of joints (IFToMM)"),
    "bruels_cardona_top": Entry(bruels_cardona_top, 0.2, "fast heavy top as a free body on a ball joint"),
    "rotations_top": Entry(rotations_top, 1.0, "top as a free body on a ball joint (rotations paper, section 11.6)"),
    "double_pendulum": Entry(double_pendulum, 1.0, "two hinged links from the horizontal"),
    "driven_pendulum": Entry(driven_pendulum, 2.0, "pendulum on a carriage that is driven along a rail (rheonomic)"),
    "chain": Entry(chain, 0.5, "ten links on ball joints from the horizontal"),
    "quick_return_shaper": Entry(quick_return_shaper, 0.8, "shaper: crank, block, rocker, link, ram in two loops"),
    "arm6": Entry(arm6, 0.5, "PUMA 560, six links on hinges, falls without motors"),
}

__all__ = ["MODELS", "reference", *MODELS]

reference: Callable[[str], Any]
"""`rbdae.study.model_reference.model_reference`, which runs solvers: the package hands it down from its top."""
