"""Figures, tables and equations of the forms paper, [SNS15], beside what the paper says of them.

    python examples/papers/forms.py [--only NAME ...] [--quick] [--out results/papers]

The same as `rbdae papers --paper forms`. Writes a picture and a table of each; see docs/papers.md.
"""

from __future__ import annotations

import sys

from rbdae.cli import main

if __name__ == "__main__":
    sys.exit(main(["papers", "--paper", "forms", *sys.argv[1:]]))
