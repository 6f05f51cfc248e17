"""What is not installed is named with the command that installs it."""

from __future__ import annotations


class Missing(Exception):
    """A peer that is not here.

    Parameters
    ----------
    what : str
        The package or program.
    install : str
        The command that installs it.
    """

    def __init__(self, what: str, install: str) -> None:
        super().__init__(f"{what} is missing; install it by: {install}")
        self.what = what
        self.install = install
