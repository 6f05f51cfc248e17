"""The Jacobian of rates that a sparse system has: elimination in blocks, and many columns at a time.

The rates and multipliers z of an explicit form solve r(t, y, z) = 0, a system that is linear in z, or linear in a first
part of z and then, with this, in the rest. With A = dr/dz, one step of Newton's method for each part solves it, and

    dz/dy = -A^-1 dr/dy    at z.

Blocks of A have their unknowns one after the other. Each is inverted by itself; between blocks no pivots are chosen.
Columns of dr/dy are few numbers each: those that begin in the same blocks are solved for together, `WIDTH` of them in
vector registers, forwards through the blocks that they reach, backwards through all.
"""

from __future__ import annotations

from rbdae.machine.language.words import Ints, Vec, each, evaluate

WIDTH = 32
"""Columns that are solved for at a time."""

# ---------------------------------------------------------------- head, whole numbers
(
    N, TWIN, N_BLOCKS, OF_BODIES, SOLVED, SLOTS, N_FILLED, N_COLUMNS, N_PANELS, N_PARTS, STEPS, FILLED, BLOCKS,
    DIRECT, PANELS, OUT, COLUMNS, GIVEN, PARTS, BACK, STATE, RATES, VALUES, MATRIX, START, FLOOR, INVERSES, RIGHT,
    BELOW, PANEL, COMPACT, FREE, HEAD,
) = range(33)  # fmt: skip
"""First numbers: rates; unknowns of r; blocks, and how many of them, the first ones, belong to single bodies; unknowns
that are solved for; entries of A with those that fill in, and those that r gives; columns that are solved for, and
groups of them; functions, and steps of Newton's method. Then places in the tables: of the entries of A, the blocks, the
rows of the result with entries that need no solution, the groups, the rates, the columns, y among the unknowns of r,
the results of functions, the solution. Then places in `v`."""

BLOCK = 8
"""Numbers of a block in the tables: size, rows below, columns to the right, first unknown, its steps, its inverse, its
rows of U, its columns of L."""

SINGULAR = 2
"""What `rates_jacobian` says where a block is singular."""

LEAST = 1e-13
"""A pivot of joints that is smaller than this fraction of what it was at first: their equations are dependent."""


def invert(s: int, w: Vec, start: Vec, exchange: int, out: Vec) -> int:
    """The inverse of a matrix (s, s) in `w`, rows of 2 s, to `out`; 0 unless it is singular. Rows are exchanged where
    `exchange` is 1; else pivots are compared with `start`."""
    m = 2 * s
    for i in range(s):
        for j in range(s):
            w[i * m + s + j] = 1.0 if i == j else 0.0
    for j in range(s):
        if exchange == 1:
            p = j
            for i in range(j + 1, s):
                if abs(w[i * m + j]) > abs(w[p * m + j]):
                    p = i
            if p != j:
                for k in range(m):
                    value = w[j * m + k]
                    w[j * m + k] = w[p * m + k]
                    w[p * m + k] = value
            if not abs(w[j * m + j]) > 0.0:
                return SINGULAR
        elif not abs(w[j * m + j]) > LEAST * start[j]:
            return SINGULAR
        pivot = 1.0 / w[j * m + j]
        for k in range(j, m):
            w[j * m + k] *= pivot
        for i in range(s):
            factor = w[i * m + j]
            if i != j and factor != 0.0:
                for k in range(j, m):
                    w[i * m + k] -= factor * w[j * m + k]
    for i in range(s):
        for j in range(s):
            out[i * s + j] = w[i * m + s + j]
    return 0


def factorise(head: Ints, tables: Ints, v: Vec) -> int:
    """Eliminate the matrix in `v`; 0 unless a block is singular. The unknown of an equation below its floor is 0."""
    a = v[head[MATRIX] :]
    w = v[head[FREE] :]
    blocks = tables[head[BLOCKS] :]
    for k in range(head[N_BLOCKS]):
        if k == head[OF_BODIES]:
            _note_diagonal(head, tables, v)
        block = blocks[BLOCK * k :]
        s = block[0]
        below = block[1]
        right = block[2]
        steps = tables[block[4] :]
        inverse = v[head[INVERSES] + block[5] :]
        up = v[head[RIGHT] + block[6] :]
        low = v[head[BELOW] + block[7] :]
        for i in range(s):
            for j in range(s):
                w[2 * s * i + j] = a[steps[s * i + j]]
        exchange = 1 if k < head[OF_BODIES] else 0
        if s == 1 and abs(w[0]) < v[head[FLOOR] + block[3]]:
            inverse[0] = 0.0
        elif invert(s, w, v[head[START] + block[3] :], exchange, inverse) != 0:
            return SINGULAR
        at = s * s + right
        for i in range(s):
            for c in range(right):
                total = 0.0
                for j in range(s):
                    total += inverse[i * s + j] * a[steps[at + j * right + c]]
                up[i * right + c] = total
        at += s * right
        for r in range(below):
            for j in range(s):
                low[r * s + j] = a[steps[at + 1 + j]]
            at += 1 + s
            for c in range(right):
                total = 0.0
                for j in range(s):
                    total += low[r * s + j] * up[j * right + c]
                a[steps[at + c]] -= total
            at += right
    return 0


def _note_diagonal(head: Ints, tables: Ints, v: Vec) -> None:
    """The sizes of the diagonal of the joints' equations before any of them is eliminated."""
    a = v[head[MATRIX] :]
    blocks = tables[head[BLOCKS] :]
    for k in range(head[OF_BODIES], head[N_BLOCKS]):
        block = blocks[BLOCK * k :]
        s = block[0]
        steps = tables[block[4] :]
        start = v[head[START] + block[3] :]
        for i in range(s):
            start[i] = abs(a[steps[s * i + i]])


def _take(x: Vec, n: int, numbers: Vec, columns: Ints, of: Vec) -> None:
    """x -= the sum of n numbers times the rows `of` that `columns` says."""
    k = 0
    for _ in range(n // 3):
        one = numbers[k]
        two = numbers[k + 1]
        three = numbers[k + 2]
        a = of[WIDTH * columns[k] :]
        b = of[WIDTH * columns[k + 1] :]
        c = of[WIDTH * columns[k + 2] :]
        for i in each(WIDTH):
            x[i] -= one * a[i] + two * b[i] + three * c[i]
        k += 3
    for j in range(k, n):
        one = numbers[j]
        a = of[WIDTH * columns[j] :]
        for i in each(WIDTH):
            x[i] -= one * a[i]


def _spread(s: int, block: Ints, tables: Ints, inverse: Vec, low: Vec, w: Vec, X: Vec) -> None:
    """The rows of a block become those of D^-1 X, and the rows below lose what belongs to it."""
    x = X[WIDTH * block[3] :]
    for i in range(s):
        y = w[WIDTH * i :]
        one = inverse[i * s]
        for l in each(WIDTH):
            y[l] = one * x[l]
        for j in range(1, s):
            one = inverse[i * s + j]
            a = x[WIDTH * j :]
            for l in each(WIDTH):
                y[l] += one * a[l]
    for l in each(WIDTH * s):
        x[l] = w[l]
    steps = tables[block[4] :]
    right = block[2]
    at = s * s + right + s * right
    for r in range(block[1]):
        y = X[WIDTH * steps[at] :]
        for j in range(s):
            one = low[r * s + j]
            a = x[WIDTH * j :]
            for l in each(WIDTH):
                y[l] -= one * a[l]
        at += 1 + s + right


def solve(head: Ints, tables: Ints, v: Vec, reached: Ints, n: int) -> None:
    """Solve A X = B for the columns of the panel, which begin in the n blocks `reached` and reach no others."""
    X = v[head[PANEL] :]
    w = v[head[FREE] :]
    blocks = tables[head[BLOCKS] :]
    for k in range(n):
        block = blocks[BLOCK * reached[k] :]
        _spread(block[0], block, tables, v[head[INVERSES] + block[5] :], v[head[BELOW] + block[7] :], w, X)
    last = head[N_BLOCKS] - 1
    for k in range(head[N_BLOCKS]):
        block = blocks[BLOCK * (last - k) :]
        s = block[0]
        right = block[2]
        columns = tables[block[4] + s * s :]
        up = v[head[RIGHT] + block[6] :]
        for i in range(s):
            _take(X[WIDTH * (block[3] + i) :], right, up[i * right :], columns, X)


def evaluate_parts(functions: Ints, t: float, head: Ints, tables: Ints, v: Vec) -> int:
    """r and its entries, part by part; 0 if all are complete."""
    parts = tables[head[PARTS] :]
    for k in range(head[N_PARTS]):
        out = v[head[VALUES] + parts[k] :]
        if evaluate(functions[2 * k], functions[2 * k + 1], t, v[head[STATE] :], v[head[RATES] :], 0.0, out) != 0:
            return 1
    return 0


def rates_jacobian(functions: Ints, t: float, y: Vec, head: Ints, tables: Ints, v: Vec, out: Vec) -> int:
    """d(rates)/dy to `out`; 0, 1 where a function has failed, or `SINGULAR`.

    Parameters
    ----------
    functions : those of which r and the entries of dr/dy and dr/dz are made, one after the other
    head, tables : see `rbdae.machine.rates_jacobian`
    v : memory
    """
    state = v[head[STATE] :]
    rates = v[head[RATES] :]
    values = v[head[VALUES] :]
    a = v[head[MATRIX] :]
    X = v[head[PANEL] :]
    for i in range(head[TWIN]):
        state[i] = 0.0
        rates[i] = 0.0
    given = tables[head[GIVEN] :]
    for i in range(head[N]):
        state[given[i]] = y[i]
    filled = tables[head[FILLED] :]
    for _ in range(head[STEPS]):
        if evaluate_parts(functions, t, head, tables, v) != 0:
            return 1
        for i in range(head[SLOTS]):
            a[i] = 0.0
        for k in range(head[N_FILLED]):
            a[filled[2 * k]] = values[filled[2 * k + 1]]
        if factorise(head, tables, v) != 0:
            return SINGULAR
        _improve(head, tables, v)
    if evaluate_parts(functions, t, head, tables, v) != 0:
        return 1
    panels = tables[head[PANELS] :]
    rows = tables[head[OUT] :]
    compact = v[head[COMPACT] :]
    width = WIDTH * head[N_PANELS]
    for p in range(head[N_PANELS]):
        entries = panels[0]
        reached = panels[1]
        places = panels[2:]
        for i in each(WIDTH * head[SOLVED]):
            X[i] = 0.0
        for k in range(entries):
            X[places[2 * k]] = -values[places[2 * k + 1]]
        solve(head, tables, v, places[2 * entries :], reached)
        for i in range(head[SOLVED]):
            if rows[i] >= 0:
                line = compact[width * rows[i] + WIDTH * p :]
                x = X[WIDTH * i :]
                for l in each(WIDTH):
                    line[l] = x[l]
        panels = places[2 * entries + reached :]
    _expand(head, tables, v, out)
    return 0


def jacobian(
    functions: Ints, head: Ints, tables: Ints, v: Vec, elsewhere: int, context: int, t: float, y: Vec, out: Vec
) -> int:
    """The same; where it fails, by the machine function `elsewhere` with its context if there is one."""
    status = rates_jacobian(functions, t, y, head, tables, v, out)
    if status == 0 or elsewhere == 0:
        return status
    return evaluate(elsewhere, context, t, y, y, 0.0, out)


def _expand(head: Ints, tables: Ints, v: Vec, out: Vec) -> None:
    """The Jacobian from the columns that have been solved for, and the entries of the other rows."""
    n = head[N]
    values = v[head[VALUES] :]
    compact = v[head[COMPACT] :]
    columns = tables[head[COLUMNS] :]
    width = WIDTH * head[N_PANELS]
    found = tables[head[DIRECT] :]
    for i in range(n):
        line = out[i * n :]
        for j in range(n):
            line[j] = 0.0
        if found[0] >= 0:
            x = compact[width * found[0] :]
            for l in range(head[N_COLUMNS]):
                line[columns[l]] = x[l]
        entries = found[2:]
        for k in range(found[1]):
            line[entries[2 * k]] = -values[entries[2 * k + 1]]
        found = entries[2 * found[1] :]


def _improve(head: Ints, tables: Ints, v: Vec) -> None:
    """A step of Newton's method for the rates and the multipliers at this state."""
    state = v[head[STATE] :]
    rates = v[head[RATES] :]
    values = v[head[VALUES] :]
    X = v[head[PANEL] :]
    back = tables[head[BACK] :]
    solved = head[SOLVED]
    for i in each(WIDTH * solved):
        X[i] = 0.0
    for i in range(solved):
        X[WIDTH * i] = -values[back[3 * i]]
    solve(head, tables, v, back[3 * solved :], head[N_BLOCKS])
    for i in range(solved):
        if back[3 * i + 1] == 0:
            rates[back[3 * i + 2]] += X[WIDTH * i]
        else:
            state[back[3 * i + 2]] += X[WIDTH * i]
