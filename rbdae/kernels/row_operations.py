"""Operations on rows of a matrix: sums of several rows in one loop over the columns.

The compiler makes vector code of a loop only where it can check beforehand that the rows do not overlap, and it gives
up above eight comparisons: one row out and at most eight in, three in place. Several rows at a time, because a loop
over few columns costs more in its beginning and end than in the sums.
"""

from __future__ import annotations

from rbdae.compiler.access import Address, Array, address, is_zero, vector_at
from rbdae.compiler.jit import jit, stage


@stage("iif")
def _scale(out_at: Address, n: int, a: float) -> None:
    out = vector_at(out_at)
    for c in range(n):
        out[c] *= a


@stage("iiif")
def _add1(out_at: Address, x_at: Address, n: int, a: float) -> None:
    out = vector_at(out_at)
    x = vector_at(x_at)
    for c in range(n):
        out[c] += a * x[c]


@stage("iiiiifff")
def _set3(out_at: Address, x_at: Address, y_at: Address, z_at: Address, n: int, a: float, b: float, e: float) -> None:
    out = vector_at(out_at)
    x = vector_at(x_at)
    y = vector_at(y_at)
    z = vector_at(z_at)
    for c in range(n):
        out[c] = a * x[c] + b * y[c] + e * z[c]


@stage("iiiiifff")
def _add3(out_at: Address, x_at: Address, y_at: Address, z_at: Address, n: int, a: float, b: float, e: float) -> None:
    out = vector_at(out_at)
    x = vector_at(x_at)
    y = vector_at(y_at)
    z = vector_at(z_at)
    for c in range(n):
        out[c] += a * x[c] + b * y[c] + e * z[c]


@stage("iiiifffffffff")
def _mix3(
    x_at: Address,
    y_at: Address,
    z_at: Address,
    n: int,
    a0: float,
    a1: float,
    a2: float,
    b0: float,
    b1: float,
    b2: float,
    e0: float,
    e1: float,
    e2: float,
) -> None:
    x = vector_at(x_at)
    y = vector_at(y_at)
    z = vector_at(z_at)
    for c in range(n):
        s = x[c]
        t = y[c]
        u = z[c]
        x[c] = a0 * s + a1 * t + a2 * u
        y[c] = b0 * s + b1 * t + b2 * u
        z[c] = e0 * s + e1 * t + e2 * u


@jit
def scale_row(W: Array, i: int, n: int, a: Array) -> None:
    """Row i *= a."""
    _scale(address(W[i]), n, a)


@jit
def add_row(W: Array, i: int, k: int, n: int, a: Array) -> None:
    """Row i += a row k."""
    if not is_zero(a):
        _add1(address(W[i]), address(W[k]), n, a)


@jit
def add_to(out: Array, W: Array, k: int, n: int, a: Array) -> None:
    """out += a row k."""
    _add1(address(out), address(W[k]), n, a)


@jit
def set_by_three(out: Array, W: Array, k: int, n: int, a: Array) -> None:
    """out = a_0 row k + a_1 row k + 1 + a_2 row k + 2."""
    _set3(address(out), address(W[k]), address(W[k + 1]), address(W[k + 2]), n, a[0], a[1], a[2])


@jit
def add_three(out: Array, W: Array, k: int, n: int, a: Array) -> None:
    """out += a_0 row k + a_1 row k + 1 + a_2 row k + 2."""
    _add3(address(out), address(W[k]), address(W[k + 1]), address(W[k + 2]), n, a[0], a[1], a[2])


@jit
def add_any_three(out: Array, W: Array, k: int, l: int, j: int, n: int, a: Array, b: int, e: Array) -> None:
    """out += a row k + b row l + e row j."""
    _add3(address(out), address(W[k]), address(W[l]), address(W[j]), n, a, b, e)


@jit
def mix_three(W: Array, i: int, n: int, A: Array) -> None:
    """Rows i, i + 1 and i + 2 become A times them."""
    _mix3(
        address(W[i]),
        address(W[i + 1]),
        address(W[i + 2]),
        n,
        A[0, 0],
        A[0, 1],
        A[0, 2],
        A[1, 0],
        A[1, 1],
        A[1, 2],
        A[2, 0],
        A[2, 1],
        A[2, 2],
    )
