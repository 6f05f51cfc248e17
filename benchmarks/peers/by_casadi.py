"""CasADi: expressions of the equations, its integrators, and the expressions as C code that it writes."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import by_scipy, c_library
from .mechanisms import Array, Chain, HeavyTop, LinkedBodies, Mechanism, written
from .method import PIP, TOLERANCES, Compiled, Method, Peer, needed
from .missing import Missing

LARGEST = 10
"""Links of a chain that is written as one expression."""


def rotation(p: Any) -> Any:
    """R(p)"""
    import casadi as ca

    p0, p1, p2, p3 = (p[k] for k in range(4))
    rows = (
        (p0 * p0 + p1 * p1 - p2 * p2 - p3 * p3, 2 * (p1 * p2 - p0 * p3), 2 * (p1 * p3 + p0 * p2)),
        (2 * (p1 * p2 + p0 * p3), p0 * p0 - p1 * p1 + p2 * p2 - p3 * p3, 2 * (p2 * p3 - p0 * p1)),
        (2 * (p1 * p3 - p0 * p2), 2 * (p2 * p3 + p0 * p1), p0 * p0 - p1 * p1 - p2 * p2 + p3 * p3),
    )
    return ca.vertcat(*(ca.horzcat(*row) for row in rows))


def rate(p: Any, om: Any) -> Any:
    """pdot = p o (0, Omega) / 2"""
    import casadi as ca

    return 0.5 * ca.vertcat(-ca.dot(p[1:], om), p[0] * om + ca.cross(p[1:], om))


def inverse(S: Any) -> Any:
    """Of a symmetric 3 x 3 matrix, by its adjoint."""
    import casadi as ca

    a, b, c, d, e, f = S[0, 0], S[1, 0], S[1, 1], S[2, 0], S[2, 1], S[2, 2]
    A = (c * f - e * e, e * d - b * f, a * f - d * d, b * e - c * d, b * d - a * e, a * c - b * b)
    rows = ((A[0], A[1], A[3]), (A[1], A[2], A[4]), (A[3], A[4], A[5]))
    return ca.vertcat(*(ca.horzcat(*row) for row in rows)) / (a * A[0] + b * A[1] + d * A[3])


def heavy_top(m: HeavyTop) -> tuple[Any, Any]:
    """Unknowns and rates."""
    import casadi as ca

    y = ca.SX.sym("y", 7)
    p, om, J = y[:4], y[4:], ca.DM(m.inertia)
    w = rotation(p)[2, :].T
    torque = m.mass * m.gravity * m.length * ca.vertcat(w[1], -w[0], 0)
    return y, ca.vertcat(rate(p, om), (ca.cross(J * om, om) + torque) / J)


def linked_bodies(m: LinkedBodies) -> tuple[Any, Any]:
    """Unknowns and rates."""
    import casadi as ca

    y = ca.SX.sym("y", 26)
    held = -m.stiffness / m.masses[0] * y[:3]
    S, gamma, Zs, free = (1.0 / m.masses[0] + 1.0 / m.masses[1]) * ca.SX.eye(3), held, [], []
    for b, sign in ((0, 1.0), (1, -1.0)):
        p, om, rho, J = y[7 * b + 3 : 7 * b + 7], y[6 * b + 17 : 6 * b + 20], ca.DM(m.points[b]), ca.DM(m.inertias[b])
        R = rotation(p)
        Zs.append(R @ ca.skew(rho))
        free.append(ca.cross(J * om, om) / J)
        S = S + Zs[b] @ ca.diag(1.0 / J) @ Zs[b].T
        gamma = gamma + sign * (R @ (ca.cross(om, ca.cross(om, rho)) + ca.cross(free[b], rho)))
    la = inverse(S) @ gamma
    spins = [free[b] + s * (Zs[b].T @ la) / ca.DM(m.inertias[b]) for b, s in ((0, 1.0), (1, -1.0))]
    turned = [rate(y[7 * b + 3 : 7 * b + 7], y[17 + 6 * b : 20 + 6 * b]) for b in (0, 1)]
    rates = ca.vertcat(y[14:17], turned[0], y[20:23], turned[1])
    return y, ca.vertcat(rates, held - la / m.masses[0], spins[0], la / m.masses[1], spins[1])


def chain(m: Chain) -> tuple[Any, Any]:
    """Unknowns and rates; the block-tridiagonal system eliminated from the tip."""
    import casadi as ca

    n, a, share, J = m.n, 0.5 * m.length, 1.0 / m.mass, ca.DM(m.inertia)
    y = ca.SX.sym("y", 13 * n)
    weight = ca.DM([0, 0, -m.gravity])
    p = [y[7 * k + 3 : 7 * k + 7] for k in range(n)]
    om = [y[7 * n + 6 * k + 3 : 7 * n + 6 * k + 6] for k in range(n)]
    R = [rotation(q) for q in p]
    arm = ca.DM([a, 0, 0])
    Z = [r @ ca.skew(arm) for r in R]
    free = [ca.cross(J * o, o) / J for o in om]
    w = [R[k] @ (ca.cross(om[k], ca.cross(om[k], arm)) + ca.cross(free[k], arm)) for k in range(n)]
    P = [z @ ca.diag(1.0 / J) @ z.T for z in Z]
    own, beside = [x + share * ca.SX.eye(3) for x in P], [x - share * ca.SX.eye(3) for x in P]
    X, z = [None] * n, [None] * n
    for k in range(n - 1, -1, -1):
        D, g = own[k], w[k]
        if k + 1 < n:
            D, g = D - beside[k] @ X[k + 1] @ beside[k], g - beside[k] @ z[k + 1]
        D, g = (D + own[k - 1], g + w[k - 1]) if k else (D, g - weight)
        X[k] = inverse(D)
        z[k] = X[k] @ g
    la = [z[0]]
    for k in range(1, n):
        la.append(z[k] - X[k] @ (beside[k - 1] @ la[k - 1]))
    la.append(ca.SX.zeros(3))
    rates = [ca.vertcat(y[7 * n + 6 * k : 7 * n + 6 * k + 3], rate(p[k], om[k])) for k in range(n)]
    spins = [
        ca.vertcat(share * (la[k] - la[k + 1]) + weight, free[k] + (Z[k].T @ (la[k] + la[k + 1])) / J) for k in range(n)
    ]
    return y, ca.vertcat(*rates, *spins)


def rhs_of(mechanism: Mechanism) -> tuple[Any, Any]:
    """Unknowns and rates as expressions."""
    return written(mechanism, heavy_top, linked_bodies, chain)


def index2(m: LinkedBodies) -> tuple[Any, Any, Any, Any, Any]:
    """y, yd, c, the residual at index 2 and dF/dy + c dF/dyd."""
    import casadi as ca

    y, yd, c = ca.SX.sym("y", 29), ca.SX.sym("yd", 29), ca.SX.sym("c")
    la, rows, dynamics, g = y[26:], [], [], 0
    for b, sign in ((0, 1.0), (1, -1.0)):
        q, v = slice(7 * b, 7 * b + 7), slice(14 + 6 * b, 20 + 6 * b)
        p, om, rho, J = y[q][3:], y[v][3:], ca.DM(m.points[b]), ca.DM(m.inertias[b])
        R = rotation(p)
        held = m.stiffness * y[:3] if b == 0 else 0
        rows += [yd[q][:3] - y[v][:3], yd[q][3:] - rate(p, om)]
        dynamics.append(m.masses[b] * yd[v][:3] + held + sign * la)
        dynamics.append(J * yd[v][3:] + ca.cross(om, J * om) + sign * ca.cross(rho, R.T @ la))
        g = g + sign * (y[v][:3] + R @ ca.cross(om, rho))
    F = ca.vertcat(*rows, *dynamics, g)
    return y, yd, c, F, ca.jacobian(F, y) + c * ca.jacobian(F, yd)


def integrated(
    mechanism: Mechanism, y: Any, rates: Any, options: dict[str, Any], tolerance: float
) -> Callable[[], Array]:
    """A run of CasADi's CVODES; it returns the unknowns at the end."""
    import casadi as ca

    options = {"abstol": tolerance, "reltol": tolerance, "max_num_steps": 1_000_000, **options}
    solver = ca.integrator("run", "cvodes", {"x": y, "ode": rates}, 0.0, mechanism.t_end, options)
    start = ca.DM(mechanism.y0)
    return lambda: solver(x0=start)["xf"].full()[:, 0]


def integrated_dae(mechanism: LinkedBodies, tolerance: float) -> Callable[[], Array]:
    """A run of CasADi's IDAS on the equations of index 1: accelerations and multipliers are algebraic."""
    import casadi as ca

    y, yd, _, F, _ = index2(mechanism)
    x, z = y[:26], ca.SX.sym("z", 15)
    turned = [rate(y[7 * b + 3 : 7 * b + 7], y[17 + 6 * b : 20 + 6 * b]) for b in (0, 1)]
    rates = ca.vertcat(y[14:17], turned[0], y[20:23], turned[1], z[:12])
    dynamics = ca.substitute(F[14:26], ca.vertcat(yd[14:26], y[26:]), z)
    problem = {"x": x, "z": z, "ode": rates, "alg": ca.vertcat(dynamics, ca.jtimes(F[26:], x, rates))}
    options = {"abstol": tolerance, "reltol": tolerance, "max_num_steps": 1_000_000, "suppress_algebraic": True}
    solver = ca.integrator("run", "idas", problem, 0.0, mechanism.t_end, options)
    found = by_scipy.rhs_of(mechanism)(0.0, mechanism.y0)[14:]
    force = -mechanism.masses[0] * found[:3] - mechanism.stiffness * mechanism.y0[:3]
    start, guess = ca.DM(mechanism.y0), ca.DM(np.concatenate((found, force)))
    return lambda: solver(x0=start, z0=guess)["xf"].full()[:, 0]


def methods(mechanism: Mechanism) -> list[Method]:
    """CVODES with BDF and Adams; IDAS for linked bodies at index 1, the highest that it takes."""
    needed(PIP, ["casadi"])
    if isinstance(mechanism, Chain) and mechanism.n > LARGEST:
        return []
    y, rates = rhs_of(mechanism)
    adams = {"linear_multistep_method": "adams", "nonlinear_solver_iteration": "functional"}
    found = [
        Method(
            f"CVODES, {name}",
            functools.partial(integrated, mechanism, y, rates, options),
            mechanism.centres,
            TOLERANCES,
        )
        for name, options in (("BDF", {}), ("Adams", adams))
    ]
    if isinstance(mechanism, LinkedBodies):
        found.append(Method("IDAS, index 1", functools.partial(integrated_dae, mechanism), mechanism.centres))
    return found


def functions(mechanism: Mechanism) -> list[Compiled]:
    """Its own C code of the expressions, compiled as ours is."""
    needed(PIP, ["casadi"])
    import casadi as ca

    if isinstance(mechanism, Chain) and mechanism.n > LARGEST:
        return []
    y, rates = rhs_of(mechanism)
    found = [compiled("right-hand side", ca.Function("rates", [y], [ca.densify(rates)]), (y.numel(),), "y")]
    if isinstance(mechanism, LinkedBodies):
        y, yd, c, F, J = index2(mechanism)
        n = y.numel()
        found.append(compiled("residual, index 2", ca.Function("residual", [y, yd], [F]), (n,), "y, yd"))
        sparse = ca.Function("jacobian", [y, yd, c], [J])
        found.append(compiled("Jacobian, index 2, nonzeros", sparse, (J.nnz(),), "y, yd, &c"))
        dense = ca.Function("jacobian", [y, yd, c], [ca.densify(J.T)])  # it stores columns
        found.append(compiled("Jacobian, index 2, all entries", dense, (n, n), "y, yd, &c"))
    return found


def compiled(name: str, function: Any, shape: tuple[int, ...], given: str) -> Compiled:
    """A function's C code with an entry of the signature of `c/peers.h`."""
    gcc = shutil.which("gcc")
    if gcc is None:
        raise Missing("gcc", c_library.INSTALL)
    size_w, size_iw = max(1, function.sz_w()), max(1, function.sz_iw())
    entry = f"""
int entry(void* context, double t, const double* y, const double* yd, double c, double* out) {{
    static casadi_int iw[{size_iw}];
    static double w[{size_w}];
    const double* given[{function.sz_arg()}] = {{{given}}};
    double* results[{function.sz_res()}] = {{out}};
    return {function.name()}(given, results, iw, w, 0);
}}
"""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "code.c"), Path(folder, "code.so")
        source.write_text(code_of(function) + entry)
        subprocess.run(
            [gcc, "-O3", "-march=native", "-fPIC", "-shared", str(source), "-o", str(made), "-lm"], check=True
        )
        library = ctypes.CDLL(str(made))
    return Compiled(name, ctypes.cast(library.entry, ctypes.c_void_p).value or 0, 0, shape, keep=library)


def code_of(function: Any) -> str:
    """The C code that CasADi writes."""
    import casadi as ca

    generator = ca.CodeGenerator("code.c")
    generator.add(function)
    return str(generator.dump())


PEER = Peer("CasADi", methods, functions, ("casadi",))
