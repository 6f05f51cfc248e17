"""Native functions: every construct in machine code does what it does in plain Python, and all else is refused."""

from __future__ import annotations

import ctypes
from math import copysign, cos, exp, fabs, inf, isfinite, log, nan, pow, sin, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from rbdae.machine.language.program import Program, callables
from rbdae.machine.language.source import LanguageError
from rbdae.machine.language.words import Address, Function, Ints, Vec, each, evaluate

LIMIT = 7
SCALE = 0.5


class Machine:
    """A native function in machine code, called with arrays."""

    def __init__(self, function, **bindings):
        self.program = Program((function,), bindings)
        (self.called,) = callables(self.program, 1)
        self.plain = function

    def __call__(self, *arguments):
        return self.called(*(a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments))

    def agrees(self, *arguments):
        """Both sides give the same, and leave the same in the vectors."""
        here, there = ([a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2))
        found, wanted = self(*here), self.plain(*there)
        same = found == wanted or (found != found and wanted != wanted)
        assert same or found == pytest.approx(wanted, rel=1e-14), (found, wanted)
        for a, b in zip(here, there, strict=True):
            if isinstance(a, np.ndarray):
                np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-14)


def numbers(a: float, b: float, i: int, j: int) -> float:
    """Arithmetic of floats and ints."""
    c = a * b - (a - b) / (1.0 + b * b) + a**2 - 3 * -b
    c += i / 4 + float(i // j) * 2.0 - (i % j)
    c -= abs(a) + fabs(b) + abs(i) + int(b) + min(a, b, 0.25) * max(i, j) + max(a, i) + min(i, 2.5)
    return c + sqrt(abs(c)) + sin(a) * cos(b) + exp(-abs(a)) + log(1.0 + a * a) + copysign(b, a) + pow(abs(b), 0.3)


small = some.floats(-1e3, 1e3, allow_subnormal=False)
whole = some.integers(-50, 50)


@pytest.fixture(scope="module")
def machine():
    """Each function is compiled once."""
    made = {}

    def of(function, **bindings):
        if function not in made:
            made[function] = Machine(function, **bindings)
        return made[function]

    return of


@settings(max_examples=200, deadline=None)
@given(a=small, b=small, i=whole, j=whole.filter(bool))
def test_arithmetic(machine, a, b, i, j):
    one = machine(numbers)
    # terms of a thousand cancel, and products may be contracted
    assert one(a, b, i, j) == pytest.approx(one.plain(a, b, i, j), rel=1e-12, abs=1e-7)


def choices(a: float, b: float, i: int) -> int:
    """Conditions, none of which is evaluated where it does not count."""
    n = 0
    if a < b <= 2.0 * b and not i > 3:
        n = 1
    elif a != b or i >= 2:
        n = 2 if a > b or 1 // max(i, 1) == 1 else 3
    found = a == b
    if (i > 0 and a >= 0.0 and 10 // i > 2) or (found and True):
        n += 10
    return -n if isfinite(a) and isfinite(b) else n


@settings(max_examples=200, deadline=None)
@given(a=some.sampled_from([0.0, -0.0, 1.0, -1.0, nan, inf, -inf]), b=some.sampled_from([0.0, 1.0, nan, inf]), i=whole)
def test_conditions(machine, a, b, i):
    machine(choices).agrees(a, b, i)


@pytest.mark.parametrize("a", [nan, 1.0, -1.0, inf])
@pytest.mark.parametrize("b", [nan, 0.0, -inf])
def test_the_least_of_what_is_no_number_is_that_of_python(machine, a, b):
    def least(a: float, b: float) -> float:
        return min(a, b)

    def most(a: float, b: float) -> float:
        return max(a, b)

    for function in (least, most):
        one = Machine(function)
        one.agrees(a, b)


def walk(n: int, v: Ints) -> int:
    """Loops of every kind."""
    k = 0
    out = 0
    while True:
        k += 1
        if k % 3 == 0:
            continue
        if k > n:
            break
        out += k
    while out > 10 * LIMIT:
        out -= LIMIT
    for i in range(2, n):
        v[i] = i
        i = 99  # the count goes its own way
        if v[0] > n:
            break
        v[0] += 1
    for i in range(n - 1, -1, -2):
        v[i] += out
        for j in range(i):
            if j == 2:
                continue
            v[j] = v[j] - v[i] % 5
    return out + k


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8, 31])
def test_loops(machine, n):
    machine(walk).agrees(n, np.arange(40))


def half(v: Vec, k: int) -> float:
    """Called by another one."""
    return SCALE * v[k]


def scaled(v: Vec, by: float) -> None:
    """Changes what it is given."""
    if by == 0.0:
        return
    v[0] *= by


def vectors(v: Vec, u: Vec, n: int) -> float:
    """Entries, addresses within a vector, and calls."""
    rest = v[2:]
    rest[0] += half(v, 1)
    scaled(v[n - 1 :], 3)
    u[1] = rest[n - 3]
    total: float = 0.0
    for i in range(n):
        total += v[i]
    return total


def test_vectors_and_calls(machine, rng):
    machine(vectors).agrees(rng.standard_normal(9), rng.standard_normal(3), 9)


def lanes(v: Vec, u: Vec, n: int, h: float) -> None:
    """Four entries at a time."""
    shifted = v[n:]
    for i in each(n):
        scale = 1e-3 + h * max(abs(v[i]), abs(u[i]), v[0])
        u[i] = (u[i] - 2 * v[i]) / scale + sqrt(v[i] ** 2) - min(-v[i], h)
        shifted[i] += u[i] * h
    for i in each(n):
        scale = -u[i] + 1
        u[i] = scale


@pytest.mark.parametrize("n", [0, 4, 8, 20])
def test_vector_registers(machine, rng, n):
    v = rng.standard_normal(2 * n + 4)
    v[0] = 0.1  # is read in every pass
    machine(lanes).agrees(v[:], rng.standard_normal(n + 4), n, 0.3)


def opened(v: Vec, n: int) -> float:
    """Calls what is bound to `half`."""
    return half(v, n) + SCALE


def double(v: Vec, k: int) -> float:
    """Instead of `half`."""
    return 2.0 * v[k]


def test_names_are_bound(machine):
    v = np.array([1.0, 2.0, 4.0])
    assert Machine(opened)(v, 2) == 2.5
    assert Machine(opened, half=double, SCALE=0.25)(v, 2) == 8.25
    assert opened(v, 2) == 2.5  # as before


def sampled(f: Function, context: Address, v: Vec, out: Vec) -> int:
    """A machine function, twice."""
    if evaluate(f, context, 0.5, v, v, 2.0, out) != 0:
        return -1
    return evaluate(f, context, 1, v, v, 0.0, out[2:])


def test_evaluate_calls_machine_functions(machine):
    signature = ctypes.CFUNCTYPE(
        ctypes.c_int32, ctypes.c_void_p, ctypes.c_double, *[ctypes.c_void_p] * 2, ctypes.c_double, ctypes.c_void_p
    )

    @signature
    def function(context, t, y, yd, c, out):
        to = ctypes.cast(out, ctypes.POINTER(ctypes.c_double))
        to[0], to[1] = t + c, ctypes.cast(y, ctypes.POINTER(ctypes.c_double))[0] + context
        return -3 if t == 1.0 else 0

    v, out = np.array([7.0]), np.zeros(4)
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert machine(sampled)(address, 5, v, out) == -3
    assert list(out) == [2.5, 12.0, 1.0, 12.0]

    def plain(context, t, y, yd, c, out):
        out[0], out[1] = t + c, y[0] + context
        return 0

    assert sampled(plain, 5, v, out) == 0
    assert list(out) == [2.5, 12.0, 1.0, 12.0]


def mixed(a: float, i: int) -> float:
    """Ints and floats in one expression."""
    k = a if a > 0.0 else 1.0
    out = k if i > 0 else 3.0
    out += i
    return out + 2 * k
    out = 99  # never reached


@pytest.mark.parametrize("a", [0.0, 1.5, -2.0, nan])
@pytest.mark.parametrize("i", [0, 1, 5])
def test_mixed_numbers(machine, a, i):
    machine(mixed).agrees(a, i)


def first(v: Vec, u: Vec, n: int) -> None:
    """The same names in a loop of vector registers, and outside."""
    c = 1.0
    for i in each(n):
        x = v[i] * c
        u[i] = x + u[i]
    x = 3.0
    x += u[0]
    c = x
    for i in each(n):
        x2 = v[i] - c
        v[i] = x2


def test_names_of_vector_registers_are_their_own(machine, rng):
    machine(first).agrees(rng.standard_normal(8), rng.standard_normal(8), 8)


# ---------------------------------------------------------------- what is refused: it would be another number

ONE, LANES = "a: float) -> float", "v: Vec, n: int) -> None"
REFUSED = {
    (ONE, "if a > 0.0: return a"): "without a return",
    ("a: float) -> int", "return a"): "returns int",
    (ONE, "if a > 0.0: b = a", "return b"): "'b' may be read before",
    ("n: int) -> int", "for i in range(n): k = i", "return k"): "'k' may be read before",
    ("a: float) -> float", "k = 1", "k = a", "return k"): "'k' is int and gets float",
    ("a: float) -> float", "return a if a > 0.0 else 1"): "is float or int",
    ("v: Vec) -> float", "return v[1:3][0]"): "slices have a beginning only",
    ("v: Vec) -> float", "return v[-1]"): "'-1' is no index",
    ("v: Vec, a: float) -> float", "return v[a]"): "'a' is no index",
    ("n: int) -> int", "k = 0", "for i in range(0, n, n): k += i", "return k"): "step of a range",
    (ONE, "return a // 2.0"): "FloorDiv",
    ("v: Vec) -> int", "return len(v)"): "len has no machine code",
    ("i: int) -> int", "return i or 3"): "must be bool",
    ("i: int) -> int", "return 2 if i else 3"): "must be bool",
    ("i: int) -> int", "return i + (i > 2)"): "must be a number",
    (LANES, "for i in each(n): v[i] = 1.0 if v[i] > 0.0 else 2.0"): "for each lane",
    (LANES, "for i in each(n):", "    if v[i] > 0.0: v[i] = 0.0"): "not of If",
    (LANES, "for i in each(n): v[i] = 2.0 * i"): "'i' counts",
    ("v: Vec, n: int) -> float", "out = 0.0", "for i in each(n): out += v[i]", "return out"): "assign to",
    (LANES, "for i in each(n): v[i] = half(v, n)"): "call no functions",
}


@pytest.mark.parametrize("lines", REFUSED, ids=str)
def test_what_has_no_machine_code_is_refused_with_file_and_line(lines, tmp_path):
    path, namespace = tmp_path / "refused.py", {"Vec": Vec, "each": each, "half": half}
    path.write_text(f"def f({lines[0]}:\n" + "".join(f"    {line}\n" for line in lines[1:]))
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    with pytest.raises(LanguageError, match=REFUSED[lines]) as caught:
        Program((namespace["f"],)).text()
    file, line = str(caught.value).split(":")[:2]
    assert file == str(path) and 1 <= int(line) <= len(lines)
    assert "in f: " in str(caught.value)
