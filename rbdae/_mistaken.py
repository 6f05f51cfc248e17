"""The error of a method that takes joints, or forces, for something else."""

from __future__ import annotations

from rbdae import _check
from rbdae.forces.base import AbstractForce
from rbdae.joints.base import AbstractJoint


def mistaken(method: str, wanted: str, value: object) -> TypeError:
    """The error for what is no joint, or no force, with the method that takes it."""
    if isinstance(value, type) and issubclass(value, (AbstractJoint, AbstractForce)):
        got, remedy = f"the class {value.__name__}", f"; call it first: {value.__name__}(...)"
    elif isinstance(value, AbstractJoint):
        what = "a joint" if value.rheonomic() is None else "a drive, which is a joint whose position is prescribed"
        got, remedy = f"{type(value).__name__}, {what}", "; use add_joint"
    elif isinstance(value, AbstractForce):
        got, remedy = f"{type(value).__name__}, a force", "; use add_force"
    else:
        got, remedy = _check.show(value), ""
    return TypeError(f"{method} takes {wanted}, got {got}{remedy}")


__all__ = ["mistaken"]
