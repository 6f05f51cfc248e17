"""The problem of a command, and what to type where joint equations follow from others."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

import rbdae
from rbdae.cli.parser import hold_of


def formulated(
    system: rbdae.System,
    formulation: str,
    rotation: str,
    velocity: str | None,
    redundant: Any,
    given: argparse.Namespace,
) -> rbdae.Problem:
    """The problem with the bodies held that `given` names; `redundant` is what was typed."""
    return rbdae.formulate(
        system, formulation, rotation=rotation, velocity=velocity, redundant=redundant, hold=hold_of(given)
    )


def may_be_left_out(error: Exception) -> bool:
    """Whether a problem was refused for joint equations that ``--redundant minimum-norm`` leaves out."""
    return "redundant='minimum-norm'" in str(error)


def again_without_redundant(given: argparse.Namespace) -> str:
    """The same line, with these equations left out."""
    return f"Type: rbdae {shlex.join([*given.typed, '--redundant', 'minimum-norm'])}"


__all__ = ["again_without_redundant", "formulated", "may_be_left_out"]
