"""C by hand: right-hand sides as one would write them for the mechanism, in DOPRI5 and DOP853 loops."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from . import c_library
from .mechanisms import Array, Chain, HeavyTop, LinkedBodies, Mechanism
from .method import Compiled, Method, Peer

LOOPS = ("dopri5", "dop853")
MOST_STEPS = 1_000_000


def rhs(mechanism: Mechanism) -> tuple[int, int]:
    """Address and context of the right-hand side of `index-0`."""
    match mechanism:
        case HeavyTop():
            return c_library.address("heavy_top"), 0
        case LinkedBodies():
            return c_library.address("linked_bodies"), 0
        case Chain(n=n):
            return c_library.address("chain"), c_library.chain_context(n)
    raise ValueError(f"{mechanism.name} is not written in C")


def looped(loop: str, address: int, context: int, mechanism: Mechanism, tolerance: float) -> Callable[[], Array]:
    """A run of a C loop with any compiled right-hand side; it returns the unknowns at the end."""
    function = getattr(c_library.library(), loop)
    y0, counts = mechanism.y0, c_library.Counts()
    y, work = np.empty_like(y0), np.empty(14 * y0.size)
    double = ctypes.c_double
    arguments = (
        *(ctypes.c_void_p(address), ctypes.c_void_p(context), y0.size, double(0.0), double(mechanism.t_end)),
        *(c_library.pointer(y), double(tolerance), double(tolerance), ctypes.c_long(MOST_STEPS)),
        *(c_library.pointer(work), ctypes.byref(counts)),
    )

    def run() -> Array:
        y[:] = y0
        if function(*arguments):
            raise ArithmeticError(f"C's {loop} has stopped before the end of {mechanism.name}")
        return y

    return run


def methods(mechanism: Mechanism) -> list[Method]:
    """Both loops."""
    address, context = rhs(mechanism)
    return [
        Method(loop.upper(), lambda knob, loop=loop: looped(loop, address, context, mechanism, knob), mechanism.centres)  # type: ignore[misc]
        for loop in LOOPS
    ]


def functions(mechanism: Mechanism) -> list[Compiled]:
    """The right-hand side; for linked bodies residual and Jacobian at index 2, too."""
    address, context = rhs(mechanism)
    found = [Compiled("right-hand side", address, context, mechanism.y0.shape)]
    if isinstance(mechanism, LinkedBodies):
        n = mechanism.y0.size + 3
        for name, function, shape in (
            ("residual, index 2", "linked_bodies_residual", (n,)),
            ("Jacobian, index 2, all entries", "linked_bodies_jacobian", (n, n)),
            ("Jacobian, index 2, nonzeros", "linked_bodies_jacobian_entries", (n, n)),
        ):
            found.append(Compiled(name, c_library.address(function), 0, shape))
    return found


PEER = Peer("C by hand", methods, functions)
