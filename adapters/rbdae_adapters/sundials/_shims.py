"""Machine code between SUNDIALS and the functions of a problem: its signatures outside, ours inside.

Nothing is assumed of SUNDIALS' structures: arrays are asked for by `N_VGetArrayPointer`, data of matrices by
`SUNDenseMatrix_Data` and its like. The last argument of most functions is the array of `_places`. What a function
returns is what SUNDIALS wants: 0, 1 where a shorter step may help, -1 where an exception waits. In runs back in time
(DIRECTION = -1) SUNDIALS has tau = -t, and rates with the opposite sign; BAD_T is tau, as all times of the run are.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from rbdae.machine import language
from rbdae.machine.factors import PIVOTS
from rbdae.machine.language.native import symbol
from rbdae.machine.language.program import Program
from rbdae.machine.language.words import Ints, Vec
from rbdae.machine.module import Module, compiled
from rbdae.machine.sources import sources
from rbdae_adapters.sundials import _places as at

LEVEL = 1


# ---------------------------------------------------------------- loops


def finite(n: int, v: Vec) -> bool:
    """Whether all numbers are finite."""
    zero = 0.0
    for i in range(n):
        zero += 0.0 * v[i]
    return zero == 0.0


def opposite(n: int, v: Vec, out: Vec) -> None:
    """-v to `out`, which may be v."""
    for i in range(n):
        out[i] = -v[i]


def scattered(n: int, places: Ints, values: Vec, factor: float, out: Vec) -> None:
    """The entries of a matrix to their places."""
    for i in range(n):
        out[places[i]] = factor * values[i]


def correction(n: int, y: Vec, projected: Vec, out: Vec) -> None:
    """The correction that y lacks."""
    for i in range(n):
        out[i] = projected[i] - y[i]


def scaled(n: int, factor: float, v: Vec) -> None:
    """factor v in place of v."""
    for i in range(n):
        v[i] = factor * v[i]


_LOOPS = (finite, opposite, scattered, correction, scaled)


# ---------------------------------------------------------------- text


def _name(function: Any) -> str:
    return f"@{symbol(function)}"


def _load(**places: tuple[str, int]) -> str:
    """Values out of the array %u: the type and the place of each."""
    lines = []
    for name, (kind, place) in places.items():
        lines += [f"  %{name}.p = getelementptr i64, ptr %u, i64 {place}", f"  %{name} = load {kind}, ptr %{name}.p"]
    return "\n".join(lines)


def _looked_at(result: str, then: str) -> str:
    """The text that follows a call with the status %s that has filled n numbers: all is well at the label `then`."""
    return f"""  %bad = icmp ne i32 %s, 0
  br i1 %bad, label %raised, label %look
raised:
  ret i32 -1
look:
  %good = call i1 {_name(finite)}(i64 %n, ptr {result})
  br i1 %good, label %{then}, label %nan
nan:
  %b = call i32 @notfinite(ptr %u, double %t)
  ret i32 %b"""


_COMMON = f"""
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare ptr @strncpy(ptr, ptr, i64)

define internal i32 @notfinite(ptr %u, double %t) nounwind {{
  %p = getelementptr i64, ptr %u, i64 {at.BAD}
  store i64 1, ptr %p
  %q = getelementptr i64, ptr %u, i64 {at.BAD_T}
  store double %t, ptr %q
  ret i32 1
}}

; rates as the problem has them, in its own time
define internal ptr @own(ptr %u, ptr %d) nounwind {{
{_load(dir=("double", at.DIRECTION), n=("i64", at.N), scratch=("ptr", at.SCRATCH))}
  %back = fcmp olt double %dir, 0.0
  br i1 %back, label %mirrored, label %same
mirrored:
  call void {_name(opposite)}(i64 %n, ptr %d, ptr %scratch)
  ret ptr %scratch
same:
  ret ptr %d
}}

define i32 @residual(double %t, ptr %yy, ptr %yp, ptr %rr, ptr %u) nounwind {{
{
    _load(
        array=("ptr", at.ARRAY),
        f=("ptr", at.FUNCTION),
        x=("ptr", at.CONTEXT),
        n=("i64", at.N),
        dir=("double", at.DIRECTION),
    )
}
  %y = call ptr %array(ptr %yy)
  %z = call ptr %array(ptr %yp)
  %r = call ptr %array(ptr %rr)
  %d = call ptr @own(ptr %u, ptr %z)
  %own = fmul double %t, %dir
  %s = call i32 %f(ptr %x, double %own, ptr %y, ptr %d, double 0.0, ptr %r)
{_looked_at("%r", "done")}
done:
  ret i32 0
}}

define i32 @rates(double %t, ptr %yy, ptr %rr, ptr %u) nounwind {{
{
    _load(
        array=("ptr", at.ARRAY),
        f=("ptr", at.FUNCTION),
        x=("ptr", at.CONTEXT),
        n=("i64", at.N),
        dir=("double", at.DIRECTION),
    )
}
  %y = call ptr %array(ptr %yy)
  %r = call ptr %array(ptr %rr)
  %own = fmul double %t, %dir
  %s = call i32 %f(ptr %x, double %own, ptr %y, ptr null, double 0.0, ptr %r)
{_looked_at("%r", "turn")}
turn:
  %back = fcmp olt double %dir, 0.0
  br i1 %back, label %mirrored, label %done
mirrored:
  call void {_name(opposite)}(i64 %n, ptr %r, ptr %r)
  ret i32 0
done:
  ret i32 0
}}

; the entries of dF/dy + c dF/dyp, or of df/dy, to %w
define internal i32 @filled(double %t, double %c, ptr %y, ptr %z, ptr %w, ptr %u) nounwind {{
{_load(f=("ptr", at.JACOBIAN), x=("ptr", at.JACOBIAN_CONTEXT), dir=("double", at.DIRECTION), n=("i64", at.ENTRIES))}
  %own = fmul double %t, %dir
  %owned = fmul double %c, %dir
  %s = call i32 %f(ptr %x, double %own, ptr %y, ptr %z, double %owned, ptr %w)
{_looked_at("%w", "done")}
done:
  ret i32 0
}}

define i32 @scatter(double %t, double %c, ptr %yy, ptr %yp, ptr %rr, ptr %J, ptr %u, ptr %1, ptr %2, ptr %3) nounwind {{
{
    _load(
        array=("ptr", at.ARRAY),
        data=("ptr", at.MATRIX_DATA),
        w=("ptr", at.VALUES),
        places=("ptr", at.PLACES),
        n=("i64", at.ENTRIES),
    )
}
  %y = call ptr %array(ptr %yy)
  %z = call ptr %array(ptr %yp)
  %d = call ptr @own(ptr %u, ptr %z)
  %m = call ptr %data(ptr %J)
  %s = call i32 @filled(double %t, double %c, ptr %y, ptr %d, ptr %w, ptr %u)
  call void {_name(scattered)}(i64 %n, ptr %places, ptr %w, double 1.0, ptr %m)
  ret i32 %s
}}

define i32 @scatterrates(double %t, ptr %yy, ptr %fy, ptr %J, ptr %u, ptr %1, ptr %2, ptr %3) nounwind {{
{
    _load(
        array=("ptr", at.ARRAY),
        data=("ptr", at.MATRIX_DATA),
        w=("ptr", at.VALUES),
        places=("ptr", at.PLACES),
        n=("i64", at.ENTRIES),
        dir=("double", at.DIRECTION),
    )
}
  %y = call ptr %array(ptr %yy)
  %m = call ptr %data(ptr %J)
  %s = call i32 @filled(double %t, double 0.0, ptr %y, ptr null, ptr %w, ptr %u)
  call void {_name(scattered)}(i64 %n, ptr %places, ptr %w, double %dir, ptr %m)
  ret i32 %s
}}

define i32 @sparse(double %t, double %c, ptr %yy, ptr %yp, ptr %rr, ptr %J, ptr %u, ptr %1, ptr %2, ptr %3) nounwind {{
{
    _load(
        array=("ptr", at.ARRAY),
        data=("ptr", at.MATRIX_DATA),
        pointers=("ptr", at.INDEX_POINTERS),
        values=("ptr", at.INDEX_VALUES),
        pt=("ptr", at.POINTER_TABLE),
        vt=("ptr", at.VALUE_TABLE),
        pn=("i64", at.POINTER_BYTES),
        vn=("i64", at.VALUE_BYTES),
    )
}
  %y = call ptr %array(ptr %yy)
  %z = call ptr %array(ptr %yp)
  %d = call ptr @own(ptr %u, ptr %z)
  %m = call ptr %data(ptr %J)
  %ip = call ptr %pointers(ptr %J)
  %iv = call ptr %values(ptr %J)
  call void @llvm.memcpy.p0.p0.i64(ptr %ip, ptr %pt, i64 %pn, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %iv, ptr %vt, i64 %vn, i1 false)
  %s = call i32 @filled(double %t, double %c, ptr %y, ptr %d, ptr %m, ptr %u)
  ret i32 %s
}}

; factors of a problem: where pivots do not serve any more, they are chosen again
define internal i32 @factored(double %t, double %c, ptr %y, ptr %d, ptr %u) nounwind {{
{
    _load(
        f=("ptr", at.FACTORS),
        x=("ptr", at.FACTORS_CONTEXT),
        m=("ptr", at.FACTORS_MEMORY),
        repair=("ptr", at.REPAIR),
        dir=("double", at.DIRECTION),
    )
}
  %own = fmul double %t, %dir
  %owned = fmul double %c, %dir
  %s = call i32 %f(ptr %x, double %own, ptr %y, ptr %d, double %owned, ptr %m)
  switch i32 %s, label %raised [i32 0, label %done
                                i32 {PIVOTS}, label %again]
raised:
  ret i32 -1
again:
  %r = call i32 %repair(ptr null, double %own, ptr %y, ptr %d, double %owned, ptr null)
  ret i32 %r
done:
  ret i32 0
}}

define i32 @factors(double %t, double %c, ptr %yy, ptr %yp, ptr %rr, ptr %J, ptr %u, ptr %1, ptr %2, ptr %3) nounwind {{
{_load(array=("ptr", at.ARRAY))}
  %y = call ptr %array(ptr %yy)
  %z = call ptr %array(ptr %yp)
  %d = call ptr @own(ptr %u, ptr %z)
  %s = call i32 @factored(double %t, double %c, ptr %y, ptr %d, ptr %u)
  ret i32 %s
}}

define i32 @precondition(double %t, ptr %yy, ptr %yp, ptr %rr, double %c, ptr %u) nounwind {{
{_load(array=("ptr", at.ARRAY))}
  %y = call ptr %array(ptr %yy)
  %z = call ptr %array(ptr %yp)
  %d = call ptr @own(ptr %u, ptr %z)
  %s = call i32 @factored(double %t, double %c, ptr %y, ptr %d, ptr %u)
  ret i32 %s
}}

define internal i32 @solved(ptr %b, ptr %x, ptr %u) nounwind {{
{_load(f=("ptr", at.SOLVE), c=("ptr", at.SOLVE_CONTEXT), m=("ptr", at.FACTORS_MEMORY))}
  %s = call i32 %f(ptr %c, double 0.0, ptr %m, ptr %b, double 0.0, ptr %x)
  ret i32 %s
}}

define i32 @preconditioned(
  double %t, ptr %yy, ptr %yp, ptr %rr, ptr %bb, ptr %xx, double %c, double %tol, ptr %u
) nounwind {{
{_load(array=("ptr", at.ARRAY))}
  %x = call ptr %array(ptr %xx)
  %b = call ptr %array(ptr %bb)
  %s = call i32 @solved(ptr %b, ptr %x, ptr %u)
  ret i32 %s
}}

define i32 @setup(ptr %S, ptr %A) nounwind {{
  ret i32 0
}}

define i32 @solve(ptr %S, ptr %A, ptr %xx, ptr %bb, double %tol) nounwind {{
  %u = load ptr, ptr %S
{_load(array=("ptr", at.ARRAY))}
  %x = call ptr %array(ptr %xx)
  %b = call ptr %array(ptr %bb)
  %s = call i32 @solved(ptr %b, ptr %x, ptr %u)
  ret i32 %s
}}

; I - gamma df/dy = gamma (c I - df/dy) with c = 1 / gamma, whose factors are those of the residual y' - f
define i32 @ratesfactors(
  double %t, ptr %yy, ptr %fy, ptr %A, i32 %jok, ptr %fresh, double %gamma, ptr %u, ptr %1, ptr %2, ptr %3
) nounwind {{
{_load(array=("ptr", at.ARRAY), dir=("double", at.DIRECTION))}
  store i32 1, ptr %fresh
  %y = call ptr %array(ptr %yy)
  %z = call ptr %array(ptr %fy)
  %d = call ptr @own(ptr %u, ptr %z)
  %c = fdiv double 1.0, %gamma
  %owned = fmul double %c, %dir
  %p = getelementptr i64, ptr %u, i64 {at.GAMMA}
  store double %owned, ptr %p
  %s = call i32 @factored(double %t, double %c, ptr %y, ptr %d, ptr %u)
  ret i32 %s
}}

define i32 @ratessolve(ptr %S, ptr %A, ptr %xx, ptr %bb, double %tol) nounwind {{
  %u = load ptr, ptr %S
{_load(array=("ptr", at.ARRAY), n=("i64", at.N), c=("double", at.GAMMA))}
  %x = call ptr %array(ptr %xx)
  %b = call ptr %array(ptr %bb)
  %s = call i32 @solved(ptr %b, ptr %x, ptr %u)
  call void {_name(scaled)}(i64 %n, double %c, ptr %x)
  ret i32 %s
}}

define i32 @projection(double %t, ptr %yy, ptr %cc, double %eps, ptr %ee, ptr %u) nounwind {{
{
    _load(
        array=("ptr", at.ARRAY),
        near=("ptr", at.NEAR),
        x=("ptr", at.NEAR_CONTEXT),
        info=("ptr", at.INFO),
        out=("ptr", at.PROJECTED),
        anywhere=("ptr", at.ANYWHERE),
        n=("i64", at.N),
        dir=("double", at.DIRECTION),
    )
}
  %y = call ptr %array(ptr %yy)
  %c = call ptr %array(ptr %cc)
  %own = fmul double %t, %dir
  %s = call i32 %near(ptr %x, double %own, ptr %y, ptr %info, double 0.0, ptr %out)
  %served = icmp eq i32 %s, 0
  br i1 %served, label %look, label %ask
look:
  %offp = getelementptr double, ptr %out, i64 %n
  %off = load double, ptr %offp
  %on = fcmp oeq double %off, 0.0
  br i1 %on, label %nothing, label %counts
counts:
  %counted.p = getelementptr double, ptr %offp, i64 2
  %counted = load double, ptr %counted.p
  %does = fcmp oeq double %counted, 1.0
  br i1 %does, label %take, label %ask
ask:
  %a = call i32 %anywhere(ptr null, double %own, ptr %y, ptr %info, double 0.0, ptr %out)
  %bad = icmp ne i32 %a, 0
  br i1 %bad, label %raised, label %take
raised:
  ret i32 1
take:
  call void {_name(correction)}(i64 %n, ptr %y, ptr %out, ptr %c)
  ret i32 0
nothing:
  call void {_name(correction)}(i64 %n, ptr %y, ptr %y, ptr %c)
  ret i32 0
}}

define void @said(i32 %line, ptr %function, ptr %file, ptr %words, i32 %code, ptr %data, ptr %context) nounwind {{
  %r = call ptr @strncpy(ptr %data, ptr %words, i64 {at.MESSAGE_BYTES - 1})
  ret void
}}

define void @saidby6(i32 %code, ptr %module, ptr %function, ptr %words, ptr %data) nounwind {{
  %r = call ptr @strncpy(ptr %data, ptr %words, i64 {at.MESSAGE_BYTES - 1})
  ret void
}}
"""


def _step(name: str, call: str) -> str:
    """A function of a loop: a step, another state, or a derivative, by %c."""
    return f"""
define i32 @{name}(ptr %u, double %t, ptr %y, ptr %yd, double %c, ptr %out) nounwind {{
{
        _load(
            array=("ptr", at.ARRAY),
            n=("i64", at.N),
            mem=("ptr", at.INTEGRATOR),
            yy=("ptr", at.STATE),
            yp=("ptr", at.RATES),
        )
    }
  %bytes = mul i64 %n, 8
  %at = call ptr %array(ptr %yy)
  %other = fcmp olt double %c, 0.0
  br i1 %other, label %replaced, label %further
further:
  %derivative = fcmp ogt double %c, 0.5
  br i1 %derivative, label %derived, label %step
step:
{_load(solver=("ptr", at.STEP), orderof=("ptr", at.ORDER))}
  %time = getelementptr i64, ptr %u, i64 {at.TIME}
  %order = getelementptr i64, ptr %u, i64 {at.ORDER_WORD}
  %s = {call}
  %now = load double, ptr %time
  store double %now, ptr %out
  %s.double = sitofp i32 %s to double
  %out1 = getelementptr double, ptr %out, i64 1
  store double %s.double, ptr %out1
  %o = call i32 %orderof(ptr %mem, ptr %order)
  %q = load i32, ptr %order
  %q.double = sitofp i32 %q to double
  %out2 = getelementptr double, ptr %out, i64 2
  store double %q.double, ptr %out2
  call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr %at, i64 %bytes, i1 false)
  ret i32 0
derived:
{_load(dky=("ptr", at.DERIVATIVE), vector=("ptr", at.DERIVATIVE_VECTOR))}
  %k.double = fsub double %c, 1.0
  %k = fptosi double %k.double to i32
  %v = call i32 %dky(ptr %mem, double %t, i32 %k, ptr %vector)
  %from = call ptr %array(ptr %vector)
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %from, i64 %bytes, i1 false)
  ret i32 %v
replaced:
{_load(latest=("ptr", at.HISTORY))}
  call void @llvm.memcpy.p0.p0.i64(ptr %latest, ptr %y, i64 %bytes, i1 false)
  ret i32 0
}}
"""


_TEXT = (
    _COMMON
    + _step(
        "ida",
        "call i32 %solver(ptr %mem, double %t, ptr %time, ptr %yy, ptr %yp, i32 2)",
    )
    + _step(
        "cvode",
        "call i32 %solver(ptr %mem, double %t, ptr %yy, ptr %time, i32 2)",
    )
)


@cache
def shims() -> Module:
    """The machine code."""
    program = Program(_LOOPS)
    return compiled(lambda: program.text() + _TEXT, LEVEL, made_of=("sundials", _TEXT, sources(language), _own()))


def _own() -> bytes:
    """This file, of which the loops are a part."""
    return Path(__file__).read_bytes()


__all__ = ["shims"]
