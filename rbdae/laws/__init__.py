"""Users' laws: Python functions of numbers as graphs with exact derivatives.

A copy (`copies`) of a function with arithmetic source runs on symbols (`numbers`) along all its branches, and
is recorded (`law`). Any other function is called; for derivatives it runs on numbers with values.
"""
