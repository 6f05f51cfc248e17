"""The command line: ``rbdae models``, ``rbdae solvers``, ``rbdae run``, ``rbdae compare``."""

from rbdae.cli.main import main as main

__all__ = ["main"]
