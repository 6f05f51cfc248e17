"""Kernels in machine code do what they do in plain Python, with arrays of any strides, records and tuples; what cannot
be is said by name."""

from __future__ import annotations

import linecache
from typing import Any

import inside
import numpy as np
import pytest
from inside import (
    JIT,
    MEMORY_ARRAYS,
    Content,
    LanguageError,
    entry,
    kernel_of_rows,
)

import rbdae

pytestmark = pytest.mark.skipif(not JIT, reason="nothing is compiled without the JIT")

TABLE = (0.5, -2.0, 8.0)


def both(kernel: Any, *arguments: Any) -> None:
    """Machine code and plain Python give the same, and leave the same in the arrays."""
    copies = [[a.copy(order="K") if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2)]
    # the copies have the strides of what they are copied from
    for own in copies:
        for k, a in enumerate(arguments):
            if isinstance(a, np.ndarray) and a.strides != own[k].strides:
                base = np.zeros(a.base.shape)
                own[k] = base[tuple(slice(None, None, 2) for _ in base.shape)]
                own[k][...] = a
    kernel.compiled()(*copies[0])
    kernel(*copies[1])
    for machine, python in zip(*copies, strict=True):
        np.testing.assert_allclose(machine, python, rtol=1e-15, atol=1e-15)


def _two(a, b):
    return a + b, a * b


def _parts(A, i):
    return A[i], A[:, i]


@entry("yM")
def _strided(x, A):
    n = A.shape[0]
    for i in range(n):
        row, column = _parts(A, i)
        total, product = _two(x[i], row[0])
        for j in range(1, A.shape[1]):
            A[i, j] += total * column[0] - product
    inner = A[1:n, 1:3]
    inner[0, 1] = x[0]
    A[0, 0] = A.strides[0] // 8 + 0.5 * A.strides[1]


@pytest.mark.parametrize("order", ["C", "F", "every second"])
def test_matrices_of_any_strides(rng, order):
    A = rng.standard_normal((8, 8))
    taken = {"C": A[:4, :4].copy(), "F": np.asfortranarray(A[:4, :4]), "every second": A[::2, ::2]}[order]
    both(_strided, rng.standard_normal(4), taken)


@entry("io")
def _numbers(k, x):
    rows = ((1, 2), (3, -4))
    x[0] = TABLE[k] ** 2 + rows[k % 2][k // 2]
    x[1] = (-7) // (k + 2) + (-7) % (k + 2)
    best = 0
    for i in range(5, 0, -2):
        if i % 2 == 0 or i > 4:
            continue
        best += i
    value = best if k > 0 else 0.25
    x[2] = -value
    x[3] = abs(x[2]) + min(x[0], k) - max(1, k, 0)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_tuples_and_whole_numbers(k):
    both(_numbers, k, np.zeros(4))


def _scaled(x_at, A_at, n):
    x, A = x_at, A_at
    for i in range(n):
        x[i] = A[i, n - 1 - i]


@entry("oo")
def _through_addresses(x, data):
    _scaled(x, data[1:], 3)


def test_stages_take_addresses(rng):
    """In plain Python an address is the array: the matrix is one there."""
    x, data = np.zeros(3), rng.standard_normal(10)
    _through_addresses.compiled()(x, data)
    np.testing.assert_array_equal(x, [data[1 + 3 * i + 2 - i] for i in range(3)])


def test_records_are_read_and_written(rng):
    """Fields that are numbers, vectors and matrices, and records in arrays, by the kernels of the library."""
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-2", code="generic")
    machine, python = kernel_of_rows(problem)
    np.testing.assert_allclose(machine, python, rtol=0.0, atol=1e-15 * np.abs(python).max())


def test_arrays_are_as_long_as_the_table_says():
    """Kernels trust it. What a selection fills, or somebody who asks, is as long where this problem has it."""
    always = (Content.NUMBERS, Content.STRUCTURE)
    system = rbdae.models.n_four_bar(2)
    for formulation, code in (("index-2", "auto"), ("null-space", "generic")):
        problem = rbdae.formulate(system, formulation, code=code)
        head, found = problem.workspace.head, inside.memory(problem)
        assert set(found) == set(MEMORY_ARRAYS)
        filled = {n: a for n, a in found.items() if MEMORY_ARRAYS[n].content in always or n in problem.workspace.owned}
        assert len(filled) >= 15
        for name, array in filled.items():
            assert array.shape == MEMORY_ARRAYS[name].room(head).shape, name


def _said(source: str, name: str, arguments: str) -> str:
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"entry": entry, "np": np, "__name__": __name__}
    exec(compile(source, file, "exec"), names)
    with pytest.raises(LanguageError) as error:
        entry(arguments)(names[name]).compiled()
    return str(error.value)


@pytest.mark.parametrize(
    "body, said",
    [
        ("x[0] = {}", "has no machine code"),
        ("x[:2] = 1.0", "cannot assign to 'x[:2]'"),
        ("x[0] = nowhere", "'nowhere'"),
        ("x[-1] = 1.0", "count from the beginning"),
        ("for v in x:\n        x[0] += v", "for i in range"),
        ("x[0] = np.linalg.norm(x)", "np.linalg.norm"),
        ("y = x\n    y = 1.0", "gets"),
        ("x[0, 1] = 2.0", "2 indices"),
    ],
)
def test_what_has_no_machine_code_is_said_with_file_and_line(body, said):
    message = _said(f"def refused(x):\n    {body}\n", "refused", "o")
    assert said in message and message.startswith("<refused>:") and "in refused" in message
