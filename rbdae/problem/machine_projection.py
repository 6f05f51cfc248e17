"""The projection with its defaults as one machine function, for loops of a user."""

from __future__ import annotations

from collections.abc import Callable

from rbdae._arrays import Vec
from rbdae.kernels import projection as kernel
from rbdae.machine.function import MachineFunction, trampoline
from rbdae.machine.projected import projected
from rbdae.problem.compiled_projection import CompiledProjection
from rbdae.problem.contract import ProjectionError


def machine_projection(
    kernel_call: Callable[[float, Vec, Vec], None], near: MachineFunction | None, info: Vec, n: int
) -> MachineFunction:
    """A machine function that projects y (n,) to out.

    Parameters
    ----------
    kernel_call : ``project(t, y, info)``, see `rbdae.kernels.projection`
    near : the code for states near the constraints, if there is some of the model
    info : how to project
    n : unknowns
    """

    def project(t: float, y: Vec) -> bool:
        mine = info.copy()
        kernel_call(t, y, mine)
        if mine[kernel.ITERATIONS] < 0.0:
            raise ProjectionError(
                f"t = {t:g}: the constraints are redundant or singular, or Newton's method did not reach them; start "
                "closer to a consistent position, or project by rbdae.Projection, which says where"
            )
        return bool(mine[kernel.CHANGED] != 0.0)

    def anywhere(t: float, y: Vec, out: Vec) -> None:
        out[:] = y
        project(t, out)

    if near is None:
        return trampoline(anywhere, "tyo", {"y": (n,), "out": (n,)})
    return projected(CompiledProjection(project, near, info, n), n)
