"""Reading many states in machine code: a kernel for every row, and what follows from the natural coordinates of rows.

Z has rows of (x, d, xdot, ddot) of every body, 24 numbers each, in the order of the bodies in memory. The functions of
`rows` and `motion` are native functions (`rbdae.machine.language`); a row has the same bits alone and
among others, because nothing goes from row to row.
"""
