"""An implicit step in one function, as LLVM text: Newton's iteration and the end of the step.

Both are straight code that becomes part of it: what belongs to the start of the step is computed once, and unknowns
stay in registers. It does what `rbdae.machine.loops.fixed` does with two functions, where Newton's method
converges. It has their arguments, with yd as its memory: n unknowns of the step before, TOLERANCE, MOST, and n unknowns
to begin with. It leaves the unknowns of the step, the size of the first correction, the iterations, and the unknowns to
begin the next step with. It returns 1 where a guard does not hold, 2 where the iteration does not converge or something
is not finite; the memory is as it was then.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdae.machine.loops.fixed import EXACT, FEW, NEAR
from rbdae.machine.straight import ARGUMENTS, real

MEMORY = 2
"""Numbers between the unknowns and those to begin with."""


def _at(name: str, array: str, place: int) -> str:
    return f"  %{name} = getelementptr double, ptr {array}, i64 {place}"


def _loaded(name: str, array: str, place: int) -> list[str]:
    return [_at(f"{name}.p", array, place), f"  %{name} = load double, ptr %{name}.p"]


def _stored(value: str, name: str, array: str, place: int) -> list[str]:
    return [_at(f"{name}.q", array, place), f"  store double {value}, ptr %{name}.q"]


def _copied(name: str, source: str, target: str, n: int, first: int = 0) -> list[str]:
    lines = []
    for i in range(n):
        lines += _loaded(f"{name}{i}", source, first + i) + _stored(f"%{name}{i}", f"{name}{i}", target, i)
    return lines


def _extrapolated(n: int) -> list[str]:
    """The unknowns of the next step: as many changes further as `%part` says."""
    lines = [
        f"  %near = fcmp ole double %first.now, {real(NEAR)}",
        f"  %few = fcmp ole double %k.next, {real(FEW)}",
        "  %both = and i1 %near, %few",
        "  %part = select i1 %both, double 1.0, double 0.0",
    ]
    for i in range(n):
        lines += _loaded(f"u{i}", "%u", i) + _loaded(f"last{i}", "%yd", i)
        lines += [f"  %d{i} = fsub double %u{i}, %last{i}", f"  %e{i} = fmul contract double %d{i}, %part"]
        lines += [f"  %next{i} = fadd contract double %u{i}, %e{i}"]
    for i in range(n):
        lines += _stored(f"%u{i}", f"kept{i}", "%yd", i) + _stored(f"%next{i}", f"next{i}", "%yd", n + MEMORY + i)
    return lines


def _sum_of_zeros(n: int) -> tuple[list[str], str]:
    """0 if all of %out is finite."""
    lines, terms = [], []
    for i in range(n):
        lines += [*_loaded(f"z{i}", "%out", i), f"  %s{i} = fmul double %z{i}, 0.0"]
        terms.append(f"%s{i}")
    while len(terms) > 1:
        sums = []
        for one, other in zip(terms[::2], terms[1::2], strict=False):
            sums.append(f"{one}.{len(terms)}")
            lines.append(f"  {sums[-1]} = fadd double {one}, {other}")
        terms = sums + terms[len(terms) - len(terms) % 2 :]
    return lines, terms[0]


def implicit_step(name: str, newton: str, advance: str, n: int, n_states: int) -> str:
    """The function `name` of n unknowns and n_states results, from the straight code `newton` and `advance`."""
    given = "ptr %context, double %t, ptr %y, ptr %u, double %c"
    finite, total = _sum_of_zeros(n_states)
    lines: Sequence[str] = [
        f"define i32 @{name}({ARGUMENTS}) nounwind {{",
        "entry:",
        f"  %u = alloca [{n + 1} x double], align 16",
        f"  %further = alloca [{n + 1} x double], align 16",
        *_loaded("tolerance", "%yd", n),
        *_loaded("most", "%yd", n + 1),
        *_copied("b", "%yd", "%u", n, first=n + MEMORY),
        "  br label %iteration",
        "iteration:",
        "  %k = phi double [0.0, %entry], [%k.next, %again]",
        "  %first = phi double [0.0, %entry], [%first.now, %again]",
        "  %before = phi double [0.0, %entry], [%size, %again]",
        f"  %status = call i32 @{newton}({given}, ptr %further)",
        "  %bad = icmp ne i32 %status, 0",
        "  br i1 %bad, label %elsewhere, label %corrected",
        "corrected:",
        *_copied("f", "%further", "%u", n),
        *_loaded("size", "%further", n),
        "  %k.next = fadd double %k, 1.0",
        "  %begins = fcmp oeq double %k, 0.0",
        "  %first.now = select i1 %begins, double %size, double %first",
        "  %compared = select i1 %begins, double %size, double %before",
        "  %small = fcmp ole double %size, %tolerance",
        "  br i1 %small, label %judged, label %again",
        "judged:",
        "  %square = fmul double %size, %size",
        f"  %bound = fmul double %compared, {real(EXACT)}",
        "  %done = fcmp ole double %square, %bound",
        "  br i1 %done, label %end, label %again",
        "again:",
        "  %more = fcmp olt double %k.next, %most",
        "  br i1 %more, label %iteration, label %failed",
        "end:",
        *_stored("1.0", "r", "%u", n),
        f"  %status.end = call i32 @{advance}({given}, ptr %out)",
        "  %bad.end = icmp ne i32 %status.end, 0",
        "  br i1 %bad.end, label %elsewhere, label %ended",
        "ended:",
        *finite,
        f"  %finite = fcmp oeq double {total}, 0.0",
        "  br i1 %finite, label %kept, label %failed",
        "kept:",
        *_extrapolated(n),
        *_stored("%first.now", "first", "%yd", n),
        *_stored("%k.next", "k", "%yd", n + 1),
        "  ret i32 0",
        "elsewhere:",
        "  ret i32 1",
        "failed:",
        "  ret i32 2",
        "}",
    ]
    return "\n".join(lines)
