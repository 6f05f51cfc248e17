"""Types of the functions that `publish` adds to every chart's file; empty at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from rbdae.rotations.functions import ChartFunctions

    _of = cast(ChartFunctions, None)
    matrix, matrix_derivative, parameters = _of.matrix, _of.matrix_derivative, _of.parameters
    quaternion, half_rotation, compose = _of.quaternion, _of.half_rotation, _of.compose
    tangent, tangent_derivative, tangent_rate = _of.tangent, _of.tangent_derivative, _of.tangent_rate
    inverse_tangent, inverse_tangent_rate = _of.inverse_tangent, _of.inverse_tangent_rate
    inverse_tangent_derivative, distance, is_singular = _of.inverse_tangent_derivative, _of.distance, _of.is_singular
else:
    __all__ = []
