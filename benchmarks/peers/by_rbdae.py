"""rbdae: whole `rbdae.solve` calls."""

from __future__ import annotations

import functools
from collections.abc import Callable

import rbdae

from . import by_c
from .mechanisms import Array, Chain, HeavyTop, LinkedBodies, Mechanism
from .method import Compiled, Method, Peer
from .missing import Missing


@functools.cache
def formulated(mechanism: Mechanism, formulation: str) -> rbdae.Problem:
    """One problem for all runs."""
    return rbdae.formulate(mechanism.system, formulation)


def large(mechanism: Mechanism) -> bool:
    """Whether C's loops are left out."""
    return isinstance(mechanism, Chain) and mechanism.n > 10


def solved(mechanism: Mechanism, formulation: str, solver: str, tolerance: float) -> Callable[[], Array]:
    """A whole call; it returns the unknowns at the end."""
    problem = formulated(mechanism, formulation)
    span = (0.0, mechanism.t_end)

    def run() -> Array:
        solution = rbdae.solve(problem, span, solver=solver, rtol=tolerance, atol=tolerance)
        if not solution.success:
            raise ArithmeticError(solution.message)
        return solution.y[-1]

    return run


def methods(mechanism: Mechanism) -> list[Method]:
    """The solvers that are here and suit the mechanism; its machine code also in C's loops."""
    here = {s.name for s in rbdae.solvers() if s.available}
    tried = [("index-0", s) for s in ("rbdae:dopri5", "rbdae:dop853", "scipy:DOP853") if s in here]
    if isinstance(mechanism, HeavyTop):
        tried += [("index-0", s) for s in ("sundials:cvode", "sksundae:cvode", "scipy:LSODA") if s in here]
    if isinstance(mechanism, LinkedBodies):
        tried += [("index-2", s) for s in ("sundials:ida", "sksundae:ida") if s in here]
    found = [
        Method(
            f"{solver}, {formulation}",
            functools.partial(solved, mechanism, formulation, solver),
            mechanism.centres,
        )
        for formulation, solver in tried
    ]
    return found if large(mechanism) else found + in_loops(mechanism)


def in_loops(mechanism: Mechanism) -> list[Method]:
    """C's loops with the right-hand side in machine code."""
    try:
        by_c.rhs(mechanism)
    except Missing:
        return []
    rhs = functions(mechanism)[0]
    return [
        Method(
            f"C's {loop.upper()} loop, our right-hand side",
            lambda knob, loop=loop: by_c.looped(loop, rhs.address, rhs.context, mechanism, knob),  # type: ignore[misc]
            mechanism.centres,
        )
        for loop in by_c.LOOPS
    ]


def functions(mechanism: Mechanism) -> list[Compiled]:
    """Machine code, as a compiled loop calls it."""
    wanted = [("right-hand side", "index-0", "rhs")]
    if isinstance(mechanism, LinkedBodies):
        wanted += [
            ("residual, index 2", "index-2", "residual"),
            ("Jacobian, index 2, all entries", "index-2", "jacobian"),
            ("Jacobian, index 2, nonzeros", "index-2", "jacobian_data"),
        ]
    return [compiled(mechanism, *names) for names in wanted]


def compiled(mechanism: Mechanism, name: str, formulation: str, callback: str) -> Compiled:
    """A callback as a function of `c/peers.h`."""
    problem = formulated(mechanism, formulation)
    function = problem.callbacks.machine(callback)
    n = problem.n
    shape = {"rhs": (n,), "residual": (n,), "jacobian": (n, n), "jacobian_data": (problem.sparsity.nnz,)}[callback]
    return Compiled(name, function.address, function.context, shape, keep=(problem, function))


PEER = Peer("rbdae", methods, functions, ("rbdae",))
