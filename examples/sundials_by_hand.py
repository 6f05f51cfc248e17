"""Your own loop over SUNDIALS' C functions: rbdae supplies residual and Jacobian as C functions, by their addresses.

Two bodies with a spherical joint, as a DAE of index 2, in IDA with SUNDIALS' dense linear solver. Here ctypes calls the
functions; a loop in C, Cython or cffi takes the same addresses, and then no Python runs in between.
"""

from __future__ import annotations

import ctypes

import numpy as np

import rbdae
from rbdae_adapters import sundials

REAL, INT, LONG, INDEX, PLACE = ctypes.c_double, ctypes.c_int, ctypes.c_long, ctypes.c_int64, ctypes.c_void_p
MACHINE = ctypes.CFUNCTYPE(ctypes.c_int32, PLACE, REAL, PLACE, PLACE, REAL, PLACE)
RESIDUAL = ctypes.CFUNCTYPE(INT, REAL, PLACE, PLACE, PLACE, PLACE)
JACOBIAN = ctypes.CFUNCTYPE(INT, REAL, REAL, *(PLACE,) * 8)
ONE_STEP = 2


def run(t_end: float = 0.2, tolerance: float = 1e-8) -> tuple[rbdae.Problem, np.ndarray, np.ndarray]:
    """Times, and unknowns in rows."""
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-2", rotation="directors")
    n, pattern = problem.n, problem.sparsity
    rows, columns = pattern.indices, np.repeat(np.arange(n), np.diff(pattern.indptr))

    # Consistent values, tolerances with the multipliers out of the error test, and the installed SUNDIALS.
    native = sundials.ADAPTER.native(problem, "ida", rtol=tolerance, atol=tolerance)
    # These objects keep the functions alive: hold them as long as SUNDIALS may call.
    residual, jacobian = problem.callbacks.machine("residual"), problem.callbacks.machine("jacobian_data")
    call_residual, call_jacobian = MACHINE(residual.address), MACHINE(jacobian.address)

    def call(name: str, result: type | None, *arguments: object) -> int:
        return ctypes.CFUNCTYPE(result)(native.library.address(name))(*arguments)

    def made(name: str, *arguments: object) -> ctypes.c_void_p:
        return PLACE(call(name, PLACE, *arguments))

    def done(name: str, *arguments: object) -> None:
        if (flag := call(name, INT, *arguments)) < 0:
            residual.check()  # raises the exception of a Python function of the model
            raise RuntimeError(f"{name} returned {flag}")

    get_array = ctypes.CFUNCTYPE(PLACE, PLACE)(native.library.address("N_VGetArrayPointer"))
    get_data = ctypes.CFUNCTYPE(PLACE, PLACE)(native.library.address("SUNDenseMatrix_Data"))

    def doubles(at: int, size: int) -> np.ndarray:
        return np.frombuffer((REAL * size).from_address(at))

    @RESIDUAL
    def fill_residual(t: float, y: int, yd: int, out: int, _: int) -> int:
        return call_residual(residual.context, t, get_array(y), get_array(yd), 0.0, get_array(out))

    data = np.zeros(pattern.nnz)

    @JACOBIAN
    def fill_jacobian(t: float, c: float, y: int, yd: int, _: int, matrix: int, *__: int) -> int:
        status = call_jacobian(jacobian.context, t, get_array(y), get_array(yd), c, data.ctypes.data)
        doubles(get_data(matrix), n * n).reshape(n, n)[columns, rows] = data  # column by column, initially zero
        return int(status)

    context = PLACE()
    done("SUNContext_Create", PLACE(0), ctypes.byref(context))
    vectors = []
    for x in (native.y0, native.yd0, np.broadcast_to(native.atol, (n,))):
        vectors.append(made("N_VNew_Serial", INDEX(n), context))
        doubles(get_array(vectors[-1]), n)[:] = x
    y, yd, atol = vectors
    matrix = made("SUNDenseMatrix", INDEX(n), INDEX(n), context)
    solver = made("SUNLinSol_Dense", y, matrix, context)
    memory = made("IDACreate", context)
    try:
        done("IDAInit", memory, fill_residual, REAL(native.t0), y, yd)
        done("IDASVtolerances", memory, REAL(native.rtol), atol)
        done("IDASetLinearSolver", memory, solver, matrix)
        done("IDASetJacFn", memory, fill_jacobian)
        done("IDASetInitStep", memory, REAL(native.options["first_step"]))
        done("IDASetMaxNumSteps", memory, LONG(native.options["max_num_steps"]))
        done("IDASetStopTime", memory, REAL(t_end))

        t = REAL(native.t0)
        times, states = [native.t0], [native.y0]
        while t.value < t_end:
            done("IDASolve", memory, REAL(t_end), ctypes.byref(t), y, yd, INT(ONE_STEP))
            times.append(t.value)
            states.append(doubles(get_array(y), n).copy())
    finally:
        call("IDAFree", None, ctypes.byref(memory))
        call("SUNLinSolFree", INT, solver)
        call("SUNMatDestroy", None, matrix)
        for vector in vectors:
            call("N_VDestroy", None, vector)
        call("SUNContext_Free", INT, ctypes.byref(context))
    return problem, np.array(times), np.array(states)


def main() -> None:
    problem, t, y = run()
    energy = problem.energy(t, y).total
    print(f"{len(t) - 1} steps; energy changed by {np.ptp(energy) / energy[0]:.1e} of its value")
    print(f"constraint at the end: {np.abs(problem.constraints(t[-1], y[-1]).position).max():.1e} m")


if __name__ == "__main__":
    main()
