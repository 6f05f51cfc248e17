"""SUNDIALS from C: CVODE and IDA with callbacks by hand, without Python between them."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from pathlib import Path

import numpy as np

import rbdae

from . import by_c, c_library
from .mechanisms import Array, HeavyTop, LinkedBodies, Mechanism
from .method import Method, Peer
from .missing import Missing

INSTALL = "apt-get install gcc libsundials-dev"
LIBRARIES = ("cvode", "ida", "nvecserial", "sunmatrixdense", "sunlinsoldense", "sunnonlinsolfixedpoint")
LOOSE = 1e6
"""Absolute tolerance of the multipliers, N: their errors do not enter the motion."""


@functools.cache
def library() -> ctypes.CDLL:
    """The drivers, linked with the system's SUNDIALS."""
    try:
        return c_library.compile_together(("sundials",), [f"-lsundials_{name}" for name in LIBRARIES])
    except RuntimeError as error:
        raise Missing("SUNDIALS with its headers", INSTALL) from error


def version() -> str:
    """That of the headers."""
    config = Path("/usr/include/sundials/sundials_config.h")
    lines = config.read_text().splitlines() if config.exists() else []
    found = [line.split('"')[1] for line in lines if line.startswith("#define SUNDIALS_VERSION ")]
    return f"SUNDIALS {found[0]}" if found else ""


def cvode(mechanism: Mechanism, newton: bool, tolerance: float) -> Callable[[], Array]:
    """A run of CVODE: BDF with differences for the Jacobian, or Adams with fixed points."""
    address, context = by_c.rhs(mechanism)
    y0, counts = mechanism.y0, c_library.Counts()
    y, double = np.empty_like(y0), ctypes.c_double
    arguments = (
        *(ctypes.c_void_p(address), None, None, ctypes.c_void_p(context), y0.size, double(mechanism.t_end)),
        *(c_library.pointer(y), double(tolerance), double(tolerance), int(newton), ctypes.byref(counts)),
    )
    function = library().run_cvode

    def run() -> Array:
        y[:] = y0
        if function(*arguments):
            raise ArithmeticError(f"CVODE has stopped before the end of {mechanism.name}")
        return y

    return run


def ida(mechanism: LinkedBodies, tolerance: float) -> Callable[[], Array]:
    """A run of IDA at index 2 with the Jacobian, multipliers out of the error test."""
    problem = rbdae.formulate(mechanism.system, "index-2")
    y, yd, counts = np.empty(problem.n), np.empty(problem.n), c_library.Counts()
    classes, double = problem.differential.astype(float), ctypes.c_double
    least = np.where(problem.differential, tolerance, LOOSE)
    residual, jacobian = (
        ctypes.c_void_p(c_library.address(f"linked_bodies_{name}")) for name in ("residual", "jacobian_entries")
    )
    arguments = (
        *(residual, jacobian, None, None, problem.n, double(mechanism.t_end), c_library.pointer(y)),
        *(
            c_library.pointer(yd),
            c_library.pointer(classes),
            double(tolerance),
            c_library.pointer(least),
            ctypes.byref(counts),
        ),
    )
    function = library().run_ida

    def run() -> Array:
        y[:], yd[:] = problem.y0, problem.yd0
        if function(*arguments):
            raise ArithmeticError("IDA has stopped before the end of linked_bodies")
        return y

    return run


def methods(mechanism: Mechanism) -> list[Method]:
    """Adams for all; BDF for the top, IDA for linked bodies, where a dense Jacobian is small."""
    library()
    centres = mechanism.centres
    found = [Method("CVODE Adams", lambda knob: cvode(mechanism, False, knob), centres)]
    if isinstance(mechanism, HeavyTop):
        found.append(Method("CVODE BDF", lambda knob: cvode(mechanism, True, knob), centres))
    if isinstance(mechanism, LinkedBodies):
        found.append(Method("IDA, index 2", lambda knob: ida(mechanism, knob), centres))
    return found


PEER = Peer("SUNDIALS from C", methods)
