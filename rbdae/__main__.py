"""``python -m rbdae`` is the command line."""

import sys

from rbdae.cli import main

if __name__ == "__main__":
    sys.exit(main())
