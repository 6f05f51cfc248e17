"""A C file of a problem: tables of its start, classes and patterns, then functions (`rbdae.handover.c`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rbdae import _check
from rbdae._version import __version__
from rbdae.handover.c import comment, function_text, identifiers, table
from rbdae.handover.c_loops import HEAD, Loops
from rbdae.handover.recorded import Handed, TooLong

KINDS: Mapping[str, tuple[str, ...]] = {
    "ida": ("residual", "jacobian"),
    "cvode": ("rhs", "rhs_jacobian"),
    "plain": ("residual", "jacobian", "rhs", "rhs_jacobian", "energy", "quantities", "project"),
}
"""What there is for a solver of a kind."""

_SAYS = {
    "residual": "The residual F(t, y, yd)",
    "jacobian": "dF/dy + c dF/dyd, the entries of its pattern",
    "rhs": "The right-hand side, yd = f(t, y)",
    "rhs_jacobian": "df/dy, the entries of its pattern",
    "energy": "Kinetic and potential energy, J",
    "constraints": "Constraints: positions, then velocities; of rotations, then of joints",
    "correction": "A step onto the constraints after displacements with the sum yd, at whose end is 2 if velocities "
    "turn with rotations, else 1: the next displacement, positions and velocities after it, projected velocities",
    "quantities": "Quantities of joints and forces, and reactions. An event where one of them reaches a value has the "
    "root function quantity - value",
}

_DENSE = """/* Entries of a pattern to a matrix with so many rows, column by column; its other entries are 0. */
void {0}_dense(int rows, int columns, const RBDAE_INDEX *row, const RBDAE_INDEX *pointer, const double *data,
               double *out) {{
    for (int k = 0; k < rows * columns; k++) out[k] = 0.0;
    for (int j = 0; j < columns; j++)
        for (RBDAE_INDEX k = pointer[j]; k < pointer[j + 1]; k++) out[rows * j + row[k]] = data[k];
}}"""


_PROJECT = """static double {0}_largest(int n, const double *weight, const double *g) {{
    double found = 0.0;
    for (int i = 0; i < n && found == found; i++)
        if (!(weight[i] * fabs(g[i]) <= found)) found = weight[i] * fabs(g[i]);
    return found;
}}

/* y to the nearest state on the constraints, in the metric of the masses. Violations count times their weights; a
   tolerance of 1e-14 and at most 10 steps are usual. Where it returns 1, the constraints are not reached. */
int {0}_project(double t, double *y, const double *u, const double *p, double tolerance, int most) {{
    enum {{ Q = {1}, V = {2}, W = {3}, G = {4} }};
    double g[2 * G + 1], out[V + Q + 2 * W], sum[V] = {{0.0}}, back[V + 1], before = HUGE_VAL, zero = 0.0;
    for (int k = 0;; k++) {{
        if ({0}_constraints(t, y, u, p, g)) return 1;
        const double violation = {0}_largest(G, {0}_weights, g);
        const int there = violation <= (violation >= 0.5 * before ? fmax(1e3 * tolerance, {5!r}) : tolerance);
        if (there && (W == 0 || {0}_largest(G, {0}_weights + G, g + G) <= tolerance)) return 0;
        if (!there && k >= most) return 1;
        for (int i = 0; i < V; i++) back[i] = 2 * k + 1 <= most ? sum[i] : 0.0;
        back[V] = k ? 1.0 : 2.0;
        if ({0}_correction(t, y, back, u, p, out)) return 1;
        for (int i = 0; i < W && there; i++) zero += 0.0 * (y[Q + i] = out[V + Q + W + i]);
        if (there) return zero != 0.0;
        for (int i = 0; i < V; i++) sum[i] += out[i];
        for (int i = 0; i < Q + W; i++) y[i] = out[V + i];
        before = violation;
    }}
}}"""


def functions_of(problem: Any, kind: str) -> list[str]:
    """The functions for a solver of a kind. Raises ValueError for another one, and for a right-hand side of a DAE."""
    if kind not in KINDS:
        raise _check.unknown("kind", kind, KINDS)
    explicit = problem.kind == "ode"
    if kind == "cvode" and not explicit:
        raise ValueError(
            f"c_source: {problem.formulation} is a DAE and has no right-hand side; take kind='ida', or index-0, "
            "null-space or hamiltonian-eliminated"
        )
    return [name for name in KINDS[kind] if explicit or not name.startswith("rhs")]


def source(handed: Handed, prefix: str, functions: Sequence[str]) -> str:
    """The file: tables, then the functions by their names. Its names begin with the prefix."""
    problem, names = handed.problem, identifiers(handed.problem.labels)
    form, n, (prefix,) = problem.workspace.settings.formulation, problem.n, identifiers([prefix])
    loops = Loops(handed, prefix)
    size = [
        f"{prefix}_N = {n}",
        f"{prefix}_EQUATIONS = {problem.n_equations}",
        f"{prefix}_INPUTS = {len(handed.inputs)}",
        f"{prefix}_PARAMETERS = {len(handed.parameters)}",
    ]
    parts = [
        comment(
            f"{prefix}: {form.name}, {form.summary}, {form.source}; rotations by {problem.rotation}, "
            f"velocities {problem.velocity}. {n} unknowns, {problem.n_equations} equations. Written by rbdae "
            f"{__version__}; SI units."
        ),
        "#include <math.h>\n\n#ifndef RBDAE_INDEX\n#define RBDAE_INDEX int /* or long long, for 64 bits */\n#endif",
        *[HEAD] * loops.apply,
        comment("Functions return 0, or 1 where the results mean nothing: a guard does not hold."),
        f"enum {{ {', '.join(size)} }};",
        table("char *", f"{prefix}_labels", problem.labels),
        comment("The start, and which unknowns have rates: 1; multipliers and algebraic unknowns have none: 0."),
        f"const double {prefix}_t0 = {float(problem.t0)!r};",
        table("double", f"{prefix}_y0", problem.y0),
        table("double", f"{prefix}_yd0", problem.yd0),
        table("int", f"{prefix}_differential", problem.differential),
        comment("Unknowns that a BDF code does not test: 1, for an absolute tolerance of 1e10 ([HW96] section VII.3)."),
        table("int", f"{prefix}_untested", (problem.variable_index >= 2) | ~(problem.differential | problem.algebraic)),
        comment("Hairer's classes of the unknowns of a DAE: 1, 2, 3; 0 for an ODE."),
        table("int", f"{prefix}_variable_index", problem.variable_index),
    ]
    for what, numbers in (("inputs", handed.inputs), ("parameters", handed.parameters)):
        if numbers:
            parts += [table("char *", f"{prefix}_{what}", numbers)]
            parts += [table("double", f"{prefix}_{what}0", numbers.values())]
    needed = ((*(("constraints", "correction") if name == "project" else ()), name) for name in functions)
    for name in dict.fromkeys(chain.from_iterable(needed)):
        if name == "project":
            parts += _project(handed, prefix)
            continue
        try:
            text, pattern = loops.function(name, _SAYS[name]) if loops.apply else None, None
            if text is None:
                if name == "quantities":
                    labels, units, function = handed.quantities()
                    parts += [
                        f"enum {{ {prefix}_QUANTITIES = {len(labels)} }};",
                        table("char *", f"{prefix}_quantity_labels", labels),
                        table("char *", f"{prefix}_quantity_units", units),
                    ]
                else:
                    function = handed.function(name)
                text, pattern = function_text(f"{prefix}_{name}", function, names, _SAYS[name]), function.pattern
            elif name == "jacobian":
                pattern = problem._block_pattern
        except TooLong as error:
            if name == "rhs" or (name in ("residual", "jacobian") and "rhs" not in functions):
                raise
            parts.append(comment(f"Left out: {error}."))
            continue
        if pattern is not None:
            parts += [
                comment(f"The pattern of {name}, compressed columns: rows of its entries, and where columns begin."),
                f"enum {{ {prefix}_{name}_NNZ = {len(pattern.rows)} }};",
                table("RBDAE_INDEX", f"{prefix}_{name}_rows", pattern.rows),
                table("RBDAE_INDEX", f"{prefix}_{name}_pointers", pattern.pointers(n)),
            ]
        parts.append(text)
    return "\n\n".join([*parts, _DENSE.format(prefix)]) + "\n"


def _project(handed: Handed, prefix: str) -> list[str]:
    """Weights of the constraints, and the loop of the projection."""
    scales, sizes = handed.problem.model.scales, handed.sizes
    rows, rounding = 1.0 / scales.sizes(scales.length), 30.0 * scales.reach / scales.length * float(np.finfo(float).eps)
    weights = np.concatenate([np.ones(sizes[3] - len(rows)), rows])
    text = _PROJECT.format(prefix, *sizes, rounding)
    return [table("double", f"{prefix}_weights", [*weights, *(weights / scales.rate)]), text]


def write(problem: Any, path: str | Path, kind: str, parameters: bool | Sequence[str] = False) -> Path:
    """`rbdae.Problem.c_source`."""
    path = Path(path)
    path.write_text(source(Handed(problem, parameters), path.stem, functions_of(problem, kind)))
    return path
