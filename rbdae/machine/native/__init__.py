"""Loops in machine code, written in Python: functions of a small part of the language become LLVM IR.

A native function is an ordinary Python function with annotations. It runs as it is, on arrays, and that is how it is
tested; `program` translates it, and every function that it calls, by `ast`.

============================== =====================================================================================
``int``, ``float``, ``bool``   i64, double, i1
``Vec``, ``Ints``              the address of doubles, of int64; in plain Python an array
``Function``, ``Address``      the address of a `rbdae.machine` function, and its context
============================== =====================================================================================

Statements: assignments to names and to entries of vectors, ``+=`` and its like, if, while, ``for i in range(...)``,
``for i in each(n)``, break, continue, return. Expressions: numbers, names, module constants, arithmetic, comparisons,
``and``, ``or``, ``not``, ``a if b else c``, ``v[i]``, ``v[k:]`` (an address), calls of native functions, of `abs`,
`min`, `max`, `float`, `int`, and of the functions of `math` in `rbdae.machine.native.builtin`. ``evaluate(f, context,
t, y, yd, c, out)`` calls a machine function. All else is refused, with file and line.

Numbers are IEEE doubles; a product and a sum may be contracted to one operation, nothing else is rearranged. Where
Python raises (division by zero, roots of negative numbers, indices out of range), machine code does not: it has
infinities and NaN, and trusts indices.
"""
