"""Rigid-body formulations with analytic Jacobians for the DAE and ODE solvers of Python."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rbdae import actuators, drives, forces, formulations, joints, models, rotations
from rbdae._version import __version__ as __version__
from rbdae.actuators.block import Actuator, Block, Points, Sampled, block
from rbdae.initial.formulate import assemble, formulate
from rbdae.initial.given import InitialValuesWarning
from rbdae.inputs import Table
from rbdae.problem import observables
from rbdae.problem.contract import ProjectionError
from rbdae.problem.event import Event
from rbdae.problem.problem import Problem
from rbdae.problem.projection import Projection, Projector
from rbdae.problem.start import Assembly
from rbdae.solving.registry import solvers
from rbdae.solving.run import FailedRunWarning, solve
from rbdae.solving.simulator import Simulator, StepError
from rbdae.solving.solution import Solution, load
from rbdae.solving.tolerances import scaled_atol
from rbdae.system import System

__all__ = [
    "Actuator",
    "Assembly",
    "Block",
    "Event",
    "FailedRunWarning",
    "InitialValuesWarning",
    "Points",
    "Problem",
    "Projection",
    "ProjectionError",
    "Projector",
    "Sampled",
    "Simulator",
    "Solution",
    "StepError",
    "System",
    "Table",
    "actuators",
    "assemble",
    "block",
    "citation",
    "closed_form",
    "compare",
    "drives",
    "forces",
    "formulate",
    "formulations",
    "joints",
    "kinematics",
    "load",
    "models",
    "observables",
    "pairings",
    "rotations",
    "scaled_atol",
    "solve",
    "solvers",
    "study",
]

_LATER = {
    "citation": "rbdae.study.citing:citation",
    "closed_form": "rbdae.closed_form",
    "compare": "rbdae.study:compare",
    "kinematics": "rbdae.kinematics",
    "pairings": "rbdae.study.case:pairings",
    "study": "rbdae.study",
}
"""Names that are imported on first use."""

if TYPE_CHECKING:
    from types import ModuleType

    from rbdae import study
    from rbdae.study.case import pairings
    from rbdae.study.citing import citation
    from rbdae.study.comparing import compare

    closed_form: ModuleType
    kinematics: ModuleType
else:

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module 'rbdae' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
        module, _, attribute = _LATER[name].partition(":")
        return getattr(import_module(module), attribute) if attribute else import_module(module)


def _reference(name: str) -> Any:
    """Compute the motion of a model at 20 times, see `rbdae.study.model_reference`, which is imported on first use."""
    return import_module("rbdae.study.model_reference").model_reference(name)


models.reference = _reference


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
