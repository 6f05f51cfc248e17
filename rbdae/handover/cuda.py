"""CUDA C++: the right-hand side of an ODE form as a function of one thread, with the loop of ``ensemble.h`` around it.

One file: the model's sizes and names, the numbers of DOPRI5 and its step sizes, the loop, the right-hand side. nvcc and
NVRTC compile it, and g++ for the host.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rbdae._version import __version__
from rbdae.formulations.table import FORMULATIONS
from rbdae.handover.c import Dialect, comment, function_text, identifiers
from rbdae.handover.recorded import Handed
from rbdae.machine.loops import control
from rbdae.machine.loops.host import USUAL
from rbdae.machine.loops.methods import DOPRI5

CODES = {
    "ENDED": "the end is reached",
    "GUARD": "a guard does not hold; the reason is its number, which the right-hand side returns",
    "TOO_SMALL": "the step is too small",
    "TOO_MANY": "too many steps",
    "NOT_FINITE": "an unknown or its rate is not finite",
}
"""How a run ends, by codes from 1 on."""

_DIALECT = Dialect("real", "R({})", "DEVICE ", numbered=True, restrict="")

_WORDS = re.split(
    " ",
    "alignas alignof and and_eq asm bitand bitor bool catch class compl concept const_cast constexpr decltype delete "
    "dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr operator or or_eq "
    "private protected public reinterpret_cast requires static_assert static_cast template this thread_local throw "
    "true try typeid typename using virtual wchar_t xor xor_eq real N U P",
)
"""Words of C++ that C does not have, and ours."""


def source(handed: Handed) -> str:
    """The file. ValueError for a problem that is no ODE form."""
    problem = handed.problem
    if problem.kind != "ode":
        forms = ", ".join(name for name, form in FORMULATIONS.items() if form.kind == "ode")
        raise ValueError(
            f"cuda_source needs a right-hand side, but {problem.formulation} is a DAE of index {problem.index}; "
            f"formulate the system as one of {forms}"
        )
    loop = (Path(__file__).parent / "ensemble.h").read_text(encoding="utf-8")
    numbers = _numbers()
    names = identifiers(problem.labels, [*_WORDS, *CODES, *re.findall(r"#define (\w+)", numbers + loop)])
    form = problem.workspace.settings.formulation
    says = (
        f"{form.name}, {form.summary}, {form.source}. {problem.n} unknowns. Written by rbdae {__version__}; SI units."
    )
    codes = "\n".join(f"    {name} = {k}, /* {what} */" for k, (name, what) in enumerate(CODES.items(), 1))
    sizes = f"N = {problem.n}, U = {len(handed.inputs)}, P = {len(handed.parameters)}, STAGES = {DOPRI5.end}"
    parts = [comment(says), comment("Unknowns: " + ", ".join(problem.labels))]
    for what, numbers_of in (("Inputs", handed.inputs), ("Parameters", handed.parameters)):
        if numbers_of:
            parts.append(comment(f"{what}: " + ", ".join(f"{name} = {x!r}" for name, x in numbers_of.items())))
    rhs = function_text("rhs", handed.function("rhs"), names, "The right-hand side, yd = f(t, y)", _DIALECT)
    return "\n\n".join([*parts, f"enum {{ {sizes} }};", f"enum {{\n{codes}\n}};", numbers, loop, rhs]) + "\n"


def write(problem: Any, path: str | Path, parameters: bool | Sequence[str]) -> Path:
    """`rbdae.Problem.cuda_source`."""
    path = Path(path)
    path.write_text(source(Handed(problem, parameters)), encoding="utf-8")
    return path


def _numbers() -> str:
    """DOPRI5's numbers and those of its step sizes, as macros."""

    def row(values: tuple[float, ...]) -> str:
        return ", ".join(f"R({value!r})" for value in values)

    of = DOPRI5
    rows = [*zip(of.c, of.a, strict=True), (1.0, of.b)]
    stages = [f"    STAGE({s}, R({c!r}), {row(tuple(a))})" for s, (c, a) in enumerate(rows, 1)]
    values = {
        "SHRINKS": 1.0 / of.shrinks,
        "GROWS": 1.0 / of.grows,
        "SAFETY": USUAL.safety,
        "BETA": of.beta,
        "EXPONENT": of.exponent(of.beta),
        "ORDER": of.order,
        **{name: getattr(control, name) for name in ("UROUND", "FLAT", "TINY", "LINEAR", "LEAST_ERROR")},
    }
    macros = [f"#define {name} {float(value)!r}" for name, value in values.items()]
    return "\n".join([*macros, f"#define ERROR {row(tuple(of.error))}", " \\\n".join(["#define TABLEAU", *stages])])
