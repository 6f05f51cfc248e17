"""Machine code between SUNDIALS and the functions of a problem: its signatures outside, ours inside.

Nothing is assumed of SUNDIALS' structures: arrays are asked for by `N_VGetArrayPointer`, data of matrices by
`SUNDenseMatrix_Data`. The last argument of most functions is the array whose places are `at`. What a function returns
is what SUNDIALS wants: 0, 1 where a shorter step may help, -1 where an exception waits. In runs back in time (DIRECTION
= -1) SUNDIALS has tau = -t, and rates with the opposite sign; BAD_T is tau, as all times of the run are.
"""

from __future__ import annotations

import re
from enum import IntEnum
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

LEVEL = 1

at = IntEnum(
    "at",
    "ARRAY FUNCTION CONTEXT JACOBIAN JACOBIAN_CONTEXT N DIRECTION SCRATCH BAD BAD_T MATRIX_DATA VALUES PLACES ENTRIES "
    "FACTORS FACTORS_CONTEXT FACTORS_MEMORY SOLVE SOLVE_CONTEXT REPAIR GAMMA NEAR NEAR_CONTEXT INFO PROJECTED "
    "ANYWHERE INTEGRATOR STEP STATE RATES TIME DERIVATIVE DERIVATIVE_VECTOR ORDER HISTORY ORDER_WORD SIZE",
    start=0,
)
"""Places in the array of 64-bit words that SUNDIALS hands through to these functions. Functions of SUNDIALS and machine
functions are addresses; DIRECTION, BAD_T, GAMMA (1 / gamma, in the problem's own time) and TIME are doubles; N, BAD and
ENTRIES are whole numbers; all else is where memory begins."""

MESSAGE_BYTES = 512
"""Of SUNDIALS' last words."""


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


_PLACE = re.compile(r"%([A-Z][A-Z_]*)\b")
_KINDS = {"DIRECTION": "double", "GAMMA": "double", "N": "i64", "ENTRIES": "i64"}
"""Of places; all others are pointers."""


def _loaded(text: str) -> str:
    """Functions whose text has %NAME for the value at the place `at.NAME` of the array %u: they load it first."""
    out = []
    for part in re.split(r"(?m)^(?=define )", text):
        head = re.match(r"define [^{]*\{\n(?:  %u = .*\n)?", part)
        loads = ""
        for name in sorted(name for name in set(_PLACE.findall(part)) if name in at.__members__):
            loads += f"  %{name}.p = getelementptr i64, ptr %u, i64 {at[name]:d}\n"
            loads += f"  %{name} = load {_KINDS.get(name, 'ptr')}, ptr %{name}.p\n"
        out.append(part if head is None else head.group() + loads + part[head.end() :])
    return "".join(out)


def _looked_at(n: str, result: str, then: str) -> str:
    """The text that follows a call with the status %s that has filled n numbers: all is well at the label `then`."""
    return f"""  %bad = icmp ne i32 %s, 0
  br i1 %bad, label %raised, label %look
raised:
  ret i32 -1
look:
  %good = call i1 {_name(finite)}(i64 {n}, ptr {result})
  br i1 %good, label %{then}, label %nan
nan:
  %b = call i32 @notfinite(ptr %u, double %t)
  ret i32 %b"""


_COMMON = f"""
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare ptr @strncpy(ptr, ptr, i64)

define internal i32 @notfinite(ptr %u, double %t) nounwind {{
  %p = getelementptr i64, ptr %u, i64 {at.BAD:d}
  store i64 1, ptr %p
  %q = getelementptr i64, ptr %u, i64 {at.BAD_T:d}
  store double %t, ptr %q
  ret i32 1
}}

; rates as the problem has them, in its own time
define internal ptr @own(ptr %u, ptr %d) nounwind {{
  %back = fcmp olt double %DIRECTION, 0.0
  br i1 %back, label %mirrored, label %same
mirrored:
  call void {_name(opposite)}(i64 %N, ptr %d, ptr %SCRATCH)
  ret ptr %SCRATCH
same:
  ret ptr %d
}}

define i32 @residual(double %t, ptr %yy, ptr %yp, ptr %rr, ptr %u) nounwind {{
  %y = call ptr %ARRAY(ptr %yy)
  %z = call ptr %ARRAY(ptr %yp)
  %r = call ptr %ARRAY(ptr %rr)
  %d = call ptr @own(ptr %u, ptr %z)
  %own = fmul double %t, %DIRECTION
  %s = call i32 %FUNCTION(ptr %CONTEXT, double %own, ptr %y, ptr %d, double 0.0, ptr %r)
{_looked_at("%N", "%r", "done")}
done:
  ret i32 0
}}

define i32 @rates(double %t, ptr %yy, ptr %rr, ptr %u) nounwind {{
  %y = call ptr %ARRAY(ptr %yy)
  %r = call ptr %ARRAY(ptr %rr)
  %own = fmul double %t, %DIRECTION
  %s = call i32 %FUNCTION(ptr %CONTEXT, double %own, ptr %y, ptr null, double 0.0, ptr %r)
{_looked_at("%N", "%r", "turn")}
turn:
  %back = fcmp olt double %DIRECTION, 0.0
  br i1 %back, label %mirrored, label %done
mirrored:
  call void {_name(opposite)}(i64 %N, ptr %r, ptr %r)
  ret i32 0
done:
  ret i32 0
}}

; the entries of dF/dy + c dF/dyp, or of df/dy, to %w
define internal i32 @filled(double %t, double %c, ptr %y, ptr %z, ptr %w, ptr %u) nounwind {{
  %own = fmul double %t, %DIRECTION
  %owned = fmul double %c, %DIRECTION
  %s = call i32 %JACOBIAN(ptr %JACOBIAN_CONTEXT, double %own, ptr %y, ptr %z, double %owned, ptr %w)
{_looked_at("%ENTRIES", "%w", "done")}
done:
  ret i32 0
}}

define i32 @scatter(double %t, double %c, ptr %yy, ptr %yp, ptr %rr, ptr %J, ptr %u, ptr %1, ptr %2, ptr %3) nounwind {{
  %y = call ptr %ARRAY(ptr %yy)
  %z = call ptr %ARRAY(ptr %yp)
  %d = call ptr @own(ptr %u, ptr %z)
  %m = call ptr %MATRIX_DATA(ptr %J)
  %s = call i32 @filled(double %t, double %c, ptr %y, ptr %d, ptr %VALUES, ptr %u)
  call void {_name(scattered)}(i64 %ENTRIES, ptr %PLACES, ptr %VALUES, double 1.0, ptr %m)
  ret i32 %s
}}

define i32 @scatterrates(double %t, ptr %yy, ptr %fy, ptr %J, ptr %u, ptr %1, ptr %2, ptr %3) nounwind {{
  %y = call ptr %ARRAY(ptr %yy)
  %m = call ptr %MATRIX_DATA(ptr %J)
  %s = call i32 @filled(double %t, double 0.0, ptr %y, ptr null, ptr %VALUES, ptr %u)
  call void {_name(scattered)}(i64 %ENTRIES, ptr %PLACES, ptr %VALUES, double %DIRECTION, ptr %m)
  ret i32 %s
}}

; factors of a problem: where pivots do not serve any more, they are chosen again
define internal i32 @factored(double %t, double %c, ptr %y, ptr %d, ptr %u) nounwind {{
  %own = fmul double %t, %DIRECTION
  %owned = fmul double %c, %DIRECTION
  %s = call i32 %FACTORS(ptr %FACTORS_CONTEXT, double %own, ptr %y, ptr %d, double %owned, ptr %FACTORS_MEMORY)
  switch i32 %s, label %raised [i32 0, label %done
                                i32 {PIVOTS}, label %again]
raised:
  ret i32 -1
again:
  %r = call i32 %REPAIR(ptr null, double %own, ptr %y, ptr %d, double %owned, ptr null)
  ret i32 %r
done:
  ret i32 0
}}

define i32 @factors(double %t, double %c, ptr %yy, ptr %yp, ptr %rr, ptr %J, ptr %u, ptr %1, ptr %2, ptr %3) nounwind {{
  %y = call ptr %ARRAY(ptr %yy)
  %z = call ptr %ARRAY(ptr %yp)
  %d = call ptr @own(ptr %u, ptr %z)
  %s = call i32 @factored(double %t, double %c, ptr %y, ptr %d, ptr %u)
  ret i32 %s
}}

define internal i32 @solved(ptr %b, ptr %x, ptr %u) nounwind {{
  %s = call i32 %SOLVE(ptr %SOLVE_CONTEXT, double 0.0, ptr %FACTORS_MEMORY, ptr %b, double 0.0, ptr %x)
  ret i32 %s
}}

define i32 @setup(ptr %S, ptr %A) nounwind {{
  ret i32 0
}}

define i32 @solve(ptr %S, ptr %A, ptr %xx, ptr %bb, double %tol) nounwind {{
  %u = load ptr, ptr %S
  %x = call ptr %ARRAY(ptr %xx)
  %b = call ptr %ARRAY(ptr %bb)
  %s = call i32 @solved(ptr %b, ptr %x, ptr %u)
  ret i32 %s
}}

; I - gamma df/dy = gamma (c I - df/dy) with c = 1 / gamma, whose factors are those of the residual y' - f
define i32 @ratesfactors(
  double %t, ptr %yy, ptr %fy, ptr %A, i32 %jok, ptr %fresh, double %gamma, ptr %u, ptr %1, ptr %2, ptr %3
) nounwind {{
  store i32 1, ptr %fresh
  %y = call ptr %ARRAY(ptr %yy)
  %z = call ptr %ARRAY(ptr %fy)
  %d = call ptr @own(ptr %u, ptr %z)
  %c = fdiv double 1.0, %gamma
  %owned = fmul double %c, %DIRECTION
  %p = getelementptr i64, ptr %u, i64 {at.GAMMA:d}
  store double %owned, ptr %p
  %s = call i32 @factored(double %t, double %c, ptr %y, ptr %d, ptr %u)
  ret i32 %s
}}

define i32 @ratessolve(ptr %S, ptr %A, ptr %xx, ptr %bb, double %tol) nounwind {{
  %u = load ptr, ptr %S
  %x = call ptr %ARRAY(ptr %xx)
  %b = call ptr %ARRAY(ptr %bb)
  %s = call i32 @solved(ptr %b, ptr %x, ptr %u)
  call void {_name(scaled)}(i64 %N, double %GAMMA, ptr %x)
  ret i32 %s
}}

define i32 @projection(double %t, ptr %yy, ptr %cc, double %eps, ptr %ee, ptr %u) nounwind {{
  %y = call ptr %ARRAY(ptr %yy)
  %c = call ptr %ARRAY(ptr %cc)
  %own = fmul double %t, %DIRECTION
  %s = call i32 %NEAR(ptr %NEAR_CONTEXT, double %own, ptr %y, ptr %INFO, double 0.0, ptr %PROJECTED)
  %served = icmp eq i32 %s, 0
  br i1 %served, label %look, label %ask
look:
  %offp = getelementptr double, ptr %PROJECTED, i64 %N
  %off = load double, ptr %offp
  %on = fcmp oeq double %off, 0.0
  br i1 %on, label %nothing, label %counts
counts:
  %counted.p = getelementptr double, ptr %offp, i64 2
  %counted = load double, ptr %counted.p
  %does = fcmp oeq double %counted, 1.0
  br i1 %does, label %take, label %ask
ask:
  %a = call i32 %ANYWHERE(ptr null, double %own, ptr %y, ptr %INFO, double 0.0, ptr %PROJECTED)
  %bad = icmp ne i32 %a, 0
  br i1 %bad, label %raised, label %take
raised:
  ret i32 1
take:
  call void {_name(correction)}(i64 %N, ptr %y, ptr %PROJECTED, ptr %c)
  ret i32 0
nothing:
  call void {_name(correction)}(i64 %N, ptr %y, ptr %y, ptr %c)
  ret i32 0
}}

define void @said(i32 %line, ptr %function, ptr %file, ptr %words, i32 %code, ptr %data, ptr %context) nounwind {{
  %r = call ptr @strncpy(ptr %data, ptr %words, i64 {MESSAGE_BYTES - 1})
  ret void
}}

define void @saidby6(i32 %code, ptr %module, ptr %function, ptr %words, ptr %data) nounwind {{
  %r = call ptr @strncpy(ptr %data, ptr %words, i64 {MESSAGE_BYTES - 1})
  ret void
}}
"""


def _step(name: str, call: str) -> str:
    """A function of a loop: a step, another state, or a derivative, by %c."""
    return f"""
define i32 @{name}(ptr %u, double %t, ptr %y, ptr %yd, double %c, ptr %out) nounwind {{
  %bytes = mul i64 %N, 8
  %at = call ptr %ARRAY(ptr %STATE)
  %other = fcmp olt double %c, 0.0
  br i1 %other, label %replaced, label %further
further:
  %derivative = fcmp ogt double %c, 0.5
  br i1 %derivative, label %derived, label %step
step:
  %time = getelementptr i64, ptr %u, i64 {at.TIME:d}
  %order = getelementptr i64, ptr %u, i64 {at.ORDER_WORD:d}
  %s = {call}
  %now = load double, ptr %time
  store double %now, ptr %out
  %s.double = sitofp i32 %s to double
  %out1 = getelementptr double, ptr %out, i64 1
  store double %s.double, ptr %out1
  %o = call i32 %ORDER(ptr %INTEGRATOR, ptr %order)
  %q = load i32, ptr %order
  %q.double = sitofp i32 %q to double
  %out2 = getelementptr double, ptr %out, i64 2
  store double %q.double, ptr %out2
  call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr %at, i64 %bytes, i1 false)
  ret i32 0
derived:
  %k.double = fsub double %c, 1.0
  %k = fptosi double %k.double to i32
  %v = call i32 %DERIVATIVE(ptr %INTEGRATOR, double %t, i32 %k, ptr %DERIVATIVE_VECTOR)
  %from = call ptr %ARRAY(ptr %DERIVATIVE_VECTOR)
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %from, i64 %bytes, i1 false)
  ret i32 %v
replaced:
  call void @llvm.memcpy.p0.p0.i64(ptr %HISTORY, ptr %y, i64 %bytes, i1 false)
  ret i32 0
}}
"""


_TEXT = _loaded(
    _COMMON
    + _step("ida", "call i32 %STEP(ptr %INTEGRATOR, double %t, ptr %time, ptr %STATE, ptr %RATES, i32 2)")
    + _step("cvode", "call i32 %STEP(ptr %INTEGRATOR, double %t, ptr %STATE, ptr %time, i32 2)")
)


@cache
def shims() -> Module:
    """The machine code."""
    program = Program(_LOOPS)
    return compiled(lambda: program.text() + _TEXT, LEVEL, made_of=("sundials", _TEXT, sources(language), _own()))


def _own() -> bytes:
    """This file, of which the loops are a part."""
    return Path(__file__).read_bytes()
