"""heyoka: the NumPy right-hand sides taken on its expressions, Taylor's method compiled by LLVM for each tolerance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .by_scipy import heavy_top, linked_bodies
from .mechanisms import Array, HeavyTop, LinkedBodies, Mechanism
from .method import TOLERANCES, Method, Peer, needed


def solved(S: Any, b: Any) -> Any:
    """x of S x = b for a symmetric 3 x 3 matrix, by its adjoint."""
    adjoint = np.array([np.cross(S[1], S[2]), np.cross(S[2], S[0]), np.cross(S[0], S[1])])
    return adjoint @ b / (S[0] @ adjoint[0])


def methods(mechanism: Mechanism) -> list[Method]:
    """Its one method, for the bodies that are few."""
    needed("python -m pip install heyoka", ["heyoka"])
    import heyoka as hy

    match mechanism:
        case HeavyTop():
            rhs = heavy_top(mechanism)
        case LinkedBodies():
            rhs = linked_bodies(mechanism, solved)
        case _:
            return []
    names = [f"y{k}" for k in range(len(mechanism.y0))]
    unknowns = np.array(hy.make_vars(*names), dtype=object)
    equations = list(zip(unknowns, map(hy.expression, rhs(0.0, unknowns)), strict=True))

    def prepare(tolerance: float) -> Callable[[], Array]:
        integrator = hy.taylor_adaptive(equations, mechanism.y0, tol=tolerance)

        def run() -> Array:
            integrator.time = 0.0
            integrator.state[:] = mechanism.y0
            if integrator.propagate_until(mechanism.t_end)[0] != hy.taylor_outcome.time_limit:
                raise ArithmeticError("heyoka has stopped before the end")
            return np.array(integrator.state)

        return run

    return [Method("Taylor", prepare, mechanism.centres, TOLERANCES[2::4])]


PEER = Peer("heyoka", methods, packages=("heyoka",))
