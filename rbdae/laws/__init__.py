"""Laws of users: what a Python function of numbers does, as a graph with exact derivatives.

A function whose source is arithmetic is run as a copy (`copies`) on symbols (`numbers`, `arrays`) along
all its ways, and recorded (`law`). Any other is called; where its derivatives are asked for, it is run on numbers with
values.
"""

from rbdae.laws.law import Law as Law
from rbdae.laws.law import NotRecorded as NotRecorded

__all__ = ["Law", "NotRecorded"]
