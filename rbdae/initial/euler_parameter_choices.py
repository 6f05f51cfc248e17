"""The forms of [SNS15], as `rbdae.formulate` takes them: names, their numbers in the kernels, and where they belong."""

from __future__ import annotations

from typing import Literal

from rbdae import _check
from rbdae.formulations.base import Formulation
from rbdae.kernels import records as kb
from rbdae.multibody.velocity_kind import QUATERNION_RATES, VelocityKind

Gyroscopic = Literal["third-order", "fifth-order"]
PullBack = Literal["homogeneous", "moment", "inhomogeneous"]

_GYROSCOPIC = {"third-order": kb.THIRD_ORDER, "fifth-order": kb.FIFTH_ORDER}
_PULL_BACK = {"homogeneous": kb.HOMOGENEOUS, "moment": kb.MOMENT, "inhomogeneous": kb.INHOMOGENEOUS}


def check_forms(
    form: Formulation, kind: VelocityKind, radial_inertia: str, gyroscopic: str | None, pull_back: str | None
) -> tuple[int, int]:
    """The kernels' numbers of the gyroscopic term and of the generalised forces.

    Raises
    ------
    ValueError
        A name is unknown, or the formulation has no such choice.
    """
    for what, value, known in (("gyroscopic", gyroscopic, _GYROSCOPIC), ("pull_back", pull_back, _PULL_BACK)):
        if value is None:
            continue
        if not isinstance(value, str) or value not in known:
            raise _check.unknown(f"value of {what}", value, known)
        _refuse(form, kind, f"{what}={value!r}")
    if form.projected:
        if radial_inertia != "zero":
            raise ValueError(
                f"radial_inertia={radial_inertia!r} counts along p, where {form.name} has no equation ([SNS15] (25)): "
                "leave it out, or choose 'index-2', 'index-1' or 'index-0'"
            )
        return kb.FIFTH_ORDER, kb.MOMENT
    return _GYROSCOPIC[gyroscopic or "third-order"], _PULL_BACK[pull_back or "homogeneous"]


def _refuse(form: Formulation, kind: VelocityKind, given: str) -> None:
    """Such a value where it has no meaning."""
    lead = f"{given} is a choice of the quaternion equations with the multiplier of the unit norm ([SNS15])"
    if form.projected:
        raise ValueError(f"{lead}; {form.name} is free of it and has one form, (25): leave it out")
    if form.unknowns == "momenta":
        raise ValueError(f"{lead} in velocities; {form.name} has momenta, whose equations come from H: leave it out")
    if kind is not QUATERNION_RATES:
        raise ValueError(
            f"{lead}: choose rotation='quaternion', velocity='coordinate' and e.g. 'index-2', 'ggl' or 'index-0', or "
            "leave it out"
        )


__all__ = ["Gyroscopic", "PullBack", "check_forms"]
