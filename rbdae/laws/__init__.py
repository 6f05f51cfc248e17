"""Laws of users on symbols: what a Python function of numbers does, as a graph with exact derivatives.

A law is run with `numbers.Number` in place of floats; NumPy's functions are those of `arrays`, those of `math` are
replaced by them (`twins`). What a value decides is tried both ways and becomes a choice (`ways`). What cannot be
recorded is called back, with the reason (`law`).
"""

from rbdae.laws.law import Law as Law
from rbdae.laws.law import NotRecorded as NotRecorded

__all__ = ["Law", "NotRecorded"]
