"""Reading many states in machine code: a kernel, or another recorded function, for every row.

A row has the same bits alone and among others, because nothing goes from row to row.
"""
