"""Runs figures, tables and claims of the papers by name, and compares them with the papers.

    python examples/papers/run_items.py --only ns-fig-6 bs-fig-1 [--quick] [--out results/papers]
    python examples/papers/run_items.py --list

The same as `rbdae papers`. Writes a picture and a table for each; docs/papers.md lists them.
"""

from __future__ import annotations

import sys

from rbdae.cli import main

if __name__ == "__main__":
    sys.exit(main(["papers", *sys.argv[1:]]))
