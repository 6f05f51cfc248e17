"""The problem of a command, and what to type where joint equations follow from others."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

import rbdae
from rbdae.cli.parser import hold_of


def formulated(
    system: rbdae.System,
    formulation: Any,
    rotation: Any,
    velocity: Any,
    redundant: Any,
    given: argparse.Namespace,
    reference: Any,
) -> rbdae.Problem:
    """The problem with the bodies held that `given` names; the names are what was typed."""
    return rbdae.formulate(
        system,
        formulation,
        rotation=rotation,
        velocity=velocity,
        redundant=redundant,
        hold=hold_of(given),
        reference=reference,
    )


def may_be_left_out(error: Exception) -> bool:
    """Whether a problem was refused for joint equations that ``--redundant minimum-norm`` leaves out."""
    return "redundant='minimum-norm'" in str(error)


def again_with(given: argparse.Namespace, *words: str) -> str:
    """The same line with other words at its end."""
    return f"Type: rbdae {shlex.join([*given.typed, *words])}"


__all__ = ["again_with", "formulated", "may_be_left_out"]
