"""Solvers by name, runs, and their solutions."""

from rbdae.solving.registry import SolverInfo as SolverInfo
from rbdae.solving.registry import SolverTable as SolverTable
from rbdae.solving.registry import adapter as adapter
from rbdae.solving.registry import find_method as find_method
from rbdae.solving.registry import solvers as solvers
from rbdae.solving.run import solve as solve
from rbdae.solving.solution import Solution as Solution
