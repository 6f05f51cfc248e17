"""Machine code between SUNDIALS and a problem's functions: SUNDIALS' signatures outside, ours inside.

Functions in our own language have convenient signatures; `_wrapped` puts SUNDIALS' around them. Nothing is assumed
about SUNDIALS' structures: `N_VGetArrayPointer` gives arrays, `SUNDenseMatrix_Data` the data of matrices. Functions
return SUNDIALS' codes: 0, 1 if a shorter step may help, -1 if an exception is stored.

In runs back in time (direction = -1) SUNDIALS has tau = -t, and rates with the opposite sign; `Words.bad_t` is tau,
like all times of the run.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from rbdae.machine.factors import PIVOTS
from rbdae.machine.language.program import Program, module_of, symbol
from rbdae.machine.language.words import Address, Fields, Function, Ints, Vec, evaluate
from rbdae.machine.module import Module

LEVEL = 1

MESSAGE_BYTES = 512
"""Length of SUNDIALS' last message."""


class Words(Fields):
    """Data of one run that SUNDIALS passes to these functions: addresses and numbers."""

    n: int
    entries: int
    """Number of entries of the Jacobian."""
    bad: int
    """Whether a value was not finite."""
    bad_t: float
    """The time of that value."""
    direction: float
    gamma: float
    """CVODE's 1 / gamma, in the problem's own time."""
    function: Function
    """The residual, or the right-hand side."""
    context: Address
    jacobian: Function
    jacobian_context: Address
    factors: Function
    factors_context: Address
    solve: Function
    solve_context: Address
    repair: Function
    """Chooses pivots again."""
    projection: Function
    """Projects states, see `rbdae.machine.loops.correction`."""
    projection_context: Address
    # SUNDIALS' own functions
    array: Address
    matrix_data: Address
    step: Address
    derivative: Address
    order: Address
    # memory: vectors of numbers, and SUNDIALS' objects
    scratch: Address
    values: Address
    places: Address
    factors_memory: Address
    history: Address
    integrator: Address
    state: Address
    rates: Address
    derivative_vector: Address
    time: float
    order_word: int


# ---------------------------------------------------------------- functions


def turned(n: int, direction: float, d: Vec, out: Vec) -> None:
    """Convert rates d between the problem's time and the run's, to out, which may be d."""
    for i in range(n):
        out[i] = direction * d[i]


def looked_at(u: Words, t: float, n: int, v: Vec) -> int:
    """1, with the time noted, unless all n numbers are finite."""
    zero = 0.0
    for i in range(n):
        zero += 0.0 * v[i]
    if zero == 0.0:
        return 0
    u.bad = 1
    u.bad_t = t
    return 1


def residual(u: Words, t: float, y: Vec, d: Vec, scratch: Vec, out: Vec) -> int:
    """F to out."""
    turned(u.n, u.direction, d, scratch)
    if evaluate(u.function, u.context, u.direction * t, y, scratch, 0.0, out) != 0:
        return -1
    return looked_at(u, t, u.n, out)


def rates(u: Words, t: float, y: Vec, out: Vec) -> int:
    """The right-hand side to out."""
    if evaluate(u.function, u.context, u.direction * t, y, y, 0.0, out) != 0:
        return -1
    turned(u.n, u.direction, out, out)
    return looked_at(u, t, u.n, out)


def jacobian(
    u: Words, t: float, c: float, y: Vec, d: Vec, scratch: Vec, values: Vec, places: Ints, factor: float, out: Vec
) -> int:
    """The entries of dF/dy + c dF/dyd, or of df/dy, times a factor, to their places in a dense matrix."""
    turned(u.n, u.direction, d, scratch)
    if evaluate(u.jacobian, u.jacobian_context, u.direction * t, y, scratch, u.direction * c, values) != 0:
        return -1
    for i in range(u.entries):
        out[places[i]] = factor * values[i]
    return looked_at(u, t, u.entries, values)


def factored(u: Words, t: float, c: float, y: Vec, d: Vec, scratch: Vec, memory: Vec) -> int:
    """The factors; pivots are chosen again if they no longer serve."""
    turned(u.n, u.direction, d, scratch)
    own = u.direction * t
    status = evaluate(u.factors, u.factors_context, own, y, scratch, u.direction * c, memory)
    if status == PIVOTS:
        return evaluate(u.repair, u.factors_context, own, y, scratch, u.direction * c, memory)
    return 0 if status == 0 else -1


def rates_factored(u: Words, t: float, gamma: float, y: Vec, d: Vec, scratch: Vec, memory: Vec) -> int:
    """The factors of I - gamma df/dy = gamma (c I - df/dy), c = 1 / gamma, by those of the residual y' - f."""
    c = 1.0 / gamma
    u.gamma = u.direction * c
    return factored(u, t, c, y, d, scratch, memory)


def solved(u: Words, memory: Vec, b: Vec, factor: float, x: Vec) -> int:
    """The solution x, times a factor, of the factorised system."""
    status = evaluate(u.solve, u.solve_context, 0.0, memory, b, 0.0, x)
    for i in range(u.n):
        x[i] = factor * x[i]
    return status


def projection(u: Words, t: float, y: Vec, out: Vec) -> int:
    """The correction of y to out; 1 if it cannot be found."""
    if evaluate(u.projection, u.projection_context, u.direction * t, y, y, 0.0, out) != 0:
        return 1
    for i in range(u.n):
        out[i] -= y[i]
    return 0


# ---------------------------------------------------------------- SUNDIALS' signatures


_PLACE = re.compile(r"%([A-Z][A-Z_]*)\b")
_KINDS = {"int": "i64", "float": "double"}


def _loaded(text: str) -> str:
    """LLVM functions with loads inserted for each %NAME, a word of `Words` at %u."""
    out = []
    for part in re.split(r"(?m)^(?=define )", text):
        head = re.match(r"define [^{]*\{\n(?:  %u = .*\n)?", part)
        loads = ""
        for name in sorted(name for name in set(_PLACE.findall(part)) if name.lower() in Words.names):
            kind = _KINDS.get(str(Words.__annotations__[name.lower()]), "ptr")
            loads += f"  %{name}.p = getelementptr i64, ptr %u, i64 {Words.names.index(name.lower())}\n"
            loads += f"  %{name} = load {kind}, ptr %{name}.p\n"
        out.append(part if head is None else head.group() + loads + part[head.end() :])
    return "".join(out)


def _wrapped(name: str, parameters: str, function: Any, arguments: str) -> str:
    """A function with SUNDIALS' parameters, such as %X.vector and %X.matrix, that calls one of ours with the words and
    these arguments, such as %X."""
    lines = ["  %u = load ptr, ptr %S"] if "%S" in parameters else []
    lines += [f"  %{x} = call ptr %ARRAY(ptr %{x}.vector)" for x in re.findall(r"%(\w+)\.vector", parameters)]
    lines += [f"  %{x} = call ptr %MATRIX_DATA(ptr %{x}.matrix)" for x in re.findall(r"%(\w+)\.matrix", parameters)]
    lines += ["  store i32 1, ptr %fresh"] if "%fresh" in parameters else []
    lines += [f"  %long = call i64 @{symbol(function)}(ptr %u, {arguments})", "  %s = trunc i64 %long to i32"]
    return "\n".join([f"define i32 @{name}({parameters}) nounwind {{", *lines, "  ret i32 %s", "}", ""])


_STATE = "ptr %y.vector, ptr %d.vector"
_SPARE = "ptr %1, ptr %2, ptr %3"
_AT_STATE = "ptr %y, ptr %d, ptr %SCRATCH"
_SYSTEM = "ptr %S, ptr %A, ptr %x.vector, ptr %b.vector, double %tol"
_WRAPPED = "".join(
    _wrapped(*each)
    for each in (
        ("residual", f"double %t, {_STATE}, ptr %r.vector, ptr %u", residual, f"double %t, {_AT_STATE}, ptr %r"),
        ("rates", "double %t, ptr %y.vector, ptr %r.vector, ptr %u", rates, "double %t, ptr %y, ptr %r"),
        (
            "scatter",
            f"double %t, double %c, {_STATE}, ptr %r, ptr %m.matrix, ptr %u, {_SPARE}",
            jacobian,
            f"double %t, double %c, {_AT_STATE}, ptr %VALUES, ptr %PLACES, double 1.0, ptr %m",
        ),
        (
            "scatterrates",
            f"double %t, {_STATE}, ptr %m.matrix, ptr %u, {_SPARE}",
            jacobian,
            f"double %t, double 0.0, {_AT_STATE}, ptr %VALUES, ptr %PLACES, double %DIRECTION, ptr %m",
        ),
        (
            "factors",
            f"double %t, double %c, {_STATE}, ptr %r, ptr %J, ptr %u, {_SPARE}",
            factored,
            f"double %t, double %c, {_AT_STATE}, ptr %FACTORS_MEMORY",
        ),
        (
            "ratesfactors",
            f"double %t, {_STATE}, ptr %A, i32 %jok, ptr %fresh, double %gamma, ptr %u, {_SPARE}",
            rates_factored,
            f"double %t, double %gamma, {_AT_STATE}, ptr %FACTORS_MEMORY",
        ),
        ("solve", _SYSTEM, solved, "ptr %FACTORS_MEMORY, ptr %b, double 1.0, ptr %x"),
        ("ratessolve", _SYSTEM, solved, "ptr %FACTORS_MEMORY, ptr %b, double %GAMMA, ptr %x"),
        (
            "projection",
            "double %t, ptr %y.vector, ptr %c.vector, double %eps, ptr %ee, ptr %u",
            projection,
            "double %t, ptr %y, ptr %c",
        ),
    )
)

_COMMON = f"""
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare ptr @strncpy(ptr, ptr, i64)

define i32 @setup(ptr %S, ptr %A) nounwind {{
  ret i32 0
}}

define void @said(i32 %line, ptr %function, ptr %file, ptr %words, i32 %code, ptr %data, ptr %context) nounwind {{
  %r = call ptr @strncpy(ptr %data, ptr %words, i64 {MESSAGE_BYTES - 1})
  ret void
}}
"""


def _step(name: str, call: str) -> str:
    """A loop's function: a step, a replaced state, or a derivative, selected by %c."""
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
  %time = getelementptr i64, ptr %u, i64 {Words.names.index("time")}
  %order = getelementptr i64, ptr %u, i64 {Words.names.index("order_word")}
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
    + _WRAPPED
    + _step("ida", "call i32 %STEP(ptr %INTEGRATOR, double %t, ptr %time, ptr %STATE, ptr %RATES, i32 2)")
    + _step("cvode", "call i32 %STEP(ptr %INTEGRATOR, double %t, ptr %STATE, ptr %time, i32 2)")
)


@cache
def shims() -> Module:
    program = Program((residual, rates, jacobian, factored, rates_factored, solved, projection))
    return module_of(program, LEVEL, _TEXT, made_of=Path(__file__).read_bytes())  # the loops are in this file
