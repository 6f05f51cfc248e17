"""The command line: ``rbdae models``, ``rbdae solvers``, ``rbdae run``, ``rbdae compare``, ``rbdae report``."""

from rbdae.cli.main import main as main

__all__ = ["main"]
