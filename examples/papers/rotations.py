"""Figures, tables and equations of the rotations paper, [GR95], beside what the paper says of them.

    python examples/papers/rotations.py [--only NAME ...] [--quick] [--out results/papers]

The same as `rbdae papers --paper rotations`. Writes a picture and a table of each; see docs/papers.md.
"""

from __future__ import annotations

import sys

from rbdae.cli import main

if __name__ == "__main__":
    sys.exit(main(["papers", "--paper", "rotations", *sys.argv[1:]]))
