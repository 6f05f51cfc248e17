"""Figures, tables and equations of the null-space paper, [NS], beside what the paper says of them.

    python examples/papers/null_space.py [--only NAME ...] [--quick] [--out results/papers]

The same as `rbdae papers --paper null_space`. Writes a picture and a table of each; see docs/papers.md.
"""

from __future__ import annotations

import sys

from rbdae.cli import main

if __name__ == "__main__":
    sys.exit(main(["papers", "--paper", "null_space", *sys.argv[1:]]))
