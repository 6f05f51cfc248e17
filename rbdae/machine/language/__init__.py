"""A part of Python that becomes machine code: functions of numbers, vectors and records, translated to LLVM IR.

They are ordinary Python functions, which run as they are: native functions, for loops of solvers
(`rbdae.machine.language.program`). Annotations give the kinds of parameters and results, so that they can be called
from outside.

============================== =====================================================================================
``int``, ``float``, ``bool``   i64, double, i1
``Vec``, ``Ints``              the address of doubles, of int64; in plain Python an array. No memory is both
``Function``, ``Address``      the address of a `rbdae.machine` function, and its context
a class of ``Fields``          the address of numbers and vectors with names, and of vectors behind them
============================== =====================================================================================

Statements: assignments to names, fields and entries of vectors, ``+=`` and its like, if, while, ``for i in
range(...)``, ``for i in each(n)``, break, continue, return. Expressions: numbers, names, constants of modules,
arithmetic, comparisons, ``and``, ``or``, ``not`` of conditions, ``a if b else c``, entries, slices ``v[k:]``, fields
of records, calls of native functions and of those in `rbdae.machine.language.mathematics`. ``evaluate(f, context, t, y,
yd, c, out)`` calls a machine function, ``room(n)`` is memory until the function ends. A name keeps the kind of its
first value. All else is refused by its line, and so are names that may be read before they are assigned.

Numbers are IEEE doubles; a product and a sum may be contracted to one operation, nothing else is rearranged. Where
Python raises (division by zero, roots of negative numbers, indices out of range), machine code does not: it has
infinities and NaN, and trusts indices.
"""
